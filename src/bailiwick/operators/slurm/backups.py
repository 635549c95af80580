"""The accounting of a cluster as a file on this machine, and back.

It goes through the platform, like all that members are asked: piece by piece, by a program inside
the controller.
"""

from __future__ import annotations

import base64
import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from bailiwick.operators.kit import OperatorSettings
from bailiwick.operators.slurm.cluster_calls import ClusterCalls
from bailiwick.operators.slurm.wanted import CONTROLLER
from bailiwick.vocab.errors import Conflict

PIECE_BYTES: Final = 256 * 1_024
_WAIT_S: Final = 110.0


def save_backup(settings: OperatorSettings, name: str, *, path: Path) -> int:
    """Have the accounting of an instance as a file; how many bytes it has."""
    with ClusterCalls(settings, name) as calls:
        made = calls.ask(CONTROLLER, do="backup", wait_s=_WAIT_S)
        data = b""
        while len(data) < made["size"]:  # each piece has something
            piece = calls.ask(CONTROLLER, do="backup_read", offset=len(data))["data"]
            if not piece:
                break
            data += base64.b64decode(piece)
    if sha256(data).hexdigest() != made["digest"]:
        raise Conflict("backup", name, "was made anew while it was read", hint="do it again")
    scratch = path.with_name(f".{path.name}.new")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        os.fsync(file.fileno())
    scratch.replace(path)
    return len(data)


def load_backup(settings: OperatorSettings, name: str, *, path: Path) -> None:
    """Have the accounting of an instance be what is in a file; all that it has now is replaced."""
    data = path.read_bytes()
    with ClusterCalls(settings, name) as calls:
        for offset in range(0, len(data), PIECE_BYTES):
            piece = base64.b64encode(data[offset : offset + PIECE_BYTES]).decode()
            calls.ask(CONTROLLER, do="backup_write", offset=offset, data=piece)
        digest = sha256(data).hexdigest()
        state = calls.ask(CONTROLLER, do="restore", digest=digest, wait_s=_WAIT_S)
    told = [f"{each}: {row['told']}" for each, row in state["daemons"].items() if row["told"]]
    if state["refused"] or not state["is_up"]:
        why = state["refused"] or "; ".join(told)
        raise Conflict("accounting", name, f"was not restored: {why}")

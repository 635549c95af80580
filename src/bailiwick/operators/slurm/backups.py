"""The accounting of a cluster as a file on this machine, and back.

It goes through the platform, like all that members are asked: piece by piece, by a program inside
the controller. So it takes what the operator's token carries, and no other way in.
"""

from __future__ import annotations

import base64
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from bailiwick.client import Client
from bailiwick.client.http_client import Places
from bailiwick.operators.kit import OperatorSettings
from bailiwick.operators.kit.inside import run_inside
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.slurm.questions import ASK
from bailiwick.operators.slurm.wanted import CONTROLLER
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.wire.actions.instances import INSTANCE_LIST, INSTANCE_MEMBER_LIST

PIECE_BYTES: Final = 256 * 1_024
_WAIT_S: Final = 110.0


def save_backup(settings: OperatorSettings, name: str, *, path: Path) -> int:
    """Have the accounting of an instance as a file; how many bytes it has."""
    with _client(settings) as client:
        job_id = _controller(client, settings, name)
        made = _ask(client, job_id, do="backup", wait_s=_WAIT_S)
        data = b""
        while len(data) < made["size"]:  # each piece has something
            piece = _ask(client, job_id, do="backup_read", offset=len(data))["data"]
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
    with _client(settings) as client:
        job_id = _controller(client, settings, name)
        for offset in range(0, len(data), PIECE_BYTES):
            piece = base64.b64encode(data[offset : offset + PIECE_BYTES]).decode()
            _ask(client, job_id, do="backup_write", offset=offset, data=piece)
        digest = sha256(data).hexdigest()
        state = _ask(client, job_id, do="restore", digest=digest, wait_s=_WAIT_S)
    told = [f"{each}: {row['told']}" for each, row in state["daemons"].items() if row["told"]]
    if state["refused"] or not state["is_up"]:
        why = state["refused"] or "; ".join(told)
        raise Conflict("accounting", name, f"was not restored: {why}")


def _client(settings: OperatorSettings) -> Client:
    ca_file = None if settings.ca_file is None else str(settings.ca_file)
    return Client(settings.server, SecretFile(settings.token_file).read(), ca_file=ca_file)


def _controller(client: Client, settings: OperatorSettings, name: str) -> int:
    """The job of the controller of an instance."""
    home: Places = {"tenant": settings.tenant, "project": settings.project}
    rows = client.pages(INSTANCE_LIST, path=home, query={"app": settings.app}).items
    found = [row for row in rows if row.name == name]
    if not found:
        raise NotFound("instance", name)
    path: Places = {**home, "instance_id": found[0].instance_id}
    for member in client.pages(INSTANCE_MEMBER_LIST, path=path).items:
        if member.component_key == CONTROLLER and member.phase is MemberPhase.READY:
            return member.job_id or 0
    raise NotFound("controller", name, hint="wait until the instance runs")


def _ask(client: Client, job_id: int, **question: Any) -> dict[str, Any]:
    given = json.dumps(question).encode()
    within_s = float(question.get("wait_s", 30.0)) + 30.0
    ran = run_inside(client, job_id, command=ASK, given=given, within_s=within_s)
    answer: dict[str, Any] = json.loads(ran.stdout) if ran.is_well else {"error": ran.why}
    if "error" in answer:
        raise Conflict("controller", job_id, f"will not: {answer['error']}")
    return answer

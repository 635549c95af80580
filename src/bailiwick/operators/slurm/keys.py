"""The keys of clusters, in the operator's own folder: one for each generation, gone with it.

Whoever has a cluster's key is the whole cluster. So it is in this folder and in its members, and
nowhere else: not in parameters, notes, logs or the journal. The key of its marks (see
:mod:`.queue.marks`) is in this folder alone.
"""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.slurm.orders import MUNGE_KEY_BYTES
from bailiwick.operators.slurm.queue.marks import MarkMaker


class ClusterKeys:
    """Keys by instance."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder

    def munge_key(self, instance_id: int, generation: int = 1) -> bytes:
        """The key of a cluster; made if there is none yet."""
        path = self._path(instance_id, str(generation))
        if not path.exists():
            self._make(path)
        return base64.b64decode(SecretFile(path).read())

    def marks(self, instance_id: int) -> MarkMaker:
        """What makes the marks of a cluster's jobs; its key is here, and no member has it."""
        path = self._mark_path(instance_id)
        if not path.exists():
            self._make(path)
        key = base64.b64decode(SecretFile(path).read())
        return MarkMaker(key, f"bw{instance_id}")

    def forget(self, instance_id: int, *, but: int | None = None) -> None:
        """Remove the keys of a cluster that is gone, or those that it had before this one."""
        kept = None if but is None else self._path(instance_id, str(but))
        for path in self._folder.glob(self._path(instance_id, "*").name):
            if path != kept:
                path.unlink(missing_ok=True)
        if but is None:
            self._mark_path(instance_id).unlink(missing_ok=True)

    def _make(self, path: Path) -> None:
        scratch = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        SecretFile(scratch).replace(_new_key())
        try:
            os.link(scratch, path)  # of two who make one at once, one does
        except FileExistsError:
            pass
        finally:
            scratch.unlink()

    def _mark_path(self, instance_id: int) -> Path:
        return self._folder / f"instance-{instance_id}-marks.key"

    def _path(self, instance_id: int, generation: str) -> Path:
        return self._folder / f"instance-{instance_id}-key-{generation}.munge"


def _new_key() -> str:
    return base64.b64encode(secrets.token_bytes(MUNGE_KEY_BYTES)).decode()

"""The folder of one job, on a file system that the cluster's nodes see too.

Rules:

- It appears under its name as a whole; a file in it is written whole, or the former one stays.
- All of it is for this user alone.
- A job may put anything in a file's place: links are not followed, sizes are bounded, and what
  cannot be read as what it should be is ``Damaged``.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.port import JobSpec
from bailiwick.executors.slurm import batch
from bailiwick.vocab.errors import Conflict, Damaged, Unavailable

DRAFT = ".new-"
"""How the folder of a job is called before it is complete."""

_FILE_BYTES_MAX = 65536


@dataclass(frozen=True, slots=True)
class Kept:
    """What is on disk about a job's one submission that counts."""

    name: str
    submitted_ms: int
    output_bytes_max: int
    warn_by_signal: bool


def lay_out(spec: JobSpec, folder: Path, *, name: str) -> None:
    """The job's folder with all that must be in it; it appears as a whole."""
    told = {
        "format": 1,
        "name": name,
        "submitted_ms": time.time_ns() // 1_000_000,
        "output_bytes_max": spec.output_bytes_max,
        "warn_by_signal": spec.warn_by_signal,
    }
    draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=folder.parent))
    try:
        (draft / batch.WORK).mkdir(mode=0o700)
        save(draft / batch.TOKEN, spec.token)
        save(draft / batch.ENVIRONMENT, batch.environment_text(spec, folder))
        save(draft / batch.CURRENT, name)
        save(draft / batch.STATE, json.dumps(told))
        draft.rename(folder)
    except OSError as error:
        if folder.exists():
            raise Conflict("job of lease", spec.lease_id, "was started before") from None
        raise Unavailable("the job's folder", error.strerror) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def load_owner(path: Path) -> str:
    """Eight digits that tell our jobs from those of another server on the same cluster."""
    with contextlib.suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_hex(4))
    owner = (load(path) or "").strip()
    if len(owner) != 8 or not set("0123456789abcdef").issuperset(owner):
        raise Damaged("the executor's folder", path, "does not say whose jobs these are")
    return owner


def load_kept(folder: Path) -> Kept:
    """The submission that counts; ``Damaged`` if its file does not tell."""
    try:
        body = json.loads(load(folder / batch.STATE) or "")
        kept = Kept(
            body["name"], body["submitted_ms"], body["output_bytes_max"], body["warn_by_signal"]
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Damaged("the state file of a job", folder, type(error).__name__) from None
    kinds = (type(kept.name), type(kept.submitted_ms), type(kept.output_bytes_max))
    if body.get("format") != 1 or kinds != (str, int, int):
        raise Damaged("the state file of a job", folder, "has another format")
    return kept


def load(path: Path) -> str | None:
    """The beginning of a small file; ``None`` if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(_FILE_BYTES_MAX).decode("utf-8", "replace")


def save(path: Path, text: str) -> None:
    """The whole of it under that name, for this user alone; or what was there before."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(fd)
    scratch.replace(path)


def read_plain(path: Path, offset: int, *, limit: int) -> tuple[bytes, int]:
    """A part of a plain file, and how long that is; a job may have put a link or pipe there."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"", 0
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            return b"", 0
        return os.pread(fd, max(0, limit), offset), about.st_size
    finally:
        os.close(fd)

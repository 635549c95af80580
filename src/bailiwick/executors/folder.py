"""Folders of jobs on a file system that others see too: whose they are, files written whole.

Rules:

- A file is written whole, or the former one stays; all of it is for this user alone.
- A job may put anything in a file's place: links are not followed, sizes are bounded.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from bailiwick.executors.output_times import NAME, begin_of, load_rows
from bailiwick.vocab.errors import Conflict, Damaged

OUTPUT = "output"
"""The file of what a job printed, whoever ran it."""
DRAFT = ".new-"
"""How the folder of a job is called before it is complete."""

_FILE_BYTES_MAX = 65536


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


def load(path: Path) -> str | None:
    """The beginning of a small file; ``None`` if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(_FILE_BYTES_MAX).decode("utf-8", "replace")


def load_whole(path: Path) -> str | None:
    """All of a file that only we write; ``None`` if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def save(path: Path, text: str) -> None:
    """The whole of it under that name, for this user alone; or what was there before."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(fd)
    scratch.replace(path)


def begin_since(folder: Path, offset: int, *, since_ms: int) -> int:
    """Where to read a job's output that came at that time or later, from ``offset`` at least."""
    if not since_ms:
        return offset
    rows = load_rows(str(folder / NAME))
    if rows is None and (folder / OUTPUT).exists():
        raise timeless(folder.name)
    return max(offset, begin_of(rows or [], since_ms))


def timeless(lease_id: object) -> Conflict:
    """Nobody can say which of this output came when."""
    why = "does not say when it came, where this job ran"
    return Conflict("output of lease", lease_id, why, hint="leave --since out; --tail counts lines")


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

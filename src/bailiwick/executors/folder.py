"""Folders of jobs on a file system that others see too: whose they are, files written whole.

Rules:

- A file is written whole, or the former one stays; all of it is for this user alone.
- The folder of a job is named by its lease and appears as a whole, once: of two who lay one out for
  the same lease one succeeds.
- A job may put anything in a file's place: links are not followed, sizes are bounded.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bailiwick.executors.output_times import NAME, begin_of, load_rows
from bailiwick.vocab.errors import Conflict, Damaged, NotFound, Unavailable
from bailiwick.vocab.values import check_amount

OUTPUT = "output"
"""The file of what a job printed, whoever ran it."""
DRAFT = ".new-"
"""How the folder of a job is called before it is complete."""

_FILE_BYTES_MAX = 65536


def open_root(root: Path) -> Path:
    """The folder of all jobs, made if it is not there; starts that were cut short are cleared."""
    found = root.resolve()
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    for draft in found.glob(f"{DRAFT}*"):
        shutil.rmtree(draft, ignore_errors=True)
    return found


def leases_in(root: Path) -> tuple[int, ...]:
    """The leases of which there is a folder."""
    names = (path.name for path in root.iterdir() if path.is_dir())
    found = (int(name) for name in names if name.isdecimal() and str(int(name)) == name)
    return tuple(sorted(found))


def folder_of(root: Path, lease_id: int) -> Path:
    """The folder of a lease's job; one that is not there is an error."""
    check_amount("lease_id", lease_id)
    folder = root / str(lease_id)
    if not folder.is_dir():
        raise NotFound("job of lease", lease_id)
    return folder


@contextlib.contextmanager
def drafted(folder: Path) -> Iterator[Path]:
    """A folder to lay a job out in; at the end it has its name, or there is nothing of it."""
    draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=folder.parent))
    try:
        yield draft
        draft.rename(folder)
    except OSError as error:
        if folder.exists():
            raise Conflict("job of lease", folder.name, "was started before") from None
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

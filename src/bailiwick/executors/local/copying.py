"""Files into and out of a running job, as a stream of tar: what a process inside the job does.

Loaded by its path from the supervisor before the walls are entered; imports nothing of Bailiwick.
It runs as the job's user, inside its walls: no link leads where the job itself could not go.

Rules:

- Out go files, folders and links as links; sockets, pipes and devices are left out.
- In come files, folders and links that stay below where they are put; a name that is absolute or
  goes up, a device, and more bytes than are permitted end it.
- What went wrong is one line on standard error, and the exit code 1.
"""

from __future__ import annotations

import os
import tarfile
from typing import Any

BYTES_MAX = 8 * 2**30
"""Of the files of one copy, in all."""
RECORD_BYTES = 10_240


class CopyRefused(Exception):
    """It cannot be copied, and why."""


def copy(wish: dict[str, Any], source: int, *, sink: int, errors: int) -> int:
    """Copy as is wished; the exit code."""
    for name in ("pwd", "grp"):  # names are not asked of the job's system
        setattr(tarfile, name, None)
    try:
        if wish["direction"] == "out":
            copy_out(str(wish["path"]), sink)
        else:
            copy_in(str(wish["path"]), source)
    except (OSError, tarfile.TarError, CopyRefused, ValueError, KeyError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        os.write(errors, f"{wish['path']}: {why}\n".encode("utf-8", "replace")[:1000])
        return 1
    return 0


def copy_out(path: str, sink: int, *, most: int = BYTES_MAX) -> None:
    """Write a file or folder to a stream, under its last name."""
    os.lstat(path)
    name = os.path.basename(os.path.normpath(path)) or "root"
    left = [most]

    def keep(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            return None
        left[0] -= member.size
        if left[0] < 0:
            raise CopyRefused(f"more than {most:,} bytes")
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with os.fdopen(os.dup(sink), "wb") as file, tarfile.open(fileobj=file, mode="w|") as stream:
        stream.add(path, arcname=name, filter=keep)


def copy_in(path: str, source: int, *, most: int = BYTES_MAX) -> None:
    """Put what a stream holds into a folder that is there, or under that very name."""
    if not hasattr(tarfile, "data_filter"):
        raise CopyRefused("the Python there is too old for that: 3.11.4 is needed")
    is_folder = os.path.isdir(path)
    target = path if is_folder else os.path.dirname(os.path.normpath(path)) or "."
    name = None if is_folder else os.path.basename(os.path.normpath(path))
    os.listdir(target)  # where it goes must be there
    with os.fdopen(os.dup(source), "rb") as file, tarfile.open(fileobj=file, mode="r|") as stream:
        for member in stream:
            most -= check_member(member, most)
            if name is not None:
                _rename(member, name)
            stream.extract(member, target, filter="data")
        # Whoever sends fills up his last record, and must not find that nobody reads it any more.
        while more := file.read(RECORD_BYTES):
            most -= len(more)
            if most < 0:
                raise CopyRefused("more bytes than are permitted")


def check_member(member: tarfile.TarInfo, most: int) -> int:
    """Refuse what must not be written anywhere; its size."""
    for name in (member.name, member.linkname) if member.islnk() else (member.name,):
        if name.startswith("/") or ".." in name.split("/") or not name.strip("/"):
            raise CopyRefused(f"a name that leads elsewhere: {name[:200]!r}")
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        raise CopyRefused(f"neither a file, a folder nor a link: {member.name[:200]!r}")
    if member.size > most:
        raise CopyRefused("more bytes than are permitted")
    return member.size


def _rename(member: tarfile.TarInfo, name: str) -> None:
    """Give the topmost folder, or the one file, another name."""

    def renamed(path: str) -> str:
        _, slash, rest = path.strip("/").partition("/")
        return name + slash + rest

    member.name = renamed(member.name)
    if member.islnk():
        member.linkname = renamed(member.linkname)

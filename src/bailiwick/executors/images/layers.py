"""The layers of an image, one over the other, written below one folder and nowhere else.

Rules:

- A name is followed as the job would see it: a link of the image leads to another place of the
  image. No link is ever followed by the system itself, so none leads out.
- Nobody else can write here meanwhile: the folder is the server's own.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_LINKS_MAX = 40
_NAME_MAX, _PATH_MAX = 255, 4095
_PIECE = 1 << 20
_GIVEN = ("etc/resolv.conf", "etc/hosts")
"""Files that jobs find as the machine has them; an image without them gets empty ones."""


@dataclass(frozen=True, slots=True)
class ImageBounds:
    """How much an image may unpack to."""

    bytes_max: int = 64 * GIB
    entries_max: int = 2_000_000


def refuse(expected: str) -> InvalidValue:
    """An image that cannot be used, and what it should have been."""
    return InvalidValue("image", "(it)", expected)


class Unpacking:
    """One root that layers are added to, the lowest first."""

    def __init__(self, root: Path, bounds: ImageBounds) -> None:
        self._root, self._bounds = str(root), bounds
        self._bytes = self._entries = 0
        self._fresh: set[str] = set()
        root.mkdir(mode=0o755)
        root.chmod(0o755)

    def add(self, layer: IO[bytes]) -> None:
        """Put one more layer, a plain tar, over what is there."""
        self._fresh = set()
        counted = cast("IO[bytes]", _Counted(layer, self))  # a stream is only ever read
        with tarfile.open(fileobj=counted, mode="r|") as tar:
            for member in tar:
                self._entries += 1
                if self._entries > self._bounds.entries_max:
                    raise refuse(f"at most {self._bounds.entries_max} files")
                self._put(tar, member)

    def finish(self) -> None:
        """Make what every root needs."""
        for name in _GIVEN:
            parent, last = self._place(_parts_of(name))
            at = os.path.join(parent, last)
            if not os.path.lexists(at):
                os.close(os.open(at, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))

    def count(self, more: int) -> None:
        """So many bytes were read of a layer."""
        self._bytes += more
        if self._bytes > self._bounds.bytes_max:
            raise refuse(f"at most {self._bounds.bytes_max} bytes when unpacked")

    def _put(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        parts = _parts_of(member.name)
        if not parts:
            return  # the root itself
        parent, name = self._place(parts)
        at = os.path.join(parent, name)
        if name == _OPAQUE:
            self._empty(parent)
            return
        if name.startswith(_WHITEOUT):
            hidden = name.removeprefix(_WHITEOUT)
            if hidden in ("", ".", ".."):
                raise refuse("whiteouts of a name")
            if not self._is_fresh(os.path.join(parent, hidden)):
                self._remove(os.path.join(parent, hidden))
            return
        if member.isdir():
            self._make_folder(at, member.mode)
        elif member.isreg() and not member.issparse():
            self._remove(at)
            self._write(tar, member, at)
        elif member.issym():
            self._remove(at)
            os.symlink(member.linkname, at)
        elif member.islnk():
            self._link(member, at)
        else:
            raise refuse(f"files, folders and links only, not {member.name[:99]!r}")
        self._fresh.add(at)

    def _write(self, tar: tarfile.TarFile, member: tarfile.TarInfo, at: str) -> None:
        source = tar.extractfile(member)
        assert source is not None  # it is a regular file
        how = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        with os.fdopen(os.open(at, how, 0o600), "wb") as file:
            shutil.copyfileobj(source, file, _PIECE)
            os.fchmod(file.fileno(), member.mode & 0o777 | 0o400)

    def _link(self, member: tarfile.TarInfo, at: str) -> None:
        parent, name = self._place(_parts_of(member.linkname))
        source = os.path.join(parent, name)
        if not os.path.lexists(source) or not stat.S_ISREG(os.lstat(source).st_mode):
            raise refuse("links to files of the image")
        if source == at:
            return
        self._remove(at)
        os.link(source, at, follow_symlinks=False)

    def _make_folder(self, at: str, mode: int) -> None:
        if os.path.islink(at) or (os.path.lexists(at) and not os.path.isdir(at)):
            self._remove(at)
        os.makedirs(at, exist_ok=True)
        os.chmod(at, mode & 0o777 | 0o700)

    def _empty(self, folder: str) -> None:
        for name in os.listdir(folder):
            at = os.path.join(folder, name)
            if not self._is_fresh(at):
                self._remove(at)

    def _is_fresh(self, at: str) -> bool:
        return any(each == at or each.startswith(f"{at}/") for each in self._fresh)

    def _remove(self, at: str) -> None:
        if os.path.islink(at) or os.path.isfile(at):
            os.unlink(at)
        elif os.path.isdir(at):
            shutil.rmtree(at)

    def _place(self, parts: list[str]) -> tuple[str, str]:
        """The real folder below the root in which the last name stands, and that name."""
        if not parts:
            raise refuse("names of files")
        todo, done, links = list(reversed(parts[:-1])), list[str](), 0
        while todo:  # bounded: each round takes a part away, and links are counted
            part = todo.pop()
            if part == "..":
                done = done[:-1]
                continue
            at = os.path.join(self._root, *done, part)
            if os.path.islink(at):
                links += 1
                if links > _LINKS_MAX:
                    raise refuse("links without a circle")
                target = os.readlink(at)
                done = [] if target.startswith("/") else done
                todo += [each for each in reversed(target.split("/")) if each not in ("", ".")]
                continue
            if not os.path.isdir(at):
                if os.path.lexists(at):
                    raise refuse("folders where files are to be")
                os.mkdir(at, 0o755)
                os.chmod(at, 0o755)
            done.append(part)
        return os.path.join(self._root, *done), parts[-1]


class _Counted:
    """A layer that is read within bounds: what a header claims of itself does not matter."""

    def __init__(self, file: IO[bytes], unpacking: Unpacking) -> None:
        self._file, self._unpacking = file, unpacking

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._unpacking.count(len(data))
        return data


def _parts_of(name: str) -> list[str]:
    if len(name) > _PATH_MAX or "\0" in name or name.startswith("/"):
        raise refuse(f"names below the root, not {name[:99]!r}")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if any(part == ".." or len(os.fsencode(part)) > _NAME_MAX for part in parts):
        raise refuse(f"names below the root, not {name[:99]!r}")
    return parts

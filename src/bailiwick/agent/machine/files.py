"""The machine's own text files (``/sys``, ``/proc``): read with bounds, recorded, played back.

Rules:

- A path is relative to a root that the caller names and never climbs out of it.
- A file that is absent or may not be read is ``None``, an absent folder has no names: no error.
- A file or folder beyond the bounds, or a file that is no UTF-8, is :class:`Unreadable`.

>>> files = RecordedFiles({"proc/a": "1"}, {})
>>> files.text("proc/a"), files.text("proc/b"), files.names("proc")
('1', None, ())
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bailiwick.agent.words import Unreadable

TEXT_BYTES_MAX = 64 * 1024
NAMES_MAX = 16_384
PATH_CHARACTERS_MAX = 1024


class MachineFiles(Protocol):
    """Where text about the machine is read from."""

    def text(self, path: str) -> str | None:
        """What stands in a file; ``None`` if it is not there."""

    def names(self, path: str) -> tuple[str, ...]:
        """What a folder holds, sorted; nothing if it is not there."""


class RootFiles:
    """The files under a root folder, ``/`` unless a test says otherwise."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def text(self, path: str) -> str | None:
        """What stands in a file; ``None`` if it is not there."""
        try:
            with (self._root / check_path(path)).open("rb") as file:
                data = file.read(TEXT_BYTES_MAX + 1)
        except OSError:
            return None
        if len(data) > TEXT_BYTES_MAX:
            raise Unreadable(path, len(data), f"at most {TEXT_BYTES_MAX} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(path, data[:40], "UTF-8 text") from None

    def names(self, path: str) -> tuple[str, ...]:
        """What a folder holds, sorted; nothing if it is not there."""
        try:
            found = os.listdir(self._root / check_path(path))
        except OSError:
            return ()
        if len(found) > NAMES_MAX:
            raise Unreadable(path, len(found), f"at most {NAMES_MAX} names in a folder")
        return tuple(sorted(found))


class RecordingFiles:
    """Passes reads on and remembers each: what it holds at the end replays the same inventory."""

    def __init__(self, inner: MachineFiles) -> None:
        self._inner = inner
        self.texts: dict[str, str | None] = {}
        self.folders: dict[str, tuple[str, ...]] = {}

    def text(self, path: str) -> str | None:
        """What stands in a file; ``None`` if it is not there."""
        self.texts[path] = self._inner.text(path)
        return self.texts[path]

    def names(self, path: str) -> tuple[str, ...]:
        """What a folder holds, sorted; nothing if it is not there."""
        self.folders[path] = self._inner.names(path)
        return self.folders[path]


class RecordedFiles:
    """Files as somebody else read them; whatever was not read then is absent."""

    def __init__(
        self, texts: Mapping[str, str | None], folders: Mapping[str, Sequence[str]]
    ) -> None:
        self._texts, self._folders = texts, folders

    def text(self, path: str) -> str | None:
        """What stood in a file; ``None`` if it was not there."""
        found = self._texts.get(check_path(path))
        if found is not None and (not isinstance(found, str) or len(found) > TEXT_BYTES_MAX):
            raise Unreadable(path, found, f"text of at most {TEXT_BYTES_MAX} bytes")
        return found

    def names(self, path: str) -> tuple[str, ...]:
        """What a folder held, sorted; nothing if it was not there."""
        found = self._folders.get(check_path(path), ())
        if not isinstance(found, list | tuple) or len(found) > NAMES_MAX:
            raise Unreadable(path, found, f"a list of at most {NAMES_MAX} names")
        if not all(isinstance(name, str) for name in found):
            raise Unreadable(path, found, "names")
        return tuple(sorted(found))


def check_path(path: str) -> str:
    """The path if it is relative and stays below its root."""
    parts = path.split("/")
    if len(path) > PATH_CHARACTERS_MAX or "\0" in path or any(p in ("", ".", "..") for p in parts):
        raise Unreadable("path", path, "a short relative path that goes only down")
    return path

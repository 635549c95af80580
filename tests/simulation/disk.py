"""A disk that keeps only what it was made to keep.

Rules:

- ``write`` goes to the cache: everybody reads it back, and a crash may take it away.
- ``fsync`` makes a file's dirty sectors durable. When it fails, each of them may or may not have
  arrived, and the cache calls them clean all the same, as Linux does: asking again proves nothing.
- A crash decides for each dirty sector of its own whether it survives, is lost or is torn.
- A sector that lies on the platter changes only by ``rot``, which the world uses on snapshots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

SECTOR = 512


class DiskError(Exception):
    """The device says no: no space, or an fsync that failed."""


@dataclass(slots=True)
class _File:
    """What readers see, what lies on the platter, and the sectors in which the two may differ."""

    cache: bytearray = field(default_factory=bytearray)
    platter: bytearray = field(default_factory=bytearray)
    dirty: dict[int, None] = field(default_factory=dict)


class SimDisk:
    """Files by name, in sectors of 512 bytes."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._files: dict[str, _File] = {}
        self.full = False
        self.fsync_fails = False

    def names(self) -> list[str]:
        """Every file, in the order in which they were made."""
        return list(self._files)

    def read(self, name: str) -> bytes:
        """The whole file as the cache has it; a missing one is empty."""
        found = self._files.get(name)
        return b"" if found is None else bytes(found.cache)

    def write(self, name: str, offset: int, data: bytes) -> None:
        """Put bytes into the cache; a full disk may take the first part of them."""
        kept = data
        if self.full:
            kept = data[: self._rng.randrange(len(data) + 1)]
        file = self._files.setdefault(name, _File())
        end = offset + len(kept)
        if end > len(file.cache):
            file.cache.extend(bytes(end - len(file.cache)))
        file.cache[offset:end] = kept
        if kept:
            first, last = offset // SECTOR, (end - 1) // SECTOR
            file.dirty.update(dict.fromkeys(range(first, last + 1)))
        if self.full:
            raise DiskError("no space left on device")

    def truncate(self, name: str, length: int) -> None:
        """Cut the file off, durably at once: file systems keep a journal of lengths."""
        file = self._files.get(name)
        if file is not None:
            del file.cache[length:], file.platter[length:]
            last = (length - 1) // SECTOR if length else -1
            file.dirty = {sector: None for sector in file.dirty if sector <= last}

    def fsync(self, name: str) -> None:
        """Make what was written durable, or say that it may not be."""
        file = self._files.get(name)
        if file is None:
            return
        if self.fsync_fails:
            for sector in file.dirty:
                if self._rng.random() < 0.5:
                    _settle(file, sector)
            file.dirty.clear()
            raise DiskError("fsync failed")
        for sector in file.dirty:
            _settle(file, sector)
        file.dirty.clear()

    def remove(self, name: str) -> None:
        """Forget a file, durably at once."""
        self._files.pop(name, None)

    def crash(self) -> None:
        """The machine loses power: the cache is gone, dirty sectors meet their fate one by one."""
        for file in self._files.values():
            for sector in file.dirty:
                fate = self._rng.randrange(3)
                if fate == 0:
                    _settle(file, sector)
                elif fate == 1:
                    _settle(file, sector, length=self._rng.randrange(1, SECTOR))
            file.dirty.clear()
            file.cache = bytearray(file.platter)

    def rot(self, name: str) -> None:
        """One bit of the file is another from now on."""
        file = self._files.get(name)
        if file is not None and file.platter:
            at, bit = self._rng.randrange(len(file.platter)), 1 << self._rng.randrange(8)
            file.platter[at] ^= bit
            if at < len(file.cache):
                file.cache[at] ^= bit


def _settle(file: _File, sector: int, *, length: int = SECTOR) -> None:
    """Bring (the first bytes of) a sector from the cache to the platter."""
    start = sector * SECTOR
    data = file.cache[start : start + length]
    end = start + len(data)
    if end > len(file.platter):
        file.platter.extend(bytes(end - len(file.platter)))
    file.platter[start:end] = data

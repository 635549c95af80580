"""The log as files that any tlog-tiles client reads: paths, hash tiles and entry bundles.

Rules (C2SP tlog-tiles):

- A tile holds 256 hashes of one level; each hash of level L + 1 is the root of a full tile of
  level L. A bundle holds the 256 entries under one tile of level 0, each after a 16-bit length.
- The last tile of a level may be partial: it then has its width in its path, and is never hashed
  into the level above. A client that misses a partial tile may read the full one instead.
- An index is written in groups of three digits, all but the last after an ``x``.
- Reading is handed in: ``read(path)`` gives the bytes or None. Nothing here touches a disk.

>>> tile_path(0, 1234067), tile_path(1, 0, width=17), entries_path(273, width=112)
('tile/0/x001/x234/067', 'tile/1/000.p/17', 'tile/entries/273.p/112')
>>> encode_bundle([b"one", b"two"])
b'\\x00\\x03one\\x00\\x03two'
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.merkle import HASH_BYTES, SIZE_MAX, check_hash, leaf_hash, node_hash
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import check_integer

TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT
LEVEL_MAX = 63 // TILE_HEIGHT
"""Highest level a tree below 2**63 leaves can have; the format itself would allow 63."""

ENTRY_BYTES_MAX = 65_535
CHECKPOINT_PATH = "checkpoint"

Reader: TypeAlias = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class TileFile:
    """One file of the log: where it goes, and what it holds."""

    path: str
    data: bytes


def tile_path(level: int, index: int, *, width: int = TILE_WIDTH) -> str:
    """Where a tile of hashes lies."""
    check_integer("level", level, low=0, high=63)
    return f"tile/{level}/{_index_path(index, width)}"


def entries_path(index: int, *, width: int = TILE_WIDTH) -> str:
    """Where a bundle of entries lies."""
    return f"tile/entries/{_index_path(index, width)}"


def _index_path(index: int, width: int) -> str:
    check_integer("index", index, low=0, high=SIZE_MAX)
    check_integer("width", width, low=1, high=TILE_WIDTH)
    groups = [f"{index % 1000:03d}"]
    while index >= 1000:
        index //= 1000
        groups.append(f"x{index % 1000:03d}")
    path = "/".join(reversed(groups))
    return path if width == TILE_WIDTH else f"{path}.p/{width}"


def tile_widths(size: int) -> Iterator[tuple[int, int, int]]:
    """Level, index and width of every tile that a tree of this size has, level by level."""
    check_integer("size", size, low=0, high=SIZE_MAX)
    for level in range(LEVEL_MAX + 1):
        hashes = size >> (TILE_HEIGHT * level)
        for index in range(-(-hashes // TILE_WIDTH)):
            yield level, index, min(TILE_WIDTH, hashes - index * TILE_WIDTH)


def encode_bundle(entries: Sequence[bytes]) -> bytes:
    """The bytes of a bundle."""
    check_integer("entries", len(entries), low=1, high=TILE_WIDTH)
    parts: list[bytes] = []
    for entry in entries:
        if len(entry) > ENTRY_BYTES_MAX:
            raise InvalidValue("entry", len(entry), f"at most {ENTRY_BYTES_MAX} bytes")
        parts += (len(entry).to_bytes(2, "big"), entry)
    return b"".join(parts)


def parse_bundle(data: bytes, *, width: int) -> tuple[bytes, ...]:
    """The entries of a bundle that has exactly this many, and nothing after them."""
    entries: list[bytes] = []
    start = 0
    for _ in range(check_integer("width", width, low=1, high=TILE_WIDTH)):
        length = int.from_bytes(data[start : start + 2], "big")
        end = start + 2 + length
        if end > len(data) or start + 2 > len(data):
            raise InvalidValue("bundle", len(data), f"{width} whole entries")
        entries.append(data[start + 2 : end])
        start = end
    if start != len(data):
        raise InvalidValue("bundle", len(data), f"{start} bytes for its {width} entries")
    return tuple(entries)


def parse_tile(data: bytes, *, width: int) -> tuple[bytes, ...]:
    """The hashes of a tile that has exactly this many."""
    if len(data) != width * HASH_BYTES:
        raise InvalidValue("tile", len(data), f"{width * HASH_BYTES} bytes")
    return tuple(data[i : i + HASH_BYTES] for i in range(0, len(data), HASH_BYTES))


def read_tile(read: Reader, level: int, *, index: int, width: int) -> tuple[bytes, ...]:
    """The hashes of one tile; a missing partial tile is cut from the full one."""
    path = tile_path(level, index, width=width)
    data = read(path)
    if data is not None:
        return parse_tile(data, width=width)
    full = read(tile_path(level, index)) if width < TILE_WIDTH else None
    if full is None:
        raise NotFound("tile", path)
    return parse_tile(full, width=TILE_WIDTH)[:width]


def read_entries(read: Reader, index: int, *, width: int) -> tuple[bytes, ...]:
    """The entries of one bundle; a missing partial bundle is cut from the full one."""
    path = entries_path(index, width=width)
    data = read(path)
    if data is not None:
        return parse_bundle(data, width=width)
    full = read(entries_path(index)) if width < TILE_WIDTH else None
    if full is None:
        raise NotFound("entry bundle", path)
    return parse_bundle(full, width=TILE_WIDTH)[:width]


def subtree_root(hashes: Sequence[bytes]) -> bytes:
    """The root over a power of two of neighbouring hashes."""
    while len(hashes) > 1:
        pairs = zip(hashes[::2], hashes[1::2], strict=True)
        hashes = [node_hash(left, right) for left, right in pairs]
    return hashes[0]


class TileHashes:
    """The hashes of a log of ``size`` entries, read from tiles as they are asked for."""

    def __init__(self, read: Reader, size: int, *, tiles_max: int = 64) -> None:
        self._read = read
        self._size = check_integer("size", size, low=0, high=SIZE_MAX)
        self._tiles_max = check_integer("tiles_max", tiles_max, low=1, high=2**20)
        self._kept: OrderedDict[tuple[int, int], tuple[bytes, ...]] = OrderedDict()

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._size

    def subtree(self, level: int, index: int) -> bytes:
        """The hash of one complete subtree, from the tile that holds it or its parts."""
        if level < 0 or index < 0 or (index + 1) << level > self._size:
            raise NotFound("subtree", (level, index))
        tile_level, rest = divmod(level, TILE_HEIGHT)
        first = index << rest
        start = first % TILE_WIDTH
        tile = self._tile(tile_level, first // TILE_WIDTH)
        return subtree_root(tile[start : start + (1 << rest)])

    def _tile(self, level: int, index: int) -> tuple[bytes, ...]:
        tile = self._kept.pop((level, index), None)
        if tile is None:
            hashes = self._size >> (TILE_HEIGHT * level)
            width = min(TILE_WIDTH, hashes - index * TILE_WIDTH)
            tile = read_tile(self._read, level, index=index, width=width)
        self._kept[level, index] = tile
        if len(self._kept) > self._tiles_max:
            self._kept.popitem(last=False)
        return tile


class TileWriter:
    """Turns entries into files: full tiles as they fill, partial ones whenever they are asked for.

    Memory is one tile for each level and one bundle, however long the log.
    """

    def __init__(self, size: int = 0, *, read: Reader | None = None) -> None:
        self._size = check_integer("size", size, low=0, high=SIZE_MAX)
        self._levels: list[list[bytes]] = []
        self._entries: list[bytes] = []
        if size:
            self._resume(_nothing if read is None else read)

    @property
    def size(self) -> int:
        """How many entries were added."""
        return self._size

    def append(self, entry: bytes, *, leaf: bytes | None = None) -> list[TileFile]:
        """Add the next entry; the files that became full by it, lowest level first."""
        if len(entry) > ENTRY_BYTES_MAX:
            raise InvalidValue("entry", len(entry), f"at most {ENTRY_BYTES_MAX} bytes")
        value = leaf_hash(entry) if leaf is None else check_hash("leaf", leaf)
        index = self._size // TILE_WIDTH
        self._size += 1
        self._entries.append(entry)
        if len(self._entries) < TILE_WIDTH:
            self._add(0, value)
            return []
        full = [TileFile(entries_path(index), encode_bundle(self._entries))]
        self._entries = []
        level = 0
        while len(self._add(level, value)) == TILE_WIDTH:
            tile, self._levels[level] = self._levels[level], []
            full.append(TileFile(tile_path(level, index), b"".join(tile)))
            value = subtree_root(tile)
            index, level = index // TILE_WIDTH, level + 1
        return full

    def partial(self) -> list[TileFile]:
        """The partial files of the log as it is now: what a checkpoint of this size needs."""
        files: list[TileFile] = []
        if self._entries:
            path = entries_path(self._size // TILE_WIDTH, width=len(self._entries))
            files.append(TileFile(path, encode_bundle(self._entries)))
        for level, tile in enumerate(self._levels):
            if tile:
                index = self._size >> (TILE_HEIGHT * (level + 1))
                files.append(TileFile(tile_path(level, index, width=len(tile)), b"".join(tile)))
        return files

    def _add(self, level: int, value: bytes) -> list[bytes]:
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(value)
        return self._levels[level]

    def _resume(self, read: Reader) -> None:
        for level in range(LEVEL_MAX + 1):
            index, width = divmod(self._size >> (TILE_HEIGHT * level), TILE_WIDTH)
            tile = read_tile(read, level, index=index, width=width) if width else ()
            self._levels.append(list(tile))
        index, width = divmod(self._size, TILE_WIDTH)
        if width:
            self._entries = list(read_entries(read, index, width=width))


def _nothing(path: str) -> bytes | None:
    del path
    return None

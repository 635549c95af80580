"""Tiles and bundles are laid out as C2SP says, and read back strictly."""

from __future__ import annotations

import pytest

from bailiwick.journal import (
    Frontier,
    ProofHolds,
    TileFile,
    TileHashes,
    TileWriter,
    encode_bundle,
    entries_path,
    leaf_hash,
    parse_bundle,
    prove_consistency,
    prove_inclusion,
    root_of,
    tile_path,
    verify_consistency,
    verify_inclusion,
)
from bailiwick.journal.tiles import parse_tile, tile_widths
from bailiwick.vocab.errors import InvalidValue, NotFound


class Folder(dict[str, bytes]):
    """A folder of files, in memory."""

    def put(self, files: list[TileFile]) -> None:
        for file in files:
            assert self.setdefault(file.path, file.data) == file.data
            self[file.path] = file.data


def make_folder(count: int, *, partial_at: tuple[int, ...] = ()) -> tuple[Folder, list[bytes]]:
    folder, writer = Folder(), TileWriter()
    entries = [b"entry %d" % number for number in range(count)]
    for number, entry in enumerate(entries, 1):
        folder.put(writer.append(entry))
        if number == count or number in partial_at:
            folder.put(writer.partial())
    return folder, entries


@pytest.mark.parametrize(
    ("index", "path"),
    [
        (0, "tile/0/000"),
        (999, "tile/0/999"),
        (1000, "tile/0/x001/000"),
        (1234067, "tile/0/x001/x234/067"),
        (10**9, "tile/0/x001/x000/x000/000"),
    ],
)
def test_an_index_is_written_in_groups_of_three(index: int, path: str) -> None:
    assert tile_path(0, index) == path
    assert entries_path(index) == path.replace("/0/", "/entries/", 1)


@pytest.mark.parametrize(("level", "index", "width"), [(64, 0, 1), (-1, 0, 1), (0, -1, 1)])
def test_there_is_no_such_tile(level: int, index: int, width: int) -> None:
    with pytest.raises(InvalidValue):
        tile_path(level, index, width=width)


@pytest.mark.parametrize("width", [0, 257, -3])
def test_a_tile_is_1_to_256_wide(width: int) -> None:
    with pytest.raises(InvalidValue):
        tile_path(0, 0, width=width)


def test_a_tree_of_70000_has_the_tiles_the_specification_lists() -> None:
    tiles = list(tile_widths(70_000))
    assert [t for t in tiles if t[0] == 0][-1] == (0, 273, 112)
    assert len([t for t in tiles if t == (0, t[1], 256)]) == 273
    assert [t for t in tiles if t[0] >= 1] == [(1, 0, 256), (1, 1, 17), (2, 0, 1)]
    assert list(tile_widths(256)) == [(0, 0, 256), (1, 0, 1)]
    assert list(tile_widths(0)) == []


@pytest.mark.parametrize("count", [1, 5, 255, 256, 257, 300, 513])
def test_the_writer_makes_exactly_the_files_of_its_size(count: int) -> None:
    folder, _ = make_folder(count)
    expected = {tile_path(level, n, width=width) for level, n, width in tile_widths(count)}
    expected |= {
        entries_path(n, width=width) for level, n, width in tile_widths(count) if level == 0
    }
    assert set(folder) == expected


def test_three_levels_of_tiles_give_the_root_and_proofs() -> None:
    count = 65_536 + 300
    folder, entries = make_folder(count)
    tree = Frontier()
    for entry in entries:
        tree.append(leaf_hash(entry))
    source = TileHashes(folder.get, count)
    root = tree.root()
    assert root_of(source, count) == root
    for index in (0, 1, 255, 256, 65_535, 65_536, count - 1):
        proof = prove_inclusion(source, index, size=count)
        assert verify_inclusion(leaf_hash(entries[index]), proof, root=root) == ProofHolds(count)
    for old in (1, 255, 256, 257, 65_535, 65_536, 65_600):
        consistency = prove_consistency(source, old, new_size=count)
        old_root = root_of(source, old)
        assert verify_consistency(consistency, old_root=old_root, new_root=root) == ProofHolds(
            count
        )


def test_a_writer_resumes_where_another_stopped() -> None:
    for stop in (1, 255, 256, 257, 512):
        folder, entries = make_folder(600, partial_at=(stop,))
        writer = TileWriter(stop, read=folder.get)
        again = Folder()
        for entry in entries[stop:]:
            again.put(writer.append(entry, leaf=leaf_hash(entry)))
        again.put(writer.partial())
        assert {path: folder[path] for path in again} == again
        assert writer.size == 600


def test_a_writer_cannot_resume_from_nothing() -> None:
    with pytest.raises(NotFound):
        TileWriter(5)


def test_a_missing_partial_tile_is_cut_from_the_full_one() -> None:
    folder, _ = make_folder(300, partial_at=(100,))
    with_partial = root_of(TileHashes(folder.get, 100), 100)
    del folder["tile/0/000.p/100"]
    assert root_of(TileHashes(folder.get, 100), 100) == with_partial
    del folder["tile/0/000"]
    with pytest.raises(NotFound):
        root_of(TileHashes(folder.get, 100), 100)


def test_a_tile_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidValue):
        parse_tile(bytes(31), width=1)
    folder, _ = make_folder(10)
    folder["tile/0/000.p/10"] += bytes(32)
    with pytest.raises(InvalidValue):
        root_of(TileHashes(folder.get, 10), 10)


def test_hashes_beyond_the_size_do_not_exist() -> None:
    folder, _ = make_folder(10)
    source = TileHashes(folder.get, 10)
    for level, index in ((0, 10), (3, 1), (4, 0), (-1, 0), (0, -1)):
        with pytest.raises(NotFound):
            source.subtree(level, index)


def test_few_tiles_are_kept_however_many_are_read() -> None:
    folder, _ = make_folder(256 * 9)
    source = TileHashes(folder.get, 256 * 9, tiles_max=2)
    for index in range(256 * 9):
        source.subtree(0, index)
    assert len(source._kept) == 2


@pytest.mark.parametrize("entries", [[b""], [b"x"], [b"", b"a" * 65_535, b"\x00\x00"]])
def test_a_bundle_comes_back(entries: list[bytes]) -> None:
    assert parse_bundle(encode_bundle(entries), width=len(entries)) == tuple(entries)


@pytest.mark.parametrize(
    ("data", "width"),
    [
        (b"", 1),
        (b"\x00", 1),
        (b"\x00\x02a", 1),
        (b"\x00\x01ab", 1),
        (b"\x00\x01a\x00\x01b", 1),
        (b"\x00\x01a", 2),
        (b"\x00\x01a\x00", 2),
        (b"\x00\x01a", 0),
        (b"\x00\x01a", 257),
    ],
)
def test_a_bundle_with_another_number_of_entries_is_refused(data: bytes, width: int) -> None:
    with pytest.raises(InvalidValue):
        parse_bundle(data, width=width)


def test_an_entry_or_bundle_too_large_is_refused() -> None:
    with pytest.raises(InvalidValue):
        encode_bundle([b"x" * 65_536])
    with pytest.raises(InvalidValue):
        encode_bundle([])
    with pytest.raises(InvalidValue):
        encode_bundle([b""] * 257)
    writer = TileWriter()
    with pytest.raises(InvalidValue):
        writer.append(b"x" * 65_536)
    assert writer.size == 0

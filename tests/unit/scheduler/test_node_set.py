"""Sets of nodes as bitmaps, and their cached intersections."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import ALL_DEVICES, HANDLE_MAX, MaskCache, NodeSet, caches_within
from bailiwick.vocab.errors import InvalidValue, NotFound

HANDLES = [0, 1, 7, 8, 9, 63, 64, 500]


def filled(*handles: int, size: int = 0) -> NodeSet:
    made = NodeSet(size)
    for handle in handles:
        made.add(handle)
    return made


def members(bits: bytearray | None) -> set[int]:
    assert bits is not None
    return {i for i in range(8 * len(bits)) if bits[i >> 3] >> (i & 7) & 1}


def test_a_new_set_is_empty_whatever_its_size() -> None:
    for size in (0, 1, 8, 1000):
        assert len(NodeSet(size)) == 0
        assert 0 not in NodeSet(size)


@pytest.mark.parametrize("handle", HANDLES)
def test_a_node_is_in_the_set_after_it_was_put_in(handle: int) -> None:
    nodes = filled(handle)
    assert handle in nodes
    assert [other for other in HANDLES if other in nodes] == [handle]
    assert len(nodes) == 1


def test_putting_a_node_in_twice_counts_once() -> None:
    assert len(filled(3, 3, 4)) == 2


@pytest.mark.parametrize("handle", HANDLES)
def test_a_node_is_out_after_it_was_taken_out(handle: int) -> None:
    nodes = filled(*HANDLES)
    nodes.discard(handle)
    assert handle not in nodes
    assert [other for other in HANDLES if other in nodes] == [h for h in HANDLES if h != handle]


def test_taking_out_a_node_that_is_not_in_changes_nothing() -> None:
    nodes = filled(1, 2)
    for handle in (3, 4000, -1):
        nodes.discard(handle)
    assert (1 in nodes, 2 in nodes, len(nodes)) == (True, True, 2)


def test_every_change_shows_in_the_version() -> None:
    nodes = filled(1)
    first = nodes.version
    nodes.add(2)
    second = nodes.version
    nodes.discard(2)
    assert first < second < nodes.version


def test_growing_keeps_the_members_and_never_moves_memory_that_is_in_use() -> None:
    nodes = filled(0, 5)
    held = memoryview(nodes.bits)  # resizing an exported bytearray would raise
    nodes.add(10_000)
    assert (0 in nodes, 5 in nodes, 10_000 in nodes) == (True, True, True)
    assert held[0] == 0b100001


@pytest.mark.parametrize(
    "handle", [-1, -8, HANDLE_MAX + 1, 2**70, True, 1.0, nan, "1", None], ids=range(9)
)
def test_what_is_no_handle_is_refused_and_changes_nothing(handle: Any) -> None:
    nodes = filled(0, 7, 8)
    before = bytes(nodes.bits), nodes.version
    with pytest.raises(InvalidValue) as refused:
        nodes.add(handle)
    assert refused.value.field == "handle"
    assert (bytes(nodes.bits), nodes.version) == before


@pytest.mark.parametrize("handle", [-1, -8, 2**70])
def test_what_is_no_handle_is_in_no_set(handle: int) -> None:
    assert handle not in filled(*range(16))


# --- intersections ------------------------------------------------------------------------------


def test_no_set_at_all_means_no_mask() -> None:
    assert MaskCache().intersection([], 10) is None


def test_one_set_is_its_own_intersection() -> None:
    assert members(MaskCache().intersection([filled(1, 9)], 10)) == {1, 9}


def test_a_node_is_in_the_intersection_only_if_it_is_in_every_set() -> None:
    cache = MaskCache()
    sets = [filled(1, 2, 9), filled(2, 9, 11), filled(9, 2, 3, 12)]
    assert members(cache.intersection(sets, 16)) == {2, 9}


@pytest.mark.parametrize("size", [1, 8, 9, 100, 1000])
def test_a_mask_is_long_enough_for_every_node(size: int) -> None:
    cache = MaskCache()
    for sets in ([filled(0)], [filled(0), filled(0, 900)], [NodeSet(), NodeSet()]):
        mask = cache.intersection(sets, size)
        assert mask is not None
        assert 8 * len(mask) >= size


CHANGES: list[Callable[[NodeSet], None]] = [lambda s: s.add(5), lambda s: s.discard(2)]


@pytest.mark.parametrize("change", CHANGES, ids=["added", "discarded"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_change_of_either_set_is_seen_by_the_next_question(
    change: Callable[[NodeSet], None], which: int
) -> None:
    cache = MaskCache()
    sets = [filled(2, 3), filled(2, 3)]
    sets[1 - which].add(5)
    assert members(cache.intersection(sets, 8)) == {2, 3}
    change(sets[which])
    expected = {h for h in range(8) if h in sets[0] and h in sets[1]}
    assert members(cache.intersection(sets, 8)) == expected


def test_a_fleet_that_grew_is_seen_by_the_next_question() -> None:
    cache = MaskCache()
    sets = [filled(1, 20), filled(1, 20)]
    assert members(cache.intersection(sets, 8)) == {1}
    assert members(cache.intersection(sets, 24)) == {1, 20}


def test_hundreds_of_combinations_stay_right() -> None:
    cache = MaskCache()
    for i in range(600):
        assert members(cache.intersection([filled(i % 50), filled(i % 50, 3)], 64)) == {i % 50}


def test_an_unchanged_combination_is_not_worked_out_again() -> None:
    cache = MaskCache()
    sets = [filled(1, 2), filled(2, 3)]
    assert cache.intersection(sets, 8) is cache.intersection(sets, 8)


# --- sets of a ledger ---------------------------------------------------------------------------


@pytest.fixture
def ledger() -> CapacityLedger:
    made = CapacityLedger()
    for name in ("a", "b", "c"):
        made.register_node(name, NodeCapacity(cpu_cores=1, mem_bytes=1))
    return made


def test_a_ledger_s_set_holds_the_nodes_it_was_made_of(ledger: CapacityLedger) -> None:
    nodes = ledger.node_set(["a", "c"])
    assert [name for name in "abc" if ledger.handle_of(name) in nodes] == ["a", "c"]


def test_a_ledger_s_set_of_unknown_nodes_is_refused(ledger: CapacityLedger) -> None:
    with pytest.raises(NotFound):
        ledger.node_set(["a", "nowhere"])


def test_a_node_that_departs_leaves_every_set(ledger: CapacityLedger) -> None:
    sets = [ledger.node_set(["a", "b"]), ledger.node_set(["b"])]
    handle = ledger.handle_of("b")
    ledger.depart_node("b")
    assert all(handle not in nodes for nodes in sets)
    assert ledger.handle_of("a") in sets[0]


def test_limits_of_several_sets_leave_what_each_of_them_leaves() -> None:
    one, other, cache = filled(1, 2, 3, 9), filled(1, 2, 9, 10), MaskCache()
    assert cache.reach([one, other], 16, by_device=True) == (bytearray([6, 2]), None)
    one.limit_devices(1, 0b0111)
    other.limit_devices(1, 0b1110)
    one.limit_devices(9, 0b1)
    one.limit_devices(3, 0b1)  # which is not in the other
    reach = cache.reach([one, other], 16, by_device=True)
    assert members(reach.mask) == {2}
    assert list(reach.limits or ()) == [1, 0b0110, 9, 0b1]
    assert [reach.within(handle) for handle in (1, 2, 9)] == [0b0110, ALL_DEVICES, 0b1]
    assert members(cache.reach([one, other], 16, by_device=False).mask) == {1, 2, 9}


def test_a_limit_that_changes_is_seen_at_once() -> None:
    nodes, cache = filled(1, 2), MaskCache()
    nodes.limit_devices(1, 0b1)
    assert cache.reach([nodes], 8, by_device=True).within(1) == 0b1
    nodes.limit_devices(1, 0b10)
    assert cache.reach([nodes], 8, by_device=True).within(1) == 0b10
    nodes.limit_devices(1, None)
    assert cache.reach([nodes], 8, by_device=True) == (nodes.bits, None)


def test_a_node_that_is_taken_out_has_no_limits_when_it_is_put_in_again() -> None:
    nodes = filled(1)
    nodes.limit_devices(1, 0b1)
    nodes.limit_caches(1, 0b1)
    nodes.discard(1)
    nodes.add(1)
    assert (nodes.devices, nodes.caches) == ({}, {})


def test_the_caches_of_a_node_are_those_that_all_sets_leave() -> None:
    one, other = filled(1), filled(1)
    assert caches_within([one, other], 1) is None
    one.limit_caches(1, 0b011)
    other.limit_caches(1, 0b110)
    assert caches_within([one, other], 1) == 0b010
    assert caches_within([one, other], 2) is None
    with pytest.raises(InvalidValue, match="bits"):
        one.limit_devices(1, -1)

"""Cores of a lease: chosen when it starts, told by the record, kept until it is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.kernel import Release, Submit, Tick
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.kernel.spelling import read_cores, spell_cores
from bailiwick.vocab.errors import InvalidValue
from tests.unit.kernel.desk import Desk, ask, cores

FOUR = CacheDomain(4_000)
TWO_CACHES = replace(cores(8), topology=NodeTopology((FOUR, replace(FOUR, numa=1))))


def test_a_lease_holds_cores_of_one_cache_if_one_suffices() -> None:
    desk = Desk(nodes=[TWO_CACHES])
    desk.do(Submit(ask(cpu_cores=3)))
    desk.do(Submit(ask(cpu_cores=2)))
    desk.do(Submit(ask(cpu_cores=1)))
    desk.do(Submit(ask(cpu_cores=2)))
    held = [desk.state.cores.of(lease_id) for lease_id in (1, 2, 3, 4)]
    assert held == [((0, 3000),), ((1, 2000),), ((0, 1000),), ((1, 2000),)]
    assert desk.state.cores.free(0) == (0, 0)


def test_what_a_lease_held_is_free_when_it_is_over() -> None:
    desk = Desk(nodes=[TWO_CACHES])
    desk.do(Submit(ask(cpu_cores=6)))
    assert desk.state.cores.of(1) == ((0, 4000), (1, 2000))
    desk.do(Release(1))
    assert desk.state.cores.of(1) is None
    desk.do(Submit(ask(cpu_cores=5)))
    desk.at(desk.now_ms + 10**6).do(Tick())
    assert desk.state.cores.free(0) == (4000, 4000)


def test_members_of_a_gang_on_one_node_have_cores_of_their_own() -> None:
    desk = Desk(nodes=[TWO_CACHES, cores(3)])
    desk.do(Submit(ask(cpu_cores=3, gang_size=3)))
    told = {desk.state.node_of(i): [] for i in (1, 2, 3)}
    for lease_id in (1, 2, 3):
        told[desk.state.node_of(lease_id)].append(desk.state.cores.of(lease_id))
    assert told == {"n1": [((0, 3000),), ((1, 3000),)], "n2": [None]}


def test_of_a_node_with_one_cache_nothing_is_told() -> None:
    one = replace(cores(8), topology=NodeTopology((CacheDomain(8_000),)))
    desk = Desk(nodes=[one])
    desk.do(Submit(ask(cpu_cores=3)))
    assert desk.state.cores.of(1) is None
    assert b'"cores"' not in b"".join(desk.told)


def test_a_snapshot_and_a_replay_have_the_same_cores() -> None:
    desk = Desk(nodes=[TWO_CACHES])
    desk.do(Submit(ask(cpu_cores=6)))
    desk.do(Submit(ask(cpu_cores=2)))
    again = decode(encode(desk.state), desk.digest)
    assert again.cores.all() == desk.state.cores.all() == desk.replayed().state.cores.all()
    assert again.cores.free(0) == (0, 0)


@pytest.mark.parametrize("text", ["x", "0:", "1-:3x", "0:1,", ":4", "-:1"])
def test_what_is_no_spelling_of_cores_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="cores"):
        read_cores(text)


def test_cores_are_spelled_in_runs() -> None:
    held = (*((cache, 8_000) for cache in range(3, 200)), (201, 8_000), (202, 1))
    assert spell_cores(held) == "3-199:8000,201:8000,202:1"
    assert read_cores(spell_cores(held)) == held

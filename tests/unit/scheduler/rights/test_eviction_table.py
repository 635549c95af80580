"""Who may evict whom, all pairs, against a table written out by hand."""

from __future__ import annotations

from itertools import product

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import EVICTABLE_ALL, traits
from bailiwick.scheduler.rights.eviction_table import evictable_by, may_evict
from bailiwick.vocab.words import LEASE_CLASSES, PRIORITIES, LeaseClass, Priority

# A row for each request, a column for each lease: standard and spot, low to critical. Guaranteed
# leases have no column: nobody evicts them.
BY_HAND = {
    "guaranteed": ["....xxxx", "x...xxxx", "xx..xxxx", "xxx.xxxx"],
    "standard": ["....xxxx", "x...xxxx", "xx..xxxx", "xxx.xxxx"],
    "spot": ["........", "....x...", "....xx..", "....xxx."],
}
PAIRS = list(product(LEASE_CLASSES, PRIORITIES))
ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]


def by_hand(kind: LeaseClass, rank: Priority, victim: LeaseClass, victim_rank: Priority) -> bool:
    if victim is LeaseClass.GUARANTEED:
        return False
    at = (4 if victim is LeaseClass.SPOT else 0) + victim_rank.rank
    return BY_HAND[kind.value][rank.rank][at] == "x"


@pytest.mark.parametrize(("kind", "rank"), PAIRS)
def test_the_table_is_the_one_written_by_hand(kind: LeaseClass, rank: Priority) -> None:
    for victim, victim_rank in PAIRS:
        expected = by_hand(kind, rank, victim, victim_rank)
        assert may_evict(kind, rank, victim_class=victim, victim_priority=victim_rank) == expected


def test_an_engine_is_told_of_no_more_than_it_takes() -> None:
    together = 0
    for kind, rank in PAIRS:
        together |= evictable_by(kind, rank)
    assert together == EVICTABLE_ALL


@pytest.mark.parametrize("which", ENGINES)
@pytest.mark.parametrize(("kind", "rank"), PAIRS)
def test_engines_evict_by_the_table(which: str, kind: LeaseClass, rank: Priority) -> None:
    for victim, victim_rank in PAIRS:
        engine = new_engine(which)
        engine.add_class(1000, 0, 0, b"")
        engine.set_eligible(engine.add_node(0), 1)
        shape = engine.add_shape(1000, 0, 0, 0, 0, 0, 1, -1)
        facts = traits(victim_rank.rank, LEASE_CLASSES.index(victim))
        lease = engine.take(0, shape, 0, facts, 0, 9, -1, -1)
        found = engine.find_victims(shape, evictable_by(kind, rank), 5, 0, 0, 9, None, -1)
        if by_hand(kind, rank, victim, victim_rank):
            assert found[1:] == (0, [lease], True)
        else:
            protected = victim is LeaseClass.GUARANTEED
            assert found == ((0, 0, 1, 0, 0, 0) if protected else (0, 0, 0, 1, 0, 0))

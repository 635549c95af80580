"""Which caches cores lie under: the book against every choice that there is."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.scheduler.core_book import CoreBook
from bailiwick.scheduler.ledger import CapacityLedger

sizes = st.lists(st.integers(0, 6), min_size=2, max_size=5)
steps = st.lists(
    st.tuples(st.integers(0, 12), st.none() | st.integers(0, 31), st.booleans()), max_size=12
)


def fewest(free: list[int], milli: int) -> list[tuple[int, ...]]:
    """The sets of caches that suffice, of those with the fewest."""
    for count in range(len(free) + 1):
        found = [
            chosen
            for chosen in combinations(range(len(free)), count)
            if sum(free[cache] for cache in chosen) >= milli
        ]
        if found:
            return found
    return []


@given(sizes=sizes, steps=steps)
def test_cores_lie_under_as_few_caches_as_can_be_and_never_under_one_that_may_not_be_used(
    sizes: list[int], steps: list[tuple[int, int | None, bool]]
) -> None:
    ledger = CapacityLedger()
    caches = tuple(CacheDomain(size) for size in sizes)
    ledger.register_node("n", NodeCapacity(0, 0, topology=NodeTopology(caches)))
    book, held = CoreBook(ledger), dict[int, dict[int, int]]()
    for number, (milli, allowed, ends) in enumerate(steps):
        if ends and held:
            book.give_back(min(held))
            del held[min(held)]
        left = [size - sum(h.get(i, 0) for h in held.values()) for i, size in enumerate(sizes)]
        assert list(book.free(0)) == left
        free = [m if allowed is None or allowed >> i & 1 else 0 for i, m in enumerate(left)]
        assert book.room(0, allowed) == sum(free)
        planned, choices = book.plan(0, milli, allowed=allowed), fewest(free, milli)
        if planned is None:
            assert not choices
            continue
        chosen = tuple(cache for cache, _ in planned)
        assert chosen in choices
        assert sum(amount for _, amount in planned) == milli
        assert all(0 < amount <= free[cache] for cache, amount in planned)
        if len(chosen) == 1:
            assert free[chosen[0]] == min(free[one] for (one,) in choices)
        book.take(number, 0, cores=planned)
        assert book.of(number) == planned
        held[number] = dict(planned)
    for number in held:
        book.give_back(number)
    assert book.free(0) == tuple(sizes)
    assert book.all() == []

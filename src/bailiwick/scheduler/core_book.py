"""Which cores of a machine a lease holds: how many under which cache.

Rules:

- Only of nodes that tell of two caches or more. On any other node a lease's cores are not known,
  and count as lying everywhere.
- A lease's cores lie under one cache if one has enough free: the one with the least that does. Else
  under as few as possible: the largest first, and the rest as before. Of equals the first.
- Caches may hold more cores than the node offers (it keeps some to itself), never fewer. So whoever
  finds room on the node finds cores, as long as every cache may be used.
- What is held is kept by number of lease. A lease that is not in the book holds what nobody knows,
  and takes nothing away here.

>>> from bailiwick import CapacityLedger, NodeCapacity
>>> from bailiwick.fleet.topology import CacheDomain, NodeTopology
>>> ledger, four = CapacityLedger(), CacheDomain(4_000)
>>> _ = ledger.register_node("n", NodeCapacity(8, 1, topology=NodeTopology((four, four))))
>>> book = CoreBook(ledger)
>>> book.take(1, 0, cores=book.plan(0, 3_000))
>>> book.of(1), book.plan(0, 1_000), book.plan(0, 5_000), book.plan(0, 2_000, allowed=0b1)
(((0, 3000),), ((0, 1000),), ((0, 1000), (1, 4000)), None)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.vocab.errors import InvariantBroken

Cores: TypeAlias = tuple[tuple[int, int], ...]
"""Caches, ascending, and the milli-cores held under each."""


class CoreBook:
    """The cores that leases hold, by cache, on the nodes of one ledger."""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger = ledger
        self._of: dict[int, tuple[int, Cores]] = {}
        self._held: dict[int, list[int]] = {}

    def is_kept(self, handle: int) -> bool:
        """Whether the node tells of two caches or more."""
        return len(self._sizes(handle)) > 1

    def free(self, handle: int) -> tuple[int, ...]:
        """The milli-cores free under each cache; nothing of a node of which that is not kept."""
        sizes = self._sizes(handle)
        if len(sizes) < 2:
            return ()
        held = self._held.get(handle)
        return sizes if held is None else tuple(map(int.__sub__, sizes, held))

    def room(self, handle: int, allowed: int | None = None) -> int:
        """The milli-cores free under these caches together; ``None``: under all."""
        return sum(
            m for i, m in enumerate(self.free(handle)) if allowed is None or allowed >> i & 1
        )

    def plan(
        self,
        handle: int,
        milli: int,
        *,
        allowed: int | None = None,
        beside: Iterable[Cores] = (),
    ) -> Cores | None:
        """Where so many milli-cores would lie, under these caches; nothing where they do not fit.

        ``beside`` are cores that others of the same gang are to have there.
        """
        free = list(self.free(handle))
        for cores in beside:
            for cache, amount in cores:
                free[cache] -= amount
        if allowed is not None:
            free = [amount if allowed >> cache & 1 else 0 for cache, amount in enumerate(free)]
        return plan_cores(free, milli)

    def take(self, lease_id: int, handle: int, *, cores: Cores) -> None:
        """A lease holds these cores from now on."""
        sizes = self._sizes(handle)
        held = self._held.setdefault(handle, [0] * len(sizes))
        for cache, milli in cores:
            if not 0 <= cache < len(sizes) or held[cache] + milli > sizes[cache]:
                raise InvariantBroken(f"lease {lease_id} has cores that cache {cache} has not")
            held[cache] += milli
        self._of[lease_id] = handle, cores

    def give_back(self, lease_id: int) -> None:
        """A lease is over; one that is not in the book held nothing that is known."""
        handle, cores = self._of.pop(lease_id, (-1, ()))
        for cache, milli in cores:
            self._held[handle][cache] -= milli
        if handle in self._held and not any(self._held[handle]):
            del self._held[handle]  # the next node with this handle may have other caches

    def of(self, lease_id: int) -> Cores | None:
        """The cores of a lease; nothing if they are not known."""
        found = self._of.get(lease_id)
        return None if found is None else found[1]

    def caches_of(self, lease_id: int) -> tuple[int, ...] | None:
        """The caches under which a lease's cores lie; nothing if it is not known."""
        found = self._of.get(lease_id)
        return None if found is None else tuple(cache for cache, _ in found[1])

    def all(self) -> list[tuple[int, Cores]]:
        """Every lease in the book and its cores, by number."""
        return [(lease_id, cores) for lease_id, (_, cores) in sorted(self._of.items())]

    def _sizes(self, handle: int) -> tuple[int, ...]:
        entry = self._ledger.by_handle[handle]
        return () if entry is None else entry.caches_milli


def plan_cores(free: Sequence[int], milli: int) -> Cores | None:
    """So many milli-cores under as few of these caches as possible; nothing if they are too few.

    >>> plan_cores([4_000, 2_000, 3_000], 2_500), plan_cores([4_000, 2_000, 3_000], 5_500)
    (((2, 2500),), ((0, 4000), (1, 1500)))
    """
    left, found = list(free), {}
    while milli > 0:
        enough = [cache for cache, amount in enumerate(left) if amount >= milli]
        if enough:
            found[min(enough, key=left.__getitem__)] = milli
            break
        most = max(range(len(left)), key=left.__getitem__, default=-1)
        if most < 0 or left[most] <= 0:
            return None
        found[most], milli, left[most] = left[most], milli - left[most], 0
    return tuple(sorted(found.items()))

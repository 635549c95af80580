"""Lanes: waiting work by priority and owner, kept as entries come and go, interleaved when read.

Rules:

- Order: rank, then lowest ``normalised``, then time of submission, then id. An entry once ordered
  counts as used by its tenant and project (``expected_usage``), so tenants take turns and one with
  many requests does not fill the head of the line with them.
- An entry's rank is that of its priority, raised by one with every ``step_ms`` that it has waited,
  within the bounds of :class:`Aging`. It says where the entry stands, and nothing else: never whom
  it may evict.
- Joining and leaving cost the same however many wait. Reading an order costs, ahead of the first
  entry of a rank, one step for each scope that waits; then one for each entry that is read.
- Nobody may join or leave while an order is being read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from operator import attrgetter

from bailiwick.scheduler.fairness import (
    SHARE_MAX,
    FairShares,
    QueueEntry,
    Scope,
    expected_usage,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import check_integer, check_kind
from bailiwick.vocab.words import PRIORITIES, Priority

_age = attrgetter("submitted_ms", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aging:
    """How waiting raises an entry: by one priority a step, so many steps, no higher than that."""

    step_ms: int
    steps_max: int
    ceiling: Priority = Priority.HIGH

    def __post_init__(self) -> None:
        check_integer("step_ms", self.step_ms, low=1, high=2**53)
        check_integer("steps_max", self.steps_max, low=0, high=len(PRIORITIES) - 1)
        check_kind("ceiling", self.ceiling, Priority)

    def steps(self, entry: QueueEntry, now_ms: int) -> int:
        """By how much the entry stands higher than its priority for having waited."""
        most = min(self.steps_max, self.ceiling.rank - entry.request.priority.rank)
        if most <= 0:
            return 0
        return max(min((now_ms - entry.submitted_ms) // self.step_ms, most), 0)

    def rank(self, entry: QueueEntry, now_ms: int) -> int:
        """Where the entry stands among priorities."""
        return entry.request.priority.rank + self.steps(entry, now_ms)


class _Row:
    """Entries by age: who comes last stands last, and it is seldom otherwise."""

    __slots__ = ("_entries", "_is_sorted")

    def __init__(self) -> None:
        self._entries: dict[int, QueueEntry] = {}
        self._is_sorted = True

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[QueueEntry]:
        if not self._is_sorted:
            self._entries = {e.id: e for e in sorted(self._entries.values(), key=_age)}
            self._is_sorted = True
        return iter(self._entries.values())

    def join(self, entry: QueueEntry) -> None:
        last = next(reversed(self._entries.values()), None)
        if last is not None and _age(last) > _age(entry):
            self._is_sorted = False
        self._entries[entry.id] = entry

    def leave(self, entry: QueueEntry) -> None:
        del self._entries[entry.id]


class Lanes:
    """Who waits, by priority and owner."""

    __slots__ = ("_ages", "_rows", "aging", "shares")

    def __init__(self, shares: FairShares, aging: Aging) -> None:
        self.shares, self.aging = shares, aging
        self._rows: dict[Priority, dict[Scope, _Row]] = {p: {} for p in PRIORITIES}
        self._ages: dict[Priority, _Row] = {p: _Row() for p in PRIORITIES}

    def join(self, entry: QueueEntry) -> None:
        """The entry waits from now on."""
        priority = entry.request.priority
        self._rows[priority].setdefault(_scope_of(entry.request), _Row()).join(entry)
        self._ages[priority].join(entry)

    def leave(self, entry: QueueEntry) -> None:
        """The entry waits no more."""
        rows, scope = self._rows[entry.request.priority], _scope_of(entry.request)
        rows[scope].leave(entry)
        if not len(rows[scope]):
            del rows[scope]
        self._ages[entry.request.priority].leave(entry)

    def reaches(self, priority: Priority, rank: int, *, now_ms: int) -> bool:
        """Whether any entry of the priority stands at that rank or higher."""
        if priority.rank >= rank:
            return len(self._ages[priority]) > 0
        # Who is oldest has been raised most.
        oldest = next(iter(self._ages[priority]), None)
        return oldest is not None and self.aging.rank(oldest, now_ms) >= rank

    def order(self, now_ms: int, front: Mapping[int, Sequence[QueueEntry]]) -> Iterator[QueueEntry]:
        """The entries as they are to be served; those in ``front`` come first in their rank."""
        return _Order(self, now_ms, front).read()

    def rows(self, priority: Priority) -> Mapping[Scope, _Row]:
        """The entries of a priority by owner."""
        return self._rows[priority]


class _Cursor:
    """One row, as far as it has been read; who stands in front is left out."""

    __slots__ = ("_rest", "head", "rank")

    def __init__(self, row: _Row, ahead: set[int], *, rank: int) -> None:
        self.rank = rank
        self._rest = (entry for entry in row if entry.id not in ahead)
        self.head = next(self._rest, None)

    def take(self) -> QueueEntry:
        entry = self.head
        assert entry is not None, "nobody is left in the row"
        self.head = next(self._rest, None)
        return entry


@dataclass(slots=True)
class _Lane:
    """One party in an interleaving: its share, its usage so far, and its entries in order."""

    share: int
    usage: int
    waiting: Iterator[QueueEntry]

    def place(self, entry: QueueEntry, index: int) -> tuple[int, int, int, int, QueueEntry]:
        """Where the lane stands with this entry at its head; the least goes first."""
        normalised = self.usage * SHARE_MAX // self.share
        return normalised, entry.submitted_ms, entry.id, index, entry


def _interleave(lanes: list[_Lane]) -> Iterator[QueueEntry]:
    """Entries of all lanes, each time from the lane that is owed most."""
    heap = []
    for index, lane in enumerate(lanes):
        head = next(lane.waiting, None)
        if head is not None:
            heap.append(lane.place(head, index))
    heapify(heap)
    while heap:  # bounded: every round takes one entry out of a lane
        *_, index, entry = heap[0]
        yield entry
        lane = lanes[index]
        lane.usage += expected_usage(entry.request)
        head = next(lane.waiting, None)
        if head is not None:
            heapreplace(heap, lane.place(head, index))
        else:
            heappop(heap)


class _Order:
    """One reading of the lanes: whoever is first at each rank, down to the lowest."""

    def __init__(
        self, lanes: Lanes, now_ms: int, front: Mapping[int, Sequence[QueueEntry]]
    ) -> None:
        self._lanes, self._now_ms, self._front = lanes, now_ms, front
        self._ahead = {entry.id for placed in front.values() for entry in placed}
        self._cursors: dict[tuple[Priority, Scope], _Cursor] = {}
        # A lane lives through all ranks: what is urgent counts as used before what is not.
        self._parties: dict[Scope, _Lane] = {}
        self._counted: dict[Scope, int] = {}
        """What counts as used by scopes that nobody has had to weigh yet."""

    def read(self) -> Iterator[QueueEntry]:
        """Every entry, the first to be served first."""
        for rank in reversed(range(len(PRIORITIES))):
            for entry in self._front.get(rank, ()):
                yield entry
                inner, usage = _scope_of(entry.request), expected_usage(entry.request)
                for scope in (inner, inner[:1]):
                    self._count(scope, usage)
            yield from _interleave(self._tenants(rank))

    def _tenants(self, rank: int) -> list[_Lane]:
        """The tenants who have entries of the rank, each with its projects interleaved."""
        sources: dict[Scope, list[_Cursor]] = {}
        for priority in PRIORITIES[: rank + 1]:
            if not self._lanes.reaches(priority, rank, now_ms=self._now_ms):
                continue
            for scope in self._lanes.rows(priority):
                cursor = self._cursor(priority, scope)
                if self._stands(cursor, rank):
                    sources.setdefault(scope, []).append(cursor)
        tenants: dict[Scope, list[Scope]] = {}
        for scope in sources:
            tenants.setdefault(scope[:1], []).append(scope)
        found = []
        for tenant, projects in tenants.items():
            party = self._party(tenant)
            if len(projects) == 1:  # nobody inside to weigh it against
                party.waiting = self._alone(projects[0], sources[projects[0]], rank)
            else:
                party.waiting = _interleave([self._project(p, sources[p], rank) for p in projects])
            found.append(party)
        return found

    def _project(self, scope: Scope, cursors: list[_Cursor], rank: int) -> _Lane:
        party = self._party(scope)
        party.waiting = self._by_age(cursors, rank)
        return party

    def _alone(self, scope: Scope, cursors: list[_Cursor], rank: int) -> Iterator[QueueEntry]:
        for entry in self._by_age(cursors, rank):
            yield entry
            self._count(scope, expected_usage(entry.request))

    def _by_age(self, cursors: list[_Cursor], rank: int) -> Iterator[QueueEntry]:
        """What these rows have at the rank or above, oldest first."""
        if len(cursors) == 1:
            cursor = cursors[0]
            while self._stands(cursor, rank):  # bounded: takes one
                yield cursor.take()
            return
        left = cursors
        while left := [each for each in left if self._stands(each, rank)]:  # bounded: takes one
            yield min(left, key=lambda each: _age(each.head)).take()

    def _stands(self, cursor: _Cursor, rank: int) -> bool:
        head = cursor.head
        if head is None:
            return False
        # Nobody stands lower than the rank of its priority.
        return cursor.rank >= rank or self._lanes.aging.rank(head, self._now_ms) >= rank

    def _cursor(self, priority: Priority, scope: Scope) -> _Cursor:
        key = priority, scope
        found = self._cursors.get(key)
        if found is None:
            row = self._lanes.rows(priority)[scope]
            found = self._cursors[key] = _Cursor(row, self._ahead, rank=priority.rank)
        return found

    def _party(self, scope: Scope) -> _Lane:
        found = self._parties.get(scope)
        if found is None:
            share, usage = self._lanes.shares.share_and_usage(scope, self._now_ms)
            usage += self._counted.pop(scope, 0)
            found = self._parties[scope] = _Lane(share, usage, iter(()))
        return found

    def _count(self, scope: Scope, usage: int) -> None:
        found = self._parties.get(scope)
        if found is None:
            self._counted[scope] = self._counted.get(scope, 0) + usage
        else:
            found.usage += usage


def _scope_of(request: PlacementRequest) -> Scope:
    return (request.tenant, request.project or "")

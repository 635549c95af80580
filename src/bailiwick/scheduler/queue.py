"""The queue of waiting work: who stands in it, who is looked at next, who stands ahead.

Rules:

- Entries stand in fair order (:mod:`.line.lanes`). Ahead of that stand, in each priority, the entry
  that room is kept for and, once in ``patience_ms``, the one that was short of capacity for
  longest, if for longer than that. Only one in a while: otherwise a long backlog would put age in
  the place of fairness.
- Joining, leaving, and whether anybody stands before a newcomer cost the same however many wait. So
  does a window: nobody who is not in it is looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from bailiwick.scheduler.fairness import FairShares, QueueEntry
from bailiwick.scheduler.line.lanes import Aging, Lanes
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.values import check_integer
from bailiwick.vocab.words import PRIORITIES, Priority

NO_AGING = Aging(step_ms=1, steps_max=0)
"""Waiting raises nobody."""


class FairQueue:
    """Entries that wait, who is looked at next, and who stands ahead of fair order."""

    __slots__ = (
        "_cursor",
        "_favoured_ms",
        "_holders",
        "_ids",
        "_lanes",
        "_serial",
        "_short",
        "entries",
        "patience_ms",
    )

    def __init__(self, shares: FairShares, *, patience_ms: int, aging: Aging = NO_AGING) -> None:
        self._lanes = Lanes(shares, aging)
        # Ids in rising order; taking one out moves the others, which no thousands of them show.
        self._ids: list[int] = []
        self.patience_ms = check_integer("patience_ms", patience_ms, low=1, high=2**53)
        self.entries: dict[int, QueueEntry] = {}
        self._cursor = self._serial = 0
        self._holders: dict[Priority, QueueEntry] = {}
        # By priority, who is short of capacity and since when, longest first.
        self._short: dict[Priority, dict[int, tuple[QueueEntry, int]]] = {p: {} for p in PRIORITIES}
        self._favoured_ms: dict[Priority, int] = {}

    @property
    def next_id(self) -> int:
        """The id that the next entry gets."""
        return self._serial + 1

    def join(self, request: PlacementRequest, now_ms: int) -> QueueEntry:
        """The request as a new entry."""
        self._serial += 1
        entry = QueueEntry(self._serial, request, now_ms)
        self._add(entry)
        return entry

    def _add(self, entry: QueueEntry) -> None:
        self.entries[entry.id] = entry
        self._ids.append(entry.id)
        self._lanes.join(entry)

    def entry(self, entry_id: int) -> QueueEntry:
        """The entry by its id, while it waits."""
        entry = self.entries.get(entry_id)
        if entry is None:
            raise NotFound("queue entry", entry_id, hint="it has started or was cancelled")
        return entry

    def order(self, now_ms: int) -> Iterator[QueueEntry]:
        """Every entry, in the order in which it is to be looked at."""
        front: dict[int, list[QueueEntry]] = {}
        for priority in reversed(PRIORITIES):
            holder, overdue = self._holders.get(priority), self._overdue(priority, now_ms)
            for entry in (holder, overdue if overdue is not holder else None):
                if entry is not None:
                    front.setdefault(self.rank(entry, now_ms), []).append(entry)
        return self._lanes.order(now_ms, front)

    def rank(self, entry: QueueEntry, now_ms: int) -> int:
        """Where the entry stands among priorities, having waited so long."""
        return self._lanes.aging.rank(entry, now_ms)

    def has_before(self, priority: Priority, now_ms: int) -> bool:
        """Whether anybody waits whom a newcomer of this priority stands behind."""
        rank = priority.rank
        return any(self._lanes.reaches(p, rank, now_ms=now_ms) for p in PRIORITIES)

    def window(self, now_ms: int, limit: int) -> list[QueueEntry]:
        """Whom to look at: ``limit`` entries, and those that room is kept for in any case.

        If there are more, half are the first in order and half are taken from the rest in turn, so
        that nobody behind a long line of denials is forgotten.
        """
        if len(self.entries) <= limit:
            return list(self.order(now_ms))
        head = list(islice(self.order(now_ms), limit - limit // 2))
        seen = {entry.id for entry in head}
        holders = [entry for entry in self._holders.values() if entry.id not in seen]
        seen.update(entry.id for entry in holders)
        start = bisect_right(self._ids, self._cursor)
        others = self.part(start, limit // 2, without=seen)
        self._cursor = others[-1].id if others else 0
        # Sorting is stable: in each priority the holder stays before the others.
        return head + sorted(holders + others, key=lambda entry: -entry.request.priority.rank)

    def part(self, start: int, count: int, *, without: Collection[int]) -> list[QueueEntry]:
        """So many entries by age of their ids, from the ``start``-th on and round the end."""
        around = chain(range(start, len(self._ids)), range(start))
        ids = (self._ids[index] for index in around)
        return [self.entries[i] for i in islice((i for i in ids if i not in without), count)]

    def settle(
        self, entry: QueueEntry, now_ms: int, *, short: bool, turn: bool, holds: bool
    ) -> None:
        """An entry was looked at: is it short of capacity, had it its turn, is room kept for it."""
        priority = entry.request.priority
        if turn and self._overdue(priority, now_ms) is entry:
            self._favoured_ms[priority] = now_ms
        if turn or not short:
            self.step_back(entry)
        if short:
            self._short[priority].setdefault(entry.id, (entry, now_ms))
        if holds:
            self._holders[priority] = entry

    def leave(self, entry: QueueEntry) -> None:
        """The entry waits no more."""
        self.step_back(entry)
        del self.entries[entry.id]
        del self._ids[bisect_left(self._ids, entry.id)]
        self._lanes.leave(entry)

    def mark_short(self, entry: QueueEntry, now_ms: int) -> None:
        """The entry lacks capacity, at least since now."""
        self._short[entry.request.priority].setdefault(entry.id, (entry, now_ms))

    def step_back(self, entry: QueueEntry) -> None:
        """The entry does not lack capacity; no room is kept for it and it has waited for none."""
        priority = entry.request.priority
        self._short[priority].pop(entry.id, None)
        if self._holders.get(priority) is entry:
            del self._holders[priority]

    def hold(self, entry: QueueEntry, now_ms: int, *, overdue: bool) -> None:
        """Room is kept for the entry; if it was overdue, that was its turn."""
        priority = entry.request.priority
        self._holders[priority] = entry
        if overdue:
            self._favoured_ms[priority] = now_ms
            self._short[priority][entry.id] = (entry, now_ms)

    def holds(self, entry: QueueEntry) -> bool:
        """Whether room is kept for the entry."""
        return self._holders.get(entry.request.priority) is entry

    def is_overdue(self, entry: QueueEntry, now_ms: int) -> bool:
        """Whether the entry stands ahead because it has lacked capacity for longest."""
        return self._overdue(entry.request.priority, now_ms) is entry

    def dump(self) -> dict[str, object]:
        """Everything but the entries themselves, as plain lists."""
        return {
            "serial": self._serial,
            "holders": sorted(entry.id for entry in self._holders.values()),
            "short": [
                [entry.id, since] for p in PRIORITIES for entry, since in self._short[p].values()
            ],
            "favoured": [[p.rank, at_ms] for p, at_ms in sorted(self._favoured_ms.items())],
        }

    def load(self, dumped: dict[str, Any], entries: Iterable[QueueEntry]) -> None:
        """Take up what :meth:`dump` told, with these entries."""
        for entry in entries:
            self._add(entry)
        self._serial = dumped["serial"]
        for entry_id in dumped["holders"]:
            entry = self.entries[entry_id]
            self._holders[entry.request.priority] = entry
        for entry_id, since in dumped["short"]:
            entry = self.entries[entry_id]
            self._short[entry.request.priority][entry_id] = (entry, since)
        self._favoured_ms = {PRIORITIES[rank]: at_ms for rank, at_ms in dumped["favoured"]}

    def _overdue(self, priority: Priority, now_ms: int) -> QueueEntry | None:
        for entry, since_ms in self._short[priority].values():
            waited_ms = now_ms - max(since_ms, self._favoured_ms.get(priority, 0))
            return entry if waited_ms >= self.patience_ms else None
        return None

"""The queue of waiting work: who stands in it, who is looked at next, who stands ahead.

Rules:

- Entries stand in fair order (:mod:`.fairness`). Ahead of that stand, in each priority, the entry
  that room is kept for and, once in ``patience_ms``, the one that was short of capacity for
  longest, if for longer than that. Only one in a while: otherwise a long backlog would put age in
  the place of fairness.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

from bailiwick.scheduler.fairness import FairShares, QueueEntry, fair_order
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.values import check_integer
from bailiwick.vocab.words import PRIORITIES, Priority


class FairQueue:
    """Entries that wait, who is looked at next, and who stands ahead of fair order."""

    __slots__ = (
        "_cursor",
        "_favoured_ms",
        "_holders",
        "_serial",
        "_short",
        "entries",
        "patience_ms",
        "shares",
    )

    def __init__(self, shares: FairShares, *, patience_ms: int) -> None:
        self.shares = shares
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
        self.entries[entry.id] = entry
        return entry

    def entry(self, entry_id: int) -> QueueEntry:
        """The entry by its id, while it waits."""
        entry = self.entries.get(entry_id)
        if entry is None:
            raise NotFound("queue entry", entry_id, hint="it has started or was cancelled")
        return entry

    def order(self, now_ms: int) -> Iterator[QueueEntry]:
        """Every entry, in the order in which it is to be looked at."""
        front = {priority: [holder] for priority, holder in self._holders.items()}
        for priority in PRIORITIES:
            overdue = self._overdue(priority, now_ms)
            if overdue is not None and overdue is not self._holders.get(priority):
                front.setdefault(priority, []).append(overdue)
        return fair_order(self.entries.values(), self.shares, now_ms=now_ms, front=front)

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
        rest = [entry for entry in self.entries.values() if entry.id not in seen]
        start = bisect_right(rest, self._cursor, key=attrgetter("id"))
        others = (rest[start:] + rest[:start])[: limit // 2]
        self._cursor = others[-1].id if others else 0
        # Sorting is stable: in each priority the holder stays before the others.
        return head + sorted(holders + others, key=lambda entry: -entry.request.priority.rank)

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
        self.entries = {entry.id: entry for entry in entries}
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

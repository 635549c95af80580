"""The queue of waiting work: who stands in it, who is looked at next, who stands ahead.

Rules:

- Entries stand in fair order (:mod:`.backfill.lanes`). Ahead of that stand, at each rank, the entry
  that is promised its start and, of each priority, once in ``patience_ms``, the one that was short
  of capacity for longest, if for longer than that. Only one in a while: otherwise a long backlog
  would put age in the place of fairness. For the same reason only one at each rank is promised
  anything: room is kept for others as well, but for whom, fair order says at every look.
- Whose reservation was lost (:mod:`.line.promises`) is short of capacity only since then.
- Joining, leaving, and whether anybody stands before a newcomer cost the same however many wait. So
  does a window: nobody who is not in it is looked at.
- Beside the order the line knows what kinds of room are sought (:mod:`.backfill.kinds`), whose
  deadline passes next, and how many wait of each priority and class.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain, islice
from typing import Any

from bailiwick.scheduler.backfill.kinds import WaitingKinds
from bailiwick.scheduler.backfill.lanes import Lanes
from bailiwick.scheduler.backfill.promises import Promise
from bailiwick.scheduler.backfill.rules import LineRules
from bailiwick.scheduler.fairness import FairShares, QueueEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.words import PRIORITIES, LeaseClass, Priority

_NEVER_MS = 2**53


class FairQueue:
    """Entries that wait, who is looked at next, and who stands ahead of fair order."""

    __slots__ = (
        "_barred",
        "_cursor",
        "_deadlines",
        "_favoured_ms",
        "_ids",
        "_lanes",
        "_rules",
        "_serial",
        "_short",
        "entries",
        "kinds",
        "promises",
        "urgencies",
    )

    def __init__(self, shares: FairShares, rules: LineRules) -> None:
        self._lanes = Lanes(shares, rules.aging)
        self._rules = rules
        # Ids in rising order; taking one out moves the others, which no thousands of them show.
        self._ids: list[int] = []
        self.entries: dict[int, QueueEntry] = {}
        self.kinds = WaitingKinds()
        self.urgencies: Counter[tuple[Priority, LeaseClass]] = Counter()
        """How many wait of each priority and class."""
        # A heap; who has left stays in it until his deadline has passed.
        self._deadlines: list[tuple[int, int]] = []
        self._cursor = self._serial = 0
        self.promises: dict[int, Promise] = {}
        """Who is promised a start, by entry, in the order in which they were."""
        self._barred: dict[int, tuple[int, int]] = {}
        """Until when, and up to which rank, room is kept for an entry no more."""
        # By priority, who is short of capacity and since when, longest first.
        self._short: dict[Priority, dict[int, tuple[QueueEntry, int]]] = {p: {} for p in PRIORITIES}
        self._favoured_ms: dict[Priority, int] = {}

    @property
    def rules(self) -> LineRules:
        """By what rules the line is kept from now on."""
        return self._rules

    @rules.setter
    def rules(self, rules: LineRules) -> None:
        self._rules = rules
        self._lanes.aging = rules.aging

    @property
    def next_id(self) -> int:
        """The id that the next entry gets."""
        return self._serial + 1

    # -- coming and going --------------------------------------------------------------------

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
        self.kinds.join(entry)
        request = entry.request
        self.urgencies[request.priority, request.lease_class] += 1
        if request.deadline_ms is not None:
            heappush(self._deadlines, (request.deadline_ms, entry.id))

    def leave(self, entry: QueueEntry) -> None:
        """The entry waits no more."""
        self.step_back(entry)
        del self.entries[entry.id]
        del self._ids[bisect_left(self._ids, entry.id)]
        self._lanes.leave(entry)
        self.kinds.leave(entry)
        self.urgencies[entry.request.priority, entry.request.lease_class] -= 1
        self._barred.pop(entry.id, None)

    def entry(self, entry_id: int) -> QueueEntry:
        """The entry by its id, while it waits."""
        entry = self.entries.get(entry_id)
        if entry is None:
            raise NotFound("queue entry", entry_id, hint="it has started or was cancelled")
        return entry

    # -- looking -----------------------------------------------------------------------------

    def order(self, now_ms: int) -> Iterator[QueueEntry]:
        """Every entry, in the order in which it is to be looked at."""
        front: dict[int, list[QueueEntry]] = {}
        for promise in self.promises.values():
            front.setdefault(self.rank(promise.entry, now_ms), []).append(promise.entry)
        for entry in self.overdue(now_ms):
            if entry.id not in self.promises:
                front.setdefault(self.rank(entry, now_ms), []).append(entry)
        return self._lanes.order(now_ms, front)

    def least_ahead(self, entry: QueueEntry, now_ms: int) -> int:
        """At least so many stand ahead of the entry; told without reading the order."""
        if entry.id in self.promises or any(each is entry for each in self.overdue(now_ms)):
            return 0
        return self._lanes.least_ahead(entry, now_ms)

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
        kept = [p.entry for entry_id, p in self.promises.items() if entry_id not in seen]
        seen.update(entry.id for entry in kept)
        others = self.part(bisect_right(self._ids, self._cursor), limit // 2, without=seen)
        self._cursor = others[-1].id if others else 0
        # Sorting is stable: at each rank those that room is kept for stay before the others.
        return head + sorted(kept + others, key=lambda entry: -self.rank(entry, now_ms))

    def part(self, start: int, count: int, *, without: Collection[int]) -> list[QueueEntry]:
        """So many entries by age of their ids, from the ``start``-th on and round the end."""
        around = chain(range(start, len(self._ids)), range(start))
        ids = (self._ids[index] for index in around)
        return [self.entries[i] for i in islice((i for i in ids if i not in without), count)]

    def late(self, now_ms: int, limit: int) -> list[QueueEntry]:
        """Whose deadline has passed, the earliest first; no more than that many."""
        found: list[QueueEntry] = []
        kept = []
        while self._deadlines and self._deadlines[0][0] < now_ms and len(found) < limit:
            row = heappop(self._deadlines)
            entry = self.entries.get(row[1])
            if entry is not None:
                found.append(entry)
                kept.append(row)
        for row in kept:  # nobody leaves by being looked at
            heappush(self._deadlines, row)
        return found

    # -- who is short of capacity ------------------------------------------------------------

    def mark_short(self, entry: QueueEntry, now_ms: int) -> None:
        """The entry lacks capacity, at least since now."""
        self._short[entry.request.priority].setdefault(entry.id, (entry, now_ms))

    def step_back(self, entry: QueueEntry) -> None:
        """The entry does not lack capacity; no room is kept for it and it has waited for none."""
        self._short[entry.request.priority].pop(entry.id, None)
        self.promises.pop(entry.id, None)

    def had_turn(self, entry: QueueEntry, now_ms: int) -> None:
        """Room might have been kept for the entry: it has lacked it only since now."""
        priority = entry.request.priority
        if self.is_overdue(entry, now_ms):
            self._favoured_ms[priority] = now_ms
        self._short[priority].pop(entry.id, None)
        self._short[priority][entry.id] = (entry, now_ms)

    def is_overdue(self, entry: QueueEntry, now_ms: int) -> bool:
        """Whether the entry stands ahead because it has lacked capacity for longest."""
        return self._overdue(entry.request.priority, now_ms) is entry

    def overdue(self, now_ms: int) -> Iterator[QueueEntry]:
        """Of each priority, who stands ahead because it has lacked capacity for longest."""
        found = (self._overdue(priority, now_ms) for priority in reversed(PRIORITIES))
        return (entry for entry in found if entry is not None)

    def _overdue(self, priority: Priority, now_ms: int) -> QueueEntry | None:
        for entry, since_ms in self._short[priority].values():
            waited_ms = now_ms - max(since_ms, self._favoured_ms.get(priority, 0))
            return entry if waited_ms >= self._rules.patience_ms else None
        return None

    def short_since(self, since_ms: int) -> Iterator[QueueEntry]:
        """Who has lacked capacity since then or longer: the most urgent first, then who longest."""
        for priority in reversed(PRIORITIES):
            for entry, short_ms in self._short[priority].values():
                if short_ms <= since_ms:
                    yield entry
                elif entry.id not in self.promises:  # that one keeps its place, and begins anew
                    break  # all others stand in the order in which they came to lack it

    # -- for whom room is kept ---------------------------------------------------------------

    def may_hold(self, entry: QueueEntry, now_ms: int) -> bool:
        """Whether room may be kept for the entry."""
        until_ms, rank = self._barred.get(entry.id, (0, 0))
        return until_ms <= now_ms or self.rank(entry, now_ms) > rank

    def may_promise(self, entry: QueueEntry, now_ms: int) -> bool:
        """Whether the entry is the one at its rank that is, or may be, promised its start."""
        if entry.id in self.promises:
            return True
        rank = self.rank(entry, now_ms)
        return all(self.rank(p.entry, now_ms) != rank for p in self.promises.values())

    def promise(self, promise: Promise, now_ms: int, *, overdue: bool) -> None:
        """Room is kept for an entry; if it was overdue, that was its turn."""
        entry, priority = promise.entry, promise.entry.request.priority
        self.promises[entry.id] = promise
        if overdue:
            self._favoured_ms[priority] = now_ms
            self._short[priority][entry.id] = (entry, now_ms)

    def postpone(self, entry: QueueEntry, starts_ms: int, *, nodes: Collection[str]) -> None:
        """Room is there for the entry only later than it was told."""
        self.promises[entry.id] = self.promises[entry.id].moved(starts_ms, nodes)

    def lose(self, entry: QueueEntry, now_ms: int, *, until_ms: int | None = None) -> None:
        """Room is kept for the entry no more, and until then (or raised) it gets no other."""
        self.promises.pop(entry.id, None)
        self._short[entry.request.priority].pop(entry.id, None)
        self.mark_short(entry, now_ms)
        if until_ms is not None:
            self._barred[entry.id] = (until_ms, self.rank(entry, now_ms))

    def renewed(self, tenant: str, node: str, *, from_ms: int, to_ms: int) -> None:
        """A lease of the tenant ends later: who of it is promised the room may be postponed."""
        for entry_id, promise in self.promises.items():
            if promise.is_moved_by(tenant, node, from_ms=from_ms, to_ms=to_ms):
                self.promises[entry_id] = replace(promise, is_postponed=True)

    # -- in a snapshot -----------------------------------------------------------------------

    def dump(self) -> dict[str, object]:
        """Everything but the entries themselves, as plain lists."""
        return {
            "serial": self._serial,
            "promises": [
                [i, p.starts_ms, [str(node) for node in p.nodes], p.slips, int(p.is_postponed)]
                for i, p in self.promises.items()
            ],
            "barred": sorted([i, *bar] for i, bar in self._barred.items()),
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
        # Before starts were kept, only those were named that room was kept for.
        for entry_id in dumped.get("holders", ()):
            self.promises[entry_id] = Promise(self.entries[entry_id], _NEVER_MS, ())
        for entry_id, starts_ms, nodes, slips, postponed in dumped.get("promises", ()):
            self.promises[entry_id] = Promise(
                self.entries[entry_id], starts_ms, tuple(nodes), slips, bool(postponed)
            )
        for entry_id, until_ms, rank in dumped.get("barred", ()):
            self._barred[entry_id] = (until_ms, rank)
        for entry_id, since in dumped["short"]:
            entry = self.entries[entry_id]
            self._short[entry.request.priority][entry_id] = (entry, since)
        self._favoured_ms = {PRIORITIES[rank]: at_ms for rank, at_ms in dumped["favoured"]}

"""Whom a look at the line asks: all who may start, some whom it helps, and never the whole line.

Rules:

- Who stands in a line of no more than :data:`WHOLE_MAX` is asked at every look, in fair order.
- In a longer one only those are asked of whom something may be heard:

  - whose deadline has passed;
  - who is promised a start, has a claim, or has lacked capacity for longest;
  - in fair order, as far as half of the look's limit: whoever may have room kept for it (until it
    is kept for as many as it may be), whoever may evict others (until it has been sought for
    :data:`SEARCHES_MAX`), and whoever seeks a kind of room that is there now;
  - who has not been told anything yet, :data:`UNTOLD_MAX` at a look;
  - a few in turn, whatever they seek, :data:`TURNS_MAX` at a look: their blocker may be another one
    by now;
  - of the other half of the limit, others at each look, whoever seeks a kind of room that is there.

- Room of a kind is there if it is there beside all that is kept, for the shortest term anybody asks
  for it. If it is not, nobody who seeks it can start, and nobody is asked to find that out.
- Who gets the same no for the same reason as another one before is not asked again in one look:
  quota and budget say the same to one owner's requests of one kind.
- All this follows from the state and the time alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from bailiwick.kernel.state import State
from bailiwick.kernel.work.claims.room import may_evict
from bailiwick.scheduler.backfill.kinds import RoomKind
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.quota_policy import CostCapExceeded
from bailiwick.scheduler.reservation import Turn
from bailiwick.scheduler.rights.eviction_table import evictable_by

WHOLE_MAX: Final = 32
"""Entries of a line that is asked whole."""

HEAD: Final = 8
"""Entries that are read of the order at first; further ones only if something may come of it."""

UNTOLD_MAX, TURNS_MAX, KINDS_MAX, SEARCHES_MAX = 64, 4, 64, 8
"""Entries that are told their first blocker; that are asked in turn; kinds of room that are sought
before an order is read for them; and searches for victims, each of which may take milliseconds."""


class LineWindow:
    """The entries of one look, in the order in which they are asked."""

    def __init__(self, state: State, turn: Turn, *, limit: int) -> None:
        self._state, self._turn, self._limit = state, turn, limit
        self._line, self._now_ms = state.line, turn.now_ms
        self._seen: set[int] = set()
        self._refused: set[tuple[str, str | None, RoomKind]] = set()
        self._urgent = self._count_urgent()
        self._found: tuple[tuple[int, ...], bool] | None = None
        self.searches = SEARCHES_MAX
        """For how many more entries victims may be sought."""

    def read(self) -> Iterator[QueueEntry]:
        """Whom to ask next, by what has come of those before."""
        line, limit = self._line, self._limit
        if len(line.entries) <= min(limit, WHOLE_MAX):
            yield from self._still(list(line.order(self._now_ms)))
            return
        yield from self._still(line.late(self._now_ms, limit))
        yield from self._still(self._head(limit - limit // 2))
        kept = {**self._state.claims, **line.promises}
        yield from self._still([line.entry(i) for i in kept])
        yield from self._still(list(line.overdue(self._now_ms)))
        untold = list(islice(self._state.untold, min(UNTOLD_MAX, limit)))
        yield from self._still([line.entry(i) for i in untold])
        others = line.part(self._start(TURNS_MAX), min(TURNS_MAX, limit), without=self._seen)
        yield from self._still(others)
        if self._may_have_place():
            part = line.part(self._start(limit // 2), limit // 2, without=self._seen)
            yield from self._still(entry for entry in part if self._may_start(entry))

    def note(self, entry: QueueEntry, denied: Denied) -> None:
        """What the entry was told: others of its owner that ask the same are told the same."""
        detail = denied.detail
        # A cap looks at how long a request runs, so it is each request's own.
        if hasattr(detail, "quota_violation") and not isinstance(detail, CostCapExceeded):
            self._refused.add(self._owned(entry))

    def _still(self, entries: Iterable[QueueEntry]) -> Iterator[QueueEntry]:
        """Those who still wait when it is their turn, each once in a look."""
        for entry in entries:
            if entry.id in self._line.entries and entry.id not in self._seen:
                self._seen.add(entry.id)
                yield entry

    def _start(self, count: int) -> int:
        """From which entry on so many are looked at in this second."""
        return self._now_ms // 1000 * count % max(len(self._line.entries), 1)

    # -- in fair order -----------------------------------------------------------------------

    def _head(self, most: int) -> Iterator[QueueEntry]:
        for entry in self._order(most):
            if self._is_wanted(entry):
                yield entry
            if not self._goes_on():
                return

    def _order(self, most: int) -> Iterator[QueueEntry]:
        """The first so many of the line; if nobody is about to start, only as far as is asked."""
        line, now_ms = self._line, self._now_ms
        order, count = line.order(now_ms), len(line.entries)
        may_start = self._state.claims or self._may_have_place()
        first = list(islice(order, most if may_start else min(HEAD, most)))
        yield from first
        if count != len(line.entries):  # an order is read only while nobody leaves
            known = {entry.id for entry in first}
            order = (entry for entry in line.order(now_ms) if entry.id not in known)
        yield from list(islice(order, most - len(first)))

    def _goes_on(self) -> bool:
        """Whether anything may come of those further back."""
        victims = bool(self.searches and self._urgent)
        return not self._turn.is_full or victims or self._may_have_place()

    def _is_wanted(self, entry: QueueEntry) -> bool:
        is_urgent = may_evict(self._state, entry.request)
        self._urgent -= is_urgent
        if entry.id in self._state.claims or entry.id in self._line.promises:
            return True
        if is_urgent and self.searches:
            return True
        if self._owned(entry) in self._refused:
            return False
        if not self._turn.is_full and not self._turn.is_in_vain(entry):
            return True
        return self._turn.may_find_place(entry)

    def _may_start(self, entry: QueueEntry) -> bool:
        return self._owned(entry) not in self._refused and self._turn.may_find_place(entry)

    def _owned(self, entry: QueueEntry) -> tuple[str, str | None, RoomKind]:
        request = entry.request
        return request.tenant, request.project, self._line.kinds.of(entry)

    # -- what may come of those further back -------------------------------------------------

    def _may_have_place(self) -> bool:
        """Whether any kind of room that somebody seeks may be there; of many kinds, it may be."""
        kinds, version = self._line.kinds, self._turn.version
        if self._found is None or self._found[0] != version:
            is_there = len(kinds) > KINDS_MAX or any(map(self._turn.has_place, kinds))
            self._found = version, is_there
        return self._found[1]

    def _count_urgent(self) -> int:
        """How many wait who may evict others."""
        least = self._state.settings.preempt_from.rank
        return sum(
            count
            for (priority, lease_class), count in self._line.urgencies.items()
            if priority.rank >= least and evictable_by(lease_class, priority)
        )

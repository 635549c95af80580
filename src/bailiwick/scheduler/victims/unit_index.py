"""Leases and gangs sorted by what tells one from another, so that nobody walks them all.

A fleet has many leases and few sorts of them. Rules:

- A unit is a lease, or a whole gang. Its sort is all that a rule of eviction may ask of its leases
  and that time does not change: shape, priority, class, state, flags, depth, and whether the node
  takes leases. Fences, and leases alone on closed nodes, are left out.
- Within a sort the newest stands first: those that ran long enough are the rest of a list.
- Time changes one thing more: a checkpoint is fresh for a while. Units with a fresh one are told
  apart, and each is judged for itself.
- It is brought up to date when asked, by the nodes whose version is another one than last time
  (:meth:`~bailiwick.scheduler.engine.protocol.Engine.versions`). So a question costs what has
  changed since the last, and the sorts. The first one reads every lease.
- It holds nothing that could not be read off the ledger: with a new index every answer is the same.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

from bailiwick.scheduler.engine.protocol import FLAG_PINNED, NEVER, LeaseFields
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.victim_cost import VictimTerms
from bailiwick.scheduler.victims.units import rows_on

UnitRow: TypeAlias = tuple[int, tuple[int, ...]]
"""When the newest of its leases began, negated, and its leases."""

_Sort: TypeAlias = tuple[tuple[int, ...], ...]


class _Indexed(NamedTuple):
    """Where a unit stands."""

    sort: _Sort
    row: UnitRow
    saved_ms: int


class UnitIndex:
    """The units of one ledger, by sort. A lease has its id for a number, a gang its own, negated"""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger = ledger
        self._versions = array("I")
        self._open: set[int] = set()
        """Which nodes of those that are read anew take leases."""
        self._on: dict[int, set[int]] = {}
        self._units: dict[int, _Indexed] = {}
        self._sorts: dict[_Sort, list[UnitRow]] = {}
        self._saved: list[tuple[int, UnitRow]] = []

    def sorts(self, terms: VictimTerms, *, spared: frozenset[int]) -> Iterator[Iterator[UnitRow]]:
        """Of each sort the units that ran long enough, newest first; see :meth:`fresh`."""
        fresh = {leases[0] for _, leases in self.fresh(terms)}
        for rows in self._sorts.values():
            begin = bisect_left(rows, (terms.min_run_ms - terms.now_ms, ()))
            yield (
                row
                for row in islice(rows, begin, None)
                if row[1][0] not in fresh and spared.isdisjoint(row[1])
            )

    def fresh(self, terms: VictimTerms) -> list[UnitRow]:
        """Units of which a lease has a fresh checkpoint: they are in none of the sorts."""
        since = terms.now_ms - terms.fresh_checkpoint_ms
        return [row for _, row in self._saved[bisect_left(self._saved, (since, (NEVER, ()))) :]]

    # -- keeping up ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Bring it up to date."""
        versions, before = array("I", self._ledger.engine.versions()), self._versions
        if versions == before:
            return
        before.extend([~version & 0xFFFFFFFF for version in versions[len(before) :]])
        changed = [
            x for x, (old, new) in enumerate(zip(before, versions, strict=True)) if old != new
        ]
        self._versions = versions
        stale: set[int] = set()
        for node in changed:
            stale |= self._on.pop(node, set())
        alone: dict[int, LeaseFields] = {}
        entries = [entry for entry in map(self._ledger.by_handle.__getitem__, changed) if entry]
        for lease_id, fields in rows_on(self._ledger, entries):
            if fields.flags & FLAG_PINNED:
                continue
            if fields.gang < 0:
                unit, alone[lease_id] = lease_id, fields
            else:
                unit = -fields.gang
            self._on.setdefault(fields.node, set()).add(unit)
            stale.add(unit)
        self._open = {entry.handle for entry in entries if entry.takes_leases}
        for unit in stale:
            self._leave(unit)
            if unit in alone:
                self._enter_lease(unit, alone[unit])
            elif unit < 0 and -unit in self._ledger.gangs:
                self._enter_gang(unit)

    def _enter_lease(self, lease_id: int, fields: LeaseFields) -> None:
        if fields.node in self._open:
            row = (-fields.granted_ms, (lease_id,))
            self._enter(lease_id, _Indexed((_sort_of(fields, 1),), row, fields.checkpoint_ms))

    def _enter_gang(self, unit: int) -> None:
        ledger = self._ledger
        members = {i: ledger.fields(i) for i in sorted(ledger.gangs[-unit])}
        sort = []
        for fields in members.values():
            entry = ledger.by_handle[fields.node]
            sort.append(_sort_of(fields, int(entry is not None and entry.takes_leases)))
        granted_ms = max(fields.granted_ms for fields in members.values())
        saved_ms = max(fields.checkpoint_ms for fields in members.values())
        if any(each[-1] for each in sort):
            self._enter(
                unit, _Indexed(tuple(sorted(sort)), (-granted_ms, tuple(members)), saved_ms)
            )

    def _enter(self, unit: int, what: _Indexed) -> None:
        self._units[unit] = what
        insort(self._sorts.setdefault(what.sort, []), what.row)
        if what.saved_ms != NEVER:
            insort(self._saved, (what.saved_ms, what.row))

    def _leave(self, unit: int) -> None:
        known = self._units.pop(unit, None)
        if known is None:
            return
        rows = self._sorts[known.sort]
        del rows[bisect_left(rows, known.row)]
        if not rows:
            del self._sorts[known.sort]
        if known.saved_ms != NEVER:
            del self._saved[bisect_left(self._saved, (known.saved_ms, known.row))]


def _sort_of(fields: LeaseFields, is_open: int) -> tuple[int, ...]:
    """All that a rule may ask of a lease, but for what time changes."""
    return (
        fields.shape, fields.priority, fields.lease_class, fields.state, fields.flags,
        fields.depth, is_open,
    )  # fmt: skip


def index_of(ledger: CapacityLedger) -> UnitIndex:
    """The ledger's index, up to date."""
    index = ledger.unit_index
    if index is None:
        index = ledger.unit_index = UnitIndex(ledger)
    index.refresh()
    return index

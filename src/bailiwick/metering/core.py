"""Whole leases moved at once over the verified parts, and a note of every stretch that was charged.

Rules:

- Everything is done with the operations of :mod:`bailiwick.metering.share`: to take is to charge
  what is free up to now, cut an amount off and switch that; to give back is the reverse.
- All of a lease moves or nothing does: an amount that is not there, or a part that somebody else
  holds, is told before anything changed.
- Time and the record that is being folded are said once, with :meth:`Core.now`, and hold for all
  that follows. Where a part was charged further already it stays so: late is clamped.
- What is charged is added to its account by window; windows are cut at fixed edges, so that what
  is priced differently is never in one sum. It is also logged, if that was asked for.

There are two cores with one behaviour, held against each other by tests: this one, which is to be
read, and a compiled one (``compiled/``), which is used where it was built.

>>> core = Core()
>>> free, idle, lab = core.open(1000, (0, core.add_account())), 0, core.add_account()
>>> core.now(60, 2)
>>> core.take(7, ((free, 400, lab),))
(1,)
>>> core.now(90, 3)
>>> core.give(7, (1,))
0
>>> [core.used(account) for account in (idle, lab)]
[[(78000, 2, 0, 3)], [(12000, 1, 2, 3)]]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Protocol, TypeAlias

from bailiwick.metering.share import GONE, REFUSED, Parts, charged_ms
from bailiwick.vocab.errors import InvalidValue

LogRow: TypeAlias = tuple[int, int, int, int, int, int, int, int]
"""Pool, amount, account, holder, from ms, to ms, and the records that began and ended it."""

PartRow: TypeAlias = tuple[int, int, int, int, int, int, int]
"""Part, pool, amount, cursor ms, holder, account, and the record since which it has that holder."""

UsedRow: TypeAlias = tuple[int, int, int, int]
"""Amount x ms, the number of stretches in it, and the first and last record of those."""

CoreSums: TypeAlias = tuple[Sequence[Sequence[UsedRow]], Sequence[int], Sequence[int]]
"""Of each account what was charged by window; of each pool that ever was what was charged of it,
and the number of the part that is free (of a closed one, any)."""

PartsTally: TypeAlias = tuple[list[tuple[int, int]], int, int]
"""Of each pool its parts' amounts and what of them runs, amount x ms; the latest cursor of a part
that is not empty, and the least amount, which is 0 unless something is wrong."""

_compiled: ModuleType | None
try:
    _compiled = import_module("bailiwick.metering._compiled")
except ImportError:  # not built here: the pure twin says the same, more slowly
    _compiled = None

SHORT = -1
"""What a take says when an amount is not there; less by one for each want before the short one."""


class MeterCore(Protocol):
    """What :class:`~bailiwick.metering.meter.Meter` does its arithmetic with."""

    log: list[LogRow] | None
    """What was charged since somebody emptied it; ``None`` if nobody asked for it."""

    def now(self, at_ms: int, seq: int) -> None:
        """It is this time, by this record, from now on."""

    def add_account(self) -> int:
        """The number of a new account."""

    def open(self, amount: int, held: tuple[int, int]) -> int:
        """What is free of a new pool: all of it, with this holder and account."""

    def take(self, holder: int, wants: Sequence[tuple[int, int, int]]) -> tuple[int, ...] | int:
        """Amounts off free parts, each for an account: the new parts, or how it fell short."""

    def give(self, expected: int, parts: Sequence[int]) -> int:
        """Join each part to what is free of its pool; how late that was, or ``REFUSED``."""

    def pass_on(self, holders: tuple[int, int], moves: Sequence[tuple[int, int]]) -> int:
        """Switch parts, each to an account, from a holder to another; late by, or ``REFUSED``."""

    def switch(self, part: int, move: tuple[int, int, int]) -> int:
        """Compare and switch: expected holder, new holder, account; ms charged, or ``REFUSED``."""

    def drop(self, part: int) -> None:
        """Forget the last part of a pool that is closed."""

    def row(self, part: int) -> PartRow | None:
        """What a part is; ``None`` if there is no such part."""

    def rows(self) -> list[PartRow]:
        """All parts, in the order of their numbers."""

    def used(self, account: int) -> list[UsedRow]:
        """What was charged to an account, window by window."""

    def measured(self) -> list[int]:
        """What was charged of each pool."""

    def tally(self, at_ms: int) -> PartsTally:
        """All parts added up, with what runs counted until then."""

    def restore(self, rows: Sequence[PartRow], sums: CoreSums) -> None:
        """Into a core that is new: parts, numbered from 0 in this order, and what was charged."""


class Core:
    """The core to be read: :class:`~bailiwick.metering.share.Parts`, several at once."""

    def __init__(
        self, edges: Iterable[int] = (), *, logs: bool = False, parts: Parts | None = None
    ) -> None:
        self._parts = Parts() if parts is None else parts
        self._edges = tuple(edges)
        self.log: list[LogRow] | None = [] if logs else None
        self._sums: list[list[UsedRow]] = []
        self._since: list[int] = []
        self._free: list[int] = []
        self._at_ms = self._seq = 0

    def now(self, at_ms: int, seq: int) -> None:
        """It is this time, by this record, from now on."""
        self._at_ms, self._seq = at_ms, seq

    def add_account(self) -> int:
        """The number of a new account."""
        self._parts.accounts.append(0)
        self._sums.append([(0, 0, 0, 0)] * (len(self._edges) + 1))
        return len(self._sums) - 1

    def open(self, amount: int, held: tuple[int, int]) -> int:
        """What is free of a new pool: all of it, with this holder and account."""
        holder, account = held
        part = self._parts.open(amount, holder=holder, account=account, at_ms=self._at_ms)
        self._free.append(part)
        self._mark(part)
        return part

    def take(self, holder: int, wants: Sequence[tuple[int, int, int]]) -> tuple[int, ...] | int:
        """Amounts off free parts, each for an account: the new parts, or how it fell short."""
        for number, (free, amount, _) in enumerate(wants):
            if self._parts.amount[free] < amount:
                return SHORT - number
        taken = []
        for free, amount, account in wants:
            self._settle(free, self._at_ms)
            part = self._parts.cut(free, amount)
            self._mark(part)
            self._switch(part, holder, account)
            taken.append(part)
        return tuple(taken)

    def give(self, expected: int, parts: Sequence[int]) -> int:
        """Join each part to what is free of its pool; how late that was, or ``REFUSED``."""
        core, late_ms = self._parts, 0
        if any(core.holder[part] != expected for part in parts):
            return REFUSED
        for part in parts:
            free = self._free[core.pool[part]]
            late_ms = max(late_ms, core.cursor_ms[part] - self._at_ms)
            self._switch(part, core.holder[free], core.account[free])
            # A late one is charged as far as what is free is; that time was free already.
            both_ms = max(self._at_ms, core.cursor_ms[part], core.cursor_ms[free])
            self._settle(part, both_ms)
            self._settle(free, both_ms)
            core.join(free, part)
        return late_ms

    def pass_on(self, holders: tuple[int, int], moves: Sequence[tuple[int, int]]) -> int:
        """Switch parts, each to an account, from a holder to another; late by, or ``REFUSED``."""
        expected, holder = holders
        if any(self._parts.holder[part] != expected for part, _ in moves):
            return REFUSED
        late_ms = 0
        for part, account in moves:
            late_ms = max(late_ms, self._parts.cursor_ms[part] - self._at_ms)
            self._switch(part, holder, account)
        return late_ms

    def switch(self, part: int, move: tuple[int, int, int]) -> int:
        """Compare and switch: expected holder, new holder, account; ms charged, or ``REFUSED``."""
        expected, holder, account = move
        return self._switch(part, holder, account, expected=expected)

    def drop(self, part: int) -> None:
        """Forget the last part of a pool that is closed."""
        self._parts.drop(part)

    def _switch(self, part: int, holder: int, account: int, *, expected: int | None = None) -> int:
        parts, was = self._parts, self._parts.holder[part]
        guard = was if expected is None else expected
        before = parts.account[part], parts.cursor_ms[part]
        span_ms = parts.switch(part, guard, holder=holder, account=account, at_ms=self._at_ms)
        if span_ms == REFUSED:
            return REFUSED
        self._note(part, was, before, span_ms=span_ms)
        if holder != was or account != before[0]:
            self._since[part] = self._seq
        return span_ms

    def _settle(self, part: int, at_ms: int) -> None:
        """Charge up to then, and let everything be as it is."""
        parts, holder = self._parts, self._parts.holder[part]
        before = parts.account[part], parts.cursor_ms[part]
        span_ms = charged_ms(before[1], at_ms)
        parts.switch(part, holder, holder=holder, account=before[0], at_ms=at_ms)
        self._note(part, holder, before, span_ms=span_ms)

    def _note(self, part: int, holder: int, before: tuple[int, int], *, span_ms: int) -> None:
        (account, from_ms), amount = before, self._parts.amount[part]
        if not span_ms or not amount:
            return
        since, to_ms = self._since[part], from_ms + span_ms
        if self.log is not None:
            row = (self._parts.pool[part], amount, account, holder, from_ms, to_ms, since)
            self.log.append((*row, self._seq))
        window = bisect_right(self._edges, from_ms)
        while from_ms < to_ms:  # once for each window that it reaches into
            edge_ms = self._edges[window] if window < len(self._edges) else to_ms
            end_ms = min(edge_ms, to_ms)
            used, count, first, _ = self._sums[account][window]
            first = min(first, since) if count else since
            row4 = used + amount * (end_ms - from_ms), count + 1, first, self._seq
            self._sums[account][window] = row4
            from_ms, window = end_ms, window + 1

    def _mark(self, part: int) -> None:
        if part == len(self._since):
            self._since.append(self._seq)
        self._since[part] = self._seq

    # -- reading, and reading back ---------------------------------------------------------------

    def row(self, part: int) -> PartRow | None:
        """What a part is; ``None`` if there is no such part."""
        parts = self._parts
        if not 0 <= part < len(parts.pool) or parts.holder[part] == GONE:
            return None
        held = parts.amount[part], parts.cursor_ms[part], parts.holder[part], parts.account[part]
        return part, parts.pool[part], *held, self._since[part]

    def rows(self) -> list[PartRow]:
        """All parts, in the order of their numbers."""
        found = (self.row(part) for part in range(len(self._parts.pool)))
        return [row for row in found if row is not None]

    def used(self, account: int) -> list[UsedRow]:
        """What was charged to an account, window by window."""
        return list(self._sums[account])

    def measured(self) -> list[int]:
        """What was charged of each pool."""
        return list(self._parts.measured)

    def tally(self, at_ms: int) -> PartsTally:
        """All parts added up, with what runs counted until then."""
        sums = [(0, 0)] * len(self._parts.measured)
        latest_ms = least = 0
        for _, pool, amount, cursor_ms, _, _, _ in self.rows():
            there, running = sums[pool]
            sums[pool] = there + amount, running + amount * (at_ms - cursor_ms)
            latest_ms = max(latest_ms, cursor_ms if amount else 0)
            least = min(least, amount)
        return sums, latest_ms, least

    def restore(self, rows: Sequence[PartRow], sums: CoreSums) -> None:
        """Into a core that is new: parts, numbered from 0 in this order, and what was charged."""
        parts, (accounts, measured, free) = self._parts, sums
        for _, _, amount, cursor_ms, holder, account, since in rows:
            parts.open(amount, holder=holder, account=account, at_ms=cursor_ms)
            self._since.append(since)
        parts.pool[:] = [row[1] for row in rows]
        parts.measured[:] = measured
        self._free[:] = free
        for windows in accounts:
            parts.accounts.append(sum(row[0] for row in windows))
            self._sums.append([(row[0], row[1], row[2], row[3]) for row in windows])


def new_core(edges: Iterable[int] = (), *, logs: bool = False, which: str = "auto") -> MeterCore:
    """An empty core: ``auto`` (compiled if built), ``compiled`` or ``pure``."""
    if which not in ("auto", "compiled", "pure"):
        raise InvalidValue("core", which, "auto, compiled or pure")
    if which == "compiled" and _compiled is None:
        raise InvalidValue("core", which, "auto or pure: the compiled core is not built here")
    if which == "pure" or _compiled is None:
        return Core(edges, logs=logs)
    core: MeterCore = _compiled.Core(tuple(edges), logs)
    return core


def has_compiled() -> bool:
    """Whether the compiled twin can be used."""
    return _compiled is not None

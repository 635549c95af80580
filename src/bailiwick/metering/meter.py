"""The meter: whose every milli-share of every device was, at every instant.

Rules:

- A *share* is one metered thing: a GPU device (1000 milli-shares), or a node's cores, memory or
  block storage. From the moment it is opened until it is closed, all of it has owners: what leases
  hold is a part each, and what is free is one part.
- Start, stop, preemption, expiry, drain, quarantine, fence and node failure are one operation:
  *switch this part from the owner it should have to another, at this time*. Where the owner is not
  the one expected, nothing changes and the answer says who it is.
- **Sum over owners = capacity x time, for every share, at every instant**, as integers: a
  milli-share times a millisecond is one micro-GPU-second. :meth:`Meter.check` proves it of now.
- A time before what was charged already is clamped to it. Nothing is ever charged twice, taken
  back, or negative. Only where the journal's clock was repaired does a time come again: what was
  charged of it stays charged, and is told beside the capacity (``again``).
- The meter keeps sums (by window, if edges are given) and what is open, so its memory does not
  grow with time. Every stretch that was charged can be had as a :class:`Segment`, with ``logs``.

>>> from bailiwick.metering.owners import Account
>>> from bailiwick.vocab.words import LeaseClass
>>> meter = Meter(logs=True)
>>> gpu = meter.open(Share("node-1", ResourceKind.GPU_MILLI), 1000, owner=IDLE, at_ms=0)
>>> lease = Leased(7, Account("lab", None, None, LeaseClass.STANDARD, None))
>>> meter.take(gpu, 400, owner=lease, at_ms=5)
Taken(part=1)
>>> meter.give(1, lease, at_ms=9)
Switched(charged_ms=4, late_ms=0)
>>> [(each.amount, each.from_ms, each.to_ms) for each in meter.drain()]
[(1000, 0, 5), (400, 5, 9), (600, 5, 9)]
>>> [(line.payer, used) for line, used in meter.totals(10).items() if line.payer is IDLE]
[(Idle(), 8400)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bailiwick.metering.core import Core, LogRow, MeterCore, PartRow, UsedRow, new_core
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Idle,
    Leased,
    Owner,
    Payer,
    UnavailableCapacity,
)
from bailiwick.metering.share import ANY, GONE, REFUSED
from bailiwick.metering.values import (
    Balance,
    GuardRefused,
    Line,
    Part,
    Segment,
    Share,
    Short,
    SwitchAnswer,
    Switched,
    TakeAnswer,
    Taken,
    Use,
)
from bailiwick.metering.windows import cut_windows, windows_of
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, NotFound
from bailiwick.vocab.values import check_amount, check_integer
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

NOBODY: tuple[Idle | UnavailableCapacity, ...] = (IDLE, *UNAVAILABLE.values())
"""The owners that are no leases, by the number that the core has for them."""

FIRST_LEASE = 64
"""The core's number for the holder of lease 0."""

_CODES = {owner: code for code, owner in enumerate(NOBODY)}
_Group = tuple[ResourceKind, HardwareGeneration | None]


@dataclass(slots=True, eq=False)
class SharePool:
    """An open share."""

    share: Share
    capacity: int
    opened_ms: int
    number: int
    free: int
    """The part that no lease holds; it may be empty."""
    accounts: dict[Payer, int]
    """The core's numbers for accounts, of all pools of this kind and generation."""
    again: int = 0
    """What was charged of it for times that a repair of the clock took back."""

    def spent(self, at_ms: int) -> int:
        """Its capacity x time up to then, and what was charged of times that came twice."""
        return self.capacity * (at_ms - self.opened_ms) + self.again


def code_of(owner: Owner) -> int:
    """The core's number for an owner."""
    return owner.lease_id + FIRST_LEASE if isinstance(owner, Leased) else _CODES[owner]


class Meter:
    """Every open share, its parts and their owners, and what each account has used."""

    def __init__(
        self, edges: Iterable[int] = (), *, logs: bool = False, core: MeterCore | None = None
    ) -> None:
        self.edges = tuple(edges)
        if list(self.edges) != sorted(set(self.edges)):
            raise InvalidValue("edges", self.edges, "times that rise")
        self.core = new_core(self.edges, logs=logs) if core is None else core
        self.lines: list[Line] = []
        """What each of the core's accounts is."""
        self.shares: list[Share] = []
        """What each of the core's pools is or was."""
        self.open_pools: dict[tuple[str, ResourceKind, int], SharePool] = {}
        self.closed: dict[_Group, int] = {}
        """Capacity x time of all shares that were closed."""
        self.closed_ms = 0
        self.groups: dict[_Group, dict[Payer, int]] = {}
        self.announced: dict[int, list[tuple[int, int]]] = {}
        """Of a part: since when it is another account's of the same holder, as far as is known.

        It is switched when its holder changes, because until then it may still come out that the
        holder had lost it earlier; what is charged is final."""
        self.seq = 0

    # -- shares ------------------------------------------------------------------------------

    def open(self, share: Share, capacity: int, *, owner: Owner, at_ms: int) -> SharePool:
        """Meter a share from now on; all of it is this owner's."""
        key = (share.node, share.kind, share.index)
        if key in self.open_pools:
            raise Conflict("share", key, "is open already", hint="close it first")
        check_integer("capacity", capacity, low=1, high=2**62 - 1)
        self._now(at_ms)
        accounts = self.groups.setdefault((share.kind, share.generation), {})
        pool = SharePool(share, capacity, at_ms, len(self.shares), -1, accounts)
        held = code_of(owner), self.account(pool, _payer(owner))
        pool.free = self.core.open(capacity, held)
        self.shares.append(share)
        self.open_pools[key] = pool
        return pool

    def close(self, pool: SharePool, at_ms: int) -> int:
        """Charge everybody up to now and meter the share no longer; says how late that was."""
        key = (pool.share.node, pool.share.kind, pool.share.index)
        if self.open_pools.get(key) is not pool:
            raise NotFound("open share", pool.share)
        free = self._row(pool.free)
        # Mostly nothing else is left of it; to look at every part there is would take long.
        rows = [free] if free[2] == pool.capacity else list(self._rows_of(pool))
        end_ms = max(at_ms, *(row[3] for row in rows), 0)
        self._now(end_ms)
        for part, _, _, _, holder, account, _ in rows:
            self.core.switch(part, (holder, holder, account))
            self.core.drop(part)
        del self.open_pools[key]
        group = (pool.share.kind, pool.share.generation)
        self.closed[group] = self.closed.get(group, 0) + pool.spent(end_ms)
        self.closed_ms = max(self.closed_ms, end_ms)
        return end_ms - at_ms

    def set_back(self, repair: ClockRepair) -> MeterCore:
        """Go on from an earlier time; the core, which is another then, with the same numbers."""
        at_ms, old = repair.after_ms, self.core
        if not repair.goes_back:
            return old
        rows = {row[0]: row for row in old.rows()}
        for pool in self.open_pools.values():
            parts = (row for row in rows.values() if row[1] == pool.number)
            pool.again += sum(row[2] * max(row[3] - at_ms, 0) for row in parts)
            pool.again -= pool.capacity * max(pool.opened_ms - at_ms, 0)
            pool.opened_ms = min(pool.opened_ms, at_ms)
        free = [0] * len(self.shares)
        for pool in self.open_pools.values():
            free[pool.number] = pool.free
        gone = (0, 0, 0, GONE, 0, 0)
        kept = [
            (part, *rows[part][1:3], min(rows[part][3], at_ms), *rows[part][4:])
            if part in rows
            else (part, *gone)
            for part in range(max(rows, default=-1) + 1)
        ]
        sums = [old.used(number) for number in range(len(self.lines))]
        which = "pure" if isinstance(old, Core) else "compiled"
        core = self.core = new_core(self.edges, logs=old.log is not None, which=which)
        core.restore(kept, (sums, old.measured(), free))
        if core.log is not None and old.log is not None:
            core.log.extend(old.log)
        self.closed_ms = repair.past(self.closed_ms)
        for steps in self.announced.values():
            steps[:] = [(repair.past(since_ms), account) for since_ms, account in steps]
        return core

    def pools(self) -> tuple[SharePool, ...]:
        """Every open share, in the order of opening."""
        return tuple(self.open_pools.values())

    def account(self, pool: SharePool, payer: Payer) -> int:
        """The core's number for what a payer uses of such shares."""
        found = pool.accounts.get(payer)
        if found is None:
            found = pool.accounts[payer] = self.core.add_account()
            self.lines.append(Line(pool.share.kind, pool.share.generation, payer))
        return found

    # -- switching ---------------------------------------------------------------------------

    def switch(
        self, part: int, expected: Owner | None, *, owner: Owner, at_ms: int
    ) -> SwitchAnswer:
        """Compare and switch; ``expected=None`` switches whoever holds the part."""
        row, (pool, _) = self._row(part), self.held(part)
        self._now(at_ms)
        guard = ANY if expected is None else code_of(expected)
        account = self.account(pool, _payer(owner))
        span_ms = self.core.switch(part, (guard, code_of(owner), account))
        if expected is not None and span_ms == REFUSED:
            return GuardRefused(part, expected, self._owner(row))
        return Switched(span_ms, max(0, row[3] - at_ms))

    def take(self, pool: SharePool, amount: int, *, owner: Owner, at_ms: int) -> TakeAnswer:
        """Switch an amount of what is free to an owner, as a part of its own."""
        check_integer("amount", amount, low=1, high=2**62 - 1)
        self._now(at_ms)
        want = (pool.free, amount, self.account(pool, _payer(owner)))
        taken = self.core.take(code_of(owner), (want,))
        if isinstance(taken, int):
            return Short(amount, self._row(pool.free)[2])
        return Taken(taken[0])

    def give(self, part: int, expected: Owner, *, at_ms: int) -> SwitchAnswer:
        """Give a part back to what is free, if it has this owner; its number is gone then."""
        row, (pool, _) = self._row(part), self.held(part)
        if part == pool.free:
            raise Conflict("part", part, "is what is free already")
        self._now(at_ms)
        if self.core.give(code_of(expected), (part,)) == REFUSED:
            return GuardRefused(part, expected, self._owner(row))
        return Switched(max(0, at_ms - row[3]), max(0, row[3] - at_ms))

    def held(self, part: int) -> tuple[SharePool, Payer]:
        """Of which share a part is, and at whose cost it is held."""
        row = self._row(part)
        share = self.shares[row[1]]
        return self.open_pools[share.node, share.kind, share.index], self.lines[row[5]].payer

    def parts_of(self, pool: SharePool) -> tuple[Part, ...]:
        """The parts of a share that are not empty; slow, since it looks at all there are."""
        return tuple(
            Part(row[0], pool.share, row[2], self._owner(row), row[3])
            for row in self._rows_of(pool)
            if row[2]
        )

    def drain(self) -> list[Segment]:
        """What was charged since the last time; nothing without ``logs``."""
        if self.core.log is None:
            return []
        rows = [self.segment(row) for row in self.core.log]
        self.core.log.clear()
        return rows

    def segment(self, row: LogRow) -> Segment:
        """What one row of the core's log tells."""
        pool, amount, account, holder, *rest = row
        payer = self.lines[account].payer
        if isinstance(payer, Account):
            return Segment(self.shares[pool], amount, Leased(holder - FIRST_LEASE, payer), *rest)
        return Segment(self.shares[pool], amount, payer, *rest)

    def _now(self, at_ms: int) -> None:
        self.core.now(check_amount("at_ms", at_ms), self.seq)

    def _row(self, part: int) -> PartRow:
        row = self.core.row(part)
        if row is None:
            raise NotFound("part", part)
        return row

    def _rows_of(self, pool: SharePool) -> Iterator[PartRow]:
        return (row for row in self.core.rows() if row[1] == pool.number)

    def _owner(self, row: PartRow) -> Owner:
        payer = self.lines[row[5]].payer
        return Leased(row[4] - FIRST_LEASE, payer) if isinstance(payer, Account) else payer

    # -- reading -----------------------------------------------------------------------------

    def totals(self, at_ms: int) -> dict[Line, int]:
        """What every payer has used by this time, what is still running among it."""
        sums = [sum(row[0] for row in self.core.used(n)) for n in range(len(self.lines))]
        for row in self._rows_now(at_ms):
            for account, from_ms, to_ms in self._running(row, at_ms):
                sums[account] += row[2] * (to_ms - from_ms)
        return dict(zip(self.lines, sums, strict=True))

    def uses(self, until_ms: int) -> list[Use]:
        """What every lease's account used, by window, with what still runs counted until then."""
        windows = windows_of((0, *self.edges, max((until_ms, *self.edges))))
        found: dict[tuple[int, int], UsedRow] = {}
        for number, line in enumerate(self.lines):
            if isinstance(line.payer, Account):
                rows = enumerate(self.core.used(number))
                found |= {(number, window): row for window, row in rows if row[1]}
        for running in self.running(until_ms):
            if running[3] >= FIRST_LEASE:
                cut_windows(found, running, windows=windows)
        uses = []
        for (number, window), sums in sorted(found.items()):
            payer = self.lines[number].payer
            if isinstance(payer, Account):
                uses.append(Use(payer, self.lines[number].kind, *windows[window], *sums))
        return uses

    def running(self, until_ms: int) -> Iterator[LogRow]:
        """What is not charged yet, as rows of the log, as if it ended then."""
        for row in self.core.rows():
            _, pool, amount, _, holder, _, since = row
            for account, from_ms, to_ms in self._running(row, until_ms) if amount else ():
                yield pool, amount, account, holder, from_ms, to_ms, since, since

    def _running(self, row: PartRow, until_ms: int) -> Iterator[tuple[int, int, int]]:
        """What of a part is not charged yet, by account, up to then."""
        account, from_ms = row[5], row[3]
        for at_ms, following in self.announced.get(row[0], ()):
            if at_ms >= until_ms:
                break
            if from_ms < at_ms:
                yield account, from_ms, at_ms
            account, from_ms = following, max(from_ms, at_ms)
        if from_ms < until_ms:
            yield account, from_ms, until_ms

    def balances(self, at_ms: int) -> tuple[Balance, ...]:
        """Both sides of the equation, for each kind and generation, closed shares among them."""
        owned: dict[_Group, int] = {}
        for line, used in self.totals(at_ms).items():
            key = (line.kind, line.generation)
            owned[key] = owned.get(key, 0) + used
        there = dict(self.closed)
        for pool in self.open_pools.values():
            key = (pool.share.kind, pool.share.generation)
            there[key] = there.get(key, 0) + pool.spent(at_ms)
        return tuple(Balance(*key, owned.get(key, 0), there[key]) for key in there)

    def check(self, at_ms: int) -> None:
        """Stop if anything that this module promises does not hold now, share by share."""
        measured = self.core.measured()
        there, latest_ms, least = self.core.tally(at_ms)
        self._check_now(at_ms, latest_ms)
        if least < 0:
            raise InvariantBroken("a share has a part of less than nothing")
        for pool in self.open_pools.values():
            amount, running = there[pool.number]
            if amount != pool.capacity:
                raise InvariantBroken(f"the parts of {pool.share} are not its capacity")
            if measured[pool.number] + running != pool.spent(at_ms):
                raise InvariantBroken(f"the owners of {pool.share} are not its capacity x time")
        for part in self.announced:
            if self.core.row(part) is None:
                raise InvariantBroken(f"a stage is announced of part {part}, which is gone")
        used = (self.core.used(number) for number in range(len(self.lines)))
        if sum(row[0] for rows in used for row in rows) != sum(measured):
            raise InvariantBroken("the accounts do not sum to what was measured")

    def _rows_now(self, at_ms: int) -> Sequence[PartRow]:
        """All parts; sums are of now, what was charged since cannot be told apart any more."""
        rows = self.core.rows()
        self._check_now(at_ms, max((row[3] for row in rows if row[2]), default=0))
        return rows

    def _check_now(self, at_ms: int, latest_ms: int) -> None:
        if at_ms < max(latest_ms, self.closed_ms):
            raise InvalidValue("at_ms", at_ms, f"a time from {max(latest_ms, self.closed_ms)} on")


def _payer(owner: Owner) -> Payer:
    return owner.account if isinstance(owner, Leased) else owner

"""The meter: whose every milli-share of every device was, at every instant.

Rules:

- A *share* is one metered thing: a GPU device (1000 milli-shares), or a node's cores, memory or
  block storage. From the moment it is opened until it is closed, all of it has owners.
- Start, stop, preemption, expiry, drain, quarantine, fence and node failure are one operation:
  *switch this part from the owner it should have to another, at this time*. Where the owner is not
  the one expected, nothing changes and the answer says who it is.
- **Sum over owners = capacity x time, for every share, at every instant**, as integers: a
  milli-share times a millisecond is one micro-GPU-second. :meth:`Meter.check` proves it of now.
- A time before what was charged already is clamped to it, and counted. Nothing is ever charged
  twice, taken back, or negative.
- Every switch that charges something emits one :class:`Segment`; the meter itself keeps only sums
  and what is open, so its memory does not grow with time.

>>> from bailiwick.metering.owners import Account
>>> from bailiwick.vocab.words import LeaseClass
>>> found = []
>>> meter = Meter(found.append)
>>> gpu = meter.open(Share("node-1", ResourceKind.GPU_MILLI), 1000, owner=IDLE, at_ms=0)
>>> lease = Leased(7, Account("lab", None, None, LeaseClass.STANDARD, None))
>>> meter.take(gpu, 400, expected=IDLE, owner=lease, at_ms=5)
Taken(parts=(1,), late_ms=0)
>>> meter.switch(1, lease, owner=IDLE, at_ms=9)
Switched(charged_ms=4, late_ms=0)
>>> [(each.amount, each.from_ms, each.to_ms) for each in found]
[(400, 0, 5), (400, 5, 9)]
>>> [(line.payer, used) for line, used in meter.totals(10).items() if line.payer is IDLE]
[(Idle(), 8400)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bailiwick.metering.owners import IDLE, UNAVAILABLE, Idle, Leased, Owner, Payer, Unavailable
from bailiwick.metering.share import ANY, REFUSED, Parts
from bailiwick.metering.values import (
    Balance,
    Line,
    Part,
    Refused,
    Segment,
    Share,
    Short,
    SwitchAnswer,
    Switched,
    TakeAnswer,
    Taken,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, NotFound
from bailiwick.vocab.values import check_amount, check_integer
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

GATHER_AT = 8
"""So many parts of one share may lie free side by side before they are made one again."""

# Holders are integers in the core: nobody, the causes, and from there on the leases.
_NOBODY: tuple[Idle | Unavailable, ...] = (IDLE, *UNAVAILABLE.values())
_CODES = {owner: code for code, owner in enumerate(_NOBODY)}
_FIRST_LEASE = 64


@dataclass(slots=True, eq=False)
class Pool:
    """An open share."""

    share: Share
    capacity: int
    opened_ms: int
    number: int
    accounts: dict[Payer, int]
    held: dict[int, list[int]] = field(default_factory=dict)
    """The parts of each holder."""

    def parts(self) -> Iterator[int]:
        """The numbers of all its parts."""
        for each in self.held.values():
            yield from each


def _ignore(segment: Segment) -> None:
    del segment


def _code(owner: Owner) -> int:
    if isinstance(owner, Leased):
        return owner.lease_id + _FIRST_LEASE
    return _CODES[owner]


class Meter:
    """Every open share, its parts and their owners, and what each account has used."""

    def __init__(self, emit: Callable[[Segment], None] = _ignore) -> None:
        self._emit = emit
        self._core = Parts()
        self._owner: list[Owner] = []
        self._pool: list[Pool] = []
        self._open: dict[tuple[str, ResourceKind, int], Pool] = {}
        self._lines: list[Line] = []
        self._accounts: dict[tuple[str, str], dict[Payer, int]] = {}
        self._closed: dict[tuple[ResourceKind, HardwareGeneration | None], int] = {}
        self._latest_ms = 0
        self.clamped = 0
        """How many switches came with a time before what was charged already."""
        self.clamped_ms = 0

    # -- shares ------------------------------------------------------------------------------

    def open(self, share: Share, capacity: int, *, owner: Owner, at_ms: int) -> Pool:
        """Meter a share from now on; all of it is this owner's."""
        key = (share.node, share.kind, share.index)
        if key in self._open:
            raise Conflict("share", key, "is open already", hint="close it first")
        check_integer("capacity", capacity, low=1, high=2**62 - 1)
        check_amount("at_ms", at_ms)
        accounts = self._accounts.setdefault((share.kind, share.generation or ""), {})
        pool = Pool(share, capacity, at_ms, len(self._core.measured), accounts)
        code, account = _code(owner), self._account(pool, owner)
        part = self._core.open(capacity, holder=code, account=account, at_ms=at_ms)
        self._place(part, pool, owner)
        pool.held[code] = [part]
        self._open[key] = pool
        self._latest_ms = max(self._latest_ms, at_ms)
        return pool

    def close(self, pool: Pool, at_ms: int) -> int:
        """Charge everybody up to now and meter the share no longer; says how late that was."""
        if self._open.get(_key(pool)) is not pool:
            raise NotFound("open share", pool.share)
        cursors = [self._core.cursor_ms[part] for part in pool.parts()]
        end_ms = max(at_ms, *cursors)
        for part in list(pool.parts()):
            self._switch(part, self._owner[part], end_ms)
            self._core.drop(part)
        del self._open[_key(pool)]
        pool.held = {}
        line = (pool.share.kind, pool.share.generation)
        spent = pool.capacity * (end_ms - pool.opened_ms)
        self._closed[line] = self._closed.get(line, 0) + spent
        return end_ms - at_ms

    def pools(self) -> tuple[Pool, ...]:
        """Every open share, in the order of opening."""
        return tuple(self._open.values())

    # -- switching ---------------------------------------------------------------------------

    def switch(
        self, part: int, expected: Owner | None, *, owner: Owner, at_ms: int
    ) -> SwitchAnswer:
        """Compare and switch; ``expected=None`` switches whoever holds the part."""
        check_amount("at_ms", at_ms)
        if not 0 <= part < len(self._owner) or part not in self._held(part):
            raise NotFound("part", part)
        late_ms = max(0, self._core.cursor_ms[part] - at_ms)
        code = ANY if expected is None else _code(expected)
        span_ms = self._switch(part, owner, at_ms, expected=code)
        if expected is not None and span_ms == REFUSED:
            return Refused(part, expected, self._owner[part])
        return Switched(span_ms, late_ms)

    def take(
        self, pool: Pool, amount: int, *, expected: Owner, owner: Owner, at_ms: int
    ) -> TakeAnswer:
        """Switch an amount, in as few parts as it needs, from one owner to another."""
        source = pool.held.get(_code(expected), [])
        amounts = self._core.amount
        chosen = next((part for part in source if amounts[part] == amount), None)
        if chosen is not None:
            parts: tuple[int, ...] = (chosen,)
        else:
            found = sum(amounts[part] for part in source)
            if not 0 < amount <= found:
                return Short(amount, found)
            parts = self._cut_off(pool, source, amount)
        late_ms = 0
        for part in parts:
            late_ms = max(late_ms, self._core.cursor_ms[part] - at_ms)
            self._switch(part, owner, at_ms)
        return Taken(parts, late_ms)

    def give(self, parts: tuple[int, ...], expected: Owner, *, owner: Owner, at_ms: int) -> int:
        """Switch parts that must have this owner; says how late that was."""
        late_ms = 0
        for part in parts:
            late_ms = max(late_ms, self._core.cursor_ms[part] - at_ms)
            if self._switch(part, owner, at_ms, expected=_code(expected)) == REFUSED:
                raise InvariantBroken(f"part {part} is {self._owner[part]}'s, not {expected}'s")
        return late_ms

    def gather(self, pool: Pool, owner: Owner, *, parts_max: int = GATHER_AT) -> None:
        """Make one part of all that an owner holds of a share, if those are more than so many.

        They are charged as far as the last of them is; the numbers of all but one are gone.
        """
        held = pool.held.get(_code(owner), [])
        if len(held) <= parts_max:
            return
        at_ms = max(self._core.cursor_ms[part] for part in held)
        for part in held:
            self._switch(part, owner, at_ms)
        first, *others = held
        for part in others:
            if not self._core.join(first, part):
                raise InvariantBroken(f"parts {first} and {part} of {pool.share} are not alike")
        held[1:] = []

    def amount_of(self, pool: Pool, owner: Owner) -> int:
        """How much of a share an owner holds now."""
        return sum(self._core.amount[part] for part in pool.held.get(_code(owner), ()))

    def parts_of(self, pool: Pool, owner: Owner | None = None) -> tuple[Part, ...]:
        """The parts of a share: all of them, or this owner's."""
        numbers = pool.parts() if owner is None else pool.held.get(_code(owner), ())
        return tuple(self._part(number) for number in numbers)

    def _part(self, number: int) -> Part:
        core, pool = self._core, self._pool[number]
        amount, cursor_ms = core.amount[number], core.cursor_ms[number]
        return Part(number, pool.share, amount, self._owner[number], cursor_ms)

    def _switch(self, part: int, owner: Owner, at_ms: int, *, expected: int = ANY) -> int:
        core, pool, before = self._core, self._pool[part], self._owner[part]
        from_ms, was, code = core.cursor_ms[part], core.holder[part], _code(owner)
        account = self._account(pool, owner)
        span_ms = core.switch(part, expected, holder=code, account=account, at_ms=at_ms)
        if span_ms == REFUSED:
            return REFUSED
        if span_ms:
            self._emit(Segment(pool.share, core.amount[part], before, from_ms, from_ms + span_ms))
            self._latest_ms = max(self._latest_ms, at_ms)
        elif at_ms < from_ms:
            self.clamped += 1
            self.clamped_ms += from_ms - at_ms
        self._owner[part] = owner
        if code != was:
            left = pool.held[was]
            left.remove(part)
            if not left:
                del pool.held[was]
            pool.held.setdefault(code, []).append(part)
        return span_ms

    def _cut_off(self, pool: Pool, source: list[int], amount: int) -> tuple[int, ...]:
        chosen, left = [], amount
        for part in reversed(source):
            if self._core.amount[part] > left:
                new = self._core.cut(part, left)
                self._place(new, pool, self._owner[part])
                source.append(new)
                chosen.append(new)
                break
            chosen.append(part)
            left -= self._core.amount[part]
            if not left:
                break
        return tuple(chosen)

    def _place(self, part: int, pool: Pool, owner: Owner) -> None:
        if part == len(self._owner):
            self._owner.append(owner)
            self._pool.append(pool)
        self._owner[part], self._pool[part] = owner, pool

    def _held(self, part: int) -> list[int]:
        return self._pool[part].held.get(self._core.holder[part], [])

    def _account(self, pool: Pool, owner: Owner) -> int:
        payer = owner.account if isinstance(owner, Leased) else owner
        account = pool.accounts.get(payer)
        if account is None:
            account = pool.accounts[payer] = len(self._lines)
            self._lines.append(Line(pool.share.kind, pool.share.generation, payer))
            self._core.accounts.append(0)
        return account

    # -- reading -----------------------------------------------------------------------------

    def totals(self, at_ms: int) -> dict[Line, int]:
        """What every payer has used by this time, what is still running among it."""
        core, sums = self._core, list(self._core.accounts)
        self._check_now(at_ms)
        for pool in self._open.values():
            for part in pool.parts():
                running = core.amount[part] * (at_ms - core.cursor_ms[part])
                sums[core.account[part]] += running
        return dict(zip(self._lines, sums, strict=True))

    def balances(self, at_ms: int) -> tuple[Balance, ...]:
        """Both sides of the equation, for each kind and generation, closed shares among them."""
        owned: dict[tuple[ResourceKind, HardwareGeneration | None], int] = {}
        for line, used in self.totals(at_ms).items():
            key = (line.kind, line.generation)
            owned[key] = owned.get(key, 0) + used
        there = dict(self._closed)
        for pool in self._open.values():
            key = (pool.share.kind, pool.share.generation)
            there[key] = there.get(key, 0) + pool.capacity * (at_ms - pool.opened_ms)
        return tuple(Balance(*key, owned.get(key, 0), there[key]) for key in there)

    def check(self, at_ms: int) -> None:
        """Stop if anything that this module promises does not hold now, share by share."""
        core = self._core
        self._check_now(at_ms)
        for pool in self._open.values():
            parts = list(pool.parts())
            if any(core.amount[part] <= 0 or core.pool[part] != pool.number for part in parts):
                raise InvariantBroken(f"{pool.share} has a part that is empty or another's")
            if sum(core.amount[part] for part in parts) != pool.capacity:
                raise InvariantBroken(f"the parts of {pool.share} are not its capacity")
            running = sum(core.amount[p] * (at_ms - core.cursor_ms[p]) for p in parts)
            if core.measured[pool.number] + running != pool.capacity * (at_ms - pool.opened_ms):
                raise InvariantBroken(f"the owners of {pool.share} are not its capacity x time")
        if sum(core.accounts) != sum(core.measured):
            raise InvariantBroken("the accounts do not sum to what was measured")

    def _check_now(self, at_ms: int) -> None:
        """Sums are kept of now, and what was charged since cannot be told apart any more."""
        if at_ms < self._latest_ms:
            raise InvalidValue("at_ms", at_ms, f"a time from {self._latest_ms} on")


def _key(pool: Pool) -> tuple[str, ResourceKind, int]:
    return pool.share.node, pool.share.kind, pool.share.index

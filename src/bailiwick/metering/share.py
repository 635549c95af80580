"""The core of the meter: one compare-and-switch on lists of integers.

Rules:

- A *part* is some amount of one pool, with one holder from its cursor on. The parts of a pool add
  up to its capacity, always: a pool is opened as one part, and a part is only ever cut in two or
  joined with one that has the same holder, account and cursor.
- :meth:`Parts.switch` is the one operation that attributes time. If the part's holder is the one
  expected (or any is), the milliseconds since the cursor, times the amount, are charged to the
  account that held it; the cursor moves; the new holder is installed.
- A time at or before the cursor charges nothing and moves nothing back: a late report is clamped.
- What is charged is final, and is added to one account and one pool alike. So the accounts sum to
  what was measured, and a pool's measure is its capacity times the time its cursors have passed.
- :class:`Parts` is for one thread, and trusts its caller about numbers. :class:`SharedParts` is for
  many: it takes the lock it was given, and answers ``REFUSED`` where a number names nothing.

No objects, no words, no exceptions: the equations are those of the machine-checked model, and
:mod:`bailiwick.metering.meter` speaks with the rest of the world. What ships is verified: it is
``proofs/nagini/share.py`` without its contracts. Change it there; ``make prove`` says how.

>>> parts = Parts()
>>> parts.accounts.extend([0, 0])
>>> whole = parts.open(1000, holder=7, account=0, at_ms=50)
>>> some = parts.cut(whole, 400)
>>> parts.switch(some, 7, holder=8, account=1, at_ms=60)
10
>>> parts.switch(some, 7, holder=9, account=1, at_ms=70) == REFUSED
True
>>> parts.accounts, parts.measured
([4000, 0], [4000])
"""

from __future__ import annotations

from typing import Final, Protocol

ANY: Final = -1
"""Expected by a switch that does not ask who holds the part."""

REFUSED: Final = -1
"""What an operation says that did not take effect."""

GONE: Final = -2
"""The holder of a part that was joined to another, or whose pool is closed."""


def charged_ms(cursor_ms: int, at_ms: int) -> int:
    """The milliseconds that a switch at this time charges when the cursor stands there."""
    return at_ms - cursor_ms if cursor_ms < at_ms else 0


class Parts:
    """Parts by number, as columns; accounts and pools by number, as sums of amount times ms."""

    __slots__ = (
        "account",
        "accounts",
        "amount",
        "cursor_ms",
        "holder",
        "measured",
        "pool",
        "spare",
        "spares",
    )

    def __init__(self) -> None:
        self.pool: list[int] = []
        self.amount: list[int] = []
        self.cursor_ms: list[int] = []
        self.holder: list[int] = []
        self.account: list[int] = []
        self.accounts: list[int] = []
        self.measured: list[int] = []
        self.spare: list[int] = []
        """Numbers of parts that are gone, to be used again: the first ``spares`` of them."""
        self.spares = 0

    def open(self, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        """The one part of a new pool. Pools are numbered as they come, and no number returns."""
        self.measured.append(0)
        pool = len(self.measured) - 1
        return self._put(pool, amount, holder=holder, account=account, at_ms=at_ms)

    def _put(self, pool: int, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        if self.spares > 0:
            self.spares -= 1
            part = self.spare[self.spares]
            self.pool[part] = pool
            self.amount[part] = amount
            self.cursor_ms[part] = at_ms
            self.holder[part] = holder
            self.account[part] = account
            return part
        self.pool.append(pool)
        self.amount.append(amount)
        self.cursor_ms.append(at_ms)
        self.holder.append(holder)
        self.account.append(account)
        return len(self.pool) - 1

    def switch(self, part: int, expected: int, *, holder: int, account: int, at_ms: int) -> int:
        """The milliseconds charged to whoever held the part; ``REFUSED`` if it was another."""
        if expected != ANY and self.holder[part] != expected:
            return REFUSED
        span_ms = charged_ms(self.cursor_ms[part], at_ms)
        used = self.amount[part] * span_ms
        self.accounts[self.account[part]] += used
        self.measured[self.pool[part]] += used
        self.cursor_ms[part] += span_ms
        self.holder[part] = holder
        self.account[part] = account
        return span_ms

    def cut(self, part: int, amount: int) -> int:
        """Take this amount, at most the whole, off a part; the new part is like the old one."""
        self.amount[part] -= amount
        return self._put(
            self.pool[part],
            amount,
            holder=self.holder[part],
            account=self.account[part],
            at_ms=self.cursor_ms[part],
        )

    def join(self, part: int, other: int) -> bool:
        """Make one part of two that differ in nothing but their amounts; else change nothing."""
        is_alike = (
            part != other
            and self.pool[part] == self.pool[other]
            and self.holder[part] == self.holder[other]
            and self.account[part] == self.account[other]
            and self.cursor_ms[part] == self.cursor_ms[other]
        )
        if is_alike:
            self.amount[part] += self.amount[other]
            self.drop(other)
        return is_alike

    def drop(self, part: int) -> None:
        """Forget a part: its amount is another's now, or its pool is closed."""
        self.amount[part] = 0
        self.holder[part] = GONE
        if self.spares < len(self.spare):
            self.spare[self.spares] = part
        else:
            self.spare.append(part)
        self.spares += 1


class PartsLock(Protocol):
    """What keeps threads apart; ``threading.Lock`` is one."""

    def acquire(self) -> object:
        """Wait until nobody else has it, and have it."""
        ...

    def release(self) -> object:
        """Have it no longer."""
        ...


class SharedParts:
    """Parts that any number of threads may use: each operation is done under the lock."""

    def __init__(self, parts: Parts, lock: PartsLock) -> None:
        self.parts = parts
        self.lock = lock

    def add_account(self) -> int:
        """A new account, with nothing on it."""
        self.lock.acquire()
        parts = self.parts
        parts.accounts.append(0)
        answer = len(parts.accounts) - 1
        self.lock.release()
        return answer

    def open(self, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        """As :meth:`Parts.open`; ``REFUSED`` without an amount or to an unknown account."""
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        if amount > 0 and account >= 0 and account < len(parts.accounts):
            answer = parts.open(amount, holder=holder, account=account, at_ms=at_ms)
        self.lock.release()
        return answer

    def switch(self, part: int, expected: int, *, holder: int, account: int, at_ms: int) -> int:
        """As :meth:`Parts.switch`; ``REFUSED`` also for a part or an account that is none."""
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        if is_part and account >= 0 and account < len(parts.accounts):
            answer = parts.switch(part, expected, holder=holder, account=account, at_ms=at_ms)
        self.lock.release()
        return answer

    def cut(self, part: int, amount: int) -> int:
        """As :meth:`Parts.cut`; ``REFUSED`` unless it leaves some, and takes some."""
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > amount
        if is_part and amount > 0:
            answer = parts.cut(part, amount)
        self.lock.release()
        return answer

    def join(self, part: int, other: int) -> bool:
        """As :meth:`Parts.join`; not of a part that is gone."""
        self.lock.acquire()
        parts = self.parts
        answer = False
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        is_other = other >= 0 and other < len(parts.amount) and parts.amount[other] > 0
        if is_part and is_other and part != other:
            answer = parts.join(part, other)
        self.lock.release()
        return answer

    def drop(self, part: int) -> bool:
        """As :meth:`Parts.drop`, once; whether it was there."""
        self.lock.acquire()
        parts = self.parts
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        if is_part:
            parts.drop(part)
        self.lock.release()
        return is_part

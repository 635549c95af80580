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

# ship: from __future__ import annotations

from typing import Final, Protocol

# Only what ships needs the protocol.
# ruff: noqa: F401
from nagini_contracts.contracts import (
    Acc,
    Assert,
    Ensures,
    Implies,
    Old,
    Predicate,
    PSeq,
    Pure,
    Requires,
    Result,
    ToSeq,
    list_pred,
)
from nagini_contracts.lock import Lock
from nagini_contracts.obligations import Level, MustTerminate, WaitLevel

ANY: Final = -1
"""Expected by a switch that does not ask who holds the part."""

REFUSED: Final = -1
"""What an operation says that did not take effect."""

GONE: Final = -2
"""The holder of a part that was joined to another, or whose pool is closed."""


@Pure
def charged_ms(cursor_ms: int, at_ms: int) -> int:
    """The milliseconds that a switch at this time charges when the cursor stands there."""
    Ensures(Result() >= 0)
    Ensures(Implies(cursor_ms < at_ms, cursor_ms + Result() == at_ms))
    Ensures(Implies(at_ms <= cursor_ms, Result() == 0))
    return at_ms - cursor_ms if cursor_ms < at_ms else 0


# For the proof only, from here to the class: sums, numbers in range, and parts that are free.
@Pure
def total(s: PSeq[int]) -> int:
    """The sum of a column."""
    if len(s) == 0:
        return 0
    return total(s.take(len(s) - 1)) + s[len(s) - 1]


def lemma_total(s: PSeq[int], i: int, v: int) -> None:
    """To change one number of a column changes its sum by the difference."""
    Requires(i >= 0 and i < len(s))
    Requires(MustTerminate(len(s) + 1))
    Ensures(total(s.update(i, v)) == total(s) - s[i] + v)
    u = s.update(i, v)
    n = len(s) - 1
    if i == n:
        Assert(u.take(n) == s.take(n))
    else:
        lemma_total(s.take(n), i, v)
        Assert(u.take(n) == s.take(n).update(i, v))


def lemma_total_added(s: PSeq[int], v: int) -> None:
    """To add a number at the end adds it to the sum."""
    Requires(MustTerminate(1))
    Ensures(total(s + PSeq(v)) == total(s) + v)
    Assert((s + PSeq(v)).take(len(s)) == s)


def lemma_total_cut(s: PSeq[int], i: int, v: int, spare: PSeq[int], n: int) -> None:
    """To move some of a number to one that is 0, or to a new one, keeps the sum."""
    Requires(i >= 0 and i < len(s) and n >= 0 and n <= len(spare))
    Requires(Implies(n > 0, spare[n - 1] >= 0 and spare[n - 1] < len(s)))
    Requires(Implies(n > 0, spare[n - 1] != i and s[spare[n - 1]] == 0))
    Requires(MustTerminate(len(s) + 2))
    Ensures(total(s.update(i, s[i] - v) + PSeq(v)) == total(s))
    Ensures(Implies(n > 0, total(s.update(i, s[i] - v).update(spare[n - 1], v)) == total(s)))
    lemma_total(s, i, s[i] - v)
    lemma_total_added(s.update(i, s[i] - v), v)
    if n > 0:
        lemma_total(s.update(i, s[i] - v), spare[n - 1], v)


def lemma_total_join(s: PSeq[int], i: int, j: int) -> None:
    """To move all of a number to another keeps the sum."""
    Requires(i >= 0 and i < len(s) and j >= 0 and j < len(s) and i != j)
    Requires(MustTerminate(len(s) + 2))
    Ensures(total(s.update(i, s[i] + s[j]).update(j, 0)) == total(s))
    lemma_total(s, i, s[i] + s[j])
    lemma_total(s.update(i, s[i] + s[j]), j, 0)


@Pure
def within(s: PSeq[int], n: int) -> bool:
    """Every number of a column names one of the first n."""
    if len(s) == 0:
        return True
    return within(s.take(len(s) - 1), n) and s[len(s) - 1] >= 0 and s[len(s) - 1] < n


def lemma_within_at(s: PSeq[int], n: int, i: int) -> None:
    """So any one of them does."""
    Requires(i >= 0 and i < len(s) and within(s, n))
    Requires(MustTerminate(len(s) + 1))
    Ensures(s[i] >= 0 and s[i] < n)
    if i < len(s) - 1:
        lemma_within_at(s.take(len(s) - 1), n, i)


def lemma_within(s: PSeq[int], n: int, i: int, v: int) -> None:
    """It stays so if one is changed to another that does."""
    Requires(i >= 0 and i < len(s) and within(s, n) and v >= 0 and v < n)
    Requires(MustTerminate(len(s) + 1))
    Ensures(within(s.update(i, v), n))
    u = s.update(i, v)
    m = len(s) - 1
    if i == m:
        Assert(u.take(m) == s.take(m))
    else:
        lemma_within(s.take(m), n, i, v)
        Assert(u.take(m) == s.take(m).update(i, v))


def lemma_within_added(s: PSeq[int], n: int, v: int) -> None:
    """Or if such a one is added."""
    Requires(within(s, n) and v >= 0 and v < n)
    Requires(MustTerminate(1))
    Ensures(within(s + PSeq(v), n))
    Assert((s + PSeq(v)).take(len(s)) == s)


def lemma_within_more(s: PSeq[int], n: int) -> None:
    """Or if there is one more to name."""
    Requires(within(s, n))
    Requires(MustTerminate(len(s) + 1))
    Ensures(within(s, n + 1))
    if len(s) > 0:
        lemma_within_more(s.take(len(s) - 1), n)


@Pure
def lacks(s: PSeq[int], v: int) -> bool:
    """A number is not in a column."""
    if len(s) == 0:
        return True
    return lacks(s.take(len(s) - 1), v) and s[len(s) - 1] != v


@Pure
def free(spare: PSeq[int], amount: PSeq[int]) -> bool:
    """Spare numbers are of parts without an amount, and none is there twice."""
    if len(spare) == 0:
        return True
    n = len(spare) - 1
    return (
        free(spare.take(n), amount)
        and lacks(spare.take(n), spare[n])
        and spare[n] >= 0
        and spare[n] < len(amount)
        and amount[spare[n]] == 0
    )


def lemma_lacks(spare: PSeq[int], amount: PSeq[int], i: int) -> None:
    """A part that has an amount is not spare."""
    Requires(i >= 0 and i < len(amount) and amount[i] != 0 and free(spare, amount))
    Requires(MustTerminate(len(spare) + 1))
    Ensures(lacks(spare, i))
    if len(spare) > 0:
        lemma_lacks(spare.take(len(spare) - 1), amount, i)


def lemma_free(spare: PSeq[int], amount: PSeq[int], i: int, v: int) -> None:
    """What becomes of a part that is not spare is nothing to those that are."""
    Requires(i >= 0 and i < len(amount) and lacks(spare, i) and free(spare, amount))
    Requires(MustTerminate(len(spare) + 1))
    Ensures(free(spare, amount.update(i, v)))
    if len(spare) > 0:
        lemma_free(spare.take(len(spare) - 1), amount, i, v)


def lemma_put(spare: PSeq[int], n: int, amount: PSeq[int], v: int) -> None:
    """To use the last of n spare numbers again, or a new one if there is none."""
    Requires(n >= 0 and n <= len(spare) and free(spare.take(n), amount))
    Requires(MustTerminate(len(spare) + 2))
    Ensures(Implies(n > 0, spare[n - 1] >= 0 and spare[n - 1] < len(amount)))
    Ensures(Implies(n > 0, amount[spare[n - 1]] == 0))
    Ensures(Implies(n > 0, free(spare.take(n - 1), amount.update(spare[n - 1], v))))
    Ensures(free(spare.take(0), amount + PSeq(v)))
    if n > 0:
        Assert(spare.take(n)[n - 1] == spare[n - 1])
        Assert(spare.take(n).take(n - 1) == spare.take(n - 1))
        lemma_free(spare.take(n - 1), amount, spare[n - 1], v)


def lemma_drop(spare: PSeq[int], amount: PSeq[int], i: int) -> None:
    """One more is spare."""
    Requires(i >= 0 and i < len(amount) and amount[i] != 0 and free(spare, amount))
    Requires(MustTerminate(len(spare) + 2))
    Ensures(free(spare + PSeq(i), amount.update(i, 0)))
    lemma_lacks(spare, amount, i)
    lemma_free(spare, amount, i, 0)
    Assert((spare + PSeq(i)).take(len(spare)) == spare)


def lemma_cut(spare: PSeq[int], n: int, amount: PSeq[int], i: int, v: int) -> None:
    """Some of a part's amount is another part's: of a spare number, or of a new one."""
    Requires(n >= 0 and n <= len(spare) and free(spare.take(n), amount))
    Requires(i >= 0 and i < len(amount) and v > 0 and v < amount[i])
    Requires(MustTerminate(len(spare) + 3))
    Ensures(Implies(n > 0, spare[n - 1] >= 0 and spare[n - 1] < len(amount)))
    Ensures(Implies(n > 0, spare[n - 1] != i and amount[spare[n - 1]] == 0))
    Ensures(
        Implies(
            n > 0,
            free(spare.take(n - 1), amount.update(i, amount[i] - v).update(spare[n - 1], v)),
        )
    )
    lemma_put(spare, n, amount, v)
    lemma_lacks(spare.take(n), amount, i)
    lemma_free(spare.take(n), amount, i, amount[i] - v)
    lemma_put(spare, n, amount.update(i, amount[i] - v), v)


def lemma_join(spare: PSeq[int], amount: PSeq[int], i: int, j: int) -> None:
    """All of a part's amount is another's."""
    Requires(i >= 0 and i < len(amount) and amount[i] > 0)
    Requires(j >= 0 and j < len(amount) and amount[j] > 0)
    Requires(i != j and free(spare, amount))
    Requires(MustTerminate(len(spare) + 3))
    Ensures(free(spare + PSeq(j), amount.update(i, amount[i] + amount[j]).update(j, 0)))
    lemma_lacks(spare, amount, i)
    lemma_free(spare, amount, i, amount[i] + amount[j])
    lemma_drop(spare, amount.update(i, amount[i] + amount[j]), j)


def lemma_within_put(s: PSeq[int], n: int, spare: PSeq[int], spares: int, v: int) -> None:
    """The same for a column of numbers."""
    Requires(within(s, n) and v >= 0 and v < n and spares >= 0 and spares <= len(spare))
    Requires(Implies(spares > 0, spare[spares - 1] >= 0 and spare[spares - 1] < len(s)))
    Requires(MustTerminate(len(s) + 2))
    Ensures(Implies(spares > 0, within(s.update(spare[spares - 1], v), n)))
    Ensures(within(s + PSeq(v), n))
    lemma_within_added(s, n, v)
    if spares > 0:
        lemma_within(s, n, spare[spares - 1], v)


def lemma_within_same(s: PSeq[int], n: int, spare: PSeq[int], spares: int, i: int) -> None:
    """And if it is a number that is there already."""
    Requires(i >= 0 and i < len(s) and within(s, n) and spares >= 0 and spares <= len(spare))
    Requires(Implies(spares > 0, spare[spares - 1] >= 0 and spare[spares - 1] < len(s)))
    Requires(MustTerminate(len(s) + 3))
    Ensures(Implies(spares > 0, within(s.update(spare[spares - 1], s[i]), n)))
    Ensures(within(s + PSeq(s[i]), n))
    lemma_within_at(s, n, i)
    lemma_within_put(s, n, spare, spares, s[i])


def lemma_switch(names: PSeq[int], sums: PSeq[int], i: int, used: int) -> None:
    """What is added to the sum that one number names is added to all of them together."""
    Requires(i >= 0 and i < len(names) and within(names, len(sums)))
    Requires(MustTerminate(len(names) + len(sums) + 2))
    Ensures(names[i] >= 0 and names[i] < len(sums))
    Ensures(total(sums.update(names[i], sums[names[i]] + used)) == total(sums) + used)
    lemma_within_at(names, len(sums), i)
    lemma_total(sums, names[i], sums[names[i]] + used)


class Parts:
    """Parts by number, as columns; accounts and pools by number, as sums of amount times ms."""

    # ship: __slots__ = (
    # ship:     "account",
    # ship:     "accounts",
    # ship:     "amount",
    # ship:     "cursor_ms",
    # ship:     "holder",
    # ship:     "measured",
    # ship:     "pool",
    # ship:     "spare",
    # ship:     "spares",
    # ship: )

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
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.accounts) and Acc(list_pred(self.accounts)))
        Ensures(Acc(self.measured) and Acc(list_pred(self.measured)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(len(self.pool) == 0 and len(self.amount) == 0 and len(self.cursor_ms) == 0)
        Ensures(len(self.holder) == 0 and len(self.account) == 0 and len(self.accounts) == 0)
        Ensures(len(self.measured) == 0 and len(self.spare) == 0 and self.spares == 0)

    def open(self, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        """The one part of a new pool. Pools are numbered as they come, and no number returns."""
        Requires(Acc(self.pool) and Acc(list_pred(self.pool)))
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.account) and Acc(list_pred(self.account)))
        Requires(Acc(self.measured) and Acc(list_pred(self.measured)))
        Requires(Acc(self.spare) and Acc(list_pred(self.spare)))
        Requires(Acc(self.spares))
        Requires(len(self.amount) == len(self.pool) and len(self.cursor_ms) == len(self.pool))
        Requires(len(self.holder) == len(self.pool) and len(self.account) == len(self.pool))
        Requires(self.spares >= 0 and self.spares <= len(self.spare))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] >= 0))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] < len(self.pool)))
        Requires(MustTerminate(3))
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.measured) and Acc(list_pred(self.measured)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(self.pool is Old(self.pool))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.cursor_ms is Old(self.cursor_ms))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.account is Old(self.account))
        Ensures(self.measured is Old(self.measured))
        Ensures(self.spare is Old(self.spare))
        Ensures(ToSeq(self.spare) == Old(ToSeq(self.spare)))
        Ensures(ToSeq(self.measured) == Old(ToSeq(self.measured) + PSeq(0)))
        Ensures(
            Implies(
                Old(self.spares) > 0,
                self.spares == Old(self.spares) - 1
                and Result() == Old(self.spare[self.spares - 1])
                and ToSeq(self.pool)
                == Old(ToSeq(self.pool).update(self.spare[self.spares - 1], len(self.measured)))
                and ToSeq(self.amount)
                == Old(ToSeq(self.amount).update(self.spare[self.spares - 1], amount))
                and ToSeq(self.cursor_ms)
                == Old(ToSeq(self.cursor_ms).update(self.spare[self.spares - 1], at_ms))
                and ToSeq(self.holder)
                == Old(ToSeq(self.holder).update(self.spare[self.spares - 1], holder))
                and ToSeq(self.account)
                == Old(ToSeq(self.account).update(self.spare[self.spares - 1], account)),
            )
        )
        Ensures(
            Implies(
                Old(self.spares) == 0,
                self.spares == 0
                and Result() == Old(len(self.pool))
                and ToSeq(self.pool) == Old(ToSeq(self.pool) + PSeq(len(self.measured)))
                and ToSeq(self.amount) == Old(ToSeq(self.amount) + PSeq(amount))
                and ToSeq(self.cursor_ms) == Old(ToSeq(self.cursor_ms) + PSeq(at_ms))
                and ToSeq(self.holder) == Old(ToSeq(self.holder) + PSeq(holder))
                and ToSeq(self.account) == Old(ToSeq(self.account) + PSeq(account)),
            )
        )
        self.measured.append(0)
        pool = len(self.measured) - 1
        return self._put(pool, amount, holder=holder, account=account, at_ms=at_ms)

    def _put(self, pool: int, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        Requires(Acc(self.pool) and Acc(list_pred(self.pool)))
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.account) and Acc(list_pred(self.account)))
        Requires(Acc(self.spare) and Acc(list_pred(self.spare)))
        Requires(Acc(self.spares))
        Requires(len(self.amount) == len(self.pool) and len(self.cursor_ms) == len(self.pool))
        Requires(len(self.holder) == len(self.pool) and len(self.account) == len(self.pool))
        Requires(self.spares >= 0 and self.spares <= len(self.spare))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] >= 0))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] < len(self.pool)))
        Requires(MustTerminate(2))
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(self.pool is Old(self.pool))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.cursor_ms is Old(self.cursor_ms))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.account is Old(self.account))
        Ensures(self.spare is Old(self.spare))
        Ensures(ToSeq(self.spare) == Old(ToSeq(self.spare)))
        Ensures(
            Implies(
                Old(self.spares) > 0,
                self.spares == Old(self.spares) - 1
                and Result() == Old(self.spare[self.spares - 1])
                and ToSeq(self.pool)
                == Old(ToSeq(self.pool).update(self.spare[self.spares - 1], pool))
                and ToSeq(self.amount)
                == Old(ToSeq(self.amount).update(self.spare[self.spares - 1], amount))
                and ToSeq(self.cursor_ms)
                == Old(ToSeq(self.cursor_ms).update(self.spare[self.spares - 1], at_ms))
                and ToSeq(self.holder)
                == Old(ToSeq(self.holder).update(self.spare[self.spares - 1], holder))
                and ToSeq(self.account)
                == Old(ToSeq(self.account).update(self.spare[self.spares - 1], account)),
            )
        )
        Ensures(
            Implies(
                Old(self.spares) == 0,
                self.spares == 0
                and Result() == Old(len(self.pool))
                and ToSeq(self.pool) == Old(ToSeq(self.pool) + PSeq(pool))
                and ToSeq(self.amount) == Old(ToSeq(self.amount) + PSeq(amount))
                and ToSeq(self.cursor_ms) == Old(ToSeq(self.cursor_ms) + PSeq(at_ms))
                and ToSeq(self.holder) == Old(ToSeq(self.holder) + PSeq(holder))
                and ToSeq(self.account) == Old(ToSeq(self.account) + PSeq(account)),
            )
        )
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
        Requires(Acc(self.pool) and Acc(list_pred(self.pool)))
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.account) and Acc(list_pred(self.account)))
        Requires(Acc(self.accounts) and Acc(list_pred(self.accounts)))
        Requires(Acc(self.measured) and Acc(list_pred(self.measured)))
        Requires(part >= 0 and part < len(self.pool) and part < len(self.amount))
        Requires(part < len(self.cursor_ms))
        Requires(part < len(self.holder) and part < len(self.account))
        Requires(self.account[part] >= 0 and self.account[part] < len(self.accounts))
        Requires(self.pool[part] >= 0 and self.pool[part] < len(self.measured))
        Requires(MustTerminate(2))
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.accounts) and Acc(list_pred(self.accounts)))
        Ensures(Acc(self.measured) and Acc(list_pred(self.measured)))
        Ensures(self.pool is Old(self.pool))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.cursor_ms is Old(self.cursor_ms))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.account is Old(self.account))
        Ensures(self.accounts is Old(self.accounts))
        Ensures(self.measured is Old(self.measured))
        Ensures(ToSeq(self.pool) == Old(ToSeq(self.pool)))
        Ensures(ToSeq(self.amount) == Old(ToSeq(self.amount)))
        # The equations of the model's step (proofs/model.v), times the amount.
        Ensures(
            Implies(
                Old(expected != ANY and self.holder[part] != expected),
                Result() == REFUSED
                and ToSeq(self.cursor_ms) == Old(ToSeq(self.cursor_ms))
                and ToSeq(self.holder) == Old(ToSeq(self.holder))
                and ToSeq(self.account) == Old(ToSeq(self.account))
                and ToSeq(self.accounts) == Old(ToSeq(self.accounts))
                and ToSeq(self.measured) == Old(ToSeq(self.measured)),
            )
        )
        Ensures(
            Implies(
                Old(expected == ANY or self.holder[part] == expected),
                Result() == Old(charged_ms(self.cursor_ms[part], at_ms))
                and ToSeq(self.cursor_ms)
                == Old(
                    ToSeq(self.cursor_ms).update(
                        part, self.cursor_ms[part] + charged_ms(self.cursor_ms[part], at_ms)
                    )
                )
                and ToSeq(self.holder) == Old(ToSeq(self.holder).update(part, holder))
                and ToSeq(self.account) == Old(ToSeq(self.account).update(part, account))
                and ToSeq(self.accounts)
                == Old(
                    ToSeq(self.accounts).update(
                        self.account[part],
                        self.accounts[self.account[part]]
                        + self.amount[part] * charged_ms(self.cursor_ms[part], at_ms),
                    )
                )
                and ToSeq(self.measured)
                == Old(
                    ToSeq(self.measured).update(
                        self.pool[part],
                        self.measured[self.pool[part]]
                        + self.amount[part] * charged_ms(self.cursor_ms[part], at_ms),
                    )
                ),
            )
        )
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
        Requires(Acc(self.pool) and Acc(list_pred(self.pool)))
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.account) and Acc(list_pred(self.account)))
        Requires(Acc(self.spare) and Acc(list_pred(self.spare)))
        Requires(Acc(self.spares))
        Requires(len(self.amount) == len(self.pool) and len(self.cursor_ms) == len(self.pool))
        Requires(len(self.holder) == len(self.pool) and len(self.account) == len(self.pool))
        Requires(part >= 0 and part < len(self.pool))
        Requires(self.spares >= 0 and self.spares <= len(self.spare))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] >= 0))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] < len(self.pool)))
        Requires(Implies(self.spares > 0, self.spare[self.spares - 1] != part))
        Requires(Implies(self.spares > 0, self.amount[self.spare[self.spares - 1]] == 0))
        Requires(MustTerminate(len(self.amount) + 3))
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(self.pool is Old(self.pool))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.cursor_ms is Old(self.cursor_ms))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.account is Old(self.account))
        Ensures(self.spare is Old(self.spare))
        Ensures(ToSeq(self.spare) == Old(ToSeq(self.spare)))
        Ensures(
            Implies(
                Old(self.spares) > 0,
                self.spares == Old(self.spares) - 1
                and Result() == Old(self.spare[self.spares - 1])
                and ToSeq(self.pool)
                == Old(ToSeq(self.pool).update(self.spare[self.spares - 1], self.pool[part]))
                and ToSeq(self.amount)
                == Old(
                    ToSeq(self.amount)
                    .update(part, self.amount[part] - amount)
                    .update(self.spare[self.spares - 1], amount)
                )
                and ToSeq(self.cursor_ms)
                == Old(
                    ToSeq(self.cursor_ms).update(self.spare[self.spares - 1], self.cursor_ms[part])
                )
                and ToSeq(self.holder)
                == Old(ToSeq(self.holder).update(self.spare[self.spares - 1], self.holder[part]))
                and ToSeq(self.account)
                == Old(ToSeq(self.account).update(self.spare[self.spares - 1], self.account[part])),
            )
        )
        Ensures(
            Implies(
                Old(self.spares) == 0,
                self.spares == 0
                and Result() == Old(len(self.pool))
                and ToSeq(self.pool) == Old(ToSeq(self.pool) + PSeq(self.pool[part]))
                and ToSeq(self.amount)
                == Old(ToSeq(self.amount).update(part, self.amount[part] - amount) + PSeq(amount))
                and ToSeq(self.cursor_ms) == Old(ToSeq(self.cursor_ms) + PSeq(self.cursor_ms[part]))
                and ToSeq(self.holder) == Old(ToSeq(self.holder) + PSeq(self.holder[part]))
                and ToSeq(self.account) == Old(ToSeq(self.account) + PSeq(self.account[part])),
            )
        )
        Ensures(total(ToSeq(self.amount)) == Old(total(ToSeq(self.amount))))
        lemma_total_cut(ToSeq(self.amount), part, amount, ToSeq(self.spare), self.spares)
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
        Requires(Acc(self.pool) and Acc(list_pred(self.pool)))
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.account) and Acc(list_pred(self.account)))
        Requires(Acc(self.spare) and Acc(list_pred(self.spare)))
        Requires(Acc(self.spares))
        Requires(len(self.amount) == len(self.pool) and len(self.cursor_ms) == len(self.pool))
        Requires(len(self.holder) == len(self.pool) and len(self.account) == len(self.pool))
        Requires(part >= 0 and part < len(self.pool) and other >= 0 and other < len(self.pool))
        Requires(self.spares >= 0 and self.spares <= len(self.spare))
        Requires(MustTerminate(len(self.amount) + 3))
        Ensures(Acc(self.pool) and Acc(list_pred(self.pool)))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.cursor_ms) and Acc(list_pred(self.cursor_ms)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.account) and Acc(list_pred(self.account)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(self.pool is Old(self.pool))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.cursor_ms is Old(self.cursor_ms))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.account is Old(self.account))
        Ensures(self.spare is Old(self.spare))
        Ensures(ToSeq(self.pool) == Old(ToSeq(self.pool)))
        Ensures(ToSeq(self.cursor_ms) == Old(ToSeq(self.cursor_ms)))
        Ensures(ToSeq(self.account) == Old(ToSeq(self.account)))
        Ensures(
            Result()
            == Old(
                part != other
                and self.pool[part] == self.pool[other]
                and self.holder[part] == self.holder[other]
                and self.account[part] == self.account[other]
                and self.cursor_ms[part] == self.cursor_ms[other]
            )
        )
        Ensures(
            Implies(
                not Result(),
                ToSeq(self.amount) == Old(ToSeq(self.amount))
                and ToSeq(self.holder) == Old(ToSeq(self.holder))
                and ToSeq(self.spare) == Old(ToSeq(self.spare))
                and self.spares == Old(self.spares),
            )
        )
        Ensures(
            Implies(
                Result(),
                ToSeq(self.amount)
                == Old(
                    ToSeq(self.amount)
                    .update(part, self.amount[part] + self.amount[other])
                    .update(other, 0)
                )
                and ToSeq(self.holder) == Old(ToSeq(self.holder).update(other, GONE))
                and self.spares == Old(self.spares) + 1
                and self.spares <= len(self.spare)
                and ToSeq(self.spare).take(self.spares)
                == Old(ToSeq(self.spare).take(self.spares)) + PSeq(other),
            )
        )
        Ensures(total(ToSeq(self.amount)) == Old(total(ToSeq(self.amount))))
        is_alike = (
            part != other
            and self.pool[part] == self.pool[other]
            and self.holder[part] == self.holder[other]
            and self.account[part] == self.account[other]
            and self.cursor_ms[part] == self.cursor_ms[other]
        )
        if is_alike:
            lemma_total_join(ToSeq(self.amount), part, other)
            self.amount[part] += self.amount[other]
            self.drop(other)
        return is_alike

    def drop(self, part: int) -> None:
        """Forget a part: its amount is another's now, or its pool is closed."""
        Requires(Acc(self.amount) and Acc(list_pred(self.amount)))
        Requires(Acc(self.holder) and Acc(list_pred(self.holder)))
        Requires(Acc(self.spare) and Acc(list_pred(self.spare)))
        Requires(Acc(self.spares))
        Requires(part >= 0 and part < len(self.amount) and part < len(self.holder))
        Requires(self.spares >= 0 and self.spares <= len(self.spare))
        Requires(MustTerminate(2))
        Ensures(Acc(self.amount) and Acc(list_pred(self.amount)))
        Ensures(Acc(self.holder) and Acc(list_pred(self.holder)))
        Ensures(Acc(self.spare) and Acc(list_pred(self.spare)))
        Ensures(Acc(self.spares))
        Ensures(self.amount is Old(self.amount))
        Ensures(self.holder is Old(self.holder))
        Ensures(self.spare is Old(self.spare))
        Ensures(ToSeq(self.amount) == Old(ToSeq(self.amount).update(part, 0)))
        Ensures(ToSeq(self.holder) == Old(ToSeq(self.holder).update(part, GONE)))
        Ensures(self.spares == Old(self.spares) + 1 and self.spares <= len(self.spare))
        Ensures(
            ToSeq(self.spare).take(self.spares)
            == Old(ToSeq(self.spare).take(self.spares)) + PSeq(part)
        )
        self.amount[part] = 0
        self.holder[part] = GONE
        if self.spares < len(self.spare):
            self.spare[self.spares] = part
        else:
            self.spare.append(part)
        self.spares += 1


class PartsLock(Lock[Parts]):
    @Predicate
    def invariant(self) -> bool:
        return (
            Acc(self.get_locked().pool)
            and Acc(list_pred(self.get_locked().pool))
            and Acc(self.get_locked().amount)
            and Acc(list_pred(self.get_locked().amount))
            and Acc(self.get_locked().cursor_ms)
            and Acc(list_pred(self.get_locked().cursor_ms))
            and Acc(self.get_locked().holder)
            and Acc(list_pred(self.get_locked().holder))
            and Acc(self.get_locked().account)
            and Acc(list_pred(self.get_locked().account))
            and Acc(self.get_locked().accounts)
            and Acc(list_pred(self.get_locked().accounts))
            and Acc(self.get_locked().measured)
            and Acc(list_pred(self.get_locked().measured))
            and Acc(self.get_locked().spare)
            and Acc(list_pred(self.get_locked().spare))
            and Acc(self.get_locked().spares)
            and len(self.get_locked().amount) == len(self.get_locked().pool)
            and len(self.get_locked().cursor_ms) == len(self.get_locked().pool)
            and len(self.get_locked().holder) == len(self.get_locked().pool)
            and len(self.get_locked().account) == len(self.get_locked().pool)
            and self.get_locked().spares >= 0
            and self.get_locked().spares <= len(self.get_locked().spare)
            and within(ToSeq(self.get_locked().account), len(self.get_locked().accounts))
            and within(ToSeq(self.get_locked().pool), len(self.get_locked().measured))
            and free(
                ToSeq(self.get_locked().spare).take(self.get_locked().spares),
                ToSeq(self.get_locked().amount),
            )
            and total(ToSeq(self.get_locked().accounts)) == total(ToSeq(self.get_locked().measured))
        )


# ship: class PartsLock(Protocol):
# ship:     """What keeps threads apart; ``threading.Lock`` is one."""
# ship:
# ship:     def acquire(self) -> object:
# ship:         """Wait until nobody else has it, and have it."""
# ship:         ...
# ship:
# ship:     def release(self) -> object:
# ship:         """Have it no longer."""
# ship:         ...


class SharedParts:
    """Parts that any number of threads may use: each operation is done under the lock."""

    def __init__(self, parts: Parts, lock: PartsLock) -> None:
        Requires(lock.get_locked() is parts)
        self.parts = parts
        self.lock = lock
        Ensures(Acc(self.parts) and Acc(self.lock))
        Ensures(self.parts is parts and self.lock is lock)

    def add_account(self) -> int:
        """A new account, with nothing on it."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        lemma_total_added(ToSeq(parts.accounts), 0)
        lemma_within_more(ToSeq(parts.account), len(parts.accounts))
        parts.accounts.append(0)
        answer = len(parts.accounts) - 1
        self.lock.release()
        return answer

    def open(self, amount: int, *, holder: int, account: int, at_ms: int) -> int:
        """As :meth:`Parts.open`; ``REFUSED`` without an amount or to an unknown account."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        if amount > 0 and account >= 0 and account < len(parts.accounts):
            lemma_put(ToSeq(parts.spare), parts.spares, ToSeq(parts.amount), amount)
            lemma_total_added(ToSeq(parts.measured), 0)
            lemma_within_more(ToSeq(parts.pool), len(parts.measured))
            lemma_within_put(
                ToSeq(parts.pool),
                len(parts.measured) + 1,
                ToSeq(parts.spare),
                parts.spares,
                len(parts.measured),
            )
            lemma_within_put(
                ToSeq(parts.account), len(parts.accounts), ToSeq(parts.spare), parts.spares, account
            )
            answer = parts.open(amount, holder=holder, account=account, at_ms=at_ms)
        self.lock.release()
        return answer

    def switch(self, part: int, expected: int, *, holder: int, account: int, at_ms: int) -> int:
        """As :meth:`Parts.switch`; ``REFUSED`` also for a part or an account that is none."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        if is_part and account >= 0 and account < len(parts.accounts):
            lemma_switch(
                ToSeq(parts.account),
                ToSeq(parts.accounts),
                part,
                parts.amount[part] * charged_ms(parts.cursor_ms[part], at_ms),
            )
            lemma_switch(
                ToSeq(parts.pool),
                ToSeq(parts.measured),
                part,
                parts.amount[part] * charged_ms(parts.cursor_ms[part], at_ms),
            )
            lemma_within(ToSeq(parts.account), len(parts.accounts), part, account)
            answer = parts.switch(part, expected, holder=holder, account=account, at_ms=at_ms)
        self.lock.release()
        return answer

    def cut(self, part: int, amount: int) -> int:
        """As :meth:`Parts.cut`; ``REFUSED`` unless it leaves some, and takes some."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        answer = REFUSED
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > amount
        if is_part and amount > 0:
            lemma_cut(ToSeq(parts.spare), parts.spares, ToSeq(parts.amount), part, amount)
            lemma_within_same(
                ToSeq(parts.pool), len(parts.measured), ToSeq(parts.spare), parts.spares, part
            )
            lemma_within_same(
                ToSeq(parts.account), len(parts.accounts), ToSeq(parts.spare), parts.spares, part
            )
            answer = parts.cut(part, amount)
        self.lock.release()
        return answer

    def join(self, part: int, other: int) -> bool:
        """As :meth:`Parts.join`; not of a part that is gone."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        answer = False
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        is_other = other >= 0 and other < len(parts.amount) and parts.amount[other] > 0
        if is_part and is_other and part != other:
            lemma_join(ToSeq(parts.spare).take(parts.spares), ToSeq(parts.amount), part, other)
            answer = parts.join(part, other)
        self.lock.release()
        return answer

    def drop(self, part: int) -> bool:
        """As :meth:`Parts.drop`, once; whether it was there."""
        Requires(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        Requires(self.lock.get_locked() is self.parts and WaitLevel() < Level(self.lock))
        Ensures(Acc(self.parts, 1 / 2) and Acc(self.lock, 1 / 2))
        self.lock.acquire()
        parts = self.parts
        is_part = part >= 0 and part < len(parts.amount) and parts.amount[part] > 0
        if is_part:
            lemma_drop(ToSeq(parts.spare).take(parts.spares), ToSeq(parts.amount), part)
            parts.drop(part)
        self.lock.release()
        return is_part

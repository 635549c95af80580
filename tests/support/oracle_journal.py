"""Writes down what a meter's core did, in the words of the oracle that comes from the proofs.

The oracle (``proofs/oracle.ml`` around the extracted model) knows shares of one unit. A part worth
n units is n shares that are switched together, so a part's units are kept here, as ranges; to cut
or to join moves ranges and writes no line. What is written is what the core was *asked* and what
it *says* its columns are afterwards; the oracle judges both.

A journal has to be written while the lock is held. :class:`Turnstile` is a lock that knows who
holds it, so a recorder notices an operation that does not hold it.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from bailiwick.metering.share import ANY, GONE

Range = tuple[int, int]  # the first unit and the last

NO_JOB = 10**9
"""Expected where the core expects a part to be gone: nobody has this number."""


class LockAbused(Exception):
    """The core was entered without the lock, or the lock was never given back."""


class Turnstile:
    """A lock that says who holds it, and does not let a thread wait for itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._is_abused = False

    def acquire(self) -> None:
        """Wait for it, unless it can never be had again."""
        me = threading.get_ident()
        while self._holder == me or not self._lock.acquire(timeout=0.05):
            holder = self._holder  # before the threads: one that starts now may take it
            running = {each.ident for each in threading.enumerate()}
            is_lost = holder == me or holder not in {None, *running}
            if is_lost or self._is_abused:
                self._is_abused = True
                raise LockAbused("the lock is not given back")
        self._holder = me

    def release(self) -> None:
        """Give it back."""
        self.check()
        self._holder = None
        self._lock.release()

    def check(self) -> None:
        """Only its holder may go on."""
        if self._holder != threading.get_ident():
            self._is_abused = True
            raise LockAbused("the core was entered without the lock")


class UnitJournal:
    """The oracle's journal, and which units each part is made of."""

    def __init__(self, *, nobody: int = 1) -> None:
        self.lines = [f"nobody {nobody}"]
        self.units: dict[int, list[Range]] = {}
        self.is_joining = False
        """While it is, a part that is dropped is no part of the fleet that goes."""
        self._registered: dict[int, int] = {}
        self._next_unit = 0
        self._gone: list[str] = []

    def opened(self, parts: Any, part: int, amount: int, held: tuple[int, int, int]) -> None:
        """So many new units, all with this holder and account since then."""
        holder, account, at_ms = held
        units = (self._next_unit, self._next_unit + amount - 1)
        self._next_unit += amount
        self.units[part] = [units]
        self._registered[parts.pool[part]] = at_ms
        self.lines.append(f"register {_words(units)} {at_ms} 1")
        self.lines.append(f"switch {_words(units)} 0 {holder} {account} {at_ms} 1")
        self.check(parts, part, (account,))

    def switched(self, part: int, expected: int, moved: tuple[int, int, int, bool]) -> None:
        """Each unit of a part was asked to switch: holder, account, time, and the answer."""
        holder, account, at_ms, is_done = moved
        guard = {ANY: "-", GONE: str(NO_JOB)}.get(expected, str(expected))
        for units in self.units[part]:
            event = f"switch {_words(units)} {guard} {holder} {account} {at_ms}"
            self.lines.append(f"{event} {int(is_done)}")

    def cut(self, part: int, new: int, amount: int) -> None:
        """The last so many units are another part."""
        left, taken = self.units[part], []
        while amount > 0 and left:
            first, last = left.pop()
            count = min(amount, last - first + 1)
            if count <= last - first:
                left.append((first, last - count))
            taken.append((last - count + 1, last))
            amount -= count
        self.units[new] = taken

    def joined(self, part: int, other: int) -> None:
        """All units of one part are another's."""
        self.units[part] += self.units.pop(other)

    def dropped(self, parts: Any, part: int) -> None:
        """No more is heard of these units; asked before the part is gone."""
        self._gone += self._cells(parts, part)
        del self.units[part]

    def check(self, parts: Any, part: int, accounts: Iterable[int]) -> None:
        """What the core says of a part, of some accounts, and of all there is."""
        place = self._place(parts, part)
        self.lines += [f"share {_words(units)} {place}" for units in self.units[part]]
        self.lines += [f"counter {each} {parts.accounts[each]}" for each in sorted(set(accounts))]
        self.lines.append(f"total {sum(parts.measured)}")

    def text(self, parts: Any) -> str:
        """The whole journal, with the whole state at its end."""
        cells = [cell for part in self.units for cell in self._cells(parts, part)]
        counters = ",".join(f"{owner}:{ticks}" for owner, ticks in enumerate(parts.accounts))
        state = f"state {sum(parts.measured)} {','.join([*cells, *self._gone]) or '-'}"
        return "\n".join([*self.lines, f"{state} {counters or '-'}", ""])

    def _place(self, parts: Any, part: int) -> str:
        row = (parts.cursor_ms[part], parts.holder[part], parts.account[part])
        return " ".join(map(str, (self._registered[parts.pool[part]], *row)))

    def _cells(self, parts: Any, part: int) -> list[str]:
        place = self._place(parts, part).replace(" ", ":")
        ranges = self.units[part]
        return [f"{unit}:{place}" for first, last in ranges for unit in range(first, last + 1)]


def _words(units: Range) -> str:
    first, last = units
    return str(first) if first == last else f"{first}-{last}"


def recording_parts(share: ModuleType, journal: UnitJournal, turnstile: Turnstile | None) -> Any:
    """The parts of a module such as ``bailiwick.metering.share``, writing down all they do."""

    class RecordingParts(share.Parts):  # type: ignore[name-defined,misc]
        def open(self, amount: int, *, holder: int, account: int, at_ms: int) -> int:
            _check(turnstile)
            part: int = super().open(amount, holder=holder, account=account, at_ms=at_ms)
            journal.opened(self, part, amount, (holder, account, at_ms))
            return part

        def switch(self, part: int, expected: int, *, holder: int, account: int, at_ms: int) -> int:
            _check(turnstile)
            before = self.account[part]
            span: int = super().switch(part, expected, holder=holder, account=account, at_ms=at_ms)
            is_done = span != share.REFUSED
            journal.switched(part, expected, (holder, account, at_ms, is_done))
            journal.check(self, part, (before, self.account[part]))
            return span

        def cut(self, part: int, amount: int) -> int:
            _check(turnstile)
            new: int = super().cut(part, amount)
            journal.cut(part, new, amount)
            for each in (part, new):
                journal.check(self, each, ())
            return new

        def join(self, part: int, other: int) -> bool:
            _check(turnstile)
            journal.is_joining = True
            is_joined: bool = super().join(part, other)
            journal.is_joining = False
            if is_joined:
                journal.joined(part, other)
                journal.check(self, part, ())
            return is_joined

        def drop(self, part: int) -> None:
            _check(turnstile)
            if not journal.is_joining:
                journal.dropped(self, part)
            super().drop(part)

    return RecordingParts()


def _check(turnstile: Turnstile | None) -> None:
    if turnstile is not None:
        turnstile.check()


def ask(oracle: Path, journal: str) -> tuple[int, str]:
    """0 if the oracle agrees with everything, 1 and where if not, 2 if it cannot be read."""
    done = subprocess.run([oracle], input=journal, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout.strip()

"""Threads race the shared core of the meter, and faults are put in their way.

Each worker starts, stops, preempts, fails, drains, recovers, settles, cuts and joins parts, with
times that come late and expectations that are wrong. It does some things twice, some in another
order than it meant to, and may die at any moment with its parts held; then somebody reports them
lost. What came of it is a journal for the oracle.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from types import ModuleType
from typing import Any

from tests.support.oracle_journal import Turnstile, UnitJournal, recording_parts

IDLE, DOWN, TENANTS = 0, 1, 4
DEVICES, UNITS = 3, 12
Call = Callable[[], object]


def account_of(holder: int) -> int:
    """Nobody's holders have accounts of their own; jobs are of one tenant each."""
    return holder if holder in (IDLE, DOWN) else 2 + holder % TENANTS


class Race:
    """One run: a core, its journal, and the workers."""

    def __init__(self, share: ModuleType, seed: int, *, workers: int = 4, turns: int = 300) -> None:
        self.any: int = share.ANY
        self.seed, self.workers, self.turns = seed, workers, turns
        self.journal = UnitJournal()
        turnstile = Turnstile()
        self.parts = recording_parts(share, self.journal, turnstile)
        self.shared: Any = share.SharedParts(self.parts, turnstile)
        self.clock_ms = 10
        self.errors: list[BaseException] = []
        for _ in range(2 + TENANTS):
            self.shared.add_account()
        for _ in range(DEVICES):
            self.shared.open(UNITS, holder=IDLE, account=IDLE, at_ms=self.clock_ms)

    def run(self) -> str:
        """The journal of it all; what a worker stumbled over is raised."""
        names = range(self.workers)
        threads = [threading.Thread(target=self._guarded, args=(name,)) for name in names]
        with often_interrupted():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if self.errors:
            raise self.errors[0]
        for part in list(self.journal.units):  # a node fails at the end: all that is left is lost
            self._switch(part, self.any, DOWN, self.clock_ms + 50)
        return self.journal.text(self.parts)

    def _guarded(self, name: int) -> None:
        try:
            self._work(name)
        except BaseException as error:  # told by the thread that started this one
            self.errors.append(error)

    def _work(self, name: int) -> None:
        chance = Random(f"{self.seed} {name}")
        dies_at = chance.choice((self.turns, self.turns, self.turns // 2))
        waiting: list[Call] = []
        for turn in range(dies_at):
            job = 2 + turn * self.workers + name
            waiting += self._calls(chance, job)
            if chance.random() < 0.3:
                chance.shuffle(waiting)
            while len(waiting) > 3:
                call = waiting.pop(0)
                call()
                if chance.random() < 0.2:
                    call()

    def _switch(self, part: int, expected: int, holder: int, at_ms: int) -> object:
        account = account_of(holder)
        if at_ms % 29 == 0:
            account = 99  # there is none such
        return self.shared.switch(part, expected, holder=holder, account=account, at_ms=at_ms)

    def _calls(self, chance: Random, job: int) -> list[Call]:
        """One thing that happens, in one call or several; what is read here may be stale."""
        self.clock_ms += chance.randint(0, 3)
        at_ms = max(0, self.clock_ms - chance.choice((0, 0, 0, 2, 9)))
        part, other = (chance.randrange(-1, len(self.parts.holder) + 1) for _ in range(2))
        held = self.parts.holder[part] if 0 <= part < len(self.parts.holder) else IDLE
        victim = held if chance.random() < 0.7 else chance.randrange(job + 1)
        switches = [
            *[(IDLE, job)] * 5,  # start
            *[(victim, IDLE)] * 4,  # stop
            *[(victim, job)] * 3,  # preempt
            (self.any, DOWN),  # failure
            *[(DOWN, IDLE)] * 2,  # recovery
            (IDLE, DOWN),  # drain
        ]
        roll = chance.random()
        if roll < 0.62:
            expected, holder = chance.choice(switches)
            call = partial(self._switch, part, expected, holder, at_ms)
            # A start may not be repeated: its job could have ended in between, and come back.
            is_start = holder > DOWN >= expected
            return [once(call) if is_start else call]
        if roll < 0.76:
            return [lambda: self.shared.cut(part, chance.randrange(-1, UNITS))]
        if roll < 0.95:
            return self._joining(part, other, at_ms)
        if roll < 0.97:
            return [lambda: self.shared.drop(part)]
        open_it = self.shared.open
        amount = chance.randrange(0, UNITS)
        return [lambda: open_it(amount, holder=IDLE, account=IDLE, at_ms=at_ms)]

    def _joining(self, part: int, other: int, at_ms: int) -> list[Call]:
        """Two parts are brought to one instant first, or not: then they must not be joined."""
        later_ms = at_ms + 20
        return [
            lambda: self._switch(part, IDLE, IDLE, later_ms),
            lambda: self._switch(other, IDLE, IDLE, later_ms),
            lambda: self.shared.join(part, other),
        ]


def once(call: Call) -> Call:
    """Whatever comes later does nothing."""
    left = [call]
    return lambda: left.pop()() if left else None


@contextmanager
def often_interrupted() -> Iterator[None]:
    """Threads take turns after a few instructions, not after milliseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)

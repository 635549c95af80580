"""The time that a replica tells: its wall clock, as far as that can be believed.

Rules:

- The wall clock is held against a witness: the store's clock, if it told the time lately, else
  the timer since the wall clock was last believed. Where it is further off than ``drift_ms``, the
  witness is believed and not the wall.
- Time goes on by the timer from where the journal has come to, wherever a clock says less. So what
  is due becomes due, whatever somebody does to the wall clock.
- A follower tells the time with whatever it passes on. Where the store bears the wall clock out, it
  is the follower's clock that is wrong: that is told, and hinders nobody.
- A wall clock that is ahead of anything it is compared with is no clock to lead by
  (:func:`judge`). One that is behind is told, and harms nobody.

>>> found = judge(9_000, {Against.TIMER: 8_900, Against.STORE: 7_000}, drift_ms=1_000)
>>> found.against.value, found.by_ms, found.forbids_leading
('store', 2000, True)
>>> judge(9_000, {Against.TIMER: 8_900}, drift_ms=1_000)
Agrees()
>>> steady_ms(wall_ms=9_000, witness_ms=5_000, floor_ms=5_100, drift_ms=1_000)
5100
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from bailiwick.kernel import Settings
from bailiwick.ports import Clock

KEPT_MS = 60_000
"""How long what another told is held against the wall clock."""


class Against(StrEnum):
    """What a wall clock is compared with."""

    TIMER = "timer"
    STORE = "store"
    FOLLOWER = "follower"
    JOURNAL = "journal"


@dataclass(frozen=True, slots=True)
class ClockMark:
    """It was this time when the timer stood there."""

    time_ms: int
    elapsed_ms: int

    def at(self, elapsed_ms: int) -> int:
        """The time when the timer stands there, by the timer alone."""
        return self.time_ms + elapsed_ms - self.elapsed_ms


@dataclass(frozen=True, slots=True)
class Agrees:
    """The wall clock is as far as it can be known right."""


@dataclass(frozen=True, slots=True)
class Disagrees:
    """The wall clock and another are further apart than is believed."""

    against: Against
    wall_ms: int
    other_ms: int
    most_ms: int
    is_borne_out: bool = False
    """Whether the store says that the wall clock is right."""

    @property
    def by_ms(self) -> int:
        """How far the wall clock is ahead; below zero if it is behind."""
        return self.wall_ms - self.other_ms

    @property
    def forbids_leading(self) -> bool:
        """Whether leading by this clock could end what has not come to its end."""
        return self.by_ms > 0 and not self.is_borne_out


Agreement: TypeAlias = Agrees | Disagrees


def judge(wall_ms: int, others: Mapping[Against, int], *, drift_ms: int) -> Agreement:
    """How the wall clock stands to the others: the one it is furthest ahead of, or behind."""
    store_ms = others.get(Against.STORE)
    is_right = store_ms is not None and abs(wall_ms - store_ms) <= drift_ms
    found = [
        Disagrees(against, wall_ms, other_ms, drift_ms, is_right and against is Against.FOLLOWER)
        for against, other_ms in others.items()
        if abs(wall_ms - other_ms) > drift_ms
    ]
    if not found:
        return Agrees()
    return max(found, key=lambda each: (each.forbids_leading, abs(each.by_ms)))


def steady_ms(*, wall_ms: int, witness_ms: int, floor_ms: int, drift_ms: int) -> int:
    """The time to tell: the wall's if the witness bears it out, and no less than the floor."""
    believed = wall_ms if abs(wall_ms - witness_ms) <= drift_ms else witness_ms
    return max(believed, floor_ms)


class SteadyClock:
    """A :class:`~bailiwick.ports.Clock` that does not leap; from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.drift_ms = Settings().clock_drift_ms
        self._lock = threading.Lock()
        self._floor = ClockMark(0, clock.elapsed_ms())
        self._journal_ms = 0
        self._heard: dict[Against, ClockMark] = {}
        self._born = self._look_anew()

    def now_ms(self) -> int:
        """The time to tell."""
        wall_ms, elapsed_ms = self._look()
        with self._lock:
            return steady_ms(
                wall_ms=wall_ms,
                witness_ms=self._witness(elapsed_ms),
                floor_ms=self._floor.at(elapsed_ms),
                drift_ms=self.drift_ms,
            )

    def elapsed_ms(self) -> int:
        """The timer."""
        return self._clock.elapsed_ms()

    def go_on_from(self, time_ms: int) -> None:
        """The journal has come to this time, or was repaired to it: no earlier one is told."""
        elapsed_ms = self._clock.elapsed_ms()
        with self._lock:
            if self._floor.at(elapsed_ms) < time_ms or time_ms < self._journal_ms:
                self._floor = ClockMark(time_ms, elapsed_ms)
            self._journal_ms = time_ms

    def hear(self, against: Against, time_ms: int, *, asked_ms: int) -> None:
        """Another says that it is this time; the timer stood there when he was asked."""
        with self._lock:
            self._heard[against] = ClockMark(time_ms, asked_ms)

    def agreement(self) -> Agreement:
        """How the wall clock stands to the timer, and to what was heard lately."""
        wall_ms, elapsed_ms = self._look()
        with self._lock:
            others = {Against.TIMER: self._born.at(elapsed_ms)}
            for against, heard in self._heard.items():
                if elapsed_ms - heard.elapsed_ms <= KEPT_MS:
                    others[against] = heard.at(elapsed_ms)
        return judge(wall_ms, others, drift_ms=self.drift_ms)

    def believe_wall(self) -> None:
        """Hold the wall clock against the timer from here on."""
        born = self._look_anew()
        with self._lock:
            self._born = born

    def believe_journal(self) -> None:
        """The same, if it was behind the journal then, and shows the journal's time now.

        Once it is believed it is behind no more: nobody can lead it on from drift to drift.
        """
        seen = self._look_anew()
        with self._lock:
            told_ms, drift_ms = self._floor.at(seen.elapsed_ms), self.drift_ms
            was_behind = told_ms - self._born.at(seen.elapsed_ms) > drift_ms
            if was_behind and abs(seen.time_ms - told_ms) <= drift_ms:
                self._born = seen

    def wall_ms(self) -> int:
        """What the wall clock shows, right or wrong."""
        return self._clock.now_ms()

    def _look(self) -> tuple[int, int]:
        """Wall clock, then timer: who is held up between the two must not seem ahead."""
        wall_ms = self._clock.now_ms()
        return wall_ms, self._clock.elapsed_ms()

    def _look_anew(self) -> ClockMark:
        """For the same reason the other way round, where others are compared with this."""
        elapsed_ms = self._clock.elapsed_ms()
        return ClockMark(self._clock.now_ms(), elapsed_ms)

    def _witness(self, elapsed_ms: int) -> int:
        heard = self._heard.get(Against.STORE)
        is_fresh = heard is not None and elapsed_ms - heard.elapsed_ms <= KEPT_MS
        return (heard if heard is not None and is_fresh else self._born).at(elapsed_ms)

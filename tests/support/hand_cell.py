"""A leading replica whose clock is moved by hand, for what a leader plans ahead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bailiwick.kernel import Command, Envelope
from bailiwick.reconcile.timetables.planner import Timetable, TimetablePlanner
from bailiwick.runtime.replica import Replica, Role, View
from bailiwick.runtime.runner import Runner
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S


def at(text: str) -> int:
    """A moment, as UTC."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def utc(at_ms: int) -> str:
    """The other way round, to the minute."""
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).isoformat(timespec="minutes")[:16]


@dataclass
class HandClock:
    """Stands still until it is moved."""

    moment: int

    def now_ms(self) -> int:
        return self.moment

    def elapsed_ms(self) -> int:
        return self.moment


@dataclass
class LaterReader:
    """Reads the same state as at a later time, over hours that no leadership would last."""

    runner: Runner
    now_ms: int

    def read(self, look: Callable[[View], Any]) -> Any:
        return self.runner.read(lambda view: look(replace(view, now_ms=self.now_ms)))


class HandCell(ABC):
    """The replica, its clock, what its planner said, and the planner."""

    def __init__(self, folder: Path, now: str) -> None:
        self.clock, self.said, self._folder = HandClock(at(now)), list[str](), folder
        self.table = self.timetable()
        self.start()

    def start(self) -> None:
        """Lead."""
        self.runner = Runner(
            Replica(open_fresh(self._folder), self.clock, name="one"), wait_s=WAIT_S
        )
        self.runner.start()
        assert self.runner.wait_for(Role.LEADING, wait_s=WAIT_S)
        self.planner = TimetablePlanner(self.runner, self.table)

    def stop(self) -> None:
        """Lead no more."""
        self.runner.stop()

    def go_on(self, to: str) -> None:
        """Lead at another time, with the planner as it is: to jump that far ends a leadership."""
        self.stop()
        self.clock.moment = at(to)
        self.start()

    @abstractmethod
    def timetable(self) -> Timetable:
        """What is planned ahead here, by one who knows nothing but the state."""

    def another(self) -> TimetablePlanner:
        """A planner as one who leads next would have it."""
        return TimetablePlanner(self.runner, self.timetable())

    def do(self, *commands: Command) -> None:
        """Have these take effect."""
        for command in commands:
            self.runner.execute(Envelope(command))

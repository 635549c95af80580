"""The loop that plans ahead what comes back: one for each kind of thing that has a rule.

Rules:

- Local times become absolute ones in here, by this machine's table of time zones, and are sealed
  so. A decision never asks a table.
- What was planned is known to the state, not to this loop: a leader that comes after another plans
  nothing twice.
- One look plans a bounded number. What cannot be planned is said once, and hinders nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from bailiwick.kernel import Command, Envelope
from bailiwick.runtime.replica import Role
from bailiwick.runtime.runner import Runner
from bailiwick.vocab.errors import BailiwickError, Deposed, NotLeader, Unavailable

EVERY_S: Final = 30.0
PLANNED_MAX: Final = 64
"""What one look plans, or tries to."""

LOOK_MAX_S: Final = 2.0
"""How long one look goes on before it leaves the rest to the next, where that can take long."""


@dataclass(frozen=True, slots=True)
class DueTime:
    """One time that is to be planned."""

    rule: str
    """By which rule; what stands before its own name is whose it is."""
    name: str
    """What it will be called."""
    starts_ms: int
    command: Command


class Timetable(Protocol):
    """Rules of one kind, and what is known of what comes by them."""

    @property
    def name(self) -> str:
        """What its loop is called in the log."""

    @property
    def actor(self) -> str:
        """In whose name it is planned."""

    def due(self, runner: Runner) -> Iterator[DueTime]:
        """What comes and was not planned; what cannot be planned it has said itself."""

    def refused(self, time: DueTime, error: BailiwickError) -> None:
        """Be told that a time was not planned, and why."""

    def end(self) -> None:
        """Another leads now."""


class TimetablePlanner:
    """The loop's body: ``once`` plans what is missing."""

    def __init__(self, runner: Runner, timetable: Timetable, *, every_s: float = EVERY_S) -> None:
        self._runner, self._timetable, self._every_s = runner, timetable, every_s

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return self._timetable.name

    def run(self, stop: threading.Event) -> None:
        """Look now, and every now and then, until told to stop."""
        try:
            self.once()
            while not stop.wait(self._every_s):
                self.once()
        finally:
            self._timetable.end()

    def once(self) -> tuple[str, ...]:
        """Plan what comes; the names of what was planned."""
        if self._runner.replica.role is not Role.LEADING:
            return ()
        planned: list[str] = []
        table = self._timetable
        for each in islice(table.due(self._runner), PLANNED_MAX):
            trace = f"{table.actor}-{each.rule.rpartition('/')[2]}"
            try:
                self._runner.execute(Envelope(each.command, table.actor, trace))
            except (NotLeader, Deposed, Unavailable):
                break
            except BailiwickError as error:
                table.refused(each, error)
            else:
                planned.append(each.name)
        return tuple(planned)


class Sayings:
    """What was said of each rule: the same is not said again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._said = say, dict[str, str]()

    def keep(self, rules: set[str]) -> None:
        """Forget what was said of rules that are gone."""
        self._said = {rule: said for rule, said in self._said.items() if rule in rules}

    def tell(self, rule: str, text: str) -> None:
        """Say it, unless it was the last that was said of this rule."""
        if self._said.get(rule) != text:
            self._said[rule] = text
            self._say(text)

"""Simulated time: what is to happen when, and the one integer clock of a run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class Agenda:
    """Actions in order of time; at equal times, in the order in which they were planned."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._planned: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = 0

    def at(self, at_ms: int, action: Callable[[], None]) -> None:
        """Do this then; what lies in the past is done next."""
        self._serial += 1
        heappush(self._planned, (max(at_ms, self.now_ms), self._serial, action))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Do this so much later."""
        self.at(self.now_ms + delay_ms, action)

    def every(self, step_ms: int, action: Callable[[], None]) -> None:
        """Do this now, and again after each step."""

        def act() -> None:
            self.after(step_ms, act)
            action()

        self.at(self.now_ms, act)

    def run(self, until_ms: int) -> None:
        """Do everything planned before that time."""
        while self._planned and self._planned[0][0] < until_ms:  # ends: time reaches the bound
            self.now_ms, _, action = heappop(self._planned)
            action()
        self.now_ms = until_ms

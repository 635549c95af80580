"""What a leading replica does by itself: each duty in a thread of its own, from here to there.

Rules:

- Duties run only between ``begin`` and ``end``: a replica that leads no more does nothing.
- A duty is level-triggered: it looks at what is, and can be stopped and begun again at any moment.
  So one that fails for a reason that passes (a lost store, a new leader) is begun again after a
  pause that grows; any other failure ends the process, with that error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from bailiwick.vocab.errors import BailiwickError

PAUSE_S, PAUSE_MOST_S = 0.2, 5.0
END_S = 20.0
BREATH_S, BREATH_S_MOST = 0.02, 0.2


class Duty(Protocol):
    """Something to do until told to stop."""

    @property
    def name(self) -> str:
        """What it is called in the log."""

    def run(self, stop: threading.Event) -> None:
        """Do it; come back soon after ``stop`` is set."""


def breath_s(took_s: float) -> float:
    """How long to rest after a round that took so long, however often one is woken.

    As long as the round, within bounds: a duty that has much to look at leaves the processor to
    those that do what it decided.

    >>> breath_s(0.001), breath_s(0.05), breath_s(3.0)
    (0.02, 0.05, 0.2)
    """
    return min(max(took_s, BREATH_S), BREATH_S_MOST)


class Duties:
    """The duties of one replica."""

    def __init__(self, duties: Sequence[Duty], *, say: Callable[[str], None]) -> None:
        self._duties, self._say = tuple(duties), say
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.failed: BaseException | None = None

    @property
    def is_on(self) -> bool:
        """Whether they run."""
        return bool(self._threads) or not self._duties

    def begin(self) -> None:
        """Start all of them; those that run already go on."""
        if self._threads:
            return
        self._stop = stop = threading.Event()
        for duty in self._duties:
            thread = threading.Thread(
                target=self._see_through, args=(duty, stop), name=duty.name, daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def end(self) -> None:
        """Have all of them stop, and wait for that."""
        self._stop.set()
        for thread in self._threads:
            thread.join(END_S)
            if thread.is_alive():
                self._say(f"{thread.name} does not stop; it is left behind")
        self._threads = []

    def _see_through(self, duty: Duty, stop: threading.Event) -> None:
        pause_s = PAUSE_S
        while not stop.is_set():  # until told to stop
            try:
                duty.run(stop)
                pause_s = PAUSE_S
            except BailiwickError as error:
                if not error.retryable:
                    self._fail(duty, error)
                    return
                self._say(f"{duty.name} begins again: {error}")
            except BaseException as error:
                self._fail(duty, error)
                return
            stop.wait(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MOST_S)

    def _fail(self, duty: Duty, error: BaseException) -> None:
        self._say(f"{duty.name} cannot go on: {error}")
        self.failed = error

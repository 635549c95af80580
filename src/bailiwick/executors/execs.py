"""Programs inside running jobs: what an executor gives that can start them, and what moves bytes.

Rules:

- Such a program has what its job has and no more. It ends with the job at the latest.
- ``Inside.leave`` is called by whoever reads, and may be more than once: the program is then ended.
- The far end (:class:`FarEnd`) is the caller, through however many hops. Whoever pumps between the
  two keeps nothing: what the far end has no room for is not read, and the program waits.
- If the far end is gone or says that it is over, the program is ended.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from bailiwick.vocab.execs import ExecOutcome, ExecStream, ExecWish, Terminal

CHUNK_BYTES: Final = 65_536
LOOK_S: Final = 1.0
PULL_S: Final = 10.0


class ExecOver(Exception):
    """The far end wants no more of it."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the caller typed from an offset on, and what became of his terminal."""

    data: bytes
    is_closed: bool = False
    """Whether nothing follows after this."""
    terminal: Terminal | None = None


class Inside(Protocol):
    """One program inside a job."""

    def write(self, data: bytes, *, wait_s: float) -> int:
        """Give it something to read; how much of it there was room for."""

    def end_input(self) -> None:
        """Nothing more will come."""

    def resize(self, terminal: Terminal) -> None:
        """Its terminal has another size now."""

    def read(self, *, wait_s: float) -> Sequence[tuple[ExecStream, bytes]]:
        """What it wrote; nothing if it wrote nothing for so long."""

    @property
    def outcome(self) -> ExecOutcome | None:
        """How it ended, once it has and all that it wrote was read."""

    def leave(self) -> None:
        """End it, if it has not ended."""


@runtime_checkable
class Enterable(Protocol):
    """An executor that can start programs inside the jobs it runs."""

    def enter(self, lease_id: int, wish: ExecWish) -> Inside:
        """Start one; raises if the job does not run or the program cannot be run."""


class FarEnd(Protocol):
    """The caller of such a program; each call raises ``ExecOver`` once he wants no more."""

    def pull(self, offset: int, *, wait_s: float) -> Typed:
        """What he typed from there on; held back until there is something."""

    def push(self, stream: ExecStream, data: bytes) -> None:
        """Let him have what the program wrote; waits while he has no room for it."""

    def finish(self, outcome: ExecOutcome) -> None:
        """The program has ended."""


def pump(inside: Inside, far: FarEnd) -> None:
    """Move bytes both ways until the program has ended or the caller wants no more."""
    over, gone = threading.Event(), threading.Event()
    feeding = threading.Thread(
        target=_feed,
        args=(inside, far),
        kwargs={"over": over, "gone": gone},
        name="exec-input",
        daemon=True,
    )
    feeding.start()
    try:
        while not gone.is_set():  # until the program has ended
            for stream, data in inside.read(wait_s=LOOK_S):
                far.push(stream, data)
            outcome = inside.outcome
            if outcome is not None:
                far.finish(outcome)
                break
    except ExecOver:
        pass
    finally:
        over.set()
        inside.leave()


def _feed(inside: Inside, far: FarEnd, *, over: threading.Event, gone: threading.Event) -> None:
    """What is typed, until nothing more comes; ``gone`` tells that the caller is."""
    offset = 0
    try:
        while not over.is_set():  # until the program has ended
            typed = far.pull(offset, wait_s=PULL_S)
            if typed.terminal is not None:
                inside.resize(typed.terminal)
            left = typed.data
            while left and not over.is_set():  # a program may be slow to read
                left = left[inside.write(left, wait_s=LOOK_S) :]
            offset += len(typed.data)
            if typed.is_closed:
                inside.end_input()
                _await_end(far, offset, over)
                return
    except (ExecOver, OSError):
        gone.set()


def _await_end(far: FarEnd, offset: int, over: threading.Event) -> None:
    """Nothing more is typed; whether the caller is still there is asked all the same."""
    while not over.wait(LOOK_S):
        far.pull(offset, wait_s=0)

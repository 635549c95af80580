"""A copy of a state on which commands are tried: what follows is read off, the copy thrown away.

Rules:

- A trial is made from bytes (:func:`bailiwick.kernel.snapshot.encode`) and shares nothing with the
  state they were written from. So nothing that is tried can reach that state.
- Commands are decided and applied by the kernel's own code, one after the other.
- What a tick would do next is a part of the answer; it looks at no more than it always does, and
  :data:`TICKS` times.
"""

from __future__ import annotations

from hashlib import sha256

from bailiwick.kernel.commands import Command, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.slices import apply, decide
from bailiwick.kernel.snapshot import decode
from bailiwick.kernel.state import State

TICKS = 2
"""How often the line is looked at: whoever starts may make room for another's reservation."""


class StateTrial:
    """One copy, at one time."""

    def __init__(self, data: bytes, *, now_ms: int, engine: str = "auto") -> None:
        self.state: State = decode(data, sha256(data).hexdigest(), engine=engine)
        self.now_ms = max(now_ms, self.state.clock_ms)

    def do(self, command: Command) -> list[Event]:
        """Everything that follows from a command; what would be refused with an error is."""
        found = []
        for event in decide(self.state, command, self.now_ms):
            apply(self.state, event, self.now_ms)
            found.append(event)
        return found

    def look(self) -> list[Event]:
        """What the kernel does by itself now."""
        return [event for _ in range(TICKS) for event in self.do(Tick())]

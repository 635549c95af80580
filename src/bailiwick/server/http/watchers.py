"""How many may watch the journal at a time, and at what pace they are kept.

Rules:

- There are at most ``most`` watchers, and at most ``most_each`` of one principal, so that nobody
  keeps all places for himself. A place that was taken is given back, whatever ends the watch.
- Places are counted in the one event loop that serves; nothing here waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from bailiwick.server.problems import Trouble
from bailiwick.wire.problem import EdgeCode


@dataclass(slots=True, kw_only=True)
class Watchers:
    """The places, and the pace."""

    most: int = 256
    most_each: int = 16
    beat_s: float = 15.0
    """How often a watcher hears that the connection lives, if nothing else."""
    check_s: float = 45.0
    """How often a watcher's token is looked at again; with one beat more, within a minute."""
    page: int = 200
    """Records that are read at once."""
    _taken: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def count(self) -> int:
        """How many watch now."""
        return self._taken.total()

    def take(self, name: str) -> Callable[[], None]:
        """A place for this principal, or a refusal; call the result, once or more, to leave."""
        if self.count >= self.most or self._taken[name] >= self.most_each:
            message = f"at most {self.most} watch at a time, and {self.most_each} of one principal"
            raise Trouble(EdgeCode.RATE_LIMITED, message)
        self._taken[name] += 1
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._taken[name] -= 1
                self._taken += Counter()  # forget whoever has none

        return leave

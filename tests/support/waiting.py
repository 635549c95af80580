"""How tests wait: for a fact, never for a time.

Rules:

- One bound for every wait. It is no promise of the product; it only ends a test that hangs. A slow
  or busy machine may take most of it, and no test fails for that.
- Whoever waits says what for, so that a failure names the fact that never came.
- A wait looks often at first and less often later: it is short where the fact comes soon, and
  takes little from the machine where it does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WAIT_S = 240.0
"""The bound of every single wait; pytest's own, for a whole test, is larger."""
_LOOK_FIRST_S, _LOOK_LAST_S = 0.005, 0.1


def until(ask: Callable[[], T | None], what: str) -> T:
    """The first answer that is one, and not nothing, false or empty."""
    end, pause_s = time.monotonic() + WAIT_S, _LOOK_FIRST_S
    while True:  # bounded by the end
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"waited {WAIT_S:g} s in vain: {what}")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LOOK_LAST_S)

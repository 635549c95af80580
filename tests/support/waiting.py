"""How tests wait: for a fact, never for a time.

Rules:

- One bound for every wait. It is no promise of the product; it only ends a test that hangs. A slow
  or busy machine may take most of it, and no test fails for that.
- Whoever waits says what for, so that a failure names the fact that never came.
- A wait looks often at first and less often later: it is short where the fact comes soon, and
  takes little from the machine where it does not. Between two looks is at least the time that one
  takes: to look by a command of its own costs the machine what the awaited one would need.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WAIT_S = 240.0
"""The bound of every single wait; pytest's own, for a whole test, is larger."""
_LOOK_FIRST_S, _LOOK_LAST_S = 0.005, 0.1
_DEAR_LOOK_S = 1.0


def until(ask: Callable[[], T | None], what: str, *, wait_s: float = WAIT_S) -> T:
    """The first answer that is one, and not nothing, false or empty."""
    end, pause_s = time.monotonic() + wait_s, _LOOK_FIRST_S
    while True:  # bounded by the end
        began = time.monotonic()
        answer = ask()
        if answer:
            return answer
        now = time.monotonic()
        if now > end:
            raise AssertionError(f"waited {wait_s:g} s in vain: {what}")
        time.sleep(max(pause_s, min(now - began, _DEAR_LOOK_S)))
        pause_s = min(2 * pause_s, _LOOK_LAST_S)

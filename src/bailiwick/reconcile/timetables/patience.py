"""When to try again what was tried in vain.

Rules:

- First at the next look, then after twice as long each time, up to an hour.
- Sooner as it comes nearer: at least :data:`NEARER` times in what is left until it begins, if that
  is not more often than there are looks.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bailiwick.reconcile.timetables.planner import EVERY_S

AGAIN_FIRST_MS: Final = int(EVERY_S * 1000)
AGAIN_MAX_MS: Final = 3_600_000
"""After how long it is tried again: at first, and at most."""

NEARER: Final = 8


class Patience(NamedTuple):
    """How long was waited since the last try, and when the next one is."""

    wait_ms: int
    again_ms: int


def patience_after(before: Patience | None, *, starts_ms: int, now_ms: int) -> Patience:
    """When to try again what begins then, and what came before this try."""
    wait_ms = AGAIN_FIRST_MS if before is None else min(2 * before.wait_ms, AGAIN_MAX_MS)
    nearer_ms = max((starts_ms - now_ms) // NEARER, AGAIN_FIRST_MS)
    return Patience(wait_ms, now_ms + min(wait_ms, nearer_ms))

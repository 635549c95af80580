"""How long to wait after failures in a row: longer each time, bounded, and not all at once.

>>> [wait_s(failures, chance=1.0) for failures in (1, 2, 3, 50)]
[0.5, 1.0, 2.0, 300.0]
>>> wait_s(1, chance=0.0)
0.25
"""

from __future__ import annotations

from typing import Final

FIRST_S: Final = 0.5
MOST_S: Final = 300.0
_DOUBLINGS_MAX: Final = 30


def wait_s(failures: int, *, chance: float) -> float:
    """The pause after so many failures; ``chance``, from 0 to 1, spreads it over its upper half."""
    doublings = min(max(failures, 1) - 1, _DOUBLINGS_MAX)
    whole = min(FIRST_S * (1 << doublings), MOST_S)
    return whole * (0.5 + 0.5 * chance)

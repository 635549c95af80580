"""What a fresh list means for what is known: who is looked at now, who some time, who is gone.

Rules:

- What is new, or differs in anything from how it was last seen, is looked at now.
- The others are looked at too, since not all that matters to an app shows in a list,
  but spread over a while: a resync of many must not be a storm.
- What is not in the list is gone.

>>> plan_resync({1: "a", 2: "b", 3: "c"}, {2: "b", 3: "x", 4: "d"})
Resync(changed=(3, 4), same=(2,), gone=(1,))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Resync(NamedTuple):
    """Keys, each in one of three."""

    changed: tuple[int, ...]
    same: tuple[int, ...]
    gone: tuple[int, ...]


def plan_resync(known: Mapping[int, object], listed: Mapping[int, object]) -> Resync:
    """What to do about each key, in order."""
    same = {key for key, row in listed.items() if key in known and known[key] == row}
    return Resync(
        changed=tuple(sorted(listed.keys() - same)),
        same=tuple(sorted(same)),
        gone=tuple(sorted(known.keys() - listed.keys())),
    )

"""Names in Slurm of workers that projects call as they like.

Rules:

- The names of nodes are there from the start (``worker-0`` to ``worker-63``), so that Slurm takes a
  worker in without a restart. One that is called so has that name.
- Another gets the last that is free, and keeps it for as long as there is such a worker.
- Where none is free, the worker is not in Slurm.

>>> plan_slots(["controller-0", "worker-0", "vision-a", "audio-a"], {"audio-a": 63})
{'audio-a': 63, 'vision-a': 62}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

SLOTS: Final = 64
_OWN: Final = re.compile(r"worker-(0|[1-9][0-9]?)\Z")
_STEERS: Final = "controller-0"


def plan_slots(keys: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Which number each worker has that is not called by one."""
    there = {*keys}
    taken = {number for key in there if (number := own_number(key)) is not None}
    others = sorted(key for key in there if own_number(key) is None and key != _STEERS)
    found: dict[str, int] = {}
    for key in others:
        number = known.get(key, SLOTS)
        if number in range(SLOTS) and number not in taken | {*found.values()}:
            found[key] = number
    free = [n for n in reversed(range(SLOTS)) if n not in taken | {*found.values()}]
    new = [key for key in others if key not in found]
    return dict(sorted({**found, **dict(zip(new, free, strict=False))}.items()))


def own_number(key: str) -> int | None:
    """The number by which a worker is called, if it is."""
    found = _OWN.match(key)
    return int(found[1]) if found and int(found[1]) < SLOTS else None


def name_in(slots: Mapping[str, int], key: str) -> str | None:
    """What Slurm calls a member; nothing if no name was free for it."""
    if key in slots:
        return f"worker-{slots[key]}"
    return key if key == _STEERS or own_number(key) is not None else None

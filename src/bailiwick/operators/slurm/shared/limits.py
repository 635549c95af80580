"""Limits of a queue, from the words that people write in a policy to those of Slurm.

Rules:

- A word that is not known is no limit that could be kept: whoever needs it is told so, and nothing
  is opened.
- Beside every limit on one kind of GPU there is one on all GPUs, and the kinds that are not named
  have none. A limit on a kind does not hold a request that names no kind.

>>> QueueLimits.parse({"gpus-hopper": 2, "jobs": 5}, kinds=("ampere", "hopper")).tres
{'gres/gpu': 2, 'gres/gpu:ampere': 0, 'gres/gpu:hopper': 2}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

GPUS: Final = "gpus"
_KIND: Final = "gpus-"
_MIB: Final = 1_024
_COUNTS: Final = ("cpus", "jobs", "mem_gib", "minutes", "submitted", GPUS)
"""The words that can be limited; ``gpus-KIND`` as well."""


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """What may be used of a queue at a time; what is ``None`` has no limit."""

    tres: Mapping[str, int] = field(default_factory=dict)
    """By Slurm's words, of all jobs together; memory in MiB."""
    jobs: int | None = None
    submitted: int | None = None
    minutes: int | None = None
    """The longest that one job may take."""

    @classmethod
    def parse(cls, words: Mapping[str, int], *, kinds: Iterable[str]) -> QueueLimits | None:
        """Limits as a policy has them; ``None`` if a word of them is not known here."""
        known = sorted({*kinds})
        typed = {word.removeprefix(_KIND): n for word, n in words.items() if _is_kind(word)}
        others = {word: n for word, n in words.items() if not _is_kind(word)}
        if not {*typed} <= {*known} or not {*others} <= {*_COUNTS}:
            return None
        tres: dict[str, int] = {}
        if "cpus" in others:
            tres["cpu"] = others["cpus"]
        if typed:
            named = sum(typed.values())
            tres["gres/gpu"] = min(named, others.get(GPUS, named))
            tres |= {f"gres/gpu:{kind}": typed.get(kind, 0) for kind in known}
        elif GPUS in others:
            tres["gres/gpu"] = others[GPUS]
        if "mem_gib" in others:
            tres["mem"] = others["mem_gib"] * _MIB
        return cls(tres, others.get("jobs"), others.get("submitted"), others.get("minutes"))


def _is_kind(word: str) -> bool:
    return word.startswith(_KIND)

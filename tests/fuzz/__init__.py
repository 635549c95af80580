"""Fuzzing of whatever reads bytes from a node: each gives a verdict or the parser's own error.

Each ``targets_<area>.py`` beside this file has ``TARGETS``, functions from bytes that let only the
parser's own error pass, and ``SEEDS``, good inputs to start from. :mod:`tests.fuzz.test_fuzz` feeds
all of them with hypothesis, and shortly with atheris; ``python -m tests.fuzz`` runs atheris for as
long as one likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
PREFIX = "targets_"


@dataclass(frozen=True, slots=True)
class Target:
    """One parser: where it is, and what it is fed."""

    module: str
    key: str
    feed: Callable[[bytes], None]
    seeds: Sequence[bytes]

    @property
    def name(self) -> str:
        """How a person names it: the area and the parser."""
        return f"{self.module.rpartition('.')[2].removeprefix(PREFIX)}.{self.key}"


def load_targets(module: str) -> list[Target]:
    """The targets of one module."""
    found = import_module(module)
    unknown = found.SEEDS.keys() - found.TARGETS.keys()
    if unknown:
        raise ValueError(f"{module}: seeds of no target: {sorted(unknown)}")
    return [
        Target(module, key, feed, tuple(found.SEEDS.get(key, ())))
        for key, feed in found.TARGETS.items()
    ]


def all_modules() -> list[str]:
    """The modules of targets."""
    return [f"{__name__}.{path.stem}" for path in sorted(HERE.glob(f"{PREFIX}*.py"))]


def all_targets() -> list[Target]:
    """Every target there is."""
    return [target for module in all_modules() for target in load_targets(module)]

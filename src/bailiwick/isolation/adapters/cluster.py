"""What was read of a cluster: its nodes, what runs there, and what could not be seen.

Rules:

- A reader never guesses in the work's favour: what is not told is taken for shared, and is said.
- A cluster does not know tenants. Which of its own words stands for tenant and project is for the
  operator to say; labels are said by whoever submitted the work.
- What an operator knows better than the cluster (caches, fabrics, racks) is given as sites; of
  those, a node's own words fill only what is left open.
- Untrusted input: every size is bounded, and what is malformed is refused with the place of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bailiwick.fleet.topology import NodeTopology
from bailiwick.isolation.placements import Placement, Site
from bailiwick.vocab.errors import InvalidValue

ROWS_MAX = 1_000_000
"""Jobs, pods or nodes in one reading."""

UNSEEN_MAX = 100
"""What could not be seen that is named one by one."""


@dataclass(frozen=True, slots=True)
class SubjectWords:
    """Which words of a cluster stand for tenant, project and labels; empty for none."""

    tenant: str
    project: str = ""
    labels: str = ""


@dataclass(frozen=True, slots=True)
class ClusterReading:
    """One look at a cluster."""

    sites: Mapping[str, Site]
    placements: tuple[Placement, ...]
    unseen: tuple[str, ...] = ()
    """What could not be seen, in sentences."""


@dataclass(slots=True)
class Unseen:
    """Gathers what could not be seen, each thing once, and how many more there were."""

    told: dict[str, None] = field(default_factory=dict)
    more: int = 0

    def add(self, sentence: str) -> None:
        """One more."""
        if sentence not in self.told:
            if len(self.told) < UNSEEN_MAX:
                self.told[sentence] = None
            else:
                self.more += 1

    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        rest = (f"{self.more} more of the same kind",) if self.more else ()
        return (*self.told, *rest)


def site_of(node: str, known: Site | None, *, read: Site) -> Site:
    """A node as the operator knows it, with what the cluster tells where he leaves it open."""
    if known is None:
        return read
    topology = known.topology if known.topology != NodeTopology() else read.topology
    labels = {**read.labels, **known.labels}
    return Site(node, topology, known.fabrics or read.fabrics, labels)


def rows(where: str, value: Any) -> list[Any]:
    """A list of at most so many things."""
    if not isinstance(value, list) or len(value) > ROWS_MAX:
        raise InvalidValue(where, type(value).__name__, f"a list of at most {ROWS_MAX}")
    return value


def table(where: str, value: Any) -> Mapping[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise InvalidValue(where, type(value).__name__, "an object")
    return value


def text(where: str, value: Any) -> str:
    """A string; nothing for what is not told."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 4096:
        raise InvalidValue(where, value, "a string of at most 4096 characters")
    return value


def labels_in(words: str, *, apart: str = ",; ") -> dict[str, str]:
    """Labels as people write them into one line, like ``team=red, level=2``.

    >>> labels_in("team=red; urgent, level=2")
    {'team': 'red', 'level': '2'}
    """
    for mark in apart:
        words = words.replace(mark, "\n")
    pairs = (word.partition("=") for word in words.split("\n"))
    return {key: value for key, mark, value in pairs if mark and key and value}


def read_numbers(words: str) -> Iterable[int]:
    """Numbers as lists of devices are written, like ``0-2,5``.

    >>> list(read_numbers("0-2,5"))
    [0, 1, 2, 5]
    """
    for part in words.split(","):
        low, mark, high = part.partition("-")
        if not low.isdecimal() or (mark and not high.isdecimal()) or len(low + high) > 8:
            raise InvalidValue("device numbers", words, "numbers and ranges, like 0-2,5")
        first, last = int(low), int(high) if mark else int(low)
        if last - first > 4096:
            raise InvalidValue("device numbers", words, "at most 4096 in a range")
        yield from range(first, last + 1)

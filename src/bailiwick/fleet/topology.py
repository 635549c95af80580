"""What work may share: the domains of a machine, and those that machines are in.

Rules:

- A kind of domain is a way to meet: under one last-level cache, on one memory fabric of GPUs, in
  one rack. Two that hold something of the same domain share it.
- A machine's cores lie in cache domains, each in one memory node. A machine that tells of no cache
  has one: itself. One that tells of some tells of all that its cores are in.
- Rack, segment and region are labels of a node under these names. A node that does not say where it
  is shares that, unnamed, with all who do not say either: what is not known is not taken for apart.
- A GPU has the fabric that it tells; one that is joined to no other has none, and shares none.
- Names of domains are the fleet's: caches and memory nodes carry their node's name.

>>> two = NodeTopology((CacheDomain(8_000), CacheDomain(8_000, numa=1)))
>>> [cache_name("n1", index) for index in range(two.cache_count)]
['n1/cache0', 'n1/cache1']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_amount, check_integer, check_kind
from bailiwick.vocab.words import DomainKind

__all__ = [
    "CACHES_MAX",
    "INSIDE_HOST",
    "NUMA_MAX",
    "PLACES",
    "UNNAMED",
    "CacheDomain",
    "DomainKind",
    "NodeTopology",
    "cache_name",
    "numa_name",
    "place_of",
]

CACHES_MAX = 256
"""Cache domains of one machine."""

NUMA_MAX = 64
"""Memory nodes of one machine."""

UNNAMED = "?"
"""The rack, segment or region of all nodes that do not say theirs."""


INSIDE_HOST = (DomainKind.CACHE, DomainKind.NUMA)
"""Kinds of which a machine may have several that others do not reach into."""

PLACES = (DomainKind.RACK, DomainKind.SEGMENT, DomainKind.REGION)
"""Kinds that a node says by a label of that name."""


@dataclass(frozen=True, slots=True)
class CacheDomain:
    """Cores under one last-level cache, and the memory node that they are in."""

    cores_milli: int
    numa: int = 0

    def __post_init__(self) -> None:
        check_amount("cores_milli", self.cores_milli)
        check_integer("numa", self.numa, low=0, high=NUMA_MAX - 1)


@dataclass(frozen=True, slots=True)
class NodeTopology:
    """How the cores and devices of one machine hang together; empty if it does not tell."""

    caches: tuple[CacheDomain, ...] = ()
    gpu_numa: tuple[int | None, ...] = ()
    """The memory node of each device, in the order of the devices; none given: not known."""

    def __post_init__(self) -> None:
        if not isinstance(self.caches, tuple) or len(self.caches) > CACHES_MAX:
            raise InvalidValue("caches", self.caches, f"a tuple of at most {CACHES_MAX}")
        for index, cache in enumerate(self.caches):
            check_kind(f"caches[{index}]", cache, CacheDomain)
        if not isinstance(self.gpu_numa, tuple):
            raise InvalidValue("gpu_numa", self.gpu_numa, "a tuple, with one for each device")
        for index, numa in enumerate(self.gpu_numa):
            if numa is not None:
                check_integer(f"gpu_numa[{index}]", numa, low=0, high=NUMA_MAX - 1)

    @property
    def cores_milli(self) -> int:
        """The cores under all caches that the machine tells of."""
        return sum(cache.cores_milli for cache in self.caches)

    @property
    def cache_count(self) -> int:
        """How many cache domains the machine has: one if it does not tell."""
        return max(len(self.caches), 1)


def cache_name(node: str, index: int) -> str:
    """What a cache domain of a node is called in the fleet."""
    return f"{node}/cache{index}"


def numa_name(node: str, index: int) -> str:
    """What a memory node of a machine is called in the fleet."""
    return f"{node}/numa{index}"


def place_of(kind: DomainKind, labels: Mapping[str, str]) -> str:
    """The rack, segment or region of a node with these labels."""
    return labels.get(kind.value, UNNAMED)

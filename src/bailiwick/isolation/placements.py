"""What is judged: work where it runs, and what it left behind.

Rules:

- A placement is one lease, pod or job on one node, with the domains of every kind that it holds
  something of. Domains carry the fleet's names (:mod:`..fleet.topology`).
- A placement of which it is not known which part of a machine it holds, holds all of its domains of
  that kind.
- What is left behind after the last work of a rule's subjects is a residue: the domain is theirs
  until its time is over or it was scrubbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bailiwick.fleet.topology import (
    PLACES,
    DomainKind,
    NodeTopology,
    cache_name,
    numa_name,
    place_of,
)
from bailiwick.isolation.policy import Subject


@dataclass(frozen=True, slots=True)
class Placement:
    """Work on a node: whose it is, what it holds of which domains, and from when to when."""

    id: str
    subject: Subject
    node: str
    domains: Mapping[DomainKind, frozenset[str]]
    labels: Mapping[str, str] = field(default_factory=dict)
    """The node's labels, with those that attestation gave."""
    from_ms: int = 0
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Residue:
    """A domain that stays a rule's subjects' own after they left: why, and until when."""

    rule: str
    kind: DomainKind
    domain: str
    left_ms: int
    until_ms: int | None = None
    """None: until it was scrubbed."""

    def is_over(self, now_ms: int) -> bool:
        """Whether its time has passed."""
        return self.until_ms is not None and self.until_ms <= now_ms


@dataclass(frozen=True, slots=True)
class Site:
    """What a node is made of, and where it is: all that is needed to name what work holds there."""

    node: str
    topology: NodeTopology = field(default_factory=NodeTopology)
    fabrics: tuple[str, ...] = ()
    """The fabric of each device; empty for one that is joined to none."""
    labels: Mapping[str, str] = field(default_factory=dict)

    def domains(
        self, *, caches: Iterable[int] | None = None, devices: Iterable[int] | None = None
    ) -> dict[DomainKind, frozenset[str]]:
        """The domains of work that holds cores of these caches and these devices.

        ``None`` says that it is not known which: all of them.
        """
        told = self.topology.caches
        cores = range(self.topology.cache_count) if caches is None else tuple(caches)
        gpus = range(len(self.fabrics)) if devices is None else tuple(devices)
        numas = {told[index].numa if told else 0 for index in cores}
        near = self.topology.gpu_numa
        for index in gpus:
            numa = near[index] if index < len(near) else None
            if numa is None:  # it may be near any of them
                numas |= {cache.numa for cache in told} or {0}
            else:
                numas.add(numa)
        return {
            DomainKind.CACHE: frozenset(cache_name(self.node, index) for index in cores),
            DomainKind.NUMA: frozenset(numa_name(self.node, index) for index in numas),
            DomainKind.FABRIC: frozenset(filter(None, (self.fabrics[index] for index in gpus))),
            DomainKind.HOST: frozenset({self.node}),
            **{kind: frozenset({place_of(kind, self.labels)}) for kind in PLACES},
        }

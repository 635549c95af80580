"""Sets of nodes that a policy leaves open to a class, kept up to date: whole nodes, and parts.

Rules:

- A node of which every part is open is in the set as it is. One of which a part is closed is in it,
  with limits, if what is open will do for one member: of devices as many as are asked for, and
  enough free cores under caches that are open.
- A node that does not tell of two caches has its cores everywhere, and so is closed with any part
  of that. Who asks for no cores is under no cache of a node that does.
- A set is joined anew only if something changed since, and only nodes are looked at on which
  something did.
- Cores are told of in a record: only so many caches of a node are let be used that there is room to
  tell of all of them. Of which it is not told, it would count as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bailiwick.isolation.compiled import SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.scheduler.core_book import CoreBook, Cores
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.vocab.words import DomainKind

SETS_MAX = 4096
"""Sets that are kept."""

LIMITS_MAX = 1 << 19
"""Limits in all sets together; beyond that all are joined anew."""

TOLD_MAX = TEXT_MAX // 20
"""Caches of one lease that a record surely has room to tell of."""

_SOME = re.compile(rb"[^\0]")


class SetSought(NamedTuple):
    """What a set is kept for: a class, a term, and what one member takes."""

    member: SubjectClass
    term: Term
    devices: int
    cpu_milli: int


class _Kept:
    """One set that was handed out, and what it was joined from."""

    __slots__ = (
        "bits",
        "labelled",
        "labels",
        "nodes",
        "partial",
        "serial",
        "usable",
        "version",
        "versions",
    )

    def __init__(self, labels: list[NodeSet]) -> None:
        self.nodes, self.bits, self.labels = NodeSet(), -1, labels
        self.version = self.serial = -1
        self.versions: list[int] = []
        self.labelled = -1
        """The nodes with every label, as of these versions."""
        self.partial = self.usable = 0
        """The nodes of which a part is closed, and those of them where what is open will do."""


class OpenNodes:
    """The sets of one guard."""

    def __init__(self, ground: Ground, cores: CoreBook) -> None:
        self._ground, self._cores = ground, cores
        self._sets: dict[SetSought, _Kept] = {}
        self._limits = 0
        kinds = ground.inner.kinds
        self._by_cores = DomainKind.CACHE in kinds or DomainKind.NUMA in kinds
        self._by_device = DomainKind.FABRIC in kinds or DomainKind.NUMA in kinds

    def sought(
        self, member: SubjectClass, term: Term, *, devices: int, cpu_milli: int
    ) -> SetSought:
        """What is asked for, as far as it makes a difference."""
        counted = devices if self._by_device else min(devices, 1)
        return SetSought(member, term, counted, cpu_milli if self._by_cores else 0)

    def of(
        self,
        asked: SetSought,
        labels: Callable[[], list[NodeSet]],
        *,
        bytes_count: int,
        freed: Mapping[int, list[Cores]] | None = None,
    ) -> NodeSet:
        """Where somebody may go who asks for this; ``freed`` are cores that are taken for free.

        ``labels`` tells, once, the nodes with each label that is asked for.
        """
        kept = self._sets.get(asked)
        if kept is None:
            if len(self._sets) >= SETS_MAX or self._limits >= LIMITS_MAX:
                self._sets.clear()
                self._limits = 0
            kept = self._sets[asked] = _Kept(labels())
        ground, has_news = self._ground, False
        if kept.labels:
            has_news = self._read_labels(kept)
        serial = ground.inner.serial
        if kept.version == ground.version and kept.serial == serial and not has_news:
            return kept.nodes
        everyone = ground.everyone
        whole, parts = ground.closed_to(asked.member, asked.term, devices=asked.devices > 0)
        partial = parts & (everyone ^ everyone & whole) if parts else 0
        if partial or kept.partial:
            self._look(kept, asked, partial, freed=freed or {})
        kept.version, kept.serial = ground.version, serial
        # No complement: of so long numbers that takes several times as long.
        bits = everyone ^ everyone & (whole | parts) | kept.usable
        if kept.labels:
            bits &= kept.labelled
        if bits != kept.bits:
            kept.bits = bits
            kept.nodes.bits = bytearray(bits.to_bytes(bytes_count, "little"))
            kept.nodes.version += 1
        return kept.nodes

    @staticmethod
    def _read_labels(kept: _Kept) -> bool:
        """Bring up to date which nodes have the labels; whether it may be others than before."""
        versions = [each.version for each in kept.labels]
        if versions == kept.versions:
            return False
        kept.versions, kept.labelled = versions, -1
        for labelled in kept.labels:
            kept.labelled &= int.from_bytes(labelled.bits, "little")
        return True

    def _look(
        self, kept: _Kept, asked: SetSought, partial: int, *, freed: Mapping[int, list[Cores]]
    ) -> None:
        """Bring up to date what is open of nodes of which a part is closed."""
        changed = self._ground.inner.changed_since(kept.serial) if kept.serial >= 0 else None
        if changed is None:
            todo = set(handles_of(partial | kept.partial))
        else:
            todo = set(handles_of(partial ^ kept.partial))
            if changed:
                told = partial.to_bytes(-(-partial.bit_length() // 8), "little")
                end = 8 * len(told)
                todo.update(h for h in set(changed) if h < end and told[h >> 3] >> (h & 7) & 1)
        nodes, before = kept.nodes, _limits_in(kept.nodes)
        for handle in todo:
            caches = devices = None
            kept.usable &= ~(1 << handle)
            if partial >> handle & 1:
                found = self._limits_of(asked, handle, freed.get(handle, ()))
                if found is not None:
                    kept.usable |= 1 << handle
                    caches, devices = found
            nodes.limit_caches(handle, caches)
            nodes.limit_devices(handle, devices)
        kept.partial = partial
        self._limits += _limits_in(nodes) - before

    def _limits_of(
        self, asked: SetSought, handle: int, freed: Sequence[Cores]
    ) -> tuple[int | None, int | None] | None:
        """The caches and devices that are open, where not all are; nothing if they will not do."""
        inner, cores = self._ground.inner, self._cores
        every = inner.all_parts(handle)
        found = inner.open_parts(asked.member, asked.term, handle=handle)
        caches = None if found.caches == every.caches else found.caches
        if caches is not None:
            if not cores.is_kept(handle):
                return None
            caches = _first(caches, TOLD_MAX)
            if self.room(handle, caches, freed=freed) < asked.cpu_milli:
                return None
        devices = None if found.devices == every.devices else found.devices
        if not asked.devices:
            devices = None
        elif devices is not None and devices.bit_count() < asked.devices:
            return None
        return caches, devices

    def room(self, handle: int, caches: int, *, freed: Sequence[Cores]) -> int:
        """The milli-cores under these caches that are free, or taken for free."""
        back = (milli for each in freed for cache, milli in each if caches >> cache & 1)
        return self._cores.room(handle, caches) + sum(back)


def copy_of(nodes: NodeSet) -> NodeSet:
    """The same nodes with the same limits, as they are now."""
    found = NodeSet()
    found.bits = bytearray(nodes.bits)
    found.devices, found.caches = dict(nodes.devices), dict(nodes.caches)
    return found


def handles_of(bits: int) -> Iterator[int]:
    """The nodes that are in a set of bits: few, so bytes without any are skipped by a pattern."""
    told = bits.to_bytes(-(-bits.bit_length() // 8), "little")
    for match in _SOME.finditer(told):
        at, byte = 8 * match.start(), match[0][0]
        yield from (at + bit for bit in range(8) if byte >> bit & 1)


def _limits_in(nodes: NodeSet) -> int:
    return len(nodes.caches) + len(nodes.devices)


def _first(bits: int, most: int) -> int:
    """The first so many of these bits."""
    while bits.bit_count() > most:
        bits &= ~(1 << bits.bit_length() - 1)
    return bits

"""An isolation policy over ledgers that no kernel keeps: the library's hard filter.

Rules:

- One :class:`Isolation` knows what runs in all ledgers it is over, and hands each a filter for its
  scorer. So cells of a federation that are in one region share it. Racks, segments, regions and
  fabrics are one wherever they have one name; machines of two cells never are.
- Told by the ledger of every lease, it answers from sets that follow what happens
  (:mod:`.isolation.ground`), as :mod:`.isolation.judge` says. A ledger has no lease when it joins.
- A ledger does not tell cores apart: work is under every cache of its node. Devices it does, so of
  a node of which some are closed the open ones can be had, if they are enough.
- A request is judged to the end of its term, and a lease again before it stays longer. Nobody
  counts on somebody else's end. ``ledger.grant`` asks nobody, and what it grants counts.

>>> from bailiwick import AdmissionController, CapacityLedger, NodeCapacity, PlacementScorer
>>> ledger = CapacityLedger()
>>> for name in ("n1", "n2"):
...     _ = ledger.register_node(name, NodeCapacity(cpu_cores=8, mem_bytes=0))
>>> vault = Isolation.reading("vault: dedicated host for tenant bank").over(ledger)
>>> admission = AdmissionController(ledger, scorer=PlacementScorer(filters=[vault]))
>>> for tenant in ("bank", "lab"):
...     ask = PlacementRequest(tenant=tenant, cpu_cores=1)
...     print(admission.admit(ask, now_ms=0).node)
n1
n2
>>> both = PlacementRequest(tenant="bank", cpu_cores=7, gang_size=2)
>>> admission.evaluate(both, now_ms=1).detail
NodesKeptApart(nodes=1, rule='vault')
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

from bailiwick.apart.outlook import RequestOutlook
from bailiwick.fleet.node import ATTESTED_PREFIX
from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.outlook import NEVER_MS
from bailiwick.isolation.placements import Residue, Site
from bailiwick.isolation.policy import OnlyOn, Policy, Subject
from bailiwick.isolation.terrain import HeldParts
from bailiwick.scheduler.backfill.projection import ends_on
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeFilter, NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import Conflict, LimitReached
from bailiwick.vocab.values import check_kind

NODES_MAX = 1 << 17
"""Nodes of one ledger: each has so many numbers of its own."""

LEDGERS_MAX = 64
"""Ledgers under one policy."""

SETS_MAX = 1024
"""Sets that are kept for one ledger."""

_NEVER = 2**62
_Key: TypeAlias = tuple[str, DomainKind, str]
"""Rule, kind and domain of what is left behind."""


class _Asked(NamedTuple):
    """What a set is kept for."""

    member: SubjectClass
    term: Term
    devices: int


class _Kept:
    """A set that was handed out, and what it was joined from."""

    def __init__(self, labels: list[NodeSet]) -> None:
        self.nodes, self.labels = NodeSet(), labels
        self.seen: tuple[int, ...] = ()


class Isolation:
    """A policy, and what runs under it in one ledger or in several."""

    def __init__(self, policy: Policy) -> None:
        self.policy = check_kind("policy", policy, Policy)
        self.compiled = CompiledPolicy(policy)
        self.ground = Ground(self.compiled)
        self.now_ms = 0
        self.members: list[IsolationFilter] = []
        self._left: dict[_Key, Residue] = {}
        self._next_ms = _NEVER
        """When the first of those is over."""
        self._stay: dict[_Key, int] = {}
        """How many leases there are that will leave something behind."""
        self._leaving: dict[int, tuple[_Key, ...]] = {}

    @classmethod
    def reading(cls, text: str) -> Isolation:
        """The policy that a text says."""
        return cls(parse_policy(text))

    def over(self, ledger: CapacityLedger, *, cell: str = "") -> IsolationFilter:
        """A filter for admission to this ledger; of several, each has a cell's name."""
        check_kind("ledger", ledger, CapacityLedger)
        if any(cell == each.cell for each in self.members):
            raise Conflict("cell", cell, "is under the policy already", hint="name each cell")
        if len(self.members) >= LEDGERS_MAX:
            raise LimitReached("ledgers under one policy", LEDGERS_MAX)
        if ledger.engine.counters()["leases"]:
            raise Conflict("ledger", cell, "has leases", hint="join before the first lease")
        self.members.append(IsolationFilter(self, ledger, cell=cell, number=len(self.members)))
        return self.members[-1]

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        self.now_ms = now_ms
        if now_ms >= self._next_ms:
            self._left = {key: left for key, left in self._left.items() if not left.is_over(now_ms)}
            self._use_left()

    def residues(self) -> tuple[Residue, ...]:
        """What was left behind and is not over, by rule, kind and domain."""
        return tuple(left for _, left in sorted(self._left.items(), key=lambda row: row[0]))

    def scrub(self, kind: DomainKind, domain: str) -> None:
        """Nothing is left in the domain any more; of a host, in what is inside it."""
        inside = f"{domain}/" if kind is DomainKind.HOST else None
        for key in list(self._left):
            if key[1:] == (kind, domain) or (inside and key[2].startswith(inside)):
                del self._left[key]
        self._use_left()

    def _use_left(self) -> None:
        self.ground.use_residues(self._left.values())
        ends = (each.until_ms for each in self._left.values() if each.until_ms is not None)
        self._next_ms = min(ends, default=_NEVER)

    def begin(
        self, key: int, member: SubjectClass, *, handle: int, site: Site, devices: tuple[int, ...]
    ) -> None:
        """Work began."""
        self.ground.begin(key, member, handle=handle, parts=HeldParts(devices))
        lingers = [e.rule for e in self.compiled.lingers if member.selected & e.whose]
        if not lingers:
            return
        domains = site.domains(devices=devices)
        kept = [(rule.name, kind, at) for rule in lingers for kind in rule.kinds
                for at in domains[kind]]  # fmt: skip
        self._leaving[key] = tuple(kept)
        for each in kept:
            self._stay[each] = self._stay.get(each, 0) + 1

    def end(self, key: int, *, now_ms: int) -> None:
        """Work is over; where it was the last of a rule's, something is left behind."""
        self.ground.end(key)
        at_ms = max(now_ms, self.now_ms)  # nothing is left in the past
        spans = {each.rule.name: each.rule.for_ms for each in self.compiled.lingers}
        for each in self._leaving.pop(key, ()):
            self._stay[each] -= 1
            if self._stay[each]:
                continue
            span = spans[each[0]]
            del self._stay[each]
            until_ms = None if span is None else at_ms + span
            self._left[each] = Residue(*each, left_ms=at_ms, until_ms=until_ms)
            self._use_left()


class IsolationFilter:
    """A policy between requests and the nodes of one ledger; see :meth:`Isolation.over`."""

    def __init__(
        self, isolation: Isolation, ledger: CapacityLedger, *, cell: str, number: int
    ) -> None:
        self.isolation, self.ledger, self.cell = isolation, ledger, cell
        self._number, self._first = number, number * NODES_MAX
        self.changes = 0
        self._sets: dict[_Asked, _Kept] = {}
        self._members: dict[int, SubjectClass] = {}
        for entry in ledger.entries.values():
            self.node_joined(entry)
        ledger.watchers.add(self)

    # -- being told, by the ledger -----------------------------------------------------------

    def node_joined(self, entry: NodeEntry) -> None:
        """A node is there."""
        if entry.handle >= NODES_MAX:
            raise LimitReached("nodes under a policy", NODES_MAX)
        self.isolation.ground.join(self._first + entry.handle, self.site_of(entry))

    def node_left(self, entry: NodeEntry) -> None:
        """A node is gone."""
        self.isolation.ground.leave(self._first + entry.handle)

    def site_of(self, entry: NodeEntry) -> Site:
        """What a node is made of, and where it is; of several cells, named with its own."""
        capacity = entry.capacity
        name = f"{self.cell}:{entry.id}" if self.cell else str(entry.id)
        fabrics = tuple(gpu.fabric for gpu in capacity.gpus)
        return Site(name, capacity.topology, fabrics, {**capacity.labels, **entry.attested})

    def began(self, request: PlacementRequest, lease_ids: Sequence[int]) -> None:
        """These leases were granted."""
        self.changes += 1
        member = self._class_of(request)
        for lease_id in lease_ids:
            self._members[lease_id] = member
            fields = self.ledger.fields(lease_id)
            entry = self.ledger.entry(self.ledger.node_at(fields.node))
            held = tuple(at for at in range(len(entry.capacity.gpus)) if fields.devices >> at & 1)
            where, site = self._first + entry.handle, self.site_of(entry)
            self.isolation.begin(self._key(lease_id), member, handle=where, site=site, devices=held)

    def ended(self, lease_id: int, *, now_ms: int) -> None:
        """What a lease held is free."""
        self.changes += 1
        del self._members[lease_id]
        self.isolation.end(self._key(lease_id), now_ms=now_ms)

    def stay_breaks(self, lease_id: int, *, ttl_ms: int, now_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is for so long from now."""
        self.look(now_ms)
        key, handle = self._key(lease_id), self.ledger.fields(lease_id).node
        term = self.isolation.compiled.term(now_ms, now_ms + ttl_ms)
        broken = self.isolation.ground.broken_by(key, term)
        for each in self._bound_by(self._members[lease_id], term):
            if not self._having((each,)) >> handle & 1:
                broken.add(each.rule.name)
        return min(broken, default=None)

    def _key(self, lease_id: int) -> int:
        return lease_id * LEDGERS_MAX + self._number

    # -- asking ------------------------------------------------------------------------------

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        self.isolation.look(now_ms)

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        """Where the request may run now."""
        asked = self._asked(request)
        kept = self._sets.get(asked)
        if kept is None:
            if len(self._sets) >= SETS_MAX:
                self._sets.clear()
            kept = self._sets[asked] = _Kept(self._labels(self._bound_by(*asked[:2])))
        ground = self.isolation.ground
        versions = (each.version for each in kept.labels)
        seen = (ground.version, ground.inner.serial, len(self.ledger.by_handle), *versions)
        if kept.seen != seen:
            self._join(kept, asked)
            kept.seen = seen
        return kept.nodes

    def _join(self, kept: _Kept, asked: _Asked) -> None:
        ground, nodes = self.isolation.ground, kept.nodes
        whole, parts = ground.closed_to(asked.member, asked.term, devices=bool(asked.devices))
        bits = self._own(ground.everyone & ~(whole | parts))
        limits: dict[int, int] = {}
        for handle in _handles(self._own(ground.everyone & parts & ~whole)):
            every = ground.inner.all_parts(self._first + handle)
            found = ground.inner.open_parts(asked.member, asked.term, handle=self._first + handle)
            if found.caches != every.caches or found.devices.bit_count() < asked.devices:
                continue
            bits |= 1 << handle
            if asked.devices and found.devices != every.devices:
                limits[handle] = found.devices
        for labelled in kept.labels:
            bits &= int.from_bytes(labelled.bits, "little")
        nodes.bits = self._bytes(bits)
        nodes.devices = {handle: left for handle, left in limits.items() if bits >> handle & 1}
        nodes.version += 1

    def nodes_beside(self, request: PlacementRequest, placed: Sequence[int]) -> NodeSet | None:
        """Where a further member of a gang may run, with others on these nodes."""
        (member, term, devices), ground = self._asked(request), self.isolation.ground
        where = [self._first + handle for handle in placed]
        closed = ground.beside(member, term, placed=where, devices=bool(devices))
        return self._node_set(ground.everyone & ~closed) if closed else None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request now, by the rule's name."""
        member, term, devices = self._asked(request)
        found = self.isolation.ground.by_rule(member, term, devices=bool(devices))
        counted = {name: self._own(bits) for name, bits in found.items()}
        everyone = self._own(self.isolation.ground.everyone)
        for each in self._bound_by(member, term):
            counted[each.rule.name] = everyone & ~self._having((each,))
        # A node of which what is open will do is not closed.
        shut = ~int.from_bytes(self.nodes_for(request).bits, "little")
        counts = {name: (bits & shut).bit_count() for name, bits in counted.items()}
        return {name: count for name, count in counts.items() if count}

    @property
    def lasting(self) -> NodeFilter:
        """The part of the policy that no waiting clears."""
        return _Lasting(self)

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Where it might run if nothing else did. None at all: it can never be placed whole."""
        member, _, devices = self._asked(request)
        compiled, ground = self.isolation.compiled, self.isolation.ground
        rules = [e for e in compiled.only_on if not e.window and member.selected & e.whose]
        bits = self._own(ground.everyone)
        for nodes in self._labels(rules, lasting=True):
            bits &= int.from_bytes(nodes.bits, "little")
        most = ground.most_members(member, bits << self._first, devices=bool(devices))
        if most is not None and most < request.gang_size:
            return NodeSet()
        return self._node_set(bits << self._first) if rules else None

    def without(self, lease_ids: Collection[int]) -> AbstractContextManager[None]:
        """As if these leases had ended, and had left behind what they will."""
        return self.isolation.ground.without([self._key(lease_id) for lease_id in lease_ids])

    def outlook(self, terms: Mapping[int, int]) -> RequestOutlook:
        """A look ahead; ``terms`` are ends that some leases here are taken to have."""

        def ends(handle: int) -> Iterator[tuple[int, int]]:
            cell, node = divmod(handle, NODES_MAX)
            return self.isolation.members[cell].ends(node, {} if cell != self._number else terms)

        ground, how, having = self.isolation.ground, self._class_of, self._having_for
        return RequestOutlook(ground, ends, class_of=how, having=having, first=self._first)

    def ends(self, node: int, terms: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """The work on a node, and when each ends."""
        now_ms = self.isolation.now_ms
        for lease, at_ms in ends_on(self.ledger, node, now_ms=now_ms, terms=terms):
            yield self._key(lease), NEVER_MS if at_ms is None else at_ms

    def _asked(self, request: PlacementRequest) -> _Asked:
        now_ms = self.isolation.now_ms
        term = self.isolation.compiled.term(now_ms, now_ms + request.ttl_ms)
        return _Asked(self._class_of(request), term, request.device_count)

    def _class_of(self, request: PlacementRequest) -> SubjectClass:
        project = None if request.project is None else str(request.project)
        subject = Subject(str(request.tenant), project, request.job_labels)
        return self.isolation.compiled.class_of(subject)

    def _bound_by(self, member: SubjectClass, term: Term) -> list[LimitRule[OnlyOn]]:
        rules = self.isolation.compiled.only_on
        return [each for each in rules if each.binds(member.selected, term)]

    def _labels(
        self, rules: Iterable[LimitRule[OnlyOn]], *, lasting: bool = False
    ) -> list[NodeSet]:
        """The nodes with each label that is asked for; ``lasting`` ones no proof can give."""
        labels = [label for each in rules for label in each.rule.labels]
        kept = [e for e in labels if not (lasting and e[0].startswith(ATTESTED_PREFIX))]
        return [self.ledger.labelled.nodes_with(label) for label in kept]

    def _having(self, rules: Iterable[LimitRule[OnlyOn]]) -> int:
        bits = self._own(self.isolation.ground.everyone)
        for nodes in self._labels(rules):
            bits &= int.from_bytes(nodes.bits, "little")
        return bits

    def _having_for(self, member: SubjectClass, term: Term) -> int:
        return self._having(self._bound_by(member, term))

    def _own(self, bits: int) -> int:
        """Of nodes of all ledgers, those of this one."""
        return bits >> self._first & (1 << NODES_MAX) - 1

    def _bytes(self, bits: int) -> bytearray:
        return bytearray(bits.to_bytes(len(self.ledger.by_handle) // 8 + 1, "little"))

    def _node_set(self, bits: int) -> NodeSet:
        found = NodeSet()
        found.bits = self._bytes(self._own(bits))
        return found


class _Lasting(NamedTuple):
    """What of a policy no waiting clears."""

    policy: IsolationFilter

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """Where the policy might ever let the request run."""
        return self.policy.nodes_ever(request)


def _handles(bits: int) -> Iterable[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1

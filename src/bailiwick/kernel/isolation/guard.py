"""The policy of isolation between requests and nodes: sets that follow what happens.

Rules:

- It knows of every lease and every claimant's seat by class and domain
  (:mod:`bailiwick.isolation.ground`), and hands out one set of nodes for each class and term. A
  set is joined anew only if something changed since, from parts of which most did not.
- A request is judged from now to the end of its term: what opens or ends within counts already.
- What no waiting clears is what holds always, whoever runs: labels that a node cannot come to have,
  and how many of one gang may be together.
- A lease that is to stay longer is judged without itself; what others left behind before is not in
  its way, as it was there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from bailiwick.fleet.node import ATTESTED_PREFIX
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import OnlyOn, Policy
from bailiwick.isolation.terrain import HeldParts
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.isolation.book import IsolationBook
from bailiwick.kernel.isolation.subjects import subject_of, subject_of_request
from bailiwick.kernel.state import State
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest

CLASSES_MAX = 4096
"""Owners whose class is remembered, and sets that are kept."""

_NEVER = 2**62


class _Kept:
    """One set that was handed out, and what it was joined from."""

    __slots__ = ("bits", "labels", "nodes", "version", "versions")

    def __init__(self, labels: list[NodeSet]) -> None:
        self.nodes, self.bits, self.labels = NodeSet(), -1, labels
        self.version = -1
        self.versions: list[int] = []


class IsolationGuard:
    """A policy that knows what runs where."""

    def __init__(
        self,
        policy: Policy,
        ledger: CapacityLedger,
        *,
        book: IsolationBook,
    ) -> None:
        self.compiled = CompiledPolicy(policy)
        self.ground = Ground(self.compiled)
        self._ledger, self._book = ledger, book
        self._now_ms = 0
        self._left_until_ms = -1
        """When what was left behind is to be asked for again."""
        self._handles: dict[str, int] = {}
        self._classes: dict[object, SubjectClass] = {}
        self._terms: dict[int, Term] = {}
        self._asked_last: tuple[PlacementRequest | None, SubjectClass] = None, SubjectClass(0, ())
        self._sets: dict[tuple[SubjectClass, Term, bool], _Kept] = {}
        self._where: dict[int, HeldLease] = {}
        for entry in ledger.entries.values():
            self._join(entry)

    # -- being told --------------------------------------------------------------------------

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        if now_ms != self._now_ms:
            self._now_ms = now_ms
            self._terms.clear()
        if now_ms >= self._left_until_ms and self.compiled.lingers:
            left = self._book.residues_at(now_ms)
            ends = (each.until_ms for each in left if each.until_ms is not None)
            self._left_until_ms = min(ends, default=_NEVER)
            self.ground.use_residues(left)

    def left_behind(self) -> None:
        """What was left behind has changed: it is asked for again."""
        self._left_until_ms = -1

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """A lease began, or (below zero) room is kept for one that is to begin."""
        bits = held.devices
        devices = tuple(at for at in range(bits.bit_length()) if bits >> at & 1) if bits else ()
        self._where[lease_id] = held
        self.ground.begin(
            lease_id,
            self._class_of(held),
            handle=self._handles[held.node],
            parts=HeldParts(devices),
            runs=lease_id >= 0,
        )

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        self._where.pop(lease_id, None)
        for key in self.ground.end(lease_id):
            left = self._book.residues.get(key)
            if left is not None and self._left_until_ms >= 0:
                self.ground.add_residue(left)
                until_ms = _NEVER if left.until_ms is None else left.until_ms
                self._left_until_ms = min(self._left_until_ms, until_ms)

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""
        if node in self._handles:
            self.ground.leave(self._handles.pop(node))
        if node in self._ledger.entries:
            self._join(self._ledger.entry(node))

    def _join(self, entry: NodeEntry) -> None:
        capacity = entry.capacity
        fabrics = tuple(gpu.fabric for gpu in capacity.gpus)
        site = Site(str(entry.id), capacity.topology, fabrics, capacity.labels)
        self._handles[str(entry.id)] = entry.handle
        self.ground.join(entry.handle, site)

    # -- asking ------------------------------------------------------------------------------

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request may run now, if these leases were gone; ``None`` for everywhere."""
        member, term, devices = self._asked(request)
        if without:
            with self.ground.without(without):
                return self._node_set(self._open_to(member, term, devices=devices))
        key = member, term, devices
        kept = self._sets.get(key)
        if kept is None:
            if len(self._sets) >= CLASSES_MAX:
                self._sets.clear()
            kept = self._sets[key] = _Kept(self._labels(self._bound_by(member, term)))
        versions = [each.version for each in kept.labels]
        if kept.version != self.ground.version or kept.versions != versions:
            kept.version, kept.versions = self.ground.version, versions
            bits = self.ground.open_to(member, term, devices=devices)
            for labelled in kept.labels:
                bits &= int.from_bytes(labelled.bits, "little")
            if bits != kept.bits:
                kept.bits = bits
                kept.nodes.bits = self._bytes_of(bits)
                kept.nodes.version += 1
        return kept.nodes

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Where it might run if nothing else did. None at all: it can never be placed whole."""
        member, _, devices = self._asked(request)
        rules = [each for each in self.compiled.only_on if not each.window]
        rules = [each for each in rules if member.selected & each.whose]
        bits = self.ground.everyone
        for nodes in self._labels(rules, lasting=True):
            bits &= int.from_bytes(nodes.bits, "little")
        most = self.ground.most_members(member, bits, devices=devices)
        if most is not None and most < request.gang_size:
            return NodeSet()
        return self._node_set(bits) if rules else None

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where a further member of a gang may run, with others on these nodes."""
        member, term, devices = self._asked(request)
        if without:
            with self.ground.without(without):
                closed = self.ground.beside(member, term, placed=placed, devices=devices)
        else:
            closed = self.ground.beside(member, term, placed=placed, devices=devices)
        return self._node_set(self.ground.everyone & ~closed) if closed else None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request now, by the rule's name."""
        member, term, devices = self._asked(request)
        found = self.ground.by_rule(member, term, devices=devices)
        for each in self._bound_by(member, term):
            closed = self.ground.everyone & ~self._having((each,))
            if closed:
                found[each.rule.name] = closed
        return {name: bits.bit_count() for name, bits in found.items()}

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is for so long from now."""
        held = self._where[lease_id]
        member, handle = self._class_of(held), self._handles[held.node]
        term = self.compiled.term(self._now_ms, self._now_ms + ttl_ms)
        with self.ground.without((lease_id,), leaving=False):
            found = self.ground.by_rule(member, term, devices=bool(held.devices), left=False)
        for each in self._bound_by(member, term):
            found[each.rule.name] = self.ground.everyone & ~self._having((each,))
        broken = (name for name, bits in found.items() if bits >> handle & 1)
        return min(broken, default=None)

    def _asked(self, request: PlacementRequest) -> tuple[SubjectClass, Term, bool]:
        known, member = self._asked_last
        if known is not request:
            key = request.tenant, request.project, tuple(request.job_labels.items())
            found = self._classes.get(key)
            if found is None:
                if len(self._classes) >= CLASSES_MAX:
                    self._classes.clear()
                found = self._classes[key] = self.compiled.class_of(subject_of_request(request))
            member = found
            self._asked_last = request, member
        term = self._terms.get(request.ttl_ms)
        if term is None:
            term = self.compiled.term(self._now_ms, self._now_ms + request.ttl_ms)
            self._terms[request.ttl_ms] = term
        return member, term, bool(request.device_count)

    def _class_of(self, held: HeldLease) -> SubjectClass:
        key = held.owner.tenant, held.owner.project, tuple(held.job_labels.items())
        member = self._classes.get(key)
        if member is None:
            member = self.compiled.class_of(subject_of(held.owner, held.job_labels))
        return member

    def _open_to(self, member: SubjectClass, term: Term, *, devices: bool) -> int:
        bits = self.ground.open_to(member, term, devices=devices)
        rules = self._bound_by(member, term)
        return bits & self._having(rules) if rules else bits

    def _bound_by(self, member: SubjectClass, term: Term) -> list[LimitRule[OnlyOn]]:
        """The rules about nodes that bind the class within the term."""
        return [each for each in self.compiled.only_on if each.binds(member.selected, term)]

    def _labels(
        self, rules: Iterable[LimitRule[OnlyOn]], *, lasting: bool = False
    ) -> list[NodeSet]:
        """The nodes with each label that is asked for; ``lasting`` ones no proof can give."""
        return [
            self._ledger.labelled.nodes_with(label)
            for each in rules
            for label in each.rule.labels
            if not (lasting and label[0].startswith(ATTESTED_PREFIX))
        ]

    def _bytes_of(self, bits: int) -> bytearray:
        return bytearray(bits.to_bytes(len(self._ledger.by_handle) // 8 + 1, "little"))

    def _node_set(self, bits: int) -> NodeSet:
        found = NodeSet()
        found.bits = self._bytes_of(bits)
        return found

    def _having(self, rules: Iterable[LimitRule[OnlyOn]]) -> int:
        bits = self.ground.everyone
        for nodes in self._labels(rules):
            bits &= int.from_bytes(nodes.bits, "little")
        return bits


def guard_of(state: State) -> IsolationGuard:
    """A guard for the policy in force that knows of every lease; who adds it tells of claims."""
    book = state.isolation
    guard = IsolationGuard(book.policy, state.ledger, book=book)
    for lease_id in state.leases:
        labels = state.job_labels.get(lease_id, {})
        devices = state.fields(lease_id).devices
        held = HeldLease(state.owner_of(lease_id), labels, state.node_of(lease_id), devices)
        guard.granted(lease_id, held)
    return guard


def stand_guard(state: State) -> None:
    """The policy in force binds everybody from now on, and none before it does."""
    for each in _guards(state):
        state.guards.drop(each)
    if state.isolation.policy.rules:
        state.guards.add(guard_of(state))


def note_scrub(state: State) -> None:
    """What was left behind has changed."""
    for each in _guards(state):
        each.left_behind()


def _guards(state: State) -> list[IsolationGuard]:
    return [each for each in state.guards.policies if isinstance(each, IsolationGuard)]

"""The policy of isolation between requests and nodes: sets that follow what happens.

Rules:

- It knows of every lease and every claimant's seat by class and domain
  (:mod:`bailiwick.isolation.ground`), and hands out one set of nodes for each class, term and
  shape (:mod:`.open_nodes`): of a node of which some part is closed, the parts that are open.
- A request is judged from now to the end of its term: what opens or ends within counts already.
- What no waiting clears is what holds always, whoever runs: labels that a node cannot come to have,
  and how many of one gang may be together.
- A lease that is to stay longer is judged without itself; what others left behind before is not in
  its way, as it was there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from bailiwick.apart.outlook import RequestOutlook
from bailiwick.fleet.node import ATTESTED_PREFIX
from bailiwick.isolation.compiled import CompiledPolicy, LimitRule, SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.outlook import NEVER_MS
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import OnlyOn, Policy
from bailiwick.isolation.terrain import HeldParts
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.isolation.book import IsolationBook
from bailiwick.kernel.isolation.open_nodes import OpenNodes, SetSought, copy_of
from bailiwick.kernel.isolation.subjects import subject_of, subject_of_request
from bailiwick.kernel.state import State
from bailiwick.scheduler.backfill.projection import ends_on
from bailiwick.scheduler.core_book import CoreBook, Cores
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest

CLASSES_MAX = 4096
"""Owners whose class is remembered."""

_NEVER = 2**62


class IsolationGuard:
    """A policy that knows what runs where."""

    def __init__(
        self,
        policy: Policy,
        ledger: CapacityLedger,
        *,
        book: IsolationBook,
        cores: CoreBook,
        ids: Mapping[int, int],
    ) -> None:
        self.compiled = CompiledPolicy(policy)
        self.ground = Ground(self.compiled)
        self._open = OpenNodes(self.ground, cores)
        self._ledger, self._book, self._cores, self._ids = ledger, book, cores, ids
        self.changes = 0
        self._now_ms = 0
        self._left_until_ms = -1
        """When what was left behind is to be asked for again."""
        self._handles: dict[str, int] = {}
        self._classes: dict[object, SubjectClass] = {}
        self._terms: dict[int, Term] = {}
        self._sought: dict[object, SetSought] = {}
        """What was sought by whom at this time: class and term of the same are the same."""
        self._asked_last: tuple[PlacementRequest | None, SubjectClass] = None, SubjectClass(0, ())
        self._where: dict[int, HeldLease] = {}
        self._devices: dict[int, tuple[int, ...]] = {}
        """Which devices some bits are, as was asked before."""
        self._seats: dict[int, int] = {}
        """The nodes of those for whom room is kept."""
        for entry in ledger.entries.values():
            self._join(entry)

    # -- being told --------------------------------------------------------------------------

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        if now_ms != self._now_ms:
            self._now_ms = now_ms
            self._terms.clear()
            self._sought.clear()
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
        devices = (self._devices.get(bits) or self._devices_in(bits)) if bits else ()
        self._where[lease_id], handle = held, self._handles[held.node]
        self.changes += 1
        if lease_id < 0:
            self._seats[lease_id] = handle
        self.ground.begin(
            lease_id,
            self._class_of(held),
            handle=handle,
            parts=HeldParts(devices, held.caches),
            runs=lease_id >= 0,
        )

    def _devices_in(self, bits: int) -> tuple[int, ...]:
        if len(self._devices) >= CLASSES_MAX:
            self._devices.clear()
        found = tuple(at for at in range(bits.bit_length()) if bits >> at & 1)
        self._devices[bits] = found
        return found

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        self._where.pop(lease_id, None)
        self.changes += 1
        if lease_id < 0:
            self._seats.pop(lease_id, None)
        for key in self.ground.end(lease_id):
            left = self._book.residues.get(key)
            if left is not None and self._left_until_ms >= 0:
                self.ground.add_residue(left)
                until_ms = _NEVER if left.until_ms is None else left.until_ms
                self._left_until_ms = min(self._left_until_ms, until_ms)

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""
        self.changes += 1
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
        asked = self._as_asked(request)
        if not without:
            return self._nodes_for(asked)
        with self.ground.without(without):
            return copy_of(self._nodes_for(asked, freed=self._freed(without)))

    def _as_asked(self, request: PlacementRequest) -> SetSought:
        count, milli = request.device_count, request.cpu_milli
        who = request.tenant, request.project, *request.job_labels.items()
        key = who, request.ttl_ms, count, milli
        found = self._sought.get(key)
        if found is None:
            if len(self._sought) >= CLASSES_MAX:
                self._sought.clear()
            member, term, _ = self._asked(request)
            found = self._open.sought(member, term, devices=count, cpu_milli=milli)
            self._sought[key] = found
        self._asked_last = request, found.member
        return found

    def _nodes_for(
        self, asked: SetSought, *, freed: Mapping[int, list[Cores]] | None = None
    ) -> NodeSet:
        def labels() -> list[NodeSet]:
            return self._labels(self._bound_by(asked.member, asked.term))

        size = len(self._ledger.by_handle) // 8 + 1
        return self._open.of(asked, labels, bytes_count=size, freed=freed)

    def _freed(self, gone: Collection[int]) -> dict[int, list[Cores]]:
        """The cores that these leases hold, by node."""
        found: dict[int, list[Cores]] = {}
        for lease_id in gone:
            cores = self._cores.of(lease_id)
            if cores:
                found.setdefault(self._handles[self._where[lease_id].node], []).append(cores)
        return found

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
        if not without:
            return self._beside(request, placed, freed={})
        with self.ground.without(without):
            return self._beside(request, placed, freed=self._freed(without))

    def _beside(
        self, request: PlacementRequest, placed: Sequence[int], *, freed: Mapping[int, list[Cores]]
    ) -> NodeSet | None:
        member, term, devices = self._asked(request)
        closed = self.ground.beside(member, term, placed=placed, devices=devices)
        limits = self._nodes_for(self._as_asked(request), freed=freed).caches if placed else {}
        for handle in set(placed).intersection(limits):
            wanted = (placed.count(handle) + 1) * request.cpu_milli
            free = self._open.room(handle, limits[handle], freed=freed.get(handle, ()))
            if free < wanted:
                closed |= 1 << handle
        return self._node_set(self.ground.everyone & ~closed) if closed else None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request now, by the rule's name."""
        member, term, devices = self._asked(request)
        found = self.ground.by_rule(member, term, devices=devices)
        for each in self._bound_by(member, term):
            found[each.rule.name] = self.ground.everyone & ~self._having((each,))
        # A node of which what is open will do is not closed.
        shut = ~int.from_bytes(self._nodes_for(self._as_asked(request)).bits, "little")
        counts = {name: (bits & shut).bit_count() for name, bits in found.items()}
        return {name: count for name, count in counts.items() if count}

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is for so long from now."""
        held = self._where[lease_id]
        member, handle = self._class_of(held), self._handles[held.node]
        term = self.compiled.term(self._now_ms, self._now_ms + ttl_ms)
        broken = self.ground.broken_by(lease_id, term)
        for each in self._bound_by(member, term):
            if not self._having((each,)) >> handle & 1:
                broken.add(each.rule.name)
        return min(broken, default=None)

    def outlook(self, terms: Mapping[int, int]) -> RequestOutlook:
        """A look ahead; ``terms`` are ends that some leases (by handle) are taken to have."""

        def having(member: SubjectClass, term: Term) -> int:
            return self._having(self._bound_by(member, term))

        def ends(handle: int) -> Iterator[tuple[int, int]]:
            for lease, at_ms in ends_on(self._ledger, handle, now_ms=self._now_ms, terms=terms):
                yield self._ids[lease], NEVER_MS if at_ms is None else at_ms
            yield from ((seat, NEVER_MS) for seat, at in self._seats.items() if at == handle)

        def class_of(request: PlacementRequest) -> SubjectClass:
            return self._asked(request)[0]

        return RequestOutlook(self.ground, ends, class_of=class_of, having=having)

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
        known, member = self._asked_last
        if (
            known is not None
            and held.job_labels is known.job_labels
            and held.owner == (known.tenant, known.project)
        ):
            return member  # it was asked for just now
        key = held.owner.tenant, held.owner.project, tuple(held.job_labels.items())
        found = self._classes.get(key)
        if found is None:
            found = self.compiled.class_of(subject_of(held.owner, held.job_labels))
        return found

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

    def _node_set(self, bits: int) -> NodeSet:
        found = NodeSet()
        found.bits = bytearray(bits.to_bytes(len(self._ledger.by_handle) // 8 + 1, "little"))
        return found

    def _having(self, rules: Iterable[LimitRule[OnlyOn]]) -> int:
        bits = self.ground.everyone
        for nodes in self._labels(rules):
            bits &= int.from_bytes(nodes.bits, "little")
        return bits


def guard_of(state: State) -> IsolationGuard:
    """A guard for the policy in force that knows of every lease; who adds it tells of claims."""
    book = state.isolation
    ledger, cores = state.ledger, state.cores
    guard = IsolationGuard(book.policy, ledger, book=book, cores=cores, ids=state.ids)
    for lease_id in state.leases:
        labels = state.job_labels.get(lease_id, {})
        parts = state.fields(lease_id).devices, state.cores.caches_of(lease_id)
        held = HeldLease(state.owner_of(lease_id), labels, state.node_of(lease_id), *parts)
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

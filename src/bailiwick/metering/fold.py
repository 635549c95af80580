"""What each record of the journal means for the meter: the fold from records to switches.

Rules:

- What a kind of record means is one table, ``MEANINGS``; kinds that move no share are in
  :data:`bailiwick.metering.records.SILENT`. A kind in neither is refused, so that a new one must
  be thought of here.
- A lease's shares are its own from its grant to its end; the last steps of its ending are its own
  too. Once it is fenced they are ``unavailable``, and cost it nothing.
- What no lease holds is idle where the node takes leases, and else unavailable, by what the node
  is: quarantined, or in which mode.
- What is lost with a node was its owner's up to the node's last proof of life (that of a gang's
  other members too), and from there until the loss was noticed it was ``unavailable: departed``.
  The node's shares are closed then; they open again if it is registered again.
- Where the records do not fit each other (more granted than is free, a lease or node that nobody
  told of, time going back) the meter stays exact: what cannot be is not attributed, and a
  :class:`MeterFinding` says which record and by how much. Nothing is averaged or guessed.
- Records were verified by whoever hands them in. Their times never go back, so only a last proof
  of life can lie before what was charged already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bailiwick.metering.meter import Meter, Pool
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Idle,
    Leased,
    Owner,
    Unavailable,
    UnavailableCause,
    free_owner,
)
from bailiwick.metering.records import (
    SILENT,
    FoldedRecord,
    MeterFinding,
    MeterFindingWord,
    device_generations,
)
from bailiwick.metering.values import Segment, Share, Short
from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind

_FENCED = UNAVAILABLE[UnavailableCause.FENCED]
_DEPARTED = UNAVAILABLE[UnavailableCause.DEPARTED]
_PLAIN = (ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES)


@dataclass(slots=True)
class _Node:
    plain: dict[ResourceKind, Pool] = field(default_factory=dict)
    gpus: list[Pool] = field(default_factory=list)
    mode: NodeMode = NodeMode.ACCEPTING
    is_quarantined: bool = False
    free: Idle | Unavailable = IDLE
    leases: set[int] = field(default_factory=set)

    def pools(self) -> list[Pool]:
        return [*self.plain.values(), *self.gpus]


@dataclass(slots=True)
class _Piece:
    """What one lease holds of one share."""

    pool: Pool
    owner: Owner
    parts: tuple[int, ...]


@dataclass(slots=True)
class _Hold:
    node: str
    pieces: list[_Piece]


_Want = tuple[Pool, int, Leased]


class JournalMeter:
    """The meter that a journal makes: fold records in, read shares and sums off ``meter``."""

    def __init__(self, emit: Callable[[Segment], None] | None = None) -> None:
        self.meter = Meter() if emit is None else Meter(emit)
        self.clock_ms = 0
        self.counts: Counter[MeterFindingWord] = Counter()
        """How often each finding was made."""
        self._nodes: dict[str, _Node] = {}
        self._leases: dict[int, _Hold] = {}
        self._accounts: dict[tuple[str | None, ...], Account] = {}
        self._found: list[MeterFinding] = []
        self._seq = 0

    def add(self, record: FoldedRecord) -> tuple[MeterFinding, ...]:
        """Fold one more record; what does not fit about it, if anything."""
        meaning = MEANINGS.get(record.kind)
        if meaning is None and record.kind not in SILENT:
            raise InvalidValue("kind", str(record.kind), "a kind that the metering table has")
        self._seq = record.seq
        if record.at_ms < self.clock_ms:
            late_ms = self.clock_ms - record.at_ms
            self._report(MeterFindingWord.TIME_WENT_BACK, record.kind, late_ms=late_ms)
        self.clock_ms = max(self.clock_ms, record.at_ms)
        if meaning is not None:
            meaning(self, record, self.clock_ms)
        if not self._found:
            return ()
        found, self._found = tuple(self._found), []
        return found

    def check(self) -> None:
        """Stop if the shares' owners are not their capacity x time."""
        self.meter.check(self.clock_ms)

    def _report(
        self,
        word: MeterFindingWord,
        subject: str,
        *,
        late_ms: int = 0,
        wanted: int = 0,
        found: int = 0,
    ) -> None:
        self.counts[word] += 1
        self._found.append(MeterFinding(word, self._seq, subject, late_ms, wanted, found))

    # -- nodes -------------------------------------------------------------------------------

    def _registered(self, record: FoldedRecord, at_ms: int) -> None:
        name = record.body["node"]
        if name in self._nodes:
            self._report(MeterFindingWord.ALREADY_REGISTERED, name)
            return
        node = self._nodes[name] = _Node()
        for kind in _PLAIN:
            amount = record.body["resources"].get(kind, 0)
            if amount:
                share = Share(name, kind)
                node.plain[kind] = self.meter.open(share, amount, owner=IDLE, at_ms=at_ms)
        for index, generation in enumerate(device_generations(record.body)):
            share = Share(name, ResourceKind.GPU_MILLI, index, generation)
            node.gpus.append(self.meter.open(share, MILLI, owner=IDLE, at_ms=at_ms))

    def _departed(self, record: FoldedRecord, at_ms: int) -> None:
        name = record.body["node"]
        node = self._nodes.get(name)
        if node is None:
            self._report(MeterFindingWord.UNKNOWN_NODE, name)
            return
        last_ms = min(at_ms, record.body.get("last_seen_ms", at_ms))
        is_last = not record.body.get("leases_left", 0)
        lost = dict.fromkeys(record.body.get("lease_ids", ()))
        if is_last:
            lost |= dict.fromkeys(sorted(node.leases))
        for lease_id in lost:
            self._lose(lease_id, name, last_ms=last_ms, at_ms=at_ms)
        if not is_last:
            return
        late_ms = self._hand_over(node, _DEPARTED, last_ms)
        self._check_late(name, late_ms)
        for pool in node.pools():
            self.meter.close(pool, at_ms)
        del self._nodes[name]

    def _lose(self, lease_id: int, gone: str, *, last_ms: int, at_ms: int) -> None:
        hold = self._leases.get(lease_id)
        if hold is None:
            self._report(MeterFindingWord.UNKNOWN_LEASE, str(lease_id))
            return
        late_ms = self._pass_on(hold, _DEPARTED, last_ms)
        self._check_late(str(lease_id), late_ms)
        if hold.node == gone:  # closed with the node, once all of its leases are told
            self._forget(lease_id, hold)
        else:
            self._free(lease_id, hold, at_ms)

    def _mode(self, record: FoldedRecord, at_ms: int) -> None:
        node = self._known(record)
        if node is not None:
            node.mode = NodeMode(record.body["after"])
            self._reopen(node, at_ms)

    def _quarantined(self, record: FoldedRecord, at_ms: int) -> None:
        node = self._known(record)
        if node is not None:
            node.is_quarantined = True
            self._reopen(node, at_ms)

    def _lifted(self, record: FoldedRecord, at_ms: int) -> None:
        node = self._known(record)
        if node is not None:
            node.is_quarantined = False
            self._reopen(node, at_ms)

    def _known(self, record: FoldedRecord) -> _Node | None:
        node = self._nodes.get(record.body["node"])
        if node is None:
            self._report(MeterFindingWord.UNKNOWN_NODE, record.body["node"])
        return node

    def _reopen(self, node: _Node, at_ms: int) -> None:
        """Give what no lease holds to the owner that the node's mode and trust ask for."""
        free = free_owner(node.mode, quarantined=node.is_quarantined)
        if free != node.free:
            self._hand_over(node, free, at_ms)

    def _hand_over(self, node: _Node, free: Idle | Unavailable, at_ms: int) -> int:
        late_ms = 0
        for pool in node.pools():
            parts = tuple(part.number for part in self.meter.parts_of(pool, node.free))
            late_ms = max(late_ms, self.meter.give(parts, node.free, owner=free, at_ms=at_ms))
        node.free = free
        return late_ms

    def _check_late(self, subject: str, late_ms: int) -> None:
        if late_ms:
            self._report(MeterFindingWord.LATE, subject, late_ms=late_ms)

    # -- leases ------------------------------------------------------------------------------

    def _approved(self, record: FoldedRecord, at_ms: int) -> None:
        body = record.body
        devices = body.get("devices") or (0,) * len(body["lease_ids"])
        for lease_id, node, mask in zip(body["lease_ids"], body["nodes"], devices, strict=True):
            self._start(lease_id, node, record, mask=mask, at_ms=at_ms)

    def _granted(self, record: FoldedRecord, at_ms: int) -> None:
        body = record.body
        mask = next(iter(body.get("devices", ())), 0)
        self._start(body["lease_id"], body["node"], record, mask=mask, at_ms=at_ms)

    def _start(
        self, lease_id: int, name: str, record: FoldedRecord, *, mask: int, at_ms: int
    ) -> None:
        if lease_id in self._leases:
            self._report(MeterFindingWord.ALREADY_HELD, str(lease_id))
            return
        # Known even if it cannot be metered: its end is then no second finding.
        hold = self._leases[lease_id] = _Hold(name, [])
        node = self._nodes.get(name)
        if node is None:
            self._report(MeterFindingWord.UNKNOWN_NODE, name)
            return
        node.leases.add(lease_id)
        wants = self._wants(node, record, lease_id, mask=mask)
        if wants is None or not self._fits(node, wants, lease_id):
            return
        for pool, amount, owner in wants:
            taken = self.meter.take(pool, amount, expected=node.free, owner=owner, at_ms=at_ms)
            if isinstance(taken, Short):
                raise InvariantBroken(f"{pool.share} had {amount} free, and now {taken.found}")
            hold.pieces.append(_Piece(pool, owner, taken.parts))

    def _wants(
        self, node: _Node, record: FoldedRecord, lease_id: int, *, mask: int
    ) -> list[_Want] | None:
        amounts: Mapping[str, int] = record.body["resources"]
        pools = [pool for i, pool in enumerate(node.gpus) if mask >> i & 1]
        milli = amounts.get(ResourceKind.GPU_MILLI, 0)
        is_told = mask >> len(node.gpus) == 0 and (not milli or bool(pools))
        if not is_told or (pools and milli % len(pools)):
            self._short(lease_id, milli, 0)
            return None
        first = pools[0].share.generation if pools else None
        owner = Leased(lease_id, self._account(record, first))
        wants: list[_Want] = []
        for kind in _PLAIN:
            amount = amounts.get(kind, 0)
            if not amount:
                continue
            if kind not in node.plain:
                self._short(lease_id, amount, 0)
                return None
            wants.append((node.plain[kind], amount, owner))
        for pool in pools:
            generation = pool.share.generation
            of_pool = owner
            if generation is not first:
                of_pool = Leased(lease_id, self._account(record, generation))
            wants.append((pool, milli // len(pools), of_pool))
        return wants

    def _fits(self, node: _Node, wants: list[_Want], lease_id: int) -> bool:
        for pool, amount, _ in wants:
            found = self.meter.amount_of(pool, node.free)
            if found < amount:
                self._short(lease_id, amount, found)
                return False
        return True

    def _short(self, lease_id: int, wanted: int, found: int) -> None:
        word = MeterFindingWord.OVERCOMMITTED
        self._report(word, str(lease_id), wanted=wanted, found=found)

    def _account(self, record: FoldedRecord, generation: HardwareGeneration | None) -> Account:
        tag, word = record.body.get("tag"), record.body["lease_class"]
        key = (record.tenant, record.project, tag, word, generation)
        account = self._accounts.get(key)
        if account is None:
            tenant, lease_class = str(record.tenant), LeaseClass(word)
            account = Account(tenant, record.project, tag, lease_class, generation)
            self._accounts[key] = account
        return account

    def _ended(self, record: FoldedRecord, at_ms: int) -> None:
        lease_id = record.body["lease_id"]
        hold = self._leases.get(lease_id)
        if hold is None:
            self._report(MeterFindingWord.UNKNOWN_LEASE, str(lease_id))
        else:
            self._free(lease_id, hold, at_ms)

    def _fenced(self, record: FoldedRecord, at_ms: int) -> None:
        lease_id = record.body["lease_id"]
        hold = self._leases.get(lease_id)
        if hold is None:
            self._report(MeterFindingWord.UNKNOWN_LEASE, str(lease_id))
        else:
            self._pass_on(hold, _FENCED, at_ms)

    def _pass_on(self, hold: _Hold, owner: Owner, at_ms: int) -> int:
        """All that a lease holds is another owner's now, but still its place."""
        late_ms = 0
        for piece in hold.pieces:
            late = self.meter.give(piece.parts, piece.owner, owner=owner, at_ms=at_ms)
            late_ms = max(late_ms, late)
            piece.owner = owner
        return late_ms

    def _free(self, lease_id: int, hold: _Hold, at_ms: int) -> None:
        self._forget(lease_id, hold)
        if not hold.pieces:
            return
        free = self._nodes[hold.node].free
        self._pass_on(hold, free, at_ms)
        for piece in hold.pieces:
            self.meter.gather(piece.pool, free)

    def _forget(self, lease_id: int, hold: _Hold) -> None:
        del self._leases[lease_id]
        if hold.node in self._nodes:
            self._nodes[hold.node].leases.discard(lease_id)


_Meaning = Callable[[JournalMeter, FoldedRecord, int], None]

MEANINGS: Final[Mapping[str, _Meaning]] = {
    "node_registered": JournalMeter._registered,
    "node_departed": JournalMeter._departed,
    "node_mode_changed": JournalMeter._mode,
    "node_quarantined": JournalMeter._quarantined,
    "node_quarantine_lifted": JournalMeter._lifted,
    "admission_approved": JournalMeter._approved,
    "lease_granted": JournalMeter._granted,
    "lease_released": JournalMeter._ended,
    "lease_expired": JournalMeter._ended,
    "lease_preempted": JournalMeter._ended,
    "lease_fenced": JournalMeter._fenced,
    "fence_cleared": JournalMeter._ended,
}
"""The kinds of record that move shares from one owner to another."""

"""What each record of the journal means for the meter: the fold from records to switches.

Rules:

- What a kind of record means is one table, ``MEANINGS``. One that is not in it and says that it
  moves shares is refused, so that a new one must be thought of here.
- A lease's shares are its own from its grant to its end; the last steps of its ending are its own
  too, each as a stage of its own: held, grace, teardown. A term or a grace that ran out was over
  when it ran out, not when that was recorded. A fenced lease's shares are ``unavailable``.
- What no lease holds is idle where the node takes leases, and else unavailable, by what the node
  is: quarantined, or in which mode.
- What is lost with a node was its owner's up to the node's last proof of life (that of a gang's
  other members too), and from there until the loss was noticed it was ``unavailable: departed``.
  Its shares are closed then, and open again with it.
- Where the records do not fit each other (more granted than is free, a lease or node that nobody
  told of, time going back) the meter stays exact: what cannot be is not attributed, and a
  :class:`MeterFinding` says which record and by how much. Nothing is averaged or guessed.
- Records were verified by whoever hands them in. Only a last proof of life, and what follows a
  repair of the clock, can lie before what was charged already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from bailiwick.metering.core import SHORT
from bailiwick.metering.holdings import Hold, HoldEnding, MeteredNode, Payers
from bailiwick.metering.meter import FIRST_LEASE, NOBODY, Meter, code_of
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Idle,
    Stage,
    UnavailableCapacity,
    UnavailableCause,
    free_owner,
)
from bailiwick.metering.records import (
    FoldedRecord,
    MeterFinding,
    MeterFindingWord,
    device_generations,
)
from bailiwick.metering.share import REFUSED
from bailiwick.metering.told.between import SharedUseBook
from bailiwick.metering.told.book import ToldBook
from bailiwick.metering.values import Share
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import MILLI, TTL_DEFAULT_MS
from bailiwick.vocab.words import PreemptionReason, ResourceKind

_FENCED = UNAVAILABLE[UnavailableCause.FENCED]
_DEPARTED = UNAVAILABLE[UnavailableCause.DEPARTED]
_PLAIN = (ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES)
_STAGES: Final = {
    RevokeState.REVOKE_WARNING.value: Stage.GRACE,
    RevokeState.GRACE_RUNNING.value: Stage.GRACE,
    RevokeState.CHECKPOINT_REPORTED.value: Stage.TEARDOWN,
    RevokeState.FORCED_TEARDOWN.value: Stage.TEARDOWN,
    RevokeState.EXPIRED.value: Stage.TEARDOWN,
}


class JournalMeter:
    """The meter that a journal makes: fold records in, read shares and sums off ``meter``."""

    def __init__(self, meter: Meter | None = None) -> None:
        self.meter = Meter() if meter is None else meter
        self._core = self.meter.core
        self.clock_ms = 0
        self.size = 0
        """How many records were folded, if it began with the first one."""
        self.counts: Counter[MeterFindingWord] = Counter()
        """How often each finding was made."""
        self.nodes: dict[str, MeteredNode] = {}
        self.leases: dict[int, Hold] = {}
        self.payers = Payers(self.meter)
        self.told = ToldBook()
        self.used = SharedUseBook(self.told)
        self._found: list[MeterFinding] = []

    def add(self, record: FoldedRecord) -> tuple[MeterFinding, ...]:
        """Fold one more record; what does not fit about it, if anything."""
        meaning = MEANINGS.get(record.kind)
        if meaning is None and record.moves_shares:
            raise InvalidValue("kind", str(record.kind), "a kind that the metering table has")
        at_ms, self.meter.seq = record.at_ms, record.seq
        self.size = record.seq + 1
        if at_ms < self.clock_ms and record.kind != "clock_repaired":
            late_ms = self.clock_ms - at_ms
            self._report(MeterFindingWord.TIME_WENT_BACK, record.kind, late_ms=late_ms)
            at_ms = self.clock_ms
        self.clock_ms = at_ms
        if meaning is not None:
            self._core.now(at_ms, record.seq)
            meaning(self, record, at_ms)
        for told in (self.told.see(record, at_ms), *self.used.see(record, at_ms)):
            if told is not None:
                self._report(told.word, told.subject, wanted=told.wanted, found=told.found)
        if not self._found:
            return ()
        found, self._found = tuple(self._found), []
        return found

    def check(self) -> None:
        """Stop if the shares' owners are not their capacity x time."""
        self.meter.check(self.clock_ms)

    def _report(self, word: MeterFindingWord, subject: str, **numbers: int) -> None:
        self.counts[word] += 1
        self._found.append(MeterFinding(word, self.meter.seq, subject, **numbers))

    def _repaired(self, record: FoldedRecord, at_ms: int) -> None:
        repair = ClockRepair(record.body["before_ms"], record.body["after_ms"])
        self._core = self.meter.set_back(repair)
        self._core.now(at_ms, record.seq)
        for hold in self.leases.values():
            hold.until_ms = repair.end(hold.until_ms)

    # -- nodes -------------------------------------------------------------------------------

    def _registered(self, record: FoldedRecord, at_ms: int) -> None:
        name = record.body["node"]
        if name in self.nodes:
            self._report(MeterFindingWord.ALREADY_REGISTERED, name)
            return
        node = self.nodes[name] = MeteredNode()
        for kind in _PLAIN:
            amount = record.body["resources"].get(kind.value, 0)
            if amount:
                share = Share(name, kind)
                node.plain[kind.value] = self.meter.open(share, amount, owner=IDLE, at_ms=at_ms)
        for index, generation in enumerate(device_generations(record.body)):
            share = Share(name, ResourceKind.GPU_MILLI, index, generation)
            node.gpus.append(self.meter.open(share, MILLI, owner=IDLE, at_ms=at_ms))

    def _departed(self, record: FoldedRecord, at_ms: int) -> None:
        name = record.body["node"]
        node = self.nodes.get(name)
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
        self._check_late(name, self._hand_over(node, _DEPARTED, last_ms))
        self._core.now(at_ms, record.seq)
        if self._core.give(code_of(_DEPARTED), node.lost) == REFUSED:
            raise InvariantBroken(f"what was lost with {name} is somebody else's")
        for pool in node.pools():
            self.meter.close(pool, at_ms)
        del self.nodes[name]

    def _lose(self, lease_id: int, gone: str, *, last_ms: int, at_ms: int) -> None:
        hold = self.leases.get(lease_id)
        if hold is None:
            self._report(MeterFindingWord.UNKNOWN_LEASE, str(lease_id))
            return
        self._run_out(hold, last_ms)
        late_ms = self._to_nobody(hold, _DEPARTED, last_ms)
        self._check_late(str(lease_id), late_ms)
        self._core.now(at_ms, self.meter.seq)
        if hold.node == gone:  # closed with the node, once all of its leases are told
            self._forget(lease_id, hold)
            if gone in self.nodes:
                self.nodes[gone].lost += hold.parts
        else:
            self._free(lease_id, hold)

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
        node = self.nodes.get(record.body["node"])
        if node is not None:  # of one that departed in it, a quarantine can be lifted too
            node.is_quarantined = False
            self._reopen(node, at_ms)

    def _known(self, record: FoldedRecord) -> MeteredNode | None:
        node = self.nodes.get(record.body["node"])
        if node is None:
            self._report(MeterFindingWord.UNKNOWN_NODE, record.body["node"])
        return node

    def _reopen(self, node: MeteredNode, at_ms: int) -> None:
        """Give what no lease holds to the owner that the node's mode and trust ask for."""
        free = free_owner(node.mode, quarantined=node.is_quarantined)
        if free != node.free:
            self._hand_over(node, free, at_ms)

    def _hand_over(self, node: MeteredNode, free: Idle | UnavailableCapacity, at_ms: int) -> int:
        self._core.now(at_ms, self.meter.seq)
        moves = [(pool.free, self.meter.account(pool, free)) for pool in node.pools()]
        late_ms = self._pass_on(code_of(node.free), code_of(free), moves)
        node.free = free
        return late_ms

    def _check_late(self, subject: str, late_ms: int) -> None:
        if late_ms:
            self._report(MeterFindingWord.LATE, subject, late_ms=late_ms)

    # -- leases ------------------------------------------------------------------------------

    def _approved(self, record: FoldedRecord, at_ms: int) -> None:
        body = record.body
        lease_ids, nodes, masks = body["lease_ids"], body["nodes"], body.get("devices")
        until_ms = at_ms + body.get("ttl_ms", TTL_DEFAULT_MS)
        for number, lease_id in enumerate(lease_ids):
            mask = masks[number] if masks else 0
            self._start(lease_id, nodes[number], record, mask=mask, until_ms=until_ms)

    def _start(
        self, lease_id: int, name: str, record: FoldedRecord, *, mask: int, until_ms: int
    ) -> None:
        if lease_id in self.leases:
            self._report(MeterFindingWord.ALREADY_HELD, str(lease_id))
            return
        # Known even if it cannot be metered: its end is then no second finding.
        holder = lease_id + FIRST_LEASE
        hold = self.leases[lease_id] = Hold(name, holder, (), until_ms)
        node = self.nodes.get(name)
        if node is None:
            self._report(MeterFindingWord.UNKNOWN_NODE, name)
            return
        node.leases.add(lease_id)
        wants = self.payers.wants(node, record, mask=mask)
        if isinstance(wants, int):
            self._short(lease_id, wants, 0)
            return
        taken = self._core.take(holder, wants)
        if isinstance(taken, int):
            free, amount, _ = wants[SHORT - taken]
            row = self._core.row(free)
            self._short(lease_id, amount, 0 if row is None else row[2])
            return
        hold.parts = taken

    def _short(self, lease_id: int, wanted: int, found: int) -> None:
        word = MeterFindingWord.OVERCOMMITTED
        self._report(word, str(lease_id), wanted=wanted, found=found)

    def _renewed(self, record: FoldedRecord, at_ms: int) -> None:
        del at_ms
        hold = self._hold(record)
        if hold is not None:
            hold.until_ms = record.body["expires_ms"]

    def _stepped(self, record: FoldedRecord, at_ms: int) -> None:
        """A lease came nearer to its end: what it holds is another stage's from here on."""
        hold, body = self._hold(record), record.body
        stage = _STAGES.get(body["after"])
        if hold is None or stage is None:
            return
        word = body.get("reason")
        reason = None if word is None else PreemptionReason(word)
        if hold.stage is Stage.HELD:
            self._run_out(hold, at_ms)
        over_ms = at_ms if stage is Stage.GRACE else min(at_ms, hold.until_ms)
        gone = HoldEnding(stage, reason, bool(body.get("released", 0)))
        self._enter(hold, gone, at_ms=over_ms)
        hold.until_ms = body.get("expires_ms", hold.until_ms)

    def _restored(self, record: FoldedRecord, at_ms: int) -> None:
        """A lease that was to go stays: from here on what it holds is simply held again."""
        hold = self._hold(record)
        if hold is None or hold.stage is not Stage.GRACE:
            return
        hold.until_ms = record.body["expires_ms"]
        hold.stage = Stage.HELD
        self._announce(hold, HoldEnding(Stage.HELD), at_ms=at_ms)

    def _enter(self, hold: Hold, ending: HoldEnding, *, at_ms: int) -> None:
        """Announce a stage; it is charged as such once it is sure that the lease lasted so long."""
        if hold.holder < FIRST_LEASE or hold.stage in (ending.stage, Stage.TEARDOWN):
            return
        hold.stage = ending.stage
        self._announce(hold, ending, at_ms=at_ms)

    def _announce(self, hold: Hold, ending: HoldEnding, *, at_ms: int) -> None:
        for part in hold.parts:
            pool, payer = self.meter.held(part)
            if isinstance(payer, Account):
                account = replace(payer, **ending._asdict())
                step = at_ms, self.meter.account(pool, account)
                self.meter.announced.setdefault(part, []).append(step)

    def _run_out(self, hold: Hold, at_ms: int) -> None:
        """A term or grace that is over by this time was over when it ran out, not when told."""
        if hold.until_ms < at_ms:
            self._enter(hold, HoldEnding(Stage.TEARDOWN), at_ms=hold.until_ms)

    def _catch_up(self, hold: Hold, until_ms: int) -> None:
        """Charge the stages that a lease came to before this time, and forget the others."""
        found = [(part, self.meter.announced.pop(part, ())) for part in hold.parts]
        for number, (at_ms, _) in enumerate(found[0][1] if found else ()):
            if at_ms < until_ms:
                self._core.now(at_ms, self.meter.seq)
                moves = [(part, steps[number][1]) for part, steps in found]
                self._pass_on(hold.holder, hold.holder, moves)

    def _ended(self, record: FoldedRecord, at_ms: int) -> None:
        hold = self._hold(record)
        if hold is None:
            return
        self._run_out(hold, at_ms)
        self._free(record.body["lease_id"], hold)

    def _fenced(self, record: FoldedRecord, at_ms: int) -> None:
        hold = self._hold(record)
        if hold is not None:
            self._to_nobody(hold, _FENCED, at_ms)

    def _hold(self, record: FoldedRecord) -> Hold | None:
        lease_id = record.body["lease_id"]
        hold = self.leases.get(lease_id)
        if hold is None:
            self._report(MeterFindingWord.UNKNOWN_LEASE, str(lease_id))
        return hold

    def _to_nobody(self, hold: Hold, owner: UnavailableCapacity, at_ms: int) -> int:
        """All that a lease holds is nobody's now, but still its place."""
        self._catch_up(hold, at_ms)
        self._core.now(at_ms, self.meter.seq)
        held = [(part, self.meter.held(part)[0]) for part in hold.parts]
        moves = [(part, self.meter.account(pool, owner)) for part, pool in held]
        late_ms = self._pass_on(hold.holder, code_of(owner), moves)
        hold.holder = code_of(owner)
        return late_ms

    def _pass_on(self, expected: int, holder: int, moves: list[tuple[int, int]]) -> int:
        late_ms = self._core.pass_on((expected, holder), moves)
        if late_ms == REFUSED:
            raise InvariantBroken(f"what {_name(expected)} should hold is somebody else's")
        return late_ms

    def _free(self, lease_id: int, hold: Hold) -> None:
        self._forget(lease_id, hold)
        if hold.parts and hold.parts[0] in self.meter.announced:
            self._catch_up(hold, self.clock_ms)
            self._core.now(self.clock_ms, self.meter.seq)
        if self._core.give(hold.holder, hold.parts) == REFUSED:
            raise InvariantBroken(f"what {_name(hold.holder)} held is somebody else's")

    def _forget(self, lease_id: int, hold: Hold) -> None:
        del self.leases[lease_id]
        node = self.nodes.get(hold.node)
        if node is not None:
            node.leases.discard(lease_id)


def _name(holder: int) -> str:
    return f"lease {holder - FIRST_LEASE}" if holder >= FIRST_LEASE else str(NOBODY[holder])


_Meaning = Callable[[JournalMeter, FoldedRecord, int], None]

MEANINGS: Final[Mapping[str, _Meaning]] = {
    "node_registered": JournalMeter._registered,
    "node_departed": JournalMeter._departed,
    "node_mode_changed": JournalMeter._mode,
    "node_quarantined": JournalMeter._quarantined,
    "node_quarantine_lifted": JournalMeter._lifted,
    "admission_approved": JournalMeter._approved,
    "lease_renewed": JournalMeter._renewed,
    "lease_revoked": JournalMeter._stepped,
    "lease_restored": JournalMeter._restored,
    "lease_released": JournalMeter._ended,
    "lease_expired": JournalMeter._ended,
    "lease_preempted": JournalMeter._ended,
    "lease_fenced": JournalMeter._fenced,
    "fence_cleared": JournalMeter._ended,
    "clock_repaired": JournalMeter._repaired,
}
"""The kinds of record that move shares from one owner to another, or tell when one is due."""

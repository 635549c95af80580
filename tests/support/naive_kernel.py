"""The kernel's journal folded into plain dicts: slow, readable, and the judge of the real fold.

Nothing here asks the kernel, the ledger or the engine for anything: it reads records, one after
the other, and checks at each what must hold of it. What is in use is summed anew from the leases
whenever it is asked for. Only the two state tables are shared with the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bailiwick.journal import Record
from bailiwick.kernel import State
from bailiwick.vocab.transitions import NODE_MODE_EDGES, REVOKE_EDGES, NodeMode, RevokeState
from bailiwick.vocab.words import HardwareGeneration
from tests.support.naive_bookings import NaiveBookings
from tests.support.naive_claims import NaiveClaim, kept
from tests.support.naive_trust import NaiveTrust
from tests.support.naive_windows import NaiveWindows

CPU, MEM, BLOCK, GPU = "cpu_milli", "mem_bytes", "block_bytes", "gpu_milli"
KINDS = (CPU, MEM, BLOCK, GPU)
SHORT = ("waiting_for_capacity", "fragmented")
TEARING = ("forced_teardown", "checkpoint_reported", "expired")
OPERATORS = (
    *("operator_drain", "operator_mig_profile_change", "maintenance_window"),
    "policy_violation_recovery",
)
Scope = tuple[str, str | None]


PEOPLE = frozenset(
    f"{noun}_{what}"
    for nouns, whats in (
        (("tenant", "project", "service_account"), ("created", "changed")),
        (("member",), ("changed",)),
        (("access_token",), ("issued", "revoked")),
        (("access",), ("refused",)),
    )
    for noun in nouns
    for what in whats
) | {"break_glass"}
"""Who may do what moves no machine and no lease: this fold passes it over."""


@dataclass
class Hold:
    """One lease, as the records tell it."""

    node: str
    owner: Scope
    amounts: dict[str, int]
    devices: list[int]
    gang: int | None
    expires: int
    terms: dict[str, Any]
    phase: str = "active"
    generation: int = 1
    checkpoint: int | None = None
    reason: str | None = None
    released: bool = False
    term: int = 0
    """Until when it ran before it was warned."""

    @property
    def milli(self) -> int:
        """Milli-shares it holds of each of its devices."""
        return self.amounts.get(GPU, 0) // len(self.devices) if self.devices else 0

    @property
    def weight(self) -> int:
        """What it counts for in fair shares, fenced ones for nothing."""
        if self.phase == "fenced":
            return 0
        return max(self.amounts.get(GPU, 0), self.amounts.get(CPU, 0) // 16, 1)


@dataclass
class Waiter:
    """One entry of the queue."""

    owner: Scope
    priority: str
    since: int
    reason: str
    terms: dict[str, Any]
    claim: NaiveClaim[Hold] | None = None


@dataclass
class Machine:
    """One node."""

    amounts: dict[str, int]
    gpus: int
    mode: str = "accepting"
    quarantined: bool = False
    executor: bool = False


@dataclass
class NaiveKernel:
    """Everything that the records add up to."""

    size: int = 0
    clock: int = 0
    epoch: int = 0
    leases_given: int = 0
    entries_given: int = 0
    machines: dict[str, Machine] = field(default_factory=dict)
    given: dict[str, list[str]] = field(default_factory=dict)
    """What operators say of nodes, those that are gone among them."""
    notes: dict[tuple[str, int], list[Any]] = field(default_factory=dict)
    holds: dict[int, Hold] = field(default_factory=dict)
    waiters: dict[int, Waiter] = field(default_factory=dict)
    limits: dict[Scope, dict[str, int]] = field(default_factory=dict)
    bursts: set[Scope] = field(default_factory=set)
    budgets: dict[Scope, tuple[str, int]] = field(default_factory=dict)
    periods: dict[Scope, tuple[Any, Any]] = field(default_factory=dict)
    new_periods: set[Scope] = field(default_factory=set)
    times: list[int] = field(default_factory=list)
    invoices: set[str] = field(default_factory=set)
    billed: list[tuple[str | None, str | None, range]] = field(default_factory=list)
    trust: NaiveTrust = field(default_factory=NaiveTrust)
    windows: NaiveWindows = field(default_factory=NaiveWindows)
    bookings: NaiveBookings = field(default_factory=NaiveBookings)
    part: tuple[int, int] | None = None
    """The gang that is being told, and how many members are still to come."""
    torn: dict[int, str] = field(default_factory=dict)
    """Leases of gangs that lost a member with this node: that they are torn down is told next."""
    split: set[int | None] = field(default_factory=set)
    """Gangs that lose members with the node that is being told."""
    confirms: bool = False

    def read(self, record: Record) -> None:
        """One more record."""
        assert record.seq == self.size
        told = record.body.get("before_ms"), record.body.get("after_ms")
        is_repair = record.kind == "clock_repaired" and told == (self.clock, record.at_ms)
        assert record.at_ms >= self.clock or is_repair, "time went back"
        self.size, self.clock = record.seq + 1, record.at_ms
        self.times.append(record.at_ms)
        if record.kind in PEOPLE:
            return
        self.trust.read(record.kind, dict(record.body), at_ms=record.at_ms, seq=record.seq)
        self.windows.read(record.kind, dict(record.body), at_ms=record.at_ms)
        owner = (record.tenant or "", record.project)
        self.bookings.read(record.kind, dict(record.body), owner=owner, at_ms=record.at_ms)
        read = getattr(self, f"_{record.kind}")
        if self.part is not None:
            assert record.kind == "admission_approved", "a gang was told in part"
        if self.torn:
            departed = self.torn.pop(record.body["lease_id"])
            assert (record.kind, record.body["departed"]) == ("lease_revoked", departed)
        else:
            assert "departed" not in record.body
        read(dict(record.body), owner)

    # -- nodes -------------------------------------------------------------------------------

    def _node_registered(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["node"] not in self.machines
        gpus = len(body.get("gpu_generations", ()))
        has_executor = any(label.startswith("executor=") for label in body.get("labels", ()))
        machine = Machine(dict(body["resources"]), gpus, executor=has_executor)
        self.machines[body["node"]] = machine

    def _node_departed(self, body: dict[str, Any], owner: Scope) -> None:
        for lease_id in body["lease_ids"]:
            hold = self.holds.pop(lease_id)
            assert hold.node == body["node"] or hold.gang is not None
            is_there = hold.node != body["node"] and self._confirmed(hold)
            assert not is_there, "freed, though nobody has looked whether it is free"
            self.split |= {hold.gang} - {None}
        if not body.get("leases_left"):
            assert not [h for h in self.holds.values() if h.node == body["node"]]
            left = {i: h for i, h in self.holds.items() if h.gang in self.split}
            assert all(h.phase == "fenced" or self._confirmed(h) for h in left.values())
            ends = (i for i, h in left.items() if h.phase in ("active", "grace_running"))
            self.torn, self.split = dict.fromkeys(ends, body["node"]), set()
            del self.machines[body["node"]]
            for claim in self._claims():
                claim.node_left(body["node"])

    def _confirmed(self, hold: Hold) -> bool:
        return self.confirms or self.machines[hold.node].executor

    def _node_mode_changed(self, body: dict[str, Any], owner: Scope) -> None:
        machine = self.machines[body["node"]]
        assert machine.mode == body["before"]
        assert NodeMode(body["after"]) in NODE_MODE_EDGES[NodeMode(body["before"])]
        if body["after"] == "drained":
            assert not self.on(body["node"]), "drained with leases"
        machine.mode = body["after"]

    def _node_quarantined(self, body: dict[str, Any], owner: Scope) -> None:
        self.machines[body["node"]].quarantined = True

    def _node_quarantine_lifted(self, body: dict[str, Any], owner: Scope) -> None:
        if body["node"] in self.machines:
            assert self.machines[body["node"]].quarantined
            self.machines[body["node"]].quarantined = False

    # -- trust (folded on its own) and tokens ------------------------------------------------

    def _of_trust(self, body: dict[str, Any], owner: Scope) -> None:
        assert owner == ("", None)

    _policy_changed = _node_enrolled = _node_enrolment_withdrawn = _of_trust
    _attestation_verdict = _of_trust
    _window_planned = _window_phase_changed = _window_ended = _of_trust
    _mig_change_begun = _mig_change_ended = _of_trust
    _node_health_changed = _node_test_begun = _node_test_ended = _of_trust
    _calendar_set = _calendar_withdrawn = _of_trust

    def _of_bookings(self, body: dict[str, Any], owner: Scope) -> None:
        assert all(owner)

    _booked = _booking_nodes_changed = _booking_begun = _booking_ended = _of_bookings
    _series_set = _series_withdrawn = _of_bookings

    def _token_issued(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert (hold.owner, hold.phase) == (owner, "active")
        assert (hold.generation, hold.node) == (body["generation"], body["audience"])
        assert not self.machines[hold.node].quarantined
        assert self.clock < body["expires_ms"] <= min(hold.expires, self.clock + 300_000)
        assert body["operations"], "a token for nothing"

    def _token_refused(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds.get(body["lease_id"])
        hidden = body["reason"] in ("no_such_lease", "not_owner")
        assert hidden == (owner == ("", None)), "told to somebody whose it is not"
        assert (body["reason"] == "no_such_lease") == (hold is None)
        assert hidden or (hold is not None and hold.owner == owner)

    # -- rules -------------------------------------------------------------------------------

    def _quota_changed(self, body: dict[str, Any], owner: Scope) -> None:
        self.limits[owner] = dict(body["limits"])
        self.bursts.discard(owner)
        if "burst_dimension" in body:
            self.bursts.add(owner)

    def _rate_card_changed(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["effective_ms"] >= self.clock, "prices of what was used already"
        assert body.get("of_tenant", "") == owner[0]
        if not body.get("withdrawn"):
            assert len(body["gpu_micros_per_hour"]) == len(HardwareGeneration)

    def _budget_changed(self, body: dict[str, Any], owner: Scope) -> None:
        if body.get("removed"):
            del self.budgets[owner], self.periods[owner]
            return
        period = body["from_ms"], body.get("until_ms")
        is_new = self.periods.get(owner) != period
        assert "opening_micros" in body or not is_new, "counts on from nothing"
        self.budgets[owner] = self.budgets.get(owner, ("healthy", 0))
        self.periods[owner] = period
        (self.new_periods.add if is_new else self.new_periods.discard)(owner)

    def _budget_state_changed(self, body: dict[str, Any], owner: Scope) -> None:
        state, crossed = self.budgets[owner]
        if owner in self.new_periods and body["after"] != "healthy":
            state, crossed = "healthy", 0  # of this period nothing was told yet
        self.new_periods.discard(owner)
        assert body["before"] == state
        assert (body["after"], body["crossed"]) != (state, crossed), "told, though nothing is new"
        assert body.get("crossed_before") == (crossed if body["after"] == state else None)
        if body["after"] in ("depleted", "auto_release_pending"):
            assert body["spent_micros"] >= body["limit_micros"]
        self.budgets[owner] = body["after"], body["crossed"]

    def _finding_reported(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["severity"] in ("low", "medium", "high", "critical")

    def _invoice_issued(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["invoice"] not in self.invoices, "issued twice"
        assert body.get("corrects") in (None, *self.invoices)
        assert body["journal_size"] < self.size
        left_out = self.times[body["journal_size"] :]
        assert all(at_ms >= body["period_end_ms"] for at_ms in left_out), "of a part of its period"
        assert body["period_end_ms"] <= self.clock
        self.invoices.add(body["invoice"])
        if "corrects" not in body:
            span = range(body["period_start_ms"], body["period_end_ms"])
            for tenant, project, other in self.billed:
                if tenant == owner[0] and (None in (project, owner[1]) or project == owner[1]):
                    assert not range(max(span.start, other.start), min(span.stop, other.stop))
            self.billed.append((owner[0], owner[1], span))

    def _node_labelled(self, body: dict[str, Any], owner: Scope) -> None:
        assert owner == ("", None)
        assert body["labels_before"] == self.given.pop(body["node"], [])
        assert body["labels"] != body["labels_before"]
        if body["labels"]:
            self.given[body["node"]] = body["labels"]

    def _node_noted(self, body: dict[str, Any], owner: Scope) -> None:
        assert owner == ("", None)
        assert body["node"] in self.machines
        assert body["note_id"] == self.size - 1
        assert body["until_ms"] > self.clock
        told = [body["text"], body["author"], self.clock, body["until_ms"]]
        self.notes[body["node"], body["note_id"]] = told

    def _node_note_ended(self, body: dict[str, Any], owner: Scope) -> None:
        assert owner == ("", None)
        note = self.notes.pop((body["node"], body["note_id"]))
        assert body["outcome"] == "ended" or note[-1] <= self.clock

    def _share_changed(self, body: dict[str, Any], owner: Scope) -> None:
        assert 1 <= body["share"] <= 1_000_000

    def _settings_changed(self, body: dict[str, Any], owner: Scope) -> None:
        assert owner == ("", None)
        self.confirms = bool(body.get("confirm_teardown"))

    def _leader_elected(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["epoch"] > self.epoch
        self.epoch = body["epoch"]

    def _state_checkpoint(self, body: dict[str, Any], owner: Scope) -> None:
        assert (body["leases"], body["waiting"]) == (len(self.holds), len(self.waiters))

    def _clock_repaired(self, body: dict[str, Any], owner: Scope) -> None:
        before, after = body["before_ms"], body["after_ms"]
        if after > before:
            return
        for hold in self.holds.values():
            if hold.expires > after:
                hold.expires = after if hold.expires < before else after + hold.expires - before
            if hold.checkpoint is not None and hold.checkpoint > after:
                hold.checkpoint = after
        for waiter in self.waiters.values():
            waiter.since = min(waiter.since, after)

    # -- requests ----------------------------------------------------------------------------

    def _admission_approved(self, body: dict[str, Any], owner: Scope) -> None:
        ids, nodes = body["lease_ids"], body["nodes"]
        masks = body.get("devices", (0,) * len(ids))
        assert len(ids) == len(nodes) == len(masks)
        entry = body.get("entry_id")
        for lease_id, node, bits in zip(ids, nodes, masks, strict=True):
            assert lease_id == self.leases_given + 1
            self.leases_given = lease_id
            machine = self.machines[node]
            assert (machine.mode, machine.quarantined) == ("accepting", False)
            devices = [i for i in range(16) if bits >> i & 1]
            expires = self.clock + body.get("ttl_ms", 3_600_000)
            amounts = dict(body["resources"])
            hold = Hold(node, owner, amounts, devices, body.get("gang"), expires, body)
            self.holds[lease_id] = hold
        self._note_gang(body, len(ids))
        if entry is not None and not body.get("members_left"):
            assert self.waiters.pop(entry).owner == owner
        self.check_room(set(nodes))
        if not body.get("members_left") and not body.get("burst"):
            self.check_quota(owner, body["resources"])
        elif not body.get("members_left") and body["lease_class"] == "guaranteed":
            self.check_quota(owner, body["resources"], firm=True)

    def _note_gang(self, body: dict[str, Any], count: int) -> None:
        gang, left, wanted = body.get("gang"), body.get("members_left", 0), body.get("gang_size", 1)
        assert (gang is None) == (wanted == 1)
        if self.part is not None:
            assert self.part == (gang, count + left)
        else:
            assert count + left == wanted
        self.part = (gang, left) if gang is not None and left else None

    def _admission_denied(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["detail"]

    def _request_queued(self, body: dict[str, Any], owner: Scope) -> None:
        assert body["entry_id"] == self.entries_given + 1
        self.entries_given += 1
        waiter = Waiter(owner, body["priority"], self.clock, body["reason"], dict(body))
        self.waiters[body["entry_id"]] = waiter

    def _request_blocked(self, body: dict[str, Any], owner: Scope) -> None:
        waiter = self.waiters[body["entry_id"]]
        assert waiter.owner == owner
        was, now = (sort_of(r) for r in (waiter.reason, body["reason"]))
        assert was != now or waiter.claim, "told again, though nothing is new"
        victims = body.get("victims", ())
        # Who gave way, and might start elsewhere, keeps the reason of before until he is looked at.
        waits = body["reason"] == "waiting_for_victims" and "gave_way" not in body
        assert bool(victims) == waits
        assert all(self.holds[i].phase != "fenced" for i in victims)
        waiter.reason, waiter.claim = body["reason"], None
        if victims:
            seats = body["seats"]
            masks = body.get("seat_devices", (0,) * len(seats))
            members = tuple(self._member(waiter, *seat) for seat in zip(seats, masks, strict=True))
            waiter.claim = NaiveClaim(members, tuple(victims))
            self.waiters[body["entry_id"]] = self.waiters.pop(body["entry_id"])  # the newest claim
            self.check_room({member.node for member in members})

    def _member(self, waiter: Waiter, node: str, mask: int) -> Hold:
        devices = [i for i in range(16) if mask >> i & 1]
        return Hold(
            node, waiter.owner, dict(waiter.terms["resources"]), devices, None, 0, waiter.terms
        )

    def _request_cancelled(self, body: dict[str, Any], owner: Scope) -> None:
        assert self.waiters.pop(body["entry_id"]).owner == owner

    def _room_reserved(self, body: dict[str, Any], owner: Scope) -> None:
        assert self.waiters[body["entry_id"]].owner == owner
        assert body["starts_ms"] >= self.clock

    def _room_postponed(self, body: dict[str, Any], owner: Scope) -> None:
        self._room_reserved(body, owner)

    def _room_lost(self, body: dict[str, Any], owner: Scope) -> None:
        assert self.waiters[body["entry_id"]].owner == owner

    # -- leases ------------------------------------------------------------------------------

    def _lease_renewed(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert hold.phase == "active"
        assert self.clock < hold.expires
        assert (hold.owner, body["generation"]) == (owner, hold.generation + 1)
        hold.generation, hold.expires = body["generation"], body["expires_ms"]

    def _renewal_denied(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert (hold.owner, hold.phase) == (owner, "active")
        assert self.clock < hold.expires < self.clock + body["ttl_ms"], "it would add nothing"

    def _lease_revoked(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert (hold.owner, hold.phase) == (owner, body["before"])
        assert RevokeState(body["after"]) in REVOKE_EDGES[RevokeState(hold.phase)]
        reason = body.get("reason")
        if reason is not None and hold.terms["lease_class"] == "guaranteed":
            assert reason in OPERATORS, f"{reason} ended a guaranteed lease"
        if body["after"] == "revoke_warning":
            assert body["generation"] == hold.generation
            hold.term = hold.expires
        hold.phase, hold.reason = body["after"], reason
        hold.expires = body.get("expires_ms", hold.expires)
        if body.get("released"):
            assert self.machines[hold.node].executor, "a release that nobody has to confirm"
            hold.released = True

    def _lease_restored(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert (hold.owner, hold.phase) == (owner, "grace_running")
        assert hold.reason in ("priority_preemption", "quota_rebalance"), "only for who waits"
        claims = (each.claim for each in self.waiters.values() if each.claim is not None)
        assert not any(body["lease_id"] in claim.victims for claim in claims)
        assert body["generation"] == hold.generation + 1, "its tokens ended with the warning"
        assert self.clock < body["expires_ms"] == hold.term
        hold.phase, hold.reason, hold.expires = "active", None, body["expires_ms"]
        hold.generation = body["generation"]

    def _lease_released(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self._over(body, owner)
        assert hold.phase != "fenced"
        assert hold.released == self.machines[hold.node].executor

    def _lease_expired(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self._over(body, owner)
        assert (hold.reason, hold.released) == (None, False)
        mates = [h for h in self.holds.values() if hold.gang is not None and h.gang == hold.gang]
        late = [h for h in (hold, *mates) if h.expires <= self.clock or h.phase == "expired"]
        assert late or hold.gang is not None, "ended before its time"

    def _lease_preempted(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self._over({**body, "resources": body["freed"]}, owner)
        assert (hold.reason, hold.released) == (body["reason"], False)
        assert hold.phase in ("forced_teardown", "checkpoint_reported")
        assert body["victim"] == owner[0]

    def _over(self, body: dict[str, Any], owner: Scope) -> Hold:
        hold = self.holds.pop(body["lease_id"])
        assert (hold.owner, hold.node, hold.amounts) == (owner, body["node"], body["resources"])
        if self.machines[hold.node].executor:
            assert hold.phase in TEARING, "freed, though nobody has looked whether it is free"
        return hold

    def _lease_fenced(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert RevokeState.FENCED in REVOKE_EDGES[RevokeState(hold.phase)]
        assert (hold.owner, hold.node) == (owner, body["node"])
        hold.phase = "fenced"
        for claim in self._claims():
            claim.lease_fenced(body["lease_id"])

    def _fence_cleared(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds.pop(body["lease_id"])
        assert (hold.owner, hold.phase, hold.node) == (owner, "fenced", body["node"])

    def _checkpoint_reported(self, body: dict[str, Any], owner: Scope) -> None:
        hold = self.holds[body["lease_id"]]
        assert hold.phase in ("active", "grace_running")
        hold.checkpoint = self.clock

    # -- sums --------------------------------------------------------------------------------

    def on(self, node: str) -> list[Hold]:
        """Everything on a node."""
        return [hold for hold in self.holds.values() if hold.node == node]

    def free(self, node: str) -> dict[str, int]:
        """What nobody holds, and nobody is to have for whom others leave."""
        left = Counter({kind: self.machines[node].amounts.get(kind, 0) for kind in KINDS})
        for hold in self.on(node):
            left.subtract(hold.amounts)
        waits = self._kept(node)
        left.subtract({kind: waits.get(kind, 0) for kind in KINDS if kind != GPU})
        left.subtract({GPU: sum(n for kind, n in waits.items() if kind.startswith("device"))})
        return {kind: left[kind] for kind in KINDS}

    def _kept(self, node: str) -> dict[str, int]:
        """What is kept of a node, each device by itself."""

        def of(hold: Hold) -> dict[str, int]:
            if hold.node != node:
                return {}
            plain = {kind: n for kind, n in hold.amounts.items() if kind != GPU}
            return plain | {f"device {i}": hold.milli for i in hold.devices}

        return kept(self._claims(), self.holds, of=of)

    def _claims(self) -> list[NaiveClaim[Hold]]:
        return [w.claim for w in self.waiters.values() if w.claim is not None]

    def device_free(self, node: str) -> list[int]:
        """Milli-shares that nobody holds, device by device."""
        left = [1000] * self.machines[node].gpus
        for hold in self.on(node):
            for index in hold.devices:
                left[index] -= hold.milli
        waits = self._kept(node)
        return [free - waits.get(f"device {i}", 0) for i, free in enumerate(left)]

    def used(self, scope: Scope, *, firm: bool = False) -> Counter[str]:
        """What a tenant (all its projects with it) or a project holds, fences not counted.

        With ``firm``, what of it is guaranteed.
        """
        total = Counter[str]()
        for hold in self.holds.values():
            if hold.phase == "fenced" or hold.owner[0] != scope[0]:
                continue
            if firm and hold.terms["lease_class"] != "guaranteed":
                continue
            if scope[1] in (None, hold.owner[1]):
                total.update(hold.amounts)
                total["lease_count"] += 1
        return total

    def check_room(self, nodes: set[str]) -> None:
        """Nothing is held twice."""
        for node in nodes:
            assert min(self.free(node).values()) >= 0, f"{node} holds more than it has"
            assert min(self.device_free(node), default=0) >= 0, f"a device of {node} holds too much"

    def check_quota(self, owner: Scope, asked: dict[str, int], *, firm: bool = False) -> None:
        """Who was just admitted, without burst, is within every limit on what it asked for.

        What is guaranteed is so (``firm``) whatever others hold on burst credit.
        """
        for scope in {owner, (owner[0], None)}:
            used = self.used(scope, firm=firm)
            used["gpu_count"] = -(-used[GPU] // 1000)
            counted = {*asked, "lease_count", *(["gpu_count"] if GPU in asked else [])}
            for dimension in counted.intersection(self.limits.get(scope, {})):
                limit = self.limits[scope][dimension]
                assert used[dimension] <= limit, f"{scope} is above {dimension}"

    def rates(self) -> dict[tuple[str, ...], int]:
        """What each tenant's, and each project's, leases weigh."""
        found = Counter[tuple[str, ...]]()
        for hold in self.holds.values():
            found[(hold.owner[0],)] += hold.weight
            found[(hold.owner[0], hold.owner[1] or "")] += hold.weight
        return found

    # -- against the real one ----------------------------------------------------------------

    def compare(self, state: State) -> None:
        """The kernel's state is what the records add up to."""
        assert (state.size, state.clock_ms) == (self.size, self.clock)
        assert (state.epoch, state.lease_serial) == (self.epoch, self.leases_given)
        assert set(state.leases) == set(self.holds)
        assert {h: i for i, h in state.leases.items()} == state.ids
        for lease_id, hold in self.holds.items():
            assert told_of(state, lease_id) == naive_of(hold), lease_id
        self._compare_nodes(state)
        self.windows.compare(state)
        self.bookings.compare(state)
        self._compare_line(state)
        standing = {s: p.standing for s, p in state.spending.purses.items()}
        assert {s: (w.state.value, w.crossed) for s, w in standing.items()} == self.budgets
        assert set(state.invoices) == self.invoices
        for scope, rate in self.rates().items():
            assert state.shares.running[scope].rate == rate
        running = {scope for scope, run in state.shares.running.items() if run.rate}
        assert running == {scope for scope, rate in self.rates().items() if rate}

    def _compare_nodes(self, state: State) -> None:
        assert {str(name) for name in state.ledger.entries} == set(self.machines)
        for name, machine in self.machines.items():
            usage = state.ledger.node(name)
            assert (str(usage.mode), usage.quarantined) == (machine.mode, machine.quarantined)
            if machine.quarantined:
                assert all(hold.phase != "active" for hold in self.on(name)), "it goes on there"
            entry = state.ledger.entry(name)
            assert entry.gated == self.trust.gated(name)
            assert dict(entry.attested) == self.trust.labels(name)
            given = [f"{key}={value}" for key, value in sorted(entry.given.items())]
            assert given == self.given.get(name, [])
            assert dict(zip(KINDS, usage.free.as_tuple(), strict=True)) == self.free(name)
            assert list(usage.device_free_milli) == self.device_free(name)
        assert set(state.trust.quarantines) == set(self.trust.quarantined)
        there = {name for name, machine in self.machines.items() if machine.quarantined}
        assert there == set(self.trust.quarantined) & set(self.machines)
        known = {
            (node, kind): state.trust.enrolled(node)[kind].identity
            for node in state.trust.names_enrolled
            for kind in state.trust.enrolled(node)
        }
        assert known == self.trust.enrolled
        draining = {name for name, m in self.machines.items() if m.mode == "draining"}
        assert set(state.draining) == draining
        noted = {
            (node, row[0]): row[1:] for node, rows in state.notes.dump().items() for row in rows
        }
        assert noted == self.notes
        assert len(state.notes) == len(self.notes)

    def _compare_line(self, state: State) -> None:
        assert set(state.line.entries) == set(self.waiters) == set(state.blocked)
        assert state.line.next_id == self.entries_given + 1
        for entry_id, waiter in self.waiters.items():
            entry, denied = state.line.entries[entry_id], state.blocked[entry_id]
            assert entry.submitted_ms == waiter.since
            assert (entry.request.tenant, entry.request.project) == waiter.owner
            told = "not_yet_looked_at" if denied is None else denied.reason
            assert told == waiter.reason
        claims = {i: (c.victims, [s.node for s in c.seats]) for i, c in state.claims.items()}
        told = {i: w.claim for i, w in self.waiters.items() if w.claim is not None}
        assert claims == {i: (c.victims, [m.node for m in c.members]) for i, c in told.items()}


def sort_of(reason: str) -> str:
    """The sort of an obstacle: ways of lacking room are one."""
    return "capacity" if reason in SHORT else reason


def told_of(state: State, lease_id: int) -> tuple[object, ...]:
    """A lease as the kernel has it."""
    lease = state.ledger.lease(state.handle(lease_id))
    owner = state.owner_of(lease_id)
    held = dict(zip(KINDS, lease.resources.as_tuple(), strict=True))
    term = None if str(lease.state) == "fenced" else (lease.expires_ms, lease.gang)
    return (
        *(str(lease.node), (owner.tenant, owner.project), held, list(lease.devices), term),
        *(str(lease.state), lease.generation, lease.checkpoint_ms),
        *(str(lease.priority), str(lease.lease_class), state.is_released(lease_id)),
    )


def naive_of(hold: Hold) -> tuple[object, ...]:
    """A lease as the records tell it, in the same words."""
    held = {kind: hold.amounts.get(kind, 0) for kind in KINDS}
    term = None if hold.phase == "fenced" else (hold.expires, hold.gang)
    return (
        *(hold.node, hold.owner, held, hold.devices, term),
        *(hold.phase, hold.generation, hold.checkpoint),
        *(hold.terms["priority"], hold.terms["lease_class"], hold.released),
    )


def fold(records: Iterator[Record] | list[Record]) -> NaiveKernel:
    """Every record, folded."""
    naive = NaiveKernel()
    for record in records:
        naive.read(record)
    return naive

"""The durable journal read by somebody who knows nothing of the kernel's code.

``Model`` folds record after record with plain dicts and sums, and refuses a record that breaks a
promise: room that is not there, a quota that is passed, a lease or key that exists already, a
number or a time out of order, a batch of another epoch. Slow and simple on purpose.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from bailiwick.journal import GENESIS_HASH
from bailiwick.kernel import Answer, encode_answer
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from tests.support.naive_bookings import NaiveBookings
from tests.support.naive_claims import NaiveClaim, kept
from tests.support.naive_trust import Broken, NaiveTrust

Told = tuple[Any, ...]
Key = tuple[str, str]
Scope = tuple[str, str | None]
DIMENSIONS = ("cpu_milli", "mem_bytes", "block_bytes", "gpu_count", "gpu_vram", "lease_count")
_UNITS = {"gpu_count": 1000}


class Violation(Exception):
    """A promise was broken."""

    def __init__(self, promise: str, detail: str) -> None:
        super().__init__(f"{promise}: {detail}")
        self.promise = promise


def told_by(answer: Answer) -> Told:
    """An answer as a tuple that can be compared with what the journal says."""
    plain = encode_answer(answer)
    match plain["answer"]:
        case "granted":
            ids, nodes = tuple(plain["lease_ids"]), tuple(plain["nodes"])
            return ("granted", ids, nodes, plain["expires_ms"])
        case "queued":
            return ("queued", plain["entry_id"])
        case "refused":
            return ("refused", plain["denied"]["reason"], plain["denied"]["detail"])
        case "token_granted":
            return ("token", plain["token_id"], plain["expires_ms"])
        case "token_denied":
            return ("no token", plain["reason"])
        case _:
            return ("done", plain["seq"])


@dataclass(slots=True)
class NaiveNode:
    """A machine, as its record says."""

    capacity: dict[str, int]
    generations: tuple[str, ...]
    memories: tuple[int, ...]
    mode: str = "accepting"
    quarantined: bool = False


@dataclass(slots=True)
class NaiveLease:
    """A hold, as its records say."""

    node: str
    scope: Scope
    held: dict[str, int]
    devices: int
    milli: int
    vram: int
    generations: dict[str, int]
    expires_ms: int
    guaranteed: bool
    gang: int | None
    phase: str = "active"
    term_ms: int = 0
    """Until when it ran before it was warned."""

    def demand(self) -> dict[str, int]:
        """What it counts against a quota."""
        gpu = self.held.get("gpu_milli", 0)
        plain = {name: self.held.get(name, 0) for name in DIMENSIONS[:3]}
        return plain | {"gpu_count": gpu, "gpu_vram": self.vram, "lease_count": 1}

    def on(self, node: str) -> dict[str, int]:
        """What it holds of a node, each device by itself."""
        if self.node != node:
            return {}
        bits = range(self.devices.bit_length())
        found = {name: self.held.get(name, 0) for name in DIMENSIONS[:3]}
        return found | {f"gpu {i}": self.milli for i in bits if self.devices >> i & 1}

    def charged(self, scope: Scope) -> dict[str, int]:
        """What it counts against the quota of a tenant or project, and each generation."""
        inside = self.scope[0] == scope[0] and scope[1] in (None, self.scope[1])
        return self.demand() | self.generations if inside and self.phase != "fenced" else {}


@dataclass(slots=True)
class Model:
    """Everything the journal says, folded naively."""

    lines: list[bytes] = field(default_factory=list)
    hashes: list[str] = field(default_factory=lambda: [GENESIS_HASH])
    stored: list[int] = field(default_factory=list)
    clock_ms: int = 0
    epoch: int = 0
    nodes: dict[str, NaiveNode] = field(default_factory=dict)
    leases: dict[int, NaiveLease] = field(default_factory=dict)
    lease_serial: int = 0
    waiting: dict[int, Scope] = field(default_factory=dict)
    entry_serial: int = 0
    blocked: dict[int, str | None] = field(default_factory=dict)
    asked: dict[int, dict[str, Any]] = field(default_factory=dict)
    claims: dict[int, NaiveClaim[NaiveLease]] = field(default_factory=dict)
    book: OrderedDict[Key, tuple[int, Told]] = field(default_factory=OrderedDict)
    ever: dict[Key, list[Told]] = field(default_factory=dict)
    unfinished: Key | None = None
    quotas: dict[Scope, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    trust: NaiveTrust = field(default_factory=NaiveTrust)
    notes: dict[tuple[str, int], int] = field(default_factory=dict)
    bookings: NaiveBookings = field(default_factory=NaiveBookings)
    migs: dict[str, int] = field(default_factory=dict)
    tests: dict[str, int] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    testable: set[str] = field(default_factory=set)
    """Until when each note about a node stands."""
    isolation: str = ""
    """The text of the policy that keeps work apart."""

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.lines)

    def ingest(self, line: bytes, stored_epoch: int) -> None:
        """Fold one more durable record."""
        record: dict[str, Any] = json.loads(line)
        self._check_order(record)
        self.clock_ms = record["at_ms"]
        kind, body = record["kind"], record["body"]
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind == "leader_elected":
            _check(body["epoch"] > self.epoch, "epochs only grow", f"{body['epoch']} again")
            self.epoch = body["epoch"]
        why = f"record {record['seq']} of epoch {self.epoch} was stored by {stored_epoch}"
        _check(stored_epoch == self.epoch, "one epoch writes", why)
        self._read_trust(record)
        self._read_bookings(record)
        FOLD[kind](self, body, (record.get("tenant"), record.get("project")))
        if "key" in body:
            self._note_key((record["actor"], body["key"]), record)
        self.lines.append(line)
        self.stored.append(stored_epoch)
        self.hashes.append(sha256(line[:-1]).hexdigest())

    def _read_trust(self, record: dict[str, Any]) -> None:
        kind, body = record["kind"], record["body"]
        try:
            self.trust.read(kind, body, at_ms=record["at_ms"], seq=record["seq"])
        except Broken as broken:
            raise Violation("trust is proven", f"record {record['seq']}: {broken}") from broken

    def _read_bookings(self, record: dict[str, Any]) -> None:
        kind, body, at_ms = record["kind"], record["body"], record["at_ms"]
        owner = (record.get("tenant"), record.get("project"))
        try:
            self.bookings.read(kind, body, owner=owner, at_ms=at_ms)
        except AssertionError as broken:
            told = f"record {record['seq']}: {broken}"
            raise Violation("a booked node is its owner's", told) from broken

    def _check_order(self, record: dict[str, Any]) -> None:
        seq, at_ms = record["seq"], record["at_ms"]
        _check(seq == self.size, "numbers have no gap", f"{seq} follows {self.size - 1}")
        linked = record["prev_hash"] == self.hashes[-1]
        _check(linked, "the chain holds", f"record {seq} names another hash")
        back = f"record {seq} is of {at_ms}, after {self.clock_ms}"
        _check(at_ms >= self.clock_ms, "time never goes back", back)  # nobody repairs it here

    # -- idempotency keys ----------------------------------------------------------------------

    def _note_key(self, key: Key, record: dict[str, Any]) -> None:
        told, known = _told_of(record), self.book.get(key)
        if self.unfinished == key and known is not None:
            before = known[1]
            told = ("granted", before[1] + told[1], before[2] + told[2], told[3])
            self.ever[key].pop()
        else:
            again = f"key {key} was answered {known} and then {told}"
            _check(known is None, "nothing is granted twice", again)
        self.unfinished = key if record["body"].get("members_left") else None
        self.book[key] = (record["at_ms"], told)
        self.ever.setdefault(key, []).append(told)
        oldest = record["at_ms"] - self.settings.get("keys_ms", 86_400_000)
        most = self.settings.get("keys_max", 1_000_000)
        for name, (at_ms, _) in list(self.book.items()):
            if at_ms >= oldest and len(self.book) <= most:
                break
            del self.book[name]

    # -- nodes ---------------------------------------------------------------------------------

    def _registered(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        _check(body["node"] not in self.nodes, "a node is there once", body["node"])
        generations = tuple(body.get("gpu_generations", ()))
        memories = tuple(body.get("gpu_vram_bytes", ()))
        self.nodes[body["node"]] = NaiveNode(body["resources"], generations, memories)

    def _apart(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        self.isolation = "".join(body.get("document", ()))

    def _departed(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        for lease_id in body.get("lease_ids", ()):
            self._drop(lease_id)
        if not body.get("leases_left"):
            left = [i for i, lease in self.leases.items() if lease.node == body["node"]]
            _check(not left, "a node takes its leases with it", f"{body['node']} left {left}")
            del self.nodes[body["node"]]
            for claim in self.claims.values():
                claim.node_left(body["node"])

    def _mig_begun(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        _check(body["node"] not in self.migs, "a node is repartitioned once", body["node"])
        self.migs[body["node"]] = body["change_id"]

    def _mig_ended(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        node = body["node"]
        _check(self.migs.pop(node) == body["change_id"], "what began is what ends", node)
        if body["outcome"] == "done":
            left = [i for i, lease in self.leases.items() if lease.node == node]
            _check(not left, "GPUs are divided where nobody is", f"{node} has {left}")

    def _health(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        _check(body["node"] in self.nodes, "only of nodes that are there", f"{body}")
        if body["can_test"]:
            self.testable.add(body["node"])
        elif self.nodes[body["node"]].mode == "accepting":
            self.testable.discard(body["node"])

    def _test_begun(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        node = body["node"]
        holds = [i for i, lease in self.leases.items() if lease.node == node]
        _check(not holds, "a node is tested where nobody is", f"{node} holds {holds}")
        _check(node not in self.tests, "a node is tested once at a time", node)
        self.tests[node] = body["test_id"]

    def _test_ended(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        node = body["node"]
        _check(self.tests.pop(node) == body["test_id"], "what began is what ends", node)
        if body["outcome"] == "passed":
            self.passed.add(node)

    def _mode(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        back = (body["before"], body["after"]) == ("returning", "accepting")
        tested = body["node"] in self.passed or body["node"] not in self.testable
        _check(tested or not back, "what comes back has passed its test", f"{body}")
        self.passed.discard(body["node"])
        node = self.nodes[body["node"]]
        _check(node.mode == body["before"], "modes follow each other", f"{body}, not {node.mode}")
        node.mode = body["after"]
        holds = [i for i, lease in self.leases.items() if lease.node == body["node"]]
        empty = node.mode != "drained" or not holds
        _check(empty, "a drained node is empty", f"{body['node']} holds {holds}")

    def _noted(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        _check(body["node"] in self.nodes, "only of nodes that are there", f"{body}")
        self.notes[body["node"], body["note_id"]] = body["until_ms"]

    def _note_ended(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        until_ms = self.notes.pop((body["node"], body["note_id"]))
        is_due = body["outcome"] == "ended" or until_ms <= self.clock_ms
        _check(is_due, "a note stands until it expires", f"{body} at {self.clock_ms}")

    def _quarantined(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        self.nodes[body["node"]].quarantined = True

    def _lifted(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        if body["node"] in self.nodes:  # it may have departed
            self.nodes[body["node"]].quarantined = False

    def _token(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.scope == scope, "records name the owner", str(body))
        alive = lease.phase == "active" and not self.nodes[lease.node].quarantined
        _check(alive, "no token for what is ending", f"{body}: {lease.phase}")
        _check(body["expires_ms"] <= lease.expires_ms, "a token ends with its lease", str(body))

    # -- rules ---------------------------------------------------------------------------------

    def _quota(self, body: dict[str, Any], scope: Scope) -> None:
        self.quotas[scope] = body

    def _settings(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        self.settings = body

    def used(self, scope: Scope) -> tuple[dict[str, int], dict[str, int]]:
        """What the live leases of a tenant or project, and what is kept for it, add up to.

        By dimension and by generation.
        """
        total = dict.fromkeys(DIMENSIONS, 0)
        for lease in self.leases.values():
            for name, amount in lease.charged(scope).items():
                total[name] = total.get(name, 0) + amount
        waits = kept(self.claims.values(), self.leases, of=lambda e: e.charged(scope))
        for name, amount in waits.items():
            total[name] = total.get(name, 0) + amount
        return total, {name: n for name, n in total.items() if name not in DIMENSIONS}

    def _check_quota(self, scope: Scope, lease: NaiveLease) -> None:
        for each in dict.fromkeys((scope, (scope[0], None))):
            quota = self.quotas.get(each)
            if quota is None:
                continue
            used, generations = self.used(each)
            for name, limit in quota["limits"].items():
                most = limit * _UNITS.get(name, 1)
                if quota.get("burst_dimension") == name:
                    most += quota["burst_ceiling"]
                over = f"{each} holds {used[name]} of {most} {name}"
                fits = not lease.demand()[name] or used[name] <= most
                _check(fits, "quota is never exceeded", over)
                firm = self._guaranteed(each, name) if lease.guaranteed else 0
                fits = not lease.demand()[name] or firm <= limit * _UNITS.get(name, 1)
                over = f"{each} holds {firm} of {limit} {name} for good"
                _check(fits, "credit carries no guaranteed lease", over)
            table = quota.get("gpu_limits", {})
            for word in lease.generations if table else ():
                most = table.get(word, 0) * 1000
                fits = generations[word] <= most
                _check(fits, "quota is never exceeded", f"{each} {word} > {most}")

    def _guaranteed(self, scope: Scope, name: str) -> int:
        leases = (lease for lease in self.leases.values() if lease.guaranteed)
        return sum(lease.charged(scope).get(name, 0) for lease in leases)

    # -- requests ------------------------------------------------------------------------------

    def _approved(self, body: dict[str, Any], scope: Scope) -> None:
        ids, nodes = body["lease_ids"], body["nodes"]
        masks = body.get("devices", [0] * len(ids))
        entry = body.get("entry_id")
        for lease_id, node, mask in zip(ids, nodes, masks, strict=True):
            fresh = lease_id == self.lease_serial + 1
            _check(fresh, "a lease is granted once", f"lease {lease_id} after {self.lease_serial}")
            self.lease_serial = lease_id
            self.leases[lease_id] = self._lease(body, scope, node=node, mask=mask)
            self._check_room(node)
            self._check_claims(node, entry)
        if entry is not None:
            waits = self.waiting.get(entry) == scope
            _check(waits, "only who waits is started", f"entry {entry}")
            if not body.get("members_left"):
                self._leave(entry)
        if not body.get("members_left"):
            self._check_quota(scope, self.leases[ids[-1]])

    def _lease(self, body: dict[str, Any], scope: Scope, *, node: str, mask: int) -> NaiveLease:
        held, count = body["resources"], mask.bit_count()
        machine = self.nodes.get(node)
        if machine is None or machine.mode != "accepting" or machine.quarantined:
            raise Violation("only open nodes take leases", f"{node}: {machine}")
        milli = held.get("gpu_milli", 0) // count if count else 0
        generations: dict[str, int] = {}
        vram = 0
        for device, word in enumerate(machine.generations):
            if mask >> device & 1:
                generations[word] = generations.get(word, 0) + milli
                vram += -(-machine.memories[device] * milli // 1000)
        return NaiveLease(
            node,
            scope,
            held,
            mask,
            milli,
            vram,
            generations,
            self.clock_ms + body.get("ttl_ms", 3_600_000),
            body["lease_class"] == "guaranteed",
            body.get("gang"),
        )

    def _check_room(self, node: str) -> None:
        machine = self.nodes[node]
        here = [lease for lease in self.leases.values() if lease.node == node]
        for name, most in machine.capacity.items():
            taken = sum(lease.held.get(name, 0) for lease in here)
            over = f"{node} gives {taken} of {most} {name}"
            _check(taken <= most, "capacity is never exceeded", over)
        for lease in here:
            for name in lease.held:
                _check(name in machine.capacity, "capacity is never exceeded", f"{node}: {name}")
        for device in range(len(machine.generations)):
            taken = sum(lease.milli for lease in here if lease.devices >> device & 1)
            over = f"{node} gives {taken} of device {device}"
            _check(taken <= 1000, "capacity is never exceeded", over)

    def _check_claims(self, node: str, entry: int | None) -> None:
        claims = [claim for claimant, claim in self.claims.items() if claimant != entry]
        free = {**self.nodes[node].capacity}
        free |= {f"gpu {i}": 1000 for i in range(len(self.nodes[node].generations))}
        for lease in self.leases.values():
            for kind, amount in lease.on(node).items():
                free[kind] = free.get(kind, 0) - amount
        waits = kept(claims, self.leases, of=lambda each: each.on(node))
        for kind, amount in waits.items():
            told = f"{amount} {kind} of {node} are kept, {free[kind]} are left: {entry} got more"
            _check(amount <= free[kind], "claimed room is kept", told)

    def kept_on(self, node: str) -> dict[str, int]:
        """What nobody holds of a node and others have left, or leave, for somebody."""
        claims = self.claims.values()
        return kept(claims, self.leases, of=lambda each: each.on(node))

    def _denied(self, body: dict[str, Any], scope: Scope) -> None:
        """Nothing changes."""

    def _queued(self, body: dict[str, Any], scope: Scope) -> None:
        entry = body["entry_id"]
        _check(entry > self.entry_serial, "an entry is made once", f"{entry} again")
        self.entry_serial = entry
        self.waiting[entry] = scope
        self.asked[entry] = body
        self.blocked[entry] = _sort_of(body) if "detail" in body else None

    def _blocked(self, body: dict[str, Any], scope: Scope) -> None:
        entry, sort = body["entry_id"], _sort_of(body)
        _check(self.waiting.get(entry) == scope, "only who waits is blocked", f"entry {entry}")
        claimed = self.claims.pop(entry, None) is not None
        if body.get("victims"):
            seats = body["seats"]
            devices = body.get("seat_devices", [0] * len(seats))
            members = tuple(
                self._lease(self.asked[entry], scope, node=node, mask=mask)
                for node, mask in zip(seats, devices, strict=True)
            )
            self.claims[entry] = NaiveClaim(members, tuple(body["victims"]))
        elif not claimed:
            again = f"entry {entry} is blocked by {sort} as before"
            _check(self.blocked.get(entry) != sort, "a blocker is told once", again)
        self.blocked[entry] = sort

    def _cancelled(self, body: dict[str, Any], scope: Scope) -> None:
        entry = body["entry_id"]
        _check(self.waiting.get(entry) == scope, "only who waits is cancelled", f"entry {entry}")
        self._leave(entry)

    def _leave(self, entry: int) -> None:
        del self.waiting[entry], self.asked[entry]
        self.claims.pop(entry, None)

    # -- leases --------------------------------------------------------------------------------

    def _of(self, lease_id: int) -> NaiveLease:
        lease = self.leases.get(lease_id)
        if lease is None:
            raise Violation("a lease ends once", f"lease {lease_id} is not there")
        return lease

    def _drop(self, lease_id: int) -> None:
        self._of(lease_id)
        del self.leases[lease_id]

    def _renewed(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.phase == "active", "only active leases are renewed", str(body))
        _check(lease.scope == scope, "records name the owner", str(body))
        lease.expires_ms = body["expires_ms"]

    def _not_renewed(self, body: dict[str, Any], scope: Scope) -> None:
        """Nothing changes; but only of a lease that could be renewed is this said, to its owner."""
        lease = self._of(body["lease_id"])
        _check(lease.phase == "active", "only active leases are renewed", str(body))
        _check(lease.scope == scope, "records name the owner", str(body))
        _check(lease.expires_ms > self.clock_ms, "what is over is not renewed", str(body))
        longer = self.clock_ms + body["ttl_ms"] > lease.expires_ms
        _check(longer, "only added time is refused", f"{body}: {lease.expires_ms}")

    def _stepped(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.phase == body["before"], "endings go step by step", f"{body}: {lease.phase}")
        _check(lease.scope == scope, "records name the owner", str(body))
        lease.term_ms = lease.expires_ms if lease.phase == "active" else lease.term_ms
        lease.phase = body["after"]
        lease.expires_ms = body.get("expires_ms", lease.expires_ms)
        reasons = ("priority_preemption", "burst_credit_exhausted", "quota_rebalance")
        spared = body.get("reason") in reasons
        unsafe = lease.guaranteed and spared
        _check(not unsafe, "a guaranteed lease is no victim", str(body))

    def _restored(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.phase == "grace_running", "only who is in grace may stay", str(body))
        _check(lease.scope == scope, "records name the owner", str(body))
        same = body["expires_ms"] == lease.term_ms > self.clock_ms
        _check(same, "who stays has its old term", f"{body}: {lease.term_ms}")
        needed = any(body["lease_id"] in claim.victims for claim in self.claims.values())
        _check(not needed, "who is needed does not stay", str(body))
        lease.phase, lease.expires_ms = "active", body["expires_ms"]

    def _ended(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.phase != "fenced", "only an operator clears a fence", str(body))
        _check(lease.scope == scope, "records name the owner", str(body))
        self._drop(body["lease_id"])

    def _expired(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        # One member of a gang takes the others, whose terms may be longer if they were renewed.
        early = lease.expires_ms > self.clock_ms and lease.gang is None and lease.phase == "active"
        _check(not early, "nothing expires before its time", f"{body}: {lease.expires_ms}")
        self._ended(body, scope)

    def _fenced(self, body: dict[str, Any], scope: Scope) -> None:
        lease = self._of(body["lease_id"])
        _check(lease.phase != "fenced", "a fence is set once", str(body))
        _check(lease.scope == scope, "records name the owner", str(body))
        lease.phase = "fenced"
        for claim in self.claims.values():
            claim.lease_fenced(body["lease_id"])

    def _cleared(self, body: dict[str, Any], scope: Scope) -> None:
        del scope
        fenced = self._of(body["lease_id"]).phase == "fenced"
        _check(fenced, "only a fence is cleared", str(body))
        self._drop(body["lease_id"])

    def _checkpoint(self, body: dict[str, Any], scope: Scope) -> None:
        _check(self._of(body["lease_id"]).scope == scope, "records name the owner", str(body))


def _sort_of(body: dict[str, Any]) -> str:
    """The ways of lacking room are one sort of obstacle: they change with every look."""
    reason = str(body["reason"])
    return "capacity" if reason in CAPACITY_REASONS else reason


def _check(kept: bool, promise: str, detail: str) -> None:
    if not kept:
        raise Violation(promise, detail)


def _told_of(record: dict[str, Any]) -> Told:
    """What the client must have been told, by the record that answers it."""
    body = record["body"]
    match record["kind"]:
        case "admission_approved":
            expires = record["at_ms"] + body.get("ttl_ms", 3_600_000)
            return ("granted", tuple(body["lease_ids"]), tuple(body["nodes"]), expires)
        case "request_queued":
            return ("queued", body["entry_id"])
        case "admission_denied" | "renewal_denied":
            return ("refused", body["reason"], body["detail"])
        case "token_issued":
            return ("token", body["token_id"], body["expires_ms"])
        case "token_refused":
            hidden = {"not_owner": "no_such_lease"}
            return ("no token", hidden.get(body["reason"], body["reason"]))
        case _:
            return ("done", record["seq"])


def _nothing(model: Model, body: dict[str, Any], scope: Scope) -> None:
    del model, body, scope


FOLD = {
    "node_registered": Model._registered,
    "node_departed": Model._departed,
    "node_mode_changed": Model._mode,
    "node_quarantined": Model._quarantined,
    "node_quarantine_lifted": Model._lifted,
    "quota_changed": Model._quota,
    "node_labelled": _nothing,
    "node_noted": Model._noted,
    "node_note_ended": Model._note_ended,
    "mig_change_begun": Model._mig_begun,
    "mig_change_ended": Model._mig_ended,
    "node_health_changed": Model._health,
    "node_test_begun": Model._test_begun,
    "node_test_ended": Model._test_ended,
    "share_changed": _nothing,
    "settings_changed": Model._settings,
    "admission_approved": Model._approved,
    "admission_denied": Model._denied,
    "request_queued": Model._queued,
    "request_blocked": Model._blocked,
    "request_cancelled": Model._cancelled,
    "room_reserved": _nothing,
    "room_postponed": _nothing,
    "room_lost": _nothing,
    "leader_elected": _nothing,
    "state_checkpoint": _nothing,
    "lease_renewed": Model._renewed,
    "renewal_denied": Model._not_renewed,
    "lease_revoked": Model._stepped,
    "lease_restored": Model._restored,
    "lease_released": Model._ended,
    "lease_expired": Model._expired,
    "lease_preempted": Model._ended,
    "lease_fenced": Model._fenced,
    "fence_cleared": Model._cleared,
    "checkpoint_reported": Model._checkpoint,
    "token_issued": Model._token,
    "isolation_policy_set": Model._apart,
    **dict.fromkeys(
        (
            *("policy_changed", "node_enrolled", "node_enrolment_withdrawn"),
            *("attestation_verdict", "token_refused"),
            *("isolation_violated", "domain_scrubbed"),
            *("window_planned", "window_phase_changed", "window_ended"),
            *("calendar_set", "calendar_withdrawn"),
            *("booked", "booking_nodes_changed", "booking_begun", "booking_ended"),
            *("series_set", "series_withdrawn"),
        ),
        _nothing,
    ),
}

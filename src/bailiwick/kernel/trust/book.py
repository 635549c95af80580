"""What is known of whether nodes can be trusted: a fold of verdicts, enrolments and policy.

Rules:

- A node's standing is, per kind of evidence, the last verdict that says something: trusted or
  untrusted. Trusted evidence counts until it lapses, which is a record of its own. So a node that
  sends nothing, or nothing of use, becomes stale in its time.
- Evidence counts no longer than its verdict says, nor than the pool's policy of now allows.
- A node is gated while it is in a pool and what it has proven does not hold the requirement.
- Which node is due next is known in logarithmic time; that order follows from the rest and is not
  part of the state.
- A name and a machine go together: an identity is enrolled under one name only.

>>> book = TrustBook()
>>> book.set_policy(TrustPolicy.read('{"pools": {"p": {"nodes": ["n*"], "require": "tpm2"}}}'))
>>> book.is_gated("n1"), book.is_gated("login"), book.state_of("n1", 0).value
(True, False, 'unattested')
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

from bailiwick.attestation.policy import PoolRule, TrustPolicy
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.trust.commands import label_key
from bailiwick.kernel.trust.events import Pairs, paired
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState

CAPABILITY_KEY = "capability_key"
"""The enrolled key with which a node mints tokens itself."""

_WEAK = (AttestationWord.STALE, AttestationWord.UNSUPPORTED)
_SLACK = 64
"""How many dead entries the order of what is due may hold beside as many as there are live."""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The keys of one kind that a node enrolled with, and the machine they belong to."""

    kind: EvidenceKind
    keys: Mapping[str, str]
    identity: str


@dataclass(frozen=True, slots=True)
class Held:
    """The last verdict of one kind that counts, and by which record it was given."""

    verdict: AttestationWord
    reason: UntrustedReason | None
    valid_until_ms: int | None
    claims: Mapping[str, str]
    evidence: str
    at_ms: int
    seq: int

    @property
    def is_trusted(self) -> bool:
        """Whether it was believed and has not lapsed by a record."""
        return self.verdict is AttestationWord.TRUSTED


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Why a node is in quarantine, by what evidence (if any), and since which record."""

    reason: str
    evidence: str | None
    since_ms: int
    seq: int


NodeTrust: TypeAlias = Mapping[EvidenceKind, Held]
"""How a node stands, by kind of evidence."""


class TrustBook:
    """All that is known of trust. Only :mod:`.apply` changes it."""

    def __init__(self) -> None:
        self.policy: TrustPolicy | None = None
        self.policy_since_ms = 0
        """Evidence of before was judged by another policy, or by none."""
        self.quarantines: dict[str, Quarantined] = {}
        """By node, whether it is there or has departed."""
        self._enrolled: dict[str, dict[EvidenceKind, Enrolment]] = {}
        self._identities: dict[str, str] = {}
        self._standing: dict[str, dict[EvidenceKind, Held]] = {}
        self._rules: dict[str, PoolRule | None] = {}
        self._heap: list[tuple[int, str]] = []
        self._due: dict[str, int] = {}

    # -- looking -----------------------------------------------------------------------------

    def enrolled(self, node: str) -> Mapping[EvidenceKind, Enrolment]:
        """The node's enrolments, by kind."""
        return self._enrolled.get(node, {})

    @property
    def names_enrolled(self) -> Collection[str]:
        """Every name with an enrolment, whether such a node is there or not."""
        return self._enrolled.keys()

    def node_of(self, identity: str) -> str | None:
        """The name under which a machine is enrolled."""
        return self._identities.get(identity)

    def mints(self, node: str) -> bool:
        """Whether the node holds a key of its own for tokens."""
        return any(CAPABILITY_KEY in each.keys for each in self.enrolled(node).values())

    def standing(self, node: str) -> NodeTrust | None:
        """The verdicts that count of a node; ``None`` if there is none."""
        return self._standing.get(node)

    def rule_of(self, node: str) -> PoolRule | None:
        """What is asked of the node; ``None`` if nothing is."""
        if node in self._rules:
            return self._rules[node]
        return None if self.policy is None else self.policy.pool_of(node)

    def until_ms(self, node: str, held: Held) -> int:
        """The last moment at which trusted evidence counts."""
        rule, until = self.rule_of(node), held.valid_until_ms or 0
        return until if rule is None else min(until, held.at_ms + rule.max_age_ms)

    def lapsed(self, node: str, now_ms: int) -> list[tuple[EvidenceKind, Held]]:
        """The trusted evidence of a node that is too old now, in the order of kinds."""
        found = self._standing.get(node, {})
        rows = ((kind, found[kind]) for kind in EvidenceKind if kind in found)
        return [row for row in rows if row[1].is_trusted and self.until_ms(node, row[1]) < now_ms]

    def trusted_kinds(self, node: str, *, after: int = -1, now_ms: int = -1) -> set[EvidenceKind]:
        """Kinds whose evidence is believed: by a record after that one, and not too old then."""
        return {
            kind
            for kind, held in self._standing.get(node, {}).items()
            if held.is_trusted and held.seq > after and self.until_ms(node, held) >= now_ms
        }

    def is_gated(self, node: str) -> bool:
        """Whether the node has yet to prove what is asked of it."""
        rule = self.rule_of(node)
        return rule is not None and not rule.require.holds(self.trusted_kinds(node))

    def stale_since_ms(self, node: str) -> int | None:
        """Since when the requirement fails because evidence lapsed; ``None`` if it does not."""
        rule, found = self.rule_of(node), self._standing.get(node, {})
        if rule is None or not self.is_gated(node):
            return None
        stale = [
            (held.at_ms, kind)
            for kind, held in found.items()
            if held.verdict is AttestationWord.STALE and kind in rule.require.kinds
        ]
        trusted = self.trusted_kinds(node)
        for at_ms in sorted({row[0] for row in stale}):
            if not rule.require.holds(trusted | {kind for late, kind in stale if late > at_ms}):
                return at_ms
        return None

    def labels(self, node: str) -> dict[str, str]:
        """What the node has proven, as labels."""
        return {
            label_key(kind, claim): value
            for kind, held in self._standing.get(node, {}).items()
            if held.is_trusted
            for claim, value in held.claims.items()
        }

    def state_of(self, node: str, now_ms: int) -> AttestationState:
        """How the node stands as a whole, at that time."""
        rule, found = self.rule_of(node), self._standing.get(node, {})
        if rule is None and not found:  # most nodes of a fleet that asks for nothing
            return AttestationState.UNATTESTED
        asked = found.keys() if rule is None else rule.require.kinds & found.keys()
        words = {found[kind].verdict for kind in asked}
        if AttestationWord.UNTRUSTED in words:
            return AttestationState.UNTRUSTED
        trusted = self.trusted_kinds(node, now_ms=now_ms)
        if rule.require.holds(trusted) if rule is not None else bool(trusted):
            return AttestationState.TRUSTED
        late = {kind for kind in asked if found[kind].is_trusted} - trusted
        if late or AttestationWord.STALE in words:
            return AttestationState.STALE
        if AttestationWord.UNSUPPORTED in words:
            return AttestationState.UNSUPPORTED
        return AttestationState.UNATTESTED

    # -- what is due ---------------------------------------------------------------------------

    @property
    def next_due_ms(self) -> int | None:
        """When something lapses next."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)  # bounded: every round drops one
        return self._heap[0][0] if self._heap else None

    def first_due(self, now_ms: int) -> str | None:
        """The node about which something is due first, if that is now."""
        due_ms = self.next_due_ms
        return self._heap[0][1] if due_ms is not None and due_ms <= now_ms else None

    def _reckon(self, node: str) -> None:
        """Find out anew when something is due about a node."""
        ends = [
            self.until_ms(node, held) + 1
            for held in self._standing.get(node, {}).values()
            if held.is_trusted
        ]
        since, rule = self.stale_since_ms(node), self.rule_of(node)
        if since is not None and rule is not None and node not in self.quarantines:
            ends.append(since + rule.stale_grace_ms)
        if not ends:
            self._due.pop(node, None)
            return
        due_ms = min(ends)
        if self._due.get(node) != due_ms:
            self._due[node] = due_ms
            heappush(self._heap, (due_ms, node))
        if len(self._heap) > 2 * len(self._due) + _SLACK:
            self._heap = [(at_ms, name) for name, at_ms in self._due.items()]
            heapify(self._heap)

    # -- changing ------------------------------------------------------------------------------

    def set_policy(self, policy: TrustPolicy, *, since_ms: int = 0) -> None:
        """This is asked of nodes from then on."""
        self.policy, self.policy_since_ms = policy, since_ms
        self._rules = {node: policy.pool_of(node) for node in self._rules}
        for node in self._standing:
            self._reckon(node)

    def join(self, node: str) -> None:
        """A node is there; it has proven nothing yet."""
        self._rules[node] = None if self.policy is None else self.policy.pool_of(node)

    def leave(self, node: str) -> None:
        """A node is gone, and what it proved with it; its keys and its quarantine stay."""
        del self._rules[node]
        self.forget(node)

    def forget(self, node: str) -> None:
        """Nothing that the node proved counts any more."""
        self._standing.pop(node, None)
        self._reckon(node)

    def put(self, node: str, kind: EvidenceKind, *, held: Held, is_lapse: bool = False) -> None:
        """One more verdict, if it counts: evidence that says nothing changes nothing that stands.

        Else a node could put off the end of its grace, or cover bad evidence, with more of that.
        """
        found = self._standing.setdefault(node, {})
        before = found.get(kind)
        stands = before is not None and before.verdict is not AttestationWord.UNSUPPORTED
        if stands and held.verdict in _WEAK and not is_lapse:
            return
        found[kind] = held
        self._reckon(node)

    def enrol(self, node: str, enrolment: Enrolment, *, at_ms: int = 0, seq: int = 0) -> None:
        """A node's keys of one kind; what it proved with others is too old from now on.

        Not forgotten: else a node could put off the end of its grace with new keys, for ever.
        """
        kind = enrolment.kind
        held = self._standing.get(node, {}).get(kind)
        self.withdraw(node, kind)
        self._enrolled.setdefault(node, {})[kind] = enrolment
        self._identities[enrolment.identity] = node
        if held is not None and held.is_trusted:
            held = Held(AttestationWord.STALE, None, None, {}, held.evidence, at_ms, seq)
        if held is not None and held.verdict is AttestationWord.STALE:
            self.put(node, kind, held=held)

    def withdraw(self, node: str, kind: EvidenceKind) -> None:
        """A node's keys of one kind are gone, and what it proved with them."""
        enrolments = self._enrolled.get(node, {})
        gone = enrolments.pop(kind, None)
        if gone is not None and all(gone.identity != e.identity for e in enrolments.values()):
            del self._identities[gone.identity]
        if node in self._enrolled and not enrolments:
            del self._enrolled[node]
        if self._standing.get(node, {}).pop(kind, None) is not None:
            if not self._standing[node]:
                del self._standing[node]
            self._reckon(node)

    def quarantine(self, node: str, why: Quarantined) -> None:
        """The node is in quarantine."""
        self.quarantines[node] = why
        self._reckon(node)

    def lift(self, node: str) -> None:
        """The node is in quarantine no more."""
        del self.quarantines[node]
        self._reckon(node)

    # -- as plain values -----------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """Everything as plain lists, in an order that follows from the journal."""
        return {
            "policy": None if self.policy is None else self.policy.text,
            "policy_since_ms": self.policy_since_ms,
            "enrolled": [
                [node, e.kind.value, e.identity, [list(pair) for pair in paired(e.keys)]]
                for node, enrolments in sorted(self._enrolled.items())
                for _, e in sorted(enrolments.items())
            ],
            "standing": [
                [node, kind.value, *_held_row(held)]
                for node, found in sorted(self._standing.items())
                for kind, held in sorted(found.items())
            ],
            "quarantines": [
                [node, why.reason, why.evidence, why.since_ms, why.seq]
                for node, why in sorted(self.quarantines.items())
            ],
        }

    def load(self, dumped: dict[str, Any]) -> None:
        """Fill an empty book, in which the nodes that are there have joined already."""
        for node, kind, identity, pairs in dumped["enrolled"]:
            self.enrol(node, Enrolment(EvidenceKind(kind), dict(pairs), identity))
        for node, reason, evidence, since_ms, seq in dumped["quarantines"]:
            self.quarantines[node] = Quarantined(reason, evidence, since_ms, seq)
        for node, kind, *row in dumped["standing"]:
            self._standing.setdefault(node, {})[EvidenceKind(kind)] = _held_of(*row)
        if dumped["policy"] is not None:
            policy = TrustPolicy.read(dumped["policy"])
            self.set_policy(policy, since_ms=dumped["policy_since_ms"])
        for node in self._standing:
            self._reckon(node)


def _held_row(held: Held) -> list[Any]:
    reason = None if held.reason is None else held.reason.value
    claims: Pairs = paired(held.claims)
    return [
        *(held.verdict.value, reason, held.valid_until_ms, [list(pair) for pair in claims]),
        *(held.evidence, held.at_ms, held.seq),
    ]


def _held_of(verdict: str, reason: str | None, *rest: Any) -> Held:
    until_ms, claims, evidence, at_ms, seq = rest
    word = None if reason is None else UntrustedReason(reason)
    return Held(AttestationWord(verdict), word, until_ms, dict(claims), evidence, at_ms, seq)

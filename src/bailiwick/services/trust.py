"""Trust: nodes enrol and attest, operators say what is asked of them.

Rules:

- A node speaks for itself alone, anybody else with the key to report for every node; as with all
  reports. What operators decide (policy, withdrawal, lifting) needs the key to operate nodes.
- Nonces and challenges are in the leader's memory: a follower passes these requests on.
- Whoever may answer for a node holds its word: evidence that is judged and is bad closes the node.
  What the gate does not judge never reaches the kernel.
- A policy is set only if every section of it can be built into a verifier: a mistake is told with
  its field when it is made, not when the first node is refused.
- That keys are not taken is a decision, and so a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.policy import PoolRule, TrustPolicy
from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported, Untrusted
from bailiwick.attestation.verifiers import verifiers_of
from bailiwick.iam import FLEET, Permission
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import Done, EnrolNode, RecordVerdict, SetTrustPolicy, WithdrawEnrolment
from bailiwick.kernel.trust.book import Enrolment, Held
from bailiwick.ports import Clock
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.gate.attesting import (
    Attesting,
    Judged,
    due_at,
    known_of,
    pool_here,
    pool_of,
)
from bailiwick.services.gate.enrolling import Challenge, Enrolling, EnrolmentRefused
from bailiwick.services.gate.nonces import Nonce, Randomness
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState

Parts: TypeAlias = Mapping[str, bytes]
"""What is offered, answered or proven, by name."""


class Gate:
    """What one server process remembers of those that it asks to prove themselves."""

    def __init__(self, clock: Clock, randomness: Randomness) -> None:
        self.attesting = Attesting(clock, randomness)
        self.enrolling = Enrolling(self.attesting, clock, randomness=randomness)


# -- enrolment -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The node is known by these keys; ``identity`` is the digest of what cannot be copied."""

    kind: EvidenceKind
    identity: str
    seq: int | None


async def offer(
    caller: Caller, gate: Gate, *, node: str, kind: EvidenceKind, parts: Deferred[Parts]
) -> Challenge | EnrolmentRefused:
    """Offer the keys by which a node wants to be known; answered with a challenge to prove them."""
    caller.require_node(node)
    caller.key = None  # a challenge is asked once, and never again under any key
    offered = parts()
    pool = await caller.lookup(lambda view: pool_here(view, node))
    return await asyncio.to_thread(
        gate.enrolling.challenge,
        pool,
        node,
        kind=kind,
        parts=offered,
        is_vouched=caller.holds(Permission.NODE_OPERATE),
        dry_run=caller.dry_run,
    )


async def prove(
    caller: Caller, gate: Gate, *, node: str, enrolment_id: str, parts: Deferred[Parts]
) -> Enrolled | EnrolmentRefused:
    """Have the node's keys known, if its answer is right; the challenge is over either way."""
    caller.require_node(node)
    answered = parts()
    pool = await caller.lookup(lambda view: pool_here(view, node))
    found = await asyncio.to_thread(
        gate.enrolling.check_answer,
        pool,
        node,
        enrolment_id=enrolment_id,
        parts=answered,
        dry_run=caller.dry_run,
    )
    if isinstance(found, EnrolmentRefused):
        return found
    if caller.dry_run:
        return Enrolled(found.kind, found.identity, None)
    keys = {name: value.hex() for name, value in found.keys.items()}
    done = await caller.change(EnrolNode(node, found.kind, keys, found.identity))
    return Enrolled(found.kind, found.identity, done.seq)


async def withdraw(caller: Caller, node: str, *, kind: EvidenceKind) -> Done:
    """A node's keys of one kind no longer count; it may then enrol with others."""
    caller.require(FLEET)
    return await caller.change(WithdrawEnrolment(node, kind))


# -- evidence --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Presented:
    """What became of an answer: the verdicts, how the node stands, and when it is due again."""

    judged: tuple[Judged, ...]
    state: AttestationState
    refresh_ms: int | None


async def make_nonce(caller: Caller, gate: Gate, *, node: str) -> Nonce | None:
    """A nonce for a node to answer, in place of any that it has; none in a dry run."""
    caller.require_node(node)
    if caller.dry_run:
        await caller.lookup(lambda view: pool_here(view, node))
        return None
    return await caller.lookup(lambda view: gate.attesting.nonce(view, node))


async def attest(
    caller: Caller, gate: Gate, *, node: str, nonce: bytes, pieces: Deferred[Sequence[Evidence]]
) -> Presented:
    """Judge a node's answer and have the kernel act on it; a dry run only judges."""
    caller.require_node(node)
    caller.key = None  # what makes an answer unique is its nonce
    presented = pieces()
    known = await caller.lookup(lambda view: known_of(view, node))
    judged = await asyncio.to_thread(
        gate.attesting.judge, known, node, nonce=nonce, pieces=presented, dry_run=caller.dry_run
    )
    if not caller.dry_run:
        judged = tuple([await _sealed(caller, node, each, basis=known.basis) for each in judged])

    def standing(view: View) -> tuple[AttestationState, int | None]:
        at_ms = due_at(view.state, node, rule=known.pool.rule)
        return view.state.trust.state_of(node, view.now_ms), at_ms

    return Presented(judged, *await caller.lookup(standing))


async def _sealed(caller: Caller, node: str, judged: Judged, *, basis: str) -> Judged:
    """The verdict once the kernel has it; what came too late for that is told, and asked again."""
    if not judged.is_sealed:
        return judged
    try:
        await caller.change(replace(_command(node, judged), basis=basis))
    except Conflict as error:
        verdict = Untrusted(UntrustedReason.NONCE_SPENT, str(error))
        return replace(judged, verdict=verdict, is_sealed=False)
    return judged


def _command(node: str, judged: Judged) -> RecordVerdict:
    match judged.verdict:
        case Trusted(claims, valid_until_ms):
            word, digest = AttestationWord.TRUSTED, judged.evidence
            return RecordVerdict(node, judged.kind, word, digest, None, valid_until_ms, claims)
        case Untrusted(reason):
            word = AttestationWord.UNTRUSTED
            return RecordVerdict(node, judged.kind, word, judged.evidence, reason)
        case StaleEvidence():
            return RecordVerdict(node, judged.kind, AttestationWord.STALE, judged.evidence)
        case Unsupported():
            return RecordVerdict(node, judged.kind, AttestationWord.UNSUPPORTED, judged.evidence)


# -- how nodes stand -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttestationStanding:
    """How far a node is trusted and why, what is asked of it, and by which keys it is known."""

    state: AttestationState
    quarantined: bool
    rule: PoolRule | None
    """What its pool asks; none if it is in no pool."""
    refresh_ms: int | None
    standing: Mapping[EvidenceKind, Held]
    enrolled: Mapping[EvidenceKind, Enrolment]


async def read_attestation(caller: Caller, node: str) -> AttestationStanding:
    """How a node stands."""
    caller.require_within(FLEET)

    def read(view: View) -> AttestationStanding:
        state, book = view.state, view.state.trust
        entry, pool = state.ledger.entry(node), pool_of(state, node)
        rule = None if pool is None else pool.rule
        return AttestationStanding(
            state=book.state_of(node, view.now_ms),
            quarantined=entry.quarantined,
            rule=rule,
            refresh_ms=None if rule is None else due_at(state, node, rule=rule),
            standing=dict(sorted((book.standing(node) or {}).items())),
            enrolled=dict(sorted(book.enrolled(node).items())),
        )

    return await caller.read(read)


# -- policy ----------------------------------------------------------------------------------


async def read_policy(caller: Caller) -> TrustPolicy:
    """Which nodes must prove what."""
    caller.require(FLEET)
    found = await caller.lookup(lambda view: view.state.trust.policy)
    return found or TrustPolicy.read('{"pools": {}}')


async def set_policy(caller: Caller, document: str) -> Done:
    """Replace the whole policy; one with a mistake is refused. Every node is then judged by it."""
    caller.require(FLEET)
    policy = TrustPolicy.read(document)
    await asyncio.to_thread(_check_policy, policy)
    return await caller.change(SetTrustPolicy(policy.text))


def _check_policy(policy: TrustPolicy) -> None:
    for rule in policy.pools:
        verifiers_of(rule)

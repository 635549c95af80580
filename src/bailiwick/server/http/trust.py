"""Handlers for trust: nodes enrol and attest, operators say what is asked of them.

Rules:

- A node speaks for itself alone, anybody else with the key to report for every node; as with all
  reports. What operators decide (policy, withdrawal, lifting) needs the key to operate nodes.
- Nonces and challenges are in the leader's memory: a follower passes these requests on.
- A policy is set only if every section of it can be built into a verifier: a mistake is told with
  its field when it is made, not when the first node is refused.
- That keys are not taken is a decision: 409 with the reason's word in ``details``.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Response

from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.policy import TrustPolicy
from bailiwick.attestation.verdict import Stale, Trusted, Unsupported, Untrusted
from bailiwick.iam import FLEET, Permission
from bailiwick.kernel import SetTrustPolicy, WithdrawEnrolment
from bailiwick.runtime.replica import View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import PathName
from bailiwick.server.problems import Trouble
from bailiwick.services.attesting import (
    Attesting,
    Judged,
    Presented,
    due_at,
    pool_here,
    pool_of,
)
from bailiwick.services.caller import may_everywhere
from bailiwick.services.enrolling import Enrolling, EnrolmentRefused
from bailiwick.services.nodes import require_node
from bailiwick.services.nonces import Nonce
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.wire import trust as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.problem import EdgeCode

KindQuery = Annotated[EvidenceKind, Query(description="Of which kind.")]

# -- enrolment -------------------------------------------------------------------------------


@answers("node.enrol")
async def offer_keys(
    asked: Changing, node: PathName, *, body: wire.EnrolmentOffer
) -> wire.EnrolmentChallenge:
    """Offer the keys by which a node wants to be known; answers with a challenge to prove them."""
    require_node(asked, node)
    asked.key = None  # a challenge is asked once, and never again under any key
    found = await _enrolling(asked).offer(
        asked,
        node,
        kind=body.kind,
        parts=_bytes(body.parts),
        is_vouched=may_everywhere(asked.principal, Permission.NODE_OPERATE, scopes={FLEET}),
        dry_run=asked.dry_run,
    )
    if isinstance(found, EnrolmentRefused):
        raise _refused(found)
    return wire.EnrolmentChallenge(
        enrolment_id=found.enrolment_id,
        parts={name: _text(value) for name, value in found.parts.items()},
        expires_ms=asked.house.door.clock.now_ms() + found.left_ms,
    )


@answers("node.prove")
async def prove_keys(
    asked: Changing, node: PathName, *, body: wire.EnrolmentProof
) -> wire.Enrolled:
    """Answer the challenge; from then on the node is known by its keys."""
    require_node(asked, node)
    found = await _enrolling(asked).prove(
        asked,
        node,
        enrolment_id=body.enrolment_id,
        parts=_bytes(body.parts),
        dry_run=asked.dry_run,
    )
    if isinstance(found, EnrolmentRefused):
        raise _refused(found)
    return wire.Enrolled(node=node, kind=found.kind, identity=found.identity, seq=found.seq)


@answers("node.withdraw")
async def withdraw_enrolment(asked: Changing, node: PathName, *, kind: KindQuery) -> Done:
    """A node's keys of one kind no longer count; it may then enrol with others."""
    asked.require(FLEET)
    return await asked.do(WithdrawEnrolment(node, kind))


def _refused(found: EnrolmentRefused) -> Trouble:
    message = f"these keys are not taken: {found.reason.value}, {found.where}"
    return Trouble(EdgeCode.REFUSED, message, {"reason": found.reason.value})


# -- evidence --------------------------------------------------------------------------------


@answers("node.nonce")
async def make_nonce(asked: Changing, node: PathName) -> wire.NewNonce:
    """A nonce for a node to answer, once; one that it had before counts no more."""
    require_node(asked, node)
    attesting = attesting_of(asked)
    if asked.dry_run:
        await asked.read(lambda view: pool_here(view, node))
        return wire.NewNonce(node=node, nonce="", expires_ms=0)
    found: Nonce = await asked.read(lambda view: attesting.nonce(view, node))
    expires_ms = asked.house.door.clock.now_ms() + found.left_ms
    return wire.NewNonce(node=node, nonce=found.value.hex(), expires_ms=expires_ms)


@answers("node.attest")
async def attest(asked: Changing, node: PathName, *, body: wire.Attestation) -> wire.Attested:
    """Present evidence for a nonce; bad evidence closes the node, an unknown nonce does nothing."""
    require_node(asked, node)
    asked.key = None  # what makes an answer unique is its nonce
    pieces = [Evidence(piece.kind, _bytes(piece.parts)) for piece in body.pieces]
    found = await attesting_of(asked).present(
        asked, node, nonce=bytes.fromhex(body.nonce), pieces=pieces, dry_run=asked.dry_run
    )
    _count_unjudged(asked, found)
    return wire.Attested(
        node=node,
        state=found.state,
        verdicts=[_verdict(each) for each in found.judged],
        refresh_ms=found.refresh_ms,
    )


@answers("node.attestation")
async def read_attestation(asked: Here, node: PathName) -> wire.NodeAttestation:
    """How far a node is trusted and why, what is asked of it, and by which keys it is known."""
    asked.require_within(FLEET)

    def read(view: View) -> wire.NodeAttestation:
        state, book = view.state, view.state.trust
        entry, pool = state.ledger.entry(node), pool_of(state, node)
        rule = None if pool is None else pool.rule
        standing = [
            wire.KindStanding(
                kind=kind,
                verdict=held.verdict.value,
                reason=held.reason,
                at_ms=held.at_ms,
                valid_until_ms=held.valid_until_ms,
                claims=dict(held.claims),
                evidence=held.evidence,
            )
            for kind, held in sorted((book.standing(node) or {}).items())
        ]
        enrolments = [
            wire.EnrolmentRow(kind=kind, identity=each.identity, keys=sorted(each.keys))
            for kind, each in sorted(book.enrolled(node).items())
        ]
        return wire.NodeAttestation(
            node=node,
            state=book.state_of(node, view.now_ms),
            quarantined=entry.quarantined,
            pool=None if rule is None else rule.name,
            require=None if rule is None else rule.require.text,
            max_age_ms=None if rule is None else rule.max_age_ms,
            refresh_ms=None if rule is None else due_at(state, node, rule=rule),
            standing=standing,
            enrolments=enrolments,
        )

    return await asked.read(read)


def _count_unjudged(asked: Asked, found: Presented) -> None:
    """The journal counts what is sealed; what is not is seen here or nowhere."""
    telemetry = asked.house.parts.telemetry
    for each in found.judged:
        if telemetry is not None and not each.is_sealed and isinstance(each.verdict, Untrusted):
            reason = each.verdict.reason.value
            telemetry.metrics.count("bailiwick_unjudged_evidence_total", reason)


def _verdict(judged: Judged) -> wire.KindVerdict:
    found: dict[str, Any] = {
        "kind": judged.kind,
        "evidence": judged.evidence,
        "is_sealed": judged.is_sealed,
    }
    match judged.verdict:
        case Trusted(claims, valid_until_ms):
            return wire.KindVerdict(
                verdict="trusted", valid_until_ms=valid_until_ms, claims=dict(claims), **found
            )
        case Untrusted(reason, where):
            return wire.KindVerdict(verdict="untrusted", reason=reason, where=where[:500], **found)
        case Stale(until_ms):
            return wire.KindVerdict(verdict="stale", valid_until_ms=until_ms, **found)
        case Unsupported(why):
            return wire.KindVerdict(verdict="unsupported", where=why[:500], **found)


# -- policy ----------------------------------------------------------------------------------


@answers("trust_policy.read")
async def read_policy(asked: Here, response: Response) -> wire.TrustPolicy:
    """Which nodes must prove what; the ``ETag`` is the policy's digest."""
    asked.require(FLEET)
    found = await asked.read(lambda view: view.state.trust.policy)
    policy = found or TrustPolicy.read('{"pools": {}}')
    response.headers["etag"] = f'"{policy.digest}"'
    return wire.TrustPolicy(document=policy.text, digest=policy.digest)


@answers("trust_policy.set")
async def set_policy(asked: Changing, body: wire.TrustPolicyChange) -> Done:
    """Replace the whole policy; one with a mistake is refused. Every node is then judged by it."""
    asked.require(FLEET)
    policy = TrustPolicy.read(body.document)
    await asyncio.to_thread(_check_policy, policy)
    return await asked.do(SetTrustPolicy(policy.text))


def _check_policy(policy: TrustPolicy) -> None:
    from bailiwick.attestation.verifiers import verifiers_of

    for rule in policy.pools:
        verifiers_of(rule)


# -- what they share -------------------------------------------------------------------------


def attesting_of(asked: Asked) -> Attesting:
    """The gate at work, where this server has one."""
    found = asked.house.parts.attesting
    if found is None:
        raise Unavailable("attestation", "this server judges no evidence")
    return found


def _enrolling(asked: Asked) -> Enrolling:
    found = asked.house.parts.enrolling
    if found is None:
        raise Unavailable("enrolment", "this server judges no evidence")
    return found


def _bytes(parts: Mapping[str, str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, text in parts.items():
        try:
            found[name] = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidValue(f"parts.{name}", text[:40], "bytes in base64") from None
    return found


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()

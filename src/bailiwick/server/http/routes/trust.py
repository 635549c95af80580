"""Routes for trust: nodes enrol and attest, operators say what is asked of them.

That keys are not taken is a decision: 409 with the reason's word in ``details``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any, assert_never

from fastapi import Query, Response

from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported, Untrusted
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import PathName
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services import trust
from bailiwick.services.gate.attesting import Judged
from bailiwick.services.gate.enrolling import EnrolmentRefused
from bailiwick.vocab.errors import InvalidValue
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
    found = await trust.offer(
        asked, asked.gate, node=node, kind=body.kind, parts=lambda: _bytes(body.parts)
    )
    if isinstance(found, EnrolmentRefused):
        raise _refused(found)
    return wire.EnrolmentChallenge(
        enrolment_id=found.enrolment_id,
        parts={name: _text(value) for name, value in found.parts.items()},
        expires_ms=asked.clock.now_ms() + found.left_ms,
    )


@answers("node.prove")
async def prove_keys(
    asked: Changing, node: PathName, *, body: wire.EnrolmentProof
) -> wire.Enrolled:
    """Answer the challenge; from then on the node is known by its keys."""
    found = await trust.prove(
        asked,
        asked.gate,
        node=node,
        enrolment_id=body.enrolment_id,
        parts=lambda: _bytes(body.parts),
    )
    if isinstance(found, EnrolmentRefused):
        raise _refused(found)
    return wire.Enrolled(node=node, kind=found.kind, identity=found.identity, seq=found.seq)


@answers("node.withdraw")
async def withdraw_enrolment(asked: Changing, node: PathName, *, kind: KindQuery) -> Done:
    """A node's keys of one kind no longer count; it may then enrol with others."""
    return spell_done(await trust.withdraw(asked, node, kind=kind))


def _refused(found: EnrolmentRefused) -> Trouble:
    message = f"these keys are not taken: {found.reason.value}, {found.where}"
    return Trouble(EdgeCode.REFUSED, message, {"reason": found.reason.value})


# -- evidence --------------------------------------------------------------------------------


@answers("node.nonce")
async def make_nonce(asked: Changing, node: PathName) -> wire.NewNonce:
    """A nonce for a node to answer, once; one that it had before counts no more."""
    found = await trust.make_nonce(asked, asked.gate, node=node)
    if found is None:
        return wire.NewNonce(node=node, nonce="", expires_ms=0)
    expires_ms = asked.clock.now_ms() + found.left_ms
    return wire.NewNonce(node=node, nonce=found.value.hex(), expires_ms=expires_ms)


@answers("node.attest")
async def attest(asked: Changing, node: PathName, *, body: wire.Attestation) -> wire.Attested:
    """Present evidence for a nonce; bad evidence closes the node, an unknown nonce does nothing."""

    def pieces() -> list[Evidence]:
        return [Evidence(piece.kind, _bytes(piece.parts)) for piece in body.pieces]

    nonce = bytes.fromhex(body.nonce)
    found = await trust.attest(asked, asked.gate, node=node, nonce=nonce, pieces=pieces)
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
    found = await trust.read_attestation(asked, node)
    rule = found.rule
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
        for kind, held in found.standing.items()
    ]
    enrolments = [
        wire.EnrolmentRow(kind=kind, identity=each.identity, keys=sorted(each.keys))
        for kind, each in found.enrolled.items()
    ]
    return wire.NodeAttestation(
        node=node,
        state=found.state,
        quarantined=found.quarantined,
        pool=None if rule is None else rule.name,
        require=None if rule is None else rule.require.text,
        max_age_ms=None if rule is None else rule.max_age_ms,
        refresh_ms=found.refresh_ms,
        standing=standing,
        enrolments=enrolments,
    )


def _count_unjudged(asked: Asked, found: trust.Presented) -> None:
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
        case StaleEvidence(until_ms):
            return wire.KindVerdict(verdict="stale", valid_until_ms=until_ms, **found)
        case Unsupported(why):
            return wire.KindVerdict(verdict="unsupported", where=why[:500], **found)
        case _:
            assert_never(judged.verdict)


# -- policy ----------------------------------------------------------------------------------


@answers("trust_policy.read")
async def read_policy(asked: Here, response: Response) -> wire.TrustPolicy:
    """Which nodes must prove what; the ``ETag`` is the policy's digest."""
    policy = await trust.read_policy(asked)
    response.headers["etag"] = f'"{policy.digest}"'
    return wire.TrustPolicy(document=policy.text, digest=policy.digest)


@answers("trust_policy.set")
async def set_policy(asked: Changing, body: wire.TrustPolicyChange) -> Done:
    """Replace the whole policy; one with a mistake is refused. Every node is then judged by it."""
    return spell_done(await trust.set_policy(asked, body.document))


# -- parsing and spelling --------------------------------------------------------------------


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

"""The gate: who is asked to prove itself, with what, and how the answer is judged.

Rules:

- Only an answer to the nonce that the node was last handed is judged, and that nonce is spent by
  it. Anything else (a replay, a guess, an answer that comes too late) is told ``nonce_spent`` and
  is not to be sealed: it says nothing about the node, and nobody may close a healthy node by
  sending junk in its name. The same holds for evidence under a key that was never enrolled.
- Who may answer for a node is decided before (``NODE_REPORT``; a node's own principal for itself
  alone). Whoever may, holds the node's word: evidence that is judged and is bad closes the node.
- A companion (a GPU's report) is asked with a nonce made from the gate's and the node's own key,
  and the node's own piece signs for all companions beside it. Where companions alone are not
  enough for the pool, they are taken only beside such a piece, and beside one they count only if
  it is good: a report from another host's GPU has no way in.
- Several pieces of one kind are one verdict: the worst. A node with one bad GPU is a bad node, and
  so is one with a GPU in its inventory of which there is no report.
- Judging takes its time: it is for a thread, never for the event loop or the kernel. If a
  verifier fails, that is our bug: it counts as untrusted (``verifier_fault``), and the log says
  everything.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bailiwick.attestation.bundle import (
    COMPANIONS,
    OWN,
    check_bundle,
    joint_digest,
    together,
)
from bailiwick.attestation.evidence import (
    Evidence,
    EvidenceContext,
    EvidenceVerifier,
    bound_nonce,
    device_nonce,
)
from bailiwick.attestation.policy import PoolRule, TrustPolicy
from bailiwick.attestation.refresh import refresh_at
from bailiwick.attestation.verdict import Trusted, Unsupported, Untrusted, Verdict
from bailiwick.attestation.verifiers import verifiers_of
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import State
from bailiwick.kernel.trust.rules import basis_of
from bailiwick.ports import Clock
from bailiwick.runtime.replica import Role, View
from bailiwick.services.gate.nonces import Nonce, Nonces, Randomness
from bailiwick.vocab.errors import Conflict, NotLeader
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

ENROLLED: Final = frozenset({EvidenceKind.TPM2, EvidenceKind.ED25519, EvidenceKind.DICE})
"""Kinds that are judged by a key that the node enrolled."""

_LOG = logging.getLogger("bailiwick.attestation")
_REBOOTS = frozenset({NodeMode.MAINTENANCE, NodeMode.RETURNING})


@dataclass(frozen=True, slots=True)
class Pool:
    """The pool that a node is in, and of which policy."""

    policy: TrustPolicy
    rule: PoolRule


@dataclass(frozen=True, slots=True)
class KnownNode:
    """What the state says of a node, as values of its own."""

    pool: Pool
    enrolled: Mapping[EvidenceKind, Mapping[str, bytes]] = field(repr=False)
    previous: Mapping[EvidenceKind, Mapping[str, str]]
    gpus: int
    """GPUs of its inventory."""
    basis: str
    """The digest of all this, by which the kernel knows that it is still so."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict about all evidence of one kind; ``is_sealed`` if the kernel is to be told."""

    kind: EvidenceKind
    verdict: Verdict
    evidence: str
    is_sealed: bool = True


class Attesting:
    """Nonces out, evidence in; one for each server process."""

    def __init__(self, clock: Clock, randomness: Randomness) -> None:
        self._clock = clock
        self._nonces = Nonces(clock, randomness)
        # The verifiers of the policy that was asked for last, by pool: trust anchors are read once.
        self._built: tuple[str, dict[str, dict[EvidenceKind, EvidenceVerifier]]] = ("", {})

    # -- asking ------------------------------------------------------------------------------

    def nonce(self, view: View, node: str) -> Nonce:
        """A new nonce for a node that a pool names."""
        return self._nonces.issue(node, life_ms=pool_here(view, node).rule.nonce_life_ms)

    def due(self, view: View, node: str) -> Nonce | None:
        """The nonce that a node is to answer now; nothing if it need not, or is in no pool."""
        pool = pool_of(view.state, node)
        if pool is None or view.role is not Role.LEADING:
            return None
        at_ms = due_at(view.state, node, rule=pool.rule)
        if at_ms is not None and view.now_ms < at_ms:
            return None
        return self._nonces.remind(node, life_ms=pool.rule.nonce_life_ms)

    # -- judging -----------------------------------------------------------------------------

    def judge(
        self,
        known: KnownNode,
        node: str,
        *,
        nonce: bytes,
        pieces: Sequence[Evidence],
        dry_run: bool,
    ) -> tuple[Judged, ...]:
        """The verdicts about a node's answer; a dry run leaves the nonce as it is."""
        check_bundle(known.pool.rule, pieces)
        use = self._nonces.is_own if dry_run else self._nonces.spend
        if use(node, nonce):
            return self._judge(known, node, nonce=nonce, pieces=pieces)
        spent = Untrusted(UntrustedReason.NONCE_SPENT, "it is not this node's nonce now")
        return _all_refused(pieces, spent)

    def verifiers(self, pool: Pool) -> Mapping[EvidenceKind, EvidenceVerifier]:
        """The verifiers of a pool; built once for each policy."""
        digest, built = self._built
        if digest != pool.policy.digest:
            digest, built = self._built = (pool.policy.digest, {})
        if pool.rule.name not in built:
            built[pool.rule.name] = verifiers_of(pool.rule)
        return built[pool.rule.name]

    def _judge(
        self, known: KnownNode, node: str, *, nonce: bytes, pieces: Sequence[Evidence]
    ) -> tuple[Judged, ...]:
        verifiers, at_ms = self.verifiers(known.pool), self._clock.now_ms()
        nonces = _nonces_for(known, pieces, nonce)
        found: dict[EvidenceKind, list[tuple[Verdict, str]]] = {}
        for piece in pieces:
            asked = EvidenceContext(
                node=node,
                nonce=nonces[piece.kind],
                at_ms=at_ms,
                enrolled=known.enrolled.get(piece.kind, {}),
                previous=known.previous.get(piece.kind, {}),
            )
            verdict = _verdict(verifiers[piece.kind], piece, asked)
            found.setdefault(piece.kind, []).append((verdict, piece.digest))
        own = _own(known, pieces)
        is_vouched = own is not None and isinstance(found[own][0][0], Trusted)
        has_own = any(kind in found for kind in OWN)
        judged: list[Judged] = []
        for kind, rows in found.items():
            verdict = together(kind, [verdict for verdict, _ in rows], gpus=known.gpus)
            is_sealed = kind not in ENROLLED or kind in known.enrolled
            if kind in COMPANIONS and has_own and not is_vouched:
                verdict, is_sealed = Unsupported("no good piece of the node vouches for it"), False
            judged.append(Judged(kind, verdict, joint_digest([row[1] for row in rows]), is_sealed))
        return tuple(judged)


# -- when ------------------------------------------------------------------------------------


def pool_of(state: State, node: str) -> Pool | None:
    """The pool that the node is in, if any."""
    policy, rule = state.trust.policy, state.trust.rule_of(node)
    return None if policy is None or rule is None else Pool(policy, rule)


def due_at(state: State, node: str, *, rule: PoolRule) -> int | None:
    """When a node is to prove itself again; ``None`` if it never has, so that it is due now.

    Evidence that was refused is asked for again as rarely as evidence that was good: a node that
    fails must not fill the journal. What has run out is due at once, and what was judged by an
    older policy within a quarter of the age that evidence may have: spread, for it is all nodes.
    """
    points: list[int] = []
    since_ms = state.trust.policy_since_ms
    for kind, held in (state.trust.standing(node) or {}).items():
        if kind not in rule.require.kinds:
            continue
        until_ms = held.at_ms + rule.max_age_ms
        if held.is_trusted:
            until_ms = state.trust.until_ms(node, held)
        elif held.verdict is AttestationWord.STALE:
            until_ms = held.at_ms
        points.append(refresh_at(node, since_ms=held.at_ms, until_ms=until_ms))
        if held.at_ms <= since_ms:
            whole_ms = rule.max_age_ms
            later = refresh_at(node, since_ms=since_ms, until_ms=since_ms + whole_ms)
            points.append(later - whole_ms // 2)
    return min(points, default=None)


# -- one bundle ------------------------------------------------------------------------------


def _nonces_for(
    known: KnownNode, pieces: Sequence[Evidence], nonce: bytes
) -> Mapping[EvidenceKind, bytes]:
    """What each kind is asked with."""
    digests = [piece.digest for piece in pieces if piece.kind in COMPANIONS]
    own = _own(known, pieces)
    asked = dict.fromkeys(EvidenceKind, nonce)
    asked |= dict.fromkeys(OWN, bound_nonce(nonce, digests))
    identity = None if own is None else _identity(own, known.enrolled.get(own, {}))
    if identity is not None:
        asked |= dict.fromkeys(COMPANIONS, device_nonce(nonce, identity))
    return asked


def _own(known: KnownNode, pieces: Sequence[Evidence]) -> EvidenceKind | None:
    """By which of its own kinds a node vouches for its companions: one that it enrolled."""
    kinds = {piece.kind for piece in pieces}.intersection(known.enrolled)
    return next((kind for kind in OWN if kind in kinds), None)


def _identity(kind: EvidenceKind, enrolled: Mapping[str, bytes]) -> bytes | None:
    """By which key of the host a device is asked: a TPM's key by its name, else the key itself."""
    if kind is EvidenceKind.ED25519:
        return enrolled.get("public_key")
    from bailiwick.attestation.tpm.structures import name_of

    public = enrolled.get("ak_public")
    return None if public is None else name_of(public)


def _verdict(verifier: EvidenceVerifier, piece: Evidence, asked: EvidenceContext) -> Verdict:
    try:
        return verifier.verify(piece, asked)
    except Exception as error:
        _LOG.exception("the %s verifier failed on evidence %s", piece.kind, piece.digest)
        return Untrusted(UntrustedReason.VERIFIER_FAULT, type(error).__name__)


def _all_refused(pieces: Sequence[Evidence], verdict: Untrusted) -> tuple[Judged, ...]:
    kinds = dict.fromkeys(piece.kind for piece in pieces)
    digests = {kind: [p.digest for p in pieces if p.kind is kind] for kind in kinds}
    return tuple(
        Judged(kind, verdict, joint_digest(digests[kind]), is_sealed=False) for kind in kinds
    )


# -- what the state says ---------------------------------------------------------------------


def pool_here(view: View, node: str) -> Pool:
    """The pool of a node that is there, on the replica that keeps the nonces; else an error."""
    view.state.ledger.entry(node)
    if view.role is not Role.LEADING:
        raise NotLeader(None)
    pool = pool_of(view.state, node)
    if pool is None:
        hint = "an operator names it in the attestation policy"
        raise Conflict("node", node, "is in no pool, so nothing is asked of it", hint=hint)
    return pool


def known_of(view: View, node: str) -> KnownNode:
    """What a node's answer is judged by, as it is now."""
    pool, book = pool_here(view, node), view.state.trust
    enrolled = {
        kind: {name: bytes.fromhex(value) for name, value in each.keys.items()}
        for kind, each in book.enrolled(node).items()
    }
    previous: dict[EvidenceKind, Mapping[str, str]] = {}
    if view.state.ledger.entry(node).mode not in _REBOOTS:
        previous = {
            kind: dict(held.claims)
            for kind, held in (book.standing(node) or {}).items()
            if held.is_trusted
        }
    gpus = len(view.state.ledger.entry(node).capacity.gpus)
    return KnownNode(pool, enrolled, previous, gpus, basis_of(view.state, node))

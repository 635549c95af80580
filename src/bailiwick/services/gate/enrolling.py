"""How a node's keys become known: it offers them, is challenged, and proves that it holds them.

Rules:

- A key is taken only if the node's pool allows it: an Ed25519 key that the policy lists, a TPM
  whose endorsement certificate leads to a pinned root, a DICE root that an operator offers. Weak
  keys are refused, whoever lists them.
- A challenge can be answered only by the holder: a nonce to be signed, or a secret that nothing but
  that TPM can decrypt, and only while the attestation key is in the same TPM.
- Each challenge is one node's, asked once, and soon too old; a wrong answer ends it. A node has one
  at a time, and there are at most ``SESSIONS_MAX``.
- The journal's own rules say the rest: a name that is enrolled with another identity, and an
  identity that is enrolled under another name, stay as they are.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from bailiwick.attestation.evidence import NONCE_BYTES, Evidence, EvidenceContext, EvidenceVerifier
from bailiwick.attestation.verdict import (
    EvidenceError,
    StaleEvidence,
    Trusted,
    Unsupported,
    Untrusted,
    Verdict,
    refuse,
)
from bailiwick.ports import Clock
from bailiwick.services.gate.attesting import Attesting, Pool
from bailiwick.services.gate.nonces import Randomness
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

if TYPE_CHECKING:
    from bailiwick.attestation.ed25519 import Ed25519Verifier
    from bailiwick.attestation.tpm.verifier import Tpm2Verifier

SESSIONS_MAX = 10_000
CAPABILITY_KEY: Final = "capability_key"
"""The part of an offer that is the public key by which a node mints lease tokens itself."""

_ID_BYTES = 16
_CHANCE_BYTES = 160
"""What making a TPM's credential takes; as ``attestation.tpm.credential`` says."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What the holder of the offered keys can answer, and for how long from now."""

    enrolment_id: str
    parts: Mapping[str, bytes] = field(repr=False)
    left_ms: int


@dataclass(frozen=True, slots=True)
class EnrolmentRefused:
    """The keys are not taken, and ``where`` says for a person what was looked at."""

    reason: UntrustedReason
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class OfferedKeys:
    """What was offered and found good, what it is challenged with, and what would answer that."""

    kind: EvidenceKind
    keys: Mapping[str, bytes] = field(repr=False)
    identity: str
    challenge: Mapping[str, bytes] = field(repr=False)
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Session:
    enrolment_id: str
    offer: OfferedKeys
    until_ms: int


OfferOutcome: TypeAlias = Challenge | EnrolmentRefused
ProofOutcome: TypeAlias = OfferedKeys | EnrolmentRefused


class Enrolling:
    """The exchanges that are under way; one for each server process. Checking is for a thread."""

    def __init__(self, attesting: Attesting, clock: Clock, *, randomness: Randomness) -> None:
        self._attesting, self._clock, self._randomness = attesting, clock, randomness
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # by node

    def challenge(
        self,
        pool: Pool,
        node: str,
        *,
        kind: EvidenceKind,
        parts: Mapping[str, bytes],
        is_vouched: bool,
        dry_run: bool,
    ) -> OfferOutcome:
        """Look at the keys that a node offers, and challenge it to prove that they are its own.

        ``is_vouched``: an operator offers them on the node's behalf. A dry run challenges nobody.
        """
        if kind is EvidenceKind.DICE and not is_vouched:
            where = "an operator offers a device's root key: no policy lists them"
            return EnrolmentRefused(UntrustedReason.NOT_ENROLLED, where)
        try:
            found = self._check(pool, Evidence(kind, parts))
        except EvidenceError as error:
            return EnrolmentRefused(error.reason, error.where)
        life_ms = pool.rule.nonce_life_ms
        if dry_run:
            return Challenge("", {}, life_ms)
        enrolment_id = self._randomness(_ID_BYTES).hex()
        until_ms = self._clock.elapsed_ms() + life_ms
        self._keep(node, _Session(enrolment_id, found, until_ms))
        return Challenge(enrolment_id, found.challenge, life_ms)

    def check_answer(
        self,
        pool: Pool,
        node: str,
        *,
        enrolment_id: str,
        parts: Mapping[str, bytes],
        dry_run: bool,
    ) -> ProofOutcome:
        """The keys, if the node's answer is right; but for a dry run, the challenge is over."""
        session = self._take(node, enrolment_id, keep=dry_run)
        if session is None:
            where = "no such challenge of this node; offer the keys again"
            return EnrolmentRefused(UntrustedReason.NONCE_SPENT, where)
        offer = session.offer
        try:
            proof = Evidence(offer.kind, parts)
            self._check_proof(pool, node, offer=offer, proof=proof)
        except EvidenceError as error:
            return EnrolmentRefused(error.reason, error.where)
        return offer

    def _verifier(self, pool: Pool, kind: EvidenceKind) -> EvidenceVerifier:
        if kind not in pool.rule.require.kinds:
            wanted = ", ".join(sorted(pool.rule.require.kinds))
            raise InvalidValue("kind", kind.value, f"one that pool {pool.rule.name} asks: {wanted}")
        return self._attesting.verifiers(pool)[kind]

    def _check(self, pool: Pool, offered: Evidence) -> OfferedKeys:
        verifier, secret = self._verifier(pool, offered.kind), self._randomness(NONCE_BYTES)
        match offered.kind:
            case EvidenceKind.ED25519:
                return _ed25519_offer(cast("Ed25519Verifier", verifier), offered, nonce=secret)
            case EvidenceKind.TPM2:
                chance = self._randomness(_CHANCE_BYTES)
                tpm, at_ms = cast("Tpm2Verifier", verifier), self._clock.now_ms()
                return _tpm_offer(tpm, offered, secret=secret, chance=chance, at_ms=at_ms)
            case EvidenceKind.DICE:
                return _dice_offer(offered, nonce=secret)
            case _:
                expected = "ed25519, tpm2 or dice: evidence of other kinds needs no enrolment"
                raise InvalidValue("kind", offered.kind.value, expected)

    def _check_proof(self, pool: Pool, node: str, *, offer: OfferedKeys, proof: Evidence) -> None:
        verifier = self._verifier(pool, offer.kind)  # the policy may have changed meanwhile
        match offer.kind:
            case EvidenceKind.ED25519:
                _check_signed(node, offer, proof)
            case EvidenceKind.DICE:
                # Whoever can attest by the root key holds it; an answer is evidence like any other.
                at_ms = self._clock.now_ms()
                asked = EvidenceContext(
                    node=node, nonce=offer.secret, at_ms=at_ms, enrolled=offer.keys
                )
                _check_trusted(verifier.verify(proof, asked))
            case _:
                proof.only("secret")
                if not compare_digest(proof.part("secret"), offer.secret):
                    where = "the TPM did not decrypt the secret"
                    raise refuse(UntrustedReason.IDENTITY_MISMATCH, where)

    def _keep(self, node: str, session: _Session) -> None:
        with self._lock:
            self._sessions[node] = session
            self._sessions.move_to_end(node)
            if len(self._sessions) > SESSIONS_MAX:
                self._sessions.popitem(last=False)

    def _take(self, node: str, enrolment_id: str, *, keep: bool) -> _Session | None:
        """That challenge, which is over unless ``keep``, if it is this node's and not too old."""
        with self._lock:
            session = self._sessions.get(node)
            if session is None or not compare_digest(session.enrolment_id, enrolment_id):
                return None
            if not keep:
                del self._sessions[node]
        return session if self._clock.elapsed_ms() < session.until_ms else None


def _ed25519_offer(verifier: Ed25519Verifier, offered: Evidence, *, nonce: bytes) -> OfferedKeys:
    offered.only("public_key", CAPABILITY_KEY)
    public_key = offered.part("public_key")
    verifier.check_enrolment(public_key)
    keys = {"public_key": public_key} | _capability_key(offered)
    identity = sha256(public_key).hexdigest()
    return OfferedKeys(EvidenceKind.ED25519, keys, identity, {"nonce": nonce}, nonce)


def _dice_offer(offered: Evidence, *, nonce: bytes) -> OfferedKeys:
    from bailiwick.attestation.dice.keys import read_public_key, spki_of

    offered.only("root_public_key", CAPABILITY_KEY)
    root = offered.part("root_public_key")
    if spki_of(read_public_key(root)) != root:
        raise refuse(UntrustedReason.MALFORMED, "a root key that is not written canonically")
    keys = {"root_public_key": root} | _capability_key(offered)
    identity = sha256(root).hexdigest()
    return OfferedKeys(EvidenceKind.DICE, keys, identity, {"nonce": nonce}, nonce)


def _tpm_offer(
    verifier: Tpm2Verifier, offered: Evidence, *, secret: bytes, chance: bytes, at_ms: int
) -> OfferedKeys:
    from bailiwick.attestation.tpm.credential import make_credential
    from bailiwick.attestation.tpm.keys import check_ak, check_ek, identity_of, read_ek

    offered.only("ek_public", "ek_certificate", "ek_intermediates", "ak_public", CAPABILITY_KEY)
    ek_public, certificate = offered.part("ek_public"), offered.part("ek_certificate")
    ak_public = offered.part("ak_public")
    check_ek(
        ek_public,
        certificate,
        intermediates=offered.parts.get("ek_intermediates", b""),
        roots=verifier.ek_roots,
        at_ms=at_ms,
    )
    ak = check_ak(ak_public)
    made = make_credential(read_ek(ek_public), ak.name, secret=secret, chance=chance)
    keys = {name: value for name, value in offered.parts.items() if name != CAPABILITY_KEY}
    keys |= _capability_key(offered)
    challenge = {"credential_blob": made.blob, "encrypted_secret": made.encrypted_secret}
    return OfferedKeys(EvidenceKind.TPM2, keys, identity_of(ek_public), challenge, secret)


def _capability_key(offered: Evidence) -> dict[str, bytes]:
    if CAPABILITY_KEY not in offered.parts:
        return {}
    from bailiwick.attestation.ed25519 import check_public_key

    key = offered.part(CAPABILITY_KEY)
    check_public_key(key)
    return {CAPABILITY_KEY: key}


def _check_signed(node: str, offer: OfferedKeys, proof: Evidence) -> None:
    from bailiwick.attestation.ed25519 import check_signature, enrolment_statement

    proof.only("signature")
    statement = enrolment_statement(node, offer.secret)
    check_signature(offer.keys["public_key"], statement, signature=proof.part("signature"))


def _check_trusted(verdict: Verdict) -> None:
    match verdict:
        case Trusted():
            return
        case Untrusted(reason, where):
            raise refuse(reason, where)
        case StaleEvidence() | Unsupported():
            raise refuse(UntrustedReason.MALFORMED, "it proves nothing")

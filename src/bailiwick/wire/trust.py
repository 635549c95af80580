"""Trust on the wire: enrolment, nonces, evidence and verdicts; lease tokens and who checks them.

Rules:

- Bytes are base64 (evidence) or lower-case hexadecimal (nonces, digests, keys).
- A verdict has ``verdict`` and, if it is ``untrusted``, ``reason``; ``is_sealed`` says whether it
  counts for the node and is in the journal.
- A lease token is in the answer that made it and nowhere else.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from bailiwick.vocab.words import AttestationState
from bailiwick.wire.base import Model, Name, Number, Within

POLICY_BYTES_MAX = 48 * 1024
NOTE_CHARS_MAX = 500
PIECES_MAX = 33
TOKEN_TTL_MS_MAX = 300_000

_Kind = Annotated[EvidenceKind, Field(strict=False)]
_State = Annotated[AttestationState, Field(strict=False)]
_Reason = Annotated[UntrustedReason, Field(strict=False)]
_Operation = Annotated[Operation, Field(strict=False)]
VerdictWord = Literal["trusted", "untrusted", "stale", "unsupported"]

Base64 = Annotated[str, Field(max_length=700_000, pattern=r"^[A-Za-z0-9+/]*={0,2}$")]
Parts = Annotated[dict[Name, Base64], Field(min_length=1, max_length=16)]
Hex32 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_SessionId = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


# -- enrolment -------------------------------------------------------------------------------


class EnrolmentOffer(Model):
    """The keys by which a node wants to be known, of one kind."""

    kind: _Kind
    parts: Parts


class EnrolmentChallenge(Model):
    """What only the holder of those keys can answer, and until when; empty in a dry run."""

    enrolment_id: str
    parts: dict[str, str]
    expires_ms: int


class EnrolmentProof(Model):
    """The answer to a challenge; each is asked once."""

    enrolment_id: _SessionId
    parts: Parts


class Enrolled(Model):
    """A node has keys of that kind; ``identity`` is the digest of what cannot be copied with it."""

    node: str
    kind: _Kind
    identity: str
    seq: int | None


# -- evidence --------------------------------------------------------------------------------


class NewNonce(Model):
    """What a node is to answer, once and until then; empty in a dry run."""

    node: str
    nonce: str
    expires_ms: int


class Piece(Model):
    """Evidence of one kind, by its parts."""

    kind: _Kind
    parts: Parts


class Attestation(Model):
    """A node's answer to its nonce: its own evidence, and that of its devices."""

    nonce: Hex32
    pieces: Annotated[list[Piece], Field(min_length=1, max_length=PIECES_MAX)]


class KindVerdict(Model):
    """What was found of all evidence of one kind; ``where`` is for a person."""

    kind: _Kind
    verdict: VerdictWord
    reason: _Reason | None = None
    where: str = ""
    valid_until_ms: int | None = None
    claims: dict[str, str] = Field(default_factory=dict)
    evidence: str
    is_sealed: bool


class Attested(Model):
    """What became of an answer; ``refresh_ms`` is when the node will be asked again."""

    node: str
    state: _State
    verdicts: list[KindVerdict]
    refresh_ms: int | None


class KindStanding(Model):
    """The last verdict of one kind that counts."""

    kind: _Kind
    verdict: VerdictWord
    reason: _Reason | None
    at_ms: int
    valid_until_ms: int | None
    claims: dict[str, str]
    evidence: str | None


class EnrolmentRow(Model):
    """Keys that a node is known by, by their names."""

    kind: _Kind
    identity: str
    keys: list[str]


class NodeAttestation(Model):
    """How far a node is trusted, what is asked of it, and why it stands as it does."""

    node: str
    state: _State
    quarantined: bool
    pool: str | None
    require: str | None
    max_age_ms: int | None
    refresh_ms: int | None
    standing: list[KindStanding]
    enrolments: list[EnrolmentRow]


# -- policy ----------------------------------------------------------------------------------


class TrustPolicy(Model):
    """What is asked of which nodes, as the document that was set; the ``ETag`` is its digest."""

    document: str
    digest: str


class TrustPolicyChange(Model):
    """The document (JSON) that is to count from now on, as a whole."""

    document: Annotated[str, Field(min_length=2, max_length=POLICY_BYTES_MAX)]


# -- lease tokens ----------------------------------------------------------------------------


class TokenWish(Model):
    """What a token for a lease is to allow, for whom and for how long."""

    operations: Annotated[list[_Operation], Field(max_length=16)]
    ttl_ms: Annotated[int, Within(1, 2**52)] = TOKEN_TTL_MS_MAX
    audience: Name | None = None
    generation: Number | None = None


class NodeTokenWish(Model):
    """What a token is to allow that a node wants to mint with its own key, for a lease on it."""

    lease_id: Number
    operations: Annotated[list[_Operation], Field(max_length=16)]
    ttl_ms: Annotated[int, Within(1, 2**52)] = TOKEN_TTL_MS_MAX
    generation: Number | None = None


class TokenClaims(Model):
    """What a lease token says."""

    token_id: str
    tenant: str
    lease_id: int
    generation: int
    resource: str
    operations: list[_Operation]
    audience: str
    expires_ms: int


class IssuedLeaseToken(Model):
    """A token, shown this once; empty in a dry run, and where the node mints it."""

    answer: Literal["issued"]
    token: str
    claims: TokenClaims


class CapabilityKeys(Model):
    """The public keys under which lease tokens are believed, as ``ed25519/HEX``.

    A node in ``nodes`` is believed under its own keys alone, any other under the shared ones.
    """

    shared: list[str]
    nodes: dict[str, list[str]]


class Revoked(Model):
    """Leases as [number, lowest generation that counts, when]; no generation means none counts."""

    leases: list[tuple[int, int | None, int]]
    ids: list[tuple[str, int]]


class Revocations(Model):
    """What was renewed or ended of late, so that older tokens count no more.

    Complete from ``complete_from_ms`` on; whoever needs more believes no token of before.
    """

    now_ms: int
    complete_from_ms: int
    revoked: Revoked

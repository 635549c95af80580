"""What records about trust hold: quarantine, enrolment, verdicts, policy and lease tokens.

Rules:

- Evidence is named by its digest and a token by its id. Keys that a node enrolled with are public.
- A policy stands in its record as a whole, cut into texts: a journal alone says what was asked of
  nodes. An enrolled key is "name=digits" in hexadecimal; a long one goes on in the next text.
- Why a node is in quarantine is any name: an operator may say it, or a verdict did.
"""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    LABELS,
    NAME,
    PRINCIPAL,
    TEXT,
    TEXTS,
    ListOf,
    Words,
)
from bailiwick.journal.words import AttestationWord, RecordKind
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation, UntrustedReason

_EVIDENCE_KIND = Words((EvidenceKind,))
_TOKEN: Fields = {
    "audience": PRINCIPAL,
    "operations": ListOf(Words((Operation,))),
    "by_node": AMOUNT,
}

TRUST_BODIES: Mapping[RecordKind, BodySpec] = {
    RecordKind.NODE_QUARANTINED: BodySpec(
        {"node": NAME, "reason": NAME}, {"evidence": DIGEST, "note": TEXT}
    ),
    RecordKind.NODE_QUARANTINE_LIFTED: BodySpec(
        {"node": NAME}, {"evidence": DIGEST, "note": TEXT, "override": AMOUNT}
    ),
    RecordKind.NODE_ENROLLED: BodySpec(
        {"node": NAME, "evidence_kind": _EVIDENCE_KIND, "identity": DIGEST, "keys": TEXTS}
    ),
    RecordKind.NODE_ENROLMENT_WITHDRAWN: BodySpec({"node": NAME, "evidence_kind": _EVIDENCE_KIND}),
    RecordKind.ATTESTATION_VERDICT: BodySpec(
        {
            "node": NAME,
            "verdict": Words((AttestationWord,)),
            "evidence_kind": _EVIDENCE_KIND,
            "evidence": DIGEST,
        },
        {
            "reason": Words((UntrustedReason,)),
            "valid_until_ms": AMOUNT,
            "claims": LABELS,
            "lapsed": AMOUNT,
        },
    ),
    RecordKind.POLICY_CHANGED: BodySpec(
        {"policy": NAME, "digest": DIGEST},
        {"digest_before": DIGEST, "note": TEXT, "document": TEXTS},
    ),
    RecordKind.TOKEN_ISSUED: BodySpec(
        {"token_id": NAME, "lease_id": AMOUNT, "generation": AMOUNT, "expires_ms": AMOUNT}, _TOKEN
    ),
    RecordKind.TOKEN_REFUSED: BodySpec(
        {"reason": Words((MintDenial,))},
        {"token_id": NAME, "lease_id": AMOUNT, "generation": AMOUNT, **_TOKEN},
    ),
}

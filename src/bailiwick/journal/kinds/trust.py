"""What happened to trust: policy, enrolments, verdicts, and tokens granted or refused.

Rules:

- A policy stands in its record as a whole, cut into texts: a journal alone says what was asked of
  nodes. An enrolled key is "name=digits" in hexadecimal; a long one goes on in the next text.
"""

from __future__ import annotations

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
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.ocsf import (
    COMPLIANCE,
    DETECTION,
    ENTITY,
    HIGH,
    MEDIUM,
    OTHER,
    SESSION,
    UPDATE,
    Ocsf,
)
from bailiwick.journal.words import AttestationWord
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation, UntrustedReason

_EVIDENCE_KIND = Words((EvidenceKind,))
_TOKEN: Fields = {
    "audience": PRINCIPAL,
    "operations": ListOf(Words((Operation,))),
    "by_node": AMOUNT,
}


class TrustKinds:
    """The kinds of the trust slice."""

    NODE_QUARANTINED = row(
        "node_quarantined",
        18,
        ocsf=Ocsf(DETECTION, 1, HIGH),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec({"node": NAME, "reason": NAME}, {"evidence": DIGEST, "note": TEXT}),
    )
    NODE_QUARANTINE_LIFTED = row(
        "node_quarantine_lifted",
        19,
        ocsf=Ocsf(DETECTION, 3, MEDIUM),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec({"node": NAME}, {"evidence": DIGEST, "note": TEXT, "override": AMOUNT}),
    )
    NODE_ENROLLED = row(
        "node_enrolled",
        20,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"node": NAME, "evidence_kind": _EVIDENCE_KIND, "identity": DIGEST, "keys": TEXTS}
        ),
    )
    NODE_ENROLMENT_WITHDRAWN = row(
        "node_enrolment_withdrawn",
        21,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"node": NAME, "evidence_kind": _EVIDENCE_KIND}),
    )
    ATTESTATION_VERDICT = row(
        "attestation_verdict",
        24,
        ocsf=Ocsf(COMPLIANCE, 1),
        scope=FLEET,
        body=BodySpec(
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
    )
    POLICY_CHANGED = row(
        "policy_changed",
        26,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"policy": NAME, "digest": DIGEST},
            {"digest_before": DIGEST, "note": TEXT, "document": TEXTS},
        ),
    )
    TOKEN_ISSUED = row(
        "token_issued",
        27,
        ocsf=Ocsf(SESSION, 1),
        body=BodySpec(
            {"token_id": NAME, "lease_id": AMOUNT, "generation": AMOUNT, "expires_ms": AMOUNT},
            _TOKEN,
        ),
    )
    TOKEN_REFUSED = row(
        "token_refused",
        28,
        ocsf=Ocsf(SESSION, OTHER, MEDIUM, is_failure=True),
        scope=FLEET,
        body=BodySpec(
            {"reason": Words((MintDenial,))},
            {"token_id": NAME, "lease_id": AMOUNT, "generation": AMOUNT, **_TOKEN},
        ),
    )

"""Several pieces of evidence sent together: what may stand in a bundle, and what it says as one.

Rules:

- Pieces of kinds that the pool does not ask for are refused, and so is a second piece of the node's
  own; both before anything is judged.
- Several pieces of one kind are one verdict: the worst. Claims are what all of them agree on.
- Devices speak for a node only if every GPU of its inventory is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from bailiwick.attestation.evidence import PIECES_MAX, Evidence
from bailiwick.attestation.policy import PoolRule
from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

COMPANIONS: Final = frozenset({EvidenceKind.GPU_CC})
"""Kinds that say nothing of the host they are in, and so need one that does."""

OWN: Final = (EvidenceKind.TPM2, EvidenceKind.ED25519)
"""Kinds by which a node signs for its companions."""


def check_bundle(rule: PoolRule, pieces: Sequence[Evidence]) -> None:
    """Refuse a bundle that cannot be judged as a whole, before anything is spent on it."""
    if not 1 <= len(pieces) <= PIECES_MAX:
        raise InvalidValue("pieces", len(pieces), f"1 to {PIECES_MAX} pieces")
    kinds = [piece.kind for piece in pieces]
    for index, kind in enumerate(kinds):
        if kind not in rule.require.kinds:
            wanted = ", ".join(sorted(rule.require.kinds))
            raise InvalidValue(f"pieces[{index}].kind", kind.value, f"one of {wanted}")
        if kind not in COMPANIONS and kind in kinds[:index]:
            raise InvalidValue(f"pieces[{index}].kind", kind.value, "one piece of the node's own")
    companions = COMPANIONS.intersection(kinds)
    alone = not any(kind in kinds for kind in OWN)
    if companions and alone and not rule.require.holds(companions):
        expected = "the node's own evidence (tpm2 or ed25519) beside its companions"
        raise InvalidValue("pieces", ", ".join(sorted(companions)), expected)


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """What several pieces of one kind say together: the first that is worst.

    If all are trusted, so is the kind, while all of them are; what they agree on is claimed.
    """
    for sort in (Untrusted, Unsupported, StaleEvidence):
        for each in verdicts:
            if isinstance(each, sort):
                return each
    trusted = [each for each in verdicts if isinstance(each, Trusted)]
    shared = set.intersection(*(set(each.claims.items()) for each in trusted))
    return Trusted(dict(sorted(shared)), min(each.valid_until_ms for each in trusted))


def every_device(verdicts: Sequence[Verdict], *, gpus: int) -> Verdict:
    """What the reports of a node's devices say together, if each of its GPUs is among them.

    One good GPU, asked again and again, must not vouch for the others.
    """
    found = worst(verdicts)
    if not isinstance(found, Trusted):
        return found
    claims = [each.claims for each in verdicts if isinstance(each, Trusted)]
    told = {each.get("device_id") for each in claims if each.get("device") == "gpu"}
    if len(told) < gpus:
        where = f"reports of {len(told)} GPUs, and the node has {gpus}"
        return Untrusted(UntrustedReason.DEVICE_MISSING, where)
    return Trusted({**found.claims, "gpus": str(len(told))}, found.valid_until_ms)


def together(kind: EvidenceKind, verdicts: Sequence[Verdict], *, gpus: int) -> Verdict:
    """What all pieces of one kind say; ``gpus`` is how many the node has."""
    return every_device(verdicts, gpus=gpus) if kind in COMPANIONS else worst(verdicts)


def joint_digest(digests: Sequence[str]) -> str:
    """What is sealed for several pieces; of one, its own digest."""
    if len(digests) == 1:
        return digests[0]
    return sha256("".join(sorted(digests)).encode()).hexdigest()

"""Nitro documents, as they come and signed anew, so that the checks behind the signature run."""

from __future__ import annotations

from collections.abc import Callable

import cbor2

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.cbor import read_sign1
from bailiwick.attestation.nitro import NitroVerifier, read_document
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted
from bailiwick.vocab.trust import EvidenceKind
from tests.support import evidence_nitro as made
from tests.support.certificates import AT_MS

_VERIFIER = NitroVerifier(
    roots=(made.root(),), pcrs={0: frozenset({made.PCRS[0]})}, max_age_ms=60_000
)
_ASKED = EvidenceContext(node="n1", nonce=made.NONCE, at_ms=AT_MS)


def _document(data: bytes) -> None:
    verdict = _VERIFIER.verify(Evidence(EvidenceKind.NITRO, {"document": data}), _ASKED)
    assert isinstance(verdict, Trusted | Untrusted)


def _payload(data: bytes) -> None:
    """The bytes as a payload that the enclave's key signed."""
    _document(made.document(data))


def _shape(data: bytes) -> None:
    try:
        read_document(read_sign1(data))
    except EvidenceError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    "document": _document,
    "payload": _payload,
    "shape": _shape,
}
_GOOD = [made.document(), made.document(made.indefinite(made.payload()))]
SEEDS = {
    "document": _GOOD,
    "payload": [cbor2.dumps(made.payload()), made.indefinite(made.payload())],
    "shape": _GOOD,
}

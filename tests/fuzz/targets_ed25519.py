"""Signed statements: any key, signature and statement, and any statement that the key signed."""

from __future__ import annotations

from collections.abc import Callable

from bailiwick.attestation.ed25519 import Ed25519Verifier
from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.verdict import Trusted, Untrusted
from bailiwick.vocab.trust import EvidenceKind
from tests.support import evidence_ed25519 as made

_KEY = made.public_of("a")
_VERIFIER = Ed25519Verifier(frozenset({_KEY}), frozenset({made.FIRMWARE}), 60_000)
_GOOD = made.evidence().parts


def _anything(data: bytes) -> None:
    """The first 32 bytes are the key, the next 64 the signature, the rest the statement."""
    key = data[:32]
    verifier = Ed25519Verifier(frozenset({key}), frozenset({made.FIRMWARE}), 60_000)
    parts = {"signature": data[32:96], "statement": data[96:]}
    evidence = Evidence(EvidenceKind.ED25519, parts)
    verdict = verifier.verify(evidence, made.asked(enrolled={"public_key": key}))
    assert isinstance(verdict, Trusted | Untrusted)


def _statement(data: bytes) -> None:
    verdict = _VERIFIER.verify(made.evidence(data), made.asked())
    assert isinstance(verdict, Untrusted) or data == _GOOD["statement"]


TARGETS: dict[str, Callable[[bytes], None]] = {"anything": _anything, "statement": _statement}
SEEDS = {
    "anything": [_KEY + _GOOD["signature"] + _GOOD["statement"]],
    "statement": [_GOOD["statement"]],
}

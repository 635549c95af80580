"""Certificates and bundles of them, read and walked, and everything that is asked of one."""

from __future__ import annotations

from collections.abc import Callable

from bailiwick.attestation.formats.certificates import (
    PathRules,
    check_key,
    check_leaf,
    extension,
    name_of,
    read_certificate,
    read_certificates,
    walk,
)
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.trust import UntrustedReason
from tests.support import evidence_nitro as made
from tests.support.certificates import AT_MS, der, pem

_RULES = PathRules()
_ROOT = made.root()
_LEAF, _BUNDLE = made.chain()


def _one(data: bytes) -> None:
    try:
        certificate = read_certificate(data)
        name_of(certificate)
        check_leaf(certificate, rules=_RULES)
        extension(certificate, "2.5.29.19", reason=UntrustedReason.CHAIN)
        check_key(certificate.public_key())
    except EvidenceError:
        return


def _bundle(data: bytes) -> None:
    """The first is the leaf."""
    try:
        found = read_certificates(data)
        if found:
            walk(found[0], found[1:], pinned=(_ROOT,), at_ms=AT_MS, rules=_RULES)
    except EvidenceError:
        return


def _issuer(data: bytes) -> None:
    """The bytes as one more intermediate, and as a pinned certificate."""
    try:
        certificate = read_certificate(data)
        others = (certificate, *_BUNDLE[1:])
        walk(_LEAF, others, pinned=(_ROOT, certificate), at_ms=AT_MS, rules=_RULES)
    except EvidenceError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {"one": _one, "bundle": _bundle, "issuer": _issuer}
_DER = [der(_LEAF), *(der(each) for each in _BUNDLE)]
SEEDS = {
    "one": _DER,
    "bundle": [
        b"".join(_DER),
        b"".join(pem(each).encode() for each in (_LEAF, *_BUNDLE)),
        _DER[0],
    ],
    "issuer": _DER,
}

"""DICE chains and the strict readers under them, as they come and signed anew.

What lies behind a signature is reached by signing the bytes, whatever they are, with the root key.
"""

from __future__ import annotations

from collections.abc import Callable

import cbor2
from cryptography import x509

from bailiwick.attestation.dice.chain import DiceFormat
from bailiwick.attestation.dice.keys import read_cose_key, read_public_key
from bailiwick.attestation.dice.open_dice import read_open_extension
from bailiwick.attestation.dice.tcg import read_multi_tcb_info, read_tcb_info, read_ueid
from bailiwick.attestation.dice.verifier import CAREFUL, DiceVerifier, framed
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.cbor import read_cbor, read_sign1
from bailiwick.attestation.formats.der import DerValue, read_all
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted
from bailiwick.vocab.trust import EvidenceKind
from tests.support import evidence_dice as made

_ROOT = made.root_of("ed25519")
_FORMS = tuple(DiceFormat)
_VERIFIER = DiceVerifier(CAREFUL, max_age_ms=60_000)
_ASKED = EvidenceContext(
    node="n1",
    nonce=made.NONCE,
    at_ms=made.AT_MS,
    enrolled={"root_public_key": _ROOT.spki},
)
_ANSWER = made.good_layers(made.TCG, "ed25519")[-1].key.sign(made.challenge_message(made.NONCE))


def _only_refusals(*readers: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """The readers as a target: they may refuse the bytes, and raise nothing else."""

    def target(data: bytes) -> None:
        for read in readers:
            try:
                read(data)
            except EvidenceError:
                continue

    return target


def _open_all(data: bytes) -> None:
    """Every level of DER values, as far as there are values inside."""
    pending: list[DerValue] = list(read_all(data))
    while pending:
        value = pending.pop()
        if value.is_constructed:
            pending.extend(value.children())


def _verify(form: DiceFormat, chain: bytes) -> None:
    parts = {"format": form.value.encode(), "chain": chain, "signature": _ANSWER}
    verdict = _VERIFIER.verify(Evidence(EvidenceKind.DICE, parts), _ASKED)
    assert isinstance(verdict, Trusted | Untrusted)


def _evidence(data: bytes) -> None:
    """The first byte chooses the format; the rest is the chain."""
    _verify(_FORMS[data[0] % len(_FORMS)] if data else _FORMS[0], data[1:])


def _claims(data: bytes) -> None:
    """The bytes as the claims of a certificate in CBOR that the root signed."""
    _verify(made.CBOR, framed([made.sign1(cbor2.dumps({1: -8}), data, _ROOT)]))


def _certificate(data: bytes) -> None:
    """The bytes as the body of a certificate in X.509 that the root signed."""
    algorithm = made.der(0x30, bytes.fromhex("06032b6570"))
    signed = made.der(0x30, data, algorithm, made.der(0x03, b"\0", _ROOT.sign(data)))
    for form in (made.X509, made.TCG):
        _verify(form, framed([signed]))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "cbor": _only_refusals(read_cbor, read_sign1),
    "der": _only_refusals(_open_all),
    "keys": _only_refusals(read_cose_key, read_public_key),
    "extensions": _only_refusals(
        read_open_extension, read_tcb_info, read_multi_tcb_info, read_ueid
    ),
    "claims": _claims,
    "certificate": _certificate,
    "evidence": _evidence,
}

_CHAINS = {form: made.good(form).chain for form in _FORMS}
_KEYS = [made.Key(algorithm, "x") for algorithm in ("ed25519", "p256", "mldsa65")]
_BODIES = [
    x509.load_der_x509_certificate(raw).tbs_certificate_bytes
    for form in (made.X509, made.TCG)
    for raw in _CHAINS[form]
]
_INFO = made.tcb_of("boot", 3, type=b"t").der
SEEDS = {
    "cbor": [*_CHAINS[made.CBOR], *(read_sign1(raw).payload for raw in _CHAINS[made.CBOR])],
    "der": _CHAINS[made.TCG],
    "keys": [*(cbor2.dumps(key.cose) for key in _KEYS), *(key.spki for key in _KEYS)],
    "extensions": [
        made.open_extension(made.open_claims("x")),
        _INFO,
        made.der(0x30, _INFO, _INFO),
        made.composite(_KEYS[0], bytes(32)),
        made.der(0x30, made.der(0x04, bytes(17))),
    ],
    "claims": [read_sign1(raw).payload for raw in _CHAINS[made.CBOR]],
    "certificate": _BODIES,
    "evidence": [bytes([at]) + framed(_CHAINS[form]) for at, form in enumerate(_FORMS)],
}

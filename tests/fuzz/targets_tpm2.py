"""What a node with a TPM can send, for the fuzzers: each reader, and the whole verifier."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.tpm.credential import CHANCE_BYTES, make_credential
from bailiwick.attestation.tpm.event_log import read_event_log
from bailiwick.attestation.tpm.keys import check_ak, read_ek
from bailiwick.attestation.tpm.registers import read_pcrs
from bailiwick.attestation.tpm.structures import read_quote, read_signature
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.trust import EvidenceKind
from tests.support.attestation_cases import own
from tests.support.paper_tpm import Piece, ek_certificate, keys_of, sign, verifier

_PIECE = Piece()
_PARTS = _PIECE.parts
_KEYS = keys_of()
_VERIFIER = verifier()


def _attestation_key(raw: bytes) -> None:
    with suppress(EvidenceError):
        check_ak(raw).key.load()


def _endorsement_key(raw: bytes) -> None:
    with suppress(EvidenceError):
        ek = read_ek(raw)
        make_credential(ek, ek.name, secret=b"secret", chance=bytes(CHANCE_BYTES))


def _certificate(raw: bytes) -> None:
    with suppress(EvidenceError):
        _VERIFIER.check_enrolment(_KEYS | {"ek_certificate": raw}, at_ms=_PIECE.at_ms)


def _log(raw: bytes) -> None:
    with suppress(EvidenceError):
        log = read_event_log(raw)
        for bank in log.banks:
            log.replay(bank)
            log.secure_boot(bank)
            log.check_data(bank, range(24))


def _signed(raw: bytes) -> None:
    """As if the key had signed the bytes, so that they are read to their end."""
    parts = _PARTS | {"attest": raw, "signature": sign(raw)}
    _VERIFIER.verify(Evidence(EvidenceKind.TPM2, parts), _PIECE.asked)


def _reader(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def target(raw: bytes) -> None:
        with suppress(EvidenceError):
            read(raw)

    return target


TARGETS: dict[str, Callable[[bytes], None]] = {
    "tpm2_attestation_key": _attestation_key,
    "tpm2_endorsement_key": _endorsement_key,
    "tpm2_certificate": _certificate,
    "tpm2_quote": _reader(read_quote),
    "tpm2_signature": _reader(read_signature),
    "tpm2_pcrs": _reader(read_pcrs),
    "tpm2_event_log": _log,
    "tpm2_signed": _signed,
}
"""Each takes any bytes; what it raises is a fault of ours."""


def _files(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(own("tpm2").glob(pattern))]


SEEDS: dict[str, list[bytes]] = {
    "tpm2_attestation_key": _files("keys/*ak-*.tpm2b"),
    "tpm2_endorsement_key": _files("keys/*ek-*.tpm2b"),
    "tpm2_certificate": [ek_certificate(), *_files("certificates/*.der")],
    "tpm2_quote": _files("quotes/good-*.attest"),
    "tpm2_signature": _files("quotes/good-*.sig"),
    "tpm2_pcrs": [_PARTS["pcrs"]],
    "tpm2_event_log": _files("logs/*.bin"),
    "tpm2_signed": [_PARTS["attest"]],
}
"""Where mutation begins."""

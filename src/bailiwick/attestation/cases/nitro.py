"""Cases of kind ``nitro-document``: a document, the root to pin, the time, and what to ask for.

``nonce`` null means that none was asked for, ``expected_pcrs`` null that no policy holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told, unhex
from bailiwick.attestation.formats.certificates import read_certificates
from bailiwick.attestation.nitro import NitroVerifier
from bailiwick.attestation.verdict import EvidenceError, Verdict, judged
from bailiwick.vocab.errors import InvalidValue


def _judge(case: CaseFields) -> CaseOutcome:
    root, document, at_ms = case.file("root"), case.file("document"), case.at_ms()
    nonce = None if case.get("nonce") is None else case.hex("nonce")
    try:
        roots = read_certificates(root)
    except EvidenceError as error:
        raise InvalidValue("root", case.get("root"), f"a certificate ({error.where})") from None
    verifier = NitroVerifier(
        roots=roots,
        pcrs=_expected(case.get("expected_pcrs")),
        allow_debug=case.flag("allow_debug"),
        max_age_ms=0,
    )

    @judged
    def verdict() -> Verdict:
        return verifier.verify_document(document, nonce=nonce, at_ms=at_ms)

    return told(verdict())


def _expected(value: object) -> Mapping[int, frozenset[bytes]]:
    if value is None:
        return {}
    fault = InvalidValue("expected_pcrs", value, "a map from register to value")
    if not isinstance(value, Mapping) or not all(str(each).isdecimal() for each in value):
        raise fault
    return {
        int(index): frozenset({unhex(f"expected_pcrs.{index}", each)})
        for index, each in value.items()
    }


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {"nitro-document": _judge}
"""How each kind of case is judged."""

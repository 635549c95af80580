"""Cases of kinds ``snp-report`` and ``tdx-quote``: signature, chain, report data and debug.

A case says nothing of privilege levels, measurements and quoting enclaves, so any will do; and one
of a TDX guest that does not speak of debugging leaves that open too.
"""

from __future__ import annotations

from collections.abc import Callable

from cryptography import x509

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import (
    is_issued_by,
    pinned_certificates,
    read_certificates,
)
from bailiwick.attestation.sev_snp import VMPL_MAX, SevSnpVerifier
from bailiwick.attestation.tdx import TdxVerifier
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

_AGE_MS = 60_000


def _judge_snp(case: CaseFields) -> CaseOutcome:
    intermediates, roots = _ask_and_ark(case.file("ask_ark"))
    verifier = SevSnpVerifier(
        roots=roots,
        max_age_ms=_AGE_MS,
        intermediates=intermediates,
        vmpl_max=VMPL_MAX,
        allow_debug=case.flag("allow_debug"),
    )
    parts = {"report": case.file("report"), "vcek": case.file("vcek")}
    return told(verifier.verify(Evidence(EvidenceKind.SEV_SNP, parts), _asked(case)))


def _judge_tdx(case: CaseFields) -> CaseOutcome:
    verifier = TdxVerifier(
        roots=pinned_certificates("root", [case.file("root").decode("latin-1")]),
        max_age_ms=_AGE_MS,
        allow_debug=case.get("allow_debug") is None or case.flag("allow_debug"),
    )
    evidence = Evidence(EvidenceKind.TDX, {"quote": case.file("quote")})
    return told(verifier.verify(evidence, _asked(case)))


def _asked(case: CaseFields) -> EvidenceContext:
    return EvidenceContext(node="case", nonce=case.hex("report_data") or b"\0", at_ms=case.at_ms())


def _ask_and_ark(
    raw: bytes,
) -> tuple[tuple[x509.Certificate, ...], tuple[x509.Certificate, ...]]:
    """The intermediates, and the roots: those that signed themselves."""
    try:
        found = read_certificates(raw)
    except EvidenceError as error:
        raise InvalidValue("ask_ark", raw[:20], f"certificates ({error.where})") from None
    roots = tuple(each for each in found if is_issued_by(each, each))
    return tuple(each for each in found if each not in roots), roots


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {
    "snp-report": _judge_snp,
    "tdx-quote": _judge_tdx,
}
"""How each kind of case is judged."""

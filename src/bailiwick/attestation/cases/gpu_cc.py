"""Cases of kind ``nvidia-spdm-report``: a report, its chain, and manifests to compare with or none.

Manifests are looked at once the report itself is believed, as an operator would who made golden
values of them: a good report with a bad manifest fails for the manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cryptography import x509

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import pinned_certificates
from bailiwick.attestation.gpu.rim import read_rim
from bailiwick.attestation.gpu.spdm import CC_OFF
from bailiwick.attestation.gpu.verifier import GoldenKind, GpuCcVerifier
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

_AGE_MS = 60_000


def _judge(case: CaseFields) -> CaseOutcome:
    verifier = GpuCcVerifier(roots=_pinned(case, "root"), max_age_ms=_AGE_MS)
    evidence = Evidence(EvidenceKind.GPU_CC, _parts(case))
    asked = EvidenceContext(node="case", nonce=_nonce(case, evidence), at_ms=case.at_ms())
    case.get("rim_root")
    manifests = {
        kind: manifest
        for kind in GoldenKind
        if (manifest := case.optional_file(f"{kind}_rim")) is not None
    }
    verdict = verifier.verify(evidence, asked)
    if not manifests or not isinstance(verdict, Trusted):
        return told(verdict)
    rim_roots = _pinned(case, "rim_root")
    try:
        # The case, not the manifest, says of what kind it is: one in another's place must fail.
        golden = tuple(
            replace(read_rim(raw, roots=rim_roots, at_ms=asked.at_ms), kind=kind)
            for kind, raw in manifests.items()
        )
    except EvidenceError as error:
        return told(Untrusted(error.reason, error.where))
    return told(replace(verifier, golden=golden).verify(evidence, asked))


def _nonce(case: CaseFields, evidence: Evidence) -> bytes:
    """The case's; the report's own where the case asks for none."""
    if case.get("nonce") is None:
        return evidence.parts.get("report", b"")[4:36] or b"\0"
    # No gate asks with an empty nonce; a report that answers one answers nobody.
    return case.hex("nonce") or b"\0"


def _parts(case: CaseFields) -> dict[str, bytes]:
    if case.get("state") is not None:
        if case.text("state") != CC_OFF.decode():
            raise InvalidValue("state", case.text("state"), CC_OFF.decode())
        return {"state": CC_OFF}
    return {"report": case.file("report"), "certificates": case.file("certificate_chain")}


def _pinned(case: CaseFields, name: str) -> tuple[x509.Certificate, ...]:
    return pinned_certificates(name, [case.file(name).decode("latin-1")])


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {"nvidia-spdm-report": _judge}
"""How each kind of case is judged."""

"""What fuzzing feeds: reports of GPUs, manifests, reports of SEV-SNP and quotes of TDX.

A target lets only :class:`.EvidenceError` pass. The verifiers are fed as well as their parsers; and
what lies behind a signature is reached by signing the bytes, whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from lxml import etree

from bailiwick.attestation import sev_snp, tdx
from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.formats.certificates import read_certificates
from bailiwick.attestation.formats.xml_tree import XML_BYTES_MAX, canonical, read_xml
from bailiwick.attestation.gpu.rim import read_rim
from bailiwick.attestation.gpu.spdm import read_report
from bailiwick.attestation.gpu.verifier import GpuCcVerifier, firmware_ids
from bailiwick.attestation.verdict import EvidenceError, StaleEvidence
from bailiwick.vocab.trust import EvidenceKind
from tests.support import evidence_gpu as gpu
from tests.support import evidence_snp_tdx as guests
from tests.support.attestation_cases import own
from tests.support.certificates import AT_MS, ec_key

_GPU = own("gpu-cc")
_GUESTS = own("snp-tdx")
_AGE_MS = 1000


def _first(folder: str, name: str) -> bytes:
    return (_GPU / folder / name).read_bytes()


_CHAIN = _first("chains", "hopper.pem")
_ROOTS = read_certificates(_first("roots", "device.pem"))
_RIM_ROOTS = read_certificates(_first("roots", "rim.pem"))
_ASK, _ARK = read_certificates((_GUESTS / "snp/ask-ark.pem").read_bytes())
_VCEK = (_GUESTS / "snp/snp.der").read_bytes()
_SNP = (_GUESTS / "snp/snp.bin").read_bytes()
_INTEL = read_certificates((_GUESTS / "tdx/root.pem").read_bytes())
_GPU_VERIFIER = GpuCcVerifier(roots=_ROOTS, max_age_ms=_AGE_MS)
_SNP_VERIFIER = sev_snp.SevSnpVerifier(roots=(_ARK,), max_age_ms=_AGE_MS, intermediates=(_ASK,))
_TDX_VERIFIER = tdx.TdxVerifier(roots=_INTEL, max_age_ms=_AGE_MS)


def spdm_report(raw: bytes) -> None:
    """The strict reader of a report, and the verifier around it."""
    with suppress(EvidenceError):
        read_report(raw)
    _GPU_VERIFIER.verify(gpu.evidence({"report": raw, "certificates": _CHAIN}), gpu.asked())


def spdm_signed(raw: bytes) -> None:
    """Whatever the device's key signed as request and answer."""
    report = raw + gpu.signature(ec_key(gpu.HOPPER.key_label), raw)
    verdict = _GPU_VERIFIER.verify(
        gpu.evidence({"report": report, "certificates": _CHAIN}), gpu.asked()
    )
    assert not isinstance(verdict, StaleEvidence)


def gpu_certificates(raw: bytes) -> None:
    """A device's chain, and the firmware that its first certificate names."""
    report = _first("reports", "hopper.bin")
    _GPU_VERIFIER.verify(gpu.evidence({"report": report, "certificates": raw}), gpu.asked())
    with suppress(EvidenceError):
        for certificate in read_certificates(raw):
            firmware_ids(certificate)


def rim(raw: bytes) -> None:
    """A manifest: the tree, its canonical form, the signature and the values."""
    with suppress(EvidenceError):
        tree = read_xml(raw)
        # One character becomes six at most, and a start tag an end tag.
        assert len(canonical(tree)) <= 8 * XML_BYTES_MAX
    with suppress(EvidenceError):
        read_rim(raw, roots=_RIM_ROOTS, at_ms=AT_MS)


def rim_signed(raw: bytes) -> None:
    """Whatever document a good signer signed."""
    try:
        signed = gpu.rim(raw.decode())
    except (ValueError, etree.LxmlError):
        return
    rim(signed)


def snp_signed(raw: bytes) -> None:
    """Whatever the chip's key signed as a report."""
    report = guests.snp_signed(raw[: sev_snp.SIGNED_BYTES].ljust(sev_snp.SIGNED_BYTES, b"\0"))
    parts = {"report": report, "vcek": _VCEK}
    _SNP_VERIFIER.verify(Evidence(EvidenceKind.SEV_SNP, parts), guests.asked())


def snp_report(raw: bytes) -> None:
    """A report of SEV-SNP under a good certificate, and as a certificate over a good report."""
    with suppress(EvidenceError):
        sev_snp.read_report(raw)
    for parts in ({"report": raw, "vcek": _VCEK}, {"report": _SNP, "vcek": raw}):
        _SNP_VERIFIER.verify(Evidence(EvidenceKind.SEV_SNP, parts), guests.asked())


def tdx_quote(raw: bytes) -> None:
    """A quote of TDX."""
    with suppress(EvidenceError):
        tdx.read_quote(raw)
    _TDX_VERIFIER.verify(Evidence(EvidenceKind.TDX, {"quote": raw}), guests.asked())


TARGETS: dict[str, Callable[[bytes], None]] = {
    "gpu_certificates": gpu_certificates,
    "rim": rim,
    "rim_signed": rim_signed,
    "snp_report": snp_report,
    "snp_signed": snp_signed,
    "spdm_report": spdm_report,
    "spdm_signed": spdm_signed,
    "tdx_quote": tdx_quote,
}
"""Each takes any bytes and comes back."""

_BOMBS = [
    b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;&c;</a>',
    b"<a>" * 5000,
    b"<a " + b"b='c' " * 5000 + b"/>",
    b"<a"
    + b"".join(b" xmlns:a%d='urn:a'" % n for n in range(64))
    + b">"
    + b"<b/>" * 4000
    + b"</a>",
    b"<a>" + b"&#13;" * 20_000 + b"</a>",
]


def _files(folder: str) -> list[bytes]:
    root = _GPU if (_GPU / folder).is_dir() else _GUESTS
    return [path.read_bytes() for path in sorted((root / folder).iterdir())]


SEEDS: dict[str, list[bytes]] = {
    "gpu_certificates": _files("chains"),
    "rim": [*_files("rims"), *_BOMBS],
    "rim_signed": [gpu.rim_body().encode(), gpu.rim_body(gpu.VBIOS, gpu.VBIOS_VALUES).encode()],
    "snp_report": _files("snp"),
    "snp_signed": [guests.snp_body(), guests.snp_body(vmpl=1, policy=guests.DEBUG_POLICY)],
    "spdm_report": _files("reports"),
    "spdm_signed": [
        gpu.request() + gpu.answer(device.blocks, gpu.opaque(device.opaque))
        for device in (gpu.HOPPER, gpu.OLD_HOPPER, gpu.BLACKWELL, gpu.SWITCH)
    ],
    "tdx_quote": _files("tdx"),
}
"""Where fuzzing begins: what our own vectors hold."""

"""Is this report of an NVIDIA GPU or switch in confidential mode genuine, fresh and as expected?

Rules, in this order:

- The report is read strictly; the first certificate is the device's, and leads to a pinned root.
- The device's key signed all of the report, and the nonce in it is the one that was asked with.
- Firmware that the report names is firmware that the device's certificate names.
- Golden values: where the policy lists any of a kind (driver, VBIOS), the report's version must be
  among them, and every block that they name must hold one of the alternatives. Golden index i is
  block i + 1. Golden values that have run out count no more. A video decoder that the report calls
  switched off has no measurement: as the vendor's own verifiers do, its index is passed over.
- A device that says that confidential computing is off is no forgery, and no proof either.

Whether a certificate was revoked is not asked here: that needs the vendor's service.

>>> GpuCcVerifier.kind.value
'gpu_cc'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from types import MappingProxyType
from typing import Any, ClassVar, Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.x509.oid import NameOID

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats import der
from bailiwick.attestation.formats.certificates import (
    Path,
    PathRules,
    check_leaf,
    extension,
    pinned_certificates,
    read_certificates,
    walk,
)
from bailiwick.attestation.gpu.spdm import CC_OFF, SpdmReport, read_report
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import Trusted, Unsupported, Verdict, judged, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.values import AMOUNT_MAX, check_name

DIGEST_BYTES = 48
_DRIVER, _VBIOS, _DECODER, _FWID = 3, 6, 11, 20
"""Fields of a report's opaque data."""

_DECODER_OFF, _DECODER_INDEX = b"\x55", 35

_COMPOSITE, _TCB_INFO = "2.23.133.5.4.1", "2.23.133.5.4.1.1"
"""Where a device's certificate names its firmware: Hopper in the older form, Blackwell in TCG's."""

_TCB_FWIDS = 0xA6
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_FAMILIES = {"GH": ("hopper", "gpu"), "GB": ("blackwell", "gpu"), "LS": ("nvswitch", "nvswitch")}


class GoldenKind(StrEnum):
    """What golden values are of."""

    DRIVER = "driver"
    VBIOS = "vbios"
    """The firmware of a GPU's board, or of a switch."""


@dataclass(frozen=True, slots=True)
class Golden:
    """Measurements that one version of a driver or a VBIOS may have, by index from 0."""

    name: str
    kind: GoldenKind
    version: str
    measurements: Mapping[int, frozenset[bytes]]
    valid_until_ms: int | None = None
    """The end of the certificates behind them; None if the operator vouches without an end."""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_name("version", self.version)
        object.__setattr__(self, "measurements", MappingProxyType(dict(self.measurements)))

    @classmethod
    def from_section(cls, section: Section) -> Self:
        """One entry of the policy's ``golden``."""
        kind = section.text("kind")
        if kind not in set(GoldenKind):
            raise InvalidValue(f"{section.where}.kind", kind, " or ".join(GoldenKind))
        values, measurements = section.section("measurements"), dict[int, frozenset[bytes]]()
        for index in values.names():
            if not re.fullmatch(r"0|[1-9][0-9]{0,2}", index) or int(index) > 254:
                raise InvalidValue(values.where, index, "an index from 0 to 254")
            measurements[int(index)] = values.digests(index, DIGEST_BYTES)
        if not measurements or not all(measurements.values()):
            raise InvalidValue(values.where, "nothing", "at least one digest for each index")
        until = "valid_until_ms"
        made = cls(
            name=section.text("name"),
            kind=GoldenKind(kind),
            version=section.text("version"),
            measurements=measurements,
            valid_until_ms=(
                section.integer(until, low=0, high=AMOUNT_MAX) if section.has(until) else None
            ),
        )
        section.done()
        return made

    def document(self) -> dict[str, Any]:
        """As it stands in a policy."""
        told: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind.value,
            "version": self.version,
            "measurements": {
                str(index): sorted(value.hex() for value in self.measurements[index])
                for index in sorted(self.measurements)
            },
        }
        if self.valid_until_ms is not None:
            told["valid_until_ms"] = self.valid_until_ms
        return told

    def is_over(self, at_ms: int) -> bool:
        """Whether they count no more."""
        return self.valid_until_ms is not None and at_ms > self.valid_until_ms

    def difference(self, report: SpdmReport) -> int | None:
        """The first index where the report holds none of the alternatives; None if none does."""
        is_decoder_off = report.opaque.get(_DECODER) == _DECODER_OFF
        for index, allowed in sorted(self.measurements.items()):
            if index == _DECODER_INDEX and is_decoder_off:
                continue
            if report.measurements.get(index + 1) not in allowed:
                return index
        return None


@dataclass(frozen=True, slots=True)
class _Device:
    """What a genuine report says of the device."""

    model: str
    architecture: str
    device: str
    versions: Mapping[GoldenKind, str | None]
    """Of each kind that such a device has; None where the report does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCcVerifier:
    """Judges reports of NVIDIA Hopper and Blackwell GPUs and of NVSwitches.

    Parts of its evidence: ``report`` (request and answer of SPDM) and ``certificates`` (PEM, the
    device's first); or ``state`` alone, ``cc_off``. It wants no enrolled key: the nonce binds a
    device to its host. Policy: ``roots`` (PEM), ``golden`` (what ``bailiwick attest rim`` prints;
    none = not compared), ``require_golden`` (each kind that the device has must be listed).
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.GPU_CC
    roots: tuple[x509.Certificate, ...] = field(repr=False)
    max_age_ms: int
    golden: tuple[Golden, ...] = field(default=(), repr=False)
    require_golden: bool = False

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a policy's section describes."""
        verifier = cls(
            roots=pinned_certificates(f"{section.where}.roots", section.texts("roots")),
            max_age_ms=max_age_ms,
            golden=tuple(Golden.from_section(each) for each in section.sections("golden")),
            require_golden=section.flag("require_golden", default=False),
        )
        section.done()
        return verifier

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The verdict on one device."""
        if evidence.parts.get("state") == CC_OFF and len(evidence.parts) == 1:
            return Unsupported("confidential computing is off")
        evidence.only("report", "certificates")
        report = read_report(evidence.part("report"))
        path = self._check_path(evidence.part("certificates"), asked.at_ms)
        leaf = path.certificates[0]
        _check_signature(leaf, report)
        if not compare_digest(report.nonce, asked.nonce):
            raise refuse(UntrustedReason.NONCE_MISMATCH, "the report answers another nonce")
        if not report.measurements:
            raise refuse(UntrustedReason.NO_MEASUREMENTS, "a report of no measurements")
        _check_firmware_id(leaf, report)
        device = _read_device(leaf, report)
        if device is None:
            return Unsupported("a model of device that is not known here")
        matched = self._check_golden(device, report, asked.at_ms)
        ends = [each.valid_until_ms for each in matched if each.valid_until_ms is not None]
        return Trusted(
            _claims(device, path, matched),
            min(asked.at_ms + self.max_age_ms, path.valid_until_ms, *ends),
        )

    def _check_path(self, raw: bytes, at_ms: int) -> Path:
        bundle = read_certificates(raw, reason=UntrustedReason.CHAIN)
        if not bundle:
            raise refuse(UntrustedReason.CHAIN, "no certificate")
        check_leaf(bundle[0], rules=PathRules())
        return walk(bundle[0], bundle[1:], pinned=self.roots, at_ms=at_ms, rules=PathRules())

    def _check_golden(self, device: _Device, report: SpdmReport, at_ms: int) -> list[Golden]:
        """The golden values that the report was found to match."""
        matched = []
        for kind, version in device.versions.items():
            listed = [each for each in self.golden if each.kind is kind]
            if not listed and not self.require_golden:
                continue
            if version is None:
                raise refuse(UntrustedReason.MISSING_FIELD, f"the report names no {kind} version")
            told = f"{kind} {version}"
            of_version = [each for each in listed if each.version == version]
            if not of_version:
                raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, f"no golden values of {told}")
            living = [each for each in of_version if not each.is_over(at_ms)]
            if not living:
                raise refuse(UntrustedReason.RIM_CHAIN, f"golden values of {told} have run out")
            differences = [each.difference(report) for each in living]
            if None not in differences:
                told = f"{told}: golden index {differences[0]} differs"
                raise refuse(UntrustedReason.MEASUREMENT_MISMATCH, told)
            matched.append(living[differences.index(None)])
        return matched


def _check_signature(leaf: x509.Certificate, report: SpdmReport) -> None:
    key, half = leaf.public_key(), len(report.signature) // 2
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP384R1):
        raise refuse(UntrustedReason.KEY_OR_SIGNATURE_SHAPE, "the device's key is not of P-384")
    r, s = (
        int.from_bytes(part, "big") for part in (report.signature[:half], report.signature[half:])
    )
    try:
        key.verify(encode_dss_signature(r, s), report.signed, ec.ECDSA(hashes.SHA384()))
    except InvalidSignature:
        raise refuse(UntrustedReason.BAD_SIGNATURE, "the report's signature") from None


def _check_firmware_id(leaf: x509.Certificate, report: SpdmReport) -> None:
    """Reports of older drivers name none; then there is nothing to compare."""
    stated = report.opaque.get(_FWID)
    if stated is None:
        return
    if not any(stated) or stated not in firmware_ids(leaf):
        raise refuse(UntrustedReason.FWID, "firmware that the device's certificate does not name")


def firmware_ids(leaf: x509.Certificate) -> frozenset[bytes]:
    """The digests of firmware that a device's certificate names, in either of the two forms."""
    reason = UntrustedReason.FWID
    composite = extension(leaf, _COMPOSITE, reason=reason)
    if composite is not None:
        # Version, the device's public key, and one pair of algorithm and digest.
        values = der.read_one(composite[0]).children(der.SEQUENCE)
        if len(values) != 3 or der.read_integer(values[0]) != 1:
            raise refuse(reason, "a composite device identity of another form")
        return frozenset({_digest(values[2])})
    info = extension(leaf, _TCB_INFO, reason=reason)
    if info is None:
        return frozenset()
    for value in der.read_one(info[0]).children(der.SEQUENCE):
        if value.tag == _TCB_FWIDS:
            return frozenset(_digest(each) for each in value.children())
    return frozenset()


def _digest(pair: der.DerValue) -> bytes:
    values = pair.children(der.SEQUENCE)
    if len(values) != 2:
        raise refuse(UntrustedReason.FWID, "a firmware identity of another form")
    der.read_object_id(values[0])
    return values[1].expect(der.OCTET_STRING)


def _read_device(leaf: x509.Certificate, report: SpdmReport) -> _Device | None:
    model = _model(leaf)
    family = _FAMILIES.get(model[:2])
    if family is None or not re.fullmatch(r"[A-Z]{2}[0-9A-Z]{1,8}", model):
        return None
    architecture, device = family
    versions: dict[GoldenKind, str | None] = {GoldenKind.VBIOS: _vbios_version(report)}
    if device == "gpu":
        versions[GoldenKind.DRIVER] = _text(report, _DRIVER)
    return _Device(model, architecture, device, versions)


def _model(leaf: x509.Certificate) -> str:
    """The first word of a name like "GH100 A01 GSP FMC LF"; a switch is called LS_10 in it."""
    try:
        names = leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    except (ValueError, TypeError):  # the library reads names when it is asked for them
        return ""
    return str(names[0].value).split(" ")[0].replace("_", "") if names else ""


def _vbios_version(report: SpdmReport) -> str | None:
    raw = report.opaque.get(_VBIOS)
    if raw is None or len(raw) != 8:
        text = _text(report, _VBIOS)
        return text.upper() if text else None
    # Two little-endian words: the first is the version's first four bytes, the second its last.
    return ".".join(f"{each:02X}" for each in (*reversed(raw[:4]), raw[4]))


def _text(report: SpdmReport, number: int) -> str | None:
    raw = report.opaque.get(number)
    if raw is None:
        return None
    text = raw.rstrip(b"\0").decode("latin-1")
    if not _VERSION.fullmatch(text):
        raise refuse(UntrustedReason.MALFORMED, f"the report's field {number}")
    return text


def _claims(device: _Device, path: Path, matched: list[Golden]) -> dict[str, str]:
    # The certificate above the leaf is the chip's own; the leaf changes with the firmware.
    key = path.certificates[1].public_key()
    spki = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    claims = {
        "device": device.device,
        "architecture": device.architecture,
        "model": device.model,
        "device_id": sha256(spki).hexdigest()[:32],
        "golden": "-".join(sorted(each.kind.value for each in matched)) or "not_compared",
    }
    versions = {f"{kind.value}_version": version for kind, version in device.versions.items()}
    return claims | {name: version for name, version in versions.items() if version is not None}

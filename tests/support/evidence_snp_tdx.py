"""Reports of SEV-SNP guests and quotes of TDX guests that do not exist, by our own authorities.

``python -m tests.support.evidence_snp_tdx`` writes tests/vectors/attestation/snp-tdx anew. AMD's
chain is RSA with random salts, so those files differ each time; TDX's are the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256, sha384
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.tdx import INTEL_QE_SIGNER
from bailiwick.vocab.trust import EvidenceKind
from tests.support.attestation_cases import own
from tests.support.certificates import (
    AT_MS,
    DAY_MS,
    Wanted,
    der,
    ec_key,
    issue,
    leaf_wanted,
    name_of,
    pem,
    usage,
)
from tests.support.evidence_gpu import tlv

NONCE = sha256(b"guest nonce").digest()
DATA = NONCE + bytes(32)
MEASUREMENT = sha384(b"launch").digest()
CHIP = sha256(b"chip").digest() * 2
DEBUG_POLICY, POLICY = 0xB0000, 0x30000
LONG = {"begins_ms": AT_MS - 900 * DAY_MS, "ends_ms": AT_MS + 900 * DAY_MS}


def asked(**changes: Any) -> EvidenceContext:
    """What the gate asks."""
    return EvidenceContext(**{"node": "vm-1", "nonce": NONCE, "at_ms": AT_MS} | changes)


# --- SEV-SNP -----------------------------------------------------------------------------------


@lru_cache
def rsa_key(label: str) -> rsa.RSAPrivateKey:
    """A key of that label, for as long as this process lives."""
    return rsa.generate_private_key(65537, 2048)


def rsa_issue(subject: str, by: str, *, key: Any, sign: str, wanted: Wanted) -> x509.Certificate:
    """A certificate signed as AMD signs: RSA-PSS with SHA-384 and a salt of the digest's size."""
    builder = x509.CertificateBuilder().subject_name(name_of(subject)).issuer_name(name_of(by))
    dates = issue("dates", "dates", wanted=wanted)
    builder = (
        builder.public_key(key)
        .serial_number(1 + int.from_bytes(sha256(subject.encode()).digest()[:8], "big"))
        .not_valid_before(dates.not_valid_before_utc)
        .not_valid_after(dates.not_valid_after_utc)
    )
    if wanted.ca:
        builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
        builder = builder.add_extension(usage(key_cert_sign=True), critical=True)
    for each, critical in wanted.extra:
        builder = builder.add_extension(each, critical=critical)
    pss = padding.PSS(padding.MGF1(hashes.SHA384()), padding.PSS.DIGEST_LENGTH)
    return builder.sign(rsa_key(sign), hashes.SHA384(), rsa_padding=pss)


@lru_cache
def ark(label: str = "ark") -> x509.Certificate:
    """AMD's root; all bear one name."""
    key = rsa_key(label).public_key()
    return rsa_issue("ARK-Test", "ARK-Test", key=key, sign=label, wanted=Wanted(**LONG))


@lru_cache
def ask(root: str = "ark") -> x509.Certificate:
    """The intermediate below a root."""
    key = rsa_key("ask").public_key()
    return rsa_issue("SEV-Test", "ARK-Test", key=key, sign=root, wanted=Wanted(**LONG))


@dataclass(frozen=True)
class Chip:
    """A processor that does not exist, as far as it differs from a Milan in good order."""

    product: str = "Milan-B0"
    tcb: bytes = bytes.fromhex("0200000000000544")
    layout: Mapping[int, int] = field(
        default_factory=lambda: {1: 0, 2: 1, 4: 2, 5: 3, 6: 4, 7: 5, 3: 6, 8: 7}
    )
    hardware_id: bytes = CHIP
    signer: str = "ask"
    ends_ms: int = LONG["ends_ms"]
    public_key: Any = None
    label: str = "vcek"

    @property
    def vcek(self) -> bytes:
        """Its certificate."""
        amd = "1.3.6.1.4.1.3704.1."
        values = {
            "1": tlv(0x02, b"\0"),
            "2": tlv(0x16, self.product.encode()),
            "4": self.hardware_id,
        }
        for number, offset in self.layout.items():
            octet = self.tcb[offset]
            values[f"3.{number}"] = tlv(0x02, octet.to_bytes(2 if octet > 127 else 1, "big"))
        extra = tuple(
            (x509.UnrecognizedExtension(x509.ObjectIdentifier(amd + oid), value), False)
            for oid, value in values.items()
            if value
        )
        wanted = leaf_wanted(begins_ms=LONG["begins_ms"], ends_ms=self.ends_ms, extra=extra)
        key = self.public_key or ec_key(self.label).public_key()
        return der(rsa_issue("SEV-VCEK", "SEV-Test", key=key, sign=self.signer, wanted=wanted))


MILAN = Chip()
TURIN = Chip(
    product="Turin-C1",
    tcb=bytes.fromhex("0102030400000048"),
    layout={9: 0, 1: 1, 2: 2, 3: 3, 8: 7},
    hardware_id=CHIP[:8],
)


def snp_body(**changes: Any) -> bytes:
    """The signed part of a good report; a change is a number or bytes by the field's name."""
    fields: dict[str, tuple[int, int, Any]] = {
        "version": (0x00, 4, 2),
        "guest_svn": (0x04, 4, 7),
        "policy": (0x08, 8, POLICY),
        "vmpl": (0x30, 4, 0),
        "algorithm": (0x34, 4, 1),
        "key_info": (0x48, 4, 0),
        "report_data": (0x50, 64, DATA),
        "measurement": (0x90, 48, MEASUREMENT),
        "reported_tcb": (0x180, 8, MILAN.tcb),
        "chip_id": (0x1A0, 64, CHIP),
    }
    raw = bytearray(0x2A0)
    for name, (at, size, usual) in fields.items():
        value = changes.pop(name, usual)
        raw[at : at + size] = value if isinstance(value, bytes) else value.to_bytes(size, "little")
    assert not changes, changes
    return bytes(raw)


def snp_signed(body: bytes, label: str = "vcek") -> bytes:
    """A report: the body, and r and s in little-endian."""
    made = ec_key(label).sign(body, ec.ECDSA(hashes.SHA384(), deterministic_signing=True))
    parts = [part.to_bytes(72, "little") for part in decode_dss_signature(made)]
    return body + b"".join(parts) + bytes(512 - 144)


def snp_report(**changes: Any) -> bytes:
    """A good report, but for these fields."""
    return snp_signed(snp_body(**changes))


def snp_evidence(report: bytes | None = None, **changes: bytes) -> Evidence:
    """A piece of evidence, the intermediate with it."""
    parts = {"report": snp_report() if report is None else report, "vcek": good_vcek()}
    sent = {"certificates": pem(ask()).encode()}
    return Evidence(EvidenceKind.SEV_SNP, parts | sent | changes)


@lru_cache
def good_vcek() -> bytes:
    """The certificate of the good chip."""
    return MILAN.vcek


# --- TDX ---------------------------------------------------------------------------------------


def intel_root(label: str = "intel-root") -> x509.Certificate:
    """Intel's root; all bear one name."""
    return issue(
        "intel-root", "intel-root", wanted=Wanted(**LONG), key=label, sign_key=ec_key(label)
    )


@dataclass(frozen=True)
class Quote:
    """A quote, as far as it differs from a good one of version 4."""

    version: int = 4
    body_type: int = 2
    size: int | None = None
    attributes: bytes = bytes.fromhex("0000004000000000")
    module: bytes = bytes(56)
    """Signer and attributes of the TDX module; zeros for Intel's."""
    report_data: bytes = DATA
    mrtd: bytes = MEASUREMENT
    key_type: int = 2
    tee: int = 0x81
    root: str = "intel-root"
    pck_ends_ms: int = LONG["ends_ms"]
    quote_key: str = "attestation"
    bound_key: str = "attestation"
    """The key that the quoting enclave vouches for."""
    qe_key: str = "pck"
    qe_attributes: int = 0x15
    qe_signer: bytes = INTEL_QE_SIGNER
    kinds: tuple[int, int] = (6, 5)
    after: bytes = b""
    tail: bytes = b"\0"
    """What stands after the chain in PEM: a driver's zero byte."""

    @property
    def certificates(self) -> bytes:
        """The chain in PEM, the platform's first."""
        pck = leaf_wanted(
            begins_ms=LONG["begins_ms"],
            ends_ms=self.pck_ends_ms,
            public_key=ec_key("pck", ec.SECP256R1).public_key(),
        )
        chain = [
            issue("pck", "pck-ca", wanted=pck),
            issue("pck-ca", "intel-root", wanted=Wanted(**LONG), sign_key=ec_key(self.root)),
            intel_root(self.root),
        ]
        return "".join(pem(each) for each in chain).encode()

    @property
    def signed(self) -> bytes:
        """Header and body."""
        numbers = ((self.version, 2), (self.key_type, 2), (self.tee, 4))
        header = b"".join(value.to_bytes(size, "little") for value, size in numbers).ljust(
            48, b"\1"
        )
        body = bytearray(648 if self.body_type == 3 else 584)
        body[64:120], body[120:128], body[136:184] = self.module, self.attributes, self.mrtd
        body[520:584] = self.report_data
        if self.version == 4:
            return header + bytes(body)
        size = len(body) if self.size is None else self.size
        return header + self.body_type.to_bytes(2, "little") + size.to_bytes(4, "little") + body

    @property
    def qe_report(self) -> bytes:
        """The quoting enclave's report."""
        raw = bytearray(384)
        raw[48] = self.qe_attributes
        raw[128:160] = self.qe_signer
        raw[320:352] = sha256(point(self.bound_key) + AUTH).digest()
        return bytes(raw)

    @property
    def raw(self) -> bytes:
        """The whole quote."""
        outer, inner = self.kinds
        certified = self.qe_report + p256_signature(self.qe_key, self.qe_report)
        certified += len(AUTH).to_bytes(2, "little") + AUTH
        certified += sized(inner, self.certificates + self.tail)
        inside = p256_signature(self.quote_key, self.signed) + point(self.quote_key)
        inside += sized(outer, certified)
        return self.signed + len(inside).to_bytes(4, "little") + inside + self.after

    @property
    def evidence(self) -> Evidence:
        """A piece of evidence."""
        return Evidence(EvidenceKind.TDX, {"quote": self.raw})


AUTH = bytes(range(32))


def sized(kind: int, content: bytes) -> bytes:
    """Certification data."""
    return kind.to_bytes(2, "little") + len(content).to_bytes(4, "little") + content


def point(label: str) -> bytes:
    """The two coordinates of a public key on P-256."""
    numbers = ec_key(label, ec.SECP256R1).public_key().public_numbers()
    return numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def p256_signature(label: str, message: bytes) -> bytes:
    """r and s."""
    algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    made = decode_dss_signature(ec_key(label, ec.SECP256R1).sign(message, algorithm))
    return b"".join(part.to_bytes(32, "big") for part in made)


# --- the cases ---------------------------------------------------------------------------------

SnpRow = tuple[bytes, bytes, str | None, dict[str, Any]]


def snp_rows() -> dict[str, SnpRow]:
    """Each case: report, certificate, reason, and fields that differ."""
    good, vcek = snp_report(), good_vcek()
    flipped = bytearray(good)
    flipped[0x90] ^= 1
    high = bytearray(good)
    high[0x2A0 + 60] = 1
    debug = snp_report(policy=DEBUG_POLICY)
    p256 = replace(MILAN, public_key=ec_key("vcek", ec.SECP256R1).public_key())
    older = replace(MILAN, tcb=bytes.fromhex("0200000000000444"))
    turin = snp_report(version=3, reported_tcb=TURIN.tcb, chip_id=CHIP[:8] + bytes(56))
    return {
        "snp": (good, vcek, None, {}),
        "snp-turin": (turin, TURIN.vcek, None, {}),
        "snp-chip-id-masked": (snp_report(chip_id=bytes(64)), vcek, None, {}),
        "snp-debug-allowed": (debug, vcek, None, {"allow_debug": True}),
        "snp-debug": (debug, vcek, "debug", {}),
        "snp-wrong-report-data": (
            good,
            vcek,
            "report_data_mismatch",
            {"report_data": bytes(64).hex()},
        ),
        "snp-measurement-flipped": (bytes(flipped), vcek, "bad_signature", {}),
        "snp-signature-beyond-the-curve": (bytes(high), vcek, "bad_signature", {}),
        "snp-signature-of-zeros": (good[:0x2A0] + bytes(512), vcek, "bad_signature", {}),
        "snp-signed-by-another-chip": (
            snp_signed(snp_body(), "other"),
            vcek,
            "bad_signature",
            {},
        ),
        "snp-certificate-of-another-chip": (
            good,
            replace(MILAN, hardware_id=bytes(64)).vcek,
            "chain",
            {},
        ),
        "snp-certificate-of-older-firmware": (good, older.vcek, "chain", {}),
        "snp-certificate-without-chip": (good, replace(MILAN, hardware_id=b"").vcek, "chain", {}),
        "snp-certificate-by-another": (good, replace(MILAN, signer="other").vcek, "chain", {}),
        "snp-certificate-ran-out": (
            good,
            replace(MILAN, ends_ms=AT_MS - DAY_MS).vcek,
            "chain",
            {},
        ),
        "snp-key-p256": (good, p256.vcek, "key_or_signature_shape", {}),
        "snp-cut": (good[:-1], vcek, "malformed", {}),
        "snp-bytes-after-it": (good + b"\0", vcek, "malformed", {}),
        "snp-bytes-after-the-signature": (good[:-1] + b"\1", vcek, "malformed", {}),
        "snp-version-1": (snp_report(version=1), vcek, "malformed", {}),
        "snp-algorithm-0": (snp_report(algorithm=0), vcek, "malformed", {}),
    }


def tdx_rows() -> dict[str, tuple[Quote | bytes, str | None, dict[str, Any]]]:
    """Each case: quote, reason, and fields that differ."""
    good, debug = Quote(), Quote(attributes=bytes.fromhex("0100004000000000"))
    v5 = Quote(version=5)
    flipped = bytearray(good.raw)
    flipped[48 + 136] ^= 1
    other_data = {"report_data": bytes(64).hex()}
    return {
        "tdx-v4": (good, None, {}),
        "tdx-v5-of-1.0": (v5, None, {}),
        "tdx-v5-of-1.5": (Quote(version=5, body_type=3), None, {}),
        "tdx-in-a-buffer": (Quote(after=bytes(100)), None, {}),
        "tdx-debug-allowed": (debug, None, {"allow_debug": True}),
        "tdx-debug": (debug, "debug", {"allow_debug": False}),
        "tdx-debug-not-spoken-of": (debug, None, {}),
        "tdx-enclave-under-debug": (Quote(qe_attributes=0x17), "debug", {}),
        "tdx-wrong-report-data": (good, "report_data_mismatch", other_data),
        "tdx-v5-wrong-report-data": (v5, "report_data_mismatch", other_data),
        "tdx-mrtd-flipped": (bytes(flipped), "bad_signature", {}),
        "tdx-another-key-signs": (Quote(quote_key="other"), "bad_signature", {}),
        "tdx-enclave-signed-by-another": (Quote(qe_key="other"), "bad_signature", {}),
        "tdx-own-root-in-bundle": (Quote(root="other-root"), "chain", {}),
        "tdx-platform-ran-out": (Quote(pck_ends_ms=AT_MS - DAY_MS), "chain", {}),
        "tdx-version-3": (Quote(version=3), "malformed", {}),
        "tdx-key-type-3": (Quote(key_type=3), "malformed", {}),
        "tdx-of-sgx": (Quote(tee=0), "malformed", {}),
        "tdx-body-type-1": (Quote(version=5, body_type=1), "malformed", {}),
        "tdx-body-size": (Quote(version=5, size=583), "malformed", {}),
        "tdx-kind-of-certificate": (Quote(kinds=(6, 1)), "malformed", {}),
        "tdx-kind-of-certification": (Quote(kinds=(5, 5)), "malformed", {}),
        "tdx-cut": (good.raw[:-1], "malformed", {}),
        "tdx-empty": (b"", "malformed", {}),
    }


def write(directory: Path) -> None:
    """Write cases.json and the files it names; equal files once."""
    made: dict[bytes, str] = {}

    def stored(folder: str, name: str, raw: bytes) -> str:
        if raw not in made:
            made[raw] = f"{folder}/{name}"
            (directory / folder).mkdir(parents=True, exist_ok=True)
            (directory / made[raw]).write_bytes(raw)
        return made[raw]

    def case(name: str, reason: str | None, fields: dict[str, Any]) -> dict[str, Any]:
        usual = {"report_data": DATA.hex(), "at": "2026-11-15T12:00:00Z"}
        expect = {"expect": "untrusted" if reason else "trusted", "reason": reason}
        return {"id": name} | usual | expect | fields

    bundle = (pem(ask()) + pem(ark())).encode()
    cases = []
    for name, (report, vcek, reason, changes) in snp_rows().items():
        files = {
            "kind": "snp-report",
            "report": stored("snp", f"{name}.bin", report),
            "vcek": stored("snp", f"{name}.der", vcek),
            "ask_ark": stored("snp", "ask-ark.pem", bundle),
        }
        cases.append(case(name, reason, files | changes))
    for name, (quote, reason, changes) in tdx_rows().items():
        raw = quote.raw if isinstance(quote, Quote) else quote
        files = {
            "kind": "tdx-quote",
            "quote": stored("tdx", f"{name}.bin", raw),
            "root": stored("tdx", "root.pem", pem(intel_root()).encode()),
        }
        cases.append(case(name, reason, files | changes))
    text = json.dumps({"format": "attestation-lab/snp-tdx/1", "cases": cases}, indent=1)
    (directory / "cases.json").write_text(text + "\n")


if __name__ == "__main__":
    write(own("snp-tdx"))

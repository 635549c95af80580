"""A TPM on paper: keys from labels, and structures packed by hand to say whatever a test needs.

No TPM signed these, and a verifier cannot tell: that is what makes them good for asking what it
does with each field. Evidence of a real (software) TPM is in :mod:`tests.support.evidence_tpm2`.
Also here: the event log of a boot, which both use.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.tpm.event_log import TpmEventType
from bailiwick.attestation.tpm.registers import BANKS
from bailiwick.attestation.tpm.structures import (
    DECRYPT,
    FIXED_PARENT,
    FIXED_TPM,
    RESTRICTED,
    SENSITIVE_DATA_ORIGIN,
    SIGN,
    qualified_name_of,
)
from bailiwick.attestation.tpm.verifier import Tpm2Verifier
from bailiwick.vocab.trust import EvidenceKind
from tests.support.certificates import AT_MS, DAY_MS, Wanted, der, ec_key, issue, usage

NONCE = hashlib.sha256(b"the nonce").digest()
FIRST = tuple(range(10))
BOUND = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | RESTRICTED
EK_USE, AK_USE = "2.23.133.8.1", "2.23.133.8.3"
MAX_AGE_MS = 300_000
RSA = rsa.generate_private_key(65537, 2048)
"""A key of RSA; a new one each time, since none can be made from a label."""

_VARIABLES = bytes.fromhex("61dfe48bca93d211aa0d00e098032b8c")
_CRTM, _BLOB, _APPLICATION, _AUTHORITY = 0x8, 0x80000008, 0x80000003, 0x800000E0


def sized(value: bytes) -> bytes:
    """A byte string with its length in two bytes before it."""
    return struct.pack(">H", len(value)) + value


def ek_public(label: str = "ek", **changes: Any) -> bytes:
    """The public area of an endorsement key on P-256, whose private half is the label's."""
    how = {"attributes": BOUND | DECRYPT, "symmetric": struct.pack(">HHH", 6, 128, 0x43)}
    return _public(label, **how | {"scheme": struct.pack(">H", 0x10)} | changes)


def ak_public(label: str = "ak", **changes: Any) -> bytes:
    """The public area of an attestation key on P-256."""
    how = {"attributes": BOUND | SIGN, "symmetric": struct.pack(">H", 0x10)}
    return _public(label, **how | {"scheme": struct.pack(">HH", 0x18, 0x0B)} | changes)


def _public(
    label: str, *, attributes: int, symmetric: bytes, scheme: bytes, name_alg: int = 0x0B
) -> bytes:
    point = ec_key(label, ec.SECP256R1).public_key().public_numbers()
    area = struct.pack(">HHI", 0x23, name_alg, attributes) + sized(b"") + symmetric + scheme
    area += struct.pack(">HH", 3, 0x10)
    return sized(area + b"".join(sized(each.to_bytes(32, "big")) for each in (point.x, point.y)))


def selection(banks: Mapping[str, Iterable[int]]) -> bytes:
    """A TPML_PCR_SELECTION."""
    whole = struct.pack(">I", len(banks))
    for name, registers in banks.items():
        bits = sum(1 << each for each in set(registers))
        whole += struct.pack(">HB", BANKS[name], 3) + bits.to_bytes(3, "little")
    return whole


@dataclass(frozen=True)
class PaperQuote:
    """The fields of a quote, all good until one is replaced."""

    registers: Mapping[str, Mapping[int, bytes]]
    magic: int = 0xFF544347
    kind: int = 0x8018
    signer: bytes | None = None
    nonce: bytes = NONCE
    clock: int = 5000
    reset_count: int = 2
    restart_count: int = 0
    safe: int = 1
    firmware_version: int = 0x2019
    selection: bytes | None = None
    digest: bytes | None = None

    def packed(self) -> bytes:
        """The TPMS_ATTEST."""
        values = b"".join(v for bank in self.registers.values() for _, v in sorted(bank.items()))
        signer = qualified_name_of(ak_public(), ek_public()) if self.signer is None else self.signer
        chosen = selection(self.registers) if self.selection is None else self.selection
        digest = hashlib.sha256(values).digest() if self.digest is None else self.digest
        head = struct.pack(">IH", self.magic, self.kind) + sized(signer) + sized(self.nonce)
        head += struct.pack(">QIIB", self.clock, self.reset_count, self.restart_count, self.safe)
        return head + struct.pack(">Q", self.firmware_version) + chosen + sized(digest)


def sign(attest: bytes, label: str = "ak") -> bytes:
    """A TPMT_SIGNATURE by the key of that label, ECDSA with SHA-256."""
    raw = ec_key(label, ec.SECP256R1).sign(attest, ec.ECDSA(hashes.SHA256()))
    r, s = decode_dss_signature(raw)
    return (
        struct.pack(">HH", 0x18, 0x0B) + sized(r.to_bytes(32, "big")) + sized(s.to_bytes(32, "big"))
    )


# --- the log of a boot ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """One event; ``digested`` is what was hashed, where that is not the data."""

    register: int
    kind: int
    data: bytes
    digested: bytes | None = None

    def digest(self, bank: str) -> bytes:
        """What the register of a bank is extended with."""
        return hashlib.new(bank, self.data if self.digested is None else self.digested).digest()


def variable(name: str, value: bytes) -> bytes:
    """The data of an event about a variable of the firmware's."""
    text = name.encode("utf-16-le")
    return _VARIABLES + struct.pack("<QQ", len(name), len(value)) + text + value


def boot_events(*, secure_boot: int = 1, kernel: str = "good") -> tuple[Measured, ...]:
    """What a machine measures until its kernel runs."""
    config, separator = TpmEventType.EFI_VARIABLE_DRIVER_CONFIG, TpmEventType.SEPARATOR
    version = "Paper 1.0\0".encode("utf-16-le")
    return (
        Measured(0, _CRTM, version),
        Measured(0, _BLOB, b"at 0xff000000", b"the firmware"),
        Measured(7, config, variable("SecureBoot", bytes([secure_boot]))),
        *(Measured(7, config, variable(name, name.encode() * 8)) for name in ("PK", "KEK", "db")),
        Measured(7, separator, bytes(4)),
        Measured(4, TpmEventType.EFI_ACTION, b"Calling EFI Application from Boot Option"),
        *(Measured(register, separator, bytes(4)) for register in range(7)),
        Measured(5, TpmEventType.EFI_GPT_EVENT, b"EFI PART" + bytes(84)),
        Measured(7, _AUTHORITY, variable("db", b"the certificate of the shim"), b"the shim's own"),
        Measured(4, _APPLICATION, b"path of the shim", b"the shim"),
        Measured(8, TpmEventType.IPL, b"kernel_cmdline: quiet\0", b"quiet"),
        Measured(
            9, TpmEventType.IPL, f"/boot/vmlinuz-{kernel}\0".encode(), f"kernel {kernel}".encode()
        ),
    )


def log_of(
    events: Iterable[Measured], *, banks: Iterable[str] = ("sha256", "sha384"), locality: int = -1
) -> bytes:
    """The events as firmware writes them; with ``locality``, from where the TPM was started."""
    names = tuple(banks)
    sizes = b"".join(struct.pack("<HH", BANKS[n], hashlib.new(n).digest_size) for n in names)
    head = b"Spec ID Event03\0" + struct.pack("<IBBBBI", 0, 0, 2, 105, 2, len(names)) + sizes
    raw = old_event(0, TpmEventType.NO_ACTION, head + b"\0")
    if locality >= 0:
        told = b"StartupLocality\0" + bytes([locality])
        blank = {name: bytes(hashlib.new(name).digest_size) for name in names}
        raw += event_of(0, TpmEventType.NO_ACTION, data=told, digests=blank)
    for each in events:
        digests = {name: each.digest(name) for name in names}
        raw += event_of(each.register, each.kind, data=each.data, digests=digests)
    return raw


def event_of(register: int, kind: int, *, data: bytes, digests: Mapping[str, bytes]) -> bytes:
    """One event with a digest per bank."""
    raw = struct.pack("<III", register, kind, len(digests))
    for name, digest in digests.items():
        raw += struct.pack("<H", BANKS[name]) + digest
    return raw + struct.pack("<I", len(data)) + data


def old_event(register: int, kind: int, data: bytes, digest: bytes = bytes(20)) -> bytes:
    """One event of the older form."""
    return struct.pack("<II20sI", register, kind, digest, len(data)) + data


def registers_of(
    events: Iterable[Measured], bank: str = "sha256", *, locality: int = 0
) -> dict[int, bytes]:
    """The first ten registers after those events; the naive way."""
    size = hashlib.new(bank).digest_size
    found = {register: bytes(size) for register in FIRST}
    found[0] = bytes(size - 1) + bytes([locality])
    for each in events:
        if each.register in found:
            whole = found[each.register] + each.digest(bank)
            found[each.register] = hashlib.new(bank, whole).digest()
    return found


# --- a whole piece of evidence -------------------------------------------------------------------


def tpm_name() -> x509.SubjectAlternativeName:
    """The name of a TPM, as a certificate has it."""
    rows = (("2.23.133.2.1", "id:50415045"), ("2.23.133.2.2", "paper"), ("2.23.133.2.3", "id:1"))
    names = [x509.NameAttribute(x509.ObjectIdentifier(oid), text) for oid, text in rows]
    return x509.SubjectAlternativeName([x509.DirectoryName(x509.Name(names))])


def use(*oids: str) -> x509.ExtendedKeyUsage:
    """What the key of a certificate is for."""
    return x509.ExtendedKeyUsage([x509.ObjectIdentifier(each) for each in oids])


def authority(name: str = "maker") -> tuple[x509.Certificate, x509.Certificate]:
    """A root and an intermediate of a maker of TPMs."""
    wanted = Wanted(begins_ms=AT_MS - DAY_MS, ends_ms=AT_MS + 1000 * DAY_MS)
    top, own = (ec_key(f"{name} {each}", ec.SECP256R1) for each in ("root", "issuer"))
    made = []
    for subject, key in (("root", top), ("issuer", own)):
        how = replace(wanted, public_key=key.public_key(), hash=hashes.SHA256())
        made.append(issue(f"{name} {subject}", f"{name} root", wanted=how, sign_key=top))
    return made[0], made[1]


def certify(public_key: Any, *, maker: str = "maker", **changes: Any) -> bytes:
    """The certificate of a TPM's key."""
    how: dict[str, Any] = {
        "ca": False,
        "begins_ms": AT_MS - DAY_MS,
        "ends_ms": AT_MS + 1000 * DAY_MS,
        "usage": usage(key_agreement=True),
        "extra": ((tpm_name(), True), (use(EK_USE), False)),
        "public_key": public_key,
    }
    by, how = f"{maker} issuer", how | {"hash": hashes.SHA256()}
    key = ec_key(by, ec.SECP256R1)
    return der(issue("a TPM", by, wanted=Wanted(**how | changes), sign_key=key))


def ek_certificate(label: str = "ek", **changes: Any) -> bytes:
    """The certificate of the endorsement key of that label."""
    return certify(ec_key(label, ec.SECP256R1).public_key(), **changes)


EVENTS = boot_events()
REGISTERS = {"sha256": registers_of(EVENTS)}
QUOTE = PaperQuote(REGISTERS)


def verifier(**changes: Any) -> Tpm2Verifier:
    """One that trusts the good boot, and TPMs of the one maker."""
    allowed = {register: frozenset({value}) for register, value in REGISTERS["sha256"].items()}
    how: dict[str, Any] = {
        "max_age_ms": MAX_AGE_MS,
        "ek_roots": (authority()[0],),
        "selection": {BANKS["sha256"]: frozenset(FIRST)},
        "references": {BANKS["sha256"]: allowed},
    }
    return Tpm2Verifier(**how | changes)


def keys_of(**changes: bytes) -> dict[str, bytes]:
    """The keys that the node enrolled with."""
    keys = {"ak_public": ak_public(), "ek_public": ek_public(), "ek_certificate": ek_certificate()}
    return keys | {"ek_intermediates": der(authority()[1])} | changes


@dataclass(frozen=True)
class Piece:
    """A quote, what is sent with it, and what the gate knows: good until something is replaced."""

    quote: PaperQuote = QUOTE
    signer: str = "ak"
    log: bytes | None = field(default_factory=lambda: log_of(EVENTS))
    reported: Mapping[str, Mapping[int, bytes]] = field(default_factory=lambda: REGISTERS)
    enrolled: Mapping[str, bytes] = field(default_factory=keys_of)
    previous: Mapping[str, str] = field(default_factory=dict)
    nonce: bytes = NONCE
    at_ms: int = AT_MS

    def changed(self, **fields: Any) -> Piece:
        """The same with fields of the quote replaced."""
        return replace(self, quote=replace(self.quote, **fields))

    def of_boot(self, events: Iterable[Measured], *, locality: int = -1) -> Piece:
        """The same of a machine that measured these events, whose log tells just that."""
        whole = tuple(events)
        registers = {"sha256": registers_of(whole, locality=max(locality, 0))}
        quote = replace(self.quote, registers=registers)
        log = log_of(whole, locality=locality)
        return replace(self, quote=quote, reported=registers, log=log)

    @property
    def parts(self) -> dict[str, bytes]:
        """The parts of the evidence."""
        attest = self.quote.packed()
        told = {
            bank: {str(register): value.hex() for register, value in values.items()}
            for bank, values in self.reported.items()
        }
        parts = {"attest": attest, "signature": sign(attest, self.signer)}
        parts["pcrs"] = json.dumps(told).encode()
        return parts if self.log is None else parts | {"event_log": self.log}

    @property
    def evidence(self) -> Evidence:
        """The evidence."""
        return Evidence(EvidenceKind.TPM2, self.parts)

    @property
    def asked(self) -> EvidenceContext:
        """What the gate asks."""
        return EvidenceContext(
            node="n1",
            nonce=self.nonce,
            at_ms=self.at_ms,
            enrolled=self.enrolled,
            previous=self.previous,
        )

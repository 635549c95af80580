"""Certificates of our own: keys from labels, dates that are given, the same bytes each time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

AT_MS = 1_794_744_000_000
"""2026-11-15 12:00 UTC: when the evidence in tests is judged."""

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


@lru_cache(maxsize=256)
def ec_key(label: str, curve: type[ec.EllipticCurve] = ec.SECP384R1) -> ec.EllipticCurvePrivateKey:
    """The private key of that label."""
    seed = sha256(b"test key " + label.encode()).digest()
    return ec.derive_private_key(int.from_bytes(seed, "big"), curve())


def name_of(common: str) -> x509.Name:
    """A subject with a common name, and an organisation so that it looks like one."""
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "CH"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Bailiwick tests"),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def der(certificate: x509.Certificate) -> bytes:
    """The certificate as bytes."""
    return certificate.public_bytes(serialization.Encoding.DER)


def pem(certificate: x509.Certificate) -> str:
    """The certificate as text."""
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def usage(**allowed: bool) -> x509.KeyUsage:
    """A key usage with only these."""
    whole = dict.fromkeys(_USAGES, False) | allowed
    return x509.KeyUsage(**whole)


@dataclass(frozen=True)
class Wanted:
    """How a certificate differs from a plain good one."""

    begins_ms: int = AT_MS - HOUR_MS
    ends_ms: int = AT_MS + HOUR_MS
    ca: bool | None = True
    """None leaves the basic constraints out."""
    path_length: int | None = None
    usage: x509.KeyUsage | None = None
    """None for the fitting one."""
    extra: tuple[tuple[x509.ExtensionType, bool], ...] = ()
    hash: Any = None
    """None for SHA-384."""
    public_key: Any = None
    issuer: x509.Name | None = None
    """A name other than the issuer's own."""
    subject: x509.Name | None = None
    """A name other than the label's."""


def issue(
    subject: str, by: str, *, wanted: Wanted | None = None, key: str = "", sign_key: Any = None
) -> x509.Certificate:
    """A certificate: ``subject`` and ``by`` are names, and labels of keys unless one is given."""
    how = wanted or Wanted()
    public = how.public_key or ec_key(key or subject).public_key()
    builder = (
        x509.CertificateBuilder()
        .subject_name(name_of(subject) if how.subject is None else how.subject)
        .issuer_name(how.issuer or name_of(by))
        .public_key(public)
        .serial_number(int.from_bytes(sha256(f"{subject} {by}".encode()).digest()[:8], "big"))
        .not_valid_before(_date(how.begins_ms))
        .not_valid_after(_date(how.ends_ms))
    )
    if how.ca is not None:
        constraints = x509.BasicConstraints(how.ca, how.path_length if how.ca else None)
        builder = builder.add_extension(constraints, critical=True)
    fitting = usage(key_cert_sign=True) if how.ca else usage(digital_signature=True)
    builder = builder.add_extension(how.usage or fitting, critical=True)
    for each, critical in how.extra:
        builder = builder.add_extension(each, critical=critical)
    private = sign_key or ec_key(by)
    deterministic = isinstance(private, ec.EllipticCurvePrivateKey) or None
    return builder.sign(private, how.hash or hashes.SHA384(), ecdsa_deterministic=deterministic)


def leaf_wanted(**changes: Any) -> Wanted:
    """A leaf: no CA."""
    return Wanted(**{"ca": False} | changes)


def _date(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC)


def make_certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """A certificate of its own for 127.0.0.1 or these names, good now, and its key: as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName(each) for each in names] or [x509.IPAddress(IPv4Address("127.0.0.1"))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, secret

"""Nitro documents of our own, in the shape of real ones, under an authority of our own.

``python -m tests.support.evidence_nitro`` writes tests/vectors/attestation/nitro again, to the same
bytes: keys come from labels and signatures are deterministic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256, sha384
from pathlib import Path
from typing import Any

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.support.attestation_cases import own
from tests.support.certificates import (
    AT_MS,
    DAY_MS,
    HOUR_MS,
    Wanted,
    der,
    ec_key,
    issue,
    leaf_wanted,
    usage,
)

NONCE = sha256(b"nitro nonce").digest()
PCRS = {index: sha384(f"register {index}".encode()).digest() for index in range(16)}
DEBUG_PCRS = PCRS | dict.fromkeys((0, 1, 2), bytes(48))
HEADER = bytes.fromhex("a1013822")


def root(label: str = "nitro-root") -> x509.Certificate:
    """The root of an authority; ``label`` makes its key, all bear one name."""
    wanted = Wanted(begins_ms=AT_MS - 2000 * DAY_MS, ends_ms=AT_MS + 9000 * DAY_MS)
    return issue("nitro-root", "nitro-root", wanted=wanted, key=label, sign_key=ec_key(label))


def chain(
    root_label: str = "nitro-root", *, leaf: Wanted | None = None, zonal: Wanted | None = None
) -> tuple[x509.Certificate, list[x509.Certificate]]:
    """The leaf, and the bundle as documents carry it: the root first."""
    regional = Wanted(begins_ms=AT_MS - 3 * DAY_MS, ends_ms=AT_MS + 17 * DAY_MS, path_length=2)
    middle = Wanted(begins_ms=AT_MS - DAY_MS, ends_ms=AT_MS + 5 * DAY_MS, path_length=1)
    instance = Wanted(begins_ms=AT_MS - HOUR_MS, ends_ms=AT_MS + 23 * HOUR_MS, path_length=0)
    end = leaf_wanted(begins_ms=AT_MS - 3000, ends_ms=AT_MS + 3 * HOUR_MS)
    bundle = [
        root(root_label),
        issue("regional", "nitro-root", wanted=regional, sign_key=ec_key(root_label)),
        issue("zonal", "regional", wanted=zonal or middle),
        issue("i-0a1b2c3d", "zonal", wanted=instance),
    ]
    return issue("enclave", "i-0a1b2c3d", wanted=leaf or end), bundle


def payload(**changes: Any) -> dict[str, Any]:
    """The payload of a good document; a change to ``...`` takes the field out."""
    leaf, bundle = chain()
    whole = {
        "module_id": "i-0a1b2c3d-enc0123456789",
        "digest": "SHA384",
        "timestamp": AT_MS,
        "pcrs": PCRS,
        "certificate": der(leaf),
        "cabundle": [der(each) for each in bundle],
        "public_key": None,
        "user_data": None,
        "nonce": NONCE,
    } | changes
    return {name: value for name, value in whole.items() if value is not ...}


@dataclass(frozen=True)
class Signing:
    """How a document is signed, where that differs from a good one."""

    key: Any = None
    header: bytes = HEADER
    unprotected: Mapping[Any, Any] = field(default_factory=dict)


def signature(private: ec.EllipticCurvePrivateKey, message: bytes) -> bytes:
    """r and s, each of the curve's size."""
    raw = private.sign(message, ec.ECDSA(hashes.SHA384(), deterministic_signing=True))
    size = (private.key_size + 7) // 8
    return b"".join(part.to_bytes(size, "big") for part in decode_dss_signature(raw))


def document(
    body: Mapping[str, Any] | bytes | None = None, signing: Signing | None = None
) -> bytes:
    """A document over a payload, by default the good one."""
    how = signing or Signing()
    whole = payload() if body is None else body
    raw = whole if isinstance(whole, bytes) else cbor2.dumps(whole)
    signed = cbor2.dumps(["Signature1", how.header, b"", raw])
    made = signature(how.key or ec_key("enclave"), signed)
    return cbor2.dumps([how.header, how.unprotected, raw, made])


def bundled(leaf: x509.Certificate, bundle: Sequence[x509.Certificate]) -> dict[str, Any]:
    """A payload with another chain."""
    return payload(certificate=der(leaf), cabundle=[der(each) for each in bundle])


def indefinite(body: Mapping[str, Any]) -> bytes:
    """The payload as a map of indefinite length."""
    pairs = (cbor2.dumps(name) + cbor2.dumps(value) for name, value in body.items())
    return b"\xbf" + b"".join(pairs) + b"\xff"


def resigned(raw: bytes, made: bytes) -> bytes:
    """The document with another signature."""
    return cbor2.dumps([*cbor2.loads(raw)[:3], made])


Row = tuple[bytes, str | None, dict[str, Any]]


def rows() -> dict[str, Row]:
    """Each case: document, reason, and fields that differ."""
    return {**_good(), **_forged(), **_misshapen(), **_not_allowed()}


def _good() -> dict[str, Row]:
    return {
        "good": (document(), None, {}),
        "good-map-of-indefinite-length": (document(indefinite(payload())), None, {}),
        "good-no-nonce-asked": (document(payload(nonce=None)), None, {"nonce": None}),
        "good-debug-allowed": (
            document(payload(pcrs=DEBUG_PCRS)),
            None,
            {"allow_debug": True, "expected_pcrs": None},
        ),
        "good-last-second-of-the-leaf": (document(), None, {"at": "2026-11-15T15:00:00Z"}),
    }


def _forged() -> dict[str, Row]:
    stranger = payload()["certificate"], chain("other-root")[1]
    leaf, bundle = chain()
    own_root = [root("other-root"), *chain("other-root")[1][1:]]
    no_ca = chain(zonal=Wanted(ca=False, usage=usage(key_cert_sign=True)))
    is_ca = chain(leaf=Wanted(usage=usage(digital_signature=True, key_cert_sign=True)))
    return {
        "forged-own-root-in-bundle": (document(bundled(leaf, own_root)), "chain", {}),
        "forged-leaf-key": (document(signing=Signing(ec_key("other"))), "bad_signature", {}),
        "forged-register": (_edited(), "bad_signature", {}),
        "bundle-of-another-authority": (
            document(payload(certificate=stranger[0], cabundle=[der(c) for c in stranger[1]])),
            "chain",
            {},
        ),
        "bundle-without-zonal": (document(bundled(leaf, [*bundle[:2], bundle[3]])), "chain", {}),
        "bundle-empty": (document(bundled(leaf, [])), "chain", {}),
        "bundle-is-only-the-root": (document(bundled(leaf, bundle[:1])), "chain", {}),
        "zonal-is-no-ca": (document(bundled(*no_ca)), "chain", {}),
        "leaf-is-a-ca": (document(bundled(*is_ca)), "chain", {}),
        "one-second-late": (document(), "chain", {"at": "2026-11-15T15:00:01Z"}),
        "before-its-time": (document(), "chain", {"at": "2026-11-15T11:59:56Z"}),
        "dated-tomorrow": (document(payload(timestamp=AT_MS + DAY_MS)), "chain", {}),
        "dated-last-year": (document(payload(timestamp=AT_MS - 365 * DAY_MS)), "chain", {}),
        "signature-of-zeros": (resigned(document(), bytes(96)), "bad_signature", {}),
    }


def _misshapen() -> dict[str, Row]:
    good, shape = document(), "key_or_signature_shape"
    p256 = ec_key("enclave", ec.SECP256R1)
    leaf, bundle = chain(leaf=leaf_wanted(public_key=p256.public_key()))
    es256, none = Signing(header=bytes.fromhex("a10126")), Signing(header=b"")
    more = Signing(header=bytes.fromhex("a201382203 00".replace(" ", "")))
    found: dict[str, Row] = {
        "tagged": (b"\xd2" + good, "malformed", {}),
        "bytes-after-it": (good + b"\0", "malformed", {}),
        "cut": (good[:-1], "malformed", {}),
        "empty": (b"", "malformed", {}),
        "header-es256": (document(signing=es256), "malformed", {}),
        "header-empty": (document(signing=none), "malformed", {}),
        "header-with-more": (document(signing=more), "malformed", {}),
        "header-unprotected": (document(signing=Signing(unprotected={4: b"x"})), "malformed", {}),
        "signature-95-bytes": (resigned(good, bytes(95)), shape, {}),
        "signature-97-bytes": (resigned(good, bytes(97)), shape, {}),
        "leaf-key-p256": (document(bundled(leaf, bundle), Signing(p256)), shape, {}),
        "payload-twice-a-field": (document(_twice()), "malformed", {}),
        "payload-is-a-list": (document(cbor2.dumps([payload()])), "malformed", {}),
        "digest-sha256": (document(payload(digest="SHA256")), "malformed", {}),
        "timestamp-text": (document(payload(timestamp=str(AT_MS))), "malformed", {}),
        "register-of-32-bytes": (document(payload(pcrs=PCRS | {3: bytes(32)})), "malformed", {}),
        "register-32": (document(payload(pcrs=PCRS | {32: bytes(48)})), "malformed", {}),
        "certificate-is-none": (document(payload(certificate=b"none")), "malformed", {}),
    }
    for name in ("module_id", "digest", "timestamp", "pcrs", "certificate", "cabundle"):
        missing = document(payload(**{name: ...}))
        found[f"no-{name.replace('_', '-')}"] = (missing, "missing_field", {})
    return found


def _not_allowed() -> dict[str, Row]:
    other, no_policy = bytes(48).hex(), {"expected_pcrs": None}
    return {
        "debug-refused": (document(payload(pcrs=DEBUG_PCRS)), "debug_mode", no_policy),
        "other-register": (document(), "pcr_policy", {"expected_pcrs": {"4": other}}),
        "register-absent": (document(), "pcr_policy", {"expected_pcrs": {"20": other}}),
        "other-nonce": (document(), "nonce_mismatch", {"nonce": "00" * 32}),
        "nonce-prefix": (document(), "nonce_mismatch", {"nonce": NONCE[:31].hex()}),
        "no-nonce-in-it": (document(payload(nonce=None)), "nonce_mismatch", {}),
    }


def _edited() -> bytes:
    header, unprotected, raw, made = cbor2.loads(document())
    return cbor2.dumps([header, unprotected, raw.replace(PCRS[0], bytes(range(48))), made])


def _twice() -> bytes:
    whole = bytearray(cbor2.dumps(payload()))
    whole[0] += 1
    return bytes(whole) + cbor2.dumps("nonce") + cbor2.dumps(NONCE)


def write(directory: Path) -> None:
    """Write cases, documents and the root into a folder."""
    (directory / "docs").mkdir(parents=True, exist_ok=True)
    (directory / "root.der").write_bytes(der(root()))
    cases, stored = [], dict[bytes, str]()
    for name, (raw, reason, changes) in rows().items():
        path = stored.setdefault(raw, f"docs/{name}.cbor")
        (directory / path).write_bytes(raw)
        cases.append(
            {
                "id": name,
                "kind": "nitro-document",
                "document": path,
                "root": "root.der",
                "at": "2026-11-15T12:00:00Z",
                "allow_debug": False,
                "nonce": NONCE.hex(),
                "expected_pcrs": {"0": PCRS[0].hex()},
                "expect": "trusted" if reason is None else "untrusted",
                "reason": reason,
                "note": "",
            }
            | changes
        )
    whole = {"format": "attestation-lab/nitro/1", "cases": cases}
    (directory / "cases.json").write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    write(own("nitro"))

"""Signed statements of our own: keys made from labels, and the cases written from them.

``python -m tests.support.evidence_ed25519`` writes tests/vectors/attestation/ed25519 again, to the
same bytes: the keys come from their labels and the signatures are deterministic.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bailiwick.attestation.ed25519 import enrolment_statement, statement_of
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.vocab.ed25519_points import PRIME
from bailiwick.vocab.trust import EvidenceKind
from tests.support.attestation_cases import own

NODE = "node-17"
NONCE = sha256(b"nonce").digest()
FIRMWARE = sha256(b"firmware").digest()
AT_MS = 1_794_744_000_000
ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of the group that sound keys are in."""

_ORDER_8_Y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# Every y of small order below 2**255, the two that are not written canonically among them.
_SMALL_Y = (0, 1, PRIME - 1, _ORDER_8_Y, PRIME - _ORDER_8_Y, PRIME, PRIME + 1)
SMALL_ORDER_KEYS = tuple(
    (y | sign << 255).to_bytes(32, "little") for y in _SMALL_Y for sign in (0, 1)
)
"""All fourteen spellings of a point of small order."""


def key_of(label: str) -> Ed25519PrivateKey:
    """The private key of that label."""
    return Ed25519PrivateKey.from_private_bytes(sha256(b"test key " + label.encode()).digest())


def public_of(label: str) -> bytes:
    """The public key of that label."""
    return key_of(label).public_key().public_bytes_raw()


def asked(**changes: Any) -> EvidenceContext:
    """What the gate asks of the node; it enrolled with the key of label ``a``."""
    whole = {"node": NODE, "nonce": NONCE, "at_ms": AT_MS} | changes
    return EvidenceContext(**{"enrolled": {"public_key": public_of("a")}} | whole)


def evidence(statement: bytes | None = None, *, label: str = "a") -> Evidence:
    """A statement, by default the good one, signed by the key of that label."""
    raw = statement_of(NODE, NONCE, firmware=FIRMWARE) if statement is None else statement
    parts = {"statement": raw, "signature": key_of(label).sign(raw)}
    return Evidence(EvidenceKind.ED25519, parts)


def s_plus_order(signature: bytes) -> bytes:
    """The same signature with S written as a number beyond the group."""
    s = int.from_bytes(signature[32:], "little") + ORDER
    return signature[:32] + s.to_bytes(32, "little")


def cases() -> list[dict[str, Any]]:
    """The cases that the repository carries."""
    message = statement_of(NODE, NONCE, firmware=FIRMWARE)
    key, good = public_of("a"), key_of("a").sign(message)
    enrol = enrolment_statement(NODE, NONCE)
    rows = [
        ("good", key, message, good, None),
        ("good-no-message", key, b"", key_of("a").sign(b""), None),
        ("enrolment-signature-for-an-attestation", key, message, key_of("a").sign(enrol), "bad"),
        ("other-key", public_of("b"), message, good, "bad"),
        ("message-longer", key, message + b"\0", good, "bad"),
        ("signature-changed", key, message, good[:-1] + bytes([good[-1] ^ 1]), "bad"),
        ("s-plus-order", key, message, s_plus_order(good), "bad"),
        ("no-point-of-the-curve", b"\x02" + bytes(31), message, good, "bad"),
        ("signature-65-bytes", key, message, good + b"\0", "malformed"),
        ("no-signature", key, message, b"", "malformed"),
        ("key-33-bytes", key + b"\0", message, good, "malformed"),
        ("key-not-canonical", (PRIME + 3).to_bytes(32, "little"), message, good, "malformed"),
    ]
    # A signature with S = 0 and R equal to the key: with such keys it may hold for any message.
    for number, weak in enumerate(SMALL_ORDER_KEYS):
        rows.append((f"small-order-{number:02}", weak, message, weak + bytes(32), "weak_key"))
    return [_case(*row) for row in rows]


def _case(
    name: str, key: bytes, message: bytes, signature: bytes, reason: str | None
) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "ed25519",
        "public_key": key.hex(),
        "message": message.hex(),
        "signature": signature.hex(),
        "expect": "trusted" if reason is None else "untrusted",
        "reason": "bad_signature" if reason == "bad" else reason,
        "note": "",
    }


def write(directory: Path) -> None:
    """Write the cases into a folder."""
    directory.mkdir(parents=True, exist_ok=True)
    whole = {"format": "attestation-lab/ed25519/1", "cases": cases()}
    (directory / "cases.json").write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    write(own("ed25519"))

"""What a layer of the open profile for DICE says of the next one, in CBOR and in X.509.

Rules:

- A mode is normal only where it says so: one byte in CBOR, INTEGER or ENUMERATED in X.509 (the
  profile's text says the one, its reference code writes the other), and whatever is none of the
  four known values counts as not configured.
- A configuration hash is the SHA-512 of the descriptor beside it; a descriptor without a hash can
  only be the 64 bytes that are measured as they stand.
- In X.509 the fields come once each, in their order, and nothing else comes.

>>> read_open_extension(bytes.fromhex("3005a6030a0101")).mode
1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha512
from typing import Any, NoReturn

from bailiwick.attestation.formats.der import (
    ENUMERATED,
    OCTET_STRING,
    SEQUENCE,
    UTF8_STRING,
    DerValue,
    read_integer,
    read_one,
    read_text,
)
from bailiwick.attestation.verdict import refuse
from bailiwick.vocab.trust import UntrustedReason

OPEN_DICE = "1.3.6.1.4.1.11129.2.1.24"
"""The extension; it is critical."""

MODE_NOT_CONFIGURED, MODE_NORMAL, MODE_DEBUG, MODE_RECOVERY = range(4)
DIGEST_BYTES = (32, 48, 64)
INLINE_BYTES = 64

ISSUER, SUBJECT, ENDS, BEGINS = 1, 2, 4, 5
"""Registered claims of a certificate in CBOR."""

PUBLIC_KEY, KEY_USAGE = -4_670_552, -4_670_553
_FIRST = -4_670_545
"""The label of the first field; the others follow downwards in the order of the X.509 tags."""

_CODE, _CONFIGURATION_HASH, _CONFIGURATION, _AUTHORITY = 0, 2, 3, 4
_MODE, _PROFILE = 6, 7
_STRINGS = range(6)


@dataclass(frozen=True, slots=True)
class OpenClaims:
    """The measurements of one layer."""

    mode: int
    code_hash: bytes | None


def read_open_claims(claims: Mapping[int | str, Any]) -> OpenClaims | None:
    """The measurements among the claims of a certificate in CBOR; None if there are none."""
    found = {tag: claims[_FIRST - tag] for tag in (*_STRINGS, _MODE) if _FIRST - tag in claims}
    if not all(isinstance(value, bytes) for value in found.values()):
        _malformed("a claim that is no byte string")
    if not found:
        return None
    mode = found.pop(_MODE, b"")
    return _checked(found, mode[0] if len(mode) == 1 else MODE_NOT_CONFIGURED)


def read_open_extension(raw: bytes) -> OpenClaims:
    """The measurements in the extension of a certificate in X.509."""
    found: dict[int, bytes] = {}
    mode, last = MODE_NOT_CONFIGURED, -1
    for field in read_one(raw).children(SEQUENCE):
        tag, inner = field.context, field.children()
        if tag is None or not last < tag <= _PROFILE or len(inner) != 1:
            _malformed(f"tag {field.tag:#04x} after field {last}")
        last = tag
        if tag == _MODE:
            mode = _mode(inner[0])
        elif tag == _PROFILE:
            read_text(inner[0], UTF8_STRING)
        else:
            found[tag] = inner[0].expect(OCTET_STRING)
    return _checked(found, mode)


def _mode(value: DerValue) -> int:
    if value.tag == ENUMERATED:
        return read_integer(value, ENUMERATED)
    return read_integer(value)


def _checked(found: Mapping[int, bytes], mode: int) -> OpenClaims:
    for tag in (_CODE, _CONFIGURATION_HASH, _AUTHORITY):
        if tag in found and len(found[tag]) not in DIGEST_BYTES:
            _malformed(f"a digest of {len(found[tag])} bytes")
    digest, described = found.get(_CONFIGURATION_HASH), found.get(_CONFIGURATION)
    if digest is not None:
        matches = described is not None and sha512(described).digest() == digest
    else:
        matches = described is None or len(described) == INLINE_BYTES
    if not matches:
        reason = UntrustedReason.CONFIGURATION_HASH
        raise refuse(reason, "the configuration hash is not that of the descriptor")
    known = MODE_NOT_CONFIGURED <= mode <= MODE_RECOVERY
    return OpenClaims(mode if known else MODE_NOT_CONFIGURED, found.get(_CODE))


def _malformed(where: str) -> NoReturn:
    raise refuse(UntrustedReason.MALFORMED, f"open profile: {where}")

"""A strict reader of CBOR and of COSE_Sign1, as evidence is written in them.

The heads of all items are walked here before the library makes values of them, so that what the
library would do with dates, references, numbers of any size or nested keys never comes up.

Rules:

- One item, nothing after it. Size, depth and number of items are bounded; a length must fit.
- Integers, byte strings, text, arrays, maps, true, false and null. No tags, no floats, no strings
  in pieces; arrays and maps may be of indefinite length (Nitro's are).
- Keys of maps are integers or text, and none occurs twice.
- In a COSE_Sign1 no header label stands both protected and unprotected, and none is critical.
- Every fault is :class:`.EvidenceError` with ``malformed``.

>>> read_cbor(bytes.fromhex("a201020304"))
{1: 2, 3: 4}
>>> read_cbor(bytes.fromhex("01ff"))
Traceback (most recent call last):
...
bailiwick.attestation.verdict.EvidenceError: malformed: CBOR: 1 bytes after the value
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import cbor2

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

CBOR_BYTES_MAX = 64 * 1024
DEPTH_MAX = 8
ITEMS_MAX = 4096

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_INDEFINITE = 31
_BREAK = 0xFF
_SIMPLE_KNOWN = (20, 21, 22)
_TAG_SIGN1 = 0xD2
_CRITICAL = 2
"""The header label that lists labels a reader must understand."""


@dataclass(frozen=True, slots=True)
class Sign1:
    """A COSE_Sign1 with its payload inside; nothing in it is believed yet."""

    protected: bytes
    """The protected headers as they were signed."""
    protected_map: Mapping[int | str, Any]
    unprotected: Mapping[int | str, Any]
    payload: bytes
    signature: bytes
    to_be_signed: bytes = field(repr=False)
    """What the signature is over, without external data."""


@dataclass(slots=True)
class _Open:
    """An array or a map that is being walked: how many items are still due in it."""

    is_map: bool
    left: int | None
    """None for one of indefinite length."""
    count: int = 0

    @property
    def is_full(self) -> bool:
        return self.left is not None and self.count == self.left

    @property
    def wants_key(self) -> bool:
        return self.is_map and self.count % 2 == 0


def read_cbor(raw: bytes) -> Any:
    """The one value that the bytes are: maps as dict, arrays as list."""
    _walk(raw)
    try:
        return cbor2.loads(raw, max_depth=DEPTH_MAX + 1, allow_duplicate_keys=False)
    except cbor2.CBORError as error:
        raise _malformed(str(error)[:80]) from None


def read_map(raw: bytes) -> dict[int | str, Any]:
    """The one map that the bytes are."""
    value = read_cbor(raw)
    if not isinstance(value, dict):
        raise _malformed("no map where one was due")
    return value


def read_sign1(raw: bytes, *, tagged: bool | None = None) -> Sign1:
    """A COSE_Sign1. ``tagged``: whether the tag 18 must stand before it; None allows both."""
    has_tag = raw[:1] == bytes([_TAG_SIGN1])
    if tagged is not None and has_tag is not tagged:
        raise _malformed("COSE_Sign1 " + ("with" if has_tag else "without") + " its tag")
    parts = read_cbor(raw[1:] if has_tag else raw)
    if not isinstance(parts, list) or len(parts) != 4:
        raise _malformed("COSE_Sign1 is an array of four")
    protected, unprotected, payload, signature = parts
    if not (
        isinstance(protected, bytes)
        and isinstance(unprotected, dict)
        and isinstance(payload, bytes)
        and isinstance(signature, bytes)
    ):
        raise _malformed("COSE_Sign1 is headers, headers, payload and signature")
    headers = read_map(protected) if protected else {}
    if headers.keys() & unprotected.keys():
        raise _malformed("a COSE header both protected and unprotected")
    if _CRITICAL in headers or _CRITICAL in unprotected:
        raise _malformed("COSE headers that are called critical")
    signed = cbor2.dumps(["Signature1", protected, b"", payload])
    return Sign1(
        protected,
        MappingProxyType(headers),
        MappingProxyType(unprotected),
        payload,
        signature,
        signed,
    )


def _walk(raw: bytes) -> None:
    """Refuse what is not one well-formed item within the bounds; nothing is built."""
    if len(raw) > CBOR_BYTES_MAX:
        raise _malformed(f"{len(raw)} bytes; at most {CBOR_BYTES_MAX}")
    opened: list[_Open] = []
    at = items = 0
    while True:
        if (items := items + 1) > ITEMS_MAX:
            raise _malformed(f"more than {ITEMS_MAX} items")
        inner, at = _item(raw, at, opened)
        if inner is not None:
            opened.append(inner)
            if len(opened) > DEPTH_MAX:
                raise _malformed(f"deeper than {DEPTH_MAX}")
        while opened and opened[-1].is_full:
            opened.pop()
        if not opened:
            break
    if at != len(raw):
        raise _malformed(f"{len(raw) - at} bytes after the value")


def _item(raw: bytes, at: int, opened: list[_Open]) -> tuple[_Open | None, int]:
    """Walk over one head, or the end of an indefinite value; what it opens, and where it ends."""
    around = opened[-1] if opened else None
    if raw[at : at + 1] == bytes([_BREAK]):
        if around is None or around.left is not None or (around.is_map and around.count % 2):
            raise _malformed(f"an end of nothing at offset {at}")
        around.left = around.count
        return None, at + 1
    major, argument, end = _head(raw, at)
    if around is not None:
        if around.wants_key and major not in (_UNSIGNED, _NEGATIVE, _TEXT):
            raise _malformed(f"a key that is neither integer nor text at offset {at}")
        around.count += 1
    if major in (_BYTES, _TEXT):
        if argument is None or argument > len(raw) - end:
            raise _malformed(f"a string at offset {at} that does not fit")
        return None, end + argument
    if major in (_ARRAY, _MAP):
        due = argument if argument is None or major == _ARRAY else 2 * argument
        if due is not None and due > len(raw) - end:
            raise _malformed(f"{due} items at offset {at} do not fit")
        return _Open(major == _MAP, due), end
    if major == _TAG or argument is None or (major == _SIMPLE and argument not in _SIMPLE_KNOWN):
        raise _malformed(f"a tag, a float or an unknown value at offset {at}")
    return None, end


def _head(raw: bytes, at: int) -> tuple[int, int | None, int]:
    """Major type and argument of the head at that offset; None is an indefinite length."""
    if at >= len(raw):
        raise _malformed(f"nothing at offset {at}")
    major, short = raw[at] >> 5, raw[at] & 0x1F
    if short < 24:
        return major, short, at + 1
    if short == _INDEFINITE:
        return major, None, at + 1
    width = 1 << (short - 24)
    if short > 27 or len(raw) - at - 1 < width or major == _SIMPLE:
        raise _malformed(f"a head at offset {at} that does not end, or a float")
    return major, int.from_bytes(raw[at + 1 : at + 1 + width], "big"), at + 1 + width


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"CBOR: {where}")

"""What a layer says in the extensions of the Trusted Computing Group: TcbInfo and its relatives.

Rules:

- Fields come once each, in the order of their tags, and an unknown one is refused.
- A digest has the length of its algorithm, and the algorithm is a known one.
- The identifier of TcbInfo is also used for an older structure (version, device key, firmware
  digest). It is told apart by its first value and read as what it is: a digest with no flags and
  no version number, that names the key above.

>>> read_tcb_info(bytes.fromhex("3003830107")).svn
7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from bailiwick.attestation.formats.der import (
    INTEGER,
    OCTET_STRING,
    SEQUENCE,
    DerValue,
    read_bits,
    read_integer,
    read_object_id,
    read_one,
    read_text,
)
from bailiwick.attestation.verdict import refuse
from bailiwick.vocab.trust import UntrustedReason

TCB_INFO, UEID, MULTI_TCB_INFO = "2.23.133.5.4.1", "2.23.133.5.4.4", "2.23.133.5.4.5"

FLAG_BITS = {
    "notConfigured": 0,
    "notSecure": 1,
    "recovery": 2,
    "debug": 3,
    "notReplayProtected": 4,
    "notIntegrityProtected": 5,
    "notRuntimeMeasured": 6,
    "notImmutable": 7,
    "notTcb": 8,
}
"""The operational flags by their published names."""

SVN_MAX = 2**63 - 1
INFOS_MAX = 64
UEID_BYTES_MAX = 64
_DIGEST_BYTES = {
    "2.16.840.1.101.3.4.2.1": 32,
    "2.16.840.1.101.3.4.2.2": 48,
    "2.16.840.1.101.3.4.2.3": 64,
    "2.16.840.1.101.3.4.2.8": 32,
    "2.16.840.1.101.3.4.2.9": 48,
    "2.16.840.1.101.3.4.2.10": 64,
}
"""SHA-2 and SHA-3, by length."""

_VENDOR, _MODEL, _VERSION, _SVN, _LAYER, _INDEX = range(6)
_FWIDS, _FLAGS, _VENDOR_INFO, _TYPE, _FLAGS_MASK, _REGISTERS = range(6, 12)
_TEXTS = (_VENDOR, _MODEL, _VERSION)
_NUMBERS = (_SVN, _LAYER, _INDEX)
_BITS = (_FLAGS, _FLAGS_MASK)
_CONTEXT, _CONSTRUCTED = 0x80, 0xA0


@dataclass(frozen=True, slots=True)
class TcbInfo:
    """What is told of one part of a layer. An absent flag field means that none is set."""

    model: str | None = None
    type: str | None = None
    """In hexadecimal where it is no text."""
    svn: int | None = None
    fwids: tuple[bytes, ...] = ()
    flags: frozenset[str] = frozenset()
    device_key: bytes | None = None
    """Only of the older structure: the key (SubjectPublicKeyInfo) that it says is above."""


def read_tcb_info(raw: bytes) -> TcbInfo:
    """The extension 2.23.133.5.4.1: a TcbInfo, or the older structure under its name."""
    outer = read_one(raw).children(SEQUENCE)
    if outer and outer[0].tag == INTEGER:
        return _composite(outer)
    return _tcb_info(outer)


def read_multi_tcb_info(raw: bytes) -> tuple[TcbInfo, ...]:
    """The extension 2.23.133.5.4.5: at least one TcbInfo."""
    infos = read_one(raw).children(SEQUENCE)
    if not 1 <= len(infos) <= INFOS_MAX:
        _malformed(f"{len(infos)} entries; 1 to {INFOS_MAX}")
    return tuple(_tcb_info(each.children(SEQUENCE)) for each in infos)


def read_ueid(raw: bytes) -> bytes:
    """The extension 2.23.133.5.4.4: the device's identifier."""
    inner = read_one(raw).children(SEQUENCE)
    if len(inner) != 1 or not 1 <= len(inner[0].expect(OCTET_STRING)) <= UEID_BYTES_MAX:
        _malformed("a device identifier that is not one byte string")
    return inner[0].content


def _tcb_info(fields: Sequence[DerValue]) -> TcbInfo:
    found: dict[int, DerValue] = {}
    last = -1
    for field in fields:
        tag = field.context
        if tag is None or not last < tag <= _REGISTERS:
            _malformed(f"tag {field.tag:#04x} after field {last}")
        found[tag], last = field, tag
    texts = {tag: read_text(found[tag], _CONTEXT | tag) for tag in _TEXTS if tag in found}
    numbers = {tag: _number(found[tag], _CONTEXT | tag) for tag in _NUMBERS if tag in found}
    bits = {tag: read_bits(found[tag], _CONTEXT | tag) for tag in _BITS if tag in found}
    if _VENDOR_INFO in found:
        found[_VENDOR_INFO].expect(_CONTEXT | _VENDOR_INFO)
    if _REGISTERS in found:
        _check_registers(found[_REGISTERS])
    set_bits = {number for number, bit in enumerate(bits.get(_FLAGS, ())) if bit}
    return TcbInfo(
        model=texts.get(_MODEL),
        type=_type(found[_TYPE]) if _TYPE in found else None,
        svn=numbers.get(_SVN),
        fwids=_digests(found[_FWIDS], _CONSTRUCTED | _FWIDS) if _FWIDS in found else (),
        flags=frozenset(name for name, number in FLAG_BITS.items() if number in set_bits),
    )


def _composite(fields: Sequence[DerValue]) -> TcbInfo:
    if len(fields) != 3 or read_integer(fields[0]) != 1:
        _malformed("an older device identity of another shape")
    fields[1].expect(SEQUENCE)
    return TcbInfo(fwids=(_digest(fields[2]),), device_key=fields[1].raw)


def _digests(value: DerValue, tag: int) -> tuple[bytes, ...]:
    digests = value.children(tag)
    if not digests:
        _malformed("a list of digests with nothing in it")
    return tuple(_digest(each) for each in digests)


def _digest(value: DerValue) -> bytes:
    parts = value.children(SEQUENCE)
    if len(parts) != 2:
        _malformed("a digest that is not algorithm and bytes")
    algorithm, digest = read_object_id(parts[0]), parts[1].expect(OCTET_STRING)
    if _DIGEST_BYTES.get(algorithm) != len(digest):
        _malformed(f"a digest of {len(digest)} bytes by the algorithm {algorithm[:40]}")
    return digest


def _number(value: DerValue, tag: int) -> int:
    number = read_integer(value, tag)
    if not 0 <= number <= SVN_MAX:
        _malformed("a number below zero or beyond 63 bits")
    return number


def _type(value: DerValue) -> str:
    raw = value.expect(_CONTEXT | _TYPE)
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError:
        return raw.hex()


def _check_registers(value: DerValue) -> None:
    """Registers are read for their shape only; no rule asks what is in them."""
    for register in value.children(_CONSTRUCTED | _REGISTERS):
        parts = register.children(SEQUENCE)
        if [part.context for part in parts] not in ([0, 2], [1, 2], [0, 1, 2]):
            _malformed("an integrity register of another shape")
        _digests(parts[-1], _CONSTRUCTED | 2)


def _malformed(where: str) -> NoReturn:
    raise refuse(UntrustedReason.MALFORMED, f"TcbInfo: {where}")

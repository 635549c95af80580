"""A strict reader of DER: one value, its children, nothing left over.

Rules:

- Definite lengths in their shortest form, tags below 31, no trailing bytes. What BER allows beyond
  that is refused, because two readings of one signature are two machines.
- Reading never recurses: a caller opens the level that it knows. So depth is what the caller wrote.
- Every fault is :class:`.EvidenceError` with ``malformed``.

>>> outer = read_one(bytes.fromhex("300602010502010a"))
>>> [read_integer(child) for child in outer.children()]
[5, 10]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL = 0x01, 0x02, 0x03, 0x04, 0x05
OBJECT_ID, ENUMERATED, UTF8_STRING = 0x06, 0x0A, 0x0C
SEQUENCE, SET = 0x30, 0x31
VALUES_MAX = 4096
"""Values in one constructed value."""


@dataclass(frozen=True, slots=True)
class DerValue:
    """A tag and its content; ``raw`` is the whole encoding."""

    tag: int
    content: bytes
    raw: bytes

    @property
    def is_constructed(self) -> bool:
        """Whether the content is values."""
        return bool(self.tag & 0x20)

    @property
    def context(self) -> int | None:
        """The number of a context-specific tag; None for another."""
        return self.tag & 0x1F if self.tag & 0xC0 == 0x80 else None

    def children(self, tag: int | None = None) -> tuple[DerValue, ...]:
        """The values inside; with ``tag`` this value must have that tag."""
        if tag is not None:
            self.expect(tag)
        if not self.is_constructed:
            raise _malformed(f"tag {self.tag:#04x} holds no values")
        return tuple(read_all(self.content))

    def expect(self, tag: int) -> bytes:
        """The content, if the tag is this one."""
        if self.tag != tag:
            raise _malformed(f"tag {self.tag:#04x} where {tag:#04x} was due")
        return self.content


def read_one(raw: bytes) -> DerValue:
    """The one value that the bytes are."""
    value, end = _read(raw, 0)
    if end != len(raw):
        raise _malformed(f"{len(raw) - end} bytes after the value")
    return value


def read_first(raw: bytes) -> tuple[DerValue, bytes]:
    """The first value, and the bytes after it: for files of several."""
    value, end = _read(raw, 0)
    return value, raw[end:]


def read_all(raw: bytes) -> Iterator[DerValue]:
    """The values that the bytes are, one after another."""
    at = count = 0
    while at < len(raw):
        if (count := count + 1) > VALUES_MAX:
            raise _malformed(f"more than {VALUES_MAX} values")
        value, at = _read(raw, at)
        yield value


def read_integer(value: DerValue, tag: int = INTEGER) -> int:
    """An INTEGER (or another tag with an integer's content) in its shortest form."""
    content = value.expect(tag)
    if not 1 <= len(content) <= 1024:
        raise _malformed(f"an integer of {len(content)} bytes")
    if len(content) > 1 and content[0] in (0x00, 0xFF) and (content[0] ^ content[1]) < 0x80:
        raise _malformed("an integer that is not in its shortest form")
    return int.from_bytes(content, "big", signed=True)


def read_object_id(value: DerValue, tag: int = OBJECT_ID) -> str:
    """An OBJECT IDENTIFIER, dotted."""
    content = value.expect(tag)
    if not 1 <= len(content) <= 128 or content[-1] & 0x80:
        raise _malformed("an object identifier that does not end")
    arcs, arc, first = [], 0, True
    for byte in content:
        if first and byte == 0x80:
            raise _malformed("an object identifier that is not in its shortest form")
        arc, first = arc << 7 | byte & 0x7F, False
        if not byte & 0x80:
            arcs.append(arc)
            arc, first = 0, True
    top = min(arcs[0] // 40, 2)
    return ".".join(str(each) for each in (top, arcs[0] - 40 * top, *arcs[1:]))


def read_bits(value: DerValue, tag: int = BIT_STRING) -> tuple[bool, ...]:
    """A BIT STRING, the first bit first."""
    content = value.expect(tag)
    if not 1 <= len(content) <= 1024 or content[0] > 7 or (len(content) == 1 and content[0]):
        raise _malformed("a bit string without its count of unused bits")
    bits = "".join(f"{byte:08b}" for byte in content[1:])
    used = len(bits) - content[0]
    if "1" in bits[used:]:
        raise _malformed("a bit string with unused bits that are set")
    return tuple(bit == "1" for bit in bits[:used])


def read_text(value: DerValue, tag: int = UTF8_STRING) -> str:
    """A UTF8String."""
    try:
        return value.expect(tag).decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed("text that is not UTF-8") from None


def _read(raw: bytes, at: int) -> tuple[DerValue, int]:
    if len(raw) - at < 2:
        raise _malformed(f"no value at offset {at}")
    tag, length, begin = raw[at], raw[at + 1], at + 2
    if tag & 0x1F == 0x1F:
        raise _malformed(f"a tag of several bytes at offset {at}")
    if length & 0x80:
        count = length & 0x7F
        if not 1 <= count <= 4 or len(raw) - begin < count:
            raise _malformed(f"a length of {count} bytes at offset {at}")
        length = int.from_bytes(raw[begin : begin + count], "big")
        if length < 0x80 or length >> 8 * (count - 1) == 0:
            raise _malformed(f"a length that is not in its shortest form at offset {at}")
        begin += count
    end = begin + length
    if end > len(raw):
        raise _malformed(f"a value of {length} bytes at offset {at} does not fit")
    return DerValue(tag, raw[begin:end], raw[at:end]), end


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"DER: {where}")

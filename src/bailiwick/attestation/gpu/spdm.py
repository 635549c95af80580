"""A strict reader of an NVIDIA device's report: an SPDM 1.1 request and the answer to it.

Rules:

- The request is 37 bytes and carries the nonce. The answer is a header, the measurement blocks, the
  device's own nonce, opaque data as typed fields, and a signature of 96 bytes.
- Every length must agree with the bytes that are there, and nothing may follow the signature.
- Blocks are numbered from one without a gap; a field of the opaque data comes once.
- Nothing is believed here: the signature covers ``signed``, and its verifier reads on.

>>> read_report(bytes(37))
Traceback (most recent call last):
...
bailiwick.attestation.verdict.EvidenceError: malformed: SPDM: 37 bytes are too few
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bailiwick.attestation.formats.little_endian import Cursor
from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

REPORT_BYTES_MAX = 64 * 1024
"""A genuine report has some 4 KiB."""

CC_OFF = b"cc_off"
"""What a node says in place of a report where confidential computing is off."""

NONCE_BYTES = 32
SIGNATURE_BYTES = 96

_VERSION, _GET_MEASUREMENTS, _MEASUREMENTS = 0x11, 0xE0, 0x60
_SIGNED, _ALL = 0x01, 0xFF
"""The request asks for a signature, and for all measurements."""
_REQUEST_BYTES, _HEADER_BYTES = 37, 8
_DMTF = 0x01
"""A block in the common form: type, length and value."""


@dataclass(frozen=True, slots=True)
class SpdmReport:
    """What the bytes hold; ``measurements`` by block from 1, ``opaque`` by the field's number."""

    nonce: bytes
    measurements: Mapping[int, bytes]
    opaque: Mapping[int, bytes]
    signed: bytes
    signature: bytes


def read_report(raw: bytes) -> SpdmReport:
    """The request and the answer, one after the other."""
    if len(raw) > REPORT_BYTES_MAX:
        raise _malformed(f"{len(raw)} bytes are too many")
    if len(raw) < _REQUEST_BYTES + _HEADER_BYTES + NONCE_BYTES + 2 + SIGNATURE_BYTES:
        raise _malformed(f"{len(raw)} bytes are too few")
    request, answer = raw[:_REQUEST_BYTES], raw[_REQUEST_BYTES:]
    if request[:4] != bytes((_VERSION, _GET_MEASUREMENTS, _SIGNED, _ALL)):
        raise _malformed("no request of version 1.1 for all measurements, signed")
    if answer[:2] != bytes((_VERSION, _MEASUREMENTS)):
        raise _malformed("no answer of version 1.1 with measurements")
    cursor = Cursor(answer[4:], "SPDM answer")
    count = cursor.number(1)
    record = cursor.take(cursor.number(3))
    cursor.take(NONCE_BYTES)
    opaque = cursor.take(cursor.number(2))
    signature = cursor.take(SIGNATURE_BYTES)
    cursor.done()
    return SpdmReport(
        nonce=request[4 : 4 + NONCE_BYTES],
        measurements=_read_blocks(record, count),
        opaque=_read_opaque(opaque),
        signed=raw[:-SIGNATURE_BYTES],
        signature=signature,
    )


def _read_blocks(record: bytes, count: int) -> Mapping[int, bytes]:
    cursor, blocks = Cursor(record, "SPDM measurements"), dict[int, bytes]()
    for expected in range(1, count + 1):
        index, form = cursor.take(2)
        if index != expected or form != _DMTF:
            raise _malformed(f"block {index} of form {form} where block {expected} was due")
        block = Cursor(cursor.take(cursor.number(2)), f"SPDM block {index}")
        block.take(1)
        blocks[index] = block.take(block.number(2))
        block.done()
    cursor.done()
    return MappingProxyType(blocks)


def _read_opaque(raw: bytes) -> Mapping[int, bytes]:
    cursor, fields = Cursor(raw, "SPDM opaque data"), dict[int, bytes]()
    while cursor.left:  # each turn takes at least four bytes
        number = cursor.number(2)
        if number in fields:
            raise _malformed(f"opaque data: field {number} comes twice")
        fields[number] = cursor.take(cursor.number(2))
    return MappingProxyType(fields)


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"SPDM: {where}")

"""Takes fields from the front of a byte string, as SPDM and Intel's quotes are written.

Rules:

- What does not fit is refused as ``malformed``; nothing is read twice.
- Numbers are unsigned and little-endian.

>>> cursor = Cursor(b"\\x02\\x00ab", "example")
>>> cursor.take(cursor.number(2)), cursor.left
(b'ab', 0)
"""

from __future__ import annotations

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason


class Cursor:
    """A byte string, what it is called in errors, and how far it was read."""

    def __init__(self, raw: bytes, where: str) -> None:
        self.raw, self.at, self._where = raw, 0, where

    @property
    def left(self) -> int:
        """How many bytes were not read yet."""
        return len(self.raw) - self.at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.left:
            raise self.malformed(f"{count} bytes at offset {self.at} do not fit")
        self.at += count
        return self.raw[self.at - count : self.at]

    def number(self, count: int) -> int:
        """The number that the next bytes are."""
        return int.from_bytes(self.take(count), "little")

    def done(self) -> None:
        """Refuse bytes that nobody read."""
        if self.left:
            raise self.malformed(f"{self.left} bytes too many at offset {self.at}")

    def malformed(self, what: str) -> EvidenceError:
        """The error to raise."""
        return refuse(UntrustedReason.MALFORMED, f"{self._where}: {what}")

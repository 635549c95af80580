"""What verification can find: one class for each way a log departs from what was sealed.

Rules:

- ``seq`` is the first sequence number that is not as it was sealed, told from one fault: when two
  neighbours were changed together, the records alone may not show the earlier of them.
- A finding is a value with the numbers that led to it. It quotes no record, so that it can be
  shown to anyone who may know that the log is damaged.

>>> Removed(seq=7, found=9).count
2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from bailiwick.journal.anchor import Anchor
from bailiwick.journal.words import FindingWord, RecordFault


@dataclass(frozen=True, slots=True)
class Malformed:
    """The line in this place is no canonical record."""

    seq: int
    fault: RecordFault
    code: ClassVar[FindingWord] = FindingWord.MALFORMED


@dataclass(frozen=True, slots=True)
class Changed:
    """This record is not the one that was sealed here: its link to a neighbour is broken."""

    seq: int
    code: ClassVar[FindingWord] = FindingWord.CHANGED


@dataclass(frozen=True, slots=True)
class Removed:
    """Records are missing from ``seq`` on; the next one there is number ``found``."""

    seq: int
    found: int
    code: ClassVar[FindingWord] = FindingWord.REMOVED

    @property
    def count(self) -> int:
        """How many are missing in this place."""
        return self.found - self.seq


@dataclass(frozen=True, slots=True)
class Added:
    """A line stands here that was not sealed here; it calls itself ``found`` (None: no record)."""

    seq: int
    found: int | None
    code: ClassVar[FindingWord] = FindingWord.ADDED


@dataclass(frozen=True, slots=True)
class Reordered:
    """Record ``seq`` comes later than it should; number ``found`` stands in its place."""

    seq: int
    found: int
    code: ClassVar[FindingWord] = FindingWord.REORDERED


@dataclass(frozen=True, slots=True)
class Truncated:
    """The log ends before ``seq``, but a checkpoint knows ``known_size`` records."""

    seq: int
    known_size: int
    code: ClassVar[FindingWord] = FindingWord.TRUNCATED


@dataclass(frozen=True, slots=True)
class Torn:
    """The last line breaks off: what a crash during a write leaves. No checkpoint covers it."""

    seq: int
    length_bytes: int
    code: ClassVar[FindingWord] = FindingWord.TORN


@dataclass(frozen=True, slots=True)
class TimeWentBack:
    """The record is linked well, but is older than the one before it."""

    seq: int
    at_ms: int
    before_ms: int
    code: ClassVar[FindingWord] = FindingWord.TIME_WENT_BACK


@dataclass(frozen=True, slots=True)
class CheckpointMismatch:
    """The chain holds, but its first ``size`` records are not those that were signed.

    Records below ``seq`` are covered by an earlier checkpoint, or by the anchor.
    """

    seq: int
    size: int
    signed_root: bytes
    found_root: bytes
    code: ClassVar[FindingWord] = FindingWord.CHECKPOINT_MISMATCH


Finding: TypeAlias = (
    Malformed
    | Changed
    | Removed
    | Added
    | Reordered
    | Truncated
    | Torn
    | TimeWentBack
    | CheckpointMismatch
)


@dataclass(frozen=True, slots=True)
class Verified:
    """Every record was as sealed: how many, where the log now stands, and its root.

    ``signed_size`` is the largest checkpoint that agreed; records from there on are linked, but
    no signature covers them yet.
    """

    count: int
    anchor: Anchor
    root: bytes
    signed_size: int


Verification: TypeAlias = Verified | Finding

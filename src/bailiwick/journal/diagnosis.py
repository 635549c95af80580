"""From the first thing that does not fit to its name: changed, removed, added, or out of order.

The verifier stops at the first line that does not fit and hands over what it knows. The lines
after it are then only looked at, to tell the cases apart. With ``e`` the number expected in that
place, ``s`` the number found, ``h`` the hash of record e - 1 and *next* the line after:

- **no record** in place: ``torn`` if it is the last line and has no newline (``truncated`` if a
  checkpoint knows it), ``added`` if the true record e (number e, naming h) still comes, else
  ``malformed``.
- **number fits, link does not** (s = e, names another hash): ``added`` if the true record e still
  comes; else ``changed``. It is e itself that changed if all before it is sure (anchored, or
  signed for), or if the next record does not vouch for it; otherwise, its successor vouching for
  it, it is e - 1. As the last line nobody vouches for either: the earlier is named.
- **number too small**: ``changed`` if no record e comes and the next is e + 1 (something else
  stands where e was), or if it is the last line and names h; else ``added``: at e, but at e - 1 if
  it is a rival of record e - 1 (same number and link) and the next does not side with the first.
- **number too large**: ``changed`` as above; ``removed`` if no record e comes later; ``reordered``
  if it does and the one found belongs to this log, in its own later place, and is not there as
  well; else ``added``.
- **time went back**: ``changed`` if the next does not vouch for it.
- **root differs from a checkpoint** of size c: ``changed`` at c - 1 if the next record, c, names
  another hash; ``added`` at c - 1 if the next is number c - 1 again; else (and always when
  all before it was sure) the mismatch itself.

Rules: memory is flat, every line is read once, a line that is no record proves nothing.

>>> place = Place(seq=3, hash="aa", prev_hash="99", is_sure=False)
>>> diagnosis = Diagnosis(place, Suspect(seq=5, prev_hash="bb", hash="cc"))
>>> diagnosis.conclude(known_size=0)
Removed(seq=3, found=5)
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from bailiwick.journal.fields import RecordRefused
from bailiwick.journal.findings import (
    Added,
    Changed,
    CheckpointMismatch,
    Finding,
    Malformed,
    Removed,
    Reordered,
    TimeWentBack,
    Torn,
    Truncated,
)
from bailiwick.journal.record import parse_record
from bailiwick.journal.shapes import glance
from bailiwick.journal.words import RecordFault


@dataclass(frozen=True, slots=True)
class Place:
    """Where the log stopped fitting: the number expected there, and the record before it.

    ``is_sure``: the anchor, or a checkpoint that agreed, vouches for everything before it.
    """

    seq: int
    hash: str
    prev_hash: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Suspect:
    """The record that did not fit."""

    seq: int
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class NoRecord:
    """The line that did not fit was none: why, and whether it breaks off."""

    fault: RecordFault
    length_bytes: int
    ends_in_newline: bool


Fault = Suspect | NoRecord | TimeWentBack | CheckpointMismatch


def read_line(line: bytes) -> tuple[int, int, str, str]:
    """Number, time, link and hash of the record on a line, or a refusal."""
    if not line.endswith(b"\n"):
        raise RecordRefused(
            RecordFault.NO_NEWLINE, "line", value=len(line), expected="a newline at the end"
        )
    raw = line[:-1]
    seq, at_ms, prev_hash = glance(raw) or parse_record(raw).link
    return seq, at_ms, prev_hash, sha256(raw).hexdigest()


class Diagnosis:
    """Looks at what follows the first fault, and names it."""

    def __init__(self, place: Place, fault: Fault, *, vouched_hash: str = "") -> None:
        self._place = place
        self._fault = fault
        # What the next record must name if the one that did not fit is genuine.
        self._vouched_hash = fault.hash if isinstance(fault, Suspect) else vouched_hash
        self._next: Suspect | None = None
        self._lines = 0
        self._true_comes = False
        self._number_comes = False
        self._belongs = False
        self._comes_again = False

    def observe(self, line: bytes) -> None:
        """Take note of a line after the first fault."""
        self._lines += 1
        try:
            seq, _, prev_hash, digest = read_line(line)
        except RecordRefused:
            return  # a line that is no record proves nothing
        if self._lines == 1:
            self._next = Suspect(seq, prev_hash, digest)
        if seq == self._place.seq:
            self._number_comes = True
            self._true_comes = self._true_comes or prev_hash == self._place.hash
        if isinstance(self._fault, Suspect):
            self._comes_again = self._comes_again or seq == self._fault.seq
            at_home = seq == self._fault.seq - 1 and digest == self._fault.prev_hash
            self._belongs = self._belongs or at_home

    def conclude(self, *, known_size: int) -> Finding:
        """The name of what was found; ``known_size`` is the largest signed size."""
        fault = self._fault
        if isinstance(fault, NoRecord):
            return self._name_no_record(fault, known_size)
        if isinstance(fault, TimeWentBack):
            return Changed(fault.seq) if self._is_disowned() else fault
        if isinstance(fault, CheckpointMismatch):
            return self._name_mismatch(fault)
        if fault.seq == self._place.seq:
            return self._name_broken_link(fault)
        if self._stands_instead(fault):
            return Changed(self._place.seq)
        if fault.seq < self._place.seq:
            return self._name_too_small(fault)
        return self._name_too_large(fault)

    def _is_disowned(self) -> bool:
        return self._next is not None and self._next.prev_hash != self._vouched_hash

    def _is_vouched_for(self) -> bool:
        return self._next is not None and self._next.prev_hash == self._vouched_hash

    def _name_no_record(self, fault: NoRecord, known_size: int) -> Finding:
        seq = self._place.seq
        if self._lines == 0 and not fault.ends_in_newline:
            if known_size > seq:
                return Truncated(seq, known_size)
            return Torn(seq, fault.length_bytes)
        return Added(seq, None) if self._true_comes else Malformed(seq, fault.fault)

    def _name_mismatch(self, fault: CheckpointMismatch) -> Finding:
        following = self._next
        if self._place.is_sure:
            return fault  # what was sure already contradicts the checkpoint
        if following is not None and following.seq == fault.size - 1:
            return Added(fault.size - 1, fault.size - 1)
        if following is not None and following.seq == fault.size and self._is_disowned():
            return Changed(fault.size - 1)
        return fault

    def _name_broken_link(self, fault: Suspect) -> Finding:
        seq = self._place.seq
        if self._true_comes:
            return Added(seq, fault.seq)
        if self._place.is_sure or self._is_disowned():
            return Changed(seq)
        return Changed(seq - 1)

    def _stands_instead(self, fault: Suspect) -> bool:
        """Whether record e was replaced by, or renumbered to, this one."""
        if self._next is None:
            return fault.prev_hash == self._place.hash
        return self._next.seq == self._place.seq + 1 and not self._number_comes

    def _name_too_small(self, fault: Suspect) -> Finding:
        place = self._place
        is_rival = (fault.seq, fault.prev_hash) == (place.seq - 1, place.prev_hash)
        first_is_sure = place.is_sure or fault.hash == place.hash
        if self._next is not None and self._next.prev_hash == place.hash:
            first_is_sure = True
        if is_rival and not first_is_sure:
            return Added(place.seq - 1, fault.seq)
        return Added(place.seq, fault.seq)

    def _name_too_large(self, fault: Suspect) -> Finding:
        seq = self._place.seq
        if not self._number_comes:
            return Removed(seq, fault.seq)
        if self._belongs and not self._comes_again:
            return Reordered(seq, fault.seq)
        return Added(seq, fault.seq)

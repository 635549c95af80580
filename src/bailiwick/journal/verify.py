"""Verifying a log as it streams by: every record, its chain, its tree, in flat memory.

Rules:

- Every line must be a canonical record that :func:`parse_record` would accept (recognised by its
  shape where possible), end in a newline, bear the next number, name the hash of the record
  before it, and be no older than that record. Only ``clock_repaired`` may be older, if it tells
  both times as they are.
- The root is compared with every checkpoint as its size is reached. Checkpoints are handed in
  *verified* (see :func:`bailiwick.journal.note.verify_checkpoint`), at sizes not below the
  anchor's. A log that ends before the largest of them is truncated.
- The first thing that does not fit ends verification; :mod:`.diagnosis` then only looks at the
  rest, to tell an addition from a removal from a change. Nothing after it is ever vouched for.
- A log rewritten from some point on by whoever can seal records is consistent in itself. Only
  a checkpoint or anchor kept elsewhere shows it.

>>> from bailiwick.journal.chain import Chain
>>> from bailiwick.journal.record import Context
>>> from bailiwick.journal.kinds import RecordKind
>>> chain = Chain()
>>> who = Context("scheduler", "req-7", tenant="acme")
>>> renewed = {"lease_id": 4, "generation": 2, "expires_ms": 9000}
>>> kind = RecordKind.LEASE_RENEWED
>>> lines = [chain.seal(kind, who, at_ms=t, body=renewed).line for t in (5, 6, 7)]
>>> verify_lines(lines).anchor == chain.anchor()
True
>>> verify_lines([lines[0], lines[2], lines[1]])
Reordered(seq=1, found=2)
>>> verify_lines([lines[0], lines[1].replace(b"9000", b"9009"), lines[2]])
Changed(seq=1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from bailiwick.journal.anchor import GENESIS, Anchor
from bailiwick.journal.diagnosis import (
    Diagnosis,
    Fault,
    NoRecord,
    Place,
    Suspect,
    read_line,
)
from bailiwick.journal.fields import RecordRefused
from bailiwick.journal.findings import (
    CheckpointMismatch,
    TimeWentBack,
    Truncated,
    Verification,
    Verified,
)
from bailiwick.journal.merkle import Frontier
from bailiwick.journal.note import Checkpoint
from bailiwick.journal.record import parse_record, sets_back
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_kind

_NEVER = -1


class Verifier:
    """Verifies a log from an anchor on, line by line, with no more memory than the tree's edge."""

    def __init__(self, anchor: Anchor = GENESIS, *, checkpoints: Iterable[Checkpoint] = ()) -> None:
        self._start = check_kind("anchor", anchor, Anchor)
        self._checkpoints = _in_order(checkpoints, anchor)
        self._known_size = self._checkpoints[-1].size if self._checkpoints else 0
        self._due = 0
        self._signed_size = 0
        self._tree = Frontier(anchor.size, anchor.frontier)
        self._at_ms = anchor.at_ms
        self._hash = anchor.hash
        self._prev_hash = ""
        self._diagnosis: Diagnosis | None = None
        self._meet_checkpoints()

    @property
    def count(self) -> int:
        """How many records were found good so far."""
        return self._tree.size - self._start.size

    @property
    def is_suspicious(self) -> bool:
        """Whether something did not fit. More lines only help to name it."""
        return self._diagnosis is not None

    def feed(self, lines: Iterable[bytes]) -> None:
        """Verify these lines, each with its newline, after those fed before."""
        rest = iter(lines)
        if self._diagnosis is None:
            self._verify(rest)
        if self._diagnosis is not None:
            for line in rest:
                self._diagnosis.observe(line)

    def finish(self) -> Verification:
        """What the whole log turned out to be."""
        if self._diagnosis is not None:
            return self._diagnosis.conclude(known_size=self._known_size)
        size = self._tree.size
        if size < self._known_size:
            return Truncated(size, self._known_size)
        anchor = Anchor(size, self._at_ms, self._hash, self._tree.hashes)
        return Verified(self.count, anchor, anchor.root, self._signed_size)

    def _verify(self, lines: Iterator[bytes]) -> None:
        tree = self._tree
        due = self._next_size()
        for line in lines:
            try:
                seq, at_ms, prev_hash, digest = read_line(line)
            except RecordRefused as refused:
                self._suspect(NoRecord(refused.fault, len(line), line.endswith(b"\n")))
                return
            if seq != tree.size or prev_hash != self._hash:
                self._suspect(Suspect(seq, prev_hash, digest))
                return
            if at_ms < self._at_ms and not _is_repair(line, last_ms=self._at_ms):
                self._suspect(TimeWentBack(seq, at_ms, self._at_ms), vouched_hash=digest)
                return
            tree.append(sha256(b"\x00" + line[:-1]).digest())
            self._at_ms, self._prev_hash, self._hash = at_ms, prev_hash, digest
            if tree.size == due:
                due = self._meet_checkpoints()
                if self._diagnosis is not None:
                    return

    def _next_size(self) -> int:
        """The size of the next checkpoint to be met."""
        if self._due < len(self._checkpoints):
            return self._checkpoints[self._due].size
        return _NEVER

    def _meet_checkpoints(self) -> int:
        """Compare the root with the checkpoints of this size; the size of the next one after."""
        size = self._tree.size
        while self._next_size() == size:
            signed, found = self._checkpoints[self._due].root, self._tree.root()
            if signed != found:
                below = max(self._signed_size, self._start.size)
                mismatch = CheckpointMismatch(below, size, signed, found)
                self._suspect(mismatch, vouched_hash=self._hash)
                return _NEVER
            self._due += 1
            self._signed_size = size
        return self._next_size()

    def _suspect(self, fault: Fault, *, vouched_hash: str = "") -> None:
        size = self._tree.size
        is_sure = size == max(self._start.size, self._signed_size)
        place = Place(size, self._hash, self._prev_hash, is_sure)
        self._diagnosis = Diagnosis(place, fault, vouched_hash=vouched_hash)


def _is_repair(line: bytes, *, last_ms: int) -> bool:
    record = parse_record(line[:-1])
    return sets_back(record.kind, record.body, last_ms=last_ms, at_ms=record.at_ms)


def _in_order(checkpoints: Iterable[Checkpoint], anchor: Anchor) -> Sequence[Checkpoint]:
    kept = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
    if kept and kept[0].size < anchor.size:
        raise InvalidValue("checkpoint", kept[0].size, f"a size of {anchor.size} or more")
    return kept


def verify_lines(
    lines: Iterable[bytes],
    anchor: Anchor = GENESIS,
    *,
    checkpoints: Iterable[Checkpoint] = (),
) -> Verification:
    """Verify a whole log, or what follows an anchor, in one pass."""
    verifier = Verifier(anchor, checkpoints=checkpoints)
    verifier.feed(lines)
    return verifier.finish()

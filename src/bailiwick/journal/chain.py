"""Sealing: giving each fact its number, its link to the one before, and its leaf in the tree.

Rules:

- One writer. Numbers have no gaps and start at 0; the first record names 64 zeros as the hash
  before it. Time never goes back, but by a record that says so (``clock_repaired``).
- Everything is checked before anything changes: a refused record leaves the chain as it was.
- A batch that could not be stored is forgotten by making a new chain from the anchor before it.

>>> chain = Chain()
>>> who = Context("scheduler", "req-7", tenant="acme")
>>> renewed = {"lease_id": 4, "generation": 2, "expires_ms": 9000}
>>> sealed = chain.seal(RecordKind.LEASE_RENEWED, who, at_ms=5000, body=renewed)
>>> sealed.record.prev_hash == GENESIS.hash, chain.anchor().hash == sealed.hash
(True, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from bailiwick.journal.anchor import GENESIS, Anchor
from bailiwick.journal.fields import INTEGER_MAX, RecordRefused
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.merkle import Frontier
from bailiwick.journal.record import (
    Context,
    Record,
    canonical_bytes,
    parse_record,
    sets_back,
)
from bailiwick.journal.shapes import is_recognised
from bailiwick.journal.words import RecordFault
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.values import check_integer, check_kind


@dataclass(frozen=True, slots=True)
class Sealed:
    """A record that is part of a chain: its number, bytes, hash, and leaf in the tree."""

    seq: int
    canonical: bytes
    hash: str
    leaf: bytes

    @property
    def line(self) -> bytes:
        """The record as one line of a journal file."""
        return self.canonical + b"\n"

    @property
    def record(self) -> Record:
        """The record, read back from its bytes: what every reader will see."""
        return parse_record(self.canonical)


class Chain:
    """The end of a log, to which records are sealed one after the other."""

    __slots__ = ("_at_ms", "_hash", "_tree")

    def __init__(self, anchor: Anchor = GENESIS) -> None:
        check_kind("anchor", anchor, Anchor)
        self._tree = Frontier(anchor.size, anchor.frontier)
        self._at_ms = anchor.at_ms
        self._hash = anchor.hash

    @property
    def size(self) -> int:
        """How many records there are, which is the number of the next one."""
        return self._tree.size

    def root(self) -> bytes:
        """The root of the tree over all records."""
        return self._tree.root()

    def anchor(self) -> Anchor:
        """Where the chain stands now."""
        return Anchor(self._tree.size, self._at_ms, self._hash, self._tree.hashes)

    def seal(
        self, kind: RecordKind, context: Context, *, at_ms: int, body: Mapping[str, object]
    ) -> Sealed:
        """The next record of the chain, or a refusal that changes nothing."""
        # Asked in full only if something looks wrong: this is the path of every decision.
        if type(kind) is not RecordKind or type(context) is not Context:
            check_kind("kind", kind, RecordKind)
            check_kind("context", context, Context)
        if type(at_ms) is not int or not self._at_ms <= at_ms <= INTEGER_MAX:
            back = sets_back(kind, body, last_ms=self._at_ms, at_ms=at_ms)
            check_integer("at_ms", at_ms, low=0 if back else self._at_ms, high=INTEGER_MAX)
        seq = self._tree.size
        if seq > INTEGER_MAX:
            raise LimitReached("records of a journal", INTEGER_MAX)
        link = (seq, at_ms, self._hash)
        try:
            canonical = canonical_bytes(kind, context, link=link, body=body)
        except (TypeError, ValueError, RecursionError) as error:
            # What no JSON can say: a foreign object, a lone surrogate, a body inside itself.
            raise RecordRefused(
                RecordFault.BAD_VALUE, "body", value=body, expected=f"plain values ({error})"
            ) from error
        if not is_recognised(kind, canonical):
            # A rare record or a wrong one: parsing tells which.
            context.check_scope(kind)
            parse_record(canonical)
        digest = sha256(canonical).hexdigest()
        leaf = sha256(b"\x00" + canonical).digest()
        self._tree.append(leaf)
        self._at_ms = at_ms
        self._hash = digest
        return Sealed(seq, canonical, digest, leaf)

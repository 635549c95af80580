"""The Merkle tree over the whole journal, in memory: what proofs and checkpoints are made from.

Rules:

- The tree grows by durable records only, in order, a bounded number at a time; whoever needs it
  further grown asks again. Nothing of it is stored: the journal is enough to make it anew.
- It costs 64 bytes a record. Beyond ``LEAVES_MAX`` records there are no proofs from here;
  ``bailiwick journal publish`` keeps the tree in files.
- A signature is made over what was computed from the records, never over what somebody says.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from bailiwick.journal.keys import Signer
from bailiwick.journal.merkle import (
    HASH_BYTES,
    ConsistencyProof,
    InclusionProof,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root_of,
)
from bailiwick.journal.note import Checkpoint, sign_checkpoint
from bailiwick.vocab.errors import LimitReached, NotFound

PAGE = 2_000
"""Records that are taken up at once."""

LEAVES_MAX = 50_000_000


class CompactTree:
    """Every complete subtree's hash, packed: the source of proofs and roots."""

    def __init__(self) -> None:
        self._levels: list[bytearray] = [bytearray()]

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self._levels[0]) // HASH_BYTES

    def append(self, leaf: bytes) -> None:
        """Add the next leaf."""
        index, level, value = self.size, 0, leaf
        self._levels[0] += leaf
        while index & 1:  # bounded by the number of bits of the size
            value = node_hash(self.subtree(level, index - 1), value)
            index, level = index >> 1, level + 1
            if level == len(self._levels):
                self._levels.append(bytearray())
            self._levels[level] += value

    def subtree(self, level: int, index: int) -> bytes:
        """The hash of one complete subtree."""
        if not 0 <= level < len(self._levels):
            raise NotFound("subtree", (level, index))
        found = bytes(self._levels[level][HASH_BYTES * index : HASH_BYTES * (index + 1)])
        if index < 0 or len(found) != HASH_BYTES:
            raise NotFound("subtree", (level, index))
        return found


class JournalTree:
    """The tree of one journal; ``grow`` and the proofs from any thread."""

    def __init__(self, *, leaves_max: int = LEAVES_MAX, page: int = PAGE) -> None:
        self.page = page
        self._tree = CompactTree()
        self._lock = threading.Lock()
        self._growing = threading.Lock()
        self._leaves_max = leaves_max

    @property
    def size(self) -> int:
        """How many records it has taken up."""
        return self._tree.size

    def grow(self, lines: Sequence[bytes], *, first: int) -> int:
        """Take up these records, the first of which has that number; how many it has then.

        Those that it knows are passed over; a gap is left alone, and asked for again.
        """
        with self._lock:
            if first > self._tree.size:
                return self._tree.size
            for line in lines[self._tree.size - first :]:
                if self._tree.size >= self._leaves_max:
                    raise LimitReached("records in the tree", self._leaves_max)
                self._tree.append(leaf_hash(line.rstrip(b"\n")))
            return self._tree.size

    def claim(self) -> bool:
        """Whether the caller is now the one who grows it beside all else; ``release`` ends that."""
        return self._growing.acquire(blocking=False)

    def release(self) -> None:
        """Let another grow it."""
        self._growing.release()

    def checkpoint(self, signer: Signer) -> bytes:
        """The signed checkpoint of the tree as it stands."""
        with self._lock:
            return self._signed(signer)

    def prove(self, seq: int, signer: Signer) -> tuple[InclusionProof, bytes]:
        """The way from one record to the root of a checkpoint, and that checkpoint."""
        with self._lock:
            proof = prove_inclusion(self._tree, seq, size=self._tree.size)
            return proof, self._signed(signer)

    def compare(self, old_size: int, new_size: int) -> ConsistencyProof:
        """What shows that the tree of one size is the begin of the tree of another."""
        with self._lock:
            return prove_consistency(self._tree, old_size, new_size=new_size)

    def _signed(self, signer: Signer) -> bytes:
        size = self._tree.size
        return sign_checkpoint(Checkpoint(signer.name, size, root_of(self._tree, size)), signer)

"""The RFC 6962 Merkle tree over the records: roots, and proofs that need not trust the log.

Rules:

- A leaf is ``H(0x00 || canonical bytes)``, a node ``H(0x01 || left || right)``, H is SHA-256; the
  root of the empty tree is ``H("")``. RFC 9162 hashes alike.
- A :class:`Frontier` keeps only the complete subtrees on the right edge, largest first: one hash
  for each bit set in the size. Appending costs one node hash on average.
- A proof is made from any :class:`NodeSource` in logarithmic time, and judged by pure functions
  that know nothing but the proof and the roots.

>>> tree = Frontier()
>>> tree.append(leaf_hash(b"one")), tree.append(leaf_hash(b"two"))
(None, None)
>>> tree.root() == node_hash(leaf_hash(b"one"), leaf_hash(b"two"))
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol, TypeAlias

from bailiwick.journal.words import ProofFault
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import check_integer

HASH_BYTES = 32
SIZE_MAX = 2**63 - 1
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of an entry as a leaf."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two neighbouring subtrees."""
    return sha256(b"\x01" + left + right).digest()


def check_hash(field: str, value: object) -> bytes:
    """The value if it is a SHA-256 hash."""
    if not isinstance(value, bytes) or len(value) != HASH_BYTES:
        raise InvalidValue(field, value, f"{HASH_BYTES} bytes")
    return value


class Frontier:
    """The right edge of a tree: all that appending and the root need."""

    __slots__ = ("_hashes", "size")

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size = check_integer("size", size, low=0, high=SIZE_MAX)
        self._hashes = [check_hash("frontier", value) for value in hashes]
        if len(self._hashes) != size.bit_count():
            raise InvalidValue("frontier", len(self._hashes), f"{size.bit_count()} hashes")

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """The complete subtrees, largest first."""
        return tuple(self._hashes)

    def append(self, leaf: bytes) -> None:
        """Add the next leaf."""
        size = self.size
        self.size = size + 1
        pop = self._hashes.pop
        while size & 1:
            leaf = sha256(b"\x01" + pop() + leaf).digest()
            size >>= 1
        self._hashes.append(leaf)

    def root(self) -> bytes:
        """The root of the leaves so far."""
        return fold_right(self._hashes)


def fold_right(hashes: Sequence[bytes]) -> bytes:
    """The root over complete subtrees given largest first."""
    if not hashes:
        return EMPTY_ROOT
    root = hashes[-1]
    for left in reversed(hashes[:-1]):
        root = node_hash(left, root)
    return root


class NodeSource(Protocol):
    """Where proofs take hashes from: memory, tiles in a folder, tiles behind a network."""

    @property
    def size(self) -> int:
        """How many leaves there are."""

    def subtree(self, level: int, index: int) -> bytes:
        """The hash over leaves ``index << level`` up to ``(index + 1) << level``, complete."""


class MemoryTree:
    """Every complete subtree, in memory: 64 bytes a leaf, for logs that fit."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self._levels[0])

    def append(self, leaf: bytes) -> None:
        """Add the next leaf."""
        index, value = self.size, leaf
        self._levels[0].append(leaf)
        level = 0
        while index & 1:
            value = node_hash(self._levels[level][index - 1], value)
            index, level = index >> 1, level + 1
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append(value)

    def subtree(self, level: int, index: int) -> bytes:
        """The hash of one complete subtree."""
        if not 0 <= level < len(self._levels) or not 0 <= index < len(self._levels[level]):
            raise NotFound("subtree", (level, index))
        return self._levels[level][index]


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """The neighbours on the way from leaf ``index`` up to the root of ``size`` leaves."""

    index: int
    size: int
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """The subtrees that show the first ``old_size`` of ``new_size`` leaves to be unchanged."""

    old_size: int
    new_size: int
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ProofHolds:
    """The proof proves what it says."""

    size: int


@dataclass(frozen=True, slots=True)
class ProofFails:
    """The proof proves nothing: why, and the tree size it was about."""

    reason: ProofFault
    size: int


ProofVerdict: TypeAlias = ProofHolds | ProofFails


def root_of(source: NodeSource, size: int) -> bytes:
    """The root of the first ``size`` leaves."""
    check_integer("size", size, low=0, high=source.size)
    return _range_hash(source, 0, size) if size else EMPTY_ROOT


def _range_hash(source: NodeSource, start: int, end: int) -> bytes:
    """The hash over leaves ``start`` to ``end``, as RFC 6962 cuts ranges (so start is aligned)."""
    hashes = []
    while start < end:
        level = (end - start).bit_length() - 1
        hashes.append(source.subtree(level, start >> level))
        start += 1 << level
    return fold_right(hashes)


def _split(count: int) -> int:
    """The largest power of two below the count: where RFC 6962 cuts a range in two."""
    return 1 << ((count - 1).bit_length() - 1)


def prove_inclusion(source: NodeSource, index: int, *, size: int) -> InclusionProof:
    """The proof that leaf ``index`` is in the tree of ``size`` leaves."""
    check_integer("size", size, low=1, high=source.size)
    check_integer("index", index, low=0, high=size - 1)
    start, end = 0, size
    hashes: list[bytes] = []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            hashes.append(_range_hash(source, middle, end))
            end = middle
        else:
            hashes.append(_range_hash(source, start, middle))
            start = middle
    return InclusionProof(index, size, tuple(reversed(hashes)))


def prove_consistency(source: NodeSource, old_size: int, *, new_size: int) -> ConsistencyProof:
    """The proof that the first ``old_size`` leaves are a prefix of ``new_size`` leaves."""
    check_integer("new_size", new_size, low=0, high=source.size)
    check_integer("old_size", old_size, low=0, high=new_size)
    if old_size in (0, new_size):
        return ConsistencyProof(old_size, new_size, ())
    start, end = 0, new_size
    hashes: list[bytes] = []
    while old_size != end:
        middle = start + _split(end - start)
        if old_size <= middle:
            hashes.append(_range_hash(source, middle, end))
            end = middle
        else:
            hashes.append(_range_hash(source, start, middle))
            start = middle
    # The old tree itself needs no hash when it is one of the subtrees met on the way.
    if start:
        hashes.append(_range_hash(source, start, end))
    return ConsistencyProof(old_size, new_size, tuple(reversed(hashes)))


def verify_inclusion(leaf: bytes, proof: InclusionProof, *, root: bytes) -> ProofVerdict:
    """Whether the proof leads from the leaf's hash to the root (RFC 9162, section 2.1.3.2)."""
    if not 0 <= proof.index < proof.size <= SIZE_MAX:
        return ProofFails(ProofFault.OUT_OF_RANGE, proof.size)
    node, last, value = proof.index, proof.size - 1, leaf
    for other in proof.hashes:
        if last == 0 or len(other) != HASH_BYTES:
            return ProofFails(ProofFault.WRONG_LENGTH, proof.size)
        if node & 1 or node == last:
            value = node_hash(other, value)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            value = node_hash(value, other)
        node, last = node >> 1, last >> 1
    if last:
        return ProofFails(ProofFault.WRONG_LENGTH, proof.size)
    if value != root:
        return ProofFails(ProofFault.ROOT_MISMATCH, proof.size)
    return ProofHolds(proof.size)


def verify_consistency(
    proof: ConsistencyProof, *, old_root: bytes, new_root: bytes
) -> ProofVerdict:
    """Whether the old root's leaves are a prefix of the new root's (RFC 9162, 2.1.4.2)."""
    old, new = proof.old_size, proof.new_size
    if not 0 <= old <= new <= SIZE_MAX:
        return ProofFails(ProofFault.OUT_OF_RANGE, new)
    if old in (0, new):
        return _verify_trivial(proof, old_root, new_root=new_root)
    hashes = list(proof.hashes)
    if any(len(value) != HASH_BYTES for value in hashes):
        return ProofFails(ProofFault.WRONG_LENGTH, new)
    if old & (old - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        return ProofFails(ProofFault.WRONG_LENGTH, new)
    node, last = old - 1, new - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    left = right = hashes[0]
    for other in hashes[1:]:
        if last == 0:
            return ProofFails(ProofFault.WRONG_LENGTH, new)
        if node & 1 or node == last:
            left, right = node_hash(other, left), node_hash(other, right)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            right = node_hash(right, other)
        node, last = node >> 1, last >> 1
    if last:
        return ProofFails(ProofFault.WRONG_LENGTH, new)
    if left != old_root:
        return ProofFails(ProofFault.OLD_ROOT_MISMATCH, new)
    if right != new_root:
        return ProofFails(ProofFault.NEW_ROOT_MISMATCH, new)
    return ProofHolds(new)


def _verify_trivial(proof: ConsistencyProof, old_root: bytes, *, new_root: bytes) -> ProofVerdict:
    """Nothing is a prefix of everything, and a tree of itself: no hashes are needed."""
    if proof.hashes:
        return ProofFails(ProofFault.WRONG_LENGTH, proof.new_size)
    if proof.old_size == 0 and old_root != EMPTY_ROOT:
        return ProofFails(ProofFault.OLD_ROOT_MISMATCH, proof.new_size)
    if proof.old_size == proof.new_size and old_root != new_root:
        return ProofFails(ProofFault.NEW_ROOT_MISMATCH, proof.new_size)
    return ProofHolds(proof.new_size)

"""The packed tree gives the very hashes and proofs of the plain one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.journal.keys import SeedSigner, VerifierKey
from bailiwick.journal.merkle import (
    MemoryTree,
    ProofHolds,
    leaf_hash,
    prove_inclusion,
    root_of,
    verify_inclusion,
)
from bailiwick.journal.note import TrustedCheckpoint, verify_checkpoint
from bailiwick.runtime.tree import CompactTree, JournalTree
from bailiwick.vocab.errors import InvalidValue, LimitReached, NotFound

SIGNER = SeedSigner("log.example/t", bytes(range(32)))


def lines_of(count: int, start: int = 0) -> list[bytes]:
    return [b"line %d\n" % number for number in range(start, start + count)]


@given(st.integers(1, 70))
def test_it_is_the_plain_tree(count: int) -> None:
    leaves = [leaf_hash(line.rstrip(b"\n")) for line in lines_of(count)]
    plain, packed = MemoryTree(leaves), CompactTree()
    for leaf in leaves:
        packed.append(leaf)
    assert packed.size == plain.size
    assert root_of(packed, count) == root_of(plain, count)
    for index in range(count):
        assert prove_inclusion(packed, index, size=count) == prove_inclusion(
            plain, index, size=count
        )


def test_a_subtree_that_is_not_there_is_told() -> None:
    packed = CompactTree()
    packed.append(leaf_hash(b"x"))
    for level, index in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        with pytest.raises(NotFound):
            packed.subtree(level, index)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=30))
def test_pages_that_overlap_or_leave_gaps_never_spoil_it(pages: list[tuple[int, int]]) -> None:
    tree, size = JournalTree(), 0
    for first, count in pages:
        grown = tree.grow(lines_of(count, first), first=first)
        if first <= size:
            size = max(size, first + count)
        assert grown == tree.size == size
    plain = MemoryTree(leaf_hash(line.rstrip(b"\n")) for line in lines_of(size))
    verdict = verify_checkpoint(tree.checkpoint(SIGNER), [VerifierKey.of(SIGNER)])
    assert isinstance(verdict, TrustedCheckpoint)
    assert (verdict.checkpoint.size, verdict.checkpoint.root) == (size, root_of(plain, size))


def test_a_proof_leads_to_its_checkpoint() -> None:
    tree = JournalTree()
    assert tree.grow(lines_of(9), first=0) == 9
    proof, note = tree.prove(4, SIGNER)
    verdict = verify_checkpoint(note, [VerifierKey.of(SIGNER)])
    assert isinstance(verdict, TrustedCheckpoint)
    held = verify_inclusion(leaf_hash(b"line 4"), proof, root=verdict.checkpoint.root)
    assert held == ProofHolds(9)
    with pytest.raises(InvalidValue):
        tree.prove(9, SIGNER)


def test_it_is_bounded() -> None:
    tree = JournalTree(leaves_max=3)
    with pytest.raises(LimitReached):
        tree.grow(lines_of(4), first=0)


def test_one_at_a_time_grows_it_beside_all_else() -> None:
    tree = JournalTree()
    assert tree.claim()
    assert not tree.claim()
    tree.release()
    assert tree.claim()

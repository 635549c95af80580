"""The tree is that of RFC 6962, and only true proofs hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.journal import (
    ConsistencyProof,
    Frontier,
    InclusionProof,
    MemoryTree,
    ProofFails,
    ProofFault,
    ProofHolds,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from bailiwick.journal.merkle import EMPTY_ROOT, node_hash
from bailiwick.vocab.errors import InvalidValue, NotFound

# The reference leaves and roots of the certificate-transparency project.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243", "5051525354555657"),
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
COUNT = 40
TREE = MemoryTree(leaf_hash(bytes([n])) for n in range(COUNT))
OTHER = MemoryTree(leaf_hash(bytes([n, 1])) for n in range(COUNT))


def naive_root(hashes: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not hashes:
        return EMPTY_ROOT
    if len(hashes) == 1:
        return hashes[0]
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    return node_hash(naive_root(hashes[:k]), naive_root(hashes[k:]))


def test_roots_are_those_of_the_reference_implementation() -> None:
    tree = Frontier()
    assert tree.root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for leaf, root in zip(LEAVES, ROOTS, strict=True):
        tree.append(leaf_hash(leaf))
        assert tree.root().hex() == root


def test_frontier_memory_and_definition_agree_at_every_size() -> None:
    leaves = [leaf_hash(bytes([n])) for n in range(COUNT)]
    tree = Frontier()
    for size in range(COUNT + 1):
        assert tree.root() == root_of(TREE, size) == naive_root(leaves[:size])
        assert Frontier(size, tree.hashes).root() == tree.root()
        if size < COUNT:
            tree.append(leaves[size])


def test_every_inclusion_proof_holds_and_only_for_its_own_leaf_and_root() -> None:
    for size in range(1, COUNT + 1):
        root = root_of(TREE, size)
        for index in range(size):
            proof = prove_inclusion(TREE, index, size=size)
            leaf = TREE.subtree(0, index)
            assert verify_inclusion(leaf, proof, root=root) == ProofHolds(size)
            assert len(proof.hashes) <= (size - 1).bit_length()
            for other in (OTHER.subtree(0, index), bytes(32)):
                assert verify_inclusion(other, proof, root=root) == ProofFails(
                    ProofFault.ROOT_MISMATCH, size
                )
            foreign = verify_inclusion(leaf, proof, root=root_of(OTHER, size))
            assert foreign == ProofFails(ProofFault.ROOT_MISMATCH, size)


def test_an_inclusion_proof_claimed_for_another_index_fails() -> None:
    root = root_of(TREE, 13)
    for index in range(13):
        proof, leaf = prove_inclusion(TREE, index, size=13), TREE.subtree(0, index)
        for claimed in range(13):
            verdict = verify_inclusion(leaf, replace(proof, index=claimed), root=root)
            assert isinstance(verdict, ProofHolds) == (claimed == index)


def test_every_consistency_proof_holds_and_only_for_its_own_roots() -> None:
    for new in range(COUNT + 1):
        new_root = root_of(TREE, new)
        for old in range(new + 1):
            proof = prove_consistency(TREE, old, new_size=new)
            old_root = root_of(TREE, old)
            assert verify_consistency(proof, old_root=old_root, new_root=new_root) == ProofHolds(
                new
            )
            forged = verify_consistency(proof, old_root=bytes(32), new_root=new_root)
            assert isinstance(forged, ProofFails)
            if 0 < old < new:
                other = root_of(OTHER, old)
                verdict = verify_consistency(proof, old_root=other, new_root=new_root)
                assert isinstance(verdict, ProofFails)
                other = root_of(OTHER, new)
                verdict = verify_consistency(proof, old_root=old_root, new_root=other)
                assert isinstance(verdict, ProofFails)


def test_a_proof_that_is_longer_shorter_or_damaged_fails() -> None:
    root, old_root = root_of(TREE, 29), root_of(TREE, 11)
    leaf = TREE.subtree(0, 17)
    inclusion = prove_inclusion(TREE, 17, size=29)
    consistency = prove_consistency(TREE, 11, new_size=29)
    for hashes in _damaged(inclusion.hashes):
        verdict = verify_inclusion(leaf, replace(inclusion, hashes=hashes), root=root)
        assert isinstance(verdict, ProofFails)
    for hashes in _damaged(consistency.hashes):
        proof = replace(consistency, hashes=hashes)
        verdict = verify_consistency(proof, old_root=old_root, new_root=root)
        assert isinstance(verdict, ProofFails)


def _damaged(hashes: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    flipped = [
        (*hashes[:i], bytes([hashes[i][0] ^ 1]) + hashes[i][1:], *hashes[i + 1 :])
        for i in range(len(hashes))
    ]
    cut = [(*hashes[:i], *hashes[i + 1 :]) for i in range(len(hashes))]
    short = [(*hashes[:-1], hashes[-1][:31])]
    return [*flipped, *cut, *short, (*hashes, bytes(32)), (bytes(32), *hashes), ()]


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 5), (0, 2**63), (6, 5)])
def test_a_proof_about_no_leaf_fails(index: int, size: int) -> None:
    verdict = verify_inclusion(bytes(32), InclusionProof(index, size, ()), root=bytes(32))
    assert verdict == ProofFails(ProofFault.OUT_OF_RANGE, size)


@pytest.mark.parametrize(("old", "new"), [(6, 5), (-1, 5), (1, 2**63)])
def test_a_consistency_proof_of_impossible_sizes_fails(old: int, new: int) -> None:
    verdict = verify_consistency(
        ConsistencyProof(old, new, ()), old_root=bytes(32), new_root=bytes(32)
    )
    assert verdict == ProofFails(ProofFault.OUT_OF_RANGE, new)


def test_equal_sizes_with_different_roots_are_inconsistent() -> None:
    proof = ConsistencyProof(9, 9, ())
    verdict = verify_consistency(proof, old_root=root_of(TREE, 9), new_root=root_of(OTHER, 9))
    assert verdict == ProofFails(ProofFault.NEW_ROOT_MISMATCH, 9)


def test_proofs_are_logarithmic_in_reads() -> None:
    class Counting:
        size = 1 << 40
        reads = 0

        def subtree(self, level: int, index: int) -> bytes:
            del level, index
            self.reads += 1
            return bytes(32)

    source = Counting()
    prove_inclusion(source, 123_456_789, size=source.size - 1)
    prove_consistency(source, 123_456_789, new_size=source.size - 1)
    assert source.reads <= 4 * 40


def test_wrong_hashes_and_ranges_are_errors() -> None:
    with pytest.raises(InvalidValue):
        Frontier(3, [bytes(32)])
    with pytest.raises(InvalidValue):
        Frontier(1, [bytes(31)])
    with pytest.raises(InvalidValue):
        prove_inclusion(TREE, COUNT, size=COUNT)
    with pytest.raises(InvalidValue):
        prove_consistency(TREE, 1, new_size=COUNT + 1)
    with pytest.raises(NotFound):
        TREE.subtree(9, 0)

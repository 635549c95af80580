"""The journal: sealing, verifying and proving, beside one signature per record in the same run.

Records are those of a lease's life, drawn in turn; a record is about 330 bytes, of which the
envelope and the link are 230. CPU time of one thread, median over blocks of 1,000 records. Sealing
includes one checkpoint, signed and checked, for each block; verifying is the full one: canonical
form, kind, fields, chain, time, tree, and every checkpoint's root.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from bailiwick.journal import (
    Anchor,
    Chain,
    Checkpoint,
    Context,
    MemoryTree,
    ProofHolds,
    RecordKind,
    SeedSigner,
    TileWriter,
    TrustedCheckpoint,
    Verified,
    Verifier,
    VerifierKey,
    leaf_hash,
    prove_inclusion,
    root_of,
    sign_checkpoint,
    verify_checkpoint,
    verify_inclusion,
)
from bailiwick.journal.keys import signature_holds
from bench.measure import no_collection, say
from bench.report import Section, Table

RECORDS, RECORDS_QUICK = 200_000, 40_000
BLOCK = 1_000
SEAL_BAR, VERIFY_BAR = 60_000, 100_000
ORIGIN = "bench.example/fleet"
START_MS = 1_794_700_000_000

Fact = tuple[RecordKind, Context, dict[str, Any]]


def make_facts(count: int) -> Iterator[Fact]:
    """What a busy fleet would seal: leases granted, renewed, preempted, revoked, released."""
    resources = {"cpu_milli": 8_000, "mem_bytes": 64 * 2**30, "gpu_milli": 1_000}
    for number in range(count):
        lease, node = number // 5, f"node-{number % 997:04d}"
        who = Context("scheduler", f"req-{lease:08d}", f"team-{lease % 7}", "train")
        term = {"lease_id": lease, "generation": 1, "expires_ms": START_MS + 3_600_000}
        held = {"lease_id": lease, "node": node, "resources": resources}
        choice: list[tuple[RecordKind, dict[str, Any]]] = [
            (
                RecordKind.ADMISSION_APPROVED,
                {
                    "lease_ids": [lease],
                    "nodes": [node],
                    "resources": resources,
                    "priority": "normal",
                    "lease_class": "spot",
                },
            ),
            (RecordKind.LEASE_RENEWED, {**term, "generation": 2}),
            (
                RecordKind.LEASE_PREEMPTED,
                {
                    "lease_id": lease,
                    "reason": "priority_preemption",
                    "victim": who.tenant,
                    "preemptor": f"req-{lease + 1:08d}",
                    "freed": resources,
                },
            ),
            (
                RecordKind.LEASE_REVOKED,
                {
                    "lease_id": lease,
                    "before": "active",
                    "after": "revoke_warning",
                    "reason": "priority_preemption",
                },
            ),
            (RecordKind.LEASE_RELEASED, held),
        ]
        kind, body = choice[number % 5]
        yield kind, who, body


def measure_seal(count: int) -> tuple[dict[str, float], list[bytes], list[bytes]]:
    """Records per second with chain, tree and one signed checkpoint in each block."""
    signer, chain = SeedSigner(ORIGIN, bytes(range(32))), Chain()
    facts = list(make_facts(count))
    lines: list[bytes] = []
    notes: list[bytes] = []
    rates: list[float] = []
    wall = perf_counter()
    with no_collection():
        for start in range(0, count, BLOCK):
            block = facts[start : start + BLOCK]
            began = thread_time()
            for number, (kind, who, body) in enumerate(block, start):
                lines.append(chain.seal(kind, who, at_ms=START_MS + number, body=body).line)
            notes.append(sign_checkpoint(Checkpoint(ORIGIN, chain.size, chain.root()), signer))
            rates.append(len(block) / (thread_time() - began))
    wall_per_s = count / (perf_counter() - wall)
    figures = {
        "seal_per_s": median(rates),
        "seal_wall_per_s": wall_per_s,
        "record_bytes": sum(map(len, lines)) / count - 1,
    }
    return figures, lines, notes


def measure_tiles(lines: list[bytes]) -> dict[str, float]:
    """What laying the same records out as tiles adds, per second of doing only that."""
    leaves = [leaf_hash(line[:-1]) for line in lines]
    writer, rates = TileWriter(), []
    with no_collection():
        for start in range(0, len(lines), BLOCK):
            block = range(start, min(start + BLOCK, len(lines)))
            began = thread_time()
            for number in block:
                writer.append(lines[number][:-1], leaf=leaves[number])
            writer.partial()
            rates.append(len(block) / (thread_time() - began))
    return {"tiles_per_s": median(rates)}


def measure_verify(lines: list[bytes], notes: list[bytes]) -> dict[str, float]:
    """Records per second of full verification, from the lines and the signed checkpoints."""
    key = VerifierKey.of(SeedSigner(ORIGIN, bytes(range(32))))
    rates: list[float] = []
    wall = perf_counter()
    with no_collection():
        anchor = Anchor(0, 0, "0" * 64)
        for start, note in zip(range(0, len(lines), BLOCK), notes, strict=True):
            block = lines[start : start + BLOCK]
            began = thread_time()
            trusted = verify_checkpoint(note, [key])
            assert isinstance(trusted, TrustedCheckpoint)
            verifier = Verifier(anchor, checkpoints=[trusted.checkpoint])
            verifier.feed(block)
            result = verifier.finish()
            rates.append(len(block) / (thread_time() - began))
            assert isinstance(result, Verified)
            anchor = result.anchor
    return {
        "verify_per_s": median(rates),
        "verify_wall_per_s": len(lines) / (perf_counter() - wall),
    }


def measure_signature_each(lines: list[bytes]) -> dict[str, float]:
    """The reference: the same bytes, linked by hash, each with its own Ed25519 signature."""
    signer = SeedSigner(ORIGIN, bytes(range(32)))
    block = [line[:-1] for line in lines[: 4 * BLOCK]]
    before = ""
    with no_collection():
        began = thread_time()
        signed = []
        for raw in block:
            before = sha256(raw + before.encode()).hexdigest()
            signed.append((raw, signer.sign(before.encode()), before))
        sign_s = thread_time() - began
        began = thread_time()
        for raw, signature, digest in signed:
            assert len(raw)
            assert signature_holds(signer.public_key, digest.encode(), signature=signature)
        verify_s = thread_time() - began
    return {
        "sign_each_per_s": len(block) / sign_s,
        "verify_each_per_s": len(block) / verify_s,
    }


def measure_proofs(lines: list[bytes]) -> dict[str, float]:
    """Making and checking one inclusion proof, in a log and in one a hundredth of its size."""
    leaves = [leaf_hash(line[:-1]) for line in lines]
    figures: dict[str, float] = {}
    for name, size in (("small", len(leaves) // 100), ("whole", len(leaves))):
        tree = MemoryTree(leaves[:size])
        root, step = root_of(tree, size), max(1, size // 500)
        hashes = 0
        with no_collection():
            began = thread_time()
            for index in range(0, size, step):
                proof = prove_inclusion(tree, index, size=size)
                verdict = verify_inclusion(leaves[index], proof, root=root)
                assert isinstance(verdict, ProofHolds)
                hashes = max(hashes, len(proof.hashes))
            spent = thread_time() - began
        figures[f"proof_{name}_us"] = 1e6 * spent / len(range(0, size, step))
        figures[f"proof_{name}_hashes"] = hashes
    return figures


def run(*, quick: bool = False) -> Section:
    """The journal's section: figures, and the bars of the design."""
    count = RECORDS_QUICK if quick else RECORDS
    say(f"journal: sealing {count:,} records")
    figures, lines, notes = measure_seal(count)
    say("journal: verifying them")
    figures |= measure_verify(lines, notes)
    figures |= measure_signature_each(lines)
    figures |= measure_tiles(lines)
    figures |= measure_proofs(lines)
    section = Section("journal", "Journal", data=dict(figures))
    table = Table(
        "records per second of one core", ["what", "chain + tree", "a signature each", "x"]
    )
    for what in ("seal", "verify"):
        ours = figures[f"{what}_per_s"]
        theirs = figures["sign_each_per_s" if what == "seal" else "verify_each_per_s"]
        table.rows.append([what, f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.1f}"])
    section.tables.append(table)
    proofs = Table("one inclusion proof, made and checked", ["log", "us", "hashes"])
    for name, size in (("small", count // 100), ("whole", count)):
        spent, hashes = figures[f"proof_{name}_us"], figures[f"proof_{name}_hashes"]
        proofs.rows.append([f"{size:,} records", f"{spent:.0f}", f"{hashes:.0f}"])
    section.tables.append(proofs)
    section.bar_at_least("sealed records", figures["seal_per_s"], SEAL_BAR, unit="/s")
    section.bar_at_least("verified records", figures["verify_per_s"], VERIFY_BAR, unit="/s")
    section.notes.append(
        f"{figures['record_bytes']:.0f} bytes a record; laying out tiles alone: "
        f"{figures['tiles_per_s']:,.0f} records/s; a signature each leaves out encoding and parsing"
    )
    return section

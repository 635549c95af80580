"""Proofs as our own tools make them, for the pages that check them in a browser.

The file that this makes is committed beside the pages' code, and a test makes it again: what the
browser is tested against cannot drift from what the server sends.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.journal import RecordKind, VerifierKey
from bailiwick.journal.chain import Chain, Sealed
from bailiwick.journal.keys import SeedSigner
from bailiwick.journal.merkle import MemoryTree, prove_consistency, prove_inclusion, root_of
from bailiwick.journal.note import Checkpoint, sign_checkpoint
from bailiwick.journal.record import Context
from bailiwick.store.journal.proof import RecordProof

FILE: Final = Path(__file__).resolve().parents[2] / "web/src/proof/vectors.json"
SIGNER: Final = SeedSigner("log.example/campus", bytes(range(32)))
OTHER: Final = SeedSigner("log.example/campus", bytes(range(1, 33)))
RECORDS: Final = 12
HOUR_MS: Final = 3_600_000


def _line(project: str | None, tag: str | None, cost_micros: int) -> dict[str, Any]:
    return {
        "project": project,
        "generation": "nvidia_hopper",
        "tag": tag,
        "lease_class": "standard",
        "kind": "gpu_milli",
        "stage": "held",
        "cause": None,
        "card": "list",
        "card_tenant": None,
        "card_effective_ms": 0,
        "price_micros_per_hour": cost_micros,
        "price_per_mille": 1000,
        "list_micros_per_hour": cost_micros,
        "list_per_mille": 1000,
        "used": str(1000 * HOUR_MS),
        "quantity": "3600",
        "unit": "GPU-Seconds",
        "cost_micros": cost_micros,
        "list_cost_micros": cost_micros,
        "segments": 1,
        "from_ms": 0,
        "to_ms": HOUR_MS,
        "first_seq": 1,
        "last_seq": 2,
    }


def _invoice() -> Any:
    lines = [_line("p", None, 2_500_000), _line("q", "naive-run", 1_250_001)]
    return invoice_of(
        {
            "version": 1,
            "invoice_id": "inv-1970-01-vector",
            "tenant": "lab",
            "scope": "tenant",
            "project": None,
            "from_ms": 0,
            "to_ms": HOUR_MS,
            "currency": "EUR",
            "journal_size": RECORDS,
            "corrects": None,
            "total_micros": 3_750_001,
            "by_project": [
                {"project": "p", "cost_micros": 2_500_000},
                {"project": "q", "cost_micros": 1_250_001},
            ],
            "by_generation": [{"generation": "nvidia_hopper", "cost_micros": 3_750_001}],
            "lines": lines,
        }
    )


def _sealed() -> list[Sealed]:
    chain, who = Chain(), Context("scheduler", "req-7", tenant="lab")
    found = [
        chain.seal(
            RecordKind.LEASE_RENEWED,
            who,
            at_ms=5_000 + seq,
            body={"lease_id": 4, "generation": seq + 2, "expires_ms": 9_000 + seq},
        )
        for seq in range(RECORDS)
    ]
    invoice = _invoice()
    body = {
        "invoice": "inv-1970-01-vector",
        "period_start_ms": 0,
        "period_end_ms": HOUR_MS,
        "journal_size": RECORDS,
        "total_micros": 3_750_001,
        "currency": "EUR",
        "digest": digest_of(invoice),
    }
    found.append(chain.seal(RecordKind.INVOICE_ISSUED, who, at_ms=HOUR_MS + 1, body=body))
    return found


def make_vectors() -> str:
    """All of them, as the text of the file."""
    sealed = _sealed()
    tree = MemoryTree(each.leaf for each in sealed)

    def proof(seq: int, size: int, signer: SeedSigner = SIGNER) -> str:
        path = prove_inclusion(tree, seq, size=size)
        note = sign_checkpoint(Checkpoint(signer.name, size, root_of(tree, size)), signer)
        return RecordProof(sealed[seq].canonical, seq, path.hashes, note).text.decode()

    whole = len(sealed)
    sizes = range(whole + 1)
    invoice = _invoice()
    vectors = {
        "vkey": str(VerifierKey.of(SIGNER)),
        "other_vkey": str(VerifierKey.of(OTHER)),
        "hashes": [each.hash for each in sealed],
        "roots": [_base64(root_of(tree, size)) for size in sizes],
        "proofs": [
            {"seq": seq, "size": size, "file": proof(seq, size)}
            for seq, size in ((0, 1), (0, whole), (5, 7), (7, 8), (11, 12), (12, whole))
        ],
        "by_another_key": proof(5, whole, OTHER),
        "consistency": [
            [
                old,
                new,
                [_base64(each) for each in prove_consistency(tree, old, new_size=new).hashes],
            ]
            for new in sizes
            for old in range(new + 1)
        ],
        "invoice": {
            "body": body_of(invoice),
            "canonical": canonical_bytes(invoice).decode(),
            "digest": digest_of(invoice),
            "seq": RECORDS,
        },
    }
    return json.dumps(vectors, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")

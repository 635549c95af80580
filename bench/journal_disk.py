"""The journal on disk: durable append with group commit, beside one sync per record.

Wall time, because waiting for the disk is the point. Each figure includes everything a writer does:
sealing, writing, syncing, and every 1,000 records tiles, anchor and a signed checkpoint. The three
take turns in rounds, so that a slow moment of a shared machine strikes all of them; the median
round is told. The reference, one record in each commit, differs from them in nothing else.
"""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

from bailiwick.journal import SeedSigner
from bailiwick.store import JournalWriter
from bench.journal import START_MS, Fact, make_facts
from bench.measure import no_collection, say
from bench.report import Section, Table

ROUNDS = 5
RECORDS, RECORDS_QUICK = 20_000, 6_000
RECORDS_EACH_MAX = 1_000
BATCHES = (64, 1_000)
DISK_BAR = 10_000


def _append(journal: JournalWriter, facts: list[Fact], batch: int) -> float:
    """Seconds to make the facts durable, so many in each commit."""
    begin = perf_counter()
    for done, (kind, who, body) in enumerate(facts, 1):
        journal.append(kind, who, at_ms=START_MS + journal.size, body=body)
        if done % batch == 0:
            journal.commit()
    journal.commit()
    return perf_counter() - begin


def measure_disk(*, quick: bool = False, folder: Path | None = None) -> dict[str, float]:
    """Durable records per second: one a commit, and in batches of 64 and 1,000."""
    count = (RECORDS_QUICK if quick else RECORDS) // ROUNDS
    signer = SeedSigner("bench.example/fleet", bytes(range(32)))
    spent: dict[int, list[float]] = {batch: [] for batch in (1, *BATCHES)}
    with tempfile.TemporaryDirectory(dir=folder) as root, no_collection():
        journals = {batch: JournalWriter(Path(root, str(batch)), signer) for batch in spent}
        facts = make_facts((count + RECORDS_EACH_MAX) * ROUNDS * len(spent))
        for _ in range(ROUNDS):
            for batch, journal in journals.items():
                few = list(islice(facts, min(count, RECORDS_EACH_MAX) if batch == 1 else count))
                spent[batch].append(_append(journal, few, batch) / len(few))
        for journal in journals.values():
            journal.close()
    figures = {f"durable_{batch}_per_s": 1 / median(each) for batch, each in spent.items()}
    for batch in BATCHES:
        figures[f"group_{batch}_x"] = figures[f"durable_{batch}_per_s"] / figures["durable_1_per_s"]
    return figures


def run(*, quick: bool = False) -> Section:
    """The section: durable records per second by size of commit."""
    say("journal on disk: appending durably, one and many records a commit")
    figures = measure_disk(quick=quick)
    section = Section("journal_disk", "Journal on disk", data=dict(figures))
    table = Table("durable records per second, wall time", ["records a commit", "per second", "x"])
    for batch in (1, *BATCHES):
        ratio = figures.get(f"group_{batch}_x", 1.0)
        each = figures[f"durable_{batch}_per_s"]
        table.rows.append([f"{batch:,}", f"{each:,.0f}", f"{ratio:.1f}"])
    section.tables.append(table)
    best = figures[f"durable_{BATCHES[-1]}_per_s"]
    section.bar_at_least("durable records in group commits", best, DISK_BAR, unit="/s")
    section.notes.append("a disk that answers a flush from its cache flatters single commits")
    return section

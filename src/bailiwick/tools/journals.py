"""A journal as it was sealed: judge it, read it, prove and check single records.

Rules:

- Nothing of a log is given out before the whole of it was verified. A torn last line (a writer may
  be at it this moment) is warned of, and what comes before it is given out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bailiwick.journal import (
    Anchor,
    Record,
    RecordKind,
    Torn,
    Verified,
    VerifierKey,
    parse_record,
    parse_vkey,
)
from bailiwick.store import (
    JournalDamaged,
    JournalDirectory,
    Proven,
    RecordProof,
    Unproven,
    Verdict,
    describe,
    parse_proof,
    prove_record,
    read_lines,
    verify_directory,
    verify_file,
)
from bailiwick.store import check_proof as check
from bailiwick.tools.errors import NotAsSealed
from bailiwick.tools.record_source import database_lines, database_of
from bailiwick.tools.reporter import SILENT, Reporter
from bailiwick.vocab.errors import InvalidValue, NotFound


def judge(
    target: Path,
    *,
    vkey: str | None = None,
    anchor: Anchor | None = None,
    reporter: Reporter = SILENT,
) -> Verdict:
    """Whether every record is as it was sealed; for a directory under its key, or this one."""
    where = database_of(target)
    if where is not None and vkey is None:
        return verify_file(database_lines(where), anchor)
    if where is not None or target.is_file():
        if vkey is not None:
            raise InvalidValue(
                "JOURNAL", str(target), "a directory, whose checkpoint --vkey checks"
            )
        with reporter.lines(target) as lines:
            return verify_file(lines, anchor)
    places = JournalDirectory(target)
    if not places.journal.exists() and not places.checkpoint.exists():
        raise NotFound("journal.jsonl or bailiwick.db in", str(target))
    key = None if vkey is None else parse_vkey(vkey)
    with reporter.lines(places.journal) as lines:
        return verify_directory(places, lines, key=key, anchor=anchor)


def verified_records(
    target: Path, *, after: int = -1, reporter: Reporter = SILENT
) -> Iterator[Record]:
    """The records after a number, once the whole log was found good."""
    verdict = judge(target, reporter=reporter)
    if isinstance(verdict, Verified):
        end = verdict.anchor.size
    elif isinstance(verdict, Torn):
        reporter.warn(f"{target}: {describe(verdict)}")
        end = verdict.seq
    else:
        raise NotAsSealed(target, describe(verdict))
    path = target if target.is_file() else target / "journal.jsonl"
    where = database_of(target)
    for seq, line in enumerate(read_lines(path) if where is None else database_lines(where)):
        if seq >= end:
            return
        if seq > after:
            yield parse_record(line[:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records somebody looks for; what is not told does not matter."""

    tenant: str | None = None
    kind: str | None = None
    reason: str | None = None
    """The reason, or its detail."""
    lease: int | None = None
    correlation_id: str | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in tuple(RecordKind):
            raise InvalidValue("kind", self.kind, "one of " + ", ".join(RecordKind))

    def has(self, record: Record) -> bool:
        """Whether the record is one of them."""
        body = record.body
        leases = body.get("lease_ids", ())
        return (
            (self.tenant is None or record.tenant == self.tenant)
            and (self.kind is None or record.kind == self.kind)
            and (self.reason is None or self.reason in (body.get("reason"), body.get("detail")))
            and (
                self.lease is None
                or body.get("lease_id") == self.lease
                or (isinstance(leases, tuple) and self.lease in leases)
            )
            and (self.correlation_id is None or record.correlation_id == self.correlation_id)
        )


def last_records(
    target: Path, wanted: Wanted, *, limit: int, reporter: Reporter = SILENT
) -> tuple[list[Record], int]:
    """The last ones that are wanted, oldest first, and how many there are in all."""
    matching = 0
    kept: deque[Record] = deque(maxlen=limit)
    for record in verified_records(target, reporter=reporter):
        if wanted.has(record):
            matching += 1
            kept.append(record)
    return [*kept], matching


def prove(directory: Path, seq: int, *, vkey: str | None = None) -> tuple[RecordProof, Proven]:
    """A proof that one record is in the log, checked before it is given out."""
    key = _key_of(directory, vkey)
    try:
        proof = prove_record(JournalDirectory(directory), seq, key=key)
    except JournalDamaged as damaged:
        raise NotAsSealed(directory, describe(damaged.finding)) from damaged
    checked = check(proof, key)
    if isinstance(checked, Unproven):
        raise NotAsSealed(directory, f"the tiles no longer prove record {seq}: {checked.word}")
    return proof, checked


def _key_of(directory: Path, vkey: str | None) -> VerifierKey:
    own = directory / "vkey"
    if vkey is None and not own.exists():
        raise NotFound("vkey in", str(directory), hint="name the key with --vkey")
    return parse_vkey(own.read_text("utf-8").strip() if vkey is None else vkey)


def check_proof(file: Path, vkey: str) -> tuple[Proven, VerifierKey]:
    """What a proof proves, under a key that one trusts."""
    key = parse_vkey(vkey)
    try:
        proof = parse_proof(file.read_bytes())
    except InvalidValue as error:
        raise NotAsSealed(file, f"proves nothing: {error}") from error
    found = check(proof, key)
    if isinstance(found, Unproven):
        raise NotAsSealed(file, f"does not prove record {found.index}: {found.word}")
    return found, key

"""A journal wherever it lies, and which moment of it a person means.

Rules:

- A journal is a file of JSON Lines, a directory of one, a data directory, or a database's address.
  Nothing of it is given out before it was verified; one that does not verify is ``NotAsSealed``.
- A moment is epoch milliseconds, ISO 8601 (without a zone: UTC), ``seq:N`` (after record N),
  ``end`` or ``now`` (the journal's end), or so long before that: ``-2h``, ``-15m``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bailiwick.tools.errors import NotAsSealed
from bailiwick.tools.reporter import SILENT, Reporter
from bailiwick.vocab.errors import BailiwickError, Damaged, InvalidValue, InvariantBroken, NotFound

if TYPE_CHECKING:
    from bailiwick.journal import Record
    from bailiwick.kernel import Kernel
    from bailiwick.metering.records import FoldedRecord
    from bailiwick.ports import JournalStore

MOMENTS = "epoch milliseconds, ISO 8601, seq:N, end, or -2h before the end"
_BEFORE = re.compile(r"-([0-9]{1,9})(ms|s|m|h|d)")
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class UpTo:
    """Up to where records count: those of at most this time, and before this number."""

    at_ms: int | None = None
    size: int | None = None

    def has(self, record: Record) -> bool:
        """Whether the record had been made by then."""
        if self.size is not None:
            return record.seq < self.size
        return self.at_ms is None or record.at_ms <= self.at_ms


@dataclass(frozen=True, slots=True)
class OpenedJournal:
    """A journal that was found and opened: its name, its length, its end, and its records."""

    name: str
    size: int
    end_ms: int
    records: Callable[[], Iterator[Record]]
    of_kinds: Callable[[Collection[str]], Iterator[Record]]
    """Only records of these kinds; in a file the others are not even parsed."""
    plain: Callable[[], Iterator[FoldedRecord]]
    """All of them, for who reads only what the meter does: in a file they are not parsed twice."""
    reporter: Reporter = SILENT
    """Who is told how far the reading is."""


class PlainRecord:
    """What the meter reads of a record, out of a line that was verified before."""

    __slots__ = ("at_ms", "body", "kind", "project", "seq", "tenant")

    def __init__(self, values: dict[str, Any]) -> None:
        self.seq: int = values["seq"]
        self.at_ms: int = values["at_ms"]
        self.kind: str = values["kind"]
        self.tenant: str | None = values["tenant"]
        self.project: str | None = values["project"]
        self.body: dict[str, Any] = values["body"]

    @property
    def moves_shares(self) -> bool:
        """Whether it moves a share of a device to another owner."""
        from bailiwick.journal import RecordKind

        return RecordKind(self.kind).moves_shares


def parse_moment(text: str, source: OpenedJournal) -> UpTo:
    """The moment that a person means by this text, in this journal."""
    if text in ("end", "now"):
        return UpTo()
    if text.startswith("seq:") and text[4:].isdecimal():
        number = int(text[4:])
        if number >= source.size:
            raise InvalidValue("TIME", text, f"a record's number, 0 to {source.size - 1}")
        return UpTo(size=number + 1)
    found = _BEFORE.fullmatch(text)
    if found is not None:
        return UpTo(at_ms=source.end_ms - int(found[1]) * _UNITS[found[2]])
    return UpTo(at_ms=parse_clock(text))


def parse_clock(text: str) -> int:
    """The milliseconds that are meant by a time or by their number."""
    from datetime import UTC, datetime, timedelta

    if text.isdecimal() and len(text) <= 16:
        return int(text)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue("TIME", text, MOMENTS) from None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def database_of(target: str | Path) -> str | None:
    """Where the database is, if the target is a data directory or a database's address."""
    text = str(target)
    if text.startswith("postgresql:/"):  # a path keeps only one slash of the two
        return "postgresql://" + text.removeprefix("postgresql:").lstrip("/")
    path = Path(text)
    return text if (path / "bailiwick.db").exists() or path.name == "bailiwick.db" else None


def database_lines(where: str) -> Iterator[bytes]:
    """Every line of a database's journal, in order; nothing is verified yet."""
    from bailiwick.store import open_store

    with open_store(where, read_only=True) as store:
        at, size = 0, store.size()
        while at < size:  # bounded: the size was read once, and every round reads on
            lines = store.read(at, min(_BATCH, size - at))
            yield from lines
            at += len(lines)


@contextmanager
def open_source(target: str, reporter: Reporter = SILENT) -> Iterator[OpenedJournal]:
    """The journal at a path or address, verified as it is read."""
    path = Path(target)
    try:
        if "://" in target or database_of(target) is not None:
            from bailiwick.store import open_store

            with open_store(target, read_only=True) as store:
                yield _of_store(store, target, reporter)
        elif path.is_file() or (path / "journal.jsonl").exists():
            yield _of_files(path, reporter)
        else:
            raise NotFound("journal", target, hint="a file, its directory, or a data directory")
    except Damaged as error:
        raise NotAsSealed(target, str(error)) from error
    except ModuleNotFoundError as error:
        hint = f"the package {error.name} that databases need: pip install 'bailiwick[server]'"
        raise InvalidValue("JOURNAL", target, hint) from error


def _of_store(store: JournalStore, target: str, reporter: Reporter) -> OpenedJournal:
    from bailiwick.journal import parse_record

    size = store.size()
    last = store.read(size - 1, 1) if size else []
    end_ms = parse_record(last[0][:-1]).at_ms if last else 0

    def records() -> Iterator[Record]:
        from bailiwick.journal import GENESIS
        from bailiwick.runtime.rebuild import verified

        anchor = GENESIS
        while anchor.size < size:  # bounded: the size was read once, and every round reads on
            lines = store.read(anchor.size, min(_BATCH, size - anchor.size))
            found, anchor = verified(lines, anchor)
            yield from found

    def of_kinds(kinds: Collection[str]) -> Iterator[Record]:
        return (record for record in records() if record.kind in kinds)

    name = target.rpartition("@")[2]
    return OpenedJournal(name, size, end_ms, records, of_kinds, records, reporter)


def _of_files(path: Path, reporter: Reporter) -> OpenedJournal:
    import json
    from itertools import islice

    from bailiwick.journal import Torn, Verified, parse_record
    from bailiwick.store import (
        JournalDirectory,
        describe,
        read_lines,
        verify_directory,
        verify_file,
    )

    file = path if path.is_file() else path / "journal.jsonl"
    with reporter.lines(file) as lines:
        verdict = (
            verify_file(lines)
            if path.is_file()
            else verify_directory(JournalDirectory(path), lines)
        )
    if isinstance(verdict, Torn):
        reporter.warn(f"{path}: {describe(verdict)}")
        size = verdict.seq
    elif isinstance(verdict, Verified):
        size = verdict.anchor.size
    else:
        raise NotAsSealed(path, describe(verdict))

    def sealed() -> Iterator[bytes]:
        return islice(read_lines(file), size)

    def records() -> Iterator[Record]:
        return (parse_record(line[:-1]) for line in sealed())

    def of_kinds(kinds: Collection[str]) -> Iterator[Record]:
        # In canonical bytes a kind has one spelling; a body that has the same is seen as such.
        marks = [f'"kind":"{kind}"'.encode() for kind in kinds]
        for line in sealed():
            if any(mark in line for mark in marks):
                record = parse_record(line[:-1])
                if record.kind in kinds:
                    yield record

    def plain() -> Iterator[FoldedRecord]:
        # Each line was found to be a record when the file was verified.
        return (PlainRecord(json.loads(line)) for line in sealed())

    end_ms = verdict.anchor.at_ms if isinstance(verdict, Verified) else 0
    if isinstance(verdict, Torn):
        for record in records():
            end_ms = record.at_ms
    return OpenedJournal(str(path), size, end_ms, records, of_kinds, plain, reporter)


def follow(kernel: Kernel, record: Record) -> None:
    """One more record for the kernel; one that it cannot have made is a mistake of use."""
    try:
        kernel.replay((record,), check_digests=True)
    except (InvariantBroken, KeyError, TypeError, ValueError) as error:
        known = isinstance(error, BailiwickError)
        why = str(error) if known else f"{type(error).__name__} {error}"
        told = f"record {record.seq} ({record.kind})"
        raise InvalidValue("JOURNAL", told, f"a journal of the kernel ({why})") from error

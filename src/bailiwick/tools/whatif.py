"""The history of a journal between two moments, and the state that it begins with."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel import Kernel, State, decode, encode
from bailiwick.tools.record_source import OpenedJournal, UpTo, follow, parse_moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.whatif.history import JournalHistory
from bailiwick.whatif.reader import HistoryReader


def read_history(
    source: OpenedJournal, period: tuple[str | None, str | None], *, tick_ms: int | None
) -> tuple[JournalHistory, Callable[[], State]]:
    """The history between two moments, and how to make the state that it begins with."""
    begin, end = period
    first = None if begin is None else _before(begin, source)
    last = UpTo() if end is None else parse_moment(end, source)
    reader, kernel, size, end_ms, repaired = HistoryReader(), Kernel(), 0, 0, -1
    with source.reporter.progress("reading", source.size) as step:
        for record in source.records():
            if not last.has(record):
                break
            reader.take(record)
            if record.kind is RecordKind.CLOCK_REPAIRED and record.at_ms < end_ms:
                repaired = record.seq
            size, end_ms = record.seq + 1, record.at_ms
            if first is not None and first.has(record):
                follow(kernel, record)
            if record.seq % 1_000 == 0:
                step(record.seq)
    state = kernel.state
    if state.size >= size:
        raise InvalidValue("--from", begin, "a time with records between it and --to")
    if repaired >= state.size:  # what comes after did not happen after what came before
        where = f"seq:{repaired + 1} or later: the clock was set back by record {repaired}"
        raise InvalidValue("--from", begin, where)
    start_ms = None if first is None or first.at_ms is None else first.at_ms + 1
    if last.at_ms is not None:
        end_ms = min(max(last.at_ms, end_ms), source.end_ms)
    history = reader.history(state.size, start_ms=start_ms, end_ms=end_ms, spacing_ms=tick_ms)
    if not state.size:
        return history, State
    data = encode(state)
    return history, lambda: decode(data, sha256(data).hexdigest())


def _before(text: str, source: OpenedJournal) -> UpTo:
    """Up to where records come before the time that is looked at."""
    found = parse_moment(text, source)
    if found.size is not None:
        return UpTo(size=found.size - 1)
    if found.at_ms is None:
        raise InvalidValue("--from", text, "a moment before the journal's end")
    return UpTo(at_ms=found.at_ms - 1)

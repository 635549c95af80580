"""GPU time from a file of events, and a journal against what somebody else counted.

Rules:

- It needs no server and changes nothing: what is found is told, not sealed.
- Counters are JSON Lines, or a folder of a cluster's saved books.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from bailiwick.clusters.accounting import ACCOUNTINGS, Question
from bailiwick.metering.counters import LINE_BYTES_MAX as COUNTER_BYTES_MAX
from bailiwick.metering.counters import Counter, merge_counters, parse_counter
from bailiwick.metering.event_fold import EventMeter
from bailiwick.metering.event_log import EventLog
from bailiwick.metering.events import LINE_BYTES_MAX, parse_line
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import Meter
from bailiwick.metering.owners import Leased
from bailiwick.metering.reconcile import Attributed, UsageFinding, attribute, check_usage
from bailiwick.metering.report import Report
from bailiwick.metering.values import Segment
from bailiwick.tools.record_source import OpenedJournal, open_source
from bailiwick.tools.reporter import SILENT, Reporter
from bailiwick.vocab.errors import InvalidValue

LINES_MAX: Final = 1_000_000
_EVENTS_TOLD: Final = 10_000


def meter_events(path: Path, tell: Callable[[str], None]) -> tuple[Report, int]:
    """The report on a file of events (- for standard input), and how many lines were repeats."""
    log, meter = EventLog(), EventMeter()
    for number, line in enumerate(_event_lines(path), 1):
        log.add(parse_line(line, line=number))
        if number % _EVENTS_TOLD == 0:
            tell(f"read {number:,} events")
    tell("metering")
    for sent in log.story():
        meter.add(sent.at_ms, sent.event, line=sent.line)
    return meter.report(findings=log.findings), log.repeated


def _event_lines(path: Path) -> Iterator[bytes]:
    if str(path) == "-":
        yield from _read(sys.stdin.buffer, LINE_BYTES_MAX)
        return
    try:
        with path.open("rb") as file:
            yield from _read(file, LINE_BYTES_MAX)
    except OSError as error:
        expected = f"a file of events ({error.strerror})"
        raise InvalidValue("FILE", str(path), expected) from None


def _read(file: IO[bytes], most: int) -> Iterator[bytes]:
    while line := file.readline(most + 2):  # a longer line comes in parts, and the first is refused
        yield line.rstrip(b"\r\n")


class Reconciled(NamedTuple):
    """What does not agree, of how many counters and leases."""

    findings: list[UsageFinding]
    counted: int
    compared: int


def reconcile(journal: str, counters: Path, *, reporter: Reporter = SILENT) -> Reconciled:
    """Compare what a journal attributes to leases with what somebody else counted."""
    told = load_counters(counters)
    with open_source(journal, reporter) as source:
        held = fold_leases(source, told.values())
    found = [
        finding
        for (lease_id, _), counter in sorted(told.items())
        for finding in check_usage(held.get(lease_id), counter)
    ]
    return Reconciled(found, len(told), sum(lease_id in held for lease_id, _ in told))


def load_counters(path: Path) -> dict[tuple[int, str], Counter]:
    """All counters there are, one for each lease and node."""
    found: dict[tuple[int, str], Counter] = {}
    for counter in _books(path) if path.is_dir() else _lines(path):
        key = (counter.lease_id, counter.node)
        known = found.get(key)
        found[key] = counter if known is None else merge_counters(known, counter)
    return found


def _books(path: Path) -> Iterable[Counter]:
    # Saved answers do not say whose they are: the first row's, who alone can be asked for counters.
    return ACCOUNTINGS[0].counters(Question(files=path), lambda _: None)


def _lines(path: Path) -> Iterator[Counter]:
    try:
        file = path.open("rb")
    except OSError as error:
        expected = f"a file of counters ({error.strerror})"
        raise InvalidValue("--counters", str(path), expected) from None
    with file:
        for number in range(1, LINES_MAX + 2):
            line = file.readline(COUNTER_BYTES_MAX + 2)
            if not line:
                return
            yield parse_counter(line.rstrip(b"\r\n"), where=f"line {number}")
    raise InvalidValue("--counters", str(path), f"at most {LINES_MAX} lines")


def fold_leases(source: OpenedJournal, counters: Iterable[Counter]) -> dict[int, Attributed]:
    """What the journal attributes to the leases that were counted."""
    counters = list(counters)
    wanted = {each.lease_id for each in counters}
    charged: list[Segment] = []
    with source.reporter.progress("metering", source.size) as step:
        meter = JournalMeter(Meter(logs=True))
        for record in source.records():
            meter.add(record)
            charged += (
                segment
                for segment in meter.meter.drain()
                if isinstance(segment.owner, Leased) and segment.owner.lease_id in wanted
            )
            step(record.seq)
    last_ms = max((each.at_ms for each in counters), default=0)
    rows = meter.meter.running(max(last_ms, meter.clock_ms) + 1)
    return attribute(charged, [meter.meter.segment(row) for row in rows])

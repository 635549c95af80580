"""The command ``bailiwick meter reconcile``: a journal against what somebody else counted.

Rules:

- It needs no server and changes nothing: what it finds is printed, not sealed.
- Counters are JSON Lines, or a folder of a cluster's saved books (``bailiwick meter ... --save``).
- Ends with 3 if the two do not agree, and names each lease with its numbers; with 2 and its line on
  a mistake in the input.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.output import Format, emit, spell_yaml
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.metering.counters import Counter
    from bailiwick.metering.reconcile import Attributed, UsageFinding

LINES_MAX = 1_000_000


class Shown(StrEnum):
    """How findings are printed."""

    TABLE = Format.TABLE.value
    JSON = Format.JSON.value
    YAML = Format.YAML.value


def reconcile(
    *,
    journal: Annotated[
        str,
        typer.Option(
            "--journal", metavar="PATH", help="A journal's file or directory, or a database."
        ),
    ],
    counters: Annotated[
        Path,
        typer.Option(
            "--counters", metavar="PATH", help="Counters, one a line; or a folder of saved books."
        ),
    ],
    output: Annotated[
        Shown, typer.Option("--output", "-o", help="A table for people, JSON or YAML.")
    ] = Shown.TABLE,
) -> None:
    """Compare what a journal attributes to leases with what somebody else counted.

    Ends with 3 if they do not agree beyond the tolerance.
    """
    from bailiwick.metering.reconcile import check_usage

    told = load_counters(counters)
    held = fold_leases(journal, told.values())
    found = [
        finding
        for (lease_id, _), counter in sorted(told.items())
        for finding in check_usage(held.get(lease_id), counter)
    ]
    compared = sum(lease_id in held for lease_id, _ in told)
    _print(found, counted=len(told), compared=compared, output=output)
    if found:
        raise typer.Exit(ExitCode.DENIED)


def load_counters(path: Path) -> dict[tuple[int, str], Counter]:
    """All counters there are, one for each lease and node."""
    from bailiwick.metering.counters import merge_counters

    found: dict[tuple[int, str], Counter] = {}
    for counter in _books(path) if path.is_dir() else _lines(path):
        key = (counter.lease_id, counter.node)
        known = found.get(key)
        found[key] = counter if known is None else merge_counters(known, counter)
    return found


def _books(path: Path) -> Iterable[Counter]:
    from bailiwick.clusters.accounting import ACCOUNTINGS, Question

    # Saved answers do not say whose they are: the first row's, who alone can be asked for counters.
    return ACCOUNTINGS[0].counters(Question(files=path), lambda _: None)


def _lines(path: Path) -> Iterator[Counter]:
    from bailiwick.metering.counters import LINE_BYTES_MAX, parse_counter

    try:
        file = path.open("rb")
    except OSError as error:
        expected = f"a file of counters ({error.strerror})"
        raise InvalidValue("--counters", str(path), expected) from None
    with file:
        for number in range(1, LINES_MAX + 2):
            line = file.readline(LINE_BYTES_MAX + 2)
            if not line:
                return
            yield parse_counter(line.rstrip(b"\r\n"), where=f"line {number}")
    raise InvalidValue("--counters", str(path), f"at most {LINES_MAX} lines")


def fold_leases(journal: str, counters: Iterable[Counter]) -> dict[int, Attributed]:
    """What the journal attributes to the leases that were counted."""
    from bailiwick.cli.offline.record_source import open_source, progress
    from bailiwick.metering.fold import JournalMeter
    from bailiwick.metering.meter import Meter
    from bailiwick.metering.owners import Leased
    from bailiwick.metering.reconcile import attribute
    from bailiwick.metering.values import Segment

    counters = list(counters)
    wanted = {each.lease_id for each in counters}
    charged: list[Segment] = []
    with open_source(journal) as source, progress("metering", source.size) as tell:
        meter = JournalMeter(Meter(logs=True))
        for record in source.records():
            meter.add(record)
            charged += (
                segment
                for segment in meter.meter.drain()
                if isinstance(segment.owner, Leased) and segment.owner.lease_id in wanted
            )
            tell(record.seq)
    last_ms = max((each.at_ms for each in counters), default=0)
    rows = meter.meter.running(max(last_ms, meter.clock_ms) + 1)
    return attribute(charged, [meter.meter.segment(row) for row in rows])


def _print(found: list[UsageFinding], *, counted: int, compared: int, output: Shown) -> None:
    if output is Shown.TABLE:
        _draw(found, counted=counted, compared=compared)
        return
    document = {
        "counters": counted,
        "compared": compared,
        "findings": [_plain(each) for each in found],
    }
    if output is Shown.JSON:
        emit(json.dumps(document, indent=2))
    else:
        emit(spell_yaml(document))


def _plain(finding: UsageFinding) -> dict[str, Any]:
    from bailiwick.metering.reconcile import QuotaEvasion
    from bailiwick.metering.usage_words import spell_finding

    if isinstance(finding, QuotaEvasion):
        device, attributed = finding.device, finding.granted
    else:
        device, attributed = None, finding.attributed
    return {
        "finding": finding.word.value,
        "what": finding.what.value,
        "lease_id": finding.counter.lease_id,
        "node": finding.counter.node,
        "device": device,
        "counted": finding.counted,
        "attributed": attributed,
        "allowed": finding.allowed,
        "note": spell_finding(finding),
    }


def _draw(found: list[UsageFinding], *, counted: int, compared: int) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows
    from bailiwick.metering.usage_words import spell_finding

    if found:
        rows = [(each.word.value, each.what.value, spell_finding(each)) for each in found]
        print_rows(make_console(), ("finding", "what", "numbers*"), rows=rows)
    emit(f"{counted} counters, {compared} leases compared, {len(found)} findings")

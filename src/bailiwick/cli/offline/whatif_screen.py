"""How a what-if is told: three columns, the difference, who is hit, and what was assumed.

Rules:

- A difference is the changed replay less the control. What is zero in all columns is left out.
- Money and GPU time are sums of integers; they are rounded where they are printed, and only there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bailiwick.cli.shared.screen import owner, print_rows, words
from bailiwick.phrases.amounts import money, span
from bailiwick.phrases.requests import asks
from bailiwick.phrases.times import told_time

if TYPE_CHECKING:
    from rich.console import Console

    from bailiwick.whatif.changes import Change
    from bailiwick.whatif.compare import Fidelity, Moved, WhatIfReport
    from bailiwick.whatif.tally import Tally, TenantTally

MOVED_MAX = 10
TENANTS_MAX = 10
_GPU_HOUR = 1_000 * 3_600_000
_DAY_MS = 86_400_000
_ALWAYS = ("requests admitted", "requests refused", "requests that waited", "leases evicted")


@dataclasses.dataclass(frozen=True, slots=True)
class WhatIfWish:
    """What a person asked for: the journal, the changes as typed, and a price in millionths."""

    journal: str
    changes: tuple[str, ...]
    price_micros: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class ScreenLine:
    """One number of each column, and how it is written."""

    name: str
    values: tuple[int, int, int]
    write: Callable[[int], str] = "{:,}".format

    @property
    def difference(self) -> str:
        """By how much the change is apart from the control."""
        by = self.values[2] - self.values[1]
        return "·" if not by else f"+{self.write(by)}" if by > 0 else self.write(by)


def lines(report: WhatIfReport, price_micros: int | None) -> Iterator[ScreenLine]:
    """Every number that is not zero throughout, and the four that everybody looks for."""
    for line in _all_lines(report, price_micros):
        if any(line.values) or line.name in _ALWAYS:
            yield line


def _all_lines(report: WhatIfReport, price_micros: int | None) -> Iterator[ScreenLine]:
    tallies = report.journal, report.control.tally, report.changed.tally

    def row(
        name: str, of: Callable[[Tally], int], *, write: Callable[[int], str] | None = None
    ) -> ScreenLine:
        one, two, three = (of(tally) for tally in tallies)
        return ScreenLine(name, (one, two, three), write or "{:,}".format)

    def by_word(name: str, of: Callable[[Tally], Any]) -> Iterator[ScreenLine]:
        yield row(name, lambda t: sum(of(t).values()))
        for word in sorted({word for tally in tallies for word in of(tally)}):
            yield row(f"  {word}", lambda t, w=word: of(t).get(w, 0))  # type: ignore[misc]

    yield row("requests admitted", lambda t: t.admitted)
    yield from by_word("requests refused", lambda t: t.refused)
    yield from by_word("requests cancelled", lambda t: t.cancelled)
    yield row("requests that waited", lambda t: t.waits.count)
    yield row("  mean wait", lambda t: t.waits.mean_ms, write=span)
    yield row("  half waited at most", lambda t: t.waits.p50_ms, write=span)
    yield row("  95 % waited at most", lambda t: t.waits.p95_ms, write=span)
    yield row("  longest wait", lambda t: t.waits.max_ms, write=span)
    yield row("  still waiting at the end", lambda t: t.waiting)
    yield from by_word("leases evicted", lambda t: t.evicted)
    yield row("leases expired", lambda t: t.expired)
    yield row("leases lost with a node", lambda t: t.lost)
    yield row("leases fenced", lambda t: t.fenced)
    yield row("GPU capacity leased", lambda t: t.gpu_permille, write=permille)
    yield row("CPU capacity leased", lambda t: t.cpu_permille, write=permille)
    yield row("GPU-hours", lambda t: t.gpu_milli_ms, write=gpu_hours)
    if price_micros is not None:
        yield row(
            f"cost at {money(price_micros)} a GPU-hour",
            lambda t: sum(each.cost_micros(price_micros) for each in t.tenants.values()),
            write=money,
        )


def permille(value: int) -> str:
    """Thousandths as percent.

    >>> permille(875), permille(-3)
    ('87.5 %', '-0.3 %')
    """
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 10}.{abs(value) % 10} %"


def gpu_hours(gpu_milli_ms: int) -> str:
    """GPU time in hours with two decimals, rounded half up."""
    return money((abs(gpu_milli_ms) * 10**6 // _GPU_HOUR) * (-1 if gpu_milli_ms < 0 else 1))


# -- on a screen -------------------------------------------------------------------------------


def show(console: Console, report: WhatIfReport, *, asked: WhatIfWish) -> None:
    """Print the whole comparison."""
    from bailiwick.whatif.compare import ASSUMPTIONS

    _show_head(console, report, asked)
    rows = [
        (line.name, *(line.write(v) for v in line.values), line.difference)
        for line in lines(report, asked.price_micros)
    ]
    headings = ("", "journal", "control", "changed", "difference")
    console.print()
    print_rows(console, headings, rows=rows, numbers=headings[1:])
    if report.same:
        console.print("\nThe change makes no difference: every decision is the same.")
    else:
        _show_tenants(console, report, asked)
        _show_moved(console, report)
    console.print("\n[bold]Assumed[/bold]")
    for sentence in ASSUMPTIONS:
        _bullet(console, sentence)


def _bullet(console: Console, text: str) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_row("·", Text(text))
    console.print(Padding(grid, (0, 0, 0, 1)))


def _show_head(console: Console, report: WhatIfReport, asked: WhatIfWish) -> None:
    from rich.markup import escape

    history = report.history
    start, end = told_time(history.start_ms)[:19], told_time(history.end_ms)[:19]
    last = history.happened[-1].seq
    console.print(f"[bold]What if[/bold]  {escape(', '.join(asked.changes))}")
    lasted = span(history.end_ms - history.start_ms)
    console.print(
        f"[bold]Journal[/bold]  {escape(asked.journal)}, records {history.first:,} to {last:,}"
    )
    console.print(f"         {start} to {end} UTC ({lasted})")
    colour = "green" if report.fidelity.exact else "yellow"
    for number, sentence in enumerate(verdict(report.fidelity)):
        head = "[bold]Control[/bold]  " if not number else "         "
        console.print(f"{head}[{colour}]{sentence}[/{colour}]")
    for change in report.idle:
        name = asked.changes[report_index(report, change)]
        console.print(f"[bold]Note[/bold]     {escape(name)} changes nothing: it was so already")


def report_index(report: WhatIfReport, change: Change) -> int:
    """Which of the changes, in the order they were typed, this is."""
    return report.changes.index(change)


def verdict(fidelity: Fidelity) -> list[str]:
    """Whether the control is the journal over again and, if not, why that may be."""
    if fidelity.exact:
        return [f"replays the journal exactly: all {fidelity.records:,} records are the same"]
    share = f"{fidelity.differing:,} of {fidelity.records:,} records"
    told = [f"does not replay the journal exactly: {share} come out otherwise,"]
    told.append(f"the first is record {fidelity.first_seq:,}. Known to cause that:")
    if not fidelity.regular:
        told.append("- ticks came at irregular times, and those without an effect left no record")
    if fidelity.leaders > 1:
        told.append(f"- the leader changed {fidelity.leaders - 1} times; no tick in between")
    if fidelity.skipped:
        told.append(f"- commands that the replay had to refuse: {words(dict(fidelity.skipped))}")
    if len(told) == 2:
        told.append("- nothing in this journal; holders may have acted on what they saw")
    return told


def _show_tenants(console: Console, report: WhatIfReport, asked: WhatIfWish) -> None:
    rows = []
    before, after = report.control.tally.tenants, report.changed.tally.tenants
    hit = affected(report)
    for name in hit[:TENANTS_MAX]:
        one, two = _of(before, name), _of(after, name)
        cells = [
            _pair(one.admitted, two.admitted, str),
            _pair(one.waits.mean_ms, two.waits.mean_ms, span),
            _pair(one.evicted, two.evicted, str),
            _pair(one.gpu_milli_ms, two.gpu_milli_ms, gpu_hours),
        ]
        if asked.price_micros is not None:
            price = asked.price_micros
            by = two.cost_micros(price) - one.cost_micros(price)
            cells.append(f"+{money(by)}" if by > 0 else money(by))
        rows.append((name, *cells))
    spared = len({*before, *after}) - len(hit)
    numbers = ["admitted", "mean wait", "evicted", "GPU-hours"]
    if asked.price_micros is not None:
        numbers.append("cost by")
    rest = f"; {spared} not affected" if spared else ""
    print_rows(
        console,
        ("tenant", *numbers),
        rows=rows,
        title=f"Tenants, most affected first ({len(hit)}{rest})",
        numbers=numbers,
    )


def _of(tenants: Any, name: str) -> TenantTally:
    from bailiwick.whatif.tally import TenantTally

    found: TenantTally = tenants.get(name) or TenantTally()
    return found


def affected(report: WhatIfReport) -> list[str]:
    """The tenants that fare otherwise: by GPU time, then by waiting."""
    before, after = report.control.tally.tenants, report.changed.tally.tenants
    sizes = {}
    for name in sorted({*before, *after}):
        one, two = _of(before, name), _of(after, name)
        if one != two:
            waits = abs(two.waits.total_ms - one.waits.total_ms)
            sizes[name] = -abs(two.gpu_milli_ms - one.gpu_milli_ms), -waits
    return sorted(sizes, key=lambda name: (sizes[name], name))


def _pair(before: int, after: int, write: Callable[[int], str]) -> str:
    return write(after) if before == after else f"{write(before)} → {write(after)}"


def _show_moved(console: Console, report: WhatIfReport) -> None:
    rows = []
    one_day = report.history.end_ms - report.history.start_ms <= _DAY_MS
    cut = slice(11, 19) if one_day else slice(5, 16)
    for move in report.moved[:MOVED_MAX]:
        work = report.history.works[move.work]
        who = owner(work.request.tenant, work.request.project)
        starts = move.control.started_ms, move.changed.started_ms
        times = (_when(at_ms, cut) for at_ms in (work.at_ms, *starts))
        rows.append((f"{work.seq:,}", who, asks(work.request), sentence(move), *times))
    if not rows:
        return
    shown = f", the first {len(rows)}" if len(rows) < len(report.moved) else ""
    print_rows(
        console,
        ("record", "owner*", "asks*", "with the change*", "asked", "control", "changed"),
        rows=rows,
        title=f"Requests that fare otherwise: {len(report.moved):,}{shown}",
        numbers=("record",),
    )


def sentence(move: Moved) -> str:
    """How a request fares with the change."""
    from bailiwick.whatif.compare import MoveWord

    before, after = move.control, move.changed
    match move.word:
        case MoveWord.NEVER_STARTS:
            return f"never ({after.word})"
        case MoveWord.EVICTED:
            return f"evicted ({after.ended_word})"
        case MoveWord.STILL_WAITS:
            return "still waits"
        case MoveWord.LATER:
            return f"{span(move.delta_ms)} later"
        case MoveWord.STARTS:
            return f"starts, was {before.word or before.fate}"
        case MoveWord.SPARED:
            return f"spared {before.ended_word}"
        case MoveWord.EARLIER:
            return f"{span(-move.delta_ms)} earlier"


def _when(at_ms: int | None, cut: slice) -> str:
    return "-" if at_ms is None else told_time(at_ms)[cut]


# -- as data -----------------------------------------------------------------------------------


def tell(report: WhatIfReport, asked: WhatIfWish) -> dict[str, Any]:
    """The comparison as plain values."""
    from bailiwick.whatif.compare import ASSUMPTIONS

    history, fidelity = report.history, report.fidelity
    columns = report.journal, report.control.tally, report.changed.tally
    names = ("journal", "control", "changed")
    return {
        "changes": list(asked.changes),
        "changes_without_effect": [asked.changes[report_index(report, c)] for c in report.idle],
        "journal_name": asked.journal,
        "first_seq": history.first,
        "start_ms": history.start_ms,
        "end_ms": history.end_ms,
        "price_micros_per_gpu_hour": asked.price_micros,
        "control": {
            "exact": fidelity.exact,
            "records": fidelity.records,
            "differing": fidelity.differing,
            "first_differing_seq": fidelity.first_seq,
            "leaders": fidelity.leaders,
            "ticks_regular": fidelity.regular,
            "skipped": dict(fidelity.skipped),
        },
        "skipped_by_change": report.changed.skipped,
        "same_decisions": report.same,
        "columns": {
            name: _column(tally, asked.price_micros)
            for name, tally in zip(names, columns, strict=True)
        },
        "tenants_affected": affected(report),
        "requests_changed_total": len(report.moved),
        "requests_changed": [_moved(report, move) for move in report.moved[:MOVED_MAX]],
        "assumptions": list(ASSUMPTIONS),
    }


def _column(tally: Tally, price_micros: int | None) -> dict[str, Any]:
    waits = tally.waits
    return {
        "admitted": tally.admitted,
        "refused": dict(tally.refused),
        "cancelled": dict(tally.cancelled),
        "waited": {
            "count": waits.count,
            "mean_ms": waits.mean_ms,
            "p50_ms": waits.p50_ms,
            "p95_ms": waits.p95_ms,
            "max_ms": waits.max_ms,
            "still_waiting": tally.waiting,
        },
        "evicted": dict(tally.evicted),
        "expired": tally.expired,
        "released": tally.released,
        "lost": tally.lost,
        "fenced": tally.fenced,
        "gpu_milli_ms": tally.gpu_milli_ms,
        "gpu_present_milli_ms": tally.gpu_present_milli_ms,
        "cpu_milli_ms": tally.cpu_milli_ms,
        "cpu_present_milli_ms": tally.cpu_present_milli_ms,
        "tenants": {
            name: {
                "admitted": each.admitted,
                "refused": each.refused,
                "evicted": each.evicted,
                "waited": each.waits.count,
                "wait_ms": each.waits.total_ms,
                "gpu_milli_ms": each.gpu_milli_ms,
                "cost_micros": None if price_micros is None else each.cost_micros(price_micros),
            }
            for name, each in tally.tenants.items()
        },
    }


def _moved(report: WhatIfReport, move: Moved) -> dict[str, Any]:
    work = report.history.works[move.work]
    return {
        "seq": work.seq,
        "asked_ms": work.at_ms,
        "tenant": str(work.request.tenant),
        "project": None if work.request.project is None else str(work.request.project),
        "asks": asks(work.request),
        "word": move.word.value,
        "delta_ms": move.delta_ms,
        "control": dataclasses.asdict(move.control),
        "changed": dataclasses.asdict(move.changed),
    }

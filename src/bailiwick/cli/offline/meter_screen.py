"""How a metering report looks: tables and sentences for people, one document for programs.

Rules:

- GPU-seconds are exact, with as many decimals as the finest of a column needs. Only memory and
  block storage, which are told in GiB-seconds, are rounded, to three decimals.
- Idle and unavailable time stand in the same table as everybody's, so that it adds up to all that
  there was; the equation is told again for each generation, with its numbers.
- Findings come after the sums, one sentence each, with the numbers that led to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.metering.report import (
    Equation,
    Finding,
    Report,
    ReportRow,
    add_up,
)
from bailiwick.phrases.findings import phrase_finding
from bailiwick.phrases.times import clock
from bailiwick.vocab.words import ResourceKind

if TYPE_CHECKING:
    from rich.console import Console

GIB: Final = 2**30
_HEADINGS: Final = {
    "tenant": "tenant",
    "project": "project",
    "generation": "generation",
    "tag": "tag",
    "lease_class": "class",
}
_UNITS: Final = {
    ResourceKind.GPU_MILLI: "GPU-seconds",
    ResourceKind.CPU_MILLI: "core-seconds",
    ResourceKind.MEM_BYTES: "GiB-seconds",
    ResourceKind.BLOCK_BYTES: "block GiB-seconds",
}
_RESOURCES: Final = {
    ResourceKind.GPU_MILLI: "GPUs",
    ResourceKind.CPU_MILLI: "cores",
    ResourceKind.MEM_BYTES: "memory",
    ResourceKind.BLOCK_BYTES: "block storage",
}
_NAMES: Final = {
    ResourceKind.GPU_MILLI: "gpu_micro_seconds",
    ResourceKind.CPU_MILLI: "cpu_micro_seconds",
    ResourceKind.MEM_BYTES: "mem_byte_ms",
    ResourceKind.BLOCK_BYTES: "block_byte_ms",
}


def draw_report(report: Report, by: Sequence[str], *, title: str) -> None:
    """Tables, equations and findings."""
    console = make_console()
    kinds = [kind for kind in _UNITS if any(each.kind is kind for each in report.equations)]
    kinds = kinds or [ResourceKind.GPU_MILLI]
    labels, amounts = _lines(report, by)
    columns = [_column(kind, [each.get(kind) for each in amounts]) for kind in kinds]
    units = [_UNITS[kind] for kind in kinds]
    print_rows(
        console,
        [*(_HEADINGS[word] for word in by), *units],
        rows=[(*label, *cells) for label, *cells in zip(labels, *columns, strict=True)],
        title=f"{title}, {clock(report.span.from_ms)} to {clock(report.span.to_ms)}",
        numbers=units,
    )
    _draw_equations(console, report.equations)
    _draw_findings(console, report.findings)


def _lines(
    report: Report, by: Sequence[str]
) -> tuple[list[tuple[str, ...]], list[Mapping[ResourceKind, int]]]:
    """The labels and the amounts of every line: accounts, nobody's time, and all there was."""
    rows = add_up(report.rows, by)
    labels = [_label(row, by) for row in rows]
    amounts: list[Mapping[ResourceKind, int]] = [row.used for row in rows]
    for words, used in _free(report.equations, by):
        labels.append(words)
        amounts.append(used)
    whole: dict[ResourceKind, int] = {}
    for each in report.equations:
        whole[each.kind] = whole.get(each.kind, 0) + each.capacity
    labels.append(("in all", *[""] * (len(by) - 1)))
    amounts.append(whole)
    return labels, amounts


def _label(row: ReportRow, by: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(getattr(row, word) or "-") for word in by)


def _free(
    equations: Sequence[Equation], by: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Mapping[ResourceKind, int]]]:
    """Idle and unavailable time, by generation if the rows are."""
    sums: dict[tuple[str, str], dict[ResourceKind, int]] = {}
    for each in equations:
        generation = str(each.generation or "-") if "generation" in by else ""
        parts = {"(idle)": each.idle}
        parts |= {f"(unavailable: {cause})": used for cause, used in each.unavailable.items()}
        for name, used in parts.items():
            of_name = sums.setdefault((name, generation), {})
            of_name[each.kind] = of_name.get(each.kind, 0) + used
    for (name, generation), amounts in sorted(sums.items()):
        if any(amounts.values()):
            yield _free_label(name, generation, by=by), amounts


def _free_label(name: str, generation: str, *, by: Sequence[str]) -> tuple[str, ...]:
    """The name in the first column; the generation in its own, or there too."""
    cells = [generation if word == "generation" else "" for word in by]
    return (f"{name} {cells[0]}".rstrip(), *cells[1:])


def _draw_equations(console: Console, equations: Sequence[Equation]) -> None:
    if not equations:
        console.print("\nno node ever appeared: there is nothing to add up")
        return
    console.print("\n[bold]leased + idle + unavailable = capacity x time[/bold]")
    for each in equations:
        of = str(each.generation or _RESOURCES[each.kind])
        names = ["leased", "idle", *(f"unavailable ({cause})" for cause in each.unavailable)]
        terms = [each.leased, each.idle, *each.unavailable.values()]
        *told, owned, capacity = _column(each.kind, [*terms, each.owned, each.capacity])
        left = " + ".join(
            f"{number.strip()} {name}" for number, name in zip(told, names, strict=True)
        )
        sign = "=" if each.holds else "is NOT"
        console.print(
            f"{of}: {left} = {owned.strip()} {sign} {capacity.strip()} {_UNITS[each.kind]}",
            soft_wrap=True,
        )


def _draw_findings(console: Console, findings: Sequence[Finding]) -> None:
    if not findings:
        console.print("\nno findings: nothing in the source contradicts itself")
        return
    print_rows(
        console,
        ("finding", "who", "what*"),
        rows=[(each.word.value, each.subject, phrase_finding(each)) for each in findings],
        title=f"{len(findings):,} findings" if len(findings) > 1 else "1 finding",
    )


def _column(kind: ResourceKind, amounts: Sequence[int | None]) -> list[str]:
    """Amounts in people's units, all with as many decimals as the finest needs.

    >>> _column(ResourceKind.GPU_MILLI, [1_500_000, None, 20_000_000])
    ['1.5', '', '20.0']
    """
    places, size = 3, GIB
    if kind in (ResourceKind.GPU_MILLI, ResourceKind.CPU_MILLI):
        places = max((_places(amount) for amount in amounts if amount), default=0)
        size = 10 ** (6 - places)
    return [
        "" if amount is None else _decimal((amount + size // 2) // size, places)
        for amount in amounts
    ]


def _places(micro: int) -> int:
    return len(f"{micro % 10**6:06}".rstrip("0"))


def _decimal(parts: int, places: int) -> str:
    if not places:
        return f"{parts:,}"
    whole, part = divmod(parts, 10**places)
    return f"{whole:,}.{part:0{places}}"


def document(report: Report, by: Sequence[str]) -> dict[str, Any]:
    """The whole report as plain values; all amounts are integers."""
    return {
        "from_ms": report.span.from_ms,
        "to_ms": report.span.to_ms,
        "rows": [
            {word: getattr(row, word) for word in by}
            | {_NAMES[kind]: row.used[kind] for kind in _NAMES if kind in row.used}
            for row in add_up(report.rows, by)
        ],
        "equations": [
            {
                "kind": each.kind.value,
                "generation": each.generation,
                "unit": _NAMES[each.kind],
                "leased": each.leased,
                "idle": each.idle,
                "unavailable": {cause.value: used for cause, used in each.unavailable.items()},
                "owned": each.owned,
                "capacity_x_time": each.capacity,
                "holds": each.holds,
            }
            for each in report.equations
        ],
        "findings": [_plain(each) for each in report.findings],
    }


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "finding": finding.word.value,
        "subject": finding.subject,
        "at_ms": finding.at_ms,
        "by_ms": finding.by_ms,
        "gpus": finding.gpus,
        "gpu_micro_seconds": finding.gpu_micro_seconds,
        "wanted": finding.wanted,
        "found": finding.found,
        "node": finding.node,
        "others": list(finding.others),
        "line": finding.line or None,
        "why": finding.why or None,
        "sentence": phrase_finding(finding),
    }


def tell_notes(notes: Sequence[str]) -> None:
    """What a reader should know beside the findings."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)

"""The command ``bailiwick journal at``: the whole state as it was at some moment.

Rules:

- The state is rebuilt from records that were verified, and from nothing else; its digest is told,
  so that two people can see whether they look at the same one. On the way it is compared with each
  checkpoint in the journal; how many are of another format, and so cannot be, is told.
- When a waiting request may start is an estimate, and is marked as one.
- Table and JSON tell the same state; of leases and of the line the table shows the first 20.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.progress import SCREEN
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.phrases.amounts import milli, span
from bailiwick.phrases.times import told_time
from bailiwick.tools.record_source import MOMENTS, open_source, parse_moment

if TYPE_CHECKING:
    from rich.console import Console


SHOWN = 20
WIDE = 110
"""Columns from which on the line has a column for each thing."""

HELP = (
    "The state at any time: fleet, tenants, leases and the line, as they were then.\n\n"
    "Example: bailiwick journal at 2026-11-15T02:00Z campus.jsonl\n\n"
    f"TIME is {MOMENTS}. JOURNAL is a file, a directory, a data directory or a database's address. "
    "Every record is verified; a journal that is not as sealed ends with 3."
)


@dataclasses.dataclass(frozen=True, slots=True)
class AtOptions:
    """What ``journal at`` can be told."""

    time: Annotated[str, typer.Argument(metavar="TIME", help=f"{MOMENTS[0].upper()}{MOMENTS[1:]}.")]
    target: Annotated[
        str, typer.Argument(metavar="JOURNAL", help="A file, a directory or an address.")
    ]
    everything: Annotated[
        bool, typer.Option("--all", help=f"Every lease and waiting request, not the first {SHOWN}.")
    ] = False
    output: OutputOption = Output.TABLE


@with_options(AtOptions)
def at(options: AtOptions) -> None:
    """Show the state at a time."""
    from bailiwick.tools.time_travel import as_of, rebuild, tell

    with open_source(options.target, SCREEN) as source:
        moment = parse_moment(options.time, source)
        kernel = rebuild(source, moment)
        state = kernel.state
        now_ms = as_of(state, source, moment=moment)
        limit = max(len(state.leases), len(state.line.entries)) if options.everything else SHOWN
        told = tell(state, now_ms, limit=limit)
        told["journal"] = {
            "name": source.name,
            "records": source.size,
            "end_ms": source.end_ms,
            "checkpoints_not_compared": kernel.not_compared,
        }
    if options.output is Output.JSON:
        import json

        typer.echo(json.dumps(told, indent=2))
        return
    _show(make_console(), told)


def _show(console: Console, told: dict[str, Any]) -> None:
    journal, now_ms = told["journal"], told["at_ms"]
    at_end = "its end" if told["seq"] == journal["records"] - 1 else f"of {journal['records']:,}"
    console.print(
        f"[bold]{told_time(now_ms)} UTC[/bold]   record {told['seq']:,} ({at_end})   "
        f"epoch {told['epoch']}"
    )
    console.print(f"digest {told['digest']}", soft_wrap=True)
    if unknown := journal["checkpoints_not_compared"]:
        console.print(
            f"checkpoints not compared: {unknown:,}, because another version wrote them its way"
        )
    _show_fleet(console, told["fleet"])
    _show_tenants(console, told["tenants"])
    _show_leases(console, told)
    _show_line(console, told)


def _show_fleet(console: Console, fleet: dict[str, Any]) -> None:
    modes = ", ".join(f"{count:,} {mode}" for mode, count in fleet["modes"].items())
    closed = {word: fleet[word] for word in ("quarantined", "gated") if fleet[word]}
    extra = "".join(f", {count} {word}" for word, count in closed.items())
    extra += f", {fleet['fenced']} leases fenced" if fleet["fenced"] else ""
    generations = fleet["generations"]
    rows = [_fleet_row(row["generation"], row, row["devices"] * 1_000) for row in generations]
    cpu = {"nodes": fleet["nodes"], "leased_milli": fleet["leased"]["cpu_milli"]}
    cpu["claimed_milli"] = fleet["claimed"]["cpu_milli"]
    cpu["free_milli"] = fleet["free"]["cpu_milli"]
    there = fleet["capacity"]["cpu_milli"]
    held = cpu["leased_milli"] + cpu["claimed_milli"]
    cpu["closed_milli"] = there - held - cpu["free_milli"]
    rows.append(_fleet_row("(cpu cores)", cpu, there))
    print_rows(
        console,
        ("generation", "nodes", "there", "leased", "claimed", "free", "closed", "in use"),
        rows=rows,
        title=f"Fleet: {fleet['nodes']:,} nodes ({modes or 'none'}{extra})",
        numbers=("nodes", "there", "leased", "claimed", "free", "closed"),
    )


def _fleet_row(name: str, row: dict[str, Any], there: int) -> tuple[str, ...]:
    words = ("leased_milli", "claimed_milli", "free_milli", "closed_milli")
    amounts = (milli(row[each]) for each in words)
    return name, f"{row['nodes']:,}", milli(there), *amounts, _bar(row["leased_milli"], there)


def _bar(part: int, whole: int) -> str:
    tenths = part * 10 // whole if whole else 0
    percent = part * 100 // whole if whole else 0
    return "█" * tenths + "░" * (10 - tenths) + f" {percent:3}%"


def _show_tenants(console: Console, tenants: list[dict[str, Any]]) -> None:
    rows = []
    for each in tenants:
        name = each["tenant"] if each["project"] is None else f"  /{each['project']}"
        quota = dict(each["quota"])
        gpus = quota.pop("gpu_count", None)
        limit = "no limit" if gpus is None or gpus["limit"] is None else f"of {gpus['limit']:,}"
        others = ", ".join(
            f"{word} {room['used']:,} of {room['limit']:,}"
            for word, room in quota.items()
            if room["limit"] is not None
        )
        numbers = str(each["leases"]), str(each["waiting"])
        rows.append((name, milli(each["gpu_milli"]), limit, *numbers, str(each["share"]), others))
    print_rows(
        console,
        ("tenant", "GPUs", "quota", "leases", "waiting", "share", "other limits*"),
        rows=rows,
        title=f"Tenants: {sum(each['project'] is None for each in tenants)}",
        numbers=("GPUs", "leases", "waiting", "share"),
    )


def _show_leases(console: Console, told: dict[str, Any]) -> None:
    rows, now_ms = [], told["at_ms"]
    for each in told["leases"]:
        held = each["resources"]
        gpus, cores = milli(held["gpu_milli"]), milli(held["cpu_milli"])
        sort = f"{each['priority']} {each['lease_class']}"
        state = "" if each["state"] == "active" else each["state"]
        if each["gang"] is not None:
            state = f"{state} gang {each['gang']}".strip()
        who = owner(each["tenant"], each["project"])
        ran, left = span(now_ms - each["granted_ms"]), span(each["expires_ms"] - now_ms)
        rows.append((str(each["id"]), who, each["node"], gpus, cores, sort, ran, left, state))
    shown, total = len(rows), told["leases_total"]
    more = f", the first {shown} (--all shows every one)" if shown < total else ""
    print_rows(
        console,
        ("lease", "owner*", "node*", "GPUs", "cores", "priority*", "ran", "ends in", "note*"),
        rows=rows,
        title=f"Leases: {total:,}{more}",
        numbers=("lease", "GPUs", "cores", "ran", "ends in"),
    )


def _show_line(console: Console, told: dict[str, Any]) -> None:
    rows: list[tuple[str, ...]] = []
    now_ms = told["at_ms"]
    wide = console.width >= WIDE
    for each in told["waiting"]:
        place = str(each["position"]), str(each["id"])
        who = owner(each["tenant"], each["project"])
        asked = f"{each['asks']}, {each['request']['priority']}"
        waited, start = span(now_ms - each["submitted_ms"]), _start(each["estimate"], now_ms)
        if wide:
            why = f"{each['reason']}: {each['because']}"
            rows.append((*place, who, asked, waited, why, start))
        else:
            why = f"{each['reason']}\n{each['because']}\n{start}"
            rows.append((*place, f"{who}\n{asked}", waited, why))
    narrow = ("#", "entry", "who asks what*", "waited", "because, and when it starts (estimate)*")
    shown, total = len(rows), told["waiting_total"]
    more = f", the first {shown} (--all shows every one)" if shown < total else ""
    print_rows(
        console,
        ("#", "entry", "owner*", "asks*", "waited", "because*", "starts (estimate)*")
        if wide
        else narrow,
        rows=rows,
        title=f"Waiting: {total:,}{more}",
        numbers=("#", "entry", "waited"),
    )


def _start(estimate: dict[str, Any], now_ms: int) -> str:
    start, basis = estimate["starts_ms"], estimate["basis"]
    if start is None:
        return f"no estimate ({basis})"
    return (
        f"in about {span(start - now_ms)} ({basis})"
        if start > now_ms
        else f"at the next look ({basis})"
    )

"""``bailiwick trace``: everything that belongs to one request, as one timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.screen import make_console, print_rows, printable
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.traces import Timeline

command = typer.Typer(add_completion=False)

_DEPTH_MAX = 8
_SHOWN_ELSEWHERE = frozenset(
    {"trace_id", "span_id", "parent_id", "tenant", "project", "actor", "principal", "body"}
)


@verb(command, "trace")
def trace(
    ask: Ask,
    correlation_id: Annotated[
        str, typer.Argument(metavar="CORRELATION_ID", help="As errors and records tell it.")
    ],
) -> None:
    """Request, decision, events, spans and log lines of one request, by time.

    Example: bailiwick trace 7cd9c0c1ca95410a
    """
    from bailiwick.wire.actions.server import TRACE_READ

    name = path_word("CORRELATION_ID", correlation_id)
    found = ask.client.send(TRACE_READ, path={"correlation_id": name})
    ask.printer.thing(found, name=found.correlation_id, draw=lambda: _draw(found))


def _draw(found: Timeline) -> None:
    console = make_console()
    if not found.entries:
        console.print("nothing is kept under this id that is yours to see")
        return
    begin = found.entries[0].at_ms
    depths = _depths(found)
    rows = [
        (
            f"+{entry.at_ms - begin:,} ms",
            entry.source,
            "  " * depth + entry.name,
            "-" if entry.duration_ms is None else f"{entry.duration_ms:,.1f} ms",
            _told(entry.details),
        )
        for entry, depth in zip(found.entries, depths, strict=True)
    ]
    print_rows(
        console,
        ("after", "what", "name", "took", "details*"),
        rows=rows,
        title=f"{found.correlation_id}, from {clock(begin)}",
        numbers=("after", "took"),
    )
    if found.is_cut:
        typer.echo("there was more than is told here", err=True)


def _depths(found: Timeline) -> list[int]:
    """How many spans each entry lies in, as far as they are told."""
    parents = {
        entry.details.get("span_id"): entry.details.get("parent_id") for entry in found.entries
    }
    parents.pop(None, None)
    depths = []
    for entry in found.entries:
        depth, at = 0, entry.details.get("parent_id")
        while at in parents and depth < _DEPTH_MAX:
            depth, at = depth + 1, parents[at]
        depths.append(depth)
    return depths


def _told(details: dict[str, Any]) -> str:
    """What a person reads of an entry: who and where, then the facts."""
    from bailiwick.cli.commands.explain import told_facts

    where = "/".join(str(details[n]) for n in ("tenant", "project") if details.get(n))
    who = details.get("actor") or details.get("principal")
    head = [f"by {who}" if who else "", f"for {where}" if where else ""]
    body = details.get("body") or {}
    rest = {n: v for n, v in details.items() if n not in _SHOWN_ELSEWHERE and v is not None}
    parts = [" ".join(filter(None, head)), told_facts({**rest, **body})]
    return printable("; ".join(filter(None, parts)))

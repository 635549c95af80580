"""``bailiwick trace``: everything that belongs to one request, as one timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.asking import Ask, path_word, verb
from bailiwick.cli.phrases import clock
from bailiwick.cli.screen import make_console, print_rows

if TYPE_CHECKING:
    from bailiwick.wire.seen import Timeline

trace_app = typer.Typer(add_completion=False)


@verb(trace_app, "trace")
def trace(
    ask: Ask,
    correlation_id: Annotated[
        str, typer.Argument(metavar="CORRELATION_ID", help="As errors and records tell it.")
    ],
) -> None:
    """Request, decision, events, spans and log lines of one request, by time."""
    from bailiwick.wire.seen import Timeline

    name = path_word("CORRELATION_ID", correlation_id)
    found = ask.client.read(f"/v1/traces/{name}", Timeline)
    ask.printer.thing(found, name=found.correlation_id, draw=lambda: _draw(found))


def _draw(found: Timeline) -> None:
    console = make_console()
    if not found.entries:
        console.print("nothing is kept under this id that is yours to see")
        return
    begin = found.entries[0].at_ms
    rows = [
        (
            f"+{entry.at_ms - begin:,} ms",
            entry.source,
            entry.name,
            "-" if entry.duration_ms is None else f"{entry.duration_ms:,.1f} ms",
            _told(entry.details),
        )
        for entry in found.entries
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


def _told(details: dict[str, Any]) -> str:
    import json

    return " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in details.items()
    )

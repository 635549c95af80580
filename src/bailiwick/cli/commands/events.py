"""``bailiwick events``: what happened to apps, as CloudEvents; as it happens, or what is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, Format, emit
from bailiwick.cli.shared.periods import parse_since
from bailiwick.cli.shared.screen import make_console, owner, printable
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.events import CloudEvent

app = noun("What happened to apps, as CloudEvents.")

TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="TYPE", help="Only these: apps.instance.failed, apps.member.*; repeat it."
    ),
]
InstanceOption = Annotated[
    int | None, typer.Option("--instance", min=1, metavar="ID", help="Only of this instance.")
]
CorrelationOption = Annotated[
    str | None,
    typer.Option("--correlation", metavar="ID", help="Only what this request led to."),
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only from then on: 12h (ago), 2026-11-17."),
]


def _where(event: CloudEvent) -> str:
    return "fleet" if event.orgid is None else owner(event.orgid, event.projectid)


_ROWS: Columns[CloudEvent] = Columns(
    ("id", "time", "type", "about*", "where", "correlation"),
    lambda e: (
        e.id,
        e.time or "-",
        e.type,
        printable(e.subject),
        _where(e),
        printable(e.correlationid),
    ),
    lambda e: e.id,
    numbers=("id",),
    empty="no event that you may see",
)


def _query(
    ask: Ask,
    types: list[str] | None,
    *,
    instance: int | None,
    since: str | None,
    correlation: str | None = None,
) -> dict[str, str | int | None]:
    return {
        "tenant": ask.given.get("tenant"),
        "project": ask.given.get("project"),
        "types": ",".join(types) if types else None,
        "instance": instance,
        "correlation": correlation,
        "since_ms": None if since is None else parse_since("--since", since),
    }


@verb(app, "list", lists=True, scope="project")
def list_events(
    ask: Ask,
    *,
    types: TypeOption = None,
    instance: InstanceOption = None,
    correlation: CorrelationOption = None,
    since: SinceOption = None,
) -> None:
    """Events that are over, the oldest first.

    Example: bailiwick events list --type 'apps.instance.*' --since 12h

    Example: bailiwick events list --correlation 3f9a61c02d7e4b18
    """
    from bailiwick.wire.actions.events import EVENT_LIST

    query = _query(ask, types, instance=instance, correlation=correlation, since=since)
    ask.list(EVENT_LIST, columns=_ROWS, query=query)


@verb(app, "watch", scope="project")
def watch_events(
    ask: Ask,
    *,
    types: TypeOption = None,
    instance: InstanceOption = None,
    since: SinceOption = None,
    after: Annotated[
        str | None, typer.Option("--from", metavar="ID", help="Go on after the event of this id.")
    ] = None,
    until_end: Annotated[
        bool, typer.Option("--until-end", help="Stop where the journal ends now.")
    ] = False,
) -> None:
    """Events as they happen, a line each; Ctrl-C ends it.

    A lost connection is taken up where it was lost. With -o json each line is one CloudEvent.

    Example: bailiwick events watch --tenant lab --type apps.instance.failed

    Example: bailiwick events watch --from 41 -o json
    """
    if ask.output in (Format.YAML, Format.NAME):
        raise InvalidValue("--output", ask.output.value, "table or json")
    query = _query(ask, types, instance=instance, since=since)
    if until_end:
        query["follow"] = "false"
        after = "0" if after is None and since is None else after
    try:
        _show(ask, query, after=after)
    except KeyboardInterrupt:
        return


def _show(ask: Ask, query: dict[str, str | int | None], *, after: str | None) -> None:
    from bailiwick.wire.actions.events import EVENT_WATCH
    from bailiwick.wire.events import CloudEvent

    console = make_console()
    for told in ask.client.follow(EVENT_WATCH, query=query, after=after):
        if ask.output is Format.JSON:
            emit(told.data)
        else:
            event = CloudEvent.model_validate_json(told.data)
            console.print(_line(event), soft_wrap=True)


def _line(event: CloudEvent) -> str:
    from rich.markup import escape

    reason = event.data.get("reason")
    told = f"{event.time or '-'} {event.id:>6} [bold]{event.type:<28}[/bold] "
    told += f"{escape(_where(event))} {escape(printable(event.subject))}"
    told += "" if event.appslug is None else f" ({escape(printable(event.appslug))})"
    told += "" if reason is None else f": {escape(printable(str(reason)))}"
    return f"{told} [dim]{escape(printable(event.correlationid))}[/dim]"

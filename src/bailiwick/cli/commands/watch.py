"""``bailiwick watch``: what happens in one's scope, as it happens, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.explain import told_record
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.output import Format, emit
from bailiwick.cli.shared.screen import make_console, owner, printable
from bailiwick.cli.shared.session import load_session
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.work import JournalRecord

command = typer.Typer(add_completion=False)


@command.command()
def watch(
    *,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="WORD", help="Only records of this kind; repeat it."),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option("--after", min=0, metavar="SEQ", help="From the record after this one on."),
    ] = None,
    output: Annotated[
        Format, typer.Option("--output", "-o", help="table: a line each; json: a document each.")
    ] = Format.TABLE,
    changes: Annotated[
        bool,
        typer.Option("--changes", help="Only which nouns became old, of what you may read."),
    ] = False,
    until_end: Annotated[
        bool, typer.Option("--until-end", help="Stop where the journal ends now.")
    ] = False,
) -> None:
    """What happens in what you may read, as it happens; Ctrl-C ends it.

    A lost connection is taken up where it was lost.

    Example: bailiwick watch --tenant lab --kind admission_denied
    """
    if output in (Format.YAML, Format.NAME):
        raise InvalidValue("--output", output.value, "table or json")
    ask = Ask(load_session(), output=output)
    query = {
        "tenant": tenant,
        "kinds": ",".join(kind) if kind else None,
        "follow": "false" if until_end else None,
    }
    if changes and (tenant or kind or after is not None):
        raise InvalidValue("--changes", "with others", "no --tenant, --kind or --after")
    try:
        if changes:
            _show_changes(ask, {"follow": query["follow"]})
            return
        _show(ask, query, after=after)
    except KeyboardInterrupt:
        return


def _show(ask: Ask, query: dict[str, str | None], *, after: int | None) -> None:
    from bailiwick.wire.actions.journal import RECORD_WATCH
    from bailiwick.wire.work import JournalRecord

    if after is None and query["follow"]:
        after = 0
    console = make_console()
    for event in ask.client.follow(RECORD_WATCH, query=query, after=after):
        record = JournalRecord.model_validate_json(event.data)
        if ask.output is Format.JSON:
            emit(record.model_dump_json())
        else:
            console.print(_line(record), soft_wrap=True)


def _show_changes(ask: Ask, query: dict[str, str | None]) -> None:
    from time import time

    from bailiwick.phrases.times import clock
    from bailiwick.wire.actions.tokens import SELF_WATCH
    from bailiwick.wire.replica import Changed

    for event in ask.client.follow(SELF_WATCH, query=query):
        told = Changed.model_validate_json(event.data)
        if ask.output is Format.JSON:
            emit(told.model_dump_json())
        else:
            nouns = "all" if told.missed else " ".join(told.nouns)
            emit(f"{clock(int(time() * 1000))} old: {nouns}")


def _line(record: JournalRecord) -> str:
    from rich.markup import escape

    from bailiwick.phrases.times import clock

    where = "fleet" if record.tenant is None else owner(record.tenant, record.project)
    body = escape(told_record(record))
    told = f"{clock(record.at_ms)} {record.seq:>6} [bold]{record.kind:<24}[/bold] "
    return f"{told}{escape(where)} [dim]by {escape(printable(record.actor))}[/dim] {body}"

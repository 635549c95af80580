"""``bailiwick inbox``: what you were told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.screen import owner, printable
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.base import Page
    from bailiwick.wire.notices import InboxNotice

app = noun("What you were told: jobs that ended, leases that must go, budgets, nodes, findings.")


def _when(notice: InboxNotice) -> str:
    from bailiwick.phrases.times import clock

    return clock(notice.at_ms)


_NOTICES: Columns[InboxNotice] = Columns(
    ("notice", "when", "is new", "where", "what*"),
    lambda n: (
        str(n.id),
        _when(n),
        "yes" if n.read_ms is None else "no",
        "fleet" if n.tenant is None else owner(n.tenant, n.project),
        printable(f"{n.title}. {n.text}"),
    ),
    lambda n: str(n.id),
    numbers=("notice",),
    empty="nothing that you were told",
)


@verb(app, "list", lists=True)
def list_inbox(
    ask: Ask,
    *,
    unread: Annotated[bool, typer.Option("--unread", help="Only what is new.")] = False,
) -> None:
    """What you were told, the newest first; only the newest 500 are kept.

    Example: bailiwick inbox list --unread
    """
    from bailiwick.wire.actions.notices import INBOX_LIST
    from bailiwick.wire.base import Page

    query = {"limit": 500, "unread": "true" if unread else "false"}

    def read() -> Page[InboxNotice]:
        return Page(items=ask.client.send(INBOX_LIST, query=query).items)

    ask.show_rows(read, _NOTICES)


@verb(app, "read", changes=True)
def read_inbox(
    ask: Ask,
    notices: Annotated[
        list[int] | None, typer.Argument(metavar="[NOTICE]...", help="As inbox list numbers them.")
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every one.")] = False,
) -> None:
    """Have notices be read.

    Example: bailiwick inbox read 41 42
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.notices import INBOX_READ
    from bailiwick.wire.notices import InboxReading

    if bool(notices) == everything:
        raise InvalidValue("NOTICE", notices or None, "numbers of notices, or --all")
    body = make_body(InboxReading, ids=notices or [])
    found = ask.client.send(INBOX_READ, body=body, dry_run=ask.dry_run)
    told = f"{plural(found.notices, 'notice')} read"
    suffix = " (dry run: nothing was changed)" if ask.dry_run else ""
    ask.printer.thing(found, name=str(found.notices), draw=lambda: emit(told + suffix))

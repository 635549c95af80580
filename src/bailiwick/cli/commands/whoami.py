"""``bailiwick whoami``: who the server takes one for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.times import moment
from bailiwick.phrases.tokens import typed_name

if TYPE_CHECKING:
    from bailiwick.wire.people import Self

command = typer.Typer(add_completion=False)


@verb(command, "whoami")
def whoami(ask: Ask) -> None:
    """Who the server takes you for, until when, and with which roles.

    Example: bailiwick whoami
    """
    from bailiwick.wire.actions.tokens import SELF_READ

    found = ask.client.send(SELF_READ)
    ask.printer.thing(found, name=found.principal, draw=lambda: _draw(ask, found))


def _draw(ask: Ask, found: Self) -> None:
    keys = "all of its roles'" if found.keys is None else ", ".join(found.keys)
    draw_details(
        "principal",
        typed_name(found.principal, found.kind, home=found.home),
        rows=[
            ("kind", found.kind),
            ("home", found.home),
            ("server", ask.session.server),
            ("token", f"{found.token_id}, until {moment(found.expires_ms)}"),
            ("keys", keys),
        ],
    )
    rows = [
        (role.role, "/".join(n for n in (role.tenant, role.project) if n) or "the fleet")
        for role in found.roles
    ]
    print_rows(make_console(), ("role", "at*"), rows=rows, title="Roles")

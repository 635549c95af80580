"""``bailiwick context``: the server, tenant and project that commands mean."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from bailiwick.cli.shared.ask import path_word
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.session import (
    load_session,
    save_session,
    session_path,
    stored_session,
)

command = typer.Typer(add_completion=False)


@command.command()
def context(
    *,
    tenant: Annotated[str | None, typer.Option("--tenant", help="The tenant to mean.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="The project to mean.")] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server to ask.")
    ] = None,
) -> None:
    """Show, or with options set, the server, tenant and project that commands mean.

    Example: bailiwick context --tenant lab --project vision
    """
    from bailiwick.client.connection import check_server

    if tenant or project or server:
        kept = stored_session()
        changed: dict[str, Any] = {}
        if tenant and tenant != kept.tenant:
            changed |= {"tenant": path_word("--tenant", tenant), "project": None}
        if project:
            changed["project"] = path_word("--project", project)
        if server and check_server(server) != kept.server:
            # A token of one server is not shown to another.
            changed |= {"server": check_server(server), "token": None}
        save_session(dataclasses.replace(kept, **changed))
    session = load_session()
    rows = [
        ("server", session.server),
        ("tenant", session.tenant or "-"),
        ("project", session.project or "-"),
        ("logged in", "no" if session.token is None else "yes"),
    ]
    draw_details("context", str(session_path()), rows=rows)

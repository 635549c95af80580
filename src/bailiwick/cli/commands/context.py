"""``bailiwick context``: the servers that one is logged in to, and what commands mean there."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any

import typer

from bailiwick.cli.shared.ask import path_word
from bailiwick.cli.shared.completions import complete_contexts
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.cli.shared.session import (
    Session,
    changed_contexts,
    check_context,
    contexts_path,
    load_session,
    named_context,
    save_session,
    stored_contexts,
    stored_session,
)
from bailiwick.vocab.errors import Conflict

app = typer.Typer(add_completion=False)

_Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Its name.", autocompletion=complete_contexts),
]
_AsJson = Annotated[bool, typer.Option("--json", help="One document; tokens are not in it.")]


@app.callback(invoke_without_command=True)
def context(
    about: typer.Context,
    *,
    tenant: Annotated[str | None, typer.Option("--tenant", help="The tenant to mean.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="The project to mean.")] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server to ask.")
    ] = None,
) -> None:
    """Show, or with options set, the server, tenant and project that commands mean.

    Each login is kept under a name, its context. bailiwick --context NAME means another for one
    command, bailiwick context use NAME from now on.

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
    if about.invoked_subcommand is None:
        show()


@app.command("show")
def show(*, as_json: _AsJson = False) -> None:
    """The context that commands mean now: its name, server, tenant and project.

    Example: bailiwick context show
    """
    contexts, session = stored_contexts(), load_session()
    name = named_context() or contexts.current
    if as_json:
        typer.echo(json.dumps(_told(name, session, current=contexts.current), indent=2))
        return
    rows = [
        ("name", name),
        ("server", session.server),
        ("tenant", session.tenant or "-"),
        ("project", session.project or "-"),
        ("logged in", "no" if session.token is None else "yes"),
    ]
    draw_details("context", str(contexts_path()), rows=rows)


@app.command("list")
def list_contexts(*, as_json: _AsJson = False) -> None:
    """All contexts; the one that is used has a star.

    Example: bailiwick context list
    """
    contexts = stored_contexts()
    meant = named_context() or contexts.current
    rows = sorted(contexts.known.items())
    if as_json:
        told = [_told(name, session, current=meant) for name, session in rows]
        typer.echo(json.dumps({"items": told}, indent=2))
        return
    if not rows:
        typer.echo("no context yet; bailiwick login CODE makes one")
        return
    drawn = [
        (
            "*" if name == meant else "",
            name,
            session.server,
            "/".join(each for each in (session.tenant, session.project) if each) or "-",
            "no" if session.token is None else "yes",
        )
        for name, session in rows
    ]
    headings = ("used", "name", "server*", "tenant and project", "logged in")
    print_rows(make_console(), headings, rows=drawn, title="Contexts")


@app.command("use")
def use(name: _Name) -> None:
    """Mean this context from now on.

    Example: bailiwick context use campus
    """
    with changed_contexts() as contexts:
        session = contexts.find(check_context(name))
        contexts.known.setdefault(name, session)
        contexts.current = name
    typer.echo(f"commands mean {name} now: {session.server}")


@app.command("delete")
def delete(name: _Name) -> None:
    """Forget a context; its token counts no more.

    Example: bailiwick context delete campus
    """
    from bailiwick.cli.commands.logout import end_session

    with changed_contexts() as contexts:
        session = contexts.find(check_context(name))
        if name == contexts.current and len(contexts.known) > 1:
            hint = "bailiwick context use NAME means another first"
            raise Conflict("context", name, "is the one that is used", hint=hint)
        contexts.known.pop(name, None)
    told = "nobody was logged in" if session.token is None else end_session(session)
    typer.echo(f"context {name} is forgotten ({told})")


def _told(name: str, session: Session, *, current: str) -> dict[str, Any]:
    """A context without what is secret."""
    told: dict[str, Any] = {"context": name, "server": session.server}
    told |= {"tenant": session.tenant, "project": session.project}
    return told | {"is_logged_in": session.token is not None, "is_used": name == current}

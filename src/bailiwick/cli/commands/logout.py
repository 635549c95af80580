"""``bailiwick logout``: this session's token counts no more."""

from __future__ import annotations

import dataclasses

import typer

from bailiwick.cli.shared.session import (
    Session,
    connect,
    save_session,
    stored_session,
)

command = typer.Typer(add_completion=False)


@command.command()
def logout() -> None:
    """Make this session's token count no more, and forget it.

    Example: bailiwick logout
    """
    session = stored_session()
    if session.token is None:
        typer.echo("nobody is logged in")
        return
    told = end_session(session)
    save_session(dataclasses.replace(session, token=None))
    typer.echo(told)


def end_session(session: Session) -> str:
    """Have its token count no more, if its server can be reached; what became of it."""
    from bailiwick.client.errors import ClientError
    from bailiwick.wire.actions.tokens import SELF_LOG_OUT

    try:
        with connect(session, tries=1, timeout_s=5.0) as client:
            client.send(SELF_LOG_OUT)
    except ClientError as error:
        return f"logged out here; the token itself still counts until it expires ({error})"
    return "logged out"

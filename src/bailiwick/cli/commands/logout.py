"""``bailiwick logout``: this session's token counts no more."""

from __future__ import annotations

import dataclasses

import typer

from bailiwick.cli.shared.session import (
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
    from bailiwick.client.errors import ClientError
    from bailiwick.wire.actions.tokens import SELF_LOG_OUT

    session = stored_session()
    if session.token is None:
        typer.echo("nobody is logged in")
        return
    try:
        with connect(session, tries=1, timeout_s=5.0) as client:
            client.send(SELF_LOG_OUT)
        told = "logged out"
    except ClientError as error:
        told = f"logged out here; the token itself still counts until it expires ({error})"
    save_session(dataclasses.replace(session, token=None))
    typer.echo(told)

"""``bailiwick login``: becoming somebody, with a one-time code."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.session import (
    Session,
    connect,
    load_session,
    save_session,
)
from bailiwick.phrases.times import moment
from bailiwick.vocab.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client
    from bailiwick.wire.problem import Problem

command = typer.Typer(add_completion=False)

TENANT, PROJECT = "main", "default"
"""What a first start makes; whoever sees several starts there."""


@command.command()
def login(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A one-time login code.")],
    *,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="Else the last one's, or local.")
    ] = None,
    ca_file: Annotated[
        str | None,
        typer.Option("--ca-file", metavar="FILE", help="Whom to trust for the server's name."),
    ] = None,
    ttl: Annotated[str, typer.Option("--ttl", help="How long, at most 12h.")] = "12h",
) -> None:
    """Exchange a one-time code for a session, which later commands use.

    Example: bailiwick login 7cce26cd.ta2k2ep7xz --server http://127.0.0.1:7077
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.tokens import LOGIN
    from bailiwick.wire.people import TTL_S_MAX, Login
    from bailiwick.wire.problem import EdgeCode

    before = load_session()
    there = server or before.server
    # Later commands run in other folders.
    trusted = None if ca_file is None else os.path.abspath(ca_file)
    session = Session(server=there, ca_file=trusted or before.ca_file)
    body = make_body(Login, code=code, ttl_s=parse_term_s("--ttl", ttl, most_s=TTL_S_MAX))
    try:
        with connect(session) as client:
            found = client.send(LOGIN, body=body)
    except Refusal as refusal:
        if refusal.problem.code is not EdgeCode.UNAUTHENTICATED:
            raise
        raise Refusal(refusal.status, _without_code(refusal.problem)) from None
    session = dataclasses.replace(session, token=found.token)
    with connect(session) as client:
        session = _at_home(client, session)
    path = save_session(session)
    typer.echo(f"you are {found.principal} at {there} until {moment(found.expires_ms)}")
    where = "/".join(name for name in (session.tenant, session.project) if name)
    if where:
        typer.echo(f"default tenant and project: {where} (bailiwick context changes it)")
    else:
        typer.echo("no default tenant: bailiwick context --tenant NAME sets one")
    typer.echo(f"kept in {path}", err=True)


def _without_code(problem: Problem) -> Problem:
    """The refusal of a code; that one logs in with a code is known here."""
    told = "this code lets nobody in (a code works once, within its time; `bailiwick up --login` "
    told += "prints another, `bailiwick token issue NAME --login-code` makes one)"
    return problem.model_copy(update={"message": told})


def _at_home(client: Client, session: Session) -> Session:
    """The session with its default tenant and project, where there is no doubt."""
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.tenants import PROJECT_LIST, TENANT_LIST

    try:
        tenants = [row.tenant for row in client.pages(TENANT_LIST).items]
        tenant = _only(tenants, TENANT)
        if tenant is None:
            return session
        found = client.pages(PROJECT_LIST, path={"tenant": tenant})
        projects = [row.project for row in found.items]
    except Refusal:  # somebody without a tenant, or who may not look
        return session
    return dataclasses.replace(session, tenant=tenant, project=_only(projects, PROJECT))


def _only(names: list[str], usual: str) -> str | None:
    if len(names) == 1:
        return names[0]
    return usual if usual in names else None

"""``bailiwick login``, ``logout``, ``whoami``, ``context``: becoming somebody, and where one is."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.asking import path_word
from bailiwick.cli.output import draw_details
from bailiwick.cli.phrases import moment
from bailiwick.cli.session import (
    Session,
    connect,
    load_session,
    save_session,
    session_path,
    stored_session,
)
from bailiwick.cli.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client
    from bailiwick.wire.problem import Problem

login_app = typer.Typer(add_completion=False)
logout_app = typer.Typer(add_completion=False)
context_app = typer.Typer(add_completion=False)

TENANT, PROJECT = "main", "default"
"""What a first start makes; whoever sees several starts there."""


@login_app.command()
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
    """Exchange a one-time code for a session, which later commands use."""
    from bailiwick.client.bodies import make_body
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.people import TTL_S_MAX, IssuedToken, Login
    from bailiwick.wire.problem import EdgeCode

    before = load_session()
    there = server or before.server
    # Later commands run in other folders.
    trusted = None if ca_file is None else os.path.abspath(ca_file)
    session = Session(server=there, ca_file=trusted or before.ca_file)
    body = make_body(Login, code=code, ttl_s=parse_term_s("--ttl", ttl, most_s=TTL_S_MAX))
    try:
        with connect(session) as client:
            found: IssuedToken = client.call("POST", "/v1/login", kind=IssuedToken, body=body)
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
    from bailiwick.wire.people import Project, Tenant

    try:
        tenants = [row.tenant for row in client.rows("/v1/tenants", Tenant).items]
        tenant = _only(tenants, TENANT)
        if tenant is None:
            return session
        path = f"/v1/tenants/{tenant}/projects"
        projects = [row.project for row in client.rows(path, Project).items]
    except Refusal:  # somebody without a tenant, or who may not look
        return session
    return dataclasses.replace(session, tenant=tenant, project=_only(projects, PROJECT))


def _only(names: list[str], usual: str) -> str | None:
    if len(names) == 1:
        return names[0]
    return usual if usual in names else None


@logout_app.command()
def logout() -> None:
    """Make this session's token count no more, and forget it."""
    from bailiwick.client.errors import ClientError
    from bailiwick.wire.answers import Done

    session = stored_session()
    if session.token is None:
        typer.echo("nobody is logged in")
        return
    try:
        with connect(session, tries=1, timeout_s=5.0) as client:
            client.call("DELETE", "/v1/session", kind=Done)
        told = "logged out"
    except ClientError as error:
        told = f"logged out here; the token itself still counts until it expires ({error})"
    save_session(dataclasses.replace(session, token=None))
    typer.echo(told)


@context_app.command()
def context(
    *,
    tenant: Annotated[str | None, typer.Option("--tenant", help="The tenant to mean.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="The project to mean.")] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The server to ask.")
    ] = None,
) -> None:
    """Show, or with options set, the server, tenant and project that commands mean."""
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

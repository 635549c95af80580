"""``bailiwick login``: becoming somebody, with a one-time code or through a provider.

Rules:

- Through a provider, the person says yes in any browser (RFC 8628). The server asks the provider;
  this program asks the server alone. So no secret and no token of the provider is on this machine,
  and only the server is to be reached from it.
- It waits as long as the code counts, and asks no more often than it is told to.
"""

from __future__ import annotations

import dataclasses
import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.session import (
    Session,
    connect,
    load_session,
    save_session,
)
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client
    from bailiwick.wire.people import DeviceLogin, IssuedToken
    from bailiwick.wire.problem import Problem

command = typer.Typer(add_completion=False)

HASTE_S = 5
"""How much longer to wait from then on, where we were told that we asked too often."""

TENANT, PROJECT = "main", "default"
"""What a first start makes; whoever sees several starts there."""


@command.command()
def login(
    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", help="A one-time login code; without, a provider's page."),
    ] = None,
    *,
    provider: Annotated[
        str | None,
        typer.Option("--provider", help="Whose page to log in at, if the server has several."),
    ] = None,
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

    Without a code you log in at a provider's page, in any browser.

    Example: bailiwick login 7cce26cd.ta2k2ep7xz --server http://127.0.0.1:7077
    """
    from bailiwick.wire.people import TTL_S_MAX

    if code is not None and provider is not None:
        raise InvalidValue("--provider", provider, "no code beside it")
    before = load_session()
    there = server or before.server
    # Later commands run in other folders.
    trusted = None if ca_file is None else os.path.abspath(ca_file)
    session = Session(server=there, ca_file=trusted or before.ca_file)
    ttl_s = parse_term_s("--ttl", ttl, most_s=TTL_S_MAX)
    with connect(session) as client:
        if code is None:
            name = _choose_provider(client, provider)
            found = _log_in_elsewhere(client, name, ttl_s=ttl_s)
        else:
            found = _exchange(client, code, ttl_s=ttl_s)
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


def _exchange(client: Client, code: str, *, ttl_s: int) -> IssuedToken:
    from bailiwick.client.bodies import make_body
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.tokens import LOGIN
    from bailiwick.wire.people import Login
    from bailiwick.wire.problem import EdgeCode

    try:
        return client.send(LOGIN, body=make_body(Login, code=code, ttl_s=ttl_s))
    except Refusal as refusal:
        if refusal.problem.code is not EdgeCode.UNAUTHENTICATED:
            raise
        raise Refusal(refusal.status, _without_code(refusal.problem)) from None


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


def _choose_provider(client: Client, wanted: str | None) -> str:
    """The provider that was named, or the only one that there is."""
    from bailiwick.wire.actions.tokens import LOGIN_WAYS

    names = [each.provider for each in client.send(LOGIN_WAYS).providers]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names and wanted is not None:
        return wanted
    told = ", ".join(names) or "none: log in with a one-time code"
    if wanted is None and names:
        raise InvalidValue("CODE", None, f"a one-time code, or --provider with one of {told}")
    if wanted is None:
        raise InvalidValue("CODE", None, "a one-time code: this server has no other way to log in")
    raise InvalidValue("--provider", wanted, told)


def _log_in_elsewhere(client: Client, provider: str, *, ttl_s: int) -> IssuedToken:
    """The session of whoever says yes in a browser."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tokens import LOGIN_DEVICE, LOGIN_POLL
    from bailiwick.wire.people import DeviceQuestion

    begun: DeviceLogin = client.send(LOGIN_DEVICE, path={"provider": provider})
    place = begun.verification_uri_complete or begun.verification_uri
    typer.echo(f"Open {place}\nand check that it shows the code {begun.user_code}", err=True)
    body = make_body(DeviceQuestion, device=begun.device, ttl_s=ttl_s)
    interval_s, left_s = begun.interval_s, begun.expires_s
    while left_s > 0:  # bounded by how long the code counts
        time.sleep(interval_s)
        left_s -= interval_s
        found = client.send(LOGIN_POLL, path={"provider": provider}, body=body)
        if found.session is not None:
            return found.session
        interval_s += HASTE_S * found.is_hasty
    raise InvalidValue("login", begun.user_code, "somebody to say yes in time; begin again")

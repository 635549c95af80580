"""``bailiwick login``: becoming somebody, with a one-time code or through a provider.

Rules:

- Through a provider, the person says yes in any browser (RFC 8628). The server asks the provider;
  this program asks the server alone. So no secret and no token of the provider is on this machine,
  and only the server is to be reached from it.
- A program shows what its CI system signed, or a key, from a file: what stands on a command line is
  read by others on the machine.
- It waits as long as the code counts, and asks no more often than it is told to.
"""

from __future__ import annotations

import dataclasses
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.completions import complete_contexts
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.session import (
    CONTEXTS_MAX,
    ENVIRONMENT,
    FIRST,
    SERVER,
    Contexts,
    Session,
    check_context,
    connect,
    named_context,
    save_session,
    stored_contexts,
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

SHOWN_MAX = 32_768
"""Characters of what a program shows."""
TENANT, PROJECT = "main", "default"
"""What a first start makes; whoever sees several starts there."""
TENANTS_MAX = 20
"""Tenants of which the projects are asked for; whoever sees more names his."""


@dataclasses.dataclass(frozen=True)
class LoginOptions:
    """Where to log in, and in which way."""

    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", help="A one-time login code; without, a provider's page."),
    ] = None
    provider: Annotated[
        str | None,
        typer.Option("--provider", help="Whose page to log in at, if the server has several."),
    ] = None
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="Else the last one's, or local.")
    ] = None
    ca_file: Annotated[
        str | None,
        typer.Option("--ca-file", metavar="FILE", help="Whom to trust for the server's name."),
    ] = None
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            help="What to call this login; else the one of that server, or a new one.",
            autocompletion=complete_contexts,
        ),
    ] = None
    ttl: Annotated[str, typer.Option("--ttl", help="How long, at most 12h.")] = "12h"
    federated: Annotated[
        str | None,
        typer.Option(
            "--federated",
            metavar="ACCOUNT=FILE",
            help="As a service account: with what a CI system signed (a JWT), or a key.",
        ),
    ] = None


@command.command()
@with_options(LoginOptions)
def login(options: LoginOptions) -> None:
    """Exchange a one-time code for a session, which later commands use.

    Without a code you log in at a provider's page, in any browser. A login to another server is
    kept beside the ones that there are, under a name (its context). A program becomes a service
    account for 15 minutes, with what its CI system signed for it, or with a key.

    Example: bailiwick login 7cce26cd.ta2k2ep7xz --server http://127.0.0.1:7077
    """
    from bailiwick.wire.people import TTL_S_MAX

    code, provider = options.code, options.provider
    shown = None if options.federated is None else _shown(options.federated)
    if (code is not None) + (provider is not None) + (shown is not None) > 1:
        raise InvalidValue("login", "...", "one way: a code, --provider or --federated")
    told = None if options.context is None else check_context(options.context)
    name, before = place_login(stored_contexts(), told or named_context(), server=options.server)
    # Later commands run in other folders.
    trusted = None if options.ca_file is None else os.path.abspath(options.ca_file)
    session = Session(server=before.server, ca_file=trusted or before.ca_file)
    ttl_s = parse_term_s("--ttl", options.ttl, most_s=TTL_S_MAX)
    with connect(session) as client:
        if shown is not None:
            found = _become(client, shown, ttl_s=ttl_s)
        elif code is None:
            chosen = _choose_provider(client, provider)
            found = _log_in_elsewhere(client, chosen, ttl_s=ttl_s)
        else:
            found = _exchange(client, code, ttl_s=ttl_s)
    session = dataclasses.replace(session, token=found.token)
    with connect(session) as client:
        session = _at_home(client, session, before=before)
    path = save_session(session, name=name, use=True)
    _tell(found, session, name=name)
    typer.echo(f"kept in {path}", err=True)


def place_login(
    contexts: Contexts, named: str | None, *, server: str | None
) -> tuple[str, Session]:
    """Under which name a login is kept, and what was kept there, with the server that is meant.

    Unnamed, it is the context that is used if it is of that server, or another that is; else a new
    one, called after the server: a login never takes the place of one elsewhere.
    """
    from bailiwick.client.connection import check_server

    wanted = server or os.environ.get(ENVIRONMENT["server"])
    if named is not None:
        kept = contexts.known.get(named)
        there = server if kept is not None else wanted
    else:
        kept, there = contexts.find(contexts.current), wanted
    there = check_server(there or (kept or Session()).server)
    name = named or _name_for(contexts, there)
    before = contexts.known.get(name, Session())
    authority = os.environ.get(ENVIRONMENT["ca_file"])
    if before.server != there:  # what was meant at the other one is not meant here
        before = Session(server=there)
    return name, dataclasses.replace(before, ca_file=authority or before.ca_file)


def _name_for(contexts: Contexts, server: str) -> str:
    current = contexts.find(contexts.current)
    is_unused = current.token is None and current.server == SERVER
    if not contexts.known or current.server == server or is_unused:
        return contexts.current
    same = sorted(name for name, kept in contexts.known.items() if kept.server == server)
    if same:
        return same[0]
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", server.partition("://")[2]).strip("-.")[:50] or FIRST
    numbered = (f"{base}-{number}" for number in range(2, CONTEXTS_MAX + 2))
    return next(each for each in (base, *numbered) if each not in contexts.known)


def _tell(found: IssuedToken, session: Session, *, name: str) -> None:
    until = moment(found.expires_ms)
    typer.echo(f"you are {found.principal} at {session.server} until {until}")
    where = "/".join(each for each in (session.tenant, session.project) if each)
    if where:
        typer.echo(f"default tenant and project: {where} (bailiwick context changes it)")
    else:
        typer.echo("no default tenant: bailiwick context --tenant NAME sets one")
    if len(stored_contexts().known) > 1:
        typer.echo(f"context {name} is used from now on (bailiwick context list shows the others)")


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


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """What a program shows, and as whom it wants in."""

    account: str
    kind: str
    text: str


def _shown(told: str) -> _Shown:
    """What a program shows, from its file."""
    from bailiwick.wire.credentials import ACCOUNT_KEY, JWT, KEY_PREFIX

    account, sign, name = told.partition("=")
    if not (account and sign and name):
        raise InvalidValue("--federated", told, "ACCOUNT=FILE")
    path = Path(name)
    try:
        with path.open(encoding="ascii") as file:
            text = file.read(SHOWN_MAX + 1).strip()
    except (OSError, ValueError) as error:
        raise InvalidValue("FILE", str(path), f"a file we can read ({error})") from None
    if not 0 < len(text) <= SHOWN_MAX:
        raise InvalidValue("FILE", str(path), f"1 to {SHOWN_MAX} characters in it")
    is_key = text.startswith(KEY_PREFIX)
    return _Shown(account, ACCOUNT_KEY if is_key else JWT, text)


def _become(client: Client, shown: _Shown, *, ttl_s: int) -> IssuedToken:
    """The session of a service account."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.credentials import FEDERATION_EXCHANGE
    from bailiwick.wire.credentials import GRANT_S_MAX, IdentityExchange
    from bailiwick.wire.people import IssuedToken

    body = make_body(
        IdentityExchange,
        subject_token=shown.text,
        subject_token_type=shown.kind,
        account=shown.account,
        ttl_s=min(ttl_s, GRANT_S_MAX),
    )
    found = client.send(FEDERATION_EXCHANGE, body=body)
    return IssuedToken(
        token=found.access_token,
        token_id=found.token_id,
        principal=found.principal,
        expires_ms=found.expires_ms,
    )


def _without_code(problem: Problem) -> Problem:
    """The refusal of a code; that one logs in with a code is known here."""
    told = "this code lets nobody in (a code works once, within its time; `bailiwick up --login` "
    told += "prints another, `bailiwick token issue NAME --login-code` makes one)"
    return problem.model_copy(update={"message": told})


def _at_home(client: Client, session: Session, *, before: Session) -> Session:
    """The session with its default tenant and project: as before, or where there is no doubt."""
    from bailiwick.client.errors import Refusal

    try:
        places = _places(client)
    except Refusal:  # somebody who may not look
        return session
    tenants = list(dict.fromkeys(tenant for tenant, _ in places))
    tenant = before.tenant if before.tenant in tenants else _only(tenants, TENANT)
    projects = [each for of, each in places if of == tenant and each is not None]
    project = before.project if before.project in projects else _only(projects, PROJECT)
    return dataclasses.replace(session, tenant=tenant, project=project if tenant else None)


def _places(client: Client) -> list[tuple[str, str | None]]:
    """Where whoever is logged in has a role, or sees something: tenants, and their projects."""
    from bailiwick.wire.actions.tenants import PROJECT_LIST, TENANT_LIST
    from bailiwick.wire.actions.tokens import SELF_READ

    held = client.send(SELF_READ).roles
    found = {(each.tenant, each.project) for each in held if each.tenant and each.project}
    tenants = {each.tenant for each in held if each.tenant and not each.project}
    if any(each.tenant is None for each in held):
        tenants |= {row.tenant for row in client.pages(TENANT_LIST).items}
    places: set[tuple[str, str | None]] = {(str(t), p) for t, p in found}
    places |= {(str(tenant), None) for tenant in tenants}
    for tenant in sorted(map(str, tenants))[:TENANTS_MAX]:
        rows = client.pages(PROJECT_LIST, path={"tenant": tenant}).items
        places |= {(tenant, row.project) for row in rows}
    return sorted(places, key=lambda place: (place[0], place[1] or ""))


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

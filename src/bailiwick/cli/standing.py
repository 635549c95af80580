"""``bailiwick whoami``, ``status`` and ``break-glass``: who asks whom, and taking more, openly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.asking import Ask, verb
from bailiwick.cli.output import Format, draw_details
from bailiwick.cli.phrases import moment
from bailiwick.cli.screen import make_console, print_rows
from bailiwick.cli.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.wire.people import Self
    from bailiwick.wire.replica import ReplicaState

whoami_app = typer.Typer(add_completion=False)
status_app = typer.Typer(add_completion=False)
break_glass_app = typer.Typer(add_completion=False)


@verb(whoami_app, "whoami")
def whoami(ask: Ask) -> None:
    """Who the server takes you for, until when, and with which roles."""
    from bailiwick.wire.people import Self

    found = ask.client.read("/v1/whoami", Self)
    ask.printer.thing(found, name=found.principal, draw=lambda: _draw(ask, found))


@verb(status_app, "status")
def status(ask: Ask) -> None:
    """How the server that answers stands: its role, its journal, who leads."""
    from bailiwick.wire.replica import ReplicaState

    found = ask.client.read("/v1/replica", ReplicaState)
    ask.printer.thing(found, name=found.name, draw=lambda: _draw_status(found))


def _draw_status(found: ReplicaState) -> None:
    leader = found.leader
    told = "nobody is known" if leader is None else f"{leader.name} at {leader.address}"
    draw_details(
        "replica",
        found.name,
        rows=[
            ("address", found.address),
            ("role", found.role),
            ("leader", told),
            ("journal", f"{found.size:,} records, epoch {found.epoch}"),
            ("may be old by", f"{found.age_ms:,} ms"),
            ("fleet", f"{found.nodes:,} nodes, {found.leases:,} leases, {found.waiting:,} waiting"),
        ],
    )


def _draw(ask: Ask, found: Self) -> None:
    keys = "all of its roles'" if found.keys is None else ", ".join(found.keys)
    draw_details(
        "principal",
        found.principal,
        rows=[
            ("kind", found.kind),
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


@verb(break_glass_app, "break-glass", changes=True)
def break_glass(
    ask: Ask,
    reason: Annotated[
        str, typer.Argument(metavar="REASON", help="Why, in a sentence; it is sealed for good.")
    ],
    *,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="For whose sake, if for one tenant's.")
    ] = None,
    ttl: Annotated[str, typer.Option("--ttl", help="How long it counts; at most 15m.")] = "5m",
) -> None:
    """Take a short token with all of your rights; who, why and for whom is sealed for good."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import GLASS_TTL_S_MAX, BreakGlass, IssuedToken

    given = {} if tenant is None else {"tenant": tenant}
    ttl_s = parse_term_s("--ttl", ttl, most_s=GLASS_TTL_S_MAX)
    body = make_body(BreakGlass, reason=reason, ttl_s=ttl_s, **given)
    ask.confirm("Break the glass? It is recorded, and cannot be taken back.")
    query = {"dry_run": "true"} if ask.dry_run else None
    found: IssuedToken = ask.client.call(
        "POST", "/v1/break-glass", kind=IssuedToken, body=body, query=query
    )
    if ask.output in (Format.JSON, Format.YAML):
        ask.printer.document(found)
        return
    if ask.dry_run:
        typer.echo("the glass would be broken (dry run: nothing was changed)")
        return
    typer.echo(found.token_id if ask.output is Format.NAME else found.token)
    typer.echo(
        f"counts until {moment(found.expires_ms)}; use it once with BAILIWICK_TOKEN=...", err=True
    )

"""``bailiwick break-glass``: taking more rights, openly, for minutes."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import Format
from bailiwick.phrases.times import moment
from bailiwick.vocab.units import parse_term_s

command = typer.Typer(add_completion=False)


@verb(command, "break-glass", changes=True)
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
    """Take a short token with all of your rights; who, why and for whom is sealed for good.

    Example: bailiwick break-glass "node n7 burns, its owner is away" --ttl 5m -y
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tokens import GLASS_BREAK
    from bailiwick.wire.people import GLASS_TTL_S_MAX, BreakGlass

    given = {} if tenant is None else {"tenant": tenant}
    ttl_s = parse_term_s("--ttl", ttl, most_s=GLASS_TTL_S_MAX)
    body = make_body(BreakGlass, reason=reason, ttl_s=ttl_s, **given)
    ask.confirm("Break the glass? It is recorded, and cannot be taken back.")
    found = ask.client.send(GLASS_BREAK, body=body, dry_run=ask.dry_run)
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

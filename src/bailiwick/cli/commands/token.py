"""``bailiwick token``: what lets somebody in, for a while.

Rules:

- A token is printed once, alone on stdout, so that it can go into a file; what is said about it
  goes to stderr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.output import Columns, Format
from bailiwick.phrases.times import clock, moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.wire.people import Token

app = noun("Tokens: what lets somebody in, for a while.")


def _token_row(token: Token) -> tuple[str, ...]:
    state = "revoked" if token.revoked else "counts"
    kind = f"{token.kind}, login code" if token.single_use else token.kind
    keys = "all of its roles'" if token.keys is None else ", ".join(token.keys)
    return token.token_id, token.principal, kind, state, clock(token.expires_ms), keys


_TOKENS: Columns[Token] = Columns(
    ("token", "principal", "kind", "state", "expires", "keys*"),
    _token_row,
    lambda t: t.token_id,
    empty="no token that you could revoke",
)


@verb(app, "list", lists=True)
def list_tokens(ask: Ask) -> None:
    """The tokens that you could revoke.

    Example: bailiwick token list
    """
    from bailiwick.wire.actions.tokens import TOKEN_LIST

    ask.list(TOKEN_LIST, columns=_TOKENS)


@verb(app, "issue", changes=True)
def issue_token(
    ask: Ask,
    principal: Annotated[
        str,
        typer.Argument(
            metavar="PRINCIPAL", help="Whom it lets in: a person, an account, node:NAME."
        ),
    ],
    *,
    kind: Annotated[str, typer.Option("--kind", help="human, service_account or node.")] = "human",
    ttl: Annotated[str, typer.Option("--ttl", help="How long it counts; at most 12h.")] = "1h",
    key: Annotated[
        list[str] | None,
        typer.Option("--key", help="A permission it carries; repeat it. Else all of the roles'."),
    ] = None,
    login_code: Annotated[
        bool, typer.Option("--login-code", help="Good for one bailiwick login, and nothing else.")
    ] = False,
) -> None:
    """Make a token; it is shown this once.

    Example: bailiwick token issue ci --kind service_account --ttl 1h --key scheduler.queue.submit
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tokens import TOKEN_ISSUE
    from bailiwick.wire.people import TTL_S_MAX, NewToken

    body = make_body(
        NewToken,
        principal=principal,
        kind=kind,
        ttl_s=parse_term_s("--ttl", ttl, most_s=TTL_S_MAX),
        single_use=login_code,
        **({"keys": key} if key else {}),
    )
    found = ask.client.send(TOKEN_ISSUE, body=body, dry_run=ask.dry_run)
    if ask.output not in (Format.TABLE, Format.NAME):
        ask.printer.document(found)
        return
    if ask.dry_run:
        typer.echo(f"a token for {principal} would be made (dry run: nothing was changed)")
        return
    typer.echo(found.token_id if ask.output is Format.NAME else found.token)
    until = moment(found.expires_ms)
    typer.echo(f"token {found.token_id} lets {principal} in until {until}; kept nowhere", err=True)


@verb(app, "revoke", changes=True)
def revoke_token(
    ask: Ask, token: Annotated[str, typer.Argument(metavar="TOKEN_ID", help="Its id.")]
) -> None:
    """Make a token count no more.

    Example: bailiwick token revoke 01a1de7d-e3dd-7030-8b13-924f8a8468e8
    """
    from bailiwick.wire.actions.tokens import TOKEN_REVOKE

    if token.count(".") == 2:
        raise InvalidValue("TOKEN_ID", "...", "the token's id, not the token")
    path = {"token_id": path_word("TOKEN_ID", token)}
    ask.change(TOKEN_REVOKE, path=path, told=f"token {token} counts no more")

"""``bailiwick session``: your own logins, on this machine, in browsers and elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.phrases.times import clock
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.people import SessionHeld

app = noun("Your own sessions and tokens that still count.")


def _row(held: SessionHeld) -> tuple[str, ...]:
    kind = "login code" if held.single_use else held.kind
    where = "this one" if held.is_this else ""
    return held.token_id, kind, clock(held.issued_ms), clock(held.expires_ms), where


_SESSIONS: Columns[SessionHeld] = Columns(
    ("token", "kind", "since", "expires", ""),
    _row,
    lambda held: held.token_id,
    empty="no session of yours",
)


@verb(app, "list", lists=True)
def list_sessions(ask: Ask) -> None:
    """Your own sessions and tokens, wherever they are used.

    Example: bailiwick session list
    """
    from bailiwick.wire.actions.tokens import SESSION_LIST

    ask.list(SESSION_LIST, columns=_SESSIONS)


@verb(app, "revoke", changes=True)
def revoke_session(
    ask: Ask, token: Annotated[str, typer.Argument(metavar="TOKEN_ID", help="Its id.")]
) -> None:
    """End one of your own sessions: a browser that you left open, a token that you lost.

    Example: bailiwick session revoke 01a1de7d-e3dd-7030-8b13-924f8a8468e8
    """
    from bailiwick.wire.actions.tokens import SESSION_END

    if token.count(".") == 2:
        raise InvalidValue("TOKEN_ID", "...", "the token's id, not the token")
    path = {"token_id": path_word("TOKEN_ID", token)}
    ask.change(SESSION_END, path=path, told=f"session {token} counts no more")

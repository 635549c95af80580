"""``bailiwick invitation``: roles elsewhere that one was offered, and those that one has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.people import Invitation, InvitedTo

app = noun("Invitations: roles elsewhere that you were offered. They count once you accept.")

_Place = Annotated[
    str, typer.Argument(metavar="TENANT[/PROJECT]", help="Where, as invitation list tells it.")
]


def place_of(text: str) -> InvitedTo:
    """The tenant and perhaps the project that were typed.

    >>> place_of("lab/vision").project
    'vision'
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import InvitedTo

    tenant, slash, project = text.partition("/")
    if slash and not project:
        raise InvalidValue("TENANT[/PROJECT]", text, "a tenant, or a tenant, a slash and a project")
    return make_body(InvitedTo, tenant=tenant, project=project or None)


def _where(found: Invitation) -> str:
    return "/".join(each for each in (found.tenant, found.project) if each)


@verb(app, "list", lists=True)
def list_invitations(ask: Ask) -> None:
    """The roles that you may accept, and until when.

    Example: bailiwick invitation list
    """
    from bailiwick.wire.actions.tenants import INVITATION_LIST

    columns: Columns[Invitation] = Columns(
        ("at*", "role", "until"),
        lambda found: (_where(found), found.role, moment(found.expires_ms)),
        _where,
        empty="no invitation",
    )
    ask.list(INVITATION_LIST, columns=columns)


def _send(ask: Ask, action: Any, *, place: str, told: str) -> None:
    ask.change(action, body=place_of(place), told=told)


@verb(app, "accept", changes=True)
def accept(ask: Ask, place: _Place) -> None:
    """Accept a role elsewhere; your own home keeps looking after your tokens.

    Example: bailiwick invitation accept rival/vision
    """
    from bailiwick.wire.actions.tenants import INVITATION_ACCEPT

    _send(ask, INVITATION_ACCEPT, place=place, told=f"you have the role at {place}")


@verb(app, "decline", changes=True)
def decline(ask: Ask, place: _Place) -> None:
    """Decline a role elsewhere.

    Example: bailiwick invitation decline rival/vision
    """
    from bailiwick.wire.actions.tenants import INVITATION_DECLINE

    _send(ask, INVITATION_DECLINE, place=place, told=f"declined: {place}")


@verb(app, "leave", changes=True)
def leave(ask: Ask, place: _Place) -> None:
    """Give up a role that you have elsewhere.

    Example: bailiwick invitation leave rival/vision -y
    """
    from bailiwick.wire.actions.tenants import INVITATION_LEAVE

    ask.confirm(f"Give up your role at {place}?")
    _send(ask, INVITATION_LEAVE, place=place, told=f"you have no role at {place}")

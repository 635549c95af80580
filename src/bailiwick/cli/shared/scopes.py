"""What tenants and projects have in common: a name for people, and whether they are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.output import draw_details
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.people import Project, Tenant

DisplayNameOption = Annotated[
    str | None, typer.Option("--display-name", metavar="TEXT", help="What people call it.")
]
OpenOption = Annotated[
    bool | None, typer.Option("--open/--close", help="Whether it takes new requests.")
]
RevisionOption = Annotated[
    int | None,
    typer.Option(
        "--if-revision", min=1, help="Only if it is still at this revision; else ends with 6."
    ),
]


def state_of(is_open: bool) -> str:
    """Whether it takes new requests, in a word."""
    return "open" if is_open else "closed"


def draw_scope(found: Tenant | Project, kind: str, *, name: str) -> None:
    """One tenant or project for people."""
    draw_details(
        kind,
        name,
        rows=[
            ("name for people", found.display_name or "-"),
            ("state", state_of(found.is_open)),
            ("revision", str(found.revision)),
        ],
    )


def change_body(display_name: str | None, is_open: bool | None) -> Any:
    """What is to change of it; something has to."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import ScopeChange

    given: dict[str, Any] = {"display_name": display_name, "is_open": is_open}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise InvalidValue("options", None, "--display-name, --open or --close")
    return make_body(ScopeChange, **given)

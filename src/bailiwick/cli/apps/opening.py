"""``bailiwick app open``: a page that an instance serves, in the browser of this machine."""

from __future__ import annotations

import secrets
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.apps.arguments import InstanceName, find, place_of
from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.session import connect
from bailiwick.vocab.errors import Conflict, InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.instances import InstanceEndpoint

EndpointOption = Annotated[
    str | None,
    typer.Option("--endpoint", metavar="NAME", help="Which; needed if there are several."),
]
PortOption = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=1, max=65_535, help="Else any that is free."),
]


def add_open_verb(app: typer.Typer) -> None:
    """What ``bailiwick app`` says about opening what an instance serves."""
    verb(app, "open", scope="project")(open_endpoint)


def open_endpoint(
    ask: Ask,
    name: InstanceName,
    *,
    endpoint: EndpointOption = None,
    port: PortOption = None,
) -> None:
    """Open a page that an instance serves, such as its dashboard, until Ctrl-C.

    Listens on this machine alone and passes HTTP on through the platform, with your login. Open the
    address that is printed: it holds a secret without which nothing is passed on. A program shows
    the same secret as a bearer token. Needs scheduler.endpoint.open. It is sealed in the journal
    that you opened it, and never what you looked at. Ends by itself when your login is over.

    Example: bailiwick app open demo --endpoint dashboard --port 8265
    """
    from bailiwick.apps.endpoints.local_door import LocalDoor
    from bailiwick.cli.apps.listener import Listener, listen

    path = {**place_of(ask), "instance_id": find(ask, name).instance_id}
    chosen = _chosen(ask, path, endpoint)
    prefix = _prefix(path, chosen.name)
    with listen(port) as place:
        door = LocalDoor(place.getsockname()[1], secrets.token_urlsafe(24))
        listener = Listener(place, door, prefix=prefix, connect=lambda: connect(ask.session))
        typer.echo(door.address)
        typer.echo(f"{chosen.title} of {name}, on this machine alone; Ctrl-C ends it.", err=True)
        for number in (signal.SIGINT, signal.SIGTERM):  # a script's child would not hear Ctrl-C
            signal.signal(number, lambda *_: listener.stop())
        listener.serve()
    if not listener.why:
        return
    typer.echo(listener.why, err=True)
    raise typer.Exit(ExitCode.DENIED)


def _chosen(ask: Ask, path: dict[str, str | int], wanted: str | None) -> InstanceEndpoint:
    """The endpoint that is meant."""
    from bailiwick.wire.actions.instances import INSTANCE_ENDPOINT_LIST

    found = {each.name: each for each in ask.client.send(INSTANCE_ENDPOINT_LIST, path=path).items}
    if wanted is None and len(found) == 1:
        (wanted,) = found
    if wanted not in found:
        told = ", ".join(sorted(found)) or "none: this app serves nothing"
        raise InvalidValue("--endpoint", wanted, told)
    chosen = found[wanted]
    if chosen.component_key is None:
        raise Conflict("endpoint", chosen.name, f"has no {chosen.role} that is ready to serve it")
    return chosen


def _prefix(path: dict[str, str | int], endpoint: str) -> str:
    from bailiwick.wire.actions.instances import INSTANCE_ENDPOINT_GET

    return INSTANCE_ENDPOINT_GET.path_to(**path, endpoint=endpoint, rest="")

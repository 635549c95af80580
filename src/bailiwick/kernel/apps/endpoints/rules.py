"""Endpoints of instances: which can be opened, and that it is sealed.

Rules:

- Only an instance that is up has something to open, and only what the manifest of the member that
  serves it declares is opened.
- Behind a shared runtime nothing is opened: its members are no project's.
- Nothing of it is kept in the state. That it is over is sealed whatever became of the instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from bailiwick.kernel.apps.calls.rules import check_askable
from bailiwick.kernel.apps.endpoints.commands import (
    EndpointCommand,
    NoteEndpointClosed,
    OpenEndpoint,
)
from bailiwick.kernel.apps.endpoints.events import (
    AppEndpointClosed,
    AppEndpointOpened,
    EndpointEvent,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import SharedRefusal


def decide(state: State, command: EndpointCommand) -> Iterator[Event]:
    """The record that follows, or why there is nothing to open."""
    match command:
        case OpenEndpoint():
            return _open(state, command)
        case NoteEndpointClosed():
            return _close(command)
        case _:
            assert_never(command)


def _open(state: State, command: OpenEndpoint) -> Iterator[Event]:
    number, book = command.instance_id, state.apps
    held = book.instances.get(command.tenant, command.project, instance_id=number)
    behind = book.shared.behind(number)
    if behind is not None:
        raise SharedRuntimeRefused(SharedRefusal.BACKS_A_RUNTIME, behind.runtime.name)
    check_askable(held.instance)
    member = held.members.get(command.member_id)
    if member is None:
        raise NotFound("member", command.member_id)
    manifest = book.version(held.instance.app, member.version).manifest
    declared = manifest.endpoints.get(command.endpoint)
    if declared is None or declared.role != member.role:
        raise NotFound("endpoint", command.endpoint)
    what = command.endpoint, member.id, command.session_id
    yield AppEndpointOpened(held.instance.owner, number, held.instance.app, *what)


def _close(command: NoteEndpointClosed) -> Iterator[Event]:
    owner = Owner(command.tenant, command.project)
    whose = command.instance_id, command.app, command.endpoint, command.session_id
    yield AppEndpointClosed(owner, *whose, command.end, command.requests)


def apply(state: State, event: EndpointEvent, at_ms: int) -> None:
    """Nothing is kept of it."""
    del state, event, at_ms

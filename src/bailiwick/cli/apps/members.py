"""``bailiwick app member``: the members of an instance, one by one."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.apps.arguments import InstanceName, find, place_of
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.vocab.apps import MemberAction

app = noun("Members of an instance, one by one; where they run the platform chooses.")

Component = Annotated[
    str, typer.Argument(metavar="COMPONENT", help="worker-1, as app instance members lists it.")
]


@verb(app, "add", changes=True, scope="project")
def add_member(
    ask: Ask,
    name: InstanceName,
    *,
    component: Component,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Of the manifest.")],
) -> None:
    """Add a member to an instance.

    Example: bailiwick app member add demo worker-9 --role worker
    """
    _change(ask, name, MemberAction.ADD, component=component, told="is added", role=role)


@verb(app, "drain", changes=True, scope="project")
def drain_member(ask: Ask, name: InstanceName, *, component: Component) -> None:
    """Have a member finish what it does, and go.

    Example: bailiwick app member drain demo worker-2
    """
    _change(ask, name, MemberAction.DRAIN, component=component, told="is drained")


@verb(app, "remove", changes=True, scope="project")
def remove_member(ask: Ask, name: InstanceName, *, component: Component) -> None:
    """End a member now.

    Example: bailiwick app member remove demo worker-2 -y
    """
    ask.confirm(f"End {component} of {name} now?")
    _change(ask, name, MemberAction.REMOVE, component=component, told="is removed")


@verb(app, "replace", changes=True, scope="project")
def replace_member(ask: Ask, name: InstanceName, *, component: Component) -> None:
    """Put another member in the place of one.

    Example: bailiwick app member replace demo worker-2
    """
    _change(ask, name, MemberAction.REPLACE, component=component, told="is replaced")


def _change(
    ask: Ask,
    name: str,
    action: MemberAction,
    *,
    component: str,
    told: str,
    role: str | None = None,
) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.instances import INSTANCE_MEMBER_CHANGE
    from bailiwick.wire.instances import InstanceMemberChange

    found = find(ask, name)
    body = make_body(InstanceMemberChange, action=action, component_key=component, role=role)
    path = {**place_of(ask), "instance_id": found.instance_id}
    ask.change(
        INSTANCE_MEMBER_CHANGE, path=path, body=body, told=f"{component} of {found.name} {told}"
    )

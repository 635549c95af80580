"""``bailiwick app member``: the members of an instance, one by one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bailiwick.cli.apps.arguments import (
    InstanceName,
    TimeoutOption,
    WaitOption,
    find,
    place_of,
    wait_for_operation,
)
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Format
from bailiwick.vocab.apps import MemberAction
from bailiwick.vocab.errors import InvalidValue

app = noun("Members of an instance, one by one; where they run the platform chooses.")

Component = Annotated[
    str, typer.Argument(metavar="COMPONENT", help="worker-1, as app instance members lists it.")
]
Which = Annotated[
    str | None,
    typer.Argument(metavar="[COMPONENT]", help="worker-1, as app instance members lists it."),
]
Number = Annotated[
    int | None,
    typer.Option(
        "--member-id",
        metavar="N",
        min=1,
        help="Instead of COMPONENT: just this member, and none that came in its place.",
    ),
]


@verb(app, "add", changes=True, scope="project")
def add_member(
    ask: Ask,
    name: InstanceName,
    *,
    component: Component,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Of the manifest.")],
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Add a member to an instance.

    Example: bailiwick app member add demo worker-9 --role worker --wait
    """
    change = {"action": MemberAction.ADD, "component_key": component, "role": role}
    _change(ask, name, change, told=f"{component} of {{}} is added", wait=(wait, timeout))


@verb(app, "drain", changes=True, scope="project")
def drain_member(
    ask: Ask,
    name: InstanceName,
    *,
    component: Which = None,
    member_id: Number = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Have a member finish what it does, and go.

    Example: bailiwick app member drain demo worker-2 --wait
    """
    called = _called(component, member_id)
    change = {"action": MemberAction.DRAIN, "component_key": component, "member_id": member_id}
    _change(ask, name, change, told=f"{called} of {{}} is drained", wait=(wait, timeout))


@verb(app, "remove", changes=True, scope="project")
def remove_member(
    ask: Ask,
    name: InstanceName,
    *,
    component: Which = None,
    member_id: Number = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """End a member now.

    Example: bailiwick app member remove demo worker-2 -y --wait
    """
    called = _called(component, member_id)
    ask.confirm(f"End {called} of {name} now?")
    change = {"action": MemberAction.REMOVE, "component_key": component, "member_id": member_id}
    _change(ask, name, change, told=f"{called} of {{}} is removed", wait=(wait, timeout))


@verb(app, "replace", changes=True, scope="project")
def replace_member(
    ask: Ask,
    name: InstanceName,
    *,
    component: Which = None,
    member_id: Number = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Put another member in the place of one.

    Example: bailiwick app member replace demo worker-2 --wait
    """
    called = _called(component, member_id)
    change = {"action": MemberAction.REPLACE, "component_key": component, "member_id": member_id}
    _change(ask, name, change, told=f"{called} of {{}} is replaced", wait=(wait, timeout))


def _called(component: str | None, member_id: int | None) -> str:
    if (component is None) == (member_id is None):
        raise InvalidValue("COMPONENT", component, "a component, or --member-id: one of the two")
    return component or f"member {member_id}"


def _change(
    ask: Ask, name: str, change: dict[str, Any], *, told: str, wait: tuple[bool, str | None]
) -> None:
    """Have it done; with ``wait``, come back when its operation has ended, and end as that did."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.instances import INSTANCE_MEMBER_CHANGE
    from bailiwick.wire.instances import InstanceMemberChange

    found = find(ask, name)
    body = make_body(InstanceMemberChange, **change)
    path = {**place_of(ask), "instance_id": found.instance_id}
    done = ask.client.send(INSTANCE_MEMBER_CHANGE, path=path, body=body, dry_run=ask.dry_run)
    suffix = " (dry run: nothing was changed)" if ask.dry_run else ""
    line = told.format(found.name) + suffix
    is_waited = wait[0] and done.operation_id is not None
    if is_waited and ask.output is Format.JSON:
        typer.echo(line, err=True)
    else:
        ask.printer.thing(done, name=line, draw=lambda: typer.echo(line))
    if is_waited:
        assert done.operation_id is not None  # for the type checker
        wait_for_operation(ask, {**path, "operation_id": done.operation_id}, timeout=wait[1])

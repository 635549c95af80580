"""``bailiwick app instance``: apps that a project runs.

Rules:

- An instance is named by its name, or by its number (``instance-7``).
- What takes its time can be waited for: with ``--wait`` a command ends as the instance stands, 0
  if it runs (or is gone, if that was asked for), 1 if it failed, 4 if the time is up.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.apps.arguments import (
    InstanceName,
    TimeoutOption,
    WaitOption,
    find,
    parse_counts,
    parse_parameters,
    place_of,
    wait_for,
)
from bailiwick.cli.apps.screen import INSTANCES, MEMBERS, OPERATIONS, draw_instance, draw_told
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.completions import complete_projects, complete_tenants
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.scopes import RevisionOption
from bailiwick.cli.shared.session import load_session
from bailiwick.vocab.apps import ControlPlaneScope, InstancePhase, OperatingMode
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.instances import Instance

app = noun("Apps that a project runs.")

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter; JSON, or else text."),
]
FileOption = Annotated[
    Path | None, typer.Option("--parameters", metavar="FILE", help="All of them, as JSON.")
]
CountOption = Annotated[
    list[str] | None,
    typer.Option("--count", metavar="ROLE=N", help="How many members of a role; else its least."),
]
PhaseOption = Annotated[
    InstancePhase | None, typer.Option("--phase", help="Only those in this phase.")
]
OfApp = Annotated[str | None, typer.Option("--app", metavar="APP", help="Only those of this app.")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateOptions:
    """What ``bailiwick app instance create`` can be told."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="What you call it.")]
    of_app: Annotated[str, typer.Argument(metavar="APP", help="hello, or lab.hello.")]
    version: Annotated[str, typer.Option("--version", metavar="VERSION", help="Such as 1.2.0.")]
    given: SetOption = None
    parameters: FileOption = None
    count: CountOption = None
    mode: Annotated[OperatingMode, typer.Option("--mode", help="Who runs its control plane.")] = (
        OperatingMode.TENANT_DEDICATED
    )
    control_plane: Annotated[
        ControlPlaneScope, typer.Option("--control-plane", help="Whom it serves.")
    ] = ControlPlaneScope.PROJECT
    wait: WaitOption = False
    timeout: TimeoutOption = None
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
    ] = None
    project: Annotated[
        str | None,
        typer.Option("--project", help="A part of it.", autocompletion=complete_projects),
    ] = None
    output: Annotated[
        Format, typer.Option("--output", "-o", help="For people, or the wire model.")
    ] = Format.TABLE
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")] = (
        False
    )


@app.command(
    "create",
    help="Run an app in a project.\n\nbailiwick app instance create demo hello --version 1.2.0 "
    "--count worker=2 --set greeting=ahoy --wait\n\nEnds with 0 once it is requested (with "
    "--wait: runs), 3 if it is refused, 4 if --timeout is over.",
)
@with_options(CreateOptions)
def create_instance(options: CreateOptions) -> None:
    """Create an instance."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.instances import INSTANCE_CREATE
    from bailiwick.wire.instances import NewInstance

    given = {"tenant": options.tenant, "project": options.project}
    ask = Ask(load_session(), output=options.output, dry_run=options.dry_run, given=given)
    body = make_body(
        NewInstance,
        name=options.name,
        app=options.of_app,
        version=options.version,
        parameters=parse_parameters(options.given, file=options.parameters) or {},
        counts=parse_counts(options.count),
        operating_mode=options.mode,
        control_plane_scope=options.control_plane,
    )
    told = f"{options.name} is requested: {options.of_app} {options.version}"
    ask.change(INSTANCE_CREATE, path=place_of(ask), body=body, told=told)
    _wait_if(ask, options.name, wait=options.wait, timeout=options.timeout)


@verb(app, "list", lists=True, scope="project")
def list_instances(ask: Ask, *, of_app: OfApp = None, phase: PhaseOption = None) -> None:
    """The instances of a project.

    Example: bailiwick app instance list --phase running
    """
    from bailiwick.wire.actions.instances import INSTANCE_LIST

    told = {"app": of_app, "phase": None if phase is None else phase.value}
    query = {word: value for word, value in told.items() if value is not None}
    ask.list(INSTANCE_LIST, columns=INSTANCES, path=place_of(ask), query=query)


@verb(app, "show", scope="project")
def show_instance(ask: Ask, name: InstanceName) -> None:
    """One instance: its phase, versions, members, what is out of order, and what to do.

    Example: bailiwick app instance show demo
    """
    from bailiwick.wire.actions.instances import INSTANCE_MEMBER_LIST

    found = find(ask, name)
    members = ask.client.pages(INSTANCE_MEMBER_LIST, path=_path(ask, found)).items
    ask.printer.thing(found, name=found.name, draw=lambda: draw_instance(found, members))


@verb(app, "upgrade", changes=True, scope="project")
def upgrade_instance(
    ask: Ask,
    name: InstanceName,
    *,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Such as 1.3.0.")],
    if_revision: RevisionOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Bring an instance to another version, along the upgrade paths of the manifest.

    Example: bailiwick app instance upgrade demo 1.3.0 --wait
    """
    _change(ask, name, f"is brought to {version}", if_revision=if_revision, version=version)
    _wait_if(ask, name, wait=wait, timeout=timeout)


@verb(app, "rollback", changes=True, scope="project")
def roll_back(
    ask: Ask,
    name: InstanceName,
    *,
    if_revision: RevisionOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Bring an instance back to what it last ran as, or to the version that it ran before.

    With its version it gets its parameters and counts of then. What becomes of its data the
    manifest says (rollback: data).

    Example: bailiwick app instance rollback demo
    """
    ask.confirm(f"Bring {name} back to what it was before?")
    _change(ask, name, "goes back to what it was before", if_revision=if_revision, rollback=True)
    _wait_if(ask, name, wait=wait, timeout=timeout)


@verb(app, "scale", changes=True, scope="project")
def scale_instance(
    ask: Ask,
    name: InstanceName,
    *,
    counts: Annotated[list[str], typer.Argument(metavar="ROLE=N...", help="Such as worker=4.")],
    if_revision: RevisionOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Change how many members an instance has of a role.

    Example: bailiwick app instance scale demo worker=4
    """
    wanted = parse_counts(counts)
    told = ", ".join(f"{role}={n}" for role, n in wanted.items())
    _change(ask, name, f"is to have {told}", if_revision=if_revision, counts=wanted)
    _wait_if(ask, name, wait=wait, timeout=timeout)


@verb(app, "configure", changes=True, scope="project")
def configure_instance(
    ask: Ask, name: InstanceName, *, given: SetOption = None, parameters: FileOption = None
) -> None:
    """Change an instance's parameters: some with --set, or all of them with --parameters.

    Example: bailiwick app instance configure demo --set greeting=ahoy
    """
    found = find(ask, name)
    before = None if parameters is not None else found.parameters
    told = parse_parameters(given, file=parameters, before=before)
    if told is None:
        raise InvalidValue("options", None, "--set or --parameters")
    _change(ask, name, "has new parameters", if_revision=found.revision, parameters=told)


@verb(app, "pause", changes=True, scope="project")
def pause_instance(ask: Ask, name: InstanceName) -> None:
    """Begin nothing for an instance: no member is added or replaced; what runs goes on.

    Example: bailiwick app instance pause demo
    """
    _change(ask, name, "is paused", is_paused=True)


@verb(app, "resume", changes=True, scope="project")
def resume_instance(ask: Ask, name: InstanceName) -> None:
    """Go on with an instance that was paused.

    Example: bailiwick app instance resume demo
    """
    _change(ask, name, "goes on", is_paused=False)


@verb(app, "delete", changes=True, scope="project")
def delete_instance(
    ask: Ask,
    name: InstanceName,
    *,
    if_revision: RevisionOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = None,
) -> None:
    """Delete an instance: its members go, then it does.

    Example: bailiwick app instance delete demo -y --wait
    """
    from bailiwick.wire.actions.instances import INSTANCE_DELETE

    found = find(ask, name)
    ask.confirm(f"Delete {found.name} and all its members?")
    etag = None if if_revision is None else f'"{if_revision}"'
    told = f"{found.name} is being deleted"
    ask.change(INSTANCE_DELETE, path=_path(ask, found), etag=etag, told=told)
    _wait_if(ask, f"instance-{found.instance_id}", wait=wait, timeout=timeout)


@verb(app, "force-delete", changes=True, scope="project")
def force_delete(
    ask: Ask,
    name: InstanceName,
    *,
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Why; it is sealed.")],
) -> None:
    """End a deletion that is overdue, whatever is left: for people who run the fleet.

    Example: bailiwick app instance force-delete demo "its operator is gone for good" -y
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.instances import INSTANCE_FORCE_DELETE
    from bailiwick.wire.instances import ForcedDeletion

    found = find(ask, name)
    ask.confirm(f"Take {found.name} off the books, whatever is left of it?")
    body = make_body(ForcedDeletion, reason=reason)
    told = f"{found.name} is gone, by force"
    ask.change(INSTANCE_FORCE_DELETE, path=_path(ask, found), body=body, told=told)


@verb(app, "members", lists=True, scope="project")
def list_members(ask: Ask, name: InstanceName) -> None:
    """The members of an instance.

    Example: bailiwick app instance members demo --watch
    """
    from bailiwick.wire.actions.instances import INSTANCE_MEMBER_LIST

    ask.list(INSTANCE_MEMBER_LIST, columns=MEMBERS, path=_path(ask, find(ask, name)))


@verb(app, "operations", lists=True, scope="project")
def list_operations(ask: Ask, name: InstanceName) -> None:
    """What was and is being done with an instance, newest first.

    Example: bailiwick app instance operations demo
    """
    from bailiwick.wire.actions.instances import INSTANCE_OPERATION_LIST

    ask.list(INSTANCE_OPERATION_LIST, columns=OPERATIONS, path=_path(ask, find(ask, name)))


@verb(app, "usage", scope="project")
def show_usage(ask: Ask, name: InstanceName) -> None:
    """What an instance's operator told of its use, in units of the app, and up to when.

    Example: bailiwick app instance usage demo
    """
    from bailiwick.wire.actions.instances import INSTANCE_USAGE_READ

    found = ask.client.send(INSTANCE_USAGE_READ, path=_path(ask, find(ask, name)))
    ask.printer.thing(found, name=name, draw=lambda: draw_told(found))


@verb(app, "wait", scope="project")
def wait_for_instance(ask: Ask, name: InstanceName, *, timeout: TimeoutOption = None) -> None:
    """Wait until an instance runs as it is wanted, or is gone if it is being deleted.

    It ends with 0 then, with 1 if the instance failed, with 4 if the time is up.

    Example: bailiwick app instance wait demo --timeout 5m
    """
    wait_for(ask, name, timeout=timeout)


# -- asking ----------------------------------------------------------------------------------


def _path(ask: Ask, found: Instance) -> dict[str, str | int]:
    return {**place_of(ask), "instance_id": found.instance_id}


def _change(
    ask: Ask, name: str, told: str, *, if_revision: int | None = None, **changes: Any
) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.instances import INSTANCE_CHANGE
    from bailiwick.wire.instances import InstanceChange

    found = find(ask, name)
    etag = None if if_revision is None else f'"{if_revision}"'
    body = make_body(InstanceChange, **changes)
    told = f"{found.name} {told}"
    ask.change(INSTANCE_CHANGE, path=_path(ask, found), body=body, etag=etag, told=told)


def _wait_if(ask: Ask, name: str, *, wait: bool, timeout: str | None) -> None:
    if wait and not ask.dry_run:
        wait_for(ask, name, timeout=timeout)

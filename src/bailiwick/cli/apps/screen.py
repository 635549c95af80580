"""Instances of apps as people see them: tables, one in detail, and what to do next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.amounts import plural, span
from bailiwick.phrases.times import age, moment
from bailiwick.vocab.apps import InstanceCondition, InstancePhase, MemberPhase

if TYPE_CHECKING:
    from bailiwick.wire.instances import (
        Instance,
        InstanceMember,
        InstanceOperation,
        InstanceUsage,
    )


def told_members(found: Instance) -> str:
    """How many members are ready of those that are wanted, by role."""
    roles = (f"{role} {found.ready.get(role, 0)}/{n}" for role, n in sorted(found.counts.items()))
    return ", ".join(roles) or "-"


def told_phase(found: Instance) -> str:
    """How it stands, in few words."""
    words = [word.value for word in found.conditions]
    return found.phase.value + (f" ({', '.join(words)})" if words else "")


INSTANCES: Columns[Instance] = Columns(
    ("id", "name", "app", "version", "phase*", "ready/wanted", "age"),
    lambda i: (
        str(i.instance_id),
        i.name,
        i.app,
        i.version,
        told_phase(i),
        told_members(i),
        age(i.created_ms),
    ),
    lambda i: i.name,
    numbers=("id",),
    empty="no instance; create one with bailiwick app instance create",
)
MEMBERS: Columns[InstanceMember] = Columns(
    ("member", "component", "role", "version", "phase", "job", "lease", "why*", "since"),
    lambda m: (
        str(m.member_id),
        m.component_key,
        m.role,
        m.version,
        m.phase.value,
        "-" if m.job_id is None else f"job-{m.job_id}",
        "-" if m.lease_id is None else f"lease-{m.lease_id}",
        m.reason or "-",
        age(m.changed_ms),
    ),
    lambda m: m.component_key,
    numbers=("member",),
    empty="no member",
)
OPERATIONS: Columns[InstanceOperation] = Columns(
    ("operation", "kind", "of", "phase", "done", "begun", "took", "result*"),
    lambda o: (
        str(o.operation_id),
        o.kind.value,
        o.title or o.component_key or "the instance",
        o.phase.value,
        f"{o.progress} %",
        moment(o.begun_ms),
        "-" if o.ended_ms is None else span(o.ended_ms - o.begun_ms),
        o.result or (o.log[-1] if o.log else "-"),
    ),
    lambda o: str(o.operation_id),
    numbers=("operation", "done"),
    empty="no operation",
)


def draw_instance(found: Instance, members: Sequence[InstanceMember]) -> None:
    """One instance in detail, with its members and what to do next."""
    rows = [
        ("app", f"{found.app} {found.version}"),
        ("phase", told_phase(found)),
        ("its operator says", found.reason or "-"),
        ("generation", _generation(found)),
        ("members ready", told_members(found)),
        ("parameters", _plain(found.parameters)),
        ("mode", f"{found.operating_mode.value}, for one {found.control_plane_scope.value}"),
        ("backend", found.runtime_backend),
        ("goes back to", found.rollback_version or "nothing yet"),
        ("created", moment(found.created_ms)),
    ]
    if found.deadline_ms is not None:
        rows.append(("to be gone by", moment(found.deadline_ms)))
    rows.append(("revision", str(found.revision)))
    draw_details("instance", f"{found.name} ({found.instance_id})", rows=rows)
    if members:
        told = [MEMBERS.row(each) for each in members]
        print_rows(make_console(), MEMBERS.headings, rows=told)
    for line in next_steps(found, members):
        typer.echo(f"  {line}", err=True)


def _generation(found: Instance) -> str:
    if not found.observed_generation:
        return f"{found.generation}, no operator has reported"
    seen = found.observed_generation
    told = "seen by its operator" if seen == found.generation else f"its operator saw {seen}"
    return f"{found.generation}, {told}"


def _plain(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(parameters.items())) or "-"


def next_steps(found: Instance, members: Sequence[InstanceMember]) -> Iterator[str]:
    """What may be done about it, each a line."""
    word, name = "bailiwick app instance", found.name
    has = found.conditions
    failed = next((m for m in members if m.phase is MemberPhase.FAILED), None)
    if failed is not None:
        job = failed.job_id
        yield f"bailiwick app member replace {name} {failed.component_key}"
        if job is not None:
            yield f"bailiwick logs job-{job}"
    if InstanceCondition.NOT_ENTITLED in has:
        yield f"bailiwick app entitlement explain {found.app}"
    if InstanceCondition.PAUSED in has:
        yield f"{word} resume {name}"
    if InstanceCondition.DELETION_OVERDUE in has:
        yield f'{word} force-delete {name} "WHY" ends it, if you run the fleet'
    elif found.phase is InstancePhase.DELETING:
        yield f"{word} wait {name}"
    elif found.phase is InstancePhase.FAILED and found.rollback_version is not None:
        yield f"{word} rollback {name}"
    elif found.phase in (InstancePhase.REQUESTED, InstancePhase.PROVISIONING):
        yield f"{word} wait {name}"


def told_progress(found: Instance | None, began: float) -> str:
    """How a wait stands."""
    took = span(round((time.monotonic() - began) * 1000))
    if found is None:
        return f"gone after {took}"
    missing = sum(n - found.ready.get(role, 0) for role, n in found.counts.items())
    more = f", {plural(missing, 'member')} to come" if missing > 0 else ""
    return f"{found.name}: {told_phase(found)}{more} after {took}"


def draw_told(found: InstanceUsage) -> None:
    """What an instance told of its use, a row for each unit and component."""
    if not found.units:
        typer.echo("nothing was told yet; its operator does, in the units of its version")
        return
    rows = [
        (
            each.unit,
            each.component_key or "-",
            f"{each.quantity:,}",
            f"{each.reports:,}",
            moment(each.told_until_ms),
        )
        for each in found.units
    ]
    headings = ("unit", "component", "quantity", "reports", "until")
    print_rows(make_console(), headings, rows=rows, numbers=("quantity", "reports"))
    told = (f"{each.principal} ({plural(each.last_sequence, 'report')})" for each in found.sources)
    typer.echo(f"told by {', '.join(told)}")

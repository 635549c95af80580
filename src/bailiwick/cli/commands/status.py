"""``bailiwick status``: how the server that answers stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import draw_details
from bailiwick.cli.shared.screen import printable
from bailiwick.phrases.amounts import plural

if TYPE_CHECKING:
    from bailiwick.wire.replica import ClusterState, ReplicaState

command = typer.Typer(add_completion=False)


@verb(command, "status")
def status(ask: Ask) -> None:
    """How the server that answers stands: its role, its journal, who leads, its clusters.

    Example: bailiwick status
    """
    from bailiwick.wire.actions.server import REPLICA_READ

    found = ask.client.send(REPLICA_READ)
    ask.printer.thing(found, name=found.name, draw=lambda: _draw_status(found))


def _agents(found: ReplicaState) -> str:
    told = [f"{count:,} {mode}" for mode, count in found.agents.items()]
    return ", ".join(told) or "no node runs any"


def _told_cluster(found: ClusterState) -> str:
    """How a cluster was last found."""
    from bailiwick.phrases.amounts import plural
    from bailiwick.phrases.times import age

    if found.asked_ms is None:
        return "not asked yet; the leader asks"
    told = f"{found.state}, {plural(found.nodes, 'node')}, asked {age(found.asked_ms)} ago"
    if found.state == "unreachable":
        last = "never" if found.answered_ms is None else f"{age(found.answered_ms)} ago"
        told += f", last answered {last}: {found.trouble}"
    return printable(told)


def _draw_status(found: ReplicaState) -> None:
    leader = found.leader
    told = "nobody is known" if leader is None else f"{leader.name} at {leader.address}"
    draw_details(
        "replica",
        found.name,
        rows=[
            ("address", found.address),
            ("role", found.role),
            ("leader", told),
            ("journal", f"{found.size:,} records, epoch {found.epoch}"),
            ("may be old by", f"{found.age_ms:,} ms"),
            ("jobs kept apart", found.job_mode or "it runs no jobs"),
            ("members on the host", "yes" if found.host_members else "no"),
            ("jobs on agents", _agents(found)),
            *((f"cluster {each.cluster}", _told_cluster(each)) for each in found.clusters),
            ("fleet", _told_fleet(found)),
        ],
    )


def _told_fleet(found: ReplicaState) -> str:
    nodes, leases = plural(found.nodes, "node"), plural(found.leases, "lease")
    return f"{nodes}, {leases}, {found.waiting:,} waiting"

"""Handlers for nodes and quotas.

Rules:

- A node is the fleet's. Whoever may read nodes anywhere sees what machines there are and in which
  mode, not what others hold on them.
- A quota is set for a tenant or project that exists and is open.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Query, Response

from bailiwick.fleet.liveness import Alive, Departed, Late
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import ChangeMode, Command, DepartNode, LiftQuarantine
from bailiwick.kernel import Quarantine as QuarantineNode
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.fleet.events import QuotaChanged
from bailiwick.kernel.fleet.spelling import inventory_body
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.precondition import quota_digest
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.params import (
    IfMatchDigest,
    Limit,
    NameCursor,
    PathName,
    digest_in,
    page_of,
    spell_page,
)
from bailiwick.services.replica import View
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.trust import NOTE_CHARS_MAX
from bailiwick.wire.words import LivenessWord

Plain = dict[str, Any]
Override = Annotated[
    str,
    Query(pattern="^(true|false)$", description="Without a fresh trusted verdict; needs `note`."),
]
Note = Annotated[str, Query(max_length=NOTE_CHARS_MAX, description="Why; it is recorded.")]

# -- nodes -----------------------------------------------------------------------------------


async def list_nodes(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Node]:
    """The machines of the fleet."""
    asked.require_within(FLEET)

    def read(view: View) -> tuple[list[Plain], str | None]:
        entries = view.state.ledger.entries.values()
        rows, after = page_of(entries, after=cursor, limit=limit, key=lambda e: str(e.id))
        return [_node_row(view, entry) for entry in rows], after

    return spell_page(await asked.look(read), lambda row: _node(asked, row))


async def read_node(asked: Here, node: PathName) -> wire.Node:
    """One machine: its mode, whether it lives, whether it is trusted, and what it has."""
    asked.require_within(FLEET)
    row = await asked.look(lambda view: _node_row(view, view.state.ledger.entry(node)))
    return _node(asked, row)


async def register_node(asked: Changing, body: wire.NewNode) -> Done:
    """Add a machine to the fleet by hand; where an agent runs, it adds its own."""
    asked.require(FLEET)
    return await asked.do(registration(body.node, body))


def registration(node: str, body: wire.Inventory) -> Command:
    """The command that has a machine join."""
    inventory: Plain = {"resources": body.resources.model_dump()}
    if body.labels:
        inventory["labels"] = sorted(body.labels)
    if body.gpus:
        inventory |= {
            "gpu_generations": [gpu.generation.value for gpu in body.gpus],
            "gpu_vram_bytes": [gpu.vram_bytes for gpu in body.gpus],
            "gpu_models": [gpu.model for gpu in body.gpus],
            "gpu_fabrics": [gpu.fabric for gpu in body.gpus],
            "gpu_partitionable": [int(gpu.partitionable) for gpu in body.gpus],
        }
    plain = {"command": "register_node", "node": node, "inventory": inventory}
    return decode_command(plain)


async def depart_node(asked: Changing, node: PathName) -> Done:
    """Say that a machine is gone; what ran there has ended."""
    asked.require(FLEET)
    return await asked.do(DepartNode(node))


async def change_mode(asked: Changing, node: PathName, *, body: wire.ModeChange) -> Done:
    """Change a node's mode. ``draining`` evicts its work, or cordons it with ``evict`` false."""
    asked.require(FLEET)
    reason = PreemptionReason(body.reason)
    return await asked.do(ChangeMode(node, body.mode, reason, body.grace_ms, body.evict))


async def quarantine_node(asked: Changing, node: PathName, *, body: wire.Quarantine) -> Done:
    """Close a node that is not trusted, and evict what runs there."""
    asked.require(FLEET)
    return await asked.do(QuarantineNode(node, body.reason, body.grace_ms))


async def lift_quarantine(
    asked: Changing, node: PathName, *, override: Override = "false", note: Note = ""
) -> Done:
    """Trust a node again, after a fresh trusted verdict; or (``override``) without, and say why."""
    asked.require(FLEET)
    return await asked.do(LiftQuarantine(node, override == "true", note))


def _node_row(view: View, entry: Any) -> Plain:
    node, trust = str(entry.id), view.state.trust
    held = trust.standing(node) or {}
    return {
        "node": node,
        "attestation": trust.state_of(node, view.now_ms),
        "attested_ms": max((each.at_ms for each in held.values()), default=None),
        "claims": {
            f"{kind.value}.{name}": value
            for kind, each in sorted(held.items())
            for name, value in sorted(each.claims.items())
        },
        "mode": entry.mode,
        "quarantined": entry.quarantined,
        "takes_leases": entry.takes_leases,
        "inventory": inventory_body(entry.capacity),
    }


def _life(asked: Asked, node: str) -> tuple[LivenessWord, int | None]:
    beats = asked.house.parts.beats
    match None if beats is None else beats.standing(node):
        case None:
            return "unheard", None
        case Alive(_, seen):
            return "alive", seen
        case Late(_, seen):
            return "late", seen
        case Departed(_, seen):
            return "departed", seen


def _node(asked: Asked, row: Plain) -> wire.Node:
    liveness, last_seen_ms = _life(asked, row["node"])
    inventory: Plain = row.pop("inventory")
    columns = ("generations", "vram_bytes", "models", "fabrics", "partitionable")
    devices = zip(*(inventory.get(f"gpu_{name}", ()) for name in columns), strict=True)
    gpus = [
        wire.Gpu(
            generation=generation,
            vram_bytes=vram,
            model=model,
            fabric=fabric,
            partitionable=bool(parts),
        )
        for generation, vram, model, fabric, parts in devices
    ]
    resources = wire.Held(**inventory["resources"])
    labels = list(inventory.get("labels", ()))
    return wire.Node(
        **row,
        liveness=liveness,
        last_seen_ms=last_seen_ms,
        resources=resources,
        gpus=gpus,
        labels=labels,
    )


# -- quotas ----------------------------------------------------------------------------------


async def read_tenant_quota(
    asked: Here, tenant: PathName, *, response: Response
) -> wire.QuotaState:
    """What a tenant is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant), response=response)


async def read_project_quota(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.QuotaState:
    """What a project is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant, project), response=response)


async def set_tenant_quota(
    asked: Changing, tenant: PathName, *, body: wire.Quota, if_match: IfMatchDigest = None
) -> Done:
    """Replace everything that a tenant is allowed."""
    return await _set_quota(asked, Scope(tenant), body=body, seen=digest_in(if_match))


async def set_project_quota(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.Quota,
    if_match: IfMatchDigest = None,
) -> Done:
    """Replace everything that a project is allowed."""
    return await _set_quota(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


async def _read_quota(asked: Asked, scope: Scope, *, response: Response) -> wire.QuotaState:
    asked.require(scope)
    tenant, project = cast(str, scope.tenant), scope.project

    def read(view: View) -> tuple[Any, Any]:
        directory = view.state.directory
        directory.tenant(tenant)
        if project is not None:
            directory.project(tenant, project)
        quotas = view.state.quotas
        return quotas.quota_of(tenant, project), quotas.headroom(tenant, project)

    quota, room = await asked.look(read)
    response.headers["etag"] = f'"{quota_digest(quota)}"'
    body = QuotaChanged(Owner(tenant, project), quota).body()
    names = ("dimension", "capacity", "refill_per_s", "ceiling")
    burst = {name: body[f"burst_{name}"] for name in names} if "burst_dimension" in body else None
    return wire.QuotaState(
        tenant=tenant,
        project=project,
        quota=wire.Quota(
            limits=body["limits"],
            gpu_limits=body.get("gpu_limits", {}),
            burst=None if burst is None else wire.Burst(**burst),
        ),
        dimensions={word: _room(each) for word, each in room.dimensions.items()},
        generations={
            word: _room(each) for word, each in room.generations.items() if each.used or each.limit
        },
    )


async def _set_quota(
    asked: Asked, scope: Scope, *, body: wire.Quota, seen: str | None = None
) -> Done:
    asked.require(scope)
    await asked.look(lambda view: view.state.directory.check_scope(scope))
    quota: Plain = {"limits": {word.value: limit for word, limit in body.limits.items()}}
    if body.gpu_limits:
        quota["gpu_limits"] = {word.value: count for word, count in body.gpu_limits.items()}
    if body.burst is not None:
        quota |= {f"burst_{name}": value for name, value in body.burst.model_dump().items()}
        quota["burst_dimension"] = body.burst.dimension.value
    plain: Plain = {"command": "set_quota", "tenant": scope.tenant, "quota": quota}
    if scope.project is not None:
        plain["project"] = scope.project
    if seen is not None:
        plain["seen"] = seen
    return await asked.do(decode_command(plain))


def _room(room: Any) -> wire.Room:
    return wire.Room(limit=room.limit, used=room.used, left=room.left)

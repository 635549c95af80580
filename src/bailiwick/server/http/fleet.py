"""Handlers for nodes and quotas.

Rules:

- A node is the fleet's. Whoever may read nodes anywhere sees what machines there are and in which
  mode, not what others hold on them.
- A quota is set for a tenant or project that exists and is open.
"""

from __future__ import annotations

from typing import Any, cast

from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import ChangeMode, DepartNode, LiftQuarantine
from bailiwick.kernel import Quarantine as QuarantineNode
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.events import Owner, QuotaChanged
from bailiwick.kernel.request_body import inventory_body
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.params import Limit, NameCursor, PathName, page_of, spell_page
from bailiwick.services.replica import View
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

Plain = dict[str, Any]

# -- nodes -----------------------------------------------------------------------------------


async def list_nodes(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Node]:
    """The machines of the fleet."""
    asked.require_within(FLEET)

    def read(view: View) -> tuple[list[Plain], str | None]:
        entries = view.state.ledger.entries.values()
        rows, after = page_of(entries, after=cursor, limit=limit, key=lambda e: str(e.id))
        told = [
            {
                "node": str(e.id),
                "mode": e.mode,
                "quarantined": e.quarantined,
                "takes_leases": e.takes_leases,
                "inventory": inventory_body(e.capacity),
            }
            for e in rows
        ]
        return told, after

    return spell_page(await asked.look(read), _node)


async def register_node(asked: Changing, body: wire.NewNode) -> Done:
    """Have a machine join the fleet."""
    asked.require(FLEET)
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
    plain = {"command": "register_node", "node": body.node, "inventory": inventory}
    return await asked.do(decode_command(plain))


async def depart_node(asked: Changing, node: PathName) -> Done:
    """Say that a machine is gone; what ran there has ended."""
    asked.require(FLEET)
    return await asked.do(DepartNode(node))


async def change_mode(asked: Changing, node: PathName, *, body: wire.ModeChange) -> Done:
    """Move a node along the mode table; to ``draining`` evicts, for the reason given."""
    asked.require(FLEET)
    reason = PreemptionReason(body.reason)
    return await asked.do(ChangeMode(node, body.mode, reason, body.grace_ms))


async def quarantine_node(asked: Changing, node: PathName, *, body: wire.Quarantine) -> Done:
    """Close a node that is not trusted, and evict what runs there."""
    asked.require(FLEET)
    return await asked.do(QuarantineNode(node, body.reason, body.grace_ms))


async def lift_quarantine(asked: Changing, node: PathName) -> Done:
    """Trust a node again."""
    asked.require(FLEET)
    return await asked.do(LiftQuarantine(node))


def _node(row: Plain) -> wire.Node:
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
    return wire.Node(**row, resources=resources, gpus=gpus, labels=labels)


# -- quotas ----------------------------------------------------------------------------------


async def read_tenant_quota(asked: Here, tenant: PathName) -> wire.QuotaState:
    """What a tenant is allowed, and how that stands."""
    return await _read_quota(asked, Scope(tenant))


async def read_project_quota(
    asked: Here, tenant: PathName, *, project: PathName
) -> wire.QuotaState:
    """What a project is allowed, and how that stands."""
    return await _read_quota(asked, Scope(tenant, project))


async def set_tenant_quota(asked: Changing, tenant: PathName, *, body: wire.Quota) -> Done:
    """Replace everything that a tenant is allowed."""
    return await _set_quota(asked, Scope(tenant), body=body)


async def set_project_quota(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.Quota
) -> Done:
    """Replace everything that a project is allowed."""
    return await _set_quota(asked, Scope(tenant, project), body=body)


async def _read_quota(asked: Asked, scope: Scope) -> wire.QuotaState:
    asked.require(scope)
    tenant, project = cast(str, scope.tenant), scope.project

    def read(view: View) -> tuple[Plain, Any]:
        directory = view.state.directory
        directory.tenant(tenant)
        if project is not None:
            directory.project(tenant, project)
        body: Plain = {"limits": {}}
        for each, quota, _ in view.state.quotas.settings():
            if (each.tenant, each.project) == (tenant, project):
                body = QuotaChanged(Owner(tenant, project), quota).body()
        return body, view.state.quotas.headroom(tenant, project)

    body, room = await asked.look(read)
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


async def _set_quota(asked: Asked, scope: Scope, *, body: wire.Quota) -> Done:
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
    return await asked.do(decode_command(plain))


def _room(room: Any) -> wire.Room:
    return wire.Room(limit=room.limit, used=room.used, left=room.left)

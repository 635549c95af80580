"""Handlers for nodes.

A node is the fleet's. Whoever may read nodes anywhere sees what machines there are and in which
mode, not what others hold on them.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from bailiwick.fleet.liveness import Alive, Departed, Late
from bailiwick.iam import FLEET
from bailiwick.kernel import ChangeMode, Command, DepartNode, LiftQuarantine
from bailiwick.kernel import Quarantine as QuarantineNode
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.fleet.spelling import inventory_body
from bailiwick.runtime.replica import View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import (
    Limit,
    NameCursor,
    PathName,
    spell_page,
)
from bailiwick.services.pages import page_of
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


@answers("node.list")
async def list_nodes(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Node]:
    """The machines of the fleet."""
    asked.require_within(FLEET)

    def read(view: View) -> tuple[list[Plain], str | None]:
        entries = view.state.ledger.entries.values()
        rows, after = page_of(entries, after=cursor, limit=limit, key=lambda e: str(e.id))
        return [_node_row(view, entry) for entry in rows], after

    return spell_page(await asked.read(read), lambda row: _node(asked, row))


@answers("node.read")
async def read_node(asked: Here, node: PathName) -> wire.Node:
    """One machine: its mode, whether it lives, whether it is trusted, and what it has."""
    asked.require_within(FLEET)
    row = await asked.read(lambda view: _node_row(view, view.state.ledger.entry(node)))
    return _node(asked, row)


@answers("node.register")
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


@answers("node.depart")
async def depart_node(asked: Changing, node: PathName) -> Done:
    """Say that a machine is gone; what ran there has ended."""
    asked.require(FLEET)
    return await asked.do(DepartNode(node))


@answers("node.mode")
async def change_mode(asked: Changing, node: PathName, *, body: wire.ModeChange) -> Done:
    """Change a node's mode. ``draining`` evicts its work, or cordons it with ``evict`` false."""
    asked.require(FLEET)
    reason = PreemptionReason(body.reason)
    return await asked.do(ChangeMode(node, body.mode, reason, body.grace_ms, body.evict))


@answers("node.quarantine")
async def quarantine_node(asked: Changing, node: PathName, *, body: wire.Quarantine) -> Done:
    """Close a node that is not trusted, and evict what runs there."""
    asked.require(FLEET)
    return await asked.do(QuarantineNode(node, body.reason, body.grace_ms))


@answers("node.lift")
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

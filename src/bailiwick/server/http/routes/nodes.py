"""Nodes: parse, call one service, spell the answer."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_args

from fastapi import Query, Request, Response

from bailiwick.fleet.liveness import Alive, Departed, Late, Liveness
from bailiwick.fleet.topology import NodeTopology
from bailiwick.kernel import ChangeMode, LabelNode
from bailiwick.kernel.fleet.notes import OperatorNote
from bailiwick.kernel.isolation.room import FreeRoom
from bailiwick.kernel.mig.book import MigChange
from bailiwick.kernel.spelling import labels_body
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.foreseen import spell_mode
from bailiwick.server.http.params import (
    IfNoneMatch,
    Limit,
    NameCursor,
    PathName,
    PathNumber,
    WithLabels,
    selected,
    spell_page,
)
from bailiwick.server.http.parsing import capacity_of
from bailiwick.server.http.routes.health import spell_health
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import health, nodes
from bailiwick.services.gate.joining import report_inventory as report_machine
from bailiwick.services.nodes import NodeBooks, NodeStanding
from bailiwick.services.picture.holders import NodeHolder
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import LabelMoved, LabelsSet, ModeSet
from bailiwick.wire.health import NodeTestOrder
from bailiwick.wire.mig import MigOrder, NodeMig
from bailiwick.wire.trust import NOTE_CHARS_MAX
from bailiwick.wire.words import JobModeWord, LivenessWord

Override = Annotated[
    str,
    Query(pattern="^(true|false)$", description="Without a fresh trusted verdict; needs `note`."),
]
Untested = Annotated[
    str, Query(pattern="^(true|false)$", description="Take it as it is, without its test.")
]
Note = Annotated[str, Query(max_length=NOTE_CHARS_MAX, description="Why; it is recorded.")]


_JOB_MODES: Final[dict[str, JobModeWord]] = {word: word for word in get_args(JobModeWord)}
"""A node that somebody labelled with another word is in none of them."""


@answers("node.list")
async def list_nodes(
    asked: Here, *, label: WithLabels = None, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Node]:
    """The machines of the fleet; of those with labels, the ones that have all of them."""
    labels = selected(label)
    rows = await nodes.list_nodes(asked, _books(asked), labels=labels, after=cursor, limit=limit)
    return spell_page(rows, _node)


@answers("fleet.picture")
async def read_picture(
    asked: Here, request: Request, *, if_none_match: IfNoneMatch = None
) -> Response:
    """Every node and GPU, and who holds it, as far as the caller may see; the same bytes for all.

    While the server is busy one picture is made for all who ask within a moment.
    """
    found = await asked.house.parts.pictures.shown_to(asked)
    told = {"etag": f'"{found.digest}"', "vary": "accept-encoding"}
    if if_none_match is not None and found.digest in if_none_match:
        return Response(None, 304, told)
    body = found.content
    if found.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, told["content-encoding"] = found.packed, "gzip"
    return Response(body, 200, told, media_type="application/json")


@answers("node.read")
async def read_node(
    asked: Here,
    node: PathName,
) -> wire.Node:
    """One machine: its mode, whether it lives, whether it is trusted, and what it has."""
    tables = asked.house.parts.tables
    history = None if tables is None else tables.history
    return _node(await nodes.read_node(asked, node, books=_books(asked), history=history))


@answers("node.register")
async def register_node(asked: Changing, body: wire.NewNode) -> Done:
    """Add a machine to the fleet by hand; where an agent runs, it adds its own."""
    return spell_done(await nodes.register_node(asked, body.node, tell=lambda: capacity_of(body)))


@answers("node.depart")
async def depart_node(asked: Changing, node: PathName) -> Done:
    """Say that a machine is gone; what ran there has ended."""
    return spell_done(await nodes.depart_node(asked, node))


@answers("node.mode")
async def change_mode(asked: Changing, node: PathName, *, body: wire.ModeChange) -> ModeSet:
    """Change a node's mode. ``draining`` evicts its work, ``cordoned`` only takes no more of it."""
    reason = PreemptionReason(body.reason)
    change = ChangeMode(node, body.mode, reason, body.grace_ms, body.evict)
    done, found = await nodes.change_mode(asked, change)
    consequence = None if found is None else spell_mode(found)
    return ModeSet(answer="done", seq=done.seq, consequence=consequence)


@answers("node.open")
async def open_node(asked: Changing, node: PathName, *, untested: Untested = "false") -> ModeSet:
    """Let a node take leases again, along the mode table; one that can be tested is, before."""
    done, mode, found = await health.open_node(asked, node, untested=untested == "true")
    consequence = None if found is None else spell_mode(found)
    return ModeSet(answer="done", seq=done.seq, consequence=consequence, mode=mode)


@answers("node_note.add")
async def note_node(asked: Changing, node: PathName, *, body: wire.NewNote) -> Done:
    """Write a line about a node for others who run the fleet; its number is the answer's `seq`."""
    return spell_done(await nodes.note_node(asked, node, text=body.text, ttl_ms=body.ttl_ms))


@answers("node_note.end")
async def end_note(asked: Changing, node: PathName, *, note_id: PathNumber) -> Done:
    """Take a note about a node away before it expires."""
    return spell_done(await nodes.end_note(asked, node, note_id=note_id))


@answers("node.label")
async def label_node(asked: Changing, node: PathName, *, body: wire.NodeLabels) -> LabelsSet:
    """Give a node labels beside its own; what runs there goes on. Said again it changes nothing."""
    done, moved = await nodes.label_node(
        asked, node, tell=lambda: LabelNode(node, tuple(body.put), tuple(body.drop))
    )
    labels = [LabelMoved(key=each.key, was=each.was, now=each.now) for each in moved]
    return LabelsSet(answer="done", seq=done.seq, labels=labels)


@answers("node.quarantine")
async def quarantine_node(asked: Changing, node: PathName, *, body: wire.Quarantine) -> Done:
    """Close a node that is not trusted, and evict what runs there."""
    return spell_done(
        await nodes.quarantine_node(asked, node, reason=body.reason, grace_ms=body.grace_ms)
    )


@answers("node.lift")
async def lift_quarantine(
    asked: Changing, node: PathName, *, override: Override = "false", note: Note = ""
) -> Done:
    """Trust a node again, after a fresh trusted verdict; or (``override``) without, and say why."""
    is_override = override == "true"
    return spell_done(await nodes.lift_quarantine(asked, node, override=is_override, note=note))


# -- nodes about themselves ------------------------------------------------------------------


@answers("node.beat")
async def beat(
    asked: Changing,
    node: PathName,
) -> wire.Heard:
    """Say that a node is alive; the answer has a nonce when it is time to attest."""
    parts = asked.house.parts
    attesting = None if parts.gate is None else parts.gate.attesting
    heard = await nodes.beat(asked, node, beats=parts.beats, attesting=attesting)
    return wire.Heard(
        node=node,
        beat_ms=heard.rule.beat_ms,
        timeout_ms=heard.rule.timeout_ms,
        attest_nonce=None if heard.nonce is None else heard.nonce.value.hex(),
        mig=None if heard.order is None else MigOrder(**_wanted(heard.order)),
        test=None if heard.test is None else NodeTestOrder(test_id=heard.test.id),
    )


@answers("node.report")
async def report_inventory(asked: Changing, node: PathName, *, body: wire.Inventory) -> Done:
    """Say what a machine has; this adds it to the fleet, and said again changes nothing."""
    return spell_done(await report_machine(asked, node, tell=lambda: capacity_of(body)))


def _books(asked: Here) -> NodeBooks:
    return NodeBooks(asked.house.parts.beats, asked.house.parts.desk)


def _node(found: NodeStanding) -> wire.Node:
    capacity = found.capacity
    liveness, last_seen_ms = _life(found.life)
    return wire.Node(
        node=found.node,
        mode=found.mode,
        quarantined=found.quarantined,
        takes_leases=found.takes_leases,
        liveness=liveness,
        last_seen_ms=last_seen_ms,
        attestation=found.attestation,
        attested_ms=found.attested_ms,
        claims=dict(found.claims),
        resources=wire.Held(
            cpu_milli=capacity.cpu_milli,
            mem_bytes=capacity.mem_bytes,
            block_bytes=capacity.block_bytes,
            gpu_milli=capacity.gpu_milli,
        ),
        gpus=[
            wire.Gpu(
                generation=gpu.generation,
                vram_bytes=gpu.vram_bytes,
                model=gpu.model,
                fabric=gpu.fabric,
                partitionable=gpu.partitionable,
            )
            for gpu in capacity.gpus
        ],
        labels=labels_body({**capacity.labels, **found.given}),
        labels_given=labels_body(found.given),
        maintained_ms=found.maintained_ms,
        booked_ms=None if found.booked is None else found.booked[0],
        booked_until_ms=None if found.booked is None else found.booked[1],
        mig=None if found.mig is None else _mig(found.mig),
        health=None if found.health is None else spell_health(found.health),
        topology=_topology(capacity.topology),
        job_mode=_JOB_MODES.get(found.job_mode or ""),
        agent_version=None if found.agent is None else found.agent.version,
        host_members=found.host_members,
        free=_free(found.free),
        gpus_free_milli=list(found.free.devices_milli),
        gpus_held_milli=list(found.held.devices_milli),
        leases=found.held.leases,
        holders=[_holder(each) for each in found.held.holders],
        notes=[_note(each) for each in found.notes],
    )


def _mig(found: MigChange) -> NodeMig:
    return NodeMig(
        **_wanted(found),
        phase=found.phase,
        begun_ms=found.begun_ms,
        due_ms=found.due_ms,
        cause=found.cause,
    )


def _wanted(found: MigChange) -> dict[str, Any]:
    gpus, profiles = list(found.gpus), list(found.profiles)
    return {"change_id": found.id, "gpus": gpus, "profiles": profiles}


def _holder(found: NodeHolder) -> wire.NodeHolder:
    return wire.NodeHolder(
        lease_id=found.lease_id,
        tenant=str(found.owner.tenant),
        project=found.owner.project,
        lease_class=found.lease_class,
        devices=list(found.devices),
        device_milli=found.device_milli,
        cpu_milli=found.cpu_milli,
        expires_ms=found.expires_ms,
        ending=found.is_ending,
        fenced=found.is_fenced,
        fenced_ms=found.fenced_ms,
    )


def _note(found: OperatorNote) -> wire.NodeNote:
    return wire.NodeNote(
        note_id=found.note_id,
        text=found.text,
        author=found.author,
        since_ms=found.since_ms,
        until_ms=found.until_ms,
    )


def _free(room: FreeRoom) -> wire.Held:
    return wire.Held(
        cpu_milli=room.cpu_milli,
        mem_bytes=room.mem_bytes,
        block_bytes=room.block_bytes,
        gpu_milli=sum(room.devices_milli),
    )


def _topology(topology: NodeTopology) -> wire.Topology:
    caches = [wire.CacheCores(cores_milli=c.cores_milli, numa=c.numa) for c in topology.caches]
    return wire.Topology(caches=caches, gpu_numa=list(topology.gpu_numa))


def _life(life: Liveness | None) -> tuple[LivenessWord, int | None]:
    match life:
        case None:
            return "unheard", None
        case Alive(_, seen):
            return "alive", seen
        case Late(_, seen):
            return "late", seen
        case Departed(_, seen):
            return "departed", seen

"""Nodes: what machines there are, what they say of themselves, and what operators do with them.

Rules:

- A node is the fleet's. Whoever may read nodes anywhere sees what machines there are and in which
  mode, and what he himself could be given there now: not who holds the rest, nor how many do.
- A principal of the kind ``node`` is named ``node:NAME`` and reports for the node ``NAME`` alone.
  Anybody else with the key to report may do so for every node.
- A heartbeat is kept in memory, by the leader; nothing is recorded until a node falls silent.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bailiwick.executors.node.agents import AgentWord
from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.liveness import HeartbeatRule, Liveness
from bailiwick.fleet.node import (
    EXECUTOR_LABEL,
    HEARTBEAT_LABEL,
    HOST_MEMBERS_LABEL,
    JOB_MODE_LABEL,
    LOCAL_EXECUTOR,
    NODE_EXECUTOR,
    YES,
    NodeCapacity,
)
from bailiwick.iam import FLEET, PrincipalKind, Scope
from bailiwick.kernel import (
    ChangeMode,
    DepartNode,
    Done,
    LabelNode,
    LiftQuarantine,
    Quarantine,
    RegisterNode,
)
from bailiwick.kernel.isolation.room import FreeRoom, RoomOn, room_for
from bailiwick.kernel.owner import Owner
from bailiwick.runtime.replica import Role, View
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.services.beats import Beats
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import ModeForeseen, foresee_node
from bailiwick.services.gate.attesting import Attesting
from bailiwick.services.gate.nonces import Nonce
from bailiwick.services.leases import member_leases, operated_by
from bailiwick.services.pages import Rows, page_of
from bailiwick.services.work import NodeDesk
from bailiwick.vocab.errors import Conflict, InvalidValue, NotLeader, Unavailable
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import AttestationState

REPORTED: Final = "agent"
"""The heartbeat label's value of a node that its own agent reported."""
_OWN: Final = (LOCAL_EXECUTOR, NODE_EXECUTOR)
UNTOLD: Final = "unknown"
"""In counts: the mode of an agent that does not say it."""


@dataclass(frozen=True, slots=True)
class NodeStanding:
    """A machine, what it has, whether it takes leases, and what is known of its life and trust."""

    node: str
    capacity: NodeCapacity
    mode: NodeMode
    quarantined: bool
    takes_leases: bool
    attestation: AttestationState
    attested_ms: int | None
    claims: Mapping[str, str]
    given: Mapping[str, str]
    """The labels that operators gave it."""
    free: FreeRoom
    """What whoever asks could be given there now."""
    life: Liveness | None = None
    """Nothing of a node that was never heard here."""
    agent: AgentWord | None = None
    """What its agent says of itself, if it runs jobs."""

    @property
    def job_mode(self) -> str | None:
        """How jobs are kept apart there, if any run: as its agent says now, or as registered."""
        if self.agent is not None:
            return self.agent.job_mode
        return self.capacity.labels.get(JOB_MODE_LABEL)

    @property
    def host_members(self) -> bool:
        """Whether members of apps that were granted it run on the host there."""
        return gives_host(self.capacity)


@dataclass(frozen=True, slots=True)
class BeatHeard:
    """A heartbeat was heard: what is expected of the node, and what it is to attest with."""

    rule: HeartbeatRule
    nonce: Nonce | None


# -- the fleet -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeBooks:
    """Where what nodes say of themselves is kept, beside the journal."""

    beats: Beats | None = None
    desk: NodeDesk | None = None

    async def fill_in(self, rows: list[NodeStanding]) -> list[NodeStanding]:
        """The same, with what is known of their lives and their agents."""
        told: Mapping[str, AgentWord] = {}
        with_agent = [row.node for row in rows if is_run_by_agent(row.capacity)]
        if self.desk is not None and with_agent:
            told = await asyncio.to_thread(self.desk.book.agents, with_agent)
        lives = {} if self.beats is None else {r.node: self.beats.standing(r.node) for r in rows}
        return [replace(r, life=lives.get(r.node), agent=told.get(r.node)) for r in rows]


def is_run_by_agent(capacity: NodeCapacity) -> bool:
    """Whether the jobs of a node are run by its own agent."""
    return capacity.labels.get(EXECUTOR_LABEL) == NODE_EXECUTOR


def gives_host(capacity: NodeCapacity) -> bool:
    """Whether members of apps may run on the host of a node: where it runs jobs, and says so."""
    labels = capacity.labels
    return labels.get(HOST_MEMBERS_LABEL) == YES and labels.get(EXECUTOR_LABEL) in _OWN


async def count_agents(caller: Caller, desk: NodeDesk) -> dict[str, int]:
    """How many nodes run jobs with their own agent, by how those keep them apart."""

    def read(view: View) -> list[str]:
        entries = view.state.ledger.entries.values()
        return [str(entry.id) for entry in entries if is_run_by_agent(entry.capacity)]

    nodes = await caller.read(read)
    told = await asyncio.to_thread(desk.book.agents) if nodes else {}
    modes = (told[node].job_mode if node in told else None for node in nodes)
    return dict(sorted(Counter(mode or UNTOLD for mode in modes).items()))


async def list_nodes(
    caller: Caller, books: NodeBooks, *, after: str | None, limit: int
) -> Rows[NodeStanding]:
    """The machines of the fleet."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[NodeStanding]:
        entries = view.state.ledger.entries.values()
        rows, following = page_of(entries, after=after, limit=limit, key=lambda e: str(e.id))
        room = room_of(caller, view)
        return [_standing(view, entry, room=room) for entry in rows], following

    rows, following = await caller.read(read)
    return await books.fill_in(rows), following


async def read_node(caller: Caller, node: str, *, books: NodeBooks) -> NodeStanding:
    """One machine: its mode, whether it lives, whether it is trusted, and what it has."""
    if caller.principal.runtime_id is None:
        caller.require_within(FLEET)
    else:
        await require_operated_node(caller, node)

    def read(view: View) -> NodeStanding:
        entry = view.state.ledger.entry(node)
        return _standing(view, entry, room=room_of(caller, view))

    found = await caller.read(read)
    return (await books.fill_in([found]))[0]


async def require_operated_node(caller: Caller, node: str) -> None:
    """Go on only if a member of the runtime whose operator asks is on that machine."""

    def find(view: View) -> Scope | None:
        nodes = {str(view.state.node_of(number)) for number in member_leases(view, caller)}
        return operated_by(view, caller) if node in nodes else None

    owner = await caller.locate(find)
    caller.for_runtime(caller.principal.runtime_id)
    caller.require(owner)


async def register_node(caller: Caller, node: str, *, tell: Deferred[NodeCapacity]) -> Done:
    """Add a machine to the fleet by hand; where an agent runs, it adds its own."""
    caller.require(FLEET)
    return await caller.change(RegisterNode(node, tell()))


async def depart_node(caller: Caller, node: str) -> Done:
    """Say that a machine is gone; what ran there has ended."""
    caller.require(FLEET)
    return await caller.change(DepartNode(node))


async def change_mode(caller: Caller, change: ChangeMode) -> tuple[Done, ModeForeseen | None]:
    """Move a node in the mode table; a dry run tells what that would do."""
    caller.require(FLEET)
    done = await caller.change(change)
    return done, await foresee_node(caller, change) if caller.dry_run else None


async def label_node(caller: Caller, change: Deferred[LabelNode]) -> Done:
    """Give a node labels beside its own, and take some away that were given so."""
    caller.require(FLEET)
    return await caller.change(change())


async def quarantine_node(caller: Caller, node: str, *, reason: str, grace_ms: int | None) -> Done:
    """Close a node that is not trusted, and evict what runs there."""
    caller.require(FLEET)
    return await caller.change(Quarantine(node, reason, grace_ms))


async def lift_quarantine(caller: Caller, node: str, *, override: bool, note: str) -> Done:
    """Trust a node again, after a fresh trusted verdict; or (``override``) without, and say why."""
    caller.require(FLEET)
    return await caller.change(LiftQuarantine(node, override, note))


def room_of(caller: Caller, view: View) -> RoomOn:
    """What the caller could be given on a machine; who may look anywhere is told what is free."""
    directory = view.state.directory
    if caller.may(FLEET):
        return room_for(view.state, None, now_ms=view.now_ms)
    owners = {Owner(*scope) for scope in caller.principal.roles if caller.may(scope)}
    whole = {owner.tenant for owner in owners if owner.project is None}
    inside = (each for each in directory.projects.values() if each.tenant in whole)
    owners |= {Owner(each.tenant, each.name) for each in inside}
    can_have = {owner for owner in owners if directory.is_open(Scope(*owner))}
    return room_for(view.state, can_have, now_ms=view.now_ms)


def _standing(view: View, entry: NodeEntry, *, room: RoomOn) -> NodeStanding:
    node, trust = str(entry.id), view.state.trust
    held = trust.standing(node) or {}
    return NodeStanding(
        node=node,
        capacity=entry.capacity,
        mode=entry.mode,
        quarantined=entry.quarantined,
        takes_leases=entry.takes_leases,
        attestation=trust.state_of(node, view.now_ms),
        attested_ms=max((each.at_ms for each in held.values()), default=None),
        claims={
            f"{kind.value}.{name}": value
            for kind, each in sorted(held.items())
            for name, value in sorted(each.claims.items())
        },
        given=entry.given,
        free=room(entry),
    )


# -- nodes about themselves ------------------------------------------------------------------


async def beat(
    caller: Caller, node: str, *, beats: Beats | None, attesting: Attesting | None
) -> BeatHeard:
    """Say that a node is alive; the answer has a nonce when it is time to attest."""
    caller.require_node(node)
    if beats is None:
        raise Unavailable("heartbeats", "this server does not listen for them")

    def check(view: View) -> Nonce | None:
        view.state.ledger.entry(node)
        if view.role is not Role.LEADING:
            raise NotLeader(None)
        return None if attesting is None or caller.dry_run else attesting.due(view, node)

    due = await caller.read(check)
    if not caller.dry_run:
        beats.beat(node)
    return BeatHeard(beats.rule, due)


async def report_inventory(caller: Caller, node: str, *, tell: Deferred[NodeCapacity]) -> Done:
    """Say what a machine has; this adds it to the fleet, and said again changes nothing."""
    caller.require_node(node)
    told = tell()
    executor = told.labels.get(EXECUTOR_LABEL)
    is_own = caller.principal.kind is PrincipalKind.NODE
    # Another would draw jobs to where nobody runs them.
    if executor is not None and not (executor == NODE_EXECUTOR and is_own):
        expected = f"none but {NODE_EXECUTOR}, of the node's own agent"
        raise InvalidValue("labels", executor, expected)
    if HOST_MEMBERS_LABEL in told.labels and executor is None:
        expected = f"no {HOST_MEMBERS_LABEL} of a node whose agent runs no jobs"
        raise InvalidValue("labels", HOST_MEMBERS_LABEL, expected)
    capacity = replace(told, labels={**told.labels, HEARTBEAT_LABEL: REPORTED})
    if not await _is_known(caller, node, wanted=capacity):
        try:
            return await caller.change(RegisterNode(node, capacity))
        except Conflict:  # somebody was faster
            if not await _is_known(caller, node, wanted=capacity):
                raise
    return Done(None)


async def _is_known(caller: Caller, node: str, *, wanted: NodeCapacity) -> bool:
    def read(view: View) -> NodeCapacity | None:
        ledger = view.state.ledger
        return ledger.entry(node).capacity if node in ledger else None

    found = await caller.read(read)
    if found is not None and not is_same_machine(found, wanted):
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, "is known with another inventory", hint=hint)
    if found is not None and found.labels.get(EXECUTOR_LABEL) != wanted.labels.get(EXECUTOR_LABEL):
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, "is known with another executor, or none", hint=hint)
    mode = None if found is None else found.labels.get(JOB_MODE_LABEL)
    if mode is not None and mode != wanted.labels.get(JOB_MODE_LABEL):
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, f"is known with the job mode {mode}", hint=hint)
    host = HOST_MEMBERS_LABEL
    if found is not None and found.labels.get(host) != wanted.labels.get(host):
        does = "" if host in found.labels else "not "
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, f"is known as one that does {does}give the host", hint=hint)
    return found is not None

"""Nodes: what machines there are, what they say of themselves, and what operators do with them.

Rules:

- A node is the fleet's. Whoever may read nodes anywhere sees what machines there are and in which
  mode, and what he himself could be given there now; of leases there those that he may read, and
  not who holds the rest, nor how many do. Notes are told to who may read the whole fleet.
- A principal of the kind ``node`` is named ``node:NAME`` and reports for the node ``NAME`` alone.
  Anybody else with the key to report may do so for every node.
- A heartbeat is kept in memory, by the leader; nothing is recorded until a node falls silent.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from bailiwick.executors.node.agents import AgentWord
from bailiwick.fleet.liveness import HeartbeatRule, Liveness
from bailiwick.fleet.node import (
    EXECUTOR_LABEL,
    HOST_MEMBERS_LABEL,
    JOB_MODE_LABEL,
    LOCAL_EXECUTOR,
    NODE_EXECUTOR,
    YES,
    NodeCapacity,
)
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import (
    ChangeMode,
    DepartNode,
    Done,
    EndNote,
    LabelNode,
    LiftQuarantine,
    NoteNode,
    Quarantine,
    RegisterNode,
)
from bailiwick.kernel.fleet.notes import OperatorNote
from bailiwick.kernel.health.book import NodeTest
from bailiwick.kernel.isolation.room import FreeRoom, RoomOn, room_for
from bailiwick.kernel.mig.book import MigChange
from bailiwick.kernel.owner import Owner
from bailiwick.runtime.replica import Role, View
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.services.beats import Beats
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import ModeForeseen, foresee_node
from bailiwick.services.gate.attesting import Attesting
from bailiwick.services.gate.nonces import Nonce
from bailiwick.services.health import KnownHealth, health_of
from bailiwick.services.history import History
from bailiwick.services.leases import member_leases, operated_by
from bailiwick.services.pages import Rows, page_of
from bailiwick.services.picture.holders import NodeHeld, held_of, reader_of, with_fences
from bailiwick.services.work import NodeDesk
from bailiwick.vocab.errors import NotLeader, Unavailable
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import AttestationState

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
    maintained_ms: int | None
    """When its next maintenance begins, or began."""
    booked: tuple[int, int] | None
    """From when until when its next booking is, or the one that is on, whosever it is."""
    free: FreeRoom
    """What whoever asks could be given there now."""
    held: NodeHeld
    """What the leases that he may read hold there."""
    mig: MigChange | None = None
    """The change of its MIG profiles that goes on there, or that failed."""
    health: KnownHealth | None = None
    """What its agent found, for who may read the whole fleet."""
    notes: tuple[OperatorNote, ...] = ()
    """What operators wrote about it, for who may read the whole fleet."""
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
    order: MigChange | None = None
    """What its agent is to make of its GPUs now."""
    test: NodeTest | None = None
    """The test that it is to carry out now."""


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
    caller: Caller,
    books: NodeBooks,
    *,
    labels: Mapping[str, str],
    after: str | None,
    limit: int,
) -> Rows[NodeStanding]:
    """The machines of the fleet that have all of these labels, as requests would find them."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[NodeStanding]:
        entries = [e for e in view.state.ledger.entries.values() if e.has_labels(labels)]
        rows, following = page_of(entries, after=after, limit=limit, key=lambda e: str(e.id))
        sight = sight_of(caller, view)
        return [_standing(view, entry, sight=sight) for entry in rows], following

    rows, following = await caller.read(read)
    return await books.fill_in(rows), following


async def read_node(
    caller: Caller, node: str, *, books: NodeBooks, history: History | None
) -> NodeStanding:
    """One machine: its mode, whether it lives, whether it is trusted, and what it has."""
    if caller.principal.runtime_id is None:
        caller.require_within(FLEET)
    else:
        await require_operated_node(caller, node)

    def read(view: View) -> NodeStanding:
        entry = view.state.ledger.entry(node)
        return _standing(view, entry, sight=sight_of(caller, view))

    found = await caller.read(read)
    held = await with_fences(caller, history, held=found.held)
    return (await books.fill_in([replace(found, held=held)]))[0]


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
    if change.mode is NodeMode.CORDONED and await caller.read(lambda view: _has_mode(view, change)):
        done = Done(None)  # said again: nothing is left to do
    else:
        done = await caller.change(change)
    return done, await foresee_node(caller, change) if caller.dry_run else None


def _has_mode(view: View, change: ChangeMode) -> bool:
    return view.state.ledger.entry(change.node).mode is change.mode


async def note_node(caller: Caller, node: str, *, text: str, ttl_ms: int) -> Done:
    """Write a line about a node; whoever asks is its author."""
    caller.require(FLEET)
    return await caller.change(NoteNode(node, text, caller.principal.name, ttl_ms))


async def end_note(caller: Caller, node: str, *, note_id: int) -> Done:
    """Take a note about a node away."""
    caller.require(FLEET)
    return await caller.change(EndNote(node, note_id))


class LabelMoved(NamedTuple):
    """What a label of a node said, and says now; nothing where there is none."""

    key: str
    was: str | None
    now: str | None


async def label_node(
    caller: Caller, node: str, *, tell: Deferred[LabelNode]
) -> tuple[Done, list[LabelMoved]]:
    """Give a node labels beside its own, and take some away that were given so.

    What is so already is no change, and without any nothing is recorded.
    """
    caller.require(FLEET)
    asked = tell()
    change, moved = await caller.read(lambda view: _label_change(view, asked))
    return Done(None) if change is None else await caller.change(change), moved


def _label_change(view: View, asked: LabelNode) -> tuple[LabelNode | None, list[LabelMoved]]:
    """What of it is still to be done; and what each label said before, and says then."""
    ledger, given = view.state.ledger, view.state.node_labels.get(asked.node, {})
    if not given or asked.node in ledger:
        ledger.entry(asked.node)  # there must be such a node, but to clear up after one
    own = ledger.entry(asked.node).capacity.labels if asked.node in ledger else {}
    wanted = dict(text.partition("=")[::2] for text in asked.put)
    put = tuple(f"{key}={value}" for key, value in wanted.items() if given.get(key) != value)
    drop = tuple(key for key in asked.drop if key in given or key in own)
    now = {**own, **given}
    then = {**own, **{k: v for k, v in given.items() if k not in drop}, **wanted}
    keys = [*wanted, *asked.drop]
    moved = [LabelMoved(key, now.get(key), then.get(key)) for key in keys]
    return replace(asked, put=put, drop=drop) if put or drop else None, moved


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


class NodeSight(NamedTuple):
    """What somebody may see of machines."""

    room: RoomOn
    may_read: Callable[[Owner], bool]
    """Whose leases."""
    sees_notes: bool


def sight_of(caller: Caller, view: View) -> NodeSight:
    """What the caller may see: notes are of those who run the fleet, for each other."""
    return NodeSight(room_of(caller, view), reader_of(caller), caller.may(FLEET))


def _standing(view: View, entry: NodeEntry, *, sight: NodeSight) -> NodeStanding:
    node, trust = str(entry.id), view.state.trust
    held, booking = trust.standing(node) or {}, view.state.bookings.first_of(node)
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
        free=sight.room(entry),
        held=held_of(view.state, entry, may_read=sight.may_read),
        notes=tuple(view.state.notes.of(node).values()) if sight.sees_notes else (),
        maintained_ms=view.state.maintenance.next_start(node),
        booked=None if booking is None else (booking.starts_ms, booking.ends_ms),
        mig=view.state.mig.changes.get(node),
        health=health_of(view.state.health, node) if sight.sees_notes else None,
    )


# -- nodes about themselves ------------------------------------------------------------------


async def beat(
    caller: Caller, node: str, *, beats: Beats | None, attesting: Attesting | None
) -> BeatHeard:
    """Say that a node is alive; the answer has a nonce when it is time to attest."""
    caller.require_node(node)
    if beats is None:
        raise Unavailable("heartbeats", "this server does not listen for them")

    def check(view: View) -> BeatHeard:
        view.state.ledger.entry(node)
        if view.role is not Role.LEADING:
            raise NotLeader(None)
        due = None if attesting is None or caller.dry_run else attesting.due(view, node)
        return BeatHeard(beats.rule, due, view.state.mig.order(node), view.state.health.order(node))

    heard = await caller.read(check)
    if not caller.dry_run:
        beats.beat(node)
    return heard

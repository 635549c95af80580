"""Handlers for those who run the fleet: nodes' own reports, and leases' ends.

Rules:

- A principal of the kind ``node`` is named ``node:NAME`` and reports for the node ``NAME`` alone.
  Anybody else with the key to report may do so for every node.
- A heartbeat is kept in memory, by the leader; nothing is recorded until a node falls silent.
"""

from __future__ import annotations

from dataclasses import replace

from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.node import EXECUTOR_LABEL, HEARTBEAT_LABEL, NodeCapacity
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import ClearFence, Evict, RegisterNode, ReportTeardown
from bailiwick.runtime.replica import Role, View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing
from bailiwick.server.http.fleet import registration
from bailiwick.server.http.params import PathName, PathNumber
from bailiwick.services.caller import Hidden
from bailiwick.services.nonces import Nonce
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, NotLeader, Unavailable
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done

REPORTED = "agent"
"""The heartbeat label's value of a node that its own agent reported."""

# -- nodes about themselves ------------------------------------------------------------------


@answers("node.beat")
async def beat(asked: Changing, node: PathName) -> wire.Heard:
    """Say that a node is alive; the answer has a nonce when it is time to attest."""
    asked.require_node(node)
    beats, gate = asked.house.parts.beats, asked.house.parts.gate
    if beats is None:
        raise Unavailable("heartbeats", "this server does not listen for them")

    def check(view: View) -> Nonce | None:
        view.state.ledger.entry(node)
        if view.role is not Role.LEADING:
            raise NotLeader(None)
        return None if gate is None or asked.dry_run else gate.attesting.due(view, node)

    due = await asked.read(check)
    if not asked.dry_run:
        beats.beat(node)
    return wire.Heard(
        node=node,
        beat_ms=beats.rule.beat_ms,
        timeout_ms=beats.rule.timeout_ms,
        attest_nonce=None if due is None else due.value.hex(),
    )


@answers("node.report")
async def report_inventory(asked: Changing, node: PathName, *, body: wire.Inventory) -> Done:
    """Say what a machine has; this adds it to the fleet, and said again changes nothing."""
    asked.require_node(node)
    command = registration(node, body)
    if not isinstance(command, RegisterNode):
        raise InvariantBroken(f"a registration is {command}")
    if EXECUTOR_LABEL in command.capacity.labels:  # it would draw jobs to where nobody runs them
        expected = f"none of {EXECUTOR_LABEL}: a server gives that to its own machine"
        raise InvalidValue("labels", command.capacity.labels[EXECUTOR_LABEL], expected)
    labels = {**command.capacity.labels, HEARTBEAT_LABEL: REPORTED}
    command = replace(command, capacity=replace(command.capacity, labels=labels))
    if not await _is_known(asked, node, wanted=command.capacity):
        try:
            return await asked.do(command)
        except Conflict:  # somebody was faster
            if not await _is_known(asked, node, wanted=command.capacity):
                raise
    return Done(answer="done", seq=None)


async def _is_known(asked: Asked, node: str, *, wanted: NodeCapacity) -> bool:
    def read(view: View) -> NodeCapacity | None:
        ledger = view.state.ledger
        return ledger.entry(node).capacity if node in ledger else None

    found = await asked.read(read)
    if found is not None and not is_same_machine(found, wanted):
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, "is known with another inventory", hint=hint)
    return found is not None


# -- leases ----------------------------------------------------------------------------------


@answers("lease.evict")
async def evict_lease(asked: Changing, lease_id: PathNumber, *, body: wire.Eviction) -> Done:
    """End a lease, and its gang, for one of the operator's reasons."""

    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    command = Evict((lease_id,), PreemptionReason(body.reason), body.grace_ms)
    await asked.require_at(owner, command)
    return await asked.do(command)


@answers("lease.clear_fence")
async def clear_fence(asked: Changing, lease_id: PathNumber) -> Done:
    """Say that you looked at what a fenced lease held, and that it is clean."""
    asked.require(FLEET)
    await _node_of(asked, lease_id)
    return await asked.do(ClearFence(lease_id))


@answers("lease.teardown")
async def report_teardown(
    asked: Changing, lease_id: PathNumber, *, body: wire.TeardownReport
) -> Done:
    """Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown."""
    asked.require(FLEET)
    node = await _node_of(asked, lease_id)
    asked.require_node(node)
    return await asked.do(ReportTeardown(lease_id, body.clean))


async def _node_of(asked: Asked, lease_id: int) -> str:
    def read(view: View) -> str | None:
        state = view.state
        return str(state.node_of(lease_id)) if lease_id in state.leases else None

    found = await asked.read(read)
    if found is None:
        raise Hidden()
    return found

"""A machine says itself what it has: taken into the fleet, or seen to be the one that is known.

Rules:

- Said again it changes nothing. Another machine under the same name is refused; where its own agent
  had reported the node, the refusal has the GPUs that it is known with.
- What a node's labels say of who runs jobs there is taken from its own agent alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.node import (
    EXECUTOR_LABEL,
    HEARTBEAT_LABEL,
    HOST_MEMBERS_LABEL,
    JOB_MODE_LABEL,
    NODE_EXECUTOR,
    NodeCapacity,
)
from bailiwick.iam import PrincipalKind
from bailiwick.kernel import Done, RegisterNode
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.vocab.errors import Conflict, InvalidValue

REPORTED: Final = "agent"
"""The heartbeat label's value of a node that its own agent reported."""
_AGAIN: Final = "an operator drains it and has it depart; then it can report again"


class OtherInventory(Conflict):
    """The node is known with another inventory; ``gpus`` are the models that it is known with.

    Nothing where an operator registered it: what he calls a GPU is not what its driver does.
    """

    def __init__(self, node: str, known: NodeCapacity) -> None:
        super().__init__("node", node, "is known with another inventory", hint=_AGAIN)
        is_reported = known.labels.get(HEARTBEAT_LABEL) == REPORTED
        self.gpus = tuple(gpu.model for gpu in known.gpus) if is_reported else None


async def report_inventory(caller: Caller, node: str, *, tell: Deferred[NodeCapacity]) -> Done:
    """Say what a machine has; this adds it to the fleet, and said again changes nothing."""
    caller.require_node(node)
    capacity = own_capacity(caller, tell())
    if not await _is_known(caller, node, wanted=capacity):
        try:
            return await caller.change(RegisterNode(node, capacity))
        except Conflict:  # somebody was faster
            if not await _is_known(caller, node, wanted=capacity):
                raise
    return Done(None)


def own_capacity(caller: Caller, told: NodeCapacity) -> NodeCapacity:
    """What a machine says of itself, as it is taken; refused where that is not its to say."""
    executor = told.labels.get(EXECUTOR_LABEL)
    is_own = caller.principal.kind is PrincipalKind.NODE
    # Another would draw jobs to where nobody runs them.
    if executor is not None and not (executor == NODE_EXECUTOR and is_own):
        expected = f"none but {NODE_EXECUTOR}, of the node's own agent"
        raise InvalidValue("labels", executor, expected)
    if HOST_MEMBERS_LABEL in told.labels and executor is None:
        expected = f"no {HOST_MEMBERS_LABEL} of a node whose agent runs no jobs"
        raise InvalidValue("labels", HOST_MEMBERS_LABEL, expected)
    return replace(told, labels={**told.labels, HEARTBEAT_LABEL: REPORTED})


async def _is_known(caller: Caller, node: str, *, wanted: NodeCapacity) -> bool:
    def read(view: View) -> NodeCapacity | None:
        ledger = view.state.ledger
        return ledger.entry(node).capacity if node in ledger else None

    found = await caller.read(read)
    if found is not None and not is_same_machine(found, wanted):
        raise OtherInventory(node, found)
    if found is not None and found.labels.get(EXECUTOR_LABEL) != wanted.labels.get(EXECUTOR_LABEL):
        raise Conflict("node", node, "is known with another executor, or none", hint=_AGAIN)
    mode = None if found is None else found.labels.get(JOB_MODE_LABEL)
    if mode is not None and mode != wanted.labels.get(JOB_MODE_LABEL):
        raise Conflict("node", node, f"is known with the job mode {mode}", hint=_AGAIN)
    host = HOST_MEMBERS_LABEL
    if found is not None and found.labels.get(host) != wanted.labels.get(host):
        does = "" if host in found.labels else "not "
        raise Conflict("node", node, f"is known as one that does {does}give the host", hint=_AGAIN)
    return found is not None

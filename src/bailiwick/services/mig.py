"""Repartitioning: operators have a node's GPUs divided, and its agent tells how that went.

Rules:

- Who may drain a node may have it repartitioned. A dry run tells who would go, as a drain's does.
- A node's agent answers for its own node alone, with the inventory that the machine has now.
"""

from __future__ import annotations

from bailiwick.fleet.node import NodeCapacity
from bailiwick.iam import FLEET
from bailiwick.kernel import CancelMig, ChangeMig, ChangeMode, Done, ReportMig
from bailiwick.kernel.mig.rules import REASON
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import ModeForeseen, foresee_node
from bailiwick.services.gate.joining import own_capacity
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.transitions import NodeMode


async def change_mig(caller: Caller, tell: Deferred[ChangeMig]) -> tuple[Done, ModeForeseen | None]:
    """Empty a node and have its GPUs divided, or made whole; a dry run tells who would go."""
    caller.require(FLEET)
    change = tell()
    done = await caller.change(change)
    if not caller.dry_run:
        return done, None
    drain = ChangeMode(change.node, NodeMode.DRAINING, REASON, change.grace_ms)
    return done, await foresee_node(caller, drain)


async def cancel_mig(caller: Caller, node: str) -> Done:
    """Call a change of MIG profiles off."""
    caller.require(FLEET)
    return await caller.change(CancelMig(node))


async def report_mig(
    caller: Caller,
    node: str,
    *,
    change_id: int,
    cause: MigFailure | None,
    tell: Deferred[NodeCapacity | None],
) -> Done:
    """Say how a node's agent fared, and what its machine has now."""
    caller.require_node(node)
    told = tell()
    capacity = None if told is None else own_capacity(caller, told)
    return await caller.change(ReportMig(node, change_id, cause, capacity))

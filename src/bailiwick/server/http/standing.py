"""Handler for how this replica stands: for operators, and for tests that kill it.

Rules:

- It is answered by the replica that was asked, whichever that is.
- The digest is made only on request: it reads the whole state.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from bailiwick.iam import FLEET
from bailiwick.kernel import digest_of
from bailiwick.runtime.replica import View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.asked import Here
from bailiwick.wire.replica import Leader, ReplicaState

Digest = Annotated[
    str, Query(pattern="^(true|false)$", description="Whether to tell the state's digest.")
]


@answers("replica.read")
async def read_replica(asked: Here, digest: Digest = "false") -> ReplicaState:
    """How this replica stands."""
    asked.require(FLEET)
    replica = asked.house.gateway.runner.replica

    def read(view: View) -> dict[str, Any]:
        state, leader = view.state, replica.leader
        known = None
        if leader is not None:
            known = Leader(name=leader.name, address=leader.address, epoch=leader.epoch)
        return {
            "role": view.role.value,
            "leader": known,
            "epoch": state.epoch,
            "size": state.size,
            "age_ms": max(0, view.age_ms),
            "clock_ms": state.clock_ms,
            "nodes": len(state.ledger.entries),
            "leases": len(state.leases),
            "waiting": len(state.line.entries),
            "digest": digest_of(state) if digest == "true" else None,
        }

    found = await asked.read(read)
    return ReplicaState(name=replica.name, address=replica.address, **found)

"""Route for how this replica stands: for operators, and for tests that kill it."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from fastapi import Query

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.services import replicas
from bailiwick.wire.replica import Leader, ReplicaState

Digest = Annotated[
    str, Query(pattern="^(true|false)$", description="Whether to tell the state's digest.")
]


@answers("replica.read")
async def read_replica(asked: Here, digest: Digest = "false") -> ReplicaState:
    """How this replica stands."""
    found = await replicas.read(asked, digest=digest == "true")
    told: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(found)}
    leader = found.leader
    if leader is not None:
        told["leader"] = Leader(name=leader.name, address=leader.address, epoch=leader.epoch)
    return ReplicaState(**told | {"role": found.role.value})

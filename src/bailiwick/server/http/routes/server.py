"""Routes for the server itself: how this replica stands, and the scheduler's settings."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from fastapi import Query, Response

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import Settings
from bailiwick.kernel.precondition import settings_digest
from bailiwick.kernel.settings import NUMBERS
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatchDigest, digest_in
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import server
from bailiwick.wire import settings as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.fleet import Held
from bailiwick.wire.replica import Leader, ReplicaState

Digest = Annotated[
    str, Query(pattern="^(true|false)$", description="Whether to tell the state's digest.")
]


@answers("replica.read")
async def read_replica(asked: Here, digest: Digest = "false") -> ReplicaState:
    """How this replica stands."""
    found = await server.read_replica(asked, digest=digest == "true")
    told: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(found)}
    leader = found.leader
    if leader is not None:
        told["leader"] = Leader(name=leader.name, address=leader.address, epoch=leader.epoch)
    return ReplicaState(**told | {"role": found.role.value})


@answers("settings.read")
async def read_settings(asked: Here, response: Response) -> wire.Settings:
    """How the scheduler works now; the ``ETag`` is a digest of it."""
    found = await server.read_settings(asked)
    response.headers["etag"] = f'"{settings_digest(found)}"'
    return _spell(found)


@answers("settings.set")
async def set_settings(
    asked: Changing, body: wire.Settings, *, if_match: IfMatchDigest = None
) -> Done:
    """Replace all settings; they count from now on and judge nothing again."""
    done = await server.set_settings(asked, lambda: _settings(body), seen=digest_in(if_match))
    return spell_done(done)


def _settings(body: wire.Settings) -> Settings:
    weights: Any = None if body.weights is None else tuple(body.weights)  # four, says the model
    headroom = body.headroom
    return Settings(
        strategy=body.strategy,
        weights=weights,
        headroom=Resources(
            headroom.cpu_milli, headroom.mem_bytes, headroom.block_bytes, headroom.gpu_milli
        ),
        headroom_priority=body.headroom_priority,
        preempt_from=body.preempt_from,
        confirm_teardown=body.confirm_teardown,
        **{name: getattr(body, name) for name in NUMBERS},
    )


def _spell(found: Settings) -> wire.Settings:
    cpu, mem, block, gpu = found.headroom.as_tuple()
    return wire.Settings(
        strategy=found.strategy,
        weights=None if found.weights is None else list(found.weights),
        headroom=Held(cpu_milli=cpu, mem_bytes=mem, block_bytes=block, gpu_milli=gpu),
        headroom_priority=found.headroom_priority,
        preempt_from=found.preempt_from,
        confirm_teardown=found.confirm_teardown,
        **{name: getattr(found, name) for name in NUMBERS},
    )

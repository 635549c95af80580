"""Routes for the server itself: is it up, how it stands and is set, what it saw of its work."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from fastapi import Path, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.requests import Request

from bailiwick.executors.clusters import ClusterHands
from bailiwick.fleet.resources import Resources
from bailiwick.iam import FLEET
from bailiwick.kernel import Settings
from bailiwick.kernel.precondition import settings_digest
from bailiwick.kernel.settings import NUMBERS
from bailiwick.phrases.words import SENTENCES
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here, House
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.server.http.params import IfMatchDigest, digest_in
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import PROBLEMS
from bailiwick.services import server
from bailiwick.services.caller import Hidden
from bailiwick.services.nodes import count_agents
from bailiwick.telemetry.metrics import CONTENT_TYPE
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.timeline import TimelineRow
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire import settings as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import PRINCIPAL_PATTERN
from bailiwick.wire.fleet import Held
from bailiwick.wire.replica import ClusterState, Health, Leader, ReplicaState, Words
from bailiwick.wire.traces import Timeline, TimelineEntry

Digest = Annotated[
    str, Query(pattern="^(true|false)$", description="Whether to tell the state's digest.")
]


@answers("healthz")
async def healthz() -> Health:
    """Answers while the process runs; says nothing about its state."""
    return Health(status="ok")


@answers("readyz")
async def readyz(request: Request) -> Health:
    """Answers once the state is loaded; until then 503."""
    house: House = request.app.state.house
    if not house.gateway.is_ready:
        raise Unavailable("the state", "it is being read from the store, or was lost")
    return Health(status="ok")


@answers("words.read")
async def read_words() -> Words:
    """What each closed word says, as the command line says it too."""
    meanings = {code.value: row.meaning for code, row in PROBLEMS.items()}
    found = {name: dict(said) for name, said in SENTENCES.items()}
    return Words(words=found | {"error_code": meanings})


@answers("replica.read")
async def read_replica(asked: Here, digest: Digest = "false") -> ReplicaState:
    """How this replica stands."""
    found = await server.read_replica(asked, digest=digest == "true")
    told: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(found)}
    leader = found.leader
    if leader is not None:
        told["leader"] = Leader(name=leader.name, address=leader.address, epoch=leader.epoch)
    parts = asked.house.parts
    agents = {} if parts.desk is None else await count_agents(asked, parts.desk)
    told |= {"role": found.role.value, "job_mode": parts.job_mode, "agents": agents}
    told["host_members"] = parts.host_members
    return ReplicaState(**told, clusters=[_cluster(each) for each in parts.clusters])


def _cluster(hands: ClusterHands) -> ClusterState:
    look = hands.look
    return ClusterState(
        cluster=hands.title,
        state=look.state.value,
        nodes=look.nodes,
        asked_ms=look.asked_ms,
        answered_ms=look.answered_ms,
        trouble=look.trouble,
    )


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
        aging_ceiling=body.aging_ceiling,
        confirm_teardown=body.confirm_teardown,
        offer_platform_managed=body.offer_platform_managed,
        priority_max=body.priority_max,
        lease_classes=tuple(body.lease_classes),
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
        aging_ceiling=found.aging_ceiling,
        confirm_teardown=found.confirm_teardown,
        offer_platform_managed=found.offer_platform_managed,
        priority_max=found.priority_max,
        lease_classes=list(found.lease_classes),
        **{name: getattr(found, name) for name in NUMBERS},
    )


CorrelationId = Annotated[str, Path(pattern=PRINCIPAL_PATTERN)]


@answers("trace.read")
async def read_trace(asked: Here, correlation_id: CorrelationId) -> Timeline:
    """Request, decision, events, spans and log lines under one correlation id, by time."""
    telemetry = asked.house.parts.telemetry
    found = await server.read_trace(asked, telemetry, correlation_id=correlation_id)
    return Timeline(
        correlation_id=correlation_id,
        entries=[_spelled(each) for each in found.entries],
        is_cut=found.is_cut,
    )


def _spelled(entry: TimelineRow) -> TimelineEntry:
    return TimelineEntry(
        at_ms=entry.at_ms,
        source=entry.source.value,
        name=entry.name,
        duration_ms=None if entry.duration_us is None else entry.duration_us / 1000,
        details=dict(entry.details),
    )


@answers("metrics.read")
async def read_metrics(asked: Here, request: Request) -> PlainTextResponse:
    """All metrics, in Prometheus' text format."""
    asked.require(FLEET)
    return await read_metrics_openly(request)


async def read_metrics_openly(request: Request) -> PlainTextResponse:
    """The same, where whoever can reach the server may see them."""
    house: House = request.app.state.house
    telemetry = _telemetry(house)
    reader: GaugeReader = request.app.state.gauges
    gauges = await reader.read(telemetry.metrics.last_approved)
    gauges.put("bailiwick_watchers", house.parts.watchers.count)
    return PlainTextResponse(telemetry.expose(gauges), media_type=CONTENT_TYPE)


def _telemetry(house: House) -> Telemetry:
    found = house.parts.telemetry
    if found is None:
        raise Hidden()
    return found

"""What may be asked of endpoints: which an instance has, and to pass a request on to one.

Rules:

- To open one is a permission of its own, in the instance's project. An instance of another project
  is not there; one behind a shared runtime is opened by nobody.
- What is reached is the port that the manifest of the serving member declares, inside that member.
  A caller names an endpoint, never a port or a host.
- Each request is judged by itself, so a token that is revoked opens nothing; while an answer goes
  on its caller is judged again every few seconds.
- Who serves is the oldest member of the endpoint's role that is ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, NamedTuple

from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.kernel.apps.endpoints.commands import OpenEndpoint
from bailiwick.kernel.apps.instances import AppMember
from bailiwick.runtime.replica import View
from bailiwick.services.apps.endpoints.desk import EndpointDesk, EndpointPlace, EndpointSession
from bailiwick.services.apps.endpoints.exchange import EndpointRequest, Exchange, Headers
from bailiwick.services.apps.endpoints.link import Link, LinkLost
from bailiwick.services.apps.instances import InstancePlace, require_instance
from bailiwick.services.caller import Caller
from bailiwick.services.jobs.exec_desk import Exec
from bailiwick.services.jobs.execs import ExecHouse, running_at, way_in
from bailiwick.services.jobs.use_cases import kept_jobs
from bailiwick.vocab.apps import EndpointEnd, MemberPhase
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, Unavailable
from bailiwick.vocab.execs import ExecWish

ROOM_S: Final = 10.0
"""How long a request waits for a connection that others have."""
LOOK_S: Final = 0.05


class ShownEndpoint(NamedTuple):
    """An endpoint of an instance, and who serves it now."""

    name: str
    spec: EndpointSpec
    component_key: str | None
    """None: nobody is ready to."""


class Serving(NamedTuple):
    """Who serves an endpoint, and how."""

    app: str
    member: AppMember
    spec: EndpointSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHouse:
    """What passing on needs: who has what open, and the way into jobs."""

    desk: EndpointDesk | None
    execs: ExecHouse

    @property
    def open(self) -> EndpointDesk:
        """Those that are open here."""
        if self.desk is None:
            raise Unavailable("endpoints", "this server keeps no jobs")
        return self.desk


class PassedOn(NamedTuple):
    """What an app answers; ``leave`` is called however the answer ends."""

    status: int
    headers: Headers
    body: AsyncGenerator[bytes, None]
    leave: Callable[[], None]


async def list_endpoints(caller: Caller, place: InstancePlace) -> list[ShownEndpoint]:
    """Those of an instance, by name."""
    await require_instance(caller, place, changes=False)

    def look(view: View) -> list[ShownEndpoint]:
        held = place.find(view)
        manifest = view.state.apps.version(held.instance.app, held.instance.version).manifest
        found = []
        for name, spec in sorted(manifest.endpoints.items()):
            serving = _serving(view, place, name)
            key = None if serving is None else serving.member.component_key
            found.append(ShownEndpoint(name, spec, key))
        return found

    return await caller.read(look)


async def pass_on(
    caller: Caller,
    house: EndpointHouse,
    *,
    place: InstancePlace,
    endpoint: str,
    request: EndpointRequest,
    still_may: Callable[[], Awaitable[None]],
) -> PassedOn:
    """Have an app answer a request."""
    await require_instance(caller, place, changes=True)
    await caller.lookup(place.find)
    session = await _session(caller, house, place=place, endpoint=endpoint)
    with ExitStack() as stack:
        stack.enter_context(house.open.asking(session))
        link, exchange, (status, headers) = await _asked(house, session, request)
        leaving = stack.pop_all()

    def leave() -> None:
        with leaving:
            link.is_used = True
            if exchange.is_reusable:
                house.open.give_back(session, link)
            else:
                link.close()
                house.open.give_place(session)

    return PassedOn(status, headers, exchange.body(still_may), leave)


async def _asked(
    house: EndpointHouse, session: EndpointSession, request: EndpointRequest
) -> tuple[Link, Exchange, tuple[int, Headers]]:
    """A connection on which the app began to answer.

    One that was open before may have been ended by the app meanwhile. Then what changes nothing is
    asked again on a new one.
    """
    while True:  # at most once for each connection that was idle, and once for a new one
        link = await _link(house, session)
        exchange, is_kept = Exchange(link), False
        try:
            found = await exchange.ask(request)
            is_kept = True
            return link, exchange, found
        except LinkLost:
            may_again = link.is_used and request.method == "GET" and not exchange.has_sent_body
            if not may_again:
                raise Unavailable("the endpoint", "its app ended the connection") from None
        finally:
            if not is_kept:
                link.close()
                house.open.give_place(session)


async def _session(
    caller: Caller, house: EndpointHouse, *, place: InstancePlace, endpoint: str
) -> EndpointSession:
    """His session there; a new one is sealed first."""
    where = EndpointPlace(caller.principal.name, *place, endpoint)
    serving = await caller.lookup(lambda view: _serving(view, place, endpoint))
    held = house.open.get(where)
    if held is not None:
        if serving is not None and serving.member.job_id == held.job_id:
            return held
        await asyncio.to_thread(house.open.end, held, EndpointEnd.IDLE)
    if serving is None or serving.member.job_id is None:
        await caller.lookup(lambda view: _check_declared(view, place, endpoint))
        raise Conflict("endpoint", endpoint, "is served by no member that is ready")
    house.open.check_room(where.opener)
    made = EndpointSession(
        session_id=house.execs.open.new_id(),
        place=where,
        app=serving.app,
        member_id=serving.member.id,
        job_id=serving.member.job_id,
        correlation_id=caller.correlation_id,
        connect=serving.spec.connect,
    )
    async with house.open.opening:
        held = house.open.get(where)
        if held is not None:  # another request of his was first
            return held
        command = OpenEndpoint(
            tenant=place.tenant,
            project=place.project,
            instance_id=place.instance_id,
            endpoint=endpoint,
            member_id=serving.member.id,
            session_id=made.session_id,
        )
        await caller.change(command)
        house.open.hold(made)
    return made


async def _link(house: EndpointHouse, session: EndpointSession) -> Link:
    """A connection to the member, old or new; waits while others have all there may be."""
    loop, desk = asyncio.get_running_loop(), house.open
    until = loop.time() + ROOM_S
    while True:  # bounded by ``ROOM_S``
        found = desk.take_idle(session)
        if found is not None:
            return found
        if desk.take_place(session):
            break
        if loop.time() >= until:
            raise LimitReached("connections to one member", desk.links_max)
        await asyncio.sleep(LOOK_S)
    try:
        link = await _connect(house, session)
        await link.open()
    except BaseException:
        desk.give_place(session)
        raise
    return link


async def _connect(house: EndpointHouse, session: EndpointSession) -> Link:
    """Have a connection made, inside the member's job."""
    jobs, execs = kept_jobs(house.execs.jobs), house.execs.open
    job = await asyncio.to_thread(jobs.get, session.job_id)
    lease_id, node = running_at(job)
    executor = way_in(house.execs, jobs, node=node, job_id=job.job_id)
    opener = f"endpoint:{session.session_id}"
    execs.check_room(opener)
    made = Exec(
        exec_id=execs.new_id(),
        opener=opener,
        key=None,
        tenant=job.tenant,
        project=job.project,
        job_id=job.job_id,
        lease_id=lease_id,
        node=node,
        wish=ExecWish((), connect=session.connect),
        correlation_id=session.correlation_id,
        is_sealed=True,  # the session is
    )
    execs.begin(made, executor)
    return Link(made.channel)


def _serving(view: View, place: InstancePlace, endpoint: str) -> Serving | None:
    """Who serves it: the oldest that is ready of those whose own version declares it."""
    held, book = place.find(view), view.state.apps
    for member in sorted(held.members.values(), key=lambda each: each.id):
        if member.phase is not MemberPhase.READY or member.job_id is None:
            continue
        manifest = book.version(held.instance.app, member.version).manifest
        spec = manifest.endpoints.get(endpoint)
        if spec is not None and spec.role == member.role:
            return Serving(held.instance.app, member, spec)
    return None


def _check_declared(view: View, place: InstancePlace, endpoint: str) -> None:
    """Refuse what the instance does not have."""
    told = place.find(view).instance
    manifest = view.state.apps.version(told.app, told.version).manifest
    if endpoint not in manifest.endpoints:
        raise NotFound("endpoint", endpoint)

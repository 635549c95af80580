"""Who has which endpoint open: sessions with their connections, all of them bounded.

Rules:

- A session is one caller's at one endpoint of one instance: from his first request until he asked
  for nothing for a while. That it begins is sealed before anything is sent, that it is over as soon
  as it is: two records, however many requests are between.
- All is bounded: sessions in all and of one caller, connections of a session and of a member,
  requests of a session at a time. So people who look at pages leave room for the app's operator.
- A session is for one member. When another serves the endpoint, it is over.
- It lives in the memory of the server that leads. A server that is killed seals no end.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from bailiwick.kernel import Envelope
from bailiwick.kernel.apps.endpoints.commands import NoteEndpointClosed
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.endpoints.link import Link
from bailiwick.vocab.apps import EndpointEnd
from bailiwick.vocab.errors import BailiwickError, LimitReached
from bailiwick.vocab.execs import ExecConnect

SESSIONS_MAX: Final = 64
SESSIONS_MAX_EACH: Final = 8
"""Of one caller."""
LINKS_MAX: Final = 32
"""Connections that one server has open, in all."""
LINKS_MAX_MEMBER: Final = 8
"""To one member: less than it lets in at a time."""
LINKS_MAX_SESSION: Final = 6
REQUESTS_MAX: Final = 16
"""Of one session at a time."""
IDLE_S: Final = 300.0
"""How long nothing may be asked for before a session is over."""
LASTS_S: Final = 12 * 3600.0
LOOK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class EndpointPlace:
    """Whose endpoint it is, and who has it open."""

    opener: str
    tenant: str
    project: str
    instance_id: int
    endpoint: str


@dataclass(slots=True, kw_only=True, eq=False)
class EndpointSession:
    """One caller at one endpoint."""

    session_id: str
    place: EndpointPlace
    app: str
    member_id: int
    job_id: int
    correlation_id: str
    connect: ExecConnect
    """What is connected to, inside the member."""
    opened_s: float = field(default_factory=time.monotonic)
    used_s: float = field(default_factory=time.monotonic)
    requests: int = 0
    running: int = 0
    """Requests that are not answered yet."""
    idle: list[Link] = field(default_factory=list)
    links: int = 0
    """Connections, those that are idle among them."""


class EndpointDesk:
    """Those that this server holds; calls come from any thread."""

    def __init__(self, runner: Runner, *, idle_s: float = IDLE_S) -> None:
        self._runner, self._idle_s = runner, idle_s
        self._lock = threading.Lock()
        self._sessions: dict[EndpointPlace, EndpointSession] = {}
        self._keeping: threading.Thread | None = None
        self.opening = asyncio.Lock()
        """Held while a session is sealed: requests that come together open one."""
        self.links_max = LINKS_MAX_MEMBER

    def get(self, place: EndpointPlace) -> EndpointSession | None:
        """His session there."""
        with self._lock:
            return self._sessions.get(place)

    def check_room(self, opener: str) -> None:
        """Refuse one too many."""
        with self._lock:
            openers = [place.opener for place in self._sessions]
        if len(openers) >= SESSIONS_MAX:
            raise LimitReached("endpoints that are open", SESSIONS_MAX)
        if openers.count(opener) >= SESSIONS_MAX_EACH:
            raise LimitReached("endpoints that one caller has open", SESSIONS_MAX_EACH)

    def hold(self, made: EndpointSession) -> None:
        """Have it be known from now on."""
        with self._lock:
            self._sessions[made.place] = made
            if self._keeping is None or not self._keeping.is_alive():
                self._keeping = threading.Thread(target=self._keep, name="endpoints", daemon=True)
                self._keeping.start()

    @contextmanager
    def asking(self, session: EndpointSession) -> Iterator[None]:
        """Count a request from its beginning to the end of its answer."""
        with self._lock:
            if session.running >= REQUESTS_MAX:
                raise LimitReached("requests of one caller to an endpoint at a time", REQUESTS_MAX)
            session.running += 1
            session.requests += 1
        try:
            yield
        finally:
            with self._lock:
                session.running -= 1
                session.used_s = time.monotonic()

    def take_idle(self, session: EndpointSession) -> Link | None:
        """A connection that nothing goes over now."""
        with self._lock:
            while session.idle:  # bounded by how many there are
                link = session.idle.pop()
                if not link.is_over:
                    return link
                session.links -= 1
        return None

    def take_place(self, session: EndpointSession) -> bool:
        """Whether there is room for one connection more, which is then counted."""
        with self._lock:
            held = list(self._sessions.values())
            of_member = sum(each.links for each in held if each.job_id == session.job_id)
            if session not in held:  # it is over, and goes on with what it has
                of_member += session.links
            is_full = (
                session.links >= LINKS_MAX_SESSION
                or of_member >= LINKS_MAX_MEMBER
                or sum(each.links for each in held) >= LINKS_MAX
            )
            session.links += not is_full
            return not is_full

    def give_place(self, session: EndpointSession) -> None:
        """A connection is not there any more."""
        with self._lock:
            session.links -= 1

    def give_back(self, session: EndpointSession, link: Link) -> None:
        """A connection can be used again, if anybody will."""
        with self._lock:
            if self._sessions.get(session.place) is session and not link.is_over:
                session.idle.append(link)
                return
            session.links -= 1
        link.close()

    def end(self, session: EndpointSession, why: EndpointEnd) -> None:
        """It is over; what is being answered goes on, and nothing else begins in it."""
        with self._lock:
            if self._sessions.get(session.place) is not session:
                return
            del self._sessions[session.place]
            links, session.idle = session.idle, []
            session.links -= len(links)
        for link in links:
            link.close()
        where = session.place
        note = NoteEndpointClosed(
            tenant=where.tenant,
            project=where.project,
            instance_id=where.instance_id,
            app=session.app,
            endpoint=where.endpoint,
            session_id=session.session_id,
            end=why,
            requests=session.requests,
        )
        key = f"endpoint-{session.session_id}/end"
        with suppress(BailiwickError):  # one that leads no more leaves it open
            self._runner.execute(Envelope(note, where.opener, session.correlation_id, key))

    def close(self) -> None:
        """The server ends, and they with it."""
        with self._lock:
            held = list(self._sessions.values())
        for each in held:
            self.end(each, EndpointEnd.STOPPED)

    def _keep(self) -> None:
        while True:  # as long as any is held
            time.sleep(LOOK_S)
            with self._lock:
                held = list(self._sessions.values())
                if not held:
                    self._keeping = None
                    return
            now = time.monotonic()
            for each in held:
                if now - each.opened_s > LASTS_S:
                    self.end(each, EndpointEnd.TIME_OVER)
                elif not each.running and now - each.used_s > self._idle_s:
                    self.end(each, EndpointEnd.IDLE)

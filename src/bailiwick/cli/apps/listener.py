"""A listener on this machine's loopback address that passes HTTP on to an endpoint of an instance.

Rules:

- It listens on 127.0.0.1 alone, and passes on what its door lets through (``apps.endpoints``).
- A body goes on as it comes, both ways. All is bounded: connections, headers, waits.
- An answer that is not the app's, but the platform's own, is shown; if it says that the login is
  over, nothing more is passed on.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final, assert_never

import h11
import httpx2

from bailiwick.apps.endpoints.headers import HEADER_BYTES_MAX, TO_CALLER, to_app
from bailiwick.apps.endpoints.local_door import KeptOut, LetIn, LetThrough, LocalDoor
from bailiwick.client import Client
from bailiwick.vocab.errors import InvalidValue

CONNECTIONS_MAX: Final = 16
IDLE_S: Final = 120.0
LOOK_S: Final = 0.5
CHUNK_BYTES: Final = 65_536
MARK: Final = "x-bailiwick-endpoint"
"""On answers that are the app's."""
_OVER: Final = 401

Headers = list[tuple[bytes, bytes]]


class Listener:
    """Listens until it is told to stop, or the platform lets nobody in any more."""

    def __init__(
        self, place: socket.socket, door: LocalDoor, *, prefix: str, connect: Callable[[], Client]
    ) -> None:
        self._place, self._door = place, door
        self._prefix, self._connect = prefix.rstrip("/"), connect
        self._room = threading.Semaphore(CONNECTIONS_MAX)
        self._stop = threading.Event()
        self.why = ""
        """Why it ended by itself."""

    def serve(self) -> None:
        """Until it is over; Ctrl-C ends it."""
        self._place.settimeout(LOOK_S)
        while not self._stop.is_set():  # until it is over
            if not self._room.acquire(timeout=LOOK_S):
                continue
            try:
                met, _ = self._place.accept()
            except OSError:
                self._room.release()
                continue
            threading.Thread(target=self._meet, args=(met,), daemon=True).start()

    def stop(self, why: str = "") -> None:
        """Pass nothing more on."""
        self.why = self.why or why
        self._stop.set()

    def _meet(self, met: socket.socket) -> None:
        met.settimeout(IDLE_S)
        try:
            with met, self._connect() as client:
                Visit(met, client, door=self._door, prefix=self._prefix, stop=self.stop).run()
        except (OSError, h11.ProtocolError, httpx2.HTTPError):
            pass  # what breaks one connection ends that one
        finally:
            self._room.release()


class Visit:
    """One connection of a browser or a program."""

    def __init__(
        self,
        met: socket.socket,
        client: Client,
        *,
        door: LocalDoor,
        prefix: str,
        stop: Callable[[str], None],
    ) -> None:
        self._met, self._client, self._door = met, client, door
        self._prefix, self._stop = prefix, stop
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEADER_BYTES_MAX)

    def run(self) -> None:
        """Answer what is asked on it, one after the other."""
        while True:  # until either side ends it, or is idle for too long
            event = self._next()
            if not isinstance(event, h11.Request):
                return
            self._answer(event)
            if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    def _answer(self, asked: h11.Request) -> None:
        method, target = asked.method.decode(), asked.target.decode("ascii", "replace")
        verdict = self._door.judge(method, target, headers=asked.headers)
        match verdict:
            case LetThrough():
                self._pass_on(asked)
            case LetIn():
                self._say(303, [(b"Location", b"/"), (b"Set-Cookie", verdict.cookie.encode())])
            case KeptOut():
                self._say(verdict.status, [], f"{verdict.why}\n")
            case _:
                assert_never(verdict)

    def _pass_on(self, asked: h11.Request) -> None:
        headers = {n.decode().lower(): v.decode("latin-1") for n, v in to_app(asked.headers)}
        headers.setdefault("accept-encoding", "identity")
        given = {name.lower(): value for name, value in asked.headers}
        length = given.get(b"content-length")
        has_body = b"transfer-encoding" in given or (length is not None and length != b"0")
        if length is not None and has_body:
            headers["content-length"] = length.decode()
        path = self._prefix + asked.target.decode("ascii")
        body = self._body() if has_body else None
        try:
            with self._client.pass_on(
                asked.method.decode(), path, headers=headers, body=body
            ) as found:
                self._tell(found)
        except InvalidValue as error:
            self._say(400, [], f"{error}\n")
        except httpx2.HTTPError as error:
            if self._http.our_state is not h11.SEND_RESPONSE:
                raise  # it is cut, and so its reader knows
            self._say(502, [], f"the platform does not answer ({type(error).__name__})\n")

    def _tell(self, found: httpx2.Response) -> None:
        """What was answered, as it comes."""
        is_apps = MARK in found.headers
        if not is_apps and found.status_code == _OVER:
            self._stop("the platform lets nobody in with this login any more")
        headers: Headers = [
            (name.encode(), value.encode("latin-1"))
            for name, value in found.headers.multi_items()
            if name in TO_CALLER
        ]
        place = found.headers.get("location")
        if place is not None and place.startswith(self._prefix + "/"):
            headers.append((b"location", place[len(self._prefix) :].encode("latin-1")))
        headers += [(b"cache-control", b"private, no-store"), (b"x-frame-options", b"SAMEORIGIN")]
        self._send(h11.Response(status_code=found.status_code, headers=headers))
        for piece in found.iter_raw(CHUNK_BYTES if "content-length" in found.headers else None):
            self._send(h11.Data(data=piece))
        self._send(h11.EndOfMessage())

    def _say(self, status: int, headers: Headers, text: str = "") -> None:
        """An answer of our own; afterwards the connection ends."""
        body = text.encode()
        more = [(b"Content-Length", str(len(body)).encode()), (b"Connection", b"close")]
        more += [(b"Content-Type", b"text/plain; charset=utf-8"), (b"Cache-Control", b"no-store")]
        self._send(h11.Response(status_code=status, headers=[*headers, *more]))
        self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())

    def _body(self) -> Iterator[bytes]:
        """What is sent with a request, as it comes."""
        while True:  # until all of it was read
            event = self._next()
            if not isinstance(event, h11.Data):
                return
            yield bytes(event.data)

    def _next(self) -> object:
        while True:  # until there is one, or the other side is silent for too long
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                self._send(go_on)
            self._http.receive_data(self._met.recv(CHUNK_BYTES))

    def _send(
        self, event: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage
    ) -> None:
        data = self._http.send(event)
        if data:
            self._met.sendall(data)


def listen(port: int | None) -> socket.socket:
    """A place on the loopback address, at a port or at any that is free."""
    try:
        return socket.create_server(("127.0.0.1", port or 0), backlog=CONNECTIONS_MAX)
    except OSError as error:
        raise InvalidValue("--port", port, f"a port that is free ({error.strerror})") from None

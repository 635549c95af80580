"""One connection to one server: a request and its retries, and the live feed.

Rules:

- Every change bears an idempotency key. Whatever goes wrong on the way, the same key is sent
  again, so it takes effect at most once. What hands out a secret is never sent twice.
- Only what may pass is tried again: no connection, no answer, a server that says it cannot just now
  (503), or a gateway that speaks for none; after a pause that grows and is blurred, and a bounded
  number of times.
- Each call names its own correlation id, so that even a call without an answer can be found.
- A token is not sent in the clear beyond this machine.
"""

from __future__ import annotations

import ipaddress
import random
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
from pydantic import TypeAdapter, ValidationError

from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.base import Model
from bailiwick.wire.problem import EdgeCode, Problem

Query: TypeAlias = Mapping[str, str | int | Sequence[str] | None]

TIMEOUT_S: Final = 30.0
TRIES: Final = 4
PAUSE_S, PAUSE_MOST_S = 0.2, 3.0
FEED_SILENCE_S: Final = 45.0
"""The server says something every 15 s; a feed that is silent for longer is dead."""
FEED_TRIES: Final = 8
PASSED_SILENCE_S: Final = 310.0
"""How long an app may be silent: the server gives up first."""
END: Final = "end"
"""The last event of a feed that the server ends; it says why."""
_ENDS: Final = {
    "token_ended": (401, EdgeCode.UNAUTHENTICATED),
    "forbidden": (403, EdgeCode.FORBIDDEN),
}
_UNAVAILABLE: Final = 503


@dataclass(frozen=True, slots=True)
class Event:
    """One message of the feed; ``place`` is where to go on after it."""

    place: str | None
    kind: str
    data: str


@dataclass(slots=True)
class _Place:
    """How far a feed was read, and how often in a row it could not be read on."""

    after: str | None
    failures: int = 0
    is_over: bool = False


def _trust(server: str, ca_file: str | None) -> ssl.SSLContext:
    """Whom to believe that they are the server; over plain HTTP that is nobody."""
    if not server.startswith("https://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # not used, and quicker to make
    if ca_file is None:
        return httpx2.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # an SSLError among them
        told = f"a file with certificates (PEM) that can be read ({error})"
        raise InvalidValue("--ca-file", ca_file, told) from None


def check_server(server: str) -> str:
    """The address of a server as it is used; one that would show the token to others is refused."""
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidValue("server", server, "http://HOST:PORT or https://HOST:PORT")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InvalidValue("server", server, "https:// for any machine but this one")
    return server.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


CREDENTIAL_HEADER: Final = "Artifact-Credential"
"""Where a credential for a pull is shown: in no address, which logs would keep."""


class Connection:
    """Asks one server as one principal."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        ca_file: str | None = None,
        timeout_s: float = TIMEOUT_S,
        tries: int = TRIES,
    ) -> None:
        self.server = check_server(server)
        self.correlation_id = ""
        """Of the last call."""
        self.date = ""
        """When the server says that it gave its last answer."""
        self._tries = tries
        headers = {"User-Agent": "bailiwick-client/1"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx2.Client(
            base_url=self.server,
            headers=headers,
            timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, 5.0)),
            verify=_trust(self.server, ca_file),
            # A proxy for other hosts is no way to this one.
            trust_env=not is_loopback(urlsplit(self.server).hostname or ""),
        )

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    # -- the feed ----------------------------------------------------------------------------

    def events(
        self,
        path: str,
        *,
        query: Query | None = None,
        after: int | str | None = None,
        beats: bool = False,
    ) -> Iterator[Event]:
        """What happens, as it happens; a lost connection is taken up where it was lost.

        With ``beats`` also what has no ``data``: the first says that the server listens, and where
        the feed begins.
        """
        place = _Place(None if after is None else str(after))
        while True:  # bounded by failures in a row
            try:
                told = self._told(path, query, place=place)
                yield from (event for event in told if event.data or beats)
                if place.is_over:
                    return
                why = "the feed was closed"
            except httpx2.HTTPError as error:
                why = _why(error)
            except (Refusal, Unreachable) as failed:
                if not _may_pass(failed):
                    raise
                why = str(failed)
            place.failures += 1
            if place.failures >= FEED_TRIES:
                raise Unreachable(self.server, why, correlation_id=self.correlation_id)
            _pause(place.failures)

    def _told(self, path: str, query: Query | None, *, place: _Place) -> Iterator[Event]:
        """The events of one connection."""
        for event in self._stream(path, query=query, after=place.after):
            place.failures = 0
            if event.place is not None:
                place.after = event.place
            if event.kind == END:
                place.is_over = not self._goes_on(event)
                return
            yield event  # without data it is a heartbeat, which only moves the place

    def _stream(
        self,
        path: str,
        *,
        query: Query | None = None,
        after: str | None = None,
        body: Model | None = None,
    ) -> Iterator[Event]:
        headers = self._named() | {"Accept": "text/event-stream"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if after is not None:
            headers["Last-Event-ID"] = after
        silence = httpx2.Timeout(FEED_SILENCE_S, connect=5.0)
        with self._http.stream(
            "GET" if body is None else "POST",
            path,
            params=_given(query),
            headers=headers,
            timeout=silence,
            content=None if body is None else body.model_dump_json(),
        ) as response:
            if response.status_code != 200:
                response.read()
                raise self._failure(response)
            for event in httpx2.EventSource(response):
                yield Event(event.id or None, event.event, event.data)

    def answer_events(self, path: str, body: Model) -> Iterator[Event]:
        """What is answered bit by bit to a question with a body; asked once, and not taken up."""
        try:
            yield from (each for each in self._stream(path, body=body) if each.data)
        except httpx2.HTTPError as error:
            why = _why(error)
            raise Unreachable(self.server, why, correlation_id=self.correlation_id) from None

    def _goes_on(self, end: Event) -> bool:
        """Whether to connect again after the server has ended a feed, and said why."""
        reason = self._word(end.data)
        if reason not in _ENDS:
            return reason != "complete"
        status, code = _ENDS[reason]
        problem = Problem(
            code=code,
            message=f"the feed was ended: {reason}",
            correlation_id=self.correlation_id,
            details={},
            retryable=False,
        )
        raise Refusal(status, problem)

    def _word(self, data: str) -> str:
        try:
            return TypeAdapter(dict[str, str]).validate_json(data).get("reason", "")
        except ValidationError:
            return ""

    def pieces(self, path: str, *, query: Query | None, shown: str) -> Iterator[bytes]:
        """Bytes as they come, for a credential that is shown; asked for once."""
        headers = self._named() | {CREDENTIAL_HEADER: shown}
        try:
            with self._http.stream("GET", path, params=_given(query), headers=headers) as response:
                if response.status_code != 200:
                    response.read()
                    raise self._failure(response)
                yield from response.iter_raw()
        except httpx2.HTTPError as error:
            name = self.correlation_id
            raise Unreachable(self.server, _why(error), correlation_id=name) from None

    @contextmanager
    def passed(
        self, method: str, path: str, *, headers: Mapping[str, str], body: Iterator[bytes] | None
    ) -> Iterator[httpx2.Response]:
        """An app's answer as it comes, to what is passed on to it; asked for once."""
        silence = httpx2.Timeout(PASSED_SILENCE_S, connect=5.0)
        sent = {**self._named(), **headers}
        request = self._http.build_request(
            method, path, headers=sent, content=body, timeout=silence
        )
        if not request.url.raw_path.endswith(path.encode()):  # it would be asked elsewhere
            raise InvalidValue("path", path[:200], "a path that is spelled plainly")
        response = self._http.send(request, stream=True)
        try:
            yield response
        finally:
            response.close()

    # -- one request -------------------------------------------------------------------------

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Model | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        once: bool = False,
    ) -> httpx2.Response:
        """A good answer; with ``once`` it is not asked for again."""
        keyed = {} if method == "GET" else {"Idempotency-Key": uuid4().hex}
        sent = {**self._named(), **keyed, **(headers or {})}
        content = None if body is None else body.model_dump_json(exclude_unset=True).encode()
        if content is not None:
            sent["Content-Type"] = "application/json"
        request = self._http.build_request(
            method, path, params=_given(query), headers=sent, content=content
        )
        for attempt in range(1, self._tries + 1):
            try:
                response = self._http.send(request)
            except httpx2.HTTPError as error:
                safe = not once or isinstance(error, httpx2.ConnectError)
                if attempt == self._tries or not safe:
                    why, name = _why(error), self.correlation_id
                    raise Unreachable(self.server, why, correlation_id=name) from None
            else:
                self.date = response.headers.get("date", "")
                if response.is_success:
                    return response
                failed = self._failure(response)
                if once or attempt == self._tries or not _may_pass(failed):
                    raise failed
            _pause(attempt)
        raise AssertionError("the last try has returned or raised")

    def _named(self) -> dict[str, str]:
        self.correlation_id = uuid4().hex[:16]
        return {"X-Correlation-Id": self.correlation_id}

    def _failure(self, response: httpx2.Response) -> Refusal | Unreachable | Misunderstood:
        status, name = response.status_code, self.correlation_id
        try:
            return Refusal(status, Problem.model_validate_json(response.content))
        except ValidationError:
            why = f"status {status} without a word of this contract"
            if status >= 500:  # a gateway, or a server that just ends: nobody who could answer
                return Unreachable(self.server, why, correlation_id=name)
            return Misunderstood(self.server, why, correlation_id=name)

    def parse(self, response: httpx2.Response, kind: Any) -> Any:
        """The answer as ``kind``: a model, a union of models, or a text."""
        if kind is str:
            return response.text
        try:
            return TypeAdapter(kind).validate_json(response.content)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the answer"
            why = f"{where}: {first['msg']}"
            name = self.correlation_id
            raise Misunderstood(self.server, why, correlation_id=name) from None


def _may_pass(failed: Exception) -> bool:
    if isinstance(failed, Refusal):
        return failed.status == _UNAVAILABLE
    return isinstance(failed, Unreachable)


def _given(query: Query | None) -> dict[str, str | int | Sequence[str]]:
    return {name: value for name, value in (query or {}).items() if value is not None}


def _why(error: httpx2.HTTPError) -> str:
    match error:
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return f"no connection, {error}" if str(error) else "no connection"
        case httpx2.TimeoutException():
            return "no answer in time"
        case _:
            return str(error) or type(error).__name__


def _pause(attempt: int) -> None:
    time.sleep(min(PAUSE_S * 2 ** (attempt - 1), PAUSE_MOST_S) * random.uniform(0.5, 1.0))

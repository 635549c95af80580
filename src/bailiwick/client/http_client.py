"""A blocking client of the HTTP API, typed by its actions.

``send`` takes the row of an action (``bailiwick.wire.actions``) and returns that row's model; so
neither a path nor the type of an answer is written down by whoever calls. What is sent again and
what is not is told in ``connection``. One client is for one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, TypeAlias, TypeVar, overload

import httpx2

from bailiwick.client.connection import TIMEOUT_S, TRIES, Connection, Event, Query
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.actions.action import Action, Blob, Stream
from bailiwick.wire.answers import Plan
from bailiwick.wire.base import Model, Page

M = TypeVar("M", bound=Model)
B = TypeVar("B", bound=Model)
R = TypeVar("R")

Places: TypeAlias = Mapping[str, str | int]
"""What the names in an action's path stand for."""

PAGE_ROWS: Final = 500
ROWS_MAX: Final = 20_000
"""Rows of one list, over all its pages."""


class Client:
    """Calls one server as one principal; ``with`` it, or call ``close``."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        ca_file: str | None = None,
        timeout_s: float = TIMEOUT_S,
        tries: int = TRIES,
    ) -> None:
        self._line = Connection(server, token, ca_file=ca_file, timeout_s=timeout_s, tries=tries)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    @property
    def server(self) -> str:
        """Where it asks."""
        return self._line.server

    @property
    def correlation_id(self) -> str:
        """Of the last call."""
        return self._line.correlation_id

    @property
    def date(self) -> str:
        """The last answer's ``Date``; empty if it had none."""
        return self._line.date

    # -- actions -----------------------------------------------------------------------------

    @overload
    def send(
        self,
        action: Action[None, R],
        *,
        path: Places | None = None,
        query: Query | None = None,
        etag: str | None = None,
        dry_run: bool = False,
    ) -> R: ...

    @overload
    def send(
        self,
        action: Action[B, R],
        *,
        body: B,
        path: Places | None = None,
        query: Query | None = None,
        etag: str | None = None,
        dry_run: bool = False,
    ) -> R: ...

    def send(self, action: Action[Any, R], **asked: Any) -> R:
        """The answer to an action; a dry run decides the same and changes nothing."""
        return self._answer(action, self._send(action, **asked))

    def send_tagged(
        self, action: Action[None, R], *, path: Places | None = None, query: Query | None = None
    ) -> tuple[R, str | None]:
        """The answer, and the ``ETag`` under which what was read may be changed."""
        response = self._send(action, path=path, query=query)
        return self._answer(action, response), response.headers.get("etag")

    def send_under(
        self, key: str, action: Action[B, R], *, body: B, path: Places | None = None
    ) -> R:
        """The answer to an action under a key of the caller's own.

        Whoever asks again under it, also as another process, is given the first answer.
        """
        response = self._line.ask(
            action.method,
            action.path_to(**(path or {})),
            body=body,
            headers={"Idempotency-Key": key},
            once=action.once,
        )
        return self._answer(action, response)

    def plan(self, action: Action[B, Any], *, body: B) -> Plan:
        """What a request would lead to; nothing changes. For actions whose dry run is a plan."""
        if not action.has_plan:
            raise InvalidValue("action", action.name, "an action that has a plan")
        found: Plan = self._line.parse(self._send(action, body=body, dry_run=True), Plan)
        return found

    def pages(
        self,
        action: Action[None, Page[M]],
        *,
        path: Places | None = None,
        query: Query | None = None,
        page_rows: int = PAGE_ROWS,
        rows_max: int = ROWS_MAX,
    ) -> Page[M]:
        """A list, with all its pages as one; ``next`` is set only if there is still more."""
        found: list[M] = []
        first = (query or {}).get("cursor")
        cursor = None if first is None else str(first)
        while len(found) < rows_max:  # bounded: no page is asked for twice, and no page is endless
            asked = {**(query or {}), "cursor": cursor, "limit": page_rows}
            page = self.send(action, path=path, query=asked)
            found += page.items
            if page.next is None or page.next == cursor:
                return page.model_copy(update={"items": found, "next": None})
            cursor = page.next
        return page.model_copy(update={"items": found[:rows_max], "next": cursor})

    def follow(
        self,
        action: Action[None, Stream],
        *,
        query: Query | None = None,
        after: int | str | None = None,
        beats: bool = False,
    ) -> Iterator[Event]:
        """What happens, as it happens; a lost connection is taken up where it was lost.

        With ``beats`` also heartbeats, which have no ``data``: the first says that nothing from
        here on will be missed.
        """
        return self._line.events(action.path_to(), query=query, after=after, beats=beats)

    def hear(self, action: Action[B, Stream], body: B) -> Iterator[Event]:
        """What is answered bit by bit to a long question, as it comes; to hang up ends it."""
        return self._line.answer_events(action.path_to(), body)

    def download(
        self, action: Action[None, Blob], *, path: Places, query: Query | None, shown: str
    ) -> Iterator[bytes]:
        """Bytes as they come, for a credential that is shown."""
        return self._line.pieces(action.path_to(**path), query=query, shown=shown)

    def pass_on(
        self, method: str, path: str, *, headers: Mapping[str, str], body: Iterator[bytes] | None
    ) -> AbstractContextManager[httpx2.Response]:
        """The answer, whatever it is, to a request for an endpoint of an instance, as it comes."""
        return self._line.passed(method, path, headers=headers, body=body)

    def _send(
        self,
        action: Action[Any, Any],
        *,
        body: Model | None = None,
        path: Places | None = None,
        query: Query | None = None,
        etag: str | None = None,
        dry_run: bool = False,
    ) -> httpx2.Response:
        return self._line.ask(
            action.method,
            action.path_to(**(path or {})),
            body=body,
            query={**(query or {}), "dry_run": "true"} if dry_run else query,
            headers=None if etag is None else {"If-Match": etag},
            once=action.once,
        )

    def _answer(self, action: Action[Any, R], response: httpx2.Response) -> R:
        found: R = self._line.parse(response, action.answers)
        return found

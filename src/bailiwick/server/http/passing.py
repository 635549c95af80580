"""Requests that are passed on to an app: which they are, and what the two sides are told.

Rules:

- Their path names an endpoint of an instance; all below it, and the query, is the app's own and is
  passed on as it was spelled. What is before it is spelled plainly.
- Their bodies may be larger, and their answers last longer, than those of the API itself.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bailiwick.apps.endpoints.headers import leads_up
from bailiwick.services.apps.endpoints.link import LinkLost
from bailiwick.services.caller import AccessDenied
from bailiwick.telemetry.trace_context import note_apps_answer
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.wire.actions.instances import INSTANCE_ENDPOINT_GET

_LOG = logging.getLogger("bailiwick.http")
MARK: Final = "x-bailiwick-endpoint"
"""On every answer that is an app's, and on none that is the platform's own."""

_BELOW: Final = re.compile(
    re.sub(r"\{\w+\}", "[^/]+", INSTANCE_ENDPOINT_GET.path.removesuffix("{rest}")), re.ASCII
)
_PLAIN: Final = re.compile(rb"(/v1(?:/[A-Za-z0-9._-]+){8})/(.*)", re.DOTALL)


def is_passed_on(path: str) -> bool:
    """Whether a request for this path is an app's to answer."""
    return _BELOW.match(path) is not None


def split_target(scope: Scope) -> tuple[str, bytes]:
    """The address of the endpoint, and what is asked of it, as they were spelled."""
    found = _PLAIN.fullmatch(scope["raw_path"])
    if found is None or leads_up(found[2].decode("latin-1")):
        raise InvalidValue("path", "(not shown)", "an endpoint's path, spelled plainly")
    query = scope["query_string"]
    return found[1].decode(), b"/" + found[2] + (b"?" + query if query else b"")


class PassedResponse(Response):
    """An app's answer as it comes; whoever serves it is let go of, however it ends.

    What breaks in the middle is cut there: nothing that the caller could take for its end is sent.
    """

    def __init__(
        self,
        status: int,
        headers: list[tuple[bytes, bytes]],
        *,
        body: AsyncGenerator[bytes, None],
        leave: Callable[[], None],
    ) -> None:
        super().__init__(status_code=status)
        self.raw_headers = [(name.lower(), value) for name, value in headers]
        self._body, self._leave = body, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on until either side ends it."""
        note_apps_answer()
        passing = asyncio.ensure_future(self._stream(send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((passing, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (passing, gone):
                task.cancel()
            await asyncio.gather(passing, gone, return_exceptions=True)
            self._leave()
        broken = None if passing.cancelled() else passing.exception()
        if isinstance(broken, BailiwickError | AccessDenied | LinkLost):
            _LOG.info("an answer of an endpoint was cut: %s", broken)
        elif broken is not None:
            raise broken

    async def _stream(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send(start | {"headers": self.raw_headers})
        async with aclosing(self._body):
            async for piece in self._body:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    """Return once the caller is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass  # of a body that the app did not want

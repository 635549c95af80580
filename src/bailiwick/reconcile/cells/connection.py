"""The line from a home to one cell: who it is there, what it asks, and what goes wrong.

Rules:

- Every call has an end, and every answer a size; what is larger is no answer.
- A key is exchanged for a token of some minutes, which is used until it is nearly over. One that
  the cell refuses is forgotten, and exchanged anew at the next call.
- Nothing is asked twice here: whoever calls asks again, with what is true then.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx2

from bailiwick.reconcile.cells.keys import CHARS_MAX, CellKey, CellKeys, KeyFault
from bailiwick.wire.actions.action import Action
from bailiwick.wire.actions.credentials import FEDERATION_EXCHANGE
from bailiwick.wire.base import Model
from bailiwick.wire.credentials import ACCOUNT_KEY, GRANT_S_MAX, GrantedToken, IdentityExchange
from bailiwick.wire.problem import Problem

ANSWER_BYTES_MAX: Final = 16 << 20
CONNECT_S: Final = 3.0
RENEW_S: Final = 120.0
"""A token that is over within this time is not used any more."""
WHY_MAX: Final = 300
_UNAUTHENTICATED: Final = 401

M = TypeVar("M", bound=Model)


class LineFailed(Exception):
    """No answer, or none that is one; its text says why, for people."""


class LineRefused(LineFailed):
    """The cell understood, and refused."""


def open_client(verify: ssl.SSLContext | bool) -> httpx2.AsyncClient:
    """The connections to all cells; how many there are is bounded by who asks."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=256)
    return httpx2.AsyncClient(verify=verify, limits=limits, trust_env=False)


@dataclass(slots=True)
class CellLine:
    """Asks one cell as its home."""

    cell: str
    url: str
    client: httpx2.AsyncClient
    keys: CellKeys
    _token: tuple[CellKey, str, float] | None = field(default=None, init=False, repr=False)

    async def ask(
        self, action: Action[Any, Any], body: Model, *, answers: type[M], wait_s: float
    ) -> M:
        """The answer of the cell to one call."""
        token = await self._entered(wait_s)
        headers = {"Authorization": f"Bearer {token}"}
        try:
            return await self._post(
                action.path, body, headers=headers, answers=answers, wait_s=wait_s
            )
        except _Unauthenticated:
            self._token = None
            raise LineRefused("the cell does not accept our key") from None

    async def _entered(self, wait_s: float) -> str:
        try:
            shown = self.keys.of(self.cell, self.url)
        except KeyFault as fault:
            raise LineFailed(str(fault)) from None
        if shown.account is None:
            return shown.text
        known = self._token
        if known is not None and known[0] == shown and known[2] > time.monotonic():
            return known[1]
        try:
            body = IdentityExchange(
                subject_token=shown.text,
                subject_token_type=ACCOUNT_KEY,
                account=shown.account,
                ttl_s=GRANT_S_MAX,
            )
        except ValueError:
            raise LineFailed("the file of its key names no account that could be") from None
        begun = time.monotonic()
        try:
            granted = await self._post(
                FEDERATION_EXCHANGE.path, body, headers={}, answers=GrantedToken, wait_s=wait_s
            )
        except _Unauthenticated:
            raise LineRefused("the cell does not accept our key") from None
        if not granted.access_token.isascii() or len(granted.access_token) > CHARS_MAX:
            raise LineFailed("it gives a token that is none")
        ends_s = begun + max(0, min(granted.expires_in, GRANT_S_MAX))
        self._token = shown, granted.access_token, ends_s - RENEW_S
        return granted.access_token

    async def _post(
        self, path: str, body: Model, *, headers: dict[str, str], answers: type[M], wait_s: float
    ) -> M:
        sent = {**headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
        timeout = httpx2.Timeout(wait_s, connect=min(wait_s, CONNECT_S))
        content = body.model_dump_json(exclude_defaults=True).encode()
        try:
            async with (
                asyncio.timeout(wait_s),  # of all of it, however often a byte comes
                self.client.stream(
                    "POST", self.url + path, headers=sent, content=content, timeout=timeout
                ) as response,
            ):
                text = await _read(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise LineFailed(_why(error)) from None
        if response.status_code == _UNAUTHENTICATED:
            raise _Unauthenticated
        if not response.is_success:
            raise _refusal(response.status_code, text)
        try:
            return answers.model_validate_json(text)
        except ValueError:
            raise LineFailed("it answers in words that we do not know") from None


class _Unauthenticated(Exception):
    pass


async def _read(response: httpx2.Response) -> bytes:
    found = bytearray()
    async for piece in response.aiter_raw():  # as it came: nothing is unpacked, so nothing swells
        found += piece
        if len(found) > ANSWER_BYTES_MAX:
            raise LineFailed("it answers more than a reply may hold")
    return bytes(found)


def _refusal(status: int, text: bytes) -> LineFailed:
    try:
        told = Problem.model_validate_json(text).message
    except ValueError:
        return LineFailed(f"status {status} without a word of this contract")
    kind = LineRefused if status < 500 else LineFailed
    return kind(told[:WHY_MAX])


def _why(error: Exception) -> str:
    match error:
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            return "no connection"
        case httpx2.TimeoutException() | TimeoutError():
            return "no answer in time"
        case _:
            return f"the connection broke ({type(error).__name__})"

"""One try to bring one message to one address.

Rules:

- The name is looked up, every address found is judged, and the connection goes to one of those
  very addresses: a name that answers differently the second time gains nothing. The certificate is
  checked for the name.
- No redirect is followed, no proxy of the environment used, no connection kept for another.
- All of it has one time limit. Of an answer only the status and a little more is read.
- Looking up a name cannot be stopped. It has a thread of its own, and a webhook whose last lookup
  still hangs gets no second one.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import httpx2

from bailiwick.apps.addresses import are_allowed
from bailiwick.apps.webhooks import WEBHOOKS_MAX, Target, read_url
from bailiwick.events.retrying import Answered, NotReached, SendOutcome
from bailiwick.vocab.apps import DeliveryFault

TIMEOUT_S = 10.0
ANSWER_BYTES_MAX = 16 * 1024
ADDRESSES_MAX = 4
"""Of one name, that are tried in turn."""


@dataclass(slots=True)
class Lookups:
    """Names that are being looked up; at most one for each who asks."""

    pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(WEBHOOKS_MAX, thread_name_prefix="hook-name")
    )
    pending: dict[object, Future[list[str]]] = field(default_factory=dict)

    async def find(self, asker: object, host: str, *, port: int) -> list[str]:
        """The addresses of a name; none if the last question of the same asker still hangs."""
        hanging = self.pending.get(asker)
        if hanging is not None and not hanging.done():
            return []
        asked = self.pending[asker] = self.pool.submit(_addresses, host, port)
        found = await asyncio.wrap_future(asked)
        self.pending.pop(asker, None)
        return found

    def close(self) -> None:
        """Look up no more; who hangs is left behind."""
        self.pool.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # no such name; or none can be, with a part that is too long
        return []
    return list(dict.fromkeys(str(row[4][0]) for row in found))[:ADDRESSES_MAX]


class Sender:
    """Sends messages; for one event loop."""

    def __init__(
        self,
        *,
        allow_private: bool,
        trust: ssl.SSLContext | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.allow_private = allow_private
        self._timeout_s = timeout_s
        self._lookups = Lookups()
        self._http = httpx2.AsyncClient(
            verify=trust or httpx2.create_ssl_context(),
            trust_env=False,
            follow_redirects=False,
            timeout=timeout_s,
            # A kept connection was proven for one name only, and names may share an address.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def close(self) -> None:
        """Hang up."""
        self._lookups.close()
        await self._http.aclose()

    async def send(
        self, asker: object, url: str, *, headers: dict[str, str], body: bytes
    ) -> SendOutcome:
        """What became of one try; never an exception, whatever the address and the receiver."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._send(asker, read_url(url), headers=headers, body=body)
        except (TimeoutError, httpx2.TimeoutException):
            return NotReached(DeliveryFault.TIMEOUT)
        except Exception as error:  # whatever a tenant's address leads to must not end the server
            is_trust = isinstance(_root(error), ssl.SSLError)
            fault = DeliveryFault.CERTIFICATE if is_trust else DeliveryFault.NO_CONNECTION
            return NotReached(fault)

    async def _send(
        self, asker: object, target: Target, *, headers: dict[str, str], body: bytes
    ) -> SendOutcome:
        if not target.is_secure and not self.allow_private:
            return NotReached(DeliveryFault.ADDRESS_NOT_ALLOWED)
        found = await self._lookups.find(asker, target.host, port=target.port)
        if not are_allowed(found, private=self.allow_private):
            # The same for both: who asks must not learn which names there are inside.
            return NotReached(DeliveryFault.NO_ADDRESS)
        for address in found[:-1]:
            with suppress(httpx2.ConnectError):  # another may answer
                return await self._post(target, address, headers=headers, body=body)
        return await self._post(target, found[-1], headers=headers, body=body)

    async def _post(
        self, target: Target, address: str, *, headers: dict[str, str], body: bytes
    ) -> SendOutcome:
        host = f"[{address}]" if ":" in address else address
        scheme = "https" if target.is_secure else "http"
        async with self._http.stream(
            "POST",
            f"{scheme}://{host}:{target.port}{target.path}",
            content=body,
            headers={**headers, "host": target.authority, "user-agent": "bailiwick-webhooks/1"},
            extensions={"sni_hostname": target.host},
        ) as response:
            await _read_some(response)
            return Answered(response.status_code, _retry_after(response))


async def _read_some(response: httpx2.Response) -> None:
    """Read a small answer whole, so that its sender sees no broken line; of others a part."""
    size = 0
    async for piece in response.aiter_raw():
        size += len(piece)
        if size > ANSWER_BYTES_MAX:
            return


def _retry_after(response: httpx2.Response) -> int | None:
    told = response.headers.get("retry-after", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 9 else None


def _root(error: BaseException) -> BaseException:
    for _ in range(8):
        cause = error.__cause__ or error.__context__
        if cause is None:
            return error
        error = cause
    return error

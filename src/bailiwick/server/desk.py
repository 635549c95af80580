"""Answers one request: who may ask, which replica decides, and what is told when nobody can.

Rules:

- Default deny: before the token is right nothing but ``ping`` is answered, and nothing of a request
  is looked at but its number. Tokens are compared in constant time and never told or logged.
- A leader decides. A follower passes the command on to the leader it knows of, once: what was
  passed on is never passed on again.
- Every request gets exactly one answer or one error, and bears its own number.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from bailiwick.kernel import encode_answer
from bailiwick.server.peers import Peers
from bailiwick.server.protocol import (
    Plain,
    PortCode,
    PortRefusal,
    envelope_of,
    error_of,
    id_of,
)
from bailiwick.server.reads import read
from bailiwick.services.async_calls import AsyncCalls
from bailiwick.services.runner import Runner
from bailiwick.vocab.errors import BailiwickError, InvariantBroken, NotLeader, Unavailable

Say = Callable[[str], None]


class Desk:
    """The answers of one replica; make it inside the event loop."""

    def __init__(self, runner: Runner, *, token: str, say: Say) -> None:
        self._runner = runner
        self._calls = AsyncCalls(runner)
        self._peers = Peers(wait_s=runner.wait_s)
        self._token = token.encode()
        self._say = say

    def knows(self, plain: Plain) -> bool:
        """Whether the request shows the right token."""
        shown = plain.get("token")
        return isinstance(shown, str) and hmac.compare_digest(
            shown.encode("utf-8", "surrogatepass"), self._token
        )

    async def answer(self, plain: Plain) -> Plain:
        """The answer to a request, or the error; never raises."""
        number: int | str | None = None
        try:
            number = id_of(plain)
            return {"id": number, **await self._answer(plain)}
        except (BailiwickError, PortRefusal) as error:
            if isinstance(error, InvariantBroken):
                self._say(f"a request met a broken invariant: {error}")
            return {"id": number, "error": error_of(error)}
        except Exception as error:
            self._say(f"a request met a fault: {type(error).__name__}: {error}")
            return {"id": number, "error": error_of(error)}

    def close(self) -> None:
        """Pass nothing on any more."""
        self._peers.close()

    async def _answer(self, plain: Plain) -> Plain:
        if plain.get("read") == "ping" and "command" not in plain:
            return {"pong": True}
        if not self.knows(plain):
            hint = "the token file lies in the data directory of the process"
            raise PortRefusal(PortCode.UNAUTHENTICATED, "no token, or a wrong one", hint=hint)
        if "read" in plain:
            return {"read": await read(self._runner, plain, wait_s=self._runner.wait_s)}
        envelope = envelope_of(plain)
        if self._runner.failed is not None:
            # Another replica, or the next start, may do better with it; the same key is safe.
            raise Unavailable("this replica", "it has failed and is ending")
        try:
            return {"answer": encode_answer(await self._calls.call(envelope))}
        except NotLeader as error:
            if error.address is None or plain.get("forwarded"):
                raise
            return await self._passed_on(error.address, plain)

    async def _passed_on(self, address: str, plain: Plain) -> Plain:
        found = await self._peers.ask(address, {**plain, "forwarded": True})
        told: Plain = {word: found[word] for word in ("answer", "error") if word in found}
        if not told:
            raise Unavailable(f"the leader at {address}", "its answer makes no sense")
        return told

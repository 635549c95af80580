"""Tokens minted on the node itself, with a key that never leaves it, for work that runs there.

Rules:

- Work asks on a socket of this machine. Which lease a process belongs to is told by the kernel: by
  its control group if that is a lease's (``lease-`` and the number), else by the mark in its
  environment. Nobody gets a token for another lease than his own.
- The server is asked for leave first; it decides, and seals that. What it allows is the most that
  is minted: never for another node, never for longer than 300 s by this machine's own clock.
- One line of JSON in, one out, both bounded; a caller who is slow is hung up on. A refusal has the
  closed word of the decision in ``denied``; a fault has its code in ``error``.
- Tokens are in the answer and nowhere else.

>>> read_wish(b'{"operations": ["mem_read"]}').operations
(<Operation.MEM_READ: 'mem_read'>,)
>>> read_wish(b"[]")
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: wish: expected one JSON object with operations, got b'[]'
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from bailiwick.agent.heartbeat import Away
from bailiwick.agent.machine.counters import Machine
from bailiwick.capability.broker import (
    CapBroker,
    Denied,
    Issued,
    LeaseView,
    Minter,
    MintWish,
)
from bailiwick.capability.claims import TOKEN_TTL_MS_MAX, TokenClaims
from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvalidValue
from bailiwick.vocab.trust import MintDenial, Operation
from bailiwick.vocab.values import check_integer

LINE_BYTES_MAX: Final = 4_096
_FIELDS: Final = frozenset({"operations", "lease_id", "ttl_ms", "generation"})
_NUMBER_MAX = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MintRequest:
    """What work asks for; without ``lease_id`` it is for the lease that it runs under."""

    operations: tuple[Operation, ...]
    lease_id: int | None = None
    ttl_ms: int = TOKEN_TTL_MS_MAX
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """The server allows a token that says this."""

    claims: TokenClaims


LeaveOutcome: TypeAlias = Leave | Denied


class LeaveServer(Protocol):
    """Who decides whether a token may be minted here. Raises ``Away``."""

    def leave(self, node: str, wish: MintRequest) -> LeaveOutcome:
        """Ask for leave, for the lease in the wish."""


@dataclass(frozen=True, slots=True)
class Minting:
    """Mints for the leases of one node with the node's own key."""

    node: str
    minter: Minter
    server: LeaveServer
    machine: Machine
    now_ms: Callable[[], int]

    def answer(self, line: bytes, *, pid: int) -> bytes:
        """The line that answers a line from that process."""
        try:
            told = self._outcome(read_wish(line), pid=pid)
        except BailiwickError as error:
            told = fault(error.code, str(error))
        except Away as error:
            told = fault(ErrorCode.UNAVAILABLE, str(error))
        return json.dumps(told, separators=(",", ":")).encode() + b"\n"

    def _outcome(self, wish: MintRequest, *, pid: int) -> dict[str, Any]:
        own = self.machine.work_of(pid)
        if own is None or wish.lease_id not in (None, own):
            return _denied(MintDenial.NOT_OWNER, "this process runs under no such lease")
        asked = MintRequest(
            operations=wish.operations,
            lease_id=own,
            ttl_ms=wish.ttl_ms,
            generation=wish.generation,
        )
        found = self.server.leave(self.node, asked)
        if isinstance(found, Denied):
            return _denied(found.reason, "the server does not allow it")
        minted = self._mint(asked, found.claims)
        if isinstance(minted, Denied):
            return _denied(minted.reason, "the server's leave is not for this")
        claims = minted.claims
        plain = {name: getattr(claims, name) for name in TokenClaims.__slots__}
        return {"token": minted.token, "claims": plain}

    def _mint(self, wish: MintRequest, allowed: TokenClaims) -> Issued | Denied:
        """A token within what was allowed, if that is for this lease, here."""
        if allowed.lease_id != wish.lease_id or not set(allowed.operations) <= set(wish.operations):
            return Denied(MintDenial.NO_SUCH_LEASE)
        lease = LeaseView(
            lease_id=allowed.lease_id,
            tenant=allowed.tenant,
            node=allowed.audience,
            generation=allowed.generation,
            expires_ms=allowed.expires_ms,
        )
        exact = MintWish(
            token_id=allowed.token_id,
            tenant=allowed.tenant,
            operations=allowed.operations,
            audience=self.node,
        )
        return CapBroker(self.minter).mint(exact, lease, now_ms=self.now_ms())


def read_wish(line: bytes) -> MintRequest:
    """The wish in a line; anything else is refused with what is expected."""
    try:
        told = json.loads(line) if len(line) <= LINE_BYTES_MAX else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not told.keys() <= _FIELDS or "operations" not in told:
        raise InvalidValue("wish", line[:80], "one JSON object with operations")
    operations = told["operations"]
    if not isinstance(operations, list) or len(operations) > len(Operation):
        raise InvalidValue("operations", operations, "a list of operations")
    try:
        chosen = tuple(dict.fromkeys(Operation(each) for each in operations))
    except (ValueError, TypeError):
        known = ", ".join(Operation)
        raise InvalidValue("operations", operations, f"some of {known}") from None
    numbers = {
        name: check_integer(name, told[name], low=1, high=_NUMBER_MAX)
        for name in ("lease_id", "ttl_ms", "generation")
        if told.get(name) is not None
    }
    return MintRequest(operations=chosen, **numbers)


def fault(code: ErrorCode, message: str) -> dict[str, str]:
    """What went wrong, as it is told on the socket."""
    return {"error": code.value, "message": message}


def _denied(reason: MintDenial, message: str) -> dict[str, str]:
    return {"denied": reason.value, "message": message}

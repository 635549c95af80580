"""Tokens of leases: asked for, minted, and what those who check them are told.

Rules:

- A token is for whoever holds the lease; another's lease is not there: same answer, same words.
- A node that mints for itself asks for leave: it gets the claims and no token. It may ask for
  leases on itself alone.
- The kernel decides and seals; a token is minted afterwards, from just what was sealed. It is in
  the answer that asked for it and nowhere else: not in the journal, not in a log, not in memory.
  Asked again with the same key, the same claims are spelled as another token.
- One key signs for all nodes but those that enrolled a key of their own. Those are believed under
  that alone, so whoever steals the server's key forges nothing for them.
- Keys and revocations are everybody's to read: they name nodes and numbers of leases, no tenant.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from bailiwick.capability.claims import TokenClaims, lease_resource
from bailiwick.capability.keys import BiscuitKey, KeyRing
from bailiwick.iam import Scope
from bailiwick.kernel import GrantToken, State, TokenDenied, TokenGranted
from bailiwick.kernel.trust.book import CAPABILITY_KEY
from bailiwick.kernel.trust.events import TokenIssued, TokenRefused
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.revoking import RevocationBook, Revoked
from bailiwick.vocab.errors import InvalidValue, InvariantBroken, Unavailable
from bailiwick.vocab.trust import MintDenial, Operation

if TYPE_CHECKING:
    from bailiwick.capability.biscuit_tokens import BiscuitMinter

SEED_BYTES = 32
CATCH_UP_S = 2.0


def new_seed() -> bytes:
    """A new key, as a file keeps it."""
    return secrets.token_bytes(SEED_BYTES).hex().encode() + b"\n"


def read_seed(text: bytes) -> bytes:
    """The key that a file keeps, as hexadecimal; nothing of it is in an error.

    >>> len(read_seed(b"00" * 32))
    32
    """
    try:
        seed = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise InvalidValue("key file", "(not shown)", f"{2 * SEED_BYTES} hexadecimal digits")
    return seed


class Capabilities:
    """Mints tokens under one key, and tells what counts no more; from any thread."""

    def __init__(self, seed: bytes, book: RevocationBook) -> None:
        self.book = book
        self.catch_up: Callable[[float], bool] = lambda wait_s: True
        """Whether the book knows all that is durable now, within the time."""
        self._seed = seed
        self._made: BiscuitMinter | None = None

    def mint(self, claims: TokenClaims) -> str:
        """The token that says what was sealed."""
        return self._minter().mint(claims)

    def keys(self, state: State) -> KeyRing:
        """Under which keys tokens are believed now; quick, for it is asked in the kernel's turn."""
        nodes: dict[str, tuple[BiscuitKey, ...]] = {}
        for node in state.ledger.entries:
            enrolled = state.trust.enrolled(str(node)).values()
            own = [each.keys[CAPABILITY_KEY] for each in enrolled if CAPABILITY_KEY in each.keys]
            if own:
                nodes[str(node)] = tuple(BiscuitKey(bytes.fromhex(key)) for key in own)
        return KeyRing((self._minter().key,), nodes)

    def check_complete(self) -> None:
        """Refuse to tell of revocations before all that are durable are known."""
        if not self.catch_up(CATCH_UP_S):
            raise Unavailable("revocations", "the newest records are still being read")

    def _minter(self) -> BiscuitMinter:
        if self._made is None:  # the library is loaded when the first token is asked for
            from bailiwick.capability.biscuit_tokens import BiscuitMinter

            self._made = BiscuitMinter(self._seed)
        return self._made


# -- use cases -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTokenWish:
    """What a token for a lease is to allow, and for how long."""

    lease_id: int
    operations: Iterable[Operation]
    ttl_ms: int
    generation: int | None


@dataclass(frozen=True, slots=True)
class LeaseToken:
    """What was sealed, and the token that says it; empty where nobody was to get one."""

    claims: TokenClaims
    token: str = ""


@dataclass(frozen=True, slots=True)
class RecentRevocations:
    """What was revoked, and from when on nothing is left out."""

    now_ms: int
    complete_from_ms: int
    rows: list[Revoked]


async def issue_token(
    caller: Caller, capabilities: Capabilities, *, wish: LeaseTokenWish, audience: str | None
) -> LeaseToken | TokenDenied:
    """Make a token with which work under a lease may use what the lease holds."""

    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(wish.lease_id)) if wish.lease_id in state.leases else None

    caller.for_lease(wish.lease_id)
    await caller.require_at(owner)
    found = await caller.lookup(owner)
    if found is None or found.tenant is None:
        raise Hidden()
    claims = await _granted(caller, _command(caller, wish, tenant=found.tenant, audience=audience))
    if isinstance(claims, TokenDenied) or caller.dry_run:
        return claims if isinstance(claims, TokenDenied) else LeaseToken(claims)
    return LeaseToken(claims, await asyncio.to_thread(capabilities.mint, claims))


async def grant_to_node(
    caller: Caller, node: str, *, wish: LeaseTokenWish
) -> LeaseToken | TokenDenied:
    """Let a node mint a token for a lease on it: the answer has the claims, and no token."""
    caller.require_node(node)

    def owner(view: View) -> str | None:
        state, lease_id = view.state, wish.lease_id
        if lease_id not in state.leases or str(state.node_of(lease_id)) != node:
            return None  # on another node is as good as nowhere
        return str(state.owner_of(lease_id).tenant)

    tenant = await caller.lookup(owner)
    if tenant is None:
        raise Hidden()
    command = _command(caller, wish, tenant=tenant, audience=node, by_node=True)
    claims = await _granted(caller, command)
    return claims if isinstance(claims, TokenDenied) else LeaseToken(claims)


async def read_keys(caller: Caller, capabilities: Capabilities) -> KeyRing:
    """The public keys of the server and of nodes, with which lease tokens are checked."""
    caller.require_login()
    return await caller.read(lambda view: capabilities.keys(view.state))


async def read_revocations(
    caller: Caller, capabilities: Capabilities, *, since_ms: int
) -> RecentRevocations:
    """Which lease tokens no longer count, of those that have not expired yet."""
    caller.require_login()
    await asyncio.to_thread(capabilities.check_complete)
    # First the rows, then from when on they are whole: what is forgotten between is not promised.
    now_ms, rows = caller.clock.now_ms(), capabilities.book.since(since_ms)
    return RecentRevocations(now_ms, capabilities.book.complete_from_ms, rows)


def _command(
    caller: Caller,
    wish: LeaseTokenWish,
    *,
    tenant: str,
    audience: str | None,
    by_node: bool = False,
) -> GrantToken:
    return GrantToken(
        wish.lease_id,
        tenant,
        _token_id(caller),
        tuple(dict.fromkeys(wish.operations)),
        audience,
        wish.ttl_ms,
        wish.generation,
        by_node=by_node,
    )


async def _granted(caller: Caller, command: GrantToken) -> TokenClaims | TokenDenied:
    """What the kernel allows the token to say, or its denial."""
    answer: object
    if caller.dry_run:
        answer = await caller.rehearse(command)
    else:
        answer = await caller.execute(command)
    match answer:
        case TokenDenied(reason) | TokenRefused(reason=reason):
            if reason in (MintDenial.NO_SUCH_LEASE, MintDenial.NOT_OWNER):
                raise Hidden()
            return TokenDenied(reason)
        case TokenGranted(node=audience) | TokenIssued(audience=audience):
            return TokenClaims(
                token_id=answer.token_id,
                tenant=command.tenant,
                lease_id=answer.lease_id,
                generation=answer.generation,
                resource=lease_resource(answer.lease_id),
                operations=answer.operations,
                audience=audience,
                expires_ms=answer.expires_ms,
            )
        case _:
            raise InvariantBroken(f"a wish for a token was answered with {answer}")


def _token_id(caller: Caller) -> str:
    """A new id; the same one for the same request under the same key, or it would be another."""
    if caller.key is None:
        return caller.ids()
    return sha256(f"{caller.principal.name} {caller.key}".encode()).hexdigest()[:32]

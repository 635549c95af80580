"""Handlers for tokens of leases, and for what those who check them need to know.

Rules:

- A token is for whoever holds the lease; another's lease is not there: same status, same words.
- The kernel says whether, and seals that, before a token is minted. A refusal is 409 with the
  decision and its one word.
- The token is in the answer that made it and nowhere else. Asked again with the same key, the same
  claims are spelled as another token.
- A node that mints for itself asks for leave: it gets the claims and no token. It may ask for
  leases on itself alone.
- Keys and revocations are for everybody who is let in: services check tokens without asking.
"""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Annotated

from fastapi import Query, Response

from bailiwick.capability.claims import TokenClaims, lease_resource
from bailiwick.iam import Scope
from bailiwick.kernel import GrantToken
from bailiwick.kernel.answers import TokenDenied, TokenGranted
from bailiwick.kernel.trust.events import LeaseTokenIssued, LeaseTokenRefused
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.operate import require_node
from bailiwick.server.http.params import PathName, PathNumber
from bailiwick.server.problems import Trouble, hidden
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.replica import View
from bailiwick.vocab.errors import InvariantBroken, Unavailable
from bailiwick.vocab.trust import MintDenial
from bailiwick.wire import answers
from bailiwick.wire import trust as wire
from bailiwick.wire.base import INTEGER_MAX
from bailiwick.wire.problem import EdgeCode

Since = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="What was revoked from then on.")]


async def issue_token(
    asked: Changing, lease_id: PathNumber, *, body: wire.TokenWish, response: Response
) -> wire.IssuedLeaseToken:
    """Make a token with which work under a lease may use what the lease holds."""

    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    await asked.require_at(owner)
    found = await asked.look(owner)
    if found is None or found.tenant is None:
        raise hidden()
    command = GrantToken(
        lease_id,
        found.tenant,
        _token_id(asked),
        tuple(dict.fromkeys(body.operations)),
        body.audience,
        body.ttl_ms,
        body.generation,
    )
    claims = await _granted(asked, command)
    token = "" if asked.dry_run else await asyncio.to_thread(capabilities_of(asked).mint, claims)
    response.headers["cache-control"] = "no-store"
    return _issued(claims, token)


async def grant_to_node(
    asked: Changing, node: PathName, *, body: wire.NodeTokenWish
) -> wire.IssuedLeaseToken:
    """Let a node mint a token for a lease on it: the answer has the claims, and no token."""
    require_node(asked, node)

    def owner(view: View) -> str | None:
        state, lease_id = view.state, body.lease_id
        if lease_id not in state.leases or str(state.node_of(lease_id)) != node:
            return None  # on another node is as good as nowhere
        return str(state.owner_of(lease_id).tenant)

    tenant = await asked.look(owner)
    if tenant is None:
        raise hidden()
    command = GrantToken(
        body.lease_id,
        tenant,
        _token_id(asked),
        tuple(dict.fromkeys(body.operations)),
        node,
        body.ttl_ms,
        body.generation,
        by_node=True,
    )
    return _issued(await _granted(asked, command), "")


async def read_keys(asked: Here) -> wire.CapabilityKeys:
    """The public keys of the server and of nodes, with which lease tokens are checked."""
    asked.require_login()
    ring = await asked.look(lambda view: capabilities_of(asked).keys(view.state))
    return wire.CapabilityKeys.model_validate(ring.told())


async def read_revocations(asked: Here, *, since: Since = 0) -> wire.Revocations:
    """Which lease tokens no longer count, of those that have not expired yet."""
    asked.require_login()
    found = capabilities_of(asked)
    await asyncio.to_thread(found.check_complete)
    # First the rows, then from when on they are whole: what is forgotten between is not promised.
    now_ms, rows = asked.house.door.clock.now_ms(), found.book.since(since)
    leases = [(row.lease_id, row.generation, row.at_ms) for row in rows]
    return wire.Revocations(
        now_ms=now_ms,
        complete_from_ms=found.book.complete_from_ms,
        revoked=wire.Revoked(leases=leases, ids=[]),
    )


# -- what they share -------------------------------------------------------------------------


def capabilities_of(asked: Asked) -> Capabilities:
    """The minter and the book, where this server has them."""
    found = asked.house.parts.capabilities
    if found is None:
        raise Unavailable("tokens of leases", "this server has no key for them")
    return found


async def _granted(asked: Asked, command: GrantToken) -> TokenClaims:
    """What the kernel allows the token to say; a denial is told as the decision it is."""
    answer: object
    if asked.dry_run:
        answer = await asked.house.looks.rehearse(command)
    else:
        answer = await asked.call(command)
    match answer:
        case TokenDenied(reason) | LeaseTokenRefused(reason=reason):
            raise _denied(reason)
        case TokenGranted(node=audience) | LeaseTokenIssued(audience=audience):
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


def _denied(reason: MintDenial) -> Trouble:
    if reason in (MintDenial.NO_SUCH_LEASE, MintDenial.NOT_OWNER):
        return hidden()
    decision = answers.TokenDenied(answer="token_denied", reason=reason)
    return Trouble(EdgeCode.REFUSED, f"no token: {reason.value}", decision=decision)


def _token_id(asked: Asked) -> str:
    """A new id; the same one for the same request under the same key, or it would be another."""
    if asked.key is None:
        return asked.house.ids()
    return sha256(f"{asked.principal.name} {asked.key}".encode()).hexdigest()[:32]


def _issued(claims: TokenClaims, token: str) -> wire.IssuedLeaseToken:
    told = {name: getattr(claims, name) for name in wire.TokenClaims.model_fields}
    told["operations"] = list(claims.operations)
    return wire.IssuedLeaseToken(answer="issued", token=token, claims=wire.TokenClaims(**told))

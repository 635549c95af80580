"""Routes for tokens of leases, and for what those who check them need to know.

A refusal is 409 with the decision and its one word. The token is in the answer that made it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from bailiwick.kernel import TokenDenied
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import PathName, PathNumber
from bailiwick.server.problems import Trouble
from bailiwick.services import capabilities
from bailiwick.wire import answers as told
from bailiwick.wire import trust as wire
from bailiwick.wire.base import INTEGER_MAX
from bailiwick.wire.problem import EdgeCode

Since = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="What was revoked from then on.")]


@answers("lease.token")
async def issue_token(
    asked: Changing, lease_id: PathNumber, *, body: wire.TokenWish, response: Response
) -> wire.IssuedLeaseToken:
    """Make a token with which work under a lease may use what the lease holds."""
    wish = _wish(body, lease_id)
    found = await capabilities.issue_token(
        asked, asked.capabilities, wish=wish, audience=body.audience
    )
    response.headers["cache-control"] = "no-store"
    return _issued(found)


@answers("node.token")
async def grant_to_node(
    asked: Changing, node: PathName, *, body: wire.NodeTokenWish
) -> wire.IssuedLeaseToken:
    """Let a node mint a token for a lease on it: the answer has the claims, and no token."""
    return _issued(await capabilities.grant_to_node(asked, node, wish=_wish(body, body.lease_id)))


@answers("capability.keys")
async def read_keys(asked: Here) -> wire.CapabilityKeys:
    """The public keys of the server and of nodes, with which lease tokens are checked."""
    ring = await capabilities.read_keys(asked, asked.capabilities)
    return wire.CapabilityKeys.model_validate(ring.told())


@answers("capability.revocations")
async def read_revocations(asked: Here, *, since: Since = 0) -> wire.Revocations:
    """Which lease tokens no longer count, of those that have not expired yet."""
    found = await capabilities.read_revocations(asked, asked.capabilities, since_ms=since)
    leases = [(row.lease_id, row.generation, row.at_ms) for row in found.rows]
    return wire.Revocations(
        now_ms=found.now_ms,
        complete_from_ms=found.complete_from_ms,
        revoked=wire.Revoked(leases=leases, ids=[]),
    )


def _wish(body: wire.TokenWish | wire.NodeTokenWish, lease_id: int) -> capabilities.LeaseTokenWish:
    return capabilities.LeaseTokenWish(
        lease_id=lease_id,
        operations=body.operations,
        ttl_ms=body.ttl_ms,
        generation=body.generation,
    )


def _issued(found: capabilities.LeaseToken | TokenDenied) -> wire.IssuedLeaseToken:
    if isinstance(found, TokenDenied):
        decision = told.TokenDenied(answer="token_denied", reason=found.reason)
        raise Trouble(EdgeCode.REFUSED, f"no token: {found.reason.value}", decision=decision)
    claims = found.claims
    values = {name: getattr(claims, name) for name in wire.TokenClaims.model_fields}
    values["operations"] = list(claims.operations)
    return wire.IssuedLeaseToken(
        answer="issued", token=found.token, claims=wire.TokenClaims(**values)
    )

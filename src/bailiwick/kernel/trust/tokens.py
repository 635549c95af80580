"""May this tenant have a token for its lease, and what may stand in it?

Rules:

- A token lives at most 300 seconds, and never longer than its lease. It names the lease's
  generation, so a renewal kills it; once the lease is being ended there are no more.
- The answer is a value and a record either way. Only what could not be written down is an error.
- Who asks about a lease that is another's learns as much as if there were none. The journal knows
  which it was, in a record that is no tenant's.
- Where the node mints with a key of its own, nobody else may: no other key would be believed.
"""

from __future__ import annotations

from bailiwick.kernel.owner import FLEET
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.commands import GrantToken
from bailiwick.kernel.trust.events import TokenEvent, TokenIssued, TokenRefused
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.trust import MintDenial

TOKEN_TTL_MS_MAX = 300_000
"""How long a token may live."""

_HIDDEN = (MintDenial.NO_SUCH_LEASE, MintDenial.NOT_OWNER)


def grant_token(state: State, command: GrantToken, *, now_ms: int) -> TokenEvent:
    """The token's terms, or the first thing that speaks against it."""
    denial, lease_id = _denial(state, command, now_ms=now_ms), command.lease_id
    if denial is not None:
        return TokenRefused(
            FLEET if denial in _HIDDEN else state.owner_of(lease_id),
            denial,
            command.token_id,
            lease_id,
            command.generation,
            command.audience,
            command.operations,
            command.by_node,
        )
    fields = state.fields(lease_id)
    return TokenIssued(
        state.owner_of(lease_id),
        command.token_id,
        lease_id,
        fields.generation,
        str(state.node_of(lease_id)),
        command.operations,
        min(now_ms + command.ttl_ms, fields.expires_ms),
        command.by_node,
    )


def as_told(denial: MintDenial) -> MintDenial:
    """The denial as whoever asked is told it."""
    return MintDenial.NO_SUCH_LEASE if denial in _HIDDEN else denial


def _denial(state: State, command: GrantToken, *, now_ms: int) -> MintDenial | None:
    lease_id = command.lease_id
    if lease_id not in state.leases:
        return MintDenial.NO_SUCH_LEASE
    if state.owner_of(lease_id).tenant != command.tenant:
        return MintDenial.NOT_OWNER
    fields, node = state.fields(lease_id), state.node_of(lease_id)
    if state.phase(lease_id) is not RevokeState.ACTIVE or fields.expires_ms <= now_ms:
        return MintDenial.LEASE_ENDING
    if command.generation not in (None, fields.generation):
        return MintDenial.STALE_GENERATION
    if state.ledger.entry(node).quarantined:
        return MintDenial.NODE_QUARANTINED
    if command.audience not in (None, node):
        return MintDenial.WRONG_AUDIENCE
    if not command.operations:
        return MintDenial.NO_OPERATION
    if command.ttl_ms > TOKEN_TTL_MS_MAX:
        return MintDenial.TTL_TOO_LONG
    if state.trust.mints(node) and not command.by_node:
        return MintDenial.NODE_MINTS
    return None

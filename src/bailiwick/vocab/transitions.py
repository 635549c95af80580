"""The two state machines, as tables: a node's mode and the ending of a lease.

The table is the rule: the runtime, the property tests and the manual all read these.

>>> check_mode_change(NodeMode.ACCEPTING, NodeMode.DRAINED)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.IllegalTransition: node_mode: accepting -> drained is not allowed; ...
"""

from __future__ import annotations

from enum import StrEnum

from bailiwick.vocab.errors import IllegalTransition


class NodeMode(StrEnum):
    """What an operator has said about a node."""

    ACCEPTING = "accepting"
    DRAINING = "draining"
    DRAINED = "drained"
    MAINTENANCE = "maintenance"
    RETURNING = "returning"
    FENCE_LOST = "fence_lost"
    CORDONED = "cordoned"
    """Closed to new work only: what runs there may be renewed, and goes on to its end."""


# Draining may be called off; fence_lost can strike whenever a teardown is unconfirmed, and only
# an operator leaves it, through maintenance, never straight back to accepting work.
NODE_MODE_EDGES: dict[NodeMode, frozenset[NodeMode]] = {
    NodeMode.ACCEPTING: frozenset({NodeMode.DRAINING, NodeMode.FENCE_LOST, NodeMode.CORDONED}),
    NodeMode.DRAINING: frozenset({NodeMode.DRAINED, NodeMode.ACCEPTING, NodeMode.FENCE_LOST}),
    NodeMode.DRAINED: frozenset({NodeMode.MAINTENANCE, NodeMode.RETURNING}),
    NodeMode.MAINTENANCE: frozenset({NodeMode.RETURNING}),
    NodeMode.RETURNING: frozenset({NodeMode.ACCEPTING, NodeMode.FENCE_LOST}),
    NodeMode.FENCE_LOST: frozenset({NodeMode.MAINTENANCE}),
    NodeMode.CORDONED: frozenset({NodeMode.ACCEPTING, NodeMode.DRAINING, NodeMode.FENCE_LOST}),
}

_BY_RETURNING = (NodeMode.RETURNING, NodeMode.ACCEPTING)
WAYS_OPEN: dict[NodeMode, tuple[NodeMode, ...]] = {
    NodeMode.ACCEPTING: (),
    NodeMode.DRAINING: (NodeMode.ACCEPTING,),
    NodeMode.DRAINED: _BY_RETURNING,
    NodeMode.MAINTENANCE: _BY_RETURNING,
    NodeMode.RETURNING: (NodeMode.ACCEPTING,),
    NodeMode.FENCE_LOST: (),
    NodeMode.CORDONED: (NodeMode.ACCEPTING,),
}
"""By mode, the modes through which a node takes leases again. One that is fenced has no such way:
first a person says that it was looked after."""


class RevokeState(StrEnum):
    """How far the ending of a lease has come."""

    ACTIVE = "active"
    REVOKE_WARNING = "revoke_warning"
    GRACE_RUNNING = "grace_running"
    CHECKPOINT_REPORTED = "checkpoint_reported"
    FORCED_TEARDOWN = "forced_teardown"
    TORNDOWN = "torndown"
    EXPIRED = "expired"
    FENCED = "fenced"
    FAILED_CLOSED = "failed_closed"

    @property
    def is_terminal(self) -> bool:
        """Whether the lease is over for good."""
        return not REVOKE_EDGES[self]


# A teardown that fails fences. Who was to make room that nobody needs any more is active again.
REVOKE_EDGES: dict[RevokeState, frozenset[RevokeState]] = {
    RevokeState.ACTIVE: frozenset({RevokeState.REVOKE_WARNING, RevokeState.EXPIRED}),
    RevokeState.REVOKE_WARNING: frozenset({RevokeState.GRACE_RUNNING, RevokeState.EXPIRED}),
    RevokeState.GRACE_RUNNING: frozenset(
        {RevokeState.ACTIVE, RevokeState.CHECKPOINT_REPORTED, RevokeState.FORCED_TEARDOWN}
    ),
    RevokeState.CHECKPOINT_REPORTED: frozenset({RevokeState.TORNDOWN, RevokeState.FENCED}),
    RevokeState.FORCED_TEARDOWN: frozenset({RevokeState.TORNDOWN, RevokeState.FENCED}),
    RevokeState.EXPIRED: frozenset({RevokeState.FAILED_CLOSED, RevokeState.FENCED}),
    RevokeState.TORNDOWN: frozenset(),
    RevokeState.FENCED: frozenset(),
    RevokeState.FAILED_CLOSED: frozenset(),
}
REVOKE_STATES: tuple[RevokeState, ...] = tuple(RevokeState)


def check_mode_change(current: NodeMode, wanted: NodeMode) -> None:
    """Refuse an edge that the node-mode table does not have."""
    edges = NODE_MODE_EDGES[current]
    if wanted not in edges:
        # The sentence is in histories that were recorded before nodes could be cordoned.
        told = tuple(sorted(edges - {NodeMode.CORDONED}))
        raise IllegalTransition("node_mode", current, wanted, told)


def check_revoke_change(current: RevokeState, wanted: RevokeState) -> None:
    """Refuse an edge that the revoke-state table does not have."""
    edges = REVOKE_EDGES[current]
    if wanted not in edges:
        raise IllegalTransition("revoke_state", current, wanted, tuple(sorted(edges)))

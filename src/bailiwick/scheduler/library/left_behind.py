"""What a policy makes of room after its holders have gone: they may leave something behind.

Rules:

- Nobody has to go for nothing: a place that a policy closes to the request once the victims have
  left it is no place, and another one is sought.
- Victims are taken for gone only while somebody asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from bailiwick.scheduler.node_set import NodeFilter, NodeSet, PolicyFilter, is_policy
from bailiwick.scheduler.request import PlacementRequest

TRIES_MAX = 8
"""How often victims are sought elsewhere."""


@contextmanager
def taken_for_gone(filters: Iterable[NodeFilter], lease_ids: Collection[int]) -> Iterator[None]:
    """As if these leases had ended, and had left behind what they will."""
    with ExitStack() as stack:
        for each in filters:
            if is_policy(each):
                stack.enter_context(each.without(lease_ids))
        yield


def closed_after(
    filters: Sequence[NodeFilter], request: PlacementRequest, *, gone: Collection[int]
) -> int:
    """The nodes, as bits, that are open to the request, and no more once these leases end."""
    policies = [each for each in filters if is_policy(each)]
    if not policies:
        return 0
    before = _open_to(policies, request)
    with taken_for_gone(policies, gone):
        return before & ~_open_to(policies, request)


def _open_to(policies: Iterable[PolicyFilter], request: PlacementRequest) -> int:
    bits = -1
    for each in policies:
        nodes = each.nodes_for(request)
        if nodes is not None:
            bits &= int.from_bytes(nodes.bits, "little")
    return bits


class Shunned:
    """A node filter that leaves out some nodes."""

    def __init__(self, bits: int, *, nodes: int) -> None:
        every = (1 << nodes) - 1
        self._allowed = NodeSet()
        self._allowed.bits = bytearray((every & ~bits).to_bytes(nodes // 8 + 1, "little"))

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        """All other nodes."""
        del request
        return self._allowed

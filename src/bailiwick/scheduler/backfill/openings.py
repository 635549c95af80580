"""What policies say of the time to come: when a node opens to a request, and who would close it.

Rules:

- A policy that knows what runs may look ahead (:class:`ForeseeingPolicy`). Of any other filter it
  is taken that it stays as it is.
- Several policies together leave what each of them leaves.
- A look ahead holds while nothing comes or goes, and is taken anew after that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeGuard

from bailiwick.scheduler.node_set import NodeFilter, NodeSet
from bailiwick.scheduler.request import PlacementRequest

ROUNDS_MAX = 8
"""How often several policies are asked until all are content with one time."""


class Expected(NamedTuple):
    """A request for which room is kept: the node of each member, and from when."""

    request: PlacementRequest
    nodes: tuple[int, ...]
    from_ms: int
    for_good: bool = False
    """Whether nobody is to wait for its end: so it is with members of one gang."""


class PolicyOutlook(Protocol):
    """What one policy foresees, if every lease ends at its expiry."""

    def opens(
        self,
        request: PlacementRequest,
        node: int,
        *,
        from_ms: int,
        others: Sequence[Expected] = (),
    ) -> int | None:
        """From when on a member may have any part of the node; ``None`` if nobody knows."""

    def is_spread(self, request: PlacementRequest) -> bool:
        """Whether members of the request may be kept from each other."""

    def beside(
        self,
        request: PlacementRequest,
        placed: Sequence[int],
        *,
        at_ms: int,
        others: Sequence[Expected] = (),
    ) -> int:
        """The nodes (as bits) closed to a further member, if others come to these then."""

    def shut(
        self, request: PlacementRequest, kept: Expected, *, others: Sequence[Expected] = ()
    ) -> int:
        """The nodes (as bits) where the request, if it came now and stayed, would close a place."""

    def tail_ms(self, request: PlacementRequest) -> int:
        """How long after its end the request may still be in the way of others."""

    def key(self, request: PlacementRequest) -> Hashable:
        """The same for requests of which ``shut`` says the same, but for how many members."""

    def forget(self) -> None:
        """Something came or went."""


class TermOutlook:
    """What a policy foresees that judges each request by its term alone: all but ``opens``.

    Nobody is in another's way, wherever he is.
    """

    def is_spread(self, request: PlacementRequest) -> bool:
        """Members are not kept from each other."""
        del request
        return False

    def beside(
        self,
        request: PlacementRequest,
        placed: Sequence[int],
        *,
        at_ms: int,
        others: Sequence[Expected] = (),
    ) -> int:
        """No node is closed by another member."""
        del request, placed, at_ms, others
        return 0

    def shut(
        self, request: PlacementRequest, kept: Expected, *, others: Sequence[Expected] = ()
    ) -> int:
        """Nobody closes a place to another."""
        del request, kept, others
        return 0

    def tail_ms(self, request: PlacementRequest) -> int:
        """Nothing is left behind."""
        del request
        return 0

    def key(self, request: PlacementRequest) -> Hashable:
        """All requests are alike to each other's places."""
        del request
        return None

    def forget(self) -> None:
        """Nothing is remembered."""


class ForeseeingPolicy(NodeFilter, Protocol):
    """A policy that can look ahead."""

    @property
    def changes(self) -> int:
        """Another one whenever something came or went."""

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""

    def outlook(self, terms: Mapping[int, int]) -> PolicyOutlook:
        """A look ahead; ``terms`` are ends that some leases are taken to have instead of theirs."""


def looks_ahead(rule: NodeFilter) -> TypeGuard[ForeseeingPolicy]:
    """Whether the filter is a policy that can look ahead."""
    return hasattr(rule, "outlook")


class PoliciesAhead:
    """All policies of one admission that can look ahead, as one."""

    def __init__(
        self, filters: Iterable[NodeFilter], *, now_ms: int, terms: Mapping[int, int]
    ) -> None:
        filters = tuple(filters)
        self.policies = tuple(each for each in filters if looks_ahead(each))
        self.lasting = tuple(each for each in filters if not looks_ahead(each))
        """The filters that are taken to stay as they are."""
        for each in self.policies:
            each.look(now_ms)
        self._looks = tuple(policy.outlook(terms) for policy in self.policies)
        self._changes = [policy.changes for policy in self.policies]

    def _outlooks(self) -> tuple[PolicyOutlook, ...]:
        changes = [policy.changes for policy in self.policies]
        if changes != self._changes:
            self._changes = changes
            for each in self._looks:
                each.forget()
        return self._looks

    def open_now(self, request: PlacementRequest) -> int:
        """The nodes, as bits, of which every part is open to the request now."""
        bits = -1
        for policy in self.policies:
            nodes = policy.nodes_for(request)
            if nodes is not None:
                bits &= _whole(nodes)
        return bits

    def opens(
        self,
        request: PlacementRequest,
        node: int,
        *,
        from_ms: int,
        others: Sequence[Expected] = (),
    ) -> int | None:
        """From when on all of them leave any part of the node to a member."""
        at_ms = from_ms
        for _ in range(ROUNDS_MAX):
            before_ms = at_ms
            for each in self._outlooks():
                found = each.opens(request, node, from_ms=at_ms, others=others)
                if found is None:
                    return None
                at_ms = found
            if at_ms == before_ms or len(self.policies) == 1:
                return at_ms
        return None

    def is_spread(self, request: PlacementRequest) -> bool:
        """Whether members of the request may be kept from each other."""
        if request.gang_size == 1:
            return False
        return any(each.is_spread(request) for each in self._outlooks())

    def beside(
        self,
        request: PlacementRequest,
        placed: Sequence[int],
        *,
        at_ms: int,
        others: Sequence[Expected] = (),
    ) -> int:
        """The nodes (as bits) closed to a further member, if others come to these then."""
        bits = 0
        for each in self._outlooks():
            bits |= each.beside(request, placed, at_ms=at_ms, others=others)
        return bits

    def shut(
        self, request: PlacementRequest, kept: Expected, *, others: Sequence[Expected] = ()
    ) -> int:
        """The nodes (as bits) where the request, if it came now and stayed, would close a place."""
        bits = 0
        for each in self._outlooks():
            bits |= each.shut(request, kept, others=others)
        return bits

    def tail_ms(self, request: PlacementRequest) -> int:
        """How long after its end the request may still be in the way of others."""
        return max((each.tail_ms(request) for each in self._outlooks()), default=0)

    def key(self, request: PlacementRequest) -> Hashable:
        """The same for requests of which ``shut`` says the same, but for how many members."""
        return tuple(each.key(request) for each in self._outlooks()) if self.policies else None


def _whole(nodes: NodeSet) -> int:
    """The nodes of the set of which every part may be used, as bits."""
    bits = int.from_bytes(nodes.bits, "little")
    for handle in {*nodes.caches, *nodes.devices}:
        bits &= ~(1 << handle)
    return bits

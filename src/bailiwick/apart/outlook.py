"""What an isolation policy foresees, asked with requests: for who keeps room in advance.

Rules:

- Nodes are those of one ledger; of several under one policy, each has numbers of its own.
- That a node has the labels which a rule asks for is not foreseen, only seen.
- All else is as :mod:`bailiwick.isolation.outlook` says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from bailiwick.isolation.compiled import SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.outlook import NEVER_MS, Ends, Newcomer, Outlook, Stay
from bailiwick.scheduler.backfill.openings import Expected
from bailiwick.scheduler.request import PlacementRequest


class RequestOutlook:
    """One look ahead over the nodes of one ledger."""

    def __init__(
        self,
        ground: Ground,
        ends: Ends,
        *,
        class_of: Callable[[PlacementRequest], SubjectClass],
        having: Callable[[SubjectClass, Term], int],
        first: int = 0,
    ) -> None:
        self._ahead = Outlook(ground, ends)
        self._class_of, self._having, self._first = class_of, having, first

    def forget(self) -> None:
        """Something came or went."""
        self._ahead.forget()

    def opens(
        self,
        request: PlacementRequest,
        node: int,
        *,
        from_ms: int,
        others: Sequence[Expected] = (),
    ) -> int | None:
        """From when on a member may have any part of the node; ``None`` if nobody knows."""
        who, expected = self._newcomer(request), self._all_of(others)
        at_ms = self._ahead.opens(who, self._first + node, from_ms=from_ms, others=expected)
        if at_ms >= NEVER_MS:
            return None
        term = self._ahead.term(at_ms, at_ms + request.ttl_ms)
        return at_ms if self._having(who.member, term) >> node & 1 else None

    def is_spread(self, request: PlacementRequest) -> bool:
        """Whether members of the request may be kept from each other."""
        return self._ahead.is_spread(self._newcomer(request))

    def beside(
        self,
        request: PlacementRequest,
        placed: Sequence[int],
        *,
        at_ms: int,
        others: Sequence[Expected] = (),
    ) -> int:
        """The nodes (as bits) closed to a further member, if others come to these then."""
        who, there = self._newcomer(request), [self._first + node for node in placed]
        bits = self._ahead.beside(who, there, at_ms=at_ms, others=self._all_of(others))
        return bits >> self._first

    def shut(
        self, request: PlacementRequest, kept: Expected, *, others: Sequence[Expected] = ()
    ) -> int:
        """The nodes (as bits) where the request, if it came now and stayed, would close a place."""
        who, seats = self._newcomer(request), self._stays_of(kept)
        count, expected = request.gang_size, self._all_of(others)
        return self._ahead.shut(who, members=count, seats=seats, others=expected) >> self._first

    def tail_ms(self, request: PlacementRequest) -> int:
        """How long after its end the request may still be in the way of others."""
        return self._ahead.tail_ms(self._class_of(request))

    def key(self, request: PlacementRequest) -> Hashable:
        """The same for requests of which ``shut`` says the same, but for how many members."""
        return self._newcomer(request)._replace(ttl_ms=0)

    def _newcomer(self, request: PlacementRequest) -> Newcomer:
        return Newcomer(self._class_of(request), request.ttl_ms, bool(request.device_count))

    def _all_of(self, others: Sequence[Expected]) -> list[Stay]:
        return [stay for other in others for stay in self._stays_of(other)]

    def _stays_of(self, other: Expected) -> list[Stay]:
        who = self._newcomer(other.request)
        nodes, when = (self._first + node for node in other.nodes), other.from_ms
        stay, for_good = self._ahead.stay, other.for_good
        return [stay(who, node, from_ms=when, for_good=for_good) for node in nodes]

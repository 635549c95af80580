"""Bookings between requests and nodes: a booked node is its owner's, and only to the end.

Rules:

- A request is judged by its term, on each node by the node's earliest booking. A stranger's has to
  end before that begins, its owner's before it ends: a booking of a minute is no way past the line
  for a week.
- No waiting is in vain: a booking ends. So nothing here lasts.
- It stands guard only while there is a booking. Then a request costs a search among the times at
  which nodes close to strangers (:mod:`bailiwick.kernel.fleet.closing`), and a look at each node
  that is booked for its owner first. How many bookings others have makes no difference.
- Who looks ahead is told from when on a term fits between the bookings.
- Whose bookings they are is told to nobody: a rule has one name for all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from bailiwick.kernel.bookings.book import BookingBook
from bailiwick.kernel.fleet.closing import ClosedNodes, ClosingTable
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.backfill.openings import Expected, TermOutlook
from bailiwick.scheduler.decision import NodesBooked
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.request import PlacementRequest

BOOKED_SETS_MAX: Final = 64
"""Sets of nodes that are kept; another one is soon made."""

BOOKING_RULE: Final = "booking"
"""The one rule of this guard."""


class _OwnNode(NamedTuple):
    """A node whose first booking is somebody's; by when it closes to him."""

    ends_ms: int
    starts_ms: int
    handle: int


class BookingGuard:
    """The bookings that are planned or on, between requests and nodes."""

    def __init__(self, book: BookingBook, ledger: CapacityLedger) -> None:
        self._book, self._ledger = book, ledger
        self._now_ms = 0
        self.changes = 0
        """Another one whenever a booking or a node came or went."""
        self._seen = -1
        self._table = ClosingTable()
        """When nodes that are there close to strangers."""
        self._own: dict[Owner, list[_OwnNode]] = {}
        """In the order in which they close."""
        self._shut: dict[tuple[Owner | None, int, int], ClosedNodes] = {}
        """By whom it is closed to (all others see the same), and up to which time, of strangers'
        and of his own."""

    # -- being told --------------------------------------------------------------------------

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        self._now_ms = now_ms

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """Who runs makes no difference."""

    def ended(self, lease_id: int) -> None:
        """Who runs makes no difference."""

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""
        self.changes += 1
        if self._book.first_of(node) is not None:
            self._seen = -1
        elif node in self._ledger:
            handle = self._ledger.handle_of(node)
            for each in self._shut.values():
                each.open.add(handle)

    # -- asking ------------------------------------------------------------------------------

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request would end in time; ``None`` for everywhere."""
        del without
        found = self._shut_to(request)
        return None if found is None else found.open

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Everywhere, once the bookings are over."""
        del request
        return None

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Members of one gang are not in each other's way."""
        del request, placed, without
        return None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes bookings close to the request now."""
        found = self._shut_to(request)
        return {} if found is None or not found.nodes else {BOOKING_RULE: found.nodes}

    def told_as(self, request: PlacementRequest) -> NodesBooked:
        """The denial of a request that bookings keep out."""
        found = self._shut_to(request)
        if found is None or not found.nodes:
            return NodesBooked(0, self._now_ms, 0)
        longest_ms = max(found.latest_ms - self._now_ms, 0)
        return NodesBooked(found.nodes, found.latest_ms, longest_ms)

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """Renewals are judged by their node's earliest booking, with words of their own."""
        del lease_id, ttl_ms
        return None

    def outlook(self, terms: Mapping[int, int]) -> BookingOutlook:
        """A look ahead; when leases end makes no difference."""
        del terms
        return BookingOutlook(self._book, self._ledger)

    def _shut_to(self, request: PlacementRequest) -> ClosedNodes | None:
        if self._seen != self._book.changes:
            self._seen = self._book.changes
            self._make()
            self.changes += 1
        ends_ms, asks = self._now_ms + request.ttl_ms, Owner.of(request)
        last_ms = self._table.last_before(ends_ms)
        if last_ms is None:
            return None
        own = self._own.get(asks, ())
        key = (asks if own else None, last_ms, bisect_left(own, (ends_ms,)))
        found = self._shut.get(key)
        if found is None:
            if len(self._shut) >= BOOKED_SETS_MAX:
                del self._shut[next(iter(self._shut))]
            found = self._shut[key] = self._close(ends_ms, own)
        return found

    def _make(self) -> None:
        """The table, anew: a booking or a booked node came or went."""
        self._table, self._own = ClosingTable(), {}
        self._shut.clear()
        rows = list[tuple[int, int]]()
        for node in self._book.booked_nodes():
            first = self._book.first_of(node)
            if first is not None and node in self._ledger:
                handle = self._ledger.handle_of(node)
                rows.append((first.starts_ms, handle))
                mine = self._own.setdefault(first.owner, [])
                mine.append(_OwnNode(first.ends_ms, first.starts_ms, handle))
        for starts_ms, handle in sorted(rows):
            self._table.put(handle, starts_ms)
        for mine in self._own.values():
            mine.sort()

    def _close(self, ends_ms: int, own: Sequence[_OwnNode]) -> ClosedNodes:
        """What is closed to a term of somebody with these nodes of his own."""
        found = self._table.before(ends_ms)
        left, count = found.open, bisect_left(own, (ends_ms,))
        left.bits += b"\xff" * (len(self._ledger.by_handle) // 8 + 1 - len(left.bits))
        open_still = [each.handle for each in own[count:] if each.starts_ms < ends_ms]
        for handle in open_still:
            left.add(handle)
        others_ms = self._table.last_before(ends_ms, without={each.handle for each in own})
        own_ms = own[count - 1].ends_ms if count else 0
        return ClosedNodes(left, found.nodes - len(open_still), max(others_ms or 0, own_ms))


class BookingOutlook(TermOutlook):
    """From when on terms fit between bookings."""

    def __init__(self, book: BookingBook, ledger: CapacityLedger) -> None:
        self._book, self._ledger = book, ledger

    def opens(
        self,
        request: PlacementRequest,
        node: int,
        *,
        from_ms: int,
        others: Sequence[Expected] = (),
    ) -> int | None:
        """From when on a member may have the node for the whole of its term."""
        del others
        entry, at_ms = self._ledger.by_handle[node], from_ms
        if entry is None:
            return None
        asks = Owner.of(request)
        for booking in self._book.bookings_of(str(entry.id)):
            ends_ms = at_ms + request.ttl_ms
            is_in_time = booking.owner == asks and ends_ms <= booking.ends_ms
            if booking.overlaps(at_ms, ends_ms) and not is_in_time:
                at_ms = booking.ends_ms
        return at_ms


def stand_guard(state: State) -> None:
    """Guard while there are bookings, and not otherwise."""
    guards, is_needed = state.guards, bool(state.bookings.bookings)
    standing = [each for each in guards.policies if isinstance(each, BookingGuard)]
    if is_needed and not standing:
        guards.add(BookingGuard(state.bookings, state.ledger))
    for each in standing if not is_needed else ():
        guards.drop(each)

"""Windows between requests and nodes: work that would not finish is not started.

Rules:

- A request is judged by its term: a node is closed to it if a window of the node has begun, or
  begins before the term would end. To all others the node is open until it is drained.
- No waiting is in vain: a window ends. So nothing here lasts.
- It stands guard only while there are windows. Then a request costs a search among the times at
  which nodes close (:mod:`bailiwick.kernel.fleet.closing`), which follows windows and nodes that
  come and go. How many windows there are makes no difference.
- Who looks ahead is told from when on a term fits between the windows that are planned.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final

from bailiwick.kernel.fleet.closing import ClosedNodes, ClosingTable
from bailiwick.kernel.guards import HeldLease
from bailiwick.kernel.maintenance.book import MaintenanceBook, PlannedWindow
from bailiwick.kernel.state import State
from bailiwick.scheduler.backfill.openings import Expected, TermOutlook
from bailiwick.scheduler.decision import NodesMaintained
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.request import PlacementRequest

SETS_MAX: Final = 64
"""Sets of nodes that are kept; another one is soon made."""

RULE_PREFIX: Final = "maintenance."
"""A rule of this guard is told with this before the window's name."""


class MaintenanceGuard:
    """The windows that are planned or on, between requests and nodes."""

    def __init__(self, book: MaintenanceBook, ledger: CapacityLedger) -> None:
        self._book, self._ledger = book, ledger
        self._now_ms = 0
        self.changes = 0
        """Another one whenever a window or a node came or went."""
        self._table: ClosingTable | None = None
        self._handles: dict[str, int] = {}
        """The nodes in the table, by name: who has departed has no handle any more."""
        self._sets: dict[int | None, ClosedNodes] = {}
        """By the last time at which one of the closed nodes closes; ``None`` if none is there."""
        self._order: list[tuple[int, str]] = []
        """The windows by their beginnings."""
        self._there: dict[str, int] = {}
        """How many nodes of each window there are."""
        self._widest: list[tuple[int, str]] | None = None
        """Of the first windows in order, so many, the one with most nodes."""

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
        if self._table is None:
            return
        if self._book.next_start(node) is not None:
            self._widest = None
            more = 1 if node in self._ledger else -1
            for window in self._book.windows_of(node):
                self._there[window.id] += more
            self._close(self._table, node)
        elif node in self._ledger:
            handle = self._ledger.handle_of(node)
            for each in self._sets.values():
                each.open.add(handle)

    def windows_changed(self, window: PlannedWindow) -> None:
        """The window came or went."""
        self.changes += 1
        if self._table is None:
            return
        self._widest = None
        if window.id in self._book.windows:
            self._enter(window)
        else:
            del self._order[bisect_left(self._order, window.order)]
            del self._there[window.id]
        for node in window.nodes:
            self._close(self._table, node)

    # -- asking ------------------------------------------------------------------------------

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request would finish; ``None`` for everywhere."""
        del without
        found = self._closed_to(request)
        return None if found is None else found.open

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Everywhere, once the windows are over."""
        del request
        return None

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Members of one gang are not in each other's way."""
        del request, placed, without
        return None

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each window closes to the request now."""
        rows = ((n, self._there[n]) for _, n in self._order[: self._in_the_way(request)])
        return {RULE_PREFIX + name: nodes for name, nodes in rows if nodes}

    def closes_most(self, request: PlacementRequest) -> tuple[int, str] | None:
        """The window that closes most nodes to the request now, told without asking each."""
        count = self._in_the_way(request)
        if self._widest is None:
            rows = ((self._there[name], RULE_PREFIX + name) for _, name in self._order)
            self._widest = list(accumulate(rows, max))
        found = self._widest[count - 1] if count else (0, "")
        return found if found[0] else None

    def told_as(self, request: PlacementRequest) -> NodesMaintained:
        """The denial of a request that windows keep out."""
        found = self._closed_to(request)
        if found is None or not found.nodes:
            return NodesMaintained(0, self._now_ms, 0)
        longest_ms = max(found.latest_ms - self._now_ms, 0)
        return NodesMaintained(found.nodes, found.latest_ms, longest_ms)

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """Renewals are judged by their node's next window, with words of their own."""
        del lease_id, ttl_ms
        return None

    def outlook(self, terms: Mapping[int, int]) -> WindowOutlook:
        """A look ahead; when leases end makes no difference."""
        del terms
        return WindowOutlook(self._book, self._ledger)

    def _closed_to(self, request: PlacementRequest) -> ClosedNodes | None:
        if not self._in_the_way(request):
            return None
        table, ends_ms = self._made(), self._now_ms + request.ttl_ms
        last_ms = table.last_before(ends_ms)
        found = self._sets.get(last_ms)
        if found is None:
            found = table.before(ends_ms)
            missing = len(self._ledger.by_handle) // 8 + 1 - len(found.open.bits)
            found.open.bits += b"\xff" * missing
            if len(self._sets) >= SETS_MAX:
                del self._sets[next(iter(self._sets))]
            self._sets[last_ms] = found
        return found

    def _in_the_way(self, request: PlacementRequest) -> int:
        """How many windows begin before the request's term would end."""
        self._made()
        return bisect_left(self._order, (self._now_ms + request.ttl_ms,))

    def _made(self) -> ClosingTable:
        """The table; made when it is asked for, since nodes are read after windows."""
        if self._table is None:
            self._table = ClosingTable()
            for window in self._book.windows.values():
                self._enter(window)
            for node in self._book.named_nodes():
                self._close(self._table, node)
        return self._table

    def _enter(self, window: PlannedWindow) -> None:
        insort(self._order, window.order)
        self._there[window.id] = sum(node in self._ledger for node in window.nodes)

    def _close(self, table: ClosingTable, node: str) -> None:
        """Have a node stand where its first window begins, if it is there and has one."""
        starts_ms = self._book.next_start(node)
        before = self._handles.pop(node, None)
        if before is not None:
            table.drop(before)
        if starts_ms is not None and node in self._ledger:
            self._handles[node] = self._ledger.handle_of(node)
            table.put(self._handles[node], starts_ms)
        self._sets.clear()


class WindowOutlook(TermOutlook):
    """From when on terms fit between windows."""

    def __init__(self, book: MaintenanceBook, ledger: CapacityLedger) -> None:
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
        for window in self._book.windows_of(str(entry.id)):
            if window.starts_ms < at_ms + request.ttl_ms and window.ends_ms > at_ms:
                at_ms = window.ends_ms
        return at_ms


def stand_guard(state: State, changed: PlannedWindow | None = None) -> None:
    """Guard while there are windows, and not otherwise; ``changed`` is one that came or went."""
    guards, is_needed = state.guards, bool(state.maintenance.windows)
    standing = [each for each in guards.policies if isinstance(each, MaintenanceGuard)]
    if is_needed and not standing:
        guards.add(MaintenanceGuard(state.maintenance, state.ledger))
    for each in standing:
        if not is_needed:
            guards.drop(each)
        elif changed is not None:
            each.windows_changed(changed)

"""Whose turn it is to be placed: the leader's own order of those who are in no cell yet.

Rules:

- The most urgent first, then the oldest. Who was looked at in vain has his turn again later.
- A look costs what is new and what is due, however many wait. What is new stands at the end of the
  journal's list of those who wait: it is read from there back to the first that is known. Known is
  this very row: a request that comes back from a cell is another row, and new again.
- Who has gone meanwhile is found out when his turn comes, and forgotten.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count

from bailiwick.kernel.cells.book import CellBook, GlobalRequest


@dataclass(slots=True)
class Turns:
    """Those who wait, by who is looked at next."""

    _known: dict[int, GlobalRequest] = field(default_factory=dict)
    _due: list[tuple[int, int, int, int, GlobalRequest]] = field(default_factory=list)
    """Urgency, age, number, and what tells two rows of one number apart."""
    _later: list[tuple[int, int, GlobalRequest]] = field(default_factory=list)
    _serial: count[int] = field(default_factory=count)

    def news(self, book: CellBook) -> list[GlobalRequest]:
        """Who waits and is not known; nothing is changed."""
        found = list[GlobalRequest]()
        for number in reversed(book.waiting):
            each = book.requests[number]
            if self._known.get(number) is each:
                break
            found.append(each)
        return found

    def meet(self, news: list[GlobalRequest]) -> None:
        """Their turn is due."""
        for each in news:
            self._known[each.number] = each
            self._put(each)

    def take(self, limit: int, *, now_ms: int) -> list[GlobalRequest]:
        """The next, up to so many; each is to be put back, put off or forgotten."""
        while self._later and self._later[0][0] <= now_ms:
            each = heapq.heappop(self._later)[2]
            if self._is_known(each):
                self._put(each)
        found = list[GlobalRequest]()
        while self._due and len(found) < limit:
            each = heapq.heappop(self._due)[4]
            if self._is_known(each):
                found.append(each)
        return found

    def put_back(self, each: GlobalRequest) -> None:
        """There was no time for him: his turn is due still."""
        if self._is_known(each):
            self._put(each)

    def put_off(self, each: GlobalRequest, until_ms: int) -> None:
        """He was looked at in vain."""
        if self._is_known(each):
            heapq.heappush(self._later, (until_ms, next(self._serial), each))

    def forget(self, each: GlobalRequest) -> None:
        """He waits no more."""
        if self._is_known(each):
            del self._known[each.number]

    def _is_known(self, each: GlobalRequest) -> bool:
        return self._known.get(each.number) is each

    def _put(self, each: GlobalRequest) -> None:
        urgency, age, number = turn_of(each)
        heapq.heappush(self._due, (urgency, age, number, next(self._serial), each))


def turn_of(each: GlobalRequest) -> tuple[int, int, int]:
    """By this they stand in order: the most urgent, then the oldest."""
    return -each.request.priority.rank, each.asked_ms, each.number

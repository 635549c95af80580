"""Which requests leave a cell's line because another cell could start them now.

Rules:

- What has waited in a line for a while is looked at, the most urgent first, then the oldest. Only
  cells are asked that have told of enough free GPUs and cores, and of these the few with the most.
- If one could start it at once, it is recalled. Its own cell still decides: who has begun by then,
  or has room made for him, stays. Then it is placed as if it had never been anywhere.
- One round looks at a bounded number, and goes on where the last ended. Nobody is moved often: in
  the other line he is the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from bailiwick.kernel.cells.book import GlobalRequest
from bailiwick.runtime.replica import View
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import CellStanding

EVERY_MS: Final = 5_000
LOOKED_AT: Final = 256
"""Requests in lines that one round looks at."""
ASKED_MAX: Final = 8
"""Of these, how many it asks other cells about."""
AFTER_MS: Final = 15_000
"""So long a request was asked ago before it is looked at."""
AGAIN_MS: Final = 60_000
"""After so long the same request is asked about again."""
MOVES_MAX: Final = 3
"""So often one request is recalled."""


@dataclass(slots=True)
class Moves:
    """What a leader remembers of requests that it asked other cells about."""

    begun_ms: int = 0
    """When the last round was."""
    offset: int = 0
    """How far along those in lines it came."""
    later: dict[int, int] = field(default_factory=dict)
    """Before when a request is not asked about."""
    times: dict[int, int] = field(default_factory=dict)
    """How often one was recalled."""

    def is_due(self, now_ms: int) -> bool:
        """Whether another round is to be; if so, it has begun."""
        if now_ms - self.begun_ms < EVERY_MS:
            return False
        self.begun_ms = now_ms
        self.later = {number: ms for number, ms in self.later.items() if ms > now_ms}
        return True

    def may_look(self, number: int) -> bool:
        """Whether a request may be asked about now."""
        return number not in self.later and self.times.get(number, 0) < MOVES_MAX

    def note_asked(self, number: int, now_ms: int) -> None:
        """Other cells are asked about a request."""
        self.later[number] = now_ms + AGAIN_MS

    def note_recalled(self, number: int) -> None:
        """It was recalled."""
        self.times[number] = self.times.get(number, 0) + 1


@dataclass(frozen=True, slots=True)
class InLines:
    """Some of those who wait in lines, and who is not there any more."""

    requests: tuple[GlobalRequest, ...]
    offset: int
    """Where the next look begins."""
    over: tuple[int, ...]


def look(view: View, moves: Moves) -> InLines:
    """The next of those in lines that may be asked about; nothing is changed."""
    book, offset = view.state.cells, moves.offset
    if offset >= len(book.in_line):
        offset = 0
    numbers = list(islice(book.in_line, offset, offset + LOOKED_AT))
    found = [
        each
        for each in map(book.requests.__getitem__, numbers)
        if each.recalled is None
        and each.cell is not None
        and book.members[each.cell].standing is CellStanding.REACHABLE
        and view.now_ms - each.asked_ms >= AFTER_MS
        and moves.may_look(each.number)
    ]
    over = tuple(number for number in moves.times if number not in book.requests)
    return InLines(tuple(found), offset + len(numbers), over)


def fits(request: PlacementRequest, free: tuple[int, int]) -> bool:
    """Whether so many thousandths of GPUs and cores may be enough; where they lie is not known."""
    gpu_milli = request.gpu_milli_total * request.gang_size
    return gpu_milli <= free[0] and request.cpu_milli * request.gang_size <= free[1]


def others_with_room(
    each: GlobalRequest, free: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """The cells beside its own that may have room for a request."""
    return {
        cell: amounts
        for cell, amounts in free.items()
        if cell != each.cell and fits(each.request, amounts)
    }

"""Leases and waiting requests by owner and number, so that a page costs a page.

Rules:

- An index is kept as the state changes, by one entry for each lease or request that comes or goes:
  nobody reads a page by walking all there are.
- A page is in order of the number and goes on after a number, whether or not that one still is.
- An owner is asked once for a page whether its rows are seen, not once for every row.

>>> numbers = SortedNumbers([3, 1, 2])
>>> numbers.remove(2)
>>> list(numbers.after(1))
[3]
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

from bailiwick.kernel import State
from bailiwick.kernel.owner import Owner

PIECE_MAX = 512
V = TypeVar("V")


class SortedNumbers:
    """Numbers in order, in short pieces: to add, remove and seek costs a piece at most."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        found = sorted(numbers)
        half = PIECE_MAX // 2
        self._pieces = [found[i : i + half] for i in range(0, len(found), half)]
        self._lasts = [piece[-1] for piece in self._pieces]

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, number: int) -> None:
        """One more; mostly it is the highest."""
        at = min(bisect_left(self._lasts, number), len(self._pieces) - 1)
        if at < 0:
            self._pieces, self._lasts = [[number]], [number]
            return
        piece = self._pieces[at]
        insort(piece, number)
        self._lasts[at] = piece[-1]
        if len(piece) > PIECE_MAX:
            half = len(piece) // 2
            self._pieces[at : at + 1] = [piece[:half], piece[half:]]
            self._lasts[at : at + 1] = [piece[half - 1], piece[-1]]

    def remove(self, number: int) -> None:
        """One less."""
        at = bisect_left(self._lasts, number)
        piece = self._pieces[at]
        del piece[bisect_left(piece, number)]
        if piece:
            self._lasts[at] = piece[-1]
        else:
            del self._pieces[at], self._lasts[at]

    def after(self, number: int) -> Iterator[int]:
        """Those above, in order."""
        at = bisect_right(self._lasts, number)
        for piece in self._pieces[at : at + 1]:
            yield from piece[bisect_right(piece, number) :]
        for index in range(at + 1, len(self._pieces)):
            yield from self._pieces[index]


class ByOwner:
    """Numbers, and whose each is."""

    def __init__(self) -> None:
        self._all = SortedNumbers()
        self._owners: dict[int, Owner] = {}
        self._of: dict[Owner, SortedNumbers] = {}

    def fill(self, rows: Iterable[tuple[int, Owner]]) -> None:
        """Begin with these."""
        self._owners = dict(rows)
        self._all = SortedNumbers(self._owners)
        groups: dict[Owner, list[int]] = {}
        for number, owner in self._owners.items():
            groups.setdefault(owner, []).append(number)
        self._of = {owner: SortedNumbers(numbers) for owner, numbers in groups.items()}

    def add(self, number: int, owner: Owner) -> None:
        """It is there from now on."""
        self._owners[number] = owner
        self._all.add(number)
        self._of.setdefault(owner, SortedNumbers()).add(number)

    def discard(self, number: int) -> None:
        """It is gone, if it was there."""
        owner = self._owners.pop(number, None)
        if owner is None:
            return
        self._all.remove(number)
        own = self._of[owner]
        own.remove(number)
        if not own:
            del self._of[owner]

    def page(self, sees: Callable[[Owner], bool] | None, *, after: int, limit: int) -> list[int]:
        """The first ``limit`` numbers above ``after`` of owners that are seen (``None``: all)."""
        if sees is None:
            return list(islice(self._all.after(after), limit))
        seen = [numbers.after(after) for owner, numbers in self._of.items() if sees(owner)]
        return list(islice(heapq.merge(*seen), limit))


class Scan:
    """The same pages by walking all there are: for a state without indexes, and to compare."""

    def __init__(self, rows: Iterable[tuple[int, Owner]]) -> None:
        self._rows = rows

    def page(self, sees: Callable[[Owner], bool] | None, *, after: int, limit: int) -> list[int]:
        """As :meth:`ByOwner.page`."""
        seen = (n for n, owner in self._rows if n > after and (sees is None or sees(owner)))
        return heapq.nsmallest(limit, seen)


def scan_leases(state: State) -> Scan:
    """All leases of a state."""
    return Scan((number, state.owner_of(number)) for number in state.leases)


def scan_waiting(state: State) -> Scan:
    """All waiting requests of a state."""
    return Scan((number, Owner.of(e.request)) for number, e in state.line.entries.items())


class _Noted(dict[int, V], Generic[V]):
    """A dictionary that notes which numbers came and went since it was last asked."""

    def __init__(self, found: dict[int, V]) -> None:
        super().__init__(found)
        self.came: list[int] = []
        self.went: list[int] = []

    def __setitem__(self, number: int, value: V) -> None:
        super().__setitem__(number, value)
        self.came.append(number)

    def __delitem__(self, number: int) -> None:
        super().__delitem__(number)
        self.went.append(number)


class Indexes:
    """The indexes of one state; ``note`` after everything that changes it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._begin()

    def _begin(self) -> None:
        state = self._state
        self.leases, self.waiting = ByOwner(), ByOwner()
        self._leases, self._entries = _Noted(state.leases), _Noted(state.line.entries)
        state.leases, state.line.entries = self._leases, self._entries
        self.leases.fill((number, state.owner_of(number)) for number in self._leases)
        self.waiting.fill((n, Owner.of(entry.request)) for n, entry in self._entries.items())

    def note(self) -> None:
        """Take up what came and went."""
        if self._state.leases is not self._leases:  # all of it was made anew
            self._begin()
            return
        leases, entries = self._leases, self._entries
        if leases.came or leases.went:
            for number in leases.came:
                if number in leases:  # else it came and went at once
                    self.leases.add(number, self._state.owner_of(number))
            for number in leases.went:
                self.leases.discard(number)
            leases.came, leases.went = [], []
        if entries.came or entries.went:
            for number in entries.came:
                if number in entries:
                    self.waiting.add(number, Owner.of(entries[number].request))
            for number in entries.went:
                self.waiting.discard(number)
            entries.came, entries.went = [], []

"""What room waiting entries seek: those that seek the same are told the same about it.

Rules:

- A kind is all of a request that decides where it would fit now: what one member takes, how many
  members, the labels, and the priority (for headroom). Quota, money, policies and terms are its
  owner's own: they may forbid what fits, and never allow what does not.
- Who knows that a kind fits nowhere, with the shortest term that anybody of it asks for, knows that
  none of them can start, and need not ask one.
- Coming and going cost the same however many wait.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import NamedTuple

from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import Priority


class _Sought(NamedTuple):
    """What makes a kind."""

    shape: Shape
    members: int
    priority: Priority
    labels: frozenset[tuple[str, str]]


class RoomKind:
    """A kind of room, and who in line seeks it. Each is its own: it is looked up by what it is."""

    __slots__ = ("_terms_ms", "entries", "labels", "members", "priority", "shape")

    def __init__(self, sought: _Sought) -> None:
        self.shape, self.members, self.priority, self.labels = sought
        self.entries: dict[int, QueueEntry] = {}
        self._terms_ms: list[int] = []

    def join(self, entry: QueueEntry) -> None:
        """One more seeks it."""
        self.entries[entry.id] = entry
        insort(self._terms_ms, entry.request.ttl_ms)

    def leave(self, entry: QueueEntry) -> None:
        """One less seeks it."""
        del self.entries[entry.id]
        del self._terms_ms[bisect_left(self._terms_ms, entry.request.ttl_ms)]

    @property
    def sample(self) -> PlacementRequest:
        """Any of those that seek it."""
        return next(iter(self.entries.values())).request

    @property
    def shortest_ms(self) -> int:
        """The shortest term that any of them asks for."""
        return self._terms_ms[0]


class WaitingKinds:
    """Who waits, by the room that is sought."""

    __slots__ = ("_by_entry", "_kinds")

    def __init__(self) -> None:
        self._by_entry: dict[int, RoomKind] = {}
        self._kinds: dict[_Sought, RoomKind] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def __iter__(self) -> Iterator[RoomKind]:
        return iter(self._kinds.values())

    def join(self, entry: QueueEntry) -> None:
        """The entry waits from now on."""
        sought = _sought_by(entry.request)
        kind = self._kinds.get(sought)
        if kind is None:
            kind = self._kinds[sought] = RoomKind(sought)
        kind.join(entry)
        self._by_entry[entry.id] = kind

    def leave(self, entry: QueueEntry) -> None:
        """The entry waits no more."""
        kind = self._by_entry.pop(entry.id)
        kind.leave(entry)
        if not kind.entries:
            del self._kinds[_sought_by(entry.request)]

    def of(self, entry: QueueEntry) -> RoomKind:
        """The kind of an entry; of one that does not wait, a new one if nobody seeks the same."""
        kind = self._by_entry.get(entry.id)
        if kind is None:
            sought = _sought_by(entry.request)
            kind = self._kinds.get(sought) or RoomKind(sought)
        return kind


def _sought_by(request: PlacementRequest) -> _Sought:
    labels = frozenset(request.labels.items())
    return _Sought(Shape.of(request), request.gang_size, request.priority, labels)

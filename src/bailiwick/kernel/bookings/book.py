"""What is known of bookings: whose, which nodes, since when a node is unused, what is due when.

Rules:

- No two bookings of one node overlap in time. So what a node's earliest booking allows is all that
  a term has to be asked about: a stranger's ends before it begins, its owner's before it ends.
- A booking is there until the record of its end, whatever time it is.
- A node of a booking is unused since the record of its beginning, since the last use of it ended,
  since it came to take leases, or since somebody began to lead, whichever is latest: only time
  counts in which its owner could have used it. While there is use of it, or it takes no leases, it
  is not. A lease of the owner is use of it if it
  holds GPUs, or the node has none: a job on the cores of a node keeps its GPUs from nobody. For a
  booking from before that was told apart, every lease of the owner is.
- What is due next takes constant time, and a lease that begins or ends on a node which nobody has
  booked costs one look.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from bailiwick.kernel.bookings.commands import DAY_MS, BookingAsk
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.bookings import BookingPhase, BookingUse
from bailiwick.vocab.words import HardwareGeneration


def booking_key(owner: Owner, name: str) -> str:
    """By which a booking or a series is found: names are a project's own."""
    return f"{owner.tenant}/{owner.project}/{name}"


@dataclass(frozen=True, slots=True)
class Booking:
    """One booking: nodes that are kept for one project."""

    id: str
    owner: Owner
    starts_ms: int
    ends_ms: int
    nodes: tuple[str, ...]
    """Those that are kept still, by name."""
    ask: BookingAsk
    wait_ms: int
    """How long a node may be unused before it is given back; 0 for to the end."""
    text: str = ""
    series: str | None = None
    given_back: tuple[str, ...] = ()
    use: BookingUse = BookingUse.ANY_LEASE
    """Which leases of its owner use a node."""

    def phase(self, now_ms: int) -> BookingPhase:
        """How far it has come."""
        return BookingPhase.ON if now_ms >= self.starts_ms else BookingPhase.PLANNED

    def overlaps(self, from_ms: int, to_ms: int) -> bool:
        """Whether it is on at any time from one time to another."""
        return self.starts_ms < to_ms and self.ends_ms > from_ms

    @property
    def key(self) -> str:
        """By which it is found."""
        return booking_key(self.owner, self.id)

    @property
    def order(self) -> tuple[int, str]:
        """By which bookings are told: by their beginning."""
        return self.starts_ms, self.key


@dataclass(frozen=True, slots=True)
class BookingSeries:
    """A series as it was set, and which of its times were booked."""

    id: str
    owner: Owner
    rule: str
    ask: BookingAsk
    wait_ms: int | None
    ahead_days: int
    text: str
    booked: tuple[int, ...] = ()
    """When those begin that were booked by it and were ahead then, in order; also of those that
    were cancelled since. None of them is booked again."""

    @property
    def key(self) -> str:
        """By which it is found."""
        return booking_key(self.owner, self.id)

    def books_as(self, other: BookingSeries) -> bool:
        """Whether it books the same as another: all but how far ahead, and the text."""
        return (self.rule, self.ask, self.wait_ms) == (other.rule, other.ask, other.wait_ms)

    @property
    def ahead_ms(self) -> int:
        """How far ahead it is booked."""
        return self.ahead_days * DAY_MS


class BookingDue(NamedTuple):
    """Something that time brings about: a node is given back, or (no node) a booking is over."""

    at_ms: int
    booking: str
    node: str = ""


class BookingUser(NamedTuple):
    """Whose a lease on a node is, and which bookings of his it uses."""

    owner: Owner
    is_use: bool
    """Whether it holds GPUs, or the node has none."""

    def uses(self, booking: Booking) -> bool:
        """Whether a node of such a booking is used by it."""
        is_use = self.is_use or booking.use is BookingUse.ANY_LEASE
        return is_use and booking.owner == self.owner


class BookingBook:
    """All bookings and series of one state."""

    def __init__(self) -> None:
        self.bookings: dict[str, Booking] = {}
        self.series: dict[str, BookingSeries] = {}
        self.left: dict[tuple[str, str], int] = {}
        """By booking and node, when the last use of it ended, if the booking was on, or when it
        could be used again."""
        self.begun: dict[str, int] = {}
        """When the record said of a booking that it is on; told of those that wait for nobody."""
        self._closed: set[str] = set()
        """Nodes that take no leases, or are gone; it follows from the ledger."""
        self.mentions = 0
        """Nodes of all bookings, each as often as it is booked."""
        self.changes = 0
        """Another one whenever a booking or a node of one came or went."""
        self._held: dict[tuple[str, str], int] = {}
        """By booking and node, how many leases use it; it follows from the leases."""
        self._by_node: dict[str, list[tuple[int, str]]] = {}
        self._due: list[BookingDue] = []
        """A heap; what is not so any more is thrown away when it comes up."""
        self._waits: list[BookingDue] = []
        """The same of nodes that are given back."""

    # -- asking ------------------------------------------------------------------------------

    def in_order(self) -> list[Booking]:
        """All bookings, the earliest first."""
        return sorted(self.bookings.values(), key=lambda each: each.order)

    def bookings_of(self, node: str) -> Iterator[Booking]:
        """The bookings of a node, the earliest first."""
        return (self.bookings[name] for _, name in self._by_node.get(node, ()))

    def booked_nodes(self) -> Iterable[str]:
        """Every node that is booked at any time."""
        return self._by_node.keys()

    def first_of(self, node: str) -> Booking | None:
        """The booking of a node that is on, or comes next."""
        rows = self._by_node.get(node)
        return self.bookings[rows[0][1]] if rows else None

    def open_until(self, node: str, owner: Owner) -> int | None:
        """Until when a term of this owner may last on a node; ``None`` for as long as it likes."""
        first = self.first_of(node)
        if first is None:
            return None
        return first.ends_ms if first.owner == owner else first.starts_ms

    def is_used(self, booking: str, node: str) -> bool:
        """Whether a lease of the owner uses it."""
        return (booking, node) in self._held

    def unused_since(self, booking: str, node: str) -> int | None:
        """Since when no lease uses it, though one could; ``None`` for not now."""
        if self.is_used(booking, node) or node in self._closed or booking not in self.begun:
            return None
        return max(self.begun[booking], self.left.get((booking, node), 0))

    def given_back_at(self, booking: Booking, node: str) -> int | None:
        """When a node is given back if nothing begins there; ``None`` for not before the end."""
        since_ms = self.unused_since(booking.key, node)
        if since_ms is None or not booking.wait_ms:
            return None
        at_ms = since_ms + booking.wait_ms
        return at_ms if at_ms < booking.ends_ms else None

    def next_due(self) -> BookingDue | None:
        """The booking that begins or is over first."""
        return self._first(self._due)

    def next_unused(self) -> BookingDue | None:
        """The node that is given back first, if nothing begins there."""
        return self._first(self._waits)

    def _first(self, heap: list[BookingDue]) -> BookingDue | None:
        while heap and not self._is_so(heap[0]):
            heappop(heap)
        return heap[0] if heap else None

    def _is_so(self, due: BookingDue) -> bool:
        booking = self.bookings.get(due.booking)
        if booking is None:
            return False
        if not due.node:
            begins = bool(booking.wait_ms) and booking.key not in self.begun
            return due.at_ms == (booking.starts_ms if begins else booking.ends_ms)
        is_there = due.node in booking.nodes
        return is_there and due.at_ms == self.given_back_at(booking, due.node)

    # -- being told, by ``apply`` ------------------------------------------------------------

    def put(self, booking: Booking, held: Mapping[str, int]) -> None:
        """One more booking, of which so many leases use each node already."""
        self.bookings[booking.key] = booking
        heappush(self._due, BookingDue(booking.starts_ms, booking.key))
        heappush(self._due, BookingDue(booking.ends_ms, booking.key))
        self._keep(booking, booking.nodes, held)

    def change(self, key: str, *, removed: tuple[str, ...], added: Mapping[str, int]) -> None:
        """Nodes are not booked any more; others are, with how many leases use them already."""
        before = self.bookings[key]
        self._free(before, removed)
        kept = (node for node in before.nodes if node not in removed)
        nodes = tuple(sorted((*kept, *added)))
        back = before.given_back if added else tuple(sorted((*before.given_back, *removed)))
        after = self.bookings[key] = replace(before, nodes=nodes, given_back=back)
        self._keep(after, tuple(added), added)

    def drop(self, key: str) -> None:
        """The booking is over."""
        booking = self.bookings[key]
        self._free(booking, booking.nodes)
        self.begun.pop(key, None)
        del self.bookings[key]

    def begin(self, key: str, *, at_ms: int) -> None:
        """It is on, and who booked can use it."""
        self.begun[key] = at_ms
        for node in self.bookings[key].nodes:
            self._push(self.bookings[key], node)

    def resume(self, *, at_ms: int) -> None:
        """Somebody leads again: until now nobody could use anything."""
        for key in self.begun:
            for node in self.bookings[key].nodes:
                self._wait_anew(key, node, at_ms=at_ms)

    def note_open(self, node: str, is_open: bool, *, at_ms: int) -> None:
        """Whether a node takes leases now."""
        if not is_open:
            self._closed.add(node)
        elif node in self._closed:
            self._closed.discard(node)
            for _, key in self._by_node.get(node, ()):
                self._wait_anew(key, node, at_ms=at_ms)

    def _wait_anew(self, key: str, node: str, *, at_ms: int) -> None:
        if key in self.begun and not self.is_used(key, node):
            self.left[key, node] = at_ms
            self._push(self.bookings[key], node)

    def _keep(self, booking: Booking, nodes: tuple[str, ...], held: Mapping[str, int]) -> None:
        self.changes += 1
        self.mentions += len(nodes)
        for node in nodes:
            insort(self._by_node.setdefault(node, []), booking.order)
            if held.get(node):
                self._held[booking.key, node] = held[node]
            self._push(booking, node)

    def _free(self, booking: Booking, nodes: tuple[str, ...]) -> None:
        self.changes += 1
        self.mentions -= len(nodes)
        for node in nodes:
            rows = self._by_node[node]
            rows.remove(booking.order)
            if not rows:
                del self._by_node[node]
            self._held.pop((booking.key, node), None)
            self.left.pop((booking.key, node), None)

    def _push(self, booking: Booking, node: str) -> None:
        at_ms = self.given_back_at(booking, node)
        if at_ms is None:
            return
        heappush(self._waits, BookingDue(at_ms, booking.key, node))
        if len(self._waits) > 2 * self.mentions + 64:
            self._waits = list({each for each in self._waits if self._is_so(each)})
            heapify(self._waits)

    def lease_began(self, node: str, user: BookingUser) -> None:
        """A lease began on a node."""
        for _, name in self._by_node.get(node, ()):
            if user.uses(self.bookings[name]):
                self._held[name, node] = self._held.get((name, node), 0) + 1

    def lease_ended(self, node: str, user: BookingUser, *, at_ms: int) -> None:
        """A lease on a node is over."""
        for _, name in self._by_node.get(node, ()):
            booking = self.bookings[name]
            if not user.uses(booking):
                continue
            left = self._held[name, node] - 1
            if left:
                self._held[name, node] = left
                continue
            del self._held[name, node]
            if at_ms > booking.starts_ms:
                self.left[name, node] = at_ms
            self._push(booking, node)

    # -- a snapshot --------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All that does not follow from something else; nothing where there is nothing."""
        bookings = [
            [
                *(b.id, *b.owner, b.starts_ms, b.ends_ms, list(b.nodes), _dump_ask(b.ask)),
                *(b.wait_ms, b.text, b.series, list(b.given_back)),
                *(() if b.use is BookingUse.ANY_LEASE else (b.use.value,)),
            ]
            for b in self.in_order()
        ]
        series = [
            [
                *(s.id, *s.owner, s.rule, _dump_ask(s.ask)),
                *(s.wait_ms, s.ahead_days, s.text, list(s.booked)),
            ]
            for _, s in sorted(self.series.items())
        ]
        if not (bookings or series):
            return {}
        left = [[*key, at_ms] for key, at_ms in sorted(self.left.items())]
        begun = [[key, at_ms] for key, at_ms in sorted(self.begun.items())]
        found = {"bookings": bookings, "series": series, "left": left}
        return found | ({"begun": begun} if begun else {})

    def load(self, plain: dict[str, Any], users: Mapping[str, Iterable[BookingUser]]) -> None:
        """Take up what :meth:`dump` told; whose leases are on booked nodes is known."""
        self.left = {(booking, node): at for booking, node, at in plain.get("left", ())}
        self.begun = dict(plain.get("begun", ()))
        for row in plain.get("bookings", ()):
            name, tenant, project, starts_ms, ends_ms, nodes, ask, wait, text, of, back = row[:11]
            use = BookingUse(*row[11:]) if row[11:] else BookingUse.ANY_LEASE
            what = tuple(nodes), _load_ask(ask), wait, text, of, tuple(back), use
            booking = Booking(name, Owner(tenant, project), starts_ms, ends_ms, *what)
            self.put(booking, used(booking, {node: users.get(node, ()) for node in nodes}))
        for name, tenant, project, rule, ask, *more, booked in plain.get("series", ()):
            told = _load_ask(ask), *more, tuple(booked)
            found = BookingSeries(name, Owner(tenant, project), rule, *told)
            self.series[found.key] = found

    def settle(self, closed: Iterable[str]) -> None:
        """These nodes take no leases, or are gone."""
        self._closed = set(closed)
        for booking in self.bookings.values():
            for node in booking.nodes:
                self._push(booking, node)


def used(booking: Booking, users: Mapping[str, Iterable[BookingUser]]) -> dict[str, int]:
    """How many of the leases on each of these nodes use it for a booking."""
    return {node: sum(user.uses(booking) for user in there) for node, there in users.items()}


def _dump_ask(ask: BookingAsk) -> list[Any]:
    word = None if ask.generation is None else ask.generation.value
    return [list(ask.nodes), ask.count, ask.gpus, word, list(ask.labels)]


def _load_ask(row: list[Any]) -> BookingAsk:
    nodes, count, gpus, word, labels = row
    generation = None if word is None else HardwareGeneration(word)
    return BookingAsk(tuple(nodes), count, gpus, generation, tuple(labels))

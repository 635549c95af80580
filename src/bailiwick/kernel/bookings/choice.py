"""Which nodes are booked: those that are free for all of that time, and of these the fewest GPUs.

Rules:

- A node counts if nothing that is known reaches into the time: no lease of somebody else, by its
  term and what its teardown may take; no room that is being made for somebody; no window of
  maintenance, from when it closes the node on; no other booking. Nobody ever leaves for a booking.
- A node that a policy closes to the owner for ever does not count, and none whose GPUs his quota
  closes to him (:mod:`.limits`): nobody keeps from others what he cannot use. Which of these is the
  reason that there are too few is told.
- A lease of the owner itself may reach into its booking, and not beyond its end.
- A node that takes no leases counts only if a window of maintenance holds it: it comes back.
- A number of nodes, or of GPUs, is of nodes that have GPUs. One without is booked by name.
- So many nodes: those with the fewest GPUs. So many GPUs: whole nodes with the fewest GPUs beyond
  what was asked, of such choices the one with the fewest nodes. Then by name: the same state gives
  the same nodes.
- If there are too few, it is told how many there are, and the earliest time from which on there
  would be enough by what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.commands import BOOKED_NODES_MAX, BookingAsk
from bailiwick.kernel.bookings.limits import (
    BookedAmounts,
    BookedBeside,
    QuotaShort,
    beyond_quota,
    booked_beside,
    closed_by_quota,
    counted_of,
    room_left,
)
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import labels_from
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import is_confirmed
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration

FOREVER_MS: Final = 2**62


class BarredSpan(NamedTuple):
    """Times at which a booking cannot begin: after the first, and before the second."""

    after_ms: int
    before_ms: int


class Candidate(NamedTuple):
    """A node that is suitable, if it is free."""

    node: str
    weight: int
    """What it counts for: its suitable GPUs, or one."""
    gpus: int
    barred: tuple[BarredSpan, ...]
    counter: Mapping[HardwareGeneration, int] = MappingProxyType({})
    """All its GPUs."""
    is_closed: bool = False
    """Whether a policy closes it to the owner for ever."""

    def is_free(self, starts_ms: int) -> bool:
        """Whether a booking can begin then."""
        return not any(after < starts_ms < before for after, before in self.barred)


@dataclass(frozen=True, slots=True)
class BookingChoice:
    """The nodes of a booking, or how far there are too few."""

    nodes: tuple[str, ...]
    """By name; none if there are too few."""
    wanted: int
    found: int
    """Nodes or GPUs, as they were asked for: how many are free then."""
    suitable: int
    """How many there are at all."""
    earliest_ms: int | None
    """From when on there would be enough, if not then."""
    above: QuotaShort | None = None
    """The limit of the owner's own quota for which there are none."""
    closed: int = 0
    """Beside those that are suitable: how many a policy closes to the owner for ever."""
    is_split: bool = False
    """Whether there would be enough GPUs, and they are on more nodes than one booking may have."""


def choose(
    state: State,
    ask: BookingAsk,
    *,
    owner: Owner,
    during: tuple[int, int],
    instead_of: Booking | None = None,
    without: Collection[str] = (),
) -> BookingChoice:
    """The nodes that a booking of this owner would get.

    ``instead_of`` is a booking which would have them beside those that it does not lack, and
    ``without`` are keys of bookings that would be off by then.
    """
    starts_ms, ends_ms = during
    gone = (*without, *(() if instead_of is None else (instead_of.key,)))
    kept = () if instead_of is None else _kept(state, instead_of)
    beside = booked_beside(state, owner=owner, during=during, without=gone, kept=kept)
    wanted = ask.gpus or ask.count or len(ask.nodes)
    above = beyond_quota(_least(state, ask), beside)
    if above is not None:
        return BookingChoice((), wanted, 0, 0, None, above)
    length_ms = ends_ms - starts_ms
    every = list(_candidates(state, ask, owner=owner, length_ms=length_ms, without=without))
    opens = [each for each in every if not each.is_closed]
    there = [each for each in opens if ask.nodes or not closed_by_quota(each.counter, beside)]
    free = [each for each in there if each.is_free(starts_ms)]
    nodes, above = _chosen_within(state, ask, free, beside=beside)
    found = BookingChoice(
        nodes,
        wanted,
        _weight(free),
        _weight(there),
        None if nodes else earliest(there, wanted, from_ms=starts_ms),
        above,
        closed=_weight(every) - _weight(opens),
        is_split=not (nodes or above) and _weight(free) >= wanted,
    )
    if found.suitable < wanted <= _weight(opens):
        closing = (closed_by_quota(each.counter, beside) for each in opens)
        above = min(filter(None, closing), key=lambda each: (each.requested, each.generation))
        return replace(found, above=above)
    return found


def _weight(nodes: Sequence[Candidate]) -> int:
    return sum(each.weight for each in nodes)


def _chosen_within(
    state: State, ask: BookingAsk, free: Sequence[Candidate], *, beside: Sequence[BookedBeside]
) -> tuple[tuple[str, ...], QuotaShort | None]:
    """The best nodes that are within the quota, or the limit that the best of all are above."""
    best = _chosen(ask, free)
    above = beyond_quota(counted_of(state, best), beside)
    if above is None:
        return best, None
    others = () if ask.nodes else _chosen(ask, _within(free, beside))
    if others and beyond_quota(counted_of(state, others), beside) is None:
        return others, None
    return (), above


def _within(free: Sequence[Candidate], beside: Sequence[BookedBeside]) -> list[Candidate]:
    """Of a generation that quota limits, no more than fit; the smallest nodes first."""
    room = room_left({each for one in free for each in one.counter}, beside)
    if not room:
        return list(free)
    found = []
    for each in sorted(free, key=lambda one: (one.weight, one.gpus, one.node)):
        if all(count <= room.get(generation, count) for generation, count in each.counter.items()):
            found.append(each)
            for generation in room:
                room[generation] -= each.counter.get(generation, 0)
    return found


def _least(state: State, ask: BookingAsk) -> BookedAmounts:
    """The least that quota would count, whichever nodes are chosen."""
    if ask.nodes:
        return counted_of(state, ask.nodes)
    labels = labels_from(ask.labels)
    sizes = (
        (_suitable(ask, entry), len(entry.capacity.gpus))
        for entry in state.ledger.entries.values()
        if _suitable(ask, entry) and entry.has_labels(labels)
    )
    least, gpus = ask.gpus, ask.gpus
    if ask.count:
        found = list(sizes)
        least = sum(sorted(each for each, _ in found)[: ask.count])
        gpus = sum(sorted(each for _, each in found)[: ask.count])
    by_generation = Counter[HardwareGeneration]()
    if ask.generation is not None:
        by_generation[ask.generation] = least
    return BookedAmounts(gpus, by_generation)


def _kept(state: State, booking: Booking) -> list[str]:
    lost = lost_nodes(state, booking)
    return [node for node in booking.nodes if node not in lost]


def _chosen(ask: BookingAsk, free: Sequence[Candidate]) -> tuple[str, ...]:
    by_size = sorted(free, key=lambda each: (each.weight, each.gpus, each.node))
    if ask.gpus:
        sizes = Counter(each.weight for each in free)
        taken = least_beyond(sizes, ask.gpus, most=BOOKED_NODES_MAX)
        picked = []
        for each in by_size if taken else ():
            if taken[each.weight]:
                taken[each.weight] -= 1
                picked.append(each.node)
        return tuple(sorted(picked))
    wanted = ask.count or len(ask.nodes)
    by_size.sort(key=lambda each: (each.gpus, each.node))
    return tuple(sorted(each.node for each in by_size[:wanted])) if len(free) >= wanted else ()


def least_beyond(sizes: Counter[int], wanted: int, *, most: int) -> Counter[int]:
    """How many of each size add up to at least so much, and as little more as can be.

    Of such sums the one of the fewest parts, which are at most so many; nothing if there is none.

    >>> least_beyond(Counter({8: 2, 4: 1, 1: 3}), 10, most=9)
    Counter({1: 2, 8: 1})
    """
    limit = wanted + max(sizes, default=0)
    parts = [(size, n) for size, count in sorted(sizes.items()) for n in _doubling(count)]
    best: list[int] = [0] + [most + 1] * limit
    taken = [bytearray(limit + 1) for _ in parts]
    reach = 0
    for index, (size, n) in enumerate(parts):
        reach = min(reach + size * n, limit)
        for total in range(reach, size * n - 1, -1):
            fewer = best[total - size * n] + n
            if fewer < best[total]:
                best[total], taken[index][total] = fewer, 1
    total = next((each for each in range(wanted, limit + 1) if best[each] <= most), 0)
    found = Counter[int]()
    for index in range(len(parts) - 1, -1, -1):
        if taken[index][total]:
            size, n = parts[index]
            found[size] += n
            total -= size * n
    return found


def _doubling(count: int) -> Iterator[int]:
    """Numbers of which some add up to each number that is not larger: 1, 2, 4, and the rest."""
    step = 1
    while count > 0:
        yield min(step, count)
        count, step = count - step, 2 * step


def earliest(there: Sequence[Candidate], wanted: int, *, from_ms: int) -> int | None:
    """The first time, from one on, at which so much could be booked."""
    steps = Counter[int]()
    for each in there:
        for first, last in _merged(each.barred, from_ms):
            steps[first] -= each.weight
            steps[last + 1] += each.weight
    free = sum(each.weight for each in there)
    if free < wanted:
        return None
    for at_ms in sorted({from_ms, *steps}):
        free += steps[at_ms]
        if free >= wanted and at_ms < FOREVER_MS:
            return at_ms
    return None


def _merged(barred: Sequence[BarredSpan], from_ms: int) -> list[tuple[int, int]]:
    """The barred times from one on, first and last, none twice."""
    found: list[tuple[int, int]] = []
    for after_ms, before_ms in sorted(barred):
        first, last = max(after_ms + 1, from_ms), before_ms - 1
        if found:
            first = max(first, found[-1][1] + 1)
        if first <= last:
            found.append((first, last))
    return found


# -- what is known of nodes --------------------------------------------------------------------


def _candidates(
    state: State, ask: BookingAsk, *, owner: Owner, length_ms: int, without: Collection[str]
) -> Iterator[Candidate]:
    entries, labels = state.ledger.entries, labels_from(ask.labels)
    claimed = {seat.node for claim in state.claims.values() for seat in claim.seats}
    forbidden = _forbidden_to(state, owner)
    for name in ask.nodes or entries:
        entry = state.ledger.entry(name)
        suitable = _suitable(ask, entry)
        if not ask.nodes and not (suitable and entry.has_labels(labels)):
            continue
        node = str(name)
        if not comes_back(state, entry) or node in claimed:
            continue
        weight = suitable if ask.gpus else 1
        spans = barred_by(state, node, owner=owner, length_ms=length_ms, without=without)
        barred = tuple(spans)
        counter = Counter(gpu.generation for gpu in entry.capacity.gpus)
        yield Candidate(node, weight, counter.total(), barred, counter, forbidden(entry))


def _forbidden_to(state: State, owner: Owner) -> Callable[[NodeEntry], bool]:
    """Whether a policy closes a node for ever to work of this owner that has no labels."""
    tenant, project = TenantId(str(owner.tenant)), ProjectId(str(owner.project))
    asks = PlacementRequest(tenant=tenant, project=project, cpu_cores=1)
    found = (policy.nodes_ever(asks) for policy in state.guards.policies)
    opens = [nodes for nodes in found if nodes is not None]
    return lambda entry: any(entry.handle not in nodes for nodes in opens)


def still_wanted(state: State, booking: Booking) -> BookingAsk | None:
    """What a booking that has not begun lacks, since nodes of it will not be there for it.

    Nothing if it has all that it asked for. Nodes that were asked for by name have no others.
    """
    ask, lost = booking.ask, lost_nodes(state, booking)
    good = [state.ledger.entry(node) for node in booking.nodes if node not in lost]
    if ask.nodes or (ask.count and not lost):
        return None
    if ask.count:
        return replace(ask, count=len(lost))
    lacks = ask.gpus - sum(_suitable(ask, each) for each in good)
    return replace(ask, gpus=lacks) if lacks > 0 else None


def lost_nodes(state: State, booking: Booking) -> tuple[str, ...]:
    """The nodes of a booking that are gone, take no work, or are maintained while it is on.

    So is a machine that came back without any GPU that was asked for.
    """
    return tuple(node for node in booking.nodes if not _serves(state, booking, node))


def _serves(state: State, booking: Booking, node: str) -> bool:
    if node not in state.ledger:
        return False
    entry, ask = state.ledger.entry(node), booking.ask
    if not comes_back(state, entry) or not (ask.nodes or _suitable(ask, entry)):
        return False
    windows = state.maintenance.windows_of(node)
    return not any(booking.overlaps(each.closes_ms, each.ends_ms) for each in windows)


def _suitable(ask: BookingAsk, entry: NodeEntry) -> int:
    """How many of its GPUs are of the generation that was asked for."""
    gpus = entry.capacity.gpus
    if ask.generation is None:
        return len(gpus)
    return sum(gpu.generation is ask.generation for gpu in gpus)


def comes_back(state: State, entry: NodeEntry) -> bool:
    """Whether the node takes leases, or will when the maintenance that holds it is over."""
    if entry.takes_leases:
        return True
    return entry.id in state.maintenance.held and not (entry.quarantined or entry.gated)


def barred_by(
    state: State, node: str, *, owner: Owner, length_ms: int, without: Collection[str] = ()
) -> Iterator[BarredSpan]:
    """When no booking of such a length can begin on a node."""
    for lease_id in state.leases_on(node):
        ends_ms = _gone_by(state, lease_id)
        own = state.owner_of(lease_id) == owner and ends_ms < FOREVER_MS
        yield BarredSpan(-1, ends_ms - length_ms if own else ends_ms)
    for window in state.maintenance.windows_of(node):
        yield BarredSpan(window.closes_ms - length_ms, window.ends_ms)
    for booking in state.bookings.bookings_of(node):
        if booking.key in without:
            continue
        yield BarredSpan(booking.starts_ms - length_ms, booking.ends_ms)


def _gone_by(state: State, lease_id: int) -> int:
    """When a lease's room is free at the latest; one that may get its old term back has that."""
    if lease_id in state.fenced:
        return FOREVER_MS
    ends_ms = max(state.fields(lease_id).expires_ms, state.terms.get(lease_id, 0))
    return ends_ms + (state.settings.teardown_ms if is_confirmed(state, lease_id) else 0)

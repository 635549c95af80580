"""Which nodes are booked: those that are free for all of that time, and of these the fewest GPUs.

Rules:

- Which nodes count, and when each is free, is said in :mod:`.candidates`.
- A node that a policy closes to the owner for ever does not count, and none whose GPUs his quota
  closes to him (:mod:`.limits`): nobody keeps from others what he cannot use. Which of these is the
  reason that there are too few is told.
- So many nodes: those with the fewest GPUs. So many GPUs: whole nodes with the fewest GPUs beyond
  what was asked, of such choices the one with the fewest nodes. Then by name: the same state gives
  the same nodes.
- Where these would be above the quota, others are looked for: no more of a limited generation than
  fit, and first of all nodes that count already, because the owner has booked them nearby.
- If there are too few, it is told how many there are, and the earliest time from which on there
  would be enough by what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.candidates import (
    FOREVER_MS,
    BarredSpan,
    Candidate,
    GpuCounts,
    candidates,
    lost_nodes,
)
from bailiwick.kernel.bookings.commands import BOOKED_NODES_MAX, BookingAsk
from bailiwick.kernel.bookings.limits import (
    BookedAmounts,
    BookedAtOnce,
    BookedBeside,
    QuotaShort,
    beyond_quota,
    beyond_with,
    booked_beside,
    closed_by_quota,
    counted_of,
    room_left,
    times_counted,
)
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import labels_from
from bailiwick.kernel.state import State
from bailiwick.vocab.words import HardwareGeneration


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
    starts_ms, _ = during
    gone = (*without, *(() if instead_of is None else (instead_of.key,)))
    kept = () if instead_of is None else _kept(state, instead_of)
    beside = booked_beside(state, owner=owner, during=during, without=gone, kept=kept)
    wanted = ask.gpus or ask.count or len(ask.nodes)
    above = beyond_quota(_least(state, ask), beside)
    if above is not None:
        return BookingChoice((), wanted, 0, 0, None, above)
    every = list(candidates(state, ask, owner=owner, during=during, without=without))
    opens = [each for each in every if not each.is_closed]
    is_any = bool(ask.nodes) or not any(each.listed for each in beside)
    there = [each for each in opens if is_any or not closed_by_quota(each.counter, beside)]
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
    above = beyond_with(state, best, beside=beside)
    if above is None:
        return best, None
    for others in () if ask.nodes else _thrifty(ask, free, beside=beside):
        if others and beyond_with(state, others, beside=beside) is None:
            return others, None
    return (), above


def _thrifty(
    ask: BookingAsk, free: Sequence[Candidate], *, beside: Sequence[BookedBeside]
) -> Iterator[tuple[str, ...]]:
    """Choices that cost less of the quota than the best."""
    known = times_counted(beside)
    fit = _within(free, beside, known=known)
    yield _chosen(ask, fit)
    for there in (free, fit) if known else ():
        yield _with_known(ask, there, known=known)


def _with_known(ask: BookingAsk, free: Sequence[Candidate], known: Counter[str]) -> tuple[str, ...]:
    """Those first that count already; only what they lack is chosen of the others."""
    counted = [each for each in free if known[each.node]]
    others = [each for each in free if not known[each.node]]
    counted.sort(key=lambda each: (-known[each.node], each.gpus, each.node))
    if ask.count:
        taken, lacks = counted[: ask.count], replace(ask, count=max(ask.count - len(counted), 1))
        is_enough = len(counted) >= ask.count
    else:
        taken, lacks = counted, replace(ask, gpus=max(ask.gpus - _weight(counted), 1))
        is_enough = _weight(counted) >= ask.gpus
    if is_enough:
        return tuple(sorted(each.node for each in taken)) if ask.count else _chosen(ask, taken)
    more = _chosen(lacks, others)
    nodes = tuple(sorted((*(each.node for each in taken), *more)))
    return nodes if more and len(nodes) <= BOOKED_NODES_MAX else ()


def _within(
    free: Sequence[Candidate], beside: Sequence[BookedBeside], *, known: Counter[str]
) -> list[Candidate]:
    """Of a generation that quota limits, no more than fit; the smallest nodes first."""
    room = room_left({each for one in free for each in one.counter}, beside)
    if not room:
        return list(free)
    found = []
    for each in sorted(free, key=lambda one: (one.weight, one.gpus, one.node)):
        if known[each.node]:
            found.append(each)
        elif all(n <= room.get(generation, n) for generation, n in each.counter.items()):
            found.append(each)
            for generation in room:
                room[generation] -= each.counter.get(generation, 0)
    return found


def _least(state: State, ask: BookingAsk) -> Callable[[BookedAtOnce], BookedAmounts]:
    """The least that quota would count beside what counts already, whichever nodes are chosen."""
    if ask.nodes:
        return lambda booked: counted_of(state, set(ask.nodes) - booked.nodes)
    sizes = list[tuple[int, int, str]]()

    def least(booked: BookedAtOnce) -> BookedAmounts:
        if not sizes:
            sizes.extend(_sizes(state, ask))
        own = [each for each in sizes if each[2] in booked.nodes]
        fewest = gpus = max(ask.gpus - sum(weight for weight, _, _ in own), 0)
        if ask.count:
            others = [each for each in sizes if each[2] not in booked.nodes]
            lacks = max(ask.count - len(own), 0)
            fewest = sum(sorted(weight for weight, _, _ in others)[:lacks])
            gpus = sum(sorted(count for _, count, _ in others)[:lacks])
        by_generation = Counter[HardwareGeneration]()
        if ask.generation is not None:
            by_generation[ask.generation] = fewest
        return BookedAmounts(gpus, by_generation)

    return least


def _sizes(state: State, ask: BookingAsk) -> Iterator[tuple[int, int, str]]:
    """Of each node that is suitable: how many of its GPUs are, how many it has, and its name."""
    labels, gpus = labels_from(ask.labels), GpuCounts(ask)
    for name, entry in state.ledger.entries.items():
        suitable, total, _ = gpus.of(entry)
        if suitable and entry.has_labels(labels):
            yield suitable, total, str(name)


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

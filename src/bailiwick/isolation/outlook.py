"""When a node that rules close now opens to a class, if all who are there leave when they say.

Rules:

- A node opens when everybody has left who keeps it closed: whom somebody of the class may not meet;
  of those who are too many, the first to leave; and when what was left behind is over.
- Who will leave something behind keeps it closed already, until that is over: it may leave sooner,
  and what it leaves counts from then.
- Somebody who comes then is judged as :mod:`.judge` does, but for the time of day: it may come
  later than it could, so every window counts as open, and an exception only if it lasts for a day
  more than the term.
- A node is open if all of it is: which part will be free is not known.
- Others who are expected count from when they come. Who is gone, with all it leaves, before they
  come is in nobody's way.
- Only so much work is looked at in one look. Beyond that, and where no end is known, it is not
  known when a node opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.compiled import LimitRule, SubjectClass, Term
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.policy import Linger
from bailiwick.isolation.terrain import UNKNOWN_PARTS, HeldParts, SettledWork

WORK_MAX = 8192
"""Work that is looked at in one look."""

ROUNDS_MAX = 16
"""Times that are tried until one is in the term that it was reckoned for."""

MARGIN_MS = 24 * 60 * 60 * 1000
"""By how much later than it could somebody may come, and find the same exceptions."""

NEVER_MS = 2**62
"""After any time: nobody knows when."""

Ends: TypeAlias = Callable[[int], Iterable[tuple[int, int]]]
"""The work on a node, by its keys, with when it ends (:data:`NEVER_MS` if nobody knows)."""


class Newcomer(NamedTuple):
    """Who is to come: its class, for how long, and whether it takes devices."""

    member: SubjectClass
    ttl_ms: int
    devices: bool


class Stay(NamedTuple):
    """Work that is somewhere from one time to another."""

    work: SettledWork
    from_ms: int
    until_ms: int


class Outlook:
    """One look ahead, while nothing changes."""

    def __init__(self, ground: Ground, ends: Ends) -> None:
        self._ground, self._compiled, self._ends = ground, ground.compiled, ends
        self._stays: dict[int, list[Stay]] = {}
        self._left = WORK_MAX
        self._apart: dict[tuple[SubjectClass, SubjectClass, Term], frozenset[DomainKind]] = {}
        self._residues: dict[tuple[DomainKind, str], list[tuple[int, int]]] | None = None

    def forget(self) -> None:
        """Something came or went; how much may be looked at in all stays the same."""
        self._stays.clear()
        self._residues = None

    def stay(self, who: Newcomer, handle: int, *, from_ms: int, for_good: bool = False) -> Stay:
        """Somebody who is expected there, with any part of the node."""
        parts = UNKNOWN_PARTS if who.devices else HeldParts(())
        work = self._ground.settled(who.member, handle, parts=parts, runs=True)
        return Stay(work, from_ms, NEVER_MS if for_good else from_ms + who.ttl_ms)

    def term(self, from_ms: int, until_ms: int) -> Term:
        """What counts for one who comes then, or somewhat later."""
        return self._compiled.term(from_ms, until_ms + MARGIN_MS)._replace(windows=-1)

    def tail_ms(self, member: SubjectClass) -> int:
        """For how long after its end something is left behind by the class."""
        spans = (_span(each) for each in self._compiled.lingers if member.selected & each.whose)
        return max(spans, default=0)

    # -- when --------------------------------------------------------------------------------

    def opens(
        self, who: Newcomer, handle: int, *, from_ms: int, others: Sequence[Stay] = ()
    ) -> int:
        """The first time known, from then on, at which the node is open; never, if none is."""
        at_ms = from_ms
        for _ in range(ROUNDS_MAX):
            later_ms = max(self._until(who, handle, at_ms=at_ms, others=others), at_ms)
            if later_ms == at_ms or later_ms >= NEVER_MS:
                return later_ms
            at_ms = later_ms
        return NEVER_MS

    def _until(self, who: Newcomer, handle: int, *, at_ms: int, others: Sequence[Stay]) -> int:
        """When all have left who, at this time, are in the way."""
        term = self.term(at_ms, at_ms + who.ttl_ms)
        meeting = [other for other in others if self._meets(who, handle, other, at_ms=at_ms)]
        found = [self._until_left(who, handle)]
        for kind, presence in self._ground.bound_by(who.member.selected).kinds.items():
            if not who.devices and kind is DomainKind.FABRIC:
                continue
            zone = kind, self._ground.terrain.zone(kind, handle)
            closed = presence.closed(who.member, term, everyone=self._ground.everyone)
            there = self._in(kind, handle) if closed >> handle & 1 else ()
            for stay in there:
                if stay.until_ms > at_ms and self._is_closed_by(who, stay, zone=zone, term=term):
                    found.append(stay.until_ms)
            for stay in meeting:
                strict = _strictest(term, self._term_of(stay))
                if self._is_closed_by(who, stay, zone=zone, term=strict):
                    found.append(stay.until_ms)
        found += self._until_fewer(who, handle, at_ms=at_ms, others=meeting)
        found += self._until_scrubbed(who, handle, others=meeting)
        return max(found)

    def _meets(self, who: Newcomer, handle: int, other: Stay, *, at_ms: int) -> bool:
        """Whether somebody who comes at this time, or what it leaves, is there with the other."""
        if at_ms >= other.until_ms + self._tail_to(other.work, who.member):
            return False
        mine = self.stay(who, handle, from_ms=at_ms)
        return mine.until_ms + self._tail_to(mine.work, other.work.member) > other.from_ms

    def _tail_to(self, work: SettledWork, member: SubjectClass) -> int:
        """For how long after its end what work leaves is in the way of the class."""
        rules = (self._compiled.lingers[number] for number, _, _ in work.kept)
        return max((_span(each) for each in rules if not member.selected & each.whose), default=0)

    def _term_of(self, stay: Stay) -> Term:
        if stay.until_ms >= NEVER_MS:
            return Term(0, -1)  # it is one's own gang, and comes when one does
        return self.term(stay.from_ms, stay.until_ms)

    def _is_closed_by(
        self, who: Newcomer, stay: Stay, *, zone: tuple[DomainKind, int | str], term: Term
    ) -> bool:
        """Whether the work is in the zone, and one whom the newcomer may not meet there."""
        return zone in stay.work.zones and zone[0] in self._apart_in(
            who.member, stay.work.member, term
        )

    def _apart_in(self, one: SubjectClass, two: SubjectClass, term: Term) -> frozenset[DomainKind]:
        found = self._apart.get((one, two, term))
        if found is None:
            apart = self._compiled.apart(one, two, term=term)
            found = self._apart[one, two, term] = frozenset(kind for _, kind in apart)
        return found

    def _until_fewer(
        self, who: Newcomer, handle: int, *, at_ms: int, others: Sequence[Stay]
    ) -> Iterator[int]:
        """When no domain of the node is full."""
        term = self.term(at_ms, at_ms + who.ttl_ms)
        for other in others:
            term = _strictest(term, self._term_of(other))
        for number in self._ground.bound_by(who.member.selected).spreads:
            crowd = self._ground.crowds[number]
            kind, most = crowd.each.rule.kind, crowd.each.rule.most
            if not crowd.binds(who.member.selected, term, devices=who.devices):
                continue
            for name in self._ground.terrain.on(handle, kind):
                if crowd.counts.get(name, 0) + len(others) < most:
                    continue
                ends = sorted(self._counted(number, name, at_ms=at_ms, others=others))
                if len(ends) >= most:
                    yield ends[len(ends) - most] if most else NEVER_MS

    def _counted(
        self, number: int, name: str, *, at_ms: int, others: Sequence[Stay]
    ) -> Iterator[int]:
        """The ends of those that a rule about how many counts in a domain after some time."""
        kind = self._ground.crowds[number].each.rule.kind
        there = (each for at in self._ground.terrain.nodes(kind, name) for each in self._on(at))
        for stay in (*there, *others):
            if stay.until_ms > at_ms and (number, name) in stay.work.domains:
                yield stay.until_ms

    def _until_left(self, who: Newcomer, handle: int) -> int:
        """When what was left behind is over."""
        found = 0
        if not self._ground.residues:
            return found
        for domain in self._domains(who, handle, {e.kind for e in self._ground.residues}):
            for number, until_ms in self._left_in().get(domain, ()):
                if not who.member.selected & self._compiled.lingers[number].whose:
                    found = max(found, until_ms)
        return found

    def _left_in(self) -> dict[tuple[DomainKind, str], list[tuple[int, int]]]:
        if self._residues is None:
            self._residues = {}
            numbers = {each.rule.name: at for at, each in enumerate(self._compiled.lingers)}
            for left in self._ground.residues:
                if left.rule in numbers:
                    until_ms = NEVER_MS if left.until_ms is None else left.until_ms
                    rows = self._residues.setdefault((left.kind, left.domain), [])
                    rows.append((numbers[left.rule], until_ms))
        return self._residues

    def _until_scrubbed(
        self, who: Newcomer, handle: int, *, others: Sequence[Stay]
    ) -> Iterator[int]:
        """When what those who are there will leave behind is over."""
        for number, each in enumerate(self._compiled.lingers):
            if who.member.selected & each.whose:
                continue
            for kind, name in self._domains(who, handle, each.rule.kinds):
                key = number, kind, name
                nodes = self._ground.terrain.nodes(kind, name) if key in self._ground.stays else ()
                there = (stay for at in nodes for stay in self._on(at))
                leaving = (stay for stay in (*there, *others) if key in stay.work.kept)
                yield from (stay.until_ms + _span(each) for stay in leaving)

    def _domains(
        self, who: Newcomer, handle: int, kinds: Iterable[DomainKind]
    ) -> Iterator[tuple[DomainKind, str]]:
        """The domains of the node of these kinds that the newcomer would be in."""
        for kind in kinds:
            if who.devices or kind is not DomainKind.FABRIC:
                for name in self._ground.terrain.on(handle, kind):
                    yield kind, name

    def _in(self, kind: DomainKind, handle: int) -> Iterator[Stay]:
        """The work on nodes that have something of a domain of the node."""
        terrain = self._ground.terrain
        nodes = {at for name in terrain.on(handle, kind) for at in terrain.nodes(kind, name)}
        for at in nodes:
            yield from self._on(at)

    def _on(self, handle: int) -> list[Stay]:
        """The work on a node; if it is too much, somebody who stays for ever."""
        found = self._stays.get(handle)
        if found is None:
            work, rows = self._ground.work, list(self._ends(handle))
            found = [Stay(work[key], 0, end_ms) for key, end_ms in rows if key in work]
            self._stays[handle], self._left = found, self._left - len(rows)
        if self._left < 0:
            return [stay._replace(until_ms=NEVER_MS) for stay in found]
        return found

    # -- members of one gang -----------------------------------------------------------------

    def is_spread(self, who: Newcomer) -> bool:
        """Whether a rule may keep members of one gang from each other."""
        bound, strict = self._ground.bound_by(who.member.selected), Term(-1, 0)
        return bool(bound.spreads) or any(
            presence.meets_itself(who.member.selected, strict) for presence in bound.kinds.values()
        )

    def beside(
        self, who: Newcomer, placed: Sequence[int], *, at_ms: int, others: Sequence[Stay] = ()
    ) -> int:
        """The nodes closed to one more of a gang whose others come to these at that time."""
        term, closed = self.term(at_ms, at_ms + who.ttl_ms), 0
        terrain, bound = self._ground.terrain, self._ground.bound_by(who.member.selected)
        for kind, presence in bound.kinds.items():
            if not who.devices and kind is DomainKind.FABRIC:
                continue
            if presence.meets_itself(who.member.selected, term):
                for name in self._ground.tally(kind, placed):
                    closed |= terrain.bits(kind, name)
        for number in bound.spreads:
            crowd = self._ground.crowds[number]
            if not crowd.binds(who.member.selected, term, devices=who.devices):
                continue
            for name, count in self._ground.tally(crowd.each.rule.kind, placed).items():
                if count + crowd.counts.get(name, 0) + len(others) < crowd.each.rule.most:
                    continue
                there = self._counted(number, name, at_ms=at_ms, others=others)
                if count + sum(1 for _ in there) >= crowd.each.rule.most:
                    closed |= terrain.bits(crowd.each.rule.kind, name)
        return closed

    # -- who comes meanwhile -----------------------------------------------------------------

    def shut(
        self,
        who: Newcomer,
        *,
        members: int,
        seats: Sequence[Stay],
        others: Sequence[Stay] = (),
    ) -> int:
        """The nodes where so many who come now, and stay, would close a seat to who expects it."""
        closed, terrain = 0, self._ground.terrain
        for seat in seats:
            owner, term = seat.work.member, self._term_of(seat)
            kinds = set(self._apart_in(owner, who.member, term))
            if not who.devices or seat.work.parts.devices == ():
                kinds.discard(DomainKind.FABRIC)
            at = seat.work.handle
            domains = [(kind, name) for kind in kinds for name in terrain.on(at, kind)]
            for each in self._compiled.lingers:
                if who.member.selected & each.whose and not owner.selected & each.whose:
                    domains += [(k, name) for k in each.rule.kinds for name in terrain.on(at, k)]
            domains += self._full_with(who, members, seat=seat, expected=(*seats, *others))
            for domain in domains:
                closed |= terrain.bits(*domain)
        return closed

    def _full_with(
        self, who: Newcomer, members: int, *, seat: Stay, expected: Sequence[Stay]
    ) -> Iterator[tuple[DomainKind, str]]:
        """The domains of a seat that would hold too many with the newcomers."""
        term, at_ms = self._term_of(seat), seat.from_ms
        meeting = [e for e in expected if e.from_ms < seat.until_ms and at_ms < e.until_ms]
        for number, name in seat.work.domains:
            crowd = self._ground.crowds[number]
            if not who.member.selected & crowd.each.whose:
                continue
            if crowd.each.binds(seat.work.member.selected, term):
                if crowd.counts.get(name, 0) + len(meeting) + members <= crowd.each.rule.most:
                    continue
                there = self._counted(number, name, at_ms=at_ms, others=meeting)
                if sum(1 for _ in there) + members > crowd.each.rule.most:
                    yield crowd.each.rule.kind, name


def _strictest(one: Term, two: Term) -> Term:
    """All windows of both, and only the exceptions that last over both."""
    return Term(one.windows | two.windows, one.exceptions & two.exceptions)


def _span(each: LimitRule[Linger]) -> int:
    return NEVER_MS if each.rule.for_ms is None else each.rule.for_ms

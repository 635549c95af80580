"""Many sources' events made one story: each once, in its source's order, all of them by time.

Rules:

- Every event goes through :class:`bailiwick.metering.sources.Sources`: repeats are absorbed, what
  came too early waits, the same name with another payload is a finding and does not count.
- The story begins when all was read. Sources are merged by time; so in which order their events
  arrive, and whether one source is read to its end before the next, changes nothing.
- Within one source its own order counts. A time before the one before it is a finding, and is
  taken as that one.
- At the same millisecond what frees comes before what takes, whoever told it: nodes appear, leases
  end, nodes come back; then leases start, nodes close, nodes go. Only what one source tells of the
  same lease or node stays in that source's order then. Where two sources contend, what they tell
  decides who is first. What a source is called never does: with other names the story is the same.
- What still waits when all was read misses events before it: a finding, and no part of the story.

>>> from bailiwick.metering.events import parse_line
>>> def line(sequence: int, at_ms: int, kind: str) -> Sent:
...     told = f'"sequence":{sequence},"at_ms":{at_ms},"kind":"{kind}","node":"n1"'
...     return parse_line(('{"source":"s","epoch":1,' + told + "}").encode(), line=sequence + 1)
>>> log = EventLog()
>>> for sent in (line(1, 9, "node_gone"), line(0, 5, "node_appeared"), line(3, 20, "node_back")):
...     log.add(sent)
>>> [(sent.at_ms, type(sent.event).__name__) for sent in log.story()]
[(5, 'NodeAppeared'), (9, 'NodeGone')]
>>> [(each.word.value, each.wanted, each.line) for each in log.findings]
[('missing_events', 2, 4)]
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush, merge
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeAlias, assert_never

from bailiwick.metering.events import (
    LeaseEnded,
    LeaseStarted,
    MeterEvent,
    NodeAppeared,
    NodeBack,
    NodeGone,
    NodeUnavailable,
    Sent,
)
from bailiwick.metering.report import Finding, ReportFindingWord
from bailiwick.metering.sources import (
    REMEMBERED_LIMIT,
    Conflicting,
    Due,
    Duplicate,
    Fenced,
    Forgotten,
    HeldBack,
    Sources,
    TooFarAhead,
)
from bailiwick.vocab.errors import LimitReached

WAITING_MAX: Final = 65_536
"""How far ahead of its source's next event one is held back; what is further ahead is looked at
again when all was read."""

EVENTS_MAX: Final = 10_000_000
"""All of them are kept until the story is told."""

_RANKS: Final[dict[type[MeterEvent], int]] = {
    NodeAppeared: 0,
    LeaseEnded: 1,
    NodeBack: 2,
    LeaseStarted: 3,
    NodeUnavailable: 4,
    NodeGone: 5,
}

_Subject: TypeAlias = tuple[str, str]
"""Something that events are about, as far as their order matters."""


class EventLog:
    """Events as they come, and then the story that they tell."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.repeated = 0
        """How many events came before, and were absorbed."""
        self._sources = Sources(held_max=WAITING_MAX, remembered_max=REMEMBERED_LIMIT)
        self._waiting: dict[tuple[str, int, int], Sent] = {}
        self._too_early: list[Sent] = []
        self._due: dict[str, list[Sent]] = {}
        self._count = 0

    def add(self, sent: Sent) -> None:
        """Take one event."""
        self._count += 1
        if self._count > EVENTS_MAX:
            raise LimitReached("events in one log", EVENTS_MAX)
        self._take(sent)

    def _take(self, sent: Sent) -> None:
        match self._sources.offer(sent.offered()):
            case Due(events):
                self._waiting[sent.key] = sent
                due = self._due.setdefault(sent.source, [])
                for each in events:
                    due.append(self._waiting.pop((each.source, each.epoch, each.sequence)))
            case HeldBack():
                self.repeated += sent.key in self._waiting
                self._waiting.setdefault(sent.key, sent)
            case TooFarAhead():
                self._too_early.append(sent)
            case Duplicate() | Forgotten():
                self.repeated += 1
            case Conflicting():
                self._find(ReportFindingWord.CONFLICT, sent)
            case Fenced(epoch):
                self._find(ReportFindingWord.FENCED, sent, wanted=epoch)
            case _ as unknown:
                assert_never(unknown)

    def story(self) -> Iterator[Sent]:
        """All events that count, by time; to be asked for once, when all was read."""
        early, self._too_early = self._too_early, []
        for sent in sorted(early, key=lambda sent: sent.key):  # now those before them may be there
            self._take(sent)
        self._waiting |= {sent.key: sent for sent in self._too_early}
        self._tell_missing()
        streams = [self._in_time(self._due[source]) for source in sorted(self._due)]
        return _in_order(merge(*streams, key=attrgetter("at_ms")))

    def _in_time(self, events: Iterable[Sent]) -> Iterator[Sent]:
        clock_ms = 0
        for sent in events:
            if sent.at_ms >= clock_ms:
                clock_ms = sent.at_ms
                yield sent
                continue
            self._find(ReportFindingWord.TIME_WENT_BACK, sent, by_ms=clock_ms - sent.at_ms)
            yield replace(sent, at_ms=clock_ms)

    def _tell_missing(self) -> None:
        """One finding for each run of events that waited in vain, with the number it waited for."""
        before: Sent | None = None
        for _, sent in sorted(self._waiting.items()):
            is_next = (
                before is not None
                and before.key[:2] == sent.key[:2]
                and before.sequence + 1 == sent.sequence
            )
            if not is_next:
                self._find(ReportFindingWord.MISSING_EVENTS, sent, wanted=sent.sequence - 1)
            before = sent

    def _find(
        self, word: ReportFindingWord, sent: Sent, *, by_ms: int = 0, wanted: int = 0
    ) -> None:
        subject = f"{sent.source} {sent.epoch}:{sent.sequence}"
        finding = Finding(
            word, subject, at_ms=sent.at_ms, by_ms=by_ms, wanted=wanted, line=sent.line
        )
        self.findings.append(finding)


# -- the order within an instant -------------------------------------------------------------


def _in_order(events: Iterable[Sent]) -> Iterator[Sent]:
    """Events that rise in time, each instant's in the order in which they take effect."""
    places: dict[str, str] = {}
    """The node that each lease was started on last."""
    for _, instant in groupby(events, key=attrgetter("at_ms")):
        told = list(instant)
        for sent in told if len(told) == 1 else _order_instant(told, places):
            if isinstance(sent.event, LeaseStarted):
                places[sent.event.lease] = sent.event.node
            yield sent


def _order_instant(told: Sequence[Sent], places: dict[str, str]) -> list[Sent]:
    """By rank, and none before what its own source told earlier of the same subject."""
    waits, followers = [0] * len(told), [set[int]() for _ in told]
    last: dict[tuple[str, _Subject], int] = {}
    tales: dict[str, bytes] = {}
    here: dict[str, dict[str, str]] = {}
    """By source, where leases are that it started in this instant."""
    for number, sent in enumerate(told):
        source, event = sent.source, sent.event
        tales[source] = tales.get(source, b"") + sent.payload
        known = ChainMap(here.setdefault(source, {}), places)
        for subject in _subjects(event, known):
            before = last.get((source, subject))
            if before is not None and number not in followers[before]:
                followers[before].add(number)
                waits[number] += 1
            last[source, subject] = number
        if isinstance(event, LeaseStarted):
            here[source][event.lease] = event.node

    def turn(number: int) -> tuple[int, bytes, bytes, int]:
        sent = told[number]
        # The number goes by the source's name: it decides only between tales that are the same.
        return _RANKS[type(sent.event)], sent.payload, tales[sent.source], number

    return [told[number] for number in _by_turn(turn, waits, followers)]


def _by_turn(
    turn: Callable[[int], tuple[int, bytes, bytes, int]],
    waits: list[int],
    followers: Sequence[Iterable[int]],
) -> Iterator[int]:
    """Numbers by their turn, each after all that it waits for."""
    ready = [turn(number) for number, count in enumerate(waits) if not count]
    heapify(ready)
    while ready:
        *_, number = heappop(ready)
        yield number
        for follower in followers[number]:
            waits[follower] -= 1
            if not waits[follower]:
                heappush(ready, turn(follower))


def _subjects(event: MeterEvent, places: Mapping[str, str]) -> tuple[_Subject, ...]:
    """What an event is about: a lease, a node, and the ends of leases on that node.

    A start and another lease's end on the same node have nothing in common: the end goes first.
    """
    match event:
        case NodeAppeared(node=node) | NodeGone(node=node):
            return ("node", node), ("ends", node)
        case NodeBack(node=node) | NodeUnavailable(node=node):
            return (("node", node),)
        case LeaseStarted(lease=lease, node=node):
            return ("lease", lease), ("node", node)
        case LeaseEnded(lease=lease):
            return ("lease", lease), ("ends", places.get(lease, ""))
        case _ as unknown:
            assert_never(unknown)

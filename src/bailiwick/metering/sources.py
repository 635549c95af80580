"""Takes events from many sources, each exactly once and in order, whatever the network does.

Rules:

- An event is named by source, epoch and sequence. An *epoch* is one numbering: it begins at 0 and
  has no gap, and the payload of a number never changes. A source that starts again with its outbox
  goes on in its epoch; one that lost it takes a newer epoch, and sends nothing old under it.
- The first event of a newer epoch begins it. From then on nothing new of an older one counts: what
  is known of it is answered as before, all else is fenced.
- Events are handed out in order and without gaps. One that comes early is held back, within a
  bound, and dropped when its epoch is over: it was never acknowledged.
- One that was handed out before is absorbed. The same name with another payload is a conflict: it
  is reported, never handed out. The payload that came first stands. So many of each source are
  remembered by digest; one so old that it cannot be compared is absorbed too.
- Commit, then acknowledge, in two steps. What :meth:`Sources.offer` hands out is not acknowledged:
  the caller commits what the events did *and* :meth:`Sources.uncommitted` in one transaction, says
  so with :meth:`Sources.commit`, and only then does :meth:`Sources.acknowledged_up_to` move.
- After a crash ``Sources`` is made from the positions that were committed. What was not is as if
  it had never arrived; nobody was told that it had.

Without the two bounds, and with what is held back called early, these are the answers of the
machine-checked aggregator (``proofs/sources.v``), key by key.

>>> sources = Sources()
>>> sources.offer(SourceEvent("node-1", 1, 1, b"stop"))
HeldBack(epoch=1, next_sequence=0)
>>> [event.payload for event in sources.offer(SourceEvent("node-1", 1, 0, b"start")).events]
[b'start', b'stop']
>>> sources.acknowledged_up_to("node-1")
0
>>> sources.commit(sources.uncommitted())
>>> sources.acknowledged_up_to("node-1")
2
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.values import check_amount, check_integer, check_kind, check_name

HELD_MAX: Final = 1_024
"""How far ahead of the next event one may be and still be held back; and how many may wait."""

REMEMBERED_MAX: Final = 256
"""How many events of a source are remembered by digest, to know a repeat from a conflict."""

REMEMBERED_LIMIT: Final = 65_536
"""The most that may be asked for; a position holds all of them."""

SOURCES_MAX: Final = 1_000_000

_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """One event as a source sent it."""

    source: str
    epoch: int
    sequence: int
    payload: bytes

    def __post_init__(self) -> None:
        check_name("source", self.source)
        check_integer("epoch", self.epoch, low=1, high=2**62 - 1)
        check_amount("sequence", self.sequence)
        check_kind("payload", self.payload, bytes)

    @property
    def digest(self) -> bytes:
        """What stands for the payload once it is applied."""
        return sha256(self.payload).digest()


@dataclass(frozen=True, slots=True)
class RememberedEpoch:
    """Digests of the last events of one epoch that were handed out, the first one's number told."""

    epoch: int
    first_sequence: int
    digests: tuple[bytes, ...]

    def __post_init__(self) -> None:
        check_integer("epoch", self.epoch, low=1, high=2**62 - 1)
        check_amount("first_sequence", self.first_sequence)
        if any(len(each) != _DIGEST_BYTES for each in self.digests):
            raise InvalidValue("digests", len(self.digests), f"{_DIGEST_BYTES} bytes each")


@dataclass(frozen=True, slots=True)
class Position:
    """How far one source has come: what is kept with the events' effects, and restored from."""

    source: str
    epoch: int
    next_sequence: int
    remembered: tuple[RememberedEpoch, ...] = ()
    """The oldest epoch first; the last is the current one and ends before ``next_sequence``."""

    def __post_init__(self) -> None:
        check_name("source", self.source)
        check_integer("epoch", self.epoch, low=1, high=2**62 - 1)
        check_integer("next_sequence", self.next_sequence, low=1, high=2**62 - 1)
        count = sum(len(each.digests) for each in self.remembered)
        if count > REMEMBERED_LIMIT:
            raise InvalidValue("remembered", count, f"at most {REMEMBERED_LIMIT} digests")
        epochs = [each.epoch for each in self.remembered]
        if epochs != sorted(set(epochs)):
            raise InvalidValue("remembered", epochs, "each epoch once, the oldest first")
        if self.remembered:
            last = self.remembered[-1]
            end = (last.epoch, last.first_sequence + len(last.digests))
            if end != (self.epoch, self.next_sequence):
                raise InvalidValue("remembered", end, "digests up to the position itself")


# -- what becomes of an event ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Due:
    """These are next, in this order: the event itself, and those held back behind it."""

    events: tuple[SourceEvent, ...]


@dataclass(frozen=True, slots=True)
class HeldBack:
    """It waits for the events before it, this one first."""

    epoch: int
    next_sequence: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """It was handed out before, with this payload."""

    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """It was handed out so long ago that payloads cannot be compared; it is not applied again."""

    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Conflicting:
    """Another payload came before under this name: report it, and never bill this one."""

    epoch: int
    sequence: int
    known: bytes
    offered: bytes


@dataclass(frozen=True, slots=True)
class Fenced:
    """The source has a newer epoch; what an older one still sends does not count."""

    epoch: int


@dataclass(frozen=True, slots=True)
class TooFarAhead:
    """There is no room to hold it back; the source sends it again, after those before it."""

    epoch: int
    next_sequence: int
    limit: int


OfferAnswer: TypeAlias = Due | HeldBack | Duplicate | Forgotten | Conflicting | Fenced | TooFarAhead

_Mark: TypeAlias = tuple[int, int]  # an epoch, and the next number in it


@dataclass(slots=True)
class _Run:
    """What is remembered of one epoch."""

    first_sequence: int
    digests: deque[bytes]


@dataclass(slots=True)
class _Source:
    """Before its first event is handed out, a source is in epoch 0."""

    mark: _Mark = (0, 0)
    committed: _Mark = (0, 0)
    held: dict[_Mark, SourceEvent] = field(default_factory=dict)
    runs: dict[int, _Run] = field(default_factory=dict)
    remembered: int = 0

    def awaited(self, epoch: int) -> int:
        """The number that must come next of this epoch, which is the current one or newer."""
        return self.mark[1] if epoch == self.mark[0] else 0

    def known(self, epoch: int, sequence: int) -> bytes | None:
        """The digest of an event that was handed out, or is held back."""
        if (epoch, sequence) in self.held:
            return self.held[epoch, sequence].digest
        run = self.runs.get(epoch)
        if run is None or not 0 <= sequence - run.first_sequence < len(run.digests):
            return None
        return run.digests[sequence - run.first_sequence]

    def is_forgotten(self, epoch: int, sequence: int) -> bool:
        """Whether it was handed out for sure, though its digest is not there any more."""
        run = self.runs.get(epoch)
        return run is not None and sequence < run.first_sequence

    def hand_out(self, event: SourceEvent, remembered_max: int) -> None:
        """It is next: move on, and remember it."""
        run = self.runs.setdefault(event.epoch, _Run(event.sequence, deque()))
        run.digests.append(event.digest)
        self.remembered += 1
        self.mark = (event.epoch, event.sequence + 1)
        self.forget(remembered_max)

    def forget(self, remembered_max: int) -> None:
        """Let go of the oldest digests beyond the bound."""
        while self.remembered > remembered_max:
            epoch, run = next(iter(self.runs.items()))
            run.digests.popleft()
            run.first_sequence += 1
            self.remembered -= 1
            if not run.digests:
                del self.runs[epoch]


class Sources:
    """All sources, what is held back of each, and how far each may be acknowledged."""

    def __init__(
        self,
        positions: Iterable[Position] = (),
        *,
        held_max: int = HELD_MAX,
        remembered_max: int = REMEMBERED_MAX,
    ) -> None:
        self._held_max = check_integer("held_max", held_max, low=1, high=2**31)
        self._remembered_max = check_integer(
            "remembered_max", remembered_max, low=1, high=REMEMBERED_LIMIT
        )
        self._sources: dict[str, _Source] = {}
        self._moved: dict[str, None] = {}
        for each in positions:
            if each.source in self._sources:
                raise InvalidValue("positions", each.source, "each source once")
            self._sources[each.source] = self._restored(each)

    def _restored(self, position: Position) -> _Source:
        mark = (position.epoch, position.next_sequence)
        found = _Source(mark, mark)
        for each in position.remembered:
            found.runs[each.epoch] = _Run(each.first_sequence, deque(each.digests))
            found.remembered += len(each.digests)
        found.forget(self._remembered_max)
        return found

    def offer(self, event: SourceEvent) -> OfferAnswer:
        """What becomes of an event; only those of :class:`Due` are to be applied, once, now."""
        found = self._sources.get(event.source)
        if found is None:
            if len(self._sources) >= SOURCES_MAX:
                raise LimitReached("metering sources", SOURCES_MAX)
            found = self._sources[event.source] = _Source()
        known = found.known(event.epoch, event.sequence)
        if known is not None and known != event.digest:
            return Conflicting(event.epoch, event.sequence, known, event.digest)
        awaited = found.awaited(event.epoch)
        if (event.epoch, event.sequence) < found.mark:
            return self._answer_old(found, event, is_known=known is not None)
        if event.sequence == awaited:
            return Due(self._release(found, event))
        is_held = known is not None
        has_room = len(found.held) < self._held_max and event.sequence < awaited + self._held_max
        if not is_held and not has_room:
            return TooFarAhead(event.epoch, awaited, self._held_max)
        found.held[event.epoch, event.sequence] = event
        return HeldBack(event.epoch, awaited)

    def _answer_old(
        self, found: _Source, event: SourceEvent, *, is_known: bool
    ) -> Duplicate | Forgotten | Fenced:
        """Of an event before the source's position, that contradicts nothing."""
        if is_known:
            return Duplicate(event.epoch, event.sequence)
        is_current = event.epoch == found.mark[0]
        if is_current or found.is_forgotten(event.epoch, event.sequence):
            return Forgotten(event.epoch, event.sequence)
        return Fenced(found.mark[0])

    def _release(self, found: _Source, event: SourceEvent) -> tuple[SourceEvent, ...]:
        """The event, and the unbroken run of those held back behind it."""
        if event.epoch != found.mark[0]:
            found.held = {key: each for key, each in found.held.items() if key[0] >= event.epoch}
        due = []
        following: SourceEvent | None = event
        while following is not None:  # at most ``held_max`` times and once
            found.hand_out(following, self._remembered_max)
            due.append(following)
            following = found.held.pop(found.mark, None)
        self._moved[event.source] = None
        return tuple(due)

    # -- commit, then acknowledge ------------------------------------------------------------

    def uncommitted(self) -> tuple[Position, ...]:
        """Where the sources stand that moved since the last commit: to be kept with the effects."""
        return tuple(self.position(source) for source in self._moved)

    def position(self, source: str) -> Position:
        """Where one source stands, durable or not."""
        found = self._known(source)
        remembered = tuple(
            RememberedEpoch(epoch, run.first_sequence, tuple(run.digests))
            for epoch, run in found.runs.items()
        )
        return Position(source, *found.mark, remembered)

    def commit(self, positions: Iterable[Position]) -> None:
        """These positions are durable, and so is what the events before them did."""
        for each in positions:
            found = self._known(each.source)
            mark = (each.epoch, each.next_sequence)
            if mark > found.mark:
                raise Conflict("position", each.source, f"{mark} is ahead of {found.mark}")
            # One told late takes nothing back.
            found.committed = max(found.committed, mark)
            if mark == found.mark:
                self._moved.pop(each.source, None)

    def acknowledged_up_to(self, source: str) -> int:
        """Every event of :meth:`epoch_of` the source with a number below this is durable.

        The source may forget them.
        """
        return self._known(source).committed[1]

    def epoch_of(self, source: str) -> int:
        """The epoch that is durably the source's current one; 0 before any is."""
        return self._known(source).committed[0]

    def _known(self, source: str) -> _Source:
        found = self._sources.get(source)
        if found is None or found.mark == (0, 0):
            raise NotFound("metering source", source, hint="none of its events was taken yet")
        return found

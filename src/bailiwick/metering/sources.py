"""Takes events from many sources, each exactly once and in order, whatever the network does.

Rules:

- An event is named by its source and sequence. A source numbers its events 0, 1, 2, ... for as
  long as it exists, restarts among it; the payload of a number never changes.
- Each start of a source is an epoch. It begins the epoch first; from then on what an older one
  still sends is fenced. What was held back of the older one is dropped, since it was never
  acknowledged: the source sends it again, or has lost it and uses the numbers for other events.
- Events are handed out in order and without gaps. One that comes early is held back, within a
  bound; one that came before is absorbed.
- The same number with another payload is a conflict: it is reported, never handed out. The payload
  that came first stands.
- Commit, then acknowledge, in two steps. What :meth:`Sources.offer` hands out is not acknowledged:
  the caller commits what the events did *and* :meth:`Sources.uncommitted` in one transaction, says
  so with :meth:`Sources.commit`, and only then does :meth:`Sources.acknowledged_up_to` move.
- After a crash ``Sources`` is made from the positions that were committed. What was not is as if
  it had never arrived; nobody was told that it had.

>>> sources = Sources()
>>> sources.begin("node-1", 1)
Begun(epoch=1, dropped=0)
>>> sources.offer(SourceEvent("node-1", 1, 1, b"stop"))
HeldBack(next_sequence=0)
>>> [event.payload for event in sources.offer(SourceEvent("node-1", 1, 0, b"start")).events]
[b'start', b'stop']
>>> sources.acknowledged_up_to("node-1")
0
>>> sources.commit(sources.uncommitted())
>>> sources.acknowledged_up_to("node-1")
2
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.values import check_amount, check_integer, check_kind, check_name

HELD_MAX: Final = 1_024
"""How far ahead of the next event one may be and still be held back."""

REMEMBERED_MAX: Final = 256
"""How many applied events of a source are remembered by digest, to know a conflict by."""

SOURCES_MAX: Final = 1_000_000


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
class Position:
    """How far one source has come: what is kept with the events' effects, and restored from."""

    source: str
    epoch: int
    next_sequence: int
    remembered: tuple[bytes, ...] = ()
    """Digests of the last events before ``next_sequence``, in order."""

    def __post_init__(self) -> None:
        check_name("source", self.source)
        check_integer("epoch", self.epoch, low=1, high=2**62 - 1)
        check_amount("next_sequence", self.next_sequence)
        if len(self.remembered) > min(self.next_sequence, REMEMBERED_MAX):
            raise InvalidValue(
                "remembered", len(self.remembered), f"at most {REMEMBERED_MAX}, and one per event"
            )


# -- what becomes of an event ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Due:
    """These are next, in this order: the event itself, and those held back behind it."""

    events: tuple[SourceEvent, ...]


@dataclass(frozen=True, slots=True)
class HeldBack:
    """It waits for the events before it."""

    next_sequence: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """It came before, with this payload."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """It came before, so long ago that its payload cannot be compared; it is not applied again."""

    sequence: int
    remembered_from: int


@dataclass(frozen=True, slots=True)
class Conflicting:
    """Another payload came before under this number: report it, and never bill this one."""

    sequence: int
    known: bytes
    offered: bytes


@dataclass(frozen=True, slots=True)
class Fenced:
    """The source has started again since; what this epoch still sends does not count."""

    epoch: int


@dataclass(frozen=True, slots=True)
class NotBegun:
    """The source must begin its epoch first; ``epoch`` is the current one, 0 if there is none."""

    epoch: int


@dataclass(frozen=True, slots=True)
class TooFarAhead:
    """There is no room to hold it back; the source sends it again, after those before it."""

    next_sequence: int
    limit: int


@dataclass(frozen=True, slots=True)
class Begun:
    """The epoch is current; so many events of an older one that waited are dropped."""

    epoch: int
    dropped: int


OfferAnswer: TypeAlias = (
    Due | HeldBack | Duplicate | Forgotten | Conflicting | Fenced | NotBegun | TooFarAhead
)
BeginAnswer: TypeAlias = Begun | Fenced


@dataclass(slots=True)
class _Source:
    epoch: int
    next_sequence: int = 0
    remembered: list[bytes] = field(default_factory=list)
    held: dict[int, SourceEvent] = field(default_factory=dict)
    committed_epoch: int = 0
    committed_sequence: int = 0

    def remember(self, digest: bytes) -> None:
        self.remembered.append(digest)
        if len(self.remembered) >= 2 * REMEMBERED_MAX:  # seldom, since it moves them all
            del self.remembered[:-REMEMBERED_MAX]

    def known(self, sequence: int) -> bytes | None:
        """The digest of an event that came before."""
        if sequence in self.held:
            return self.held[sequence].digest
        back = self.next_sequence - sequence
        is_kept = 0 < back <= min(REMEMBERED_MAX, len(self.remembered))
        return self.remembered[-back] if is_kept else None


class Sources:
    """All sources, what is held back of each, and how far each may be acknowledged."""

    def __init__(self, positions: Iterable[Position] = (), *, held_max: int = HELD_MAX) -> None:
        self._held_max = check_integer("held_max", held_max, low=1, high=2**31)
        self._sources: dict[str, _Source] = {}
        self._moved: dict[str, None] = {}
        for each in positions:
            if each.source in self._sources:
                raise InvalidValue("positions", each.source, "each source once")
            self._sources[each.source] = _Source(
                each.epoch,
                each.next_sequence,
                list(each.remembered),
                committed_epoch=each.epoch,
                committed_sequence=each.next_sequence,
            )

    def begin(self, source: str, epoch: int) -> BeginAnswer:
        """A source has started; where it goes on, :meth:`acknowledged_up_to` says after a commit.

        To begin the current epoch again changes nothing, so the call may be repeated.
        """
        check_name("source", source)
        check_integer("epoch", epoch, low=1, high=2**62 - 1)
        found = self._sources.get(source)
        if found is None:
            if len(self._sources) >= SOURCES_MAX:
                raise LimitReached("metering sources", SOURCES_MAX)
            found = self._sources[source] = _Source(0)
        if epoch < found.epoch:
            return Fenced(found.epoch)
        dropped = 0
        if epoch > found.epoch:
            dropped, found.epoch = len(found.held), epoch
            found.held.clear()
            self._moved[source] = None
        return Begun(epoch, dropped)

    def offer(self, event: SourceEvent) -> OfferAnswer:
        """What becomes of an event; only those of :class:`Due` are to be applied, once, now."""
        found = self._sources.get(event.source)
        if found is None or event.epoch > found.epoch:
            return NotBegun(0 if found is None else found.epoch)
        if event.epoch < found.epoch:
            return Fenced(found.epoch)
        known = found.known(event.sequence)
        if known is not None:
            return _compare(event, known)
        if event.sequence < found.next_sequence:
            kept = min(REMEMBERED_MAX, len(found.remembered))
            return Forgotten(event.sequence, found.next_sequence - kept)
        if event.sequence >= found.next_sequence + self._held_max:
            return TooFarAhead(found.next_sequence, self._held_max)
        found.held[event.sequence] = event
        if event.sequence != found.next_sequence:
            return HeldBack(found.next_sequence)
        return Due(self._release(found, event.source))

    def _release(self, found: _Source, source: str) -> tuple[SourceEvent, ...]:
        """The unbroken run from the next event on."""
        due = []
        while found.next_sequence in found.held:  # at most ``held_max`` times
            event = found.held.pop(found.next_sequence)
            found.remember(event.digest)
            found.next_sequence += 1
            due.append(event)
        self._moved[source] = None
        return tuple(due)

    # -- commit, then acknowledge ------------------------------------------------------------

    def uncommitted(self) -> tuple[Position, ...]:
        """Where the sources stand that moved since the last commit: to be kept with the effects."""
        return tuple(self.position(source) for source in self._moved)

    def position(self, source: str) -> Position:
        """Where one source stands, durable or not."""
        found = self._known(source)
        remembered = tuple(found.remembered[-REMEMBERED_MAX:])
        return Position(source, found.epoch, found.next_sequence, remembered)

    def commit(self, positions: Iterable[Position]) -> None:
        """These positions are durable, and so is what the events before them did."""
        for each in positions:
            found = self._known(each.source)
            mark = (each.epoch, each.next_sequence)
            current = (found.epoch, found.next_sequence)
            if mark > current or each.next_sequence > found.next_sequence:
                raise Conflict("position", each.source, f"{mark} is ahead of {current}")
            if mark < (found.committed_epoch, found.committed_sequence):
                continue  # a later one was committed already
            found.committed_epoch, found.committed_sequence = mark
            if mark == current:
                self._moved.pop(each.source, None)

    def acknowledged_up_to(self, source: str) -> int:
        """Every event of the source with a number below this is durable; it may forget them."""
        return self._known(source).committed_sequence

    def epoch_of(self, source: str) -> int:
        """The epoch that is durably the source's current one; 0 before any is."""
        return self._known(source).committed_epoch

    def _known(self, source: str) -> _Source:
        found = self._sources.get(source)
        if found is None:
            raise NotFound("metering source", source, hint="it has begun no epoch")
        return found


def _compare(event: SourceEvent, known: bytes) -> Duplicate | Conflicting:
    offered = event.digest
    if offered == known:
        return Duplicate(event.sequence)
    return Conflicting(event.sequence, known, offered)

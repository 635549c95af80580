"""What happened to bookings, and to the series by which they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.bookings.commands import BookingAsk
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.bookings import BookingChange, BookingEnd, BookingUse
from bailiwick.vocab.words import HardwareGeneration


@dataclass(frozen=True, slots=True)
class Booked:
    """These nodes are kept for the owner from then to then; ``ask`` is what was asked for."""

    kind: ClassVar = RecordKind.BOOKED
    owner: Owner
    booking: str
    starts_ms: int
    ends_ms: int
    nodes: tuple[str, ...]
    ask: BookingAsk
    wait_ms: int
    text: str = ""
    series: str | None = None
    use: BookingUse = BookingUse.ANY_LEASE

    def body(self) -> Body:
        """All that was booked, and what was asked for where that is not the names themselves."""
        body: Body = {
            "booking": str(self.booking),
            "starts_ms": self.starts_ms,
            "ends_ms": self.ends_ms,
            "nodes": [str(node) for node in self.nodes],
            "wait_ms": self.wait_ms,
        }
        body |= _asked(self.ask)
        if self.text:
            body["text"] = self.text
        if self.series is not None:
            body["series"] = str(self.series)
        if self.use is not BookingUse.ANY_LEASE:  # records from before there was a choice
            body["use"] = self.use.value
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        nodes = tuple(body["nodes"])
        is_named = not (body.get("count") or body.get("gpus"))
        ask = _ask_of(body, nodes if is_named else ())
        times = body["starts_ms"], body["ends_ms"]
        use = BookingUse(body.get("use", BookingUse.ANY_LEASE))
        text, series = body.get("text", ""), body.get("series")
        wait_ms: int = body["wait_ms"]
        return cls(owner, body["booking"], *times, nodes, ask, wait_ms, text, series, use)


@dataclass(frozen=True, slots=True)
class BookingNodesChanged:
    """Nodes are not booked any more, or others are in their place."""

    kind: ClassVar = RecordKind.BOOKING_NODES_CHANGED
    owner: Owner
    booking: str
    cause: BookingChange
    removed: tuple[str, ...]
    added: tuple[str, ...] = ()

    def body(self) -> Body:
        """The booking, why, and both lists."""
        body: Body = {"booking": str(self.booking), "cause": self.cause.value}
        body["removed"] = [str(node) for node in self.removed]
        return body | ({"added": [str(node) for node in self.added]} if self.added else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        lists = tuple(body["removed"]), tuple(body.get("added", ()))
        return cls(owner, body["booking"], BookingChange(body["cause"]), *lists)


@dataclass(frozen=True, slots=True)
class BookingBegun:
    """It is on, and who booked can use it: from here on it counts how long a node is unused."""

    kind: ClassVar = RecordKind.BOOKING_BEGUN
    owner: Owner
    booking: str

    def body(self) -> Body:
        """Its name."""
        return {"booking": str(self.booking)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["booking"])


@dataclass(frozen=True, slots=True)
class BookingEnded:
    """There is no such booking any more, and why."""

    kind: ClassVar = RecordKind.BOOKING_ENDED
    owner: Owner
    booking: str
    cause: BookingEnd

    def body(self) -> Body:
        """The booking and the cause."""
        return {"booking": str(self.booking), "cause": self.cause.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["booking"], BookingEnd(body["cause"]))


@dataclass(frozen=True, slots=True)
class SeriesSet:
    """Bookings are made by this from now on.

    It ``keeps`` what was booked by the one before, where that books the same.
    """

    kind: ClassVar = RecordKind.SERIES_SET
    owner: Owner
    series: str
    rule: str
    ask: BookingAsk
    wait_ms: int | None
    ahead_days: int
    text: str = ""
    keeps: bool = False

    def body(self) -> Body:
        """All that the series says."""
        body: Body = {"series": str(self.series), "rule": self.rule}
        body["ahead_days"] = self.ahead_days
        body |= _asked(self.ask)
        if self.ask.nodes:
            body["nodes"] = [str(node) for node in self.ask.nodes]
        if self.wait_ms is not None:
            body["wait_ms"] = self.wait_ms
        body |= {"text": self.text} if self.text else {}
        return body | ({"keeps": 1} if self.keeps else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        ask = _ask_of(body, tuple(body.get("nodes", ())))
        text, keeps = body.get("text", ""), bool(body.get("keeps", 0))
        more = body.get("wait_ms"), body["ahead_days"], text, keeps
        return cls(owner, body["series"], body["rule"], ask, *more)


@dataclass(frozen=True, slots=True)
class SeriesWithdrawn:
    """Nothing is booked by it any more."""

    kind: ClassVar = RecordKind.SERIES_WITHDRAWN
    owner: Owner
    series: str

    def body(self) -> Body:
        """Its name."""
        return {"series": str(self.series)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["series"])


BookingEvent: TypeAlias = (
    Booked | BookingNodesChanged | BookingBegun | BookingEnded | SeriesSet | SeriesWithdrawn
)


def _asked(ask: BookingAsk) -> Body:
    """What was asked for, but names: those stand among the nodes."""
    body: Body = {}
    if ask.count:
        body["count"] = ask.count
    if ask.gpus:
        body["gpus"] = ask.gpus
    if ask.generation is not None:
        body["gpu_generation"] = ask.generation.value
    if ask.labels:
        body["labels"] = list(ask.labels)
    return body


def _ask_of(body: Fields, nodes: tuple[str, ...]) -> BookingAsk:
    word = body.get("gpu_generation")
    generation = None if word is None else HardwareGeneration(word)
    numbers = body.get("count", 0), body.get("gpus", 0)
    return BookingAsk(nodes, *numbers, generation, tuple(body.get("labels", ())))

"""What happened to windows of maintenance, and to calendars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.maintenance import WindowEnd, WindowPhase


@dataclass(frozen=True, slots=True)
class WindowPlanned(OfFleet):
    """These nodes are maintained from then to then."""

    kind: ClassVar = RecordKind.WINDOW_PLANNED
    window: str
    nodes: tuple[str, ...]
    starts_ms: int
    ends_ms: int
    lead_ms: int
    text: str = ""
    calendar: str | None = None

    def body(self) -> Body:
        """All that was announced."""
        body: Body = {
            "window": str(self.window),
            "nodes": [str(node) for node in self.nodes],
            "starts_ms": self.starts_ms,
            "ends_ms": self.ends_ms,
            "lead_ms": self.lead_ms,
        }
        if self.text:
            body["text"] = self.text
        if self.calendar is not None:
            body["calendar"] = str(self.calendar)
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        times = body["starts_ms"], body["ends_ms"], body["lead_ms"]
        text, calendar = body.get("text", ""), body.get("calendar")
        return cls(body["window"], tuple(body["nodes"]), *times, text, calendar)


@dataclass(frozen=True, slots=True)
class WindowPhaseChanged(OfFleet):
    """A window came further, and these nodes are its own from now until it is over.

    In the same phase as before it has only come to have these nodes, which others had till now.
    """

    kind: ClassVar = RecordKind.WINDOW_PHASE_CHANGED
    window: str
    before: WindowPhase
    after: WindowPhase
    nodes: tuple[str, ...] = ()

    def body(self) -> Body:
        """The window, both phases, and the nodes."""
        body: Body = {"window": str(self.window), "before": self.before.value}
        body["after"] = self.after.value
        return body | ({"nodes": [str(node) for node in self.nodes]} if self.nodes else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        phases = WindowPhase(body["before"]), WindowPhase(body["after"])
        return cls(body["window"], *phases, tuple(body.get("nodes", ())))


@dataclass(frozen=True, slots=True)
class WindowEnded(OfFleet):
    """There is no such window any more, and why."""

    kind: ClassVar = RecordKind.WINDOW_ENDED
    window: str
    cause: WindowEnd

    def body(self) -> Body:
        """The window and the cause."""
        return {"window": str(self.window), "cause": self.cause.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["window"], WindowEnd(body["cause"]))


@dataclass(frozen=True, slots=True)
class CalendarSet(OfFleet):
    """Windows are planned by this from now on.

    It ``keeps`` what was planned by the one before, where that plans the same.
    """

    kind: ClassVar = RecordKind.CALENDAR_SET
    calendar: str
    rule: str
    nodes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    lead_ms: int = 0
    ahead_days: int = 28
    text: str = ""
    keeps: bool = False

    def body(self) -> Body:
        """All that the calendar says."""
        body: Body = {"calendar": str(self.calendar), "rule": self.rule, "lead_ms": self.lead_ms}
        body["ahead_days"] = self.ahead_days
        if self.nodes:
            body["nodes"] = [str(node) for node in self.nodes]
        if self.labels:
            body["labels"] = list(self.labels)
        body |= {"text": self.text} if self.text else {}
        return body | ({"keeps": 1} if self.keeps else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        which = tuple(body.get("nodes", ())), tuple(body.get("labels", ()))
        text, keeps = body.get("text", ""), bool(body.get("keeps", 0))
        more = body["lead_ms"], body["ahead_days"], text, keeps
        return cls(body["calendar"], body["rule"], *which, *more)


@dataclass(frozen=True, slots=True)
class CalendarWithdrawn(OfFleet):
    """Nothing is planned by it any more."""

    kind: ClassVar = RecordKind.CALENDAR_WITHDRAWN
    calendar: str

    def body(self) -> Body:
        """Its name."""
        return {"calendar": str(self.calendar)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["calendar"])


MaintenanceEvent: TypeAlias = (
    WindowPlanned | WindowPhaseChanged | WindowEnded | CalendarSet | CalendarWithdrawn
)

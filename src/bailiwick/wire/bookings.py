"""Bookings on the wire: whole nodes for a project and a time, and series of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.bookings import BookingPhase
from bailiwick.vocab.words import HardwareGeneration
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX, Label, Model, Name, Within

_DAY_MS = 86_400_000
_Text = Annotated[str, Field(max_length=1024)]
_Time = Annotated[int, Within(1, INTEGER_MAX)]
_WaitMs = Annotated[int, Within(0, 31 * _DAY_MS)]


class BookingWish(Model):
    """What is kept: exactly one of nodes by name, how many (``count``), or how many ``gpus``.

    Of a number, ``generation`` and ``labels`` say which nodes count. GPUs are summed over whole
    nodes, so that some more may be kept. A node of which the project holds no GPU (of one without
    any: nothing) for ``wait_ms`` while it is on is given back; 0 keeps it to the end, and without
    it the settings say.
    """

    nodes: Annotated[list[Name], Field(max_length=512)] = Field(default_factory=list)
    count: Annotated[int, Within(0, 512)] = 0
    gpus: Annotated[int, Within(0, 8_192)] = 0
    generation: Annotated[HardwareGeneration, Field(strict=False)] | None = None
    labels: Annotated[list[Label], Field(max_length=16)] = Field(default_factory=list)
    wait_ms: _WaitMs | None = None
    text: _Text = ""


class NewBooking(BookingWish):
    """Nodes to keep from one time to another."""

    booking: Annotated[Name, Field(max_length=48)]
    starts_ms: _Time
    ends_ms: _Time


class ProjectBooking(Model):
    """A booking that is ahead or on.

    ``nodes`` are those that it has now, ``given_back`` those that it had and that nobody used;
    ``asked`` is what was asked for. ``lacking`` is how many of its nodes take no work now.
    ``series`` is the one by which it was made.
    """

    booking: str
    tenant: str
    project: str
    phase: Annotated[BookingPhase, Field(strict=False)]
    starts_ms: int
    ends_ms: int
    nodes: list[str]
    gpu_count: int
    """GPUs of the nodes that it has now."""
    given_back: list[str]
    lacking: int
    series: str | None
    asked: BookingWish


class BookingOutlook(Model):
    """What a booking would keep."""

    nodes: list[str]
    gpu_count: int
    """GPUs of these nodes."""
    wait_ms: int
    """After how long without use a node would be given back; 0: never."""
    waiting: int
    """Requests of others that wait, and whose term is too long to start there before."""


class BookingMade(Done):
    """It is booked; or (dry run) which nodes would be kept."""

    consequence: BookingOutlook | None = None


class SeriesWish(BookingWish):
    """When nodes are booked again and again, in plain words.

    ``ahead_days``: how far ahead.
    """

    rule: Annotated[str, Field(min_length=1, max_length=256)]
    ahead_days: Annotated[int, Within(1, 366)] = 28


class SeriesTimeOutlook(Model):
    """A time of a series that would be set, and what it would get if it were booked now."""

    starts_ms: int
    ends_ms: int
    nodes: list[str]
    """None, if it could not be booked now."""
    why: str = ""
    """Why not."""
    earliest_ms: int | None = None
    """From when on so many nodes would be free for so long, by what is known now."""


class SeriesOutlook(Model):
    """The next times of a series that would be set."""

    times: list[SeriesTimeOutlook]


class SeriesMade(Done):
    """Nodes are booked by it; or (dry run) when it comes next, and what it would get."""

    consequence: SeriesOutlook | None = None


class UnbookedTime(Model):
    """A time of a series that could not be booked yet; it is tried again until it begins."""

    starts_ms: int
    ends_ms: int
    why: str
    earliest_ms: int | None = None
    """From when on so many nodes would be free for so long, by what is known now."""


class ProjectSeries(Model):
    """A series, and the times ahead that were booked by it.

    Those that were cancelled since are among them: they are not booked again.
    """

    series: str
    tenant: str
    project: str
    booked_ms: list[int]
    wish: SeriesWish


class SeriesStanding(ProjectSeries):
    """A series, and what of it could not be booked: the first of those times, and how many more."""

    unbooked: list[UnbookedTime]
    unbooked_more: int = 0
    trouble: str = ""
    """Why its rule cannot be counted out here, if it cannot."""

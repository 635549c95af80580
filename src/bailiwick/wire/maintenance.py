"""Maintenance on the wire: windows, calendars, and what a window would do."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX, Label, Model, Name, Within
from bailiwick.wire.foreseen import LeavingLease

_LeadMs = Annotated[int, Within(0, 7 * 86_400_000)]
_Text = Annotated[str, Field(max_length=1024)]
_Time = Annotated[int, Within(1, INTEGER_MAX)]


class NewWindow(Model):
    """A window of maintenance to announce.

    ``lead_ms`` before ``starts_ms`` the nodes are closed, and what would still run there is warned.
    """

    window: Annotated[Name, Field(max_length=48)]
    nodes: Annotated[list[Name], Field(min_length=1, max_length=512)]
    starts_ms: _Time
    ends_ms: _Time
    lead_ms: _LeadMs = 900_000
    text: _Text = ""


class MaintenanceWindow(Model):
    """A window that is planned or on.

    ``late`` are nodes that are not in maintenance though it has begun: something there is waited
    for. ``calendar`` is the one by which it was planned.
    """

    window: str
    nodes: list[str]
    starts_ms: int
    ends_ms: int
    lead_ms: int
    text: str
    calendar: str | None
    phase: Annotated[WindowPhase, Field(strict=False)]
    late: list[str]


class WindowConsequence(Model):
    """What a window would do to what runs and waits now."""

    leaving: int
    """Leases that would be ended, with members of their gangs that run elsewhere."""
    elsewhere: int
    """Of these, how many run on nodes that are not maintained."""
    staying: int
    """Critical leases there that would be waited for."""
    waiting: int
    """Requests that wait, and whose term is too long to start there before."""
    leases: list[LeavingLease]
    """The first of those that would be ended."""


class WindowSet(Done):
    """A window is announced; or (dry run) what it would do."""

    consequence: WindowConsequence | None = None


class CalendarWish(Model):
    """When windows come back, in plain words, and for which nodes: by name, or by labels.

    ``ahead_days``: how far ahead windows are announced.
    """

    rule: Annotated[str, Field(min_length=1, max_length=256)]
    nodes: Annotated[list[Name], Field(max_length=512)] = Field(default_factory=list)
    labels: Annotated[list[Label], Field(max_length=16)] = Field(default_factory=list)
    lead_ms: _LeadMs = 900_000
    ahead_days: Annotated[int, Within(1, 366)] = 28
    text: _Text = ""


class MaintenanceCalendar(CalendarWish):
    """A calendar, and until when windows were planned by it."""

    calendar: str
    planned_ms: int

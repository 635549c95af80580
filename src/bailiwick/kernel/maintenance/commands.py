"""Commands about maintenance: windows in absolute time, and the calendars that people keep.

Rules:

- A calendar's rule is a text that nobody in here reads. Whoever plans by it says absolute times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.journal.fields import INTEGER_MAX, LABELS, NAMES, TEXT
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AHEAD_DAYS_MAX, check_integer, check_name

DAY_MS: Final = 86_400_000
NODES_MAX: Final = 512
"""Nodes of one window: so many names fit into one record."""

LABELS_MAX: Final = 16
WINDOW_NAME_MAX, CALENDAR_NAME_MAX = 48, 38
"""Characters: a window of a calendar has its name and a date, and a rule has the window's name."""

LENGTH_MAX_MS: Final = 90 * DAY_MS
LEAD_MAX_MS: Final = 7 * DAY_MS
RULE_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class PlanWindow:
    """Announce that nodes are maintained from one time to another.

    ``lead_ms`` before that they are closed, and who is still there is told to go. ``calendar`` is
    the one by which it is planned.
    """

    window: str
    nodes: tuple[str, ...]
    starts_ms: int
    ends_ms: int
    lead_ms: int
    text: str = ""
    calendar: str | None = None

    def __post_init__(self) -> None:
        _check_name("window", self.window, most=WINDOW_NAME_MAX)
        _check_nodes(self.nodes, least=1)
        check_integer("starts_ms", self.starts_ms, low=1, high=INTEGER_MAX)
        low, high = self.starts_ms + 1, min(self.starts_ms + LENGTH_MAX_MS, INTEGER_MAX)
        check_integer("ends_ms", self.ends_ms, low=low, high=high)
        check_integer("lead_ms", self.lead_ms, low=0, high=LEAD_MAX_MS)
        TEXT.check("text", self.text)
        if self.calendar is not None:
            _check_name("calendar", self.calendar, most=CALENDAR_NAME_MAX)


@dataclass(frozen=True, slots=True)
class CancelWindow:
    """There will be no such window; one that is on is over."""

    window: str

    def __post_init__(self) -> None:
        _check_name("window", self.window, most=WINDOW_NAME_MAX)


@dataclass(frozen=True, slots=True)
class SetCalendar:
    """Plan windows by this rule from now on; what was planned by another and is ahead is off.

    Of ``nodes`` and ``labels`` one says which: by name, or all that have the labels then.
    """

    calendar: str
    rule: str
    nodes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    lead_ms: int = 0
    ahead_days: int = 28
    text: str = ""

    def __post_init__(self) -> None:
        _check_name("calendar", self.calendar, most=CALENDAR_NAME_MAX)
        if not isinstance(self.rule, str) or not 0 < len(self.rule) <= RULE_MAX:
            raise InvalidValue("rule", self.rule, f"1 to {RULE_MAX} characters")
        TEXT.check("rule", self.rule)
        _check_nodes(self.nodes, least=0)
        LABELS.check("labels", list(self.labels))
        keys = {each.partition("=")[0] for each in self.labels}
        if len(keys) < len(self.labels) or len(keys) > LABELS_MAX:
            raise InvalidValue("labels", self.labels, f"at most {LABELS_MAX} keys, none twice")
        if bool(self.nodes) is bool(self.labels):
            raise InvalidValue("nodes", self.nodes, "names of nodes, or labels, but not both")
        check_integer("lead_ms", self.lead_ms, low=0, high=LEAD_MAX_MS)
        check_integer("ahead_days", self.ahead_days, low=1, high=AHEAD_DAYS_MAX)
        TEXT.check("text", self.text)


@dataclass(frozen=True, slots=True)
class WithdrawCalendar:
    """Nothing is planned by it any more, and what was and is ahead is off."""

    calendar: str

    def __post_init__(self) -> None:
        _check_name("calendar", self.calendar, most=CALENDAR_NAME_MAX)


MaintenanceCommand: TypeAlias = PlanWindow | CancelWindow | SetCalendar | WithdrawCalendar


def _check_name(field: str, value: object, *, most: int) -> None:
    if len(check_name(field, value)) > most:
        raise InvalidValue(field, value, f"at most {most} characters")


def _check_nodes(nodes: tuple[str, ...], *, least: int) -> None:
    NAMES.check("nodes", list(nodes))
    if not least <= len(nodes) <= NODES_MAX or len({*nodes}) < len(nodes):
        raise InvalidValue("nodes", nodes, f"{least} to {NODES_MAX} nodes, none twice")

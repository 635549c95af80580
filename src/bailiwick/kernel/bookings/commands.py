"""Commands about bookings: nodes in absolute time, and the series that people keep.

Rules:

- What is booked is said in one of three ways: nodes by name, how many nodes, or how many GPUs. Of
  the last two a generation and labels may narrow which nodes count.
- Names of bookings and series are a project's own. Else a name that is taken would tell a stranger
  what others have booked.
- A series' rule is a text that nobody in here reads. Whoever books by it says absolute times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.journal.fields import INTEGER_MAX, LABELS, NAMES, TEXT
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AHEAD_DAYS_MAX, check_integer, check_kind, check_name
from bailiwick.vocab.words import HardwareGeneration

DAY_MS: Final = 86_400_000
BOOKED_NODES_MAX: Final = 512
"""Nodes of one booking: so many names fit into one record."""

BOOKED_GPUS_MAX: Final = 8_192
LABELS_MAX: Final = 16
BOOKING_NAME_MAX, SERIES_NAME_MAX = 48, 38
"""Characters: a booking of a series has its name and a date."""

LENGTH_MIN_MS: Final = 300_000
"""What people may ask for. A shorter booking can be decided on: journals from before hold some."""

LENGTH_MAX_MS: Final = 31 * DAY_MS
RULE_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class BookingAsk:
    """What is to be booked: exactly one of nodes by name, a number of nodes, a number of GPUs."""

    nodes: tuple[str, ...] = ()
    count: int = 0
    gpus: int = 0
    generation: HardwareGeneration | None = None
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        NAMES.check("nodes", list(self.nodes))
        if len(self.nodes) > BOOKED_NODES_MAX or len({*self.nodes}) < len(self.nodes):
            expected = f"at most {BOOKED_NODES_MAX} nodes, none twice"
            raise InvalidValue("nodes", self.nodes, expected)
        check_integer("count", self.count, low=0, high=BOOKED_NODES_MAX)
        check_integer("gpus", self.gpus, low=0, high=BOOKED_GPUS_MAX)
        if sum((bool(self.nodes), bool(self.count), bool(self.gpus))) != 1:
            told = list(self.nodes), self.count, self.gpus
            raise InvalidValue("nodes, count, gpus", told, "exactly one of the three")
        if self.generation is not None:
            check_kind("generation", self.generation, HardwareGeneration)
        LABELS.check("labels", list(self.labels))
        keys = {each.partition("=")[0] for each in self.labels}
        if len(keys) < len(self.labels) or len(keys) > LABELS_MAX:
            raise InvalidValue("labels", self.labels, f"at most {LABELS_MAX} keys, none twice")
        if self.nodes and (self.labels or self.generation is not None):
            expected = "names of nodes alone, or a number with a generation and labels"
            raise InvalidValue("nodes", self.nodes, expected)


@dataclass(frozen=True, slots=True)
class Book:
    """Keep whole nodes for a project from one time to another.

    A node on which the project holds nothing for ``wait_ms`` is given back; 0 keeps it to the end,
    and without a number the settings say. ``series`` is the one by which it is booked.
    """

    booking: str
    tenant: str
    project: str
    starts_ms: int
    ends_ms: int
    nodes: tuple[str, ...] = ()
    count: int = 0
    gpus: int = 0
    generation: HardwareGeneration | None = None
    labels: tuple[str, ...] = ()
    wait_ms: int | None = None
    text: str = ""
    series: str | None = None

    def __post_init__(self) -> None:
        _check_name("booking", self.booking, most=BOOKING_NAME_MAX)
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        check_integer("starts_ms", self.starts_ms, low=1, high=INTEGER_MAX)
        low, high = self.starts_ms + 1, min(self.starts_ms + LENGTH_MAX_MS, INTEGER_MAX)
        check_integer("ends_ms", self.ends_ms, low=low, high=high)
        _check_wait(self.wait_ms)
        TEXT.check("text", self.text)
        if self.series is not None:
            _check_name("series", self.series, most=SERIES_NAME_MAX)
        object.__setattr__(self, "labels", tuple(sorted(self.labels)))
        _ = self.ask

    @property
    def ask(self) -> BookingAsk:
        """What is to be booked."""
        return BookingAsk(self.nodes, self.count, self.gpus, self.generation, self.labels)


@dataclass(frozen=True, slots=True)
class CancelBooking:
    """There will be no such booking; one that is on is over."""

    booking: str
    tenant: str
    project: str

    def __post_init__(self) -> None:
        _check_name("booking", self.booking, most=BOOKING_NAME_MAX)
        check_name("tenant", self.tenant)
        check_name("project", self.project)


@dataclass(frozen=True, slots=True)
class ReplaceBooked:
    """Book others in the place of nodes that are gone, or take no work; before it begins."""

    booking: str
    tenant: str
    project: str

    def __post_init__(self) -> None:
        _check_name("booking", self.booking, most=BOOKING_NAME_MAX)
        check_name("tenant", self.tenant)
        check_name("project", self.project)


@dataclass(frozen=True, slots=True)
class SetSeries:
    """Book by this rule from now on; what was booked by another and is ahead is off."""

    series: str
    rule: str
    tenant: str
    project: str
    nodes: tuple[str, ...] = ()
    count: int = 0
    gpus: int = 0
    generation: HardwareGeneration | None = None
    labels: tuple[str, ...] = ()
    wait_ms: int | None = None
    ahead_days: int = 28
    text: str = ""

    def __post_init__(self) -> None:
        _check_name("series", self.series, most=SERIES_NAME_MAX)
        if not isinstance(self.rule, str) or not 0 < len(self.rule) <= RULE_MAX:
            raise InvalidValue("rule", self.rule, f"1 to {RULE_MAX} characters")
        TEXT.check("rule", self.rule)
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        _check_wait(self.wait_ms)
        check_integer("ahead_days", self.ahead_days, low=1, high=AHEAD_DAYS_MAX)
        TEXT.check("text", self.text)
        object.__setattr__(self, "labels", tuple(sorted(self.labels)))
        _ = self.ask

    @property
    def ask(self) -> BookingAsk:
        """What is to be booked each time."""
        return BookingAsk(self.nodes, self.count, self.gpus, self.generation, self.labels)


@dataclass(frozen=True, slots=True)
class WithdrawSeries:
    """Nothing is booked by it any more, and what was and is ahead is off."""

    series: str
    tenant: str
    project: str

    def __post_init__(self) -> None:
        _check_name("series", self.series, most=SERIES_NAME_MAX)
        check_name("tenant", self.tenant)
        check_name("project", self.project)


BookingCommand: TypeAlias = Book | CancelBooking | ReplaceBooked | SetSeries | WithdrawSeries


def _check_name(field: str, value: object, *, most: int) -> None:
    if len(check_name(field, value)) > most:
        raise InvalidValue(field, value, f"at most {most} characters")


def _check_wait(wait_ms: int | None) -> None:
    if wait_ms is not None:
        check_integer("wait_ms", wait_ms, low=0, high=LENGTH_MAX_MS)

"""What one part of the kernel brings along: commands, rules, and its share of a snapshot.

Rules:

- ``decide`` reads the state and changes nothing; ``apply`` decides nothing.
- A snapshot is loaded in the order of the slices. What must wait until every slice is there (a
  closed node takes no leases, not even those it has) is done by ``settle``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from bailiwick.kernel.commands import Command
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair

Plain: TypeAlias = dict[str, Any]
"""A slice's part of a snapshot, as plain values."""

Decide: TypeAlias = Callable[[State, Any, int], Iterator[Event]]
Apply: TypeAlias = Callable[[State, Any, int], None]
Cause: TypeAlias = Callable[[Any], Command | None]
"""The command that an event answers; ``None`` if it is time that brought it about."""


class TickPart(Protocol):
    """What time brings about: it looks at no more than ``limit`` things."""

    def __call__(self, state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
        """The events that are due."""


def word_of(kind: type) -> str:
    """What a class of commands, events or answers is called on paper.

    >>> from bailiwick.kernel.work.commands import ReportTeardown
    >>> word_of(ReportTeardown)
    'report_teardown'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _nothing(state: State, event: object, at_ms: int) -> None:
    del state, event, at_ms


NOTHING: Apply = _nothing
"""What is only told changes nothing."""


def _settled(state: State, plain: Plain) -> None:
    """Nothing had to wait."""
    del state, plain


def _timeless(plain: Plain, repair: ClockRepair) -> None:
    """No time is kept."""
    del plain, repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One part of the kernel."""

    name: str
    commands: tuple[type, ...]
    decide: Decide
    """The events that follow from one of its commands at a time."""
    apply: Mapping[type, Apply]
    """By event, the state after it."""
    causes: Mapping[type, Cause]
    """By event, the command that it answers. One that is missing can be told from other records
    only (see :mod:`bailiwick.whatif.reader`)."""
    told_only: tuple[type, ...]
    """Events from which no decision about placement follows."""
    dump: Callable[[State], Plain]
    load: Callable[[State, Plain], None]
    settle: Callable[[State, Plain], None] = _settled
    repair: Callable[[Plain, ClockRepair], None] = _timeless
    """Set the times in its part of a snapshot right."""

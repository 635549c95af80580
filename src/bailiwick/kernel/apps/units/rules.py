"""Use that apps tell of: which report counts, and why another does not.

Rules:

- Reports of a source come in order, each once. The same number with the same content does nothing;
  with another content it is refused, as is one that leaves a number out. A refused report does not
  use its number up.
- A report is about a unit that the instance's version names, about time that is over, that is not
  longer ago than :data:`LATE_MS_MAX`, and in which the instance was there.
- Of one series no time is told twice, whoever tells it. A unit is told of the whole instance or by
  component, never both: else the same use could be told on both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bailiwick.kernel.apps.instances import AppInstance, HeldInstance
from bailiwick.kernel.apps.units.book import (
    SERIES_MAX,
    SOURCES_MAX,
    SourceTail,
    ToldUsage,
    UsageClaim,
)
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.apps.units.events import AppUsageReported
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import UsageRefusal
from bailiwick.vocab.errors import InstanceRefused, LimitReached

LATE_MS_MAX: Final = 7 * 86_400_000
"""So long after it something can still be told."""

_WHY = UsageRefusal


def decide(state: State, command: ReportAppUsage, *, now_ms: int) -> Iterator[Event]:
    """The record that follows, or nothing if it is there already."""
    instances, number = state.apps.instances, command.instance_id
    held = instances.get(command.tenant, command.project, instance_id=number)
    tail = held.told.sources.get(command.source, SourceTail())
    if command.sequence <= tail.last:
        _check_same(held.instance, tail, command)
        return
    if command.sequence > tail.last + 1:
        raise InstanceRefused(_WHY.SEQUENCE_GAP, held.instance.name, expected=tail.last + 1)
    units = state.apps.versions[held.instance.app][held.instance.version].manifest.billing_units
    if command.unit not in units:
        raise InstanceRefused(_WHY.UNIT_UNKNOWN, held.instance.name, unit=command.unit)
    _check_time(held.instance, command, now_ms)
    _check_series(held, command.claim)
    _check_room(held.told, command)
    owner = held.instance.owner
    told = number, held.instance.app, command.source, command.sequence, command.claim
    yield AppUsageReported(owner, *told)


def _check_same(instance: AppInstance, tail: SourceTail, command: ReportAppUsage) -> None:
    known = tail.recent.get(command.sequence)
    if known == command.claim:
        return
    why = _WHY.SEQUENCE_FORGOTTEN if known is None else _WHY.SEQUENCE_REUSED
    raise InstanceRefused(why, instance.name, sequence=command.sequence, expected=tail.last + 1)


def _check_time(instance: AppInstance, command: ReportAppUsage, now_ms: int) -> None:
    name = instance.name
    if command.to_ms > now_ms:
        raise InstanceRefused(_WHY.WINDOW_NOT_OVER, name, to_ms=command.to_ms, now_ms=now_ms)
    if command.from_ms < instance.created_ms:
        began = instance.created_ms
        raise InstanceRefused(_WHY.WINDOW_BEFORE_INSTANCE, name, created_ms=began)
    if command.from_ms < now_ms - LATE_MS_MAX:
        oldest = now_ms - LATE_MS_MAX
        raise InstanceRefused(_WHY.WINDOW_TOO_OLD, name, from_ms=command.from_ms, oldest_ms=oldest)


def _check_series(held: HeldInstance, claim: UsageClaim) -> None:
    name, series = held.instance.name, held.told.series
    if claim.component_key is None:
        is_mixed = any(unit == claim.unit and key is not None for unit, key in series)
    else:
        is_mixed = (claim.unit, None) in series
    if is_mixed:
        raise InstanceRefused(_WHY.UNIT_TOLD_OTHERWISE, name, unit=claim.unit)
    known = series.get((claim.unit, claim.component_key))
    if known is not None and claim.from_ms < known.until_ms:
        raise InstanceRefused(_WHY.WINDOW_OVERLAPS, name, told_until_ms=known.until_ms)


def _check_room(told: ToldUsage, command: ReportAppUsage) -> None:
    if command.source not in told.sources and len(told.sources) >= SOURCES_MAX:
        raise LimitReached("sources of an instance's usage", SOURCES_MAX)
    key = command.unit, command.component_key
    if key not in told.series and len(told.series) >= SERIES_MAX:
        raise LimitReached("series of an instance's usage", SERIES_MAX)


def apply(state: State, event: AppUsageReported, at_ms: int) -> None:
    """The book after one more record."""
    del at_ms
    held = state.apps.instances.held[event.instance_id]
    held.told.take(event.source, event.sequence, claim=event.claim)

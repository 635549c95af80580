"""What is used on whose workers of a shared runtime: told once, and worth what was accepted.

Rules:

- A report has all that was used in a time: so the time after it is the only one that is open, and
  nothing is told twice. The same again does nothing; another of a time that was told is refused.
- It is about units of time that the app has, about time that is over, not longer ago than what
  instances may tell, and in which the runtime was there.
- Whether who used had a part, and whether the source held that much, is held against the records of
  that time by the meter, which has them all (:mod:`bailiwick.metering.told.between`).
- What use is worth is off until somebody accepts the digest of the rule that says so. It counts for
  what begins afterwards, and never backwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from bailiwick.apps.shared.billing import digest_of_rule, settled_rule
from bailiwick.kernel.apps.shared import use_events as ev
from bailiwick.kernel.apps.shared.book import (
    WINDOWS_MAX,
    HeldRuntime,
    SharedBook,
    SharedRuntime,
    SharedSettlement,
)
from bailiwick.kernel.apps.shared.policies import stays
from bailiwick.kernel.apps.shared.use_commands import (
    ReportSharedUse,
    SetSharedSettlement,
    mark_of,
)
from bailiwick.kernel.apps.units.rules import LATE_MS_MAX
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.metering.told.bounds import span_of
from bailiwick.vocab.errors import Conflict, SharedRuntimeRefused
from bailiwick.vocab.shared import SharedRefusal, SharedUseRefusal

_WHY = SharedUseRefusal


def report_use(state: State, command: ReportSharedUse, *, now_ms: int) -> Iterator[Event]:
    """The record that follows, or nothing if it is there already."""
    held = state.apps.shared.get(command.tenant, command.runtime)
    r, use = held.runtime, held.use
    if use.recent.get(command.from_ms) == mark_of(command.window, command.rows):
        return
    if command.from_ms < use.told_until_ms:
        until = {"told_until_ms": use.told_until_ms}
        raise SharedRuntimeRefused(_WHY.WINDOW_OVERLAPS, r.name, **until)
    _check_time(r, command, now_ms)
    check_units(state, r, units=command.units)
    for project in sorted({*command.users, *command.sources}):
        # One that was closed meanwhile was there when it used something.
        state.directory.project(command.tenant, project)
    which = r.id, r.name, r.app, r.instance_id
    yield ev.SharedUseTold(r.owner, *which, command.by, command.window, command.rows)


def _check_time(runtime: SharedRuntime, command: ReportSharedUse, now_ms: int) -> None:
    name, oldest = runtime.name, now_ms - LATE_MS_MAX
    if command.to_ms > now_ms:
        told = {"to_ms": command.to_ms, "now_ms": now_ms}
        raise SharedRuntimeRefused(_WHY.WINDOW_NOT_OVER, name, **told)
    if command.from_ms < runtime.created_ms:
        began = {"created_ms": runtime.created_ms}
        raise SharedRuntimeRefused(_WHY.WINDOW_BEFORE_RUNTIME, name, **began)
    if command.from_ms < oldest:
        told = {"from_ms": command.from_ms, "oldest_ms": oldest}
        raise SharedRuntimeRefused(_WHY.WINDOW_TOO_OLD, name, **told)


def check_units(state: State, runtime: SharedRuntime, *, units: Iterable[str]) -> None:
    """Refuse what is no unit of time of the app."""
    instance = state.apps.instances.held[runtime.instance_id].instance
    known = state.apps.version(runtime.app, instance.version).manifest.billing_units
    check_known(runtime.name, units, known=known)


def check_known(name: str, units: Iterable[str], *, known: Collection[str]) -> None:
    """Refuse what is not among these units, or is none of time."""
    for unit in sorted({*units}):
        if unit not in known:
            raise SharedRuntimeRefused(_WHY.UNIT_UNKNOWN, name, unit=unit)
        if span_of(unit) is None:
            raise SharedRuntimeRefused(_WHY.UNIT_NOT_TIME, name, unit=unit)


def rule_with(runtime: SharedRuntime, rates: Mapping[str, int]) -> str:
    """The rule that the runtime would have with these rates."""
    return settled_rule(runtime.billing_rule, rates)


def set_settlement(state: State, command: SetSharedSettlement) -> Iterator[Event]:
    """What use of another's workers is worth from now on."""
    held = stays(state, command.tenant, name=command.runtime)
    r = held.runtime
    check_units(state, r, units=command.rates)
    if (held.settlement.rates if held.settlement else {}) == command.rates:
        raise Conflict("settlement", r.name, "is like that already")
    rule = rule_with(r, command.rates)
    digest = digest_of_rule(rule)
    if digest != command.accepted_digest:
        told = {"digest": digest, "accepted": command.accepted_digest}
        raise SharedRuntimeRefused(SharedRefusal.BILLING_RULE_NOT_ACCEPTED, r.name, **told)
    yield settlement_event(r, command.rates, rule=rule, by=command.by)


def settlement_event(
    runtime: SharedRuntime, rates: Mapping[str, int], *, rule: str, by: str
) -> Event:
    """Use is worth that from now on."""
    r = runtime
    return ev.SharedSettlementSet(r.owner, r.id, r.name, rates, rule, digest_of_rule(rule), by)


# -- after one more record -----------------------------------------------------------------------


def take_use(book: SharedBook, event: ev.SharedUseTold, *, seq: int) -> None:
    """The book after one more report."""
    use = book.held[event.runtime_id].use
    from_ms, to_ms = event.window
    use.told_until_ms, use.seq = to_ms, seq
    use.recent[from_ms] = mark_of(event.window, event.rows)
    while len(use.recent) > WINDOWS_MAX:
        del use.recent[min(use.recent)]


def take_settlement(
    held: HeldRuntime, event: ev.SharedSettlementSet, *, at_ms: int, seq: int
) -> None:
    """The runtime after its rule has changed."""
    r = held.runtime
    held.runtime = replace(
        r,
        billing_rule=event.billing_rule,
        billing_digest=event.billing_digest,
        accepted_by=event.accepted_by,
    )
    held.settlement = None
    if event.rates:
        held.settlement = SharedSettlement(
            rates=dict(event.rates), accepted_by=event.accepted_by, since_ms=at_ms, seq=seq
        )

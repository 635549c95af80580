"""What apps tell of their use: taken from the operator of the instance, and how far it has come.

Rules:

- A source is a service account of the instance's own project, or the operator of the shared runtime
  that it is behind, under its own name. People have none:
  what they could write by hand nobody could check against anything.
- Whoever may read the instance may read what was told, and up to when.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.iam import PrincipalKind
from bailiwick.kernel import Done
from bailiwick.kernel.apps.units.book import SourceTail, UsageClaim, UsageSeries
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.runtime.replica import View
from bailiwick.services.apps.instances import InstancePlace, require_instance
from bailiwick.services.caller import Caller

_SOURCES = (PrincipalKind.SERVICE_ACCOUNT, PrincipalKind.RUNTIME_OPERATOR)


class InstanceTold(NamedTuple):
    """What was told of an instance: by unit and component, and by whom."""

    app: str
    series: dict[tuple[str, str | None], UsageSeries]
    sources: dict[str, int]
    """The number of each source's last report."""
    next_sequence: int
    """Of the caller, if it is a source."""


async def report(caller: Caller, place: InstancePlace, *, sequence: int, claim: UsageClaim) -> Done:
    """Take a report; the same again does nothing."""
    await require_instance(caller, place, changes=True)
    if caller.principal.kind not in _SOURCES:
        message = "usage is told by a service account of the instance's project"
        raise caller.refuse(message, reason="needs_service_account")
    command = ReportAppUsage(
        tenant=place.tenant,
        project=place.project,
        instance_id=place.instance_id,
        source=caller.principal.name,
        sequence=sequence,
        unit=claim.unit,
        quantity=claim.quantity,
        from_ms=claim.from_ms,
        to_ms=claim.to_ms,
        component_key=claim.component_key,
    )
    return await caller.change(command)


async def read(caller: Caller, place: InstancePlace) -> InstanceTold:
    """What was told so far."""
    await require_instance(caller, place, changes=False)
    name = caller.principal.name

    def look(view: View) -> InstanceTold:
        held = place.find(view)
        told = held.told
        sources = {source: tail.last for source, tail in told.sources.items()}
        after = told.sources.get(name, SourceTail()).last + 1
        return InstanceTold(held.instance.app, dict(told.series), sources, after)

    return await caller.lookup(look)

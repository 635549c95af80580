"""What instances tell of their use, in units of their apps: parse, call one service, spell."""

from __future__ import annotations

from bailiwick.kernel.apps.units.book import UsageClaim
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.routes.instances import Place
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps import usage
from bailiwick.wire import instances as wire
from bailiwick.wire.answers import Done


@answers("instance_usage.read")
async def read_usage(asked: Here, place: Place) -> wire.InstanceUsage:
    """What was told of an instance's use: by unit, up to when, and by whom."""
    found = await usage.read(asked, place)
    return wire.InstanceUsage(
        instance_id=place.instance_id,
        app=found.app,
        units=[
            wire.UnitTold(
                unit=unit,
                component_key=key,
                quantity=told.quantity,
                reports=told.reports,
                told_until_ms=told.until_ms,
            )
            for (unit, key), told in found.series.items()
        ],
        sources=[
            wire.UsageTeller(principal=name, last_sequence=last)
            for name, last in found.sources.items()
        ],
        next_sequence=found.next_sequence,
    )


@answers("instance_usage.report")
async def report_usage(asked: Changing, place: Place, *, body: wire.InstanceUsageReport) -> Done:
    """Tell how much of a unit was used in a time that is over.

    Reports of a source are numbered from 1, without a gap: the same number with the same content
    does nothing, with another it is refused.
    """
    claim = UsageClaim(body.unit, body.quantity, body.from_ms, body.to_ms, body.component_key)
    return spell_done(await usage.report(asked, place, sequence=body.sequence, claim=claim))

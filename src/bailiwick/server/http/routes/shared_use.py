"""Members of a shared runtime, and their use between projects: parse, call one service, spell."""

from __future__ import annotations

from typing import Final

from bailiwick.kernel.apps.shared.use_commands import ReportSharedUse, SetSharedSettlement
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import FromMs, Limit, NameCursor, ToMs, spell_page
from bailiwick.server.http.routes.shared import Place, spell_settlement
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps.shared import placements, using
from bailiwick.services.apps.shared.placements import MemberPlacement
from bailiwick.wire import shared as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

SEQS_MAX: Final = 100


@answers("shared_worker.list")
async def list_placements(
    asked: Here, place: Place, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.SharedPlacement]:
    """Where each member is, whose lease it has, and the records that decided it."""
    history = asked.tables.history
    found = await placements.page(asked, history, place=place, after=cursor, limit=limit)
    return spell_page(found, _placement)


@answers("shared_use.read")
async def read_use(
    asked: Here, place: Place, *, from_ms: FromMs = None, to_ms: ToMs = None
) -> wire.SharedUsage:
    """Who used what on whose workers in a period; each row names the records that tell it.

    Of projects that the caller may not read, only what is between them and his.
    """
    found = await using.read(asked, asked.tables, place=place, span=(from_ms, to_ms))
    return wire.SharedUsage(
        runtime=found.runtime.name,
        runtime_id=found.runtime.id,
        from_ms=found.period.from_ms,
        to_ms=found.period.to_ms,
        told_until_ms=found.told_until_ms or None,
        currency=found.currency,
        journal_size=found.journal_size,
        settlement=spell_settlement(found.settlement),
        rows=[
            wire.SharedUseSum(
                user=key.user,
                source=key.source,
                unit=key.unit,
                quantity=row.quantity,
                beyond=row.beyond,
                owed_micros=row.micros,
                reports=len(row.seqs),
                seqs=row.seqs[:SEQS_MAX],
                first_seq=row.seqs[0],
                last_seq=row.seqs[-1],
                rule_seqs=sorted(row.rules),
            )
            for key, row in found.rows.items()
        ],
        balances=[
            wire.SharedBalance(project=project, owed_micros=micros)
            for project, micros in found.balances.items()
        ],
    )


@answers("shared_use.report")
async def report_use(asked: Changing, place: Place, *, body: wire.NewSharedUse) -> Done:
    """Tell, for the runtime's operator, all that was used in a time that is over.

    The same again does nothing; another word about a time that was told is refused.
    """

    def command() -> ReportSharedUse:
        rows = sorted((each.user, each.source, each.unit, each.quantity) for each in body.rows)
        return ReportSharedUse(
            tenant=place.tenant,
            runtime=place.runtime,
            by=asked.principal.name,
            from_ms=body.from_ms,
            to_ms=body.to_ms,
            users=tuple(row[0] for row in rows),
            sources=tuple(row[1] for row in rows),
            units=tuple(row[2] for row in rows),
            quantities=tuple(row[3] for row in rows),
        )

    return spell_done(await using.report(asked, place, command=command))


@answers("shared_settlement.plan")
async def plan_settlement(
    asked: Here, place: Place, *, body: wire.NewSettlement
) -> wire.SettlementPlan:
    """The rule by which use would be settled. To settle has to accept the digest of just this."""
    found = await using.plan(asked, place, rates=body.rates)
    return wire.SettlementPlan(**found._asdict(), rates=body.rates)


@answers("shared_settlement.set")
async def set_settlement(asked: Changing, place: Place, *, body: wire.AcceptedSettlement) -> Done:
    """Have use of another's workers settled so, from now on; without rates, no more."""

    def command() -> SetSharedSettlement:
        return SetSharedSettlement(
            tenant=place.tenant,
            runtime=place.runtime,
            accepted_digest=body.accepted_digest,
            by=asked.principal.name,
            rates=body.rates,
        )

    return spell_done(await using.settle(asked, place, command=command))


def _placement(found: MemberPlacement) -> wire.SharedPlacement:
    member = found.placed.member
    return wire.SharedPlacement(
        member_id=member.id,
        component_key=member.component_key,
        role=member.role,
        part=found.placed.part,
        phase=member.phase,
        project=found.placed.project,
        is_contributed=member.source is not None,
        lease_id=member.lease_id,
        node=found.node,
        placed_seq=found.placed_seq,
        steps=[
            wire.PlacementStep(
                seq=each.seq,
                at_ms=each.at_ms,
                kind=each.kind.value,
                reason=_word(each.body.get("reason")),
                detail=_word(each.body.get("detail")),
            )
            for each in found.steps
        ],
    )


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None

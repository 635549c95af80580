"""Routes that explain: why a request would not run, what became of a lease, what was decided."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Query

from bailiwick.journal.record import Record
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Here
from bailiwick.server.http.params import (
    Limit,
    NumberCursor,
    PathName,
    PathNumber,
    number_in,
    spell_page,
)
from bailiwick.server.http.parsing import scope_of, submit_of
from bailiwick.server.http.spelling import (
    spell_denial,
    spell_plan,
    spell_record,
    spell_remedy,
    spell_rules,
)
from bailiwick.services import decisions, plans
from bailiwick.services.changes import stories
from bailiwick.services.changes.stories import StorySubject, StoryWish
from bailiwick.services.journal import tell_record
from bailiwick.store.history.questions import DecisionRow
from bailiwick.wire import decisions as wire
from bailiwick.wire.base import NAME_PATTERN, PRINCIPAL_PATTERN, Page
from bailiwick.wire.work import JournalRecord, LeaseRequest

KindQuery = Annotated[
    str | None,
    Query(pattern="^[a-z_]{1,40}$", description="Only records of this kind."),
]


@answers("request.explain")
async def explain_request(asked: Here, body: LeaseRequest) -> wire.Explanation:
    """Why a request would run, wait or be refused now, and what would help; nothing changes."""
    found, plan = await plans.explain_request(asked, scope_of(body), ask=lambda: submit_of(body))
    return wire.Explanation(
        blocker=None if found.blocker is None else spell_denial(found.blocker),
        blockers=[spell_denial(each) for each in found.blockers],
        nodes=found.fitting + sum(found.fallen.values()),
        fallen=dict(found.fallen),
        fitting=found.fitting,
        remedy=spell_remedy(found.remedy),
        plan=spell_plan(plan),
        rules=spell_rules(found.rules),
        rules_more=found.rules.more,
    )


@answers("lease.explain")
async def explain_lease(
    asked: Here, lease_id: PathNumber, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[JournalRecord]:
    """What became of a lease and why: its records in order, from the queue to its end."""
    cut = number_in(cursor)
    found = await decisions.explain_lease(
        asked,
        asked.tables.history,
        lease_id=lease_id,
        after=-1 if cut is None else cut,
        limit=limit,
    )
    whole = decisions.sees_journal(asked)

    def spell(record: Record) -> JournalRecord:
        return spell_record(tell_record(record, whole=whole))

    return spell_page(found, spell)


@answers("decision.list")
async def list_decisions(
    asked: Here,
    tenant: PathName,
    *,
    kind: KindQuery = None,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.Decision]:
    """What was decided about a tenant, the newest first; of projects, those one may see."""
    history, before = asked.tables.history, number_in(cursor)
    found = await decisions.page(
        asked, history, tenant=tenant, kind=kind, before=before, limit=limit
    )
    return spell_page(found, _decision)


def _decision(row: DecisionRow) -> wire.Decision:
    told = asdict(row)
    del told["tenant"]
    return wire.Decision(**told)


def _story(
    subject: Annotated[
        StorySubject, Query(description="What it is about; `policy` is the isolation policy.")
    ],
    name: Annotated[
        str | None, Query(pattern=PRINCIPAL_PATTERN, description="Its name, or its number.")
    ] = None,
    *,
    tenant: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    project: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
) -> StoryWish:
    return StoryWish(subject, name or "-", tenant, project)


@answers("decision.story")
async def list_story(
    asked: Here,
    wish: Annotated[StoryWish, Depends(_story)],
    *,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[JournalRecord]:
    """The sealed records about one thing, the newest first, of those that the caller may read.

    A page may be empty and have a `next`: a bounded number of records is looked at for each. What
    became of a lease is told by `GET /v1/leases/{lease_id}/explain`.
    """
    rows, following = await stories.page(asked, wish, before=number_in(cursor), limit=limit)
    return Page(items=[spell_record(each) for each in rows], next=following)

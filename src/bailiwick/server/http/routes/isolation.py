"""Routes for isolation: the policy, what another would do or does, and what was scrubbed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from fastapi import Request, Response
from fastapi.sse import format_sse_event
from pydantic.json_schema import models_json_schema

from bailiwick.isolation.language.text import PolicyProblem
from bailiwick.isolation.lint.findings import LintFinding
from bailiwick.kernel.isolation.preview import Leaver, NeverRuns
from bailiwick.kernel.owner import Owner
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatchVersion, revision_of
from bailiwick.server.http.routes.watch import COMPONENTS, WatchResponse, caller_now, event_schema
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services import isolation
from bailiwick.services.searches.desk import SearchRunning
from bailiwick.services.searches.isolation import (
    PolicyWish,
    Search,
    SearchEvent,
    SearchQuiet,
    SearchSaid,
    start_search,
)
from bailiwick.wire import isolation as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Model
from bailiwick.wire.problem import EdgeCode

LEAVERS_MAX = 1_000
"""Leases that have to go, told one by one."""

_SAID: Final[dict[SearchEvent, tuple[type[Model], str]]] = {
    "progress": (wire.IsolationSearchProgress, "How far the search is."),
    "found": (wire.IsolationStory, "A way around the policy, as a story; there may be several."),
    "nothing": (wire.IsolationNothingFound, "No way was found, and how far was looked."),
    "ended": (wire.IsolationSearchEnd, "The last event, and why. A stream without one was cut."),
}


def _named(event: SearchEvent) -> str:
    """What the contract calls such an event."""
    return f"IsolationSearch{event.capitalize()}Event"


EVENT_SCHEMAS: Final[dict[str, Any]] = {
    "IsolationSearchEvent": {
        "description": "One event of `POST /v1/isolation/search`. A comment (`: beat`) is none.",
        "anyOf": [{"$ref": f"{COMPONENTS}/{_named(event)}"} for event in _SAID],
    },
    **{
        _named(event): event_schema(
            told, event={"const": event}, data={"$ref": f"{COMPONENTS}/{model.__name__}"}
        )
        for event, (model, told) in _SAID.items()
    },
    **models_json_schema(
        [(model, "serialization") for model, _ in _SAID.values()],
        ref_template=COMPONENTS + "/{model}",
    )[1]["$defs"],
}
"""What is streamed, as the contract spells it."""


@answers("isolation.read")
async def read_policy(asked: Here, response: Response) -> wire.IsolationPolicy:
    """Who may not meet whom, and what was left behind; the ``ETag`` is the policy's version."""
    found = await isolation.read_policy(asked)
    response.headers["etag"] = f'"{found.version}"'
    return wire.IsolationPolicy(
        version=found.version,
        text=found.text,
        rules=len(found.policy.rules),
        set_ms=found.set_ms,
        residues=[
            wire.IsolationResidue(
                rule=each.rule,
                kind=each.kind,
                domain=each.domain,
                left_ms=each.left_ms,
                until_ms=each.until_ms,
            )
            for each in found.residues
        ],
    )


@answers("isolation.set")
async def set_policy(
    asked: Changing, body: wire.IsolationPolicyChange, *, if_match: IfMatchVersion = None
) -> Done:
    """Replace the whole policy; work that may not stay under it is evicted, with its grace."""
    return spell_done(
        await isolation.set_policy(asked, body.text, if_version=revision_of(if_match))
    )


@answers("isolation.preview")
async def preview_policy(asked: Here, body: wire.IsolationPolicyChange) -> wire.IsolationPreview:
    """What a policy would do if it were set now: who would have to go, and who could never run."""
    policy, found = await isolation.preview_policy(asked, body.text)
    return wire.IsolationPreview(
        version=found.version,
        rules=len(policy.rules),
        leaving=len(found.leavers),
        leavers=[_leaver(each) for each in found.leavers[:LEAVERS_MAX]],
        never=[_never(each) for each in found.never],
    )


@answers("isolation.lint")
async def lint_policy(asked: Here, body: wire.IsolationPolicyChange) -> wire.IsolationLint:
    """Every mistake of a text with its place; without any, what is to know about the policy."""
    found = await isolation.lint(asked, body.text)
    problems = [each for each in found if isinstance(each, PolicyProblem)]
    return wire.IsolationLint(
        problems=[
            wire.IsolationProblem(
                line=each.line,
                column=each.column,
                found=each.found,
                sentence=each.sentence,
                nearest=each.nearest or None,
            )
            for each in problems
        ],
        findings=[_lint_finding(each) for each in found if isinstance(each, LintFinding)],
    )


@answers("isolation.search")
async def search_policy(
    asked: Here, request: Request, *, body: wire.IsolationSearchWish
) -> WatchResponse:
    """Search, in a small world, for a history that ends where the policy forbids it.

    Or for one that it would forbid without one of its exceptions, or without a rule's hours. It
    ends when the caller hangs up; there is one search at a time on a server. Nothing is written.
    """
    house = asked.house
    wish = PolicyWish(body.text, body.jobs, body.steps)
    try:
        process = await start_search(asked, house.parts.searches, wish=wish)
    except SearchRunning as taken:
        raise Trouble(EdgeCode.RATE_LIMITED, str(taken)) from None
    search = Search(
        process=process,
        who=caller_now(asked, request),
        pace=house.parts.watchers,
        ending=house.parts.ending,
    )
    return WatchResponse(_spell_search(search), leave=process.leave)


async def _spell_search(search: Search) -> AsyncGenerator[bytes, None]:
    async with aclosing(search.events()) as events:
        async for item in events:
            match item:
                case SearchQuiet():
                    yield format_sse_event(comment="beat")
                case SearchSaid():
                    model, _ = _SAID[item.event]
                    data = model.model_validate(item.data).model_dump_json()
                    yield format_sse_event(event=item.event, data_str=data)


@answers("isolation.enforce")
async def enforce_policy(
    asked: Changing, body: wire.IsolationPolicyChange
) -> wire.IsolationEnforcement:
    """Evict, with its grace, what runs where a policy forbids it; that policy is not set."""
    found = await isolation.enforce(asked, body.text)
    return wire.IsolationEnforcement(
        seq=found.seq,
        violations=found.violations,
        leases=found.leases,
        recovered=[
            wire.IsolationRecovered(
                lease_id=each.lease_id,
                rule=each.rule,
                kind=each.domain_kind,
                domain=each.domain,
                partners=[*each.partners],
            )
            for each in found.told[:LEAVERS_MAX]
        ],
    )


@answers("isolation.scrub")
async def scrub_domain(asked: Changing, body: wire.DomainScrub) -> Done:
    """Say that nothing of those who left is in a domain any more: it is for everybody again."""
    return spell_done(await isolation.scrub(asked, body.kind, domain=body.domain))


def _lint_finding(found: LintFinding) -> wire.IsolationFinding:
    return wire.IsolationFinding(
        severity=found.severity.value,
        code=found.code.value,
        rule=found.rule or None,
        line=found.line or None,
        sentence=found.sentence,
        fix=found.fix or None,
    )


def _leaver(found: Leaver) -> wire.IsolationLeaver:
    breach = found.breach
    return wire.IsolationLeaver(
        lease_id=found.lease_id,
        tenant=str(found.owner.tenant),
        project=_project(found.owner),
        node=found.node,
        rule=breach.rule,
        kind=breach.kind,
        domain=breach.domain,
        partners=[int(partner) for partner in breach.partners],
        is_along=found.is_along,
    )


def _never(found: NeverRuns) -> wire.IsolationNever:
    tenant, project = str(found.owner.tenant), _project(found.owner)
    return wire.IsolationNever(
        entry_id=found.entry_id, tenant=tenant, project=project, rule=found.rule
    )


def _project(owner: Owner) -> str | None:
    return None if owner.project is None else str(owner.project)

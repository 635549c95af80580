"""Routes for isolation: the policy, what another would do or does, and what was scrubbed."""

from __future__ import annotations

from fastapi import Response

from bailiwick.isolation.language.text import PolicyProblem
from bailiwick.isolation.lint.findings import LintFinding
from bailiwick.kernel.isolation.preview import Leaver, NeverRuns
from bailiwick.kernel.owner import Owner
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatchVersion, revision_of
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import isolation
from bailiwick.wire import isolation as wire
from bailiwick.wire.answers import Done

LEAVERS_MAX = 1_000
"""Leases that have to go, told one by one."""


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

"""What follows from the evidence of a check: how each condition stands, and all of them together.

Rules:

- It is a function of evidence, manifest and what the directory says of the operator's account.
- What was not tried is neither met nor not met. One condition that is not met makes an app not
  ready, whatever else was not tried; ready is only what was tried in full.
- Each finding has one word for why, and the numbers that led to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bailiwick.apps.manifest import HEADINGS, Manifest
from bailiwick.apps.readiness.evidence import FOREIGN_ACTIONS, CheckEvidence, StepFact
from bailiwick.apps.readiness.runbook import read_triage
from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.readiness import (
    ConditionState,
    ForeignScope,
    LifecycleEvent,
    LifeStep,
    Readiness,
    ReadinessCondition,
    ReadinessReason,
)

_C, _R, _S = ReadinessCondition, ReadinessReason, ConditionState
_REFUSED: Final = frozenset((403, 404))


class OperatorStanding(NamedTuple):
    """What is known of the operator's account."""

    is_account: bool
    """It is a service account of the project."""
    is_confined: bool
    """It has no role anywhere else."""


@dataclass(frozen=True, slots=True)
class ConditionFinding:
    """How one condition stands."""

    condition: ReadinessCondition
    state: ConditionState
    reason: ReadinessReason
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadinessJudgement:
    """How all of them stand."""

    findings: tuple[ConditionFinding, ...]

    @property
    def verdict(self) -> Readiness:
        """What follows."""
        states = {each.state for each in self.findings}
        if _S.NOT_MET in states:
            return Readiness.NOT_READY
        return Readiness.UNDECIDED if _S.NOT_TRIED in states else Readiness.READY


def judge(
    evidence: CheckEvidence, manifest: Manifest, *, standing: OperatorStanding
) -> ReadinessJudgement:
    """How each condition stands."""
    return ReadinessJudgement(
        (
            _contracts(evidence),
            _account(evidence, standing),
            _tenancy(evidence, standing),
            _events(evidence),
            _policy(evidence, manifest),
            _survival(evidence),
            _runbook(evidence, manifest),
        )
    )


def _contracts(evidence: CheckEvidence) -> ConditionFinding:
    condition, watch = _C.CONTRACTS_ONLY, evidence.claims.connections
    if watch is not None and watch.others:
        numbers = {"connections": len(watch.others), "looks": watch.looks}
        return ConditionFinding(condition, _S.NOT_MET, _R.OTHER_CONNECTIONS, numbers)
    if watch is None or watch.looks == 0:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.NOT_WATCHED)
    return ConditionFinding(condition, _S.MET, _R.ONLY_CONTROL_PLANE, {"looks": watch.looks})


def _account(evidence: CheckEvidence, standing: OperatorStanding) -> ConditionFinding:
    condition, facts = _C.SERVICE_ACCOUNT, evidence.facts
    if evidence.claims.operator is None:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.NO_OPERATOR)
    if not standing.is_account:
        return ConditionFinding(condition, _S.NOT_MET, _R.NOT_AN_ACCOUNT)
    if facts.strangers:
        return ConditionFinding(
            condition, _S.NOT_MET, _R.ACTED_AS_OTHERS, {"acts": facts.strangers}
        )
    if not facts.acts:
        return ConditionFinding(condition, _S.NOT_MET, _R.OPERATOR_SILENT)
    return ConditionFinding(condition, _S.MET, _R.ACTED_AS_ACCOUNT, {"acts": facts.acts})


def _tenancy(evidence: CheckEvidence, standing: OperatorStanding) -> ConditionFinding:
    condition, tries = _C.TENANCY, evidence.claims.foreign
    let_in = sum(each.status not in _REFUSED for each in tries)
    if let_in:
        return ConditionFinding(
            condition, _S.NOT_MET, _R.LET_IN, {"tries": len(tries), "let_in": let_in}
        )
    if evidence.claims.operator is None:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.NO_OPERATOR)
    if standing.is_account and not standing.is_confined:
        return ConditionFinding(condition, _S.NOT_MET, _R.REACHES_FURTHER)
    tried = {each.action for each in tries if each.scope is ForeignScope.OTHER_PROJECT}
    missing = len(FOREIGN_ACTIONS) - len(tried)
    if missing:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.ACTIONS_NOT_TRIED, {"actions": missing})
    tenants = sum(each.scope is ForeignScope.OTHER_TENANT for each in tries)
    numbers = {"projects": len(tries) - tenants, "tenants": tenants}
    return ConditionFinding(condition, _S.MET, _R.ALL_REFUSED, numbers)


def _events(evidence: CheckEvidence) -> ConditionFinding:
    condition = _C.LIFECYCLE_EVENTS
    reached = {each.event for each in evidence.facts.reached}
    heard = {each.event for each in evidence.claims.heard}
    never = len(LifecycleEvent) - len(reached | {LifecycleEvent.FAILED})
    if never:
        return ConditionFinding(condition, _S.NOT_MET, _R.NEVER_REACHED, {"events": never})
    unheard = len(reached - heard)
    if unheard:
        return ConditionFinding(condition, _S.NOT_MET, _R.NOT_HEARD, {"events": unheard})
    if LifecycleEvent.FAILED not in reached:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.FAILURE_NOT_PROVOKED)
    return ConditionFinding(condition, _S.MET, _R.ALL_HEARD, {"events": len(heard)})


def _policy(evidence: CheckEvidence, manifest: Manifest) -> ConditionFinding:
    condition, tried = _C.ARTIFACT_POLICY, evidence.claims.policy
    sources = {each.source for each in manifest.artifacts.values()}
    if tried is None or tried.source not in sources:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.POLICY_NOT_TRIED)
    if tried.refusal is not InstanceRefusal.ARTIFACT_UNUSABLE:
        return ConditionFinding(condition, _S.NOT_MET, _R.DEPLOYED_ANYWAY)
    return ConditionFinding(condition, _S.MET, _R.REFUSED_BY_POLICY, {"record": tried.seq})


def _survival(evidence: CheckEvidence) -> ConditionFinding:
    condition = _C.SURVIVES_KILL
    steps = {each.step: each for each in evidence.facts.steps if _is_about(each, evidence.version)}
    lost = sum(each.kills > 0 and not (each.seen_seq and each.ended_seq) for each in steps.values())
    if lost:
        return ConditionFinding(condition, _S.NOT_MET, _R.NOT_RESUMED, {"steps": lost})
    missing = len(LifeStep) - len(steps)
    if missing:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.STEP_NOT_TRIED, {"steps": missing})
    spared = sum(not each.kills for each in steps.values())
    if spared:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.NOT_KILLED, {"steps": spared})
    kills = sum(each.kills for each in steps.values())
    return ConditionFinding(condition, _S.MET, _R.RESUMED, {"steps": len(steps), "kills": kills})


def _is_about(fact: StepFact, version: str) -> bool:
    """Whether a step is one of the version in question; a deletion is one of whatever ran."""
    is_move = fact.before != fact.version
    return fact.step is LifeStep.DELETE or (is_move and version in (fact.before, fact.version))


def _runbook(evidence: CheckEvidence, manifest: Manifest) -> ConditionFinding:
    condition, found = _C.RUNBOOK, read_triage(manifest.runbook)
    missing = len(HEADINGS) - found.sections
    if missing:
        return ConditionFinding(condition, _S.NOT_MET, _R.SECTION_MISSING, {"sections": missing})
    if not found.steps or not found.commands:
        return ConditionFinding(condition, _S.NOT_MET, _R.NO_COMMANDS, {"steps": found.steps})
    tried = evidence.claims.runbook
    if tried is None:
        return ConditionFinding(condition, _S.NOT_TRIED, _R.COMMANDS_NOT_TRIED)
    if tried.unknown:
        return ConditionFinding(
            condition, _S.NOT_MET, _R.UNKNOWN_COMMANDS, {"commands": tried.unknown}
        )
    numbers = {"steps": found.steps, "commands": len(found.commands)}
    return ConditionFinding(condition, _S.MET, _R.TRIAGE_COMPLETE, numbers)

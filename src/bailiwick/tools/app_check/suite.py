"""A whole check: the trial of an instance, what is tried beside it, and what becomes of it all.

Rules:

- Everything is asked through the public client, as whoever runs the check and as the operator's
  account.
- What was made is put away again, whatever happens: instances are deleted, the other project is
  closed, the account disabled, its token revoked.
- The judgement here is made from what was heard; the one that counts is the server's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bailiwick.apps.readiness.evidence import (
    CheckClaims,
    CheckEvidence,
    ConnectionWatch,
    ForeignTry,
    PolicyTry,
    RunbookTry,
)
from bailiwick.apps.readiness.judge import OperatorStanding, ReadinessJudgement, judge
from bailiwick.apps.readiness.runbook import read_triage
from bailiwick.client import Client, Refusal
from bailiwick.tools.app_check.connections import ConnectionWatcher, can_watch
from bailiwick.tools.app_check.foreign import try_all
from bailiwick.tools.app_check.ground import (
    OperatorLogin,
    find_foreign,
    make_foreign,
    make_login,
    open_project,
    quietly,
    read_login,
    remove,
)
from bailiwick.tools.app_check.listener import EventListener
from bailiwick.tools.app_check.operator_process import OperatorProcess
from bailiwick.tools.app_check.plan import CheckPlan
from bailiwick.tools.app_check.trial import InstanceTrial, Stalled, Tell
from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.errors import ErrorCode
from bailiwick.wire.actions.apps import APP_VERSION_CHECK, ENTITLEMENT_SET
from bailiwick.wire.actions.instances import (
    INSTANCE_CREATE,
    INSTANCE_DELETE,
)
from bailiwick.wire.apps import EntitlementChange, Overlay
from bailiwick.wire.instances import NewInstance
from bailiwick.wire.readiness import AppCheck, NewAppCheck

READY_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What came of a check."""

    evidence: CheckEvidence
    judgement: ReadinessJudgement
    notes: tuple[str, ...]
    """What is to be known beside: why something was not tried, or did not end."""


@dataclass(frozen=True, slots=True)
class CheckTools:
    """What a check is made with."""

    client: Client
    connect: Callable[[str | None], Client]
    """Another client of the same server: the caller's, or one of a token."""
    tell: Tell
    is_command: Callable[[str], bool]
    """Whether the command line knows what a runbook says to type."""
    operator_log: Path | None = None


@dataclass(slots=True)
class _Findings:
    """What was found so far."""

    notes: list[str] = field(default_factory=list)
    foreign: list[ForeignTry] = field(default_factory=list)
    policy: PolicyTry | None = None
    connections: ConnectionWatch | None = None


def run_check(plan: CheckPlan, tools: CheckTools) -> CheckReport:
    """Check one version of an app; what was made for it is gone afterwards."""
    found = _Findings()
    with ExitStack() as cleanup:
        login = _login(plan, tools, cleanup=cleanup)
        listener = EventListener(
            tools.connect(None), {"tenant": plan.tenant, "project": plan.project}
        )
        cleanup.callback(listener.end)
        if not listener.wait_ready(READY_S):
            raise listener.failure or Stalled(f"no event stream within {READY_S:.0f} s")
        trial = InstanceTrial(
            tools.client, plan, listener, None, login.principal if login else None, tools.tell
        )
        if login is not None:
            _begin_operator(trial, login, tools=tools, found=found, cleanup=cleanup)
        cleanup.callback(_put_away, trial, login, tools)
        try:
            trial.live()
        except Stalled as stalled:
            found.notes.append(str(stalled))
        if trial.operator is not None:
            found.connections = trial.operator.end()
        _try_beside(plan, tools, found=found, login=login, cleanup=cleanup)
        return _report(trial, login, tools=tools, found=found)


def seal(client: Client, plan: CheckPlan, *, evidence: CheckEvidence) -> AppCheck:
    """Have the server judge the evidence, and seal what it says."""
    body = NewAppCheck.model_validate_json(json.dumps(asdict(evidence.claims)))
    path: dict[str, str | int] = {"app": plan.app, "version": plan.version}
    return client.send(APP_VERSION_CHECK, path=path, body=body)


# -- the operator ----------------------------------------------------------------------------


def _login(plan: CheckPlan, tools: CheckTools, *, cleanup: ExitStack) -> OperatorLogin | None:
    if not plan.operator:
        return None
    if plan.token_file is None:
        return make_login(tools.client, plan, cleanup=cleanup)
    token = Path(plan.token_file).read_text("ascii").strip()
    with tools.connect(token) as client:
        return read_login(client, token, plan=plan)


def _begin_operator(
    trial: InstanceTrial,
    login: OperatorLogin,
    *,
    tools: CheckTools,
    found: _Findings,
    cleanup: ExitStack,
) -> None:
    """Have the operator ready to be begun, with its token in a file that nobody else can read."""
    plan = trial.plan
    folder = Path(cleanup.enter_context(TemporaryDirectory(prefix="bailiwick-check-")))
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(login.token, "ascii")
    told = {
        "BAILIWICK_SERVER": tools.client.server,
        "BAILIWICK_TENANT": plan.tenant,
        "BAILIWICK_PROJECT": plan.project,
        "BAILIWICK_TOKEN_FILE": str(token),
    }
    watcher = None
    if can_watch():
        watcher = ConnectionWatcher(tools.client.server)
    else:
        found.notes.append("this machine does not tell connections: watch them on Linux")
    log = tools.operator_log or folder / "operator.log"
    trial.operator = OperatorProcess(plan.operator, told, log=log, watcher=watcher)
    cleanup.callback(trial.operator.end)


# -- beside it -------------------------------------------------------------------------------


def _try_beside(
    plan: CheckPlan,
    tools: CheckTools,
    *,
    found: _Findings,
    login: OperatorLogin | None,
    cleanup: ExitStack,
) -> None:
    """What needs another project: what its account may not, and what a policy denies."""
    client = tools.client
    project = open_project(client, plan, cleanup=cleanup)
    if project is None:
        found.notes.append("you may not make a project: tenancy and policy were not tried")
        return
    tools.tell("trying its account at another project")
    quietly(lambda: _set_line(client, plan, project=project, deny=()))
    places = [make_foreign(client, plan, project=project, cleanup=cleanup)]
    if places == [None]:
        found.notes.append(f"no instance could be made in {plan.tenant}/{project}")
    if plan.other is not None:
        places.append(find_foreign(client, plan))
        if places[-1] is None:
            found.notes.append(f"no instance is to be seen in {'/'.join(plan.other)}")
    if login is not None:
        there = [place for place in places if place is not None]
        with tools.connect(login.token) as account:
            found.foreign += [each for place in there for each in try_all(account, place)]
    tools.tell("denying where its artifacts come from")
    found.policy = _try_policy(client, plan, project=project)


def _set_line(client: Client, plan: CheckPlan, *, project: str, deny: tuple[str, ...]) -> int:
    overlay = Overlay(deny_sources=list(deny)) if deny else Overlay()
    body = EntitlementChange(
        app=plan.app, tenant=plan.tenant, project=project, is_enabled=True, overlay=overlay
    )
    return client.send(ENTITLEMENT_SET, body=body).seq or 0


def _try_policy(client: Client, plan: CheckPlan, *, project: str) -> PolicyTry | None:
    """Deny a source in the other project, and ask for an instance there."""
    sources = sorted({each.source for each in plan.manifest.artifacts.values()})
    if not sources:
        return None
    try:
        seq = _set_line(client, plan, project=project, deny=tuple(sources))
    except Refusal:
        return None
    place: dict[str, str | int] = {"tenant": plan.tenant, "project": project}
    body = NewInstance(
        name=f"{plan.name}-denied",
        app=plan.app,
        version=plan.version,
        parameters=dict(plan.parameters),
    )
    try:
        number = client.send(INSTANCE_CREATE, path=place, body=body).instance_id
    except Refusal as refused:
        if refused.problem.code is not ErrorCode.INSTANCE_REFUSED:
            return None
        word = str(refused.problem.details.get("reason"))
        return PolicyTry(sources[0], seq, InstanceRefusal(word))
    quietly(lambda: client.send(INSTANCE_DELETE, path={**place, "instance_id": number or 0}))
    return PolicyTry(sources[0], seq, None)


# -- what came of it -------------------------------------------------------------------------


def _report(
    trial: InstanceTrial, login: OperatorLogin | None, *, tools: CheckTools, found: _Findings
) -> CheckReport:
    plan, facts = trial.plan, trial.facts
    rows = trial.listener.rows(trial.instance_id)
    seqs = [row.seq for row in rows] + ([found.policy.seq] if found.policy else [])
    commands = read_triage(plan.manifest.runbook).commands
    unknown = [each for each in commands if not tools.is_command(each)]
    found.notes += [f"the runbook says `{each}`, which is no command" for each in unknown]
    reached = {each.event: each.seq for each in facts.reached}
    claims = CheckClaims(
        digest=plan.digest,
        tenant=plan.tenant,
        project=plan.project,
        instance_id=trial.instance_id,
        first_seq=min(seqs),
        last_seq=max(seqs),
        operator=None if login is None else login.principal,
        connections=found.connections,
        foreign=tuple(found.foreign),
        heard=tuple(trial.listener.heard(trial.instance_id, plan.app, seqs=reached)),
        policy=found.policy,
        kills=tuple(trial.kills),
        runbook=RunbookTry(len(commands), len(unknown)),
    )
    evidence = CheckEvidence(plan.version, claims, facts)
    standing = OperatorStanding(False, False)
    if login is not None:
        standing = OperatorStanding(login.is_account, login.is_confined)
    judged = judge(evidence, plan.manifest, standing=standing)
    return CheckReport(evidence, judged, tuple(found.notes))


def _put_away(trial: InstanceTrial, login: OperatorLogin | None, tools: CheckTools) -> None:
    """Delete the instance, if it is still there; where its operator does not answer, for it."""
    if trial.instance_id:
        account = None if login is None else lambda: tools.connect(login.token)
        remove(tools.client, trial.path, account=account, timeout_s=trial.plan.timeout_s)

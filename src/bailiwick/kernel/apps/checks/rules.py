"""What follows from a check of an app: the judgement, sealed.

Rules:

- The judgement is made here, from the evidence, the manifest that was published and what the
  directory says of the operator's account; who asks has no say in it.
- Evidence is about one version, by its digest. It names nobody and nothing that is not known here:
  not another digest, account, project or source.
- The last check of a version is the one that is shown. A record is the publisher's.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.apps.readiness.evidence import CheckClaims, read_evidence
from bailiwick.apps.readiness.judge import OperatorStanding, judge
from bailiwick.apps.readiness.runbook import read_triage
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import AppCheck, CatalogVersion
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.checks.events import AppChecked
from bailiwick.kernel.apps.names import publisher_of
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import EvidenceContradicted
from bailiwick.vocab.readiness import EvidenceFault


def decide(state: State, command: RecordAppCheck) -> Iterator[Event]:
    """The judgement that follows, or what the evidence contradicts."""
    known = state.apps.version(command.app, command.version)
    evidence = read_evidence(command.evidence)
    claims = evidence.claims
    fault = find_fault(state, known, claims=claims)
    if fault is not None:
        raise EvidenceContradicted(fault, f"{command.app} {command.version}")
    found = judge(evidence, known.manifest, standing=standing_of(state, claims))
    owner = Owner(publisher_of(command.app))
    told = (command.app, command.version, known.digest, found.verdict, found.findings)
    yield AppChecked(owner, *told, command.evidence)


def find_fault(state: State, known: CatalogVersion, *, claims: CheckClaims) -> EvidenceFault | None:
    """What a claim contradicts of what is known here."""
    if claims.digest != known.digest:
        return EvidenceFault.OTHER_DIGEST
    directory = state.directory
    if (claims.tenant, claims.project) not in directory.projects:
        return EvidenceFault.NO_SUCH_INSTANCE
    who = claims.operator
    if who is not None and who not in directory.accounts and who not in directory.roles:
        return EvidenceFault.UNKNOWN_OPERATOR
    sources = {each.source for each in known.manifest.artifacts.values()}
    if claims.policy is not None and claims.policy.source not in sources:
        return EvidenceFault.NOT_THAT_POLICY
    commands = read_triage(known.manifest.runbook).commands
    if claims.runbook is not None and claims.runbook.commands != len(commands):
        return EvidenceFault.OTHER_RUNBOOK
    return None


def standing_of(state: State, claims: CheckClaims) -> OperatorStanding:
    """What the directory says of the operator's account."""
    directory, own = state.directory, Scope(claims.tenant, claims.project)
    account = None if claims.operator is None else directory.accounts.get(claims.operator)
    if account is None:
        return OperatorStanding(False, False)
    roles = directory.roles.get(account.name, {})
    return OperatorStanding(account.scope == own, all(own.covers(each) for each in roles))


def apply(state: State, event: AppChecked, at_ms: int) -> None:
    """The book after one more check."""
    told = (event.verdict, event.findings, event.evidence_digest, at_ms)
    state.apps.checks[event.app, event.version] = AppCheck(*told)

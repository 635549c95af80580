"""Checks of apps: what somebody says he saw, held against the journal, judged and sealed.

Rules:

- A check is sealed by who may publish the app and change instances where it was tried. The
  operator's own account seals none about itself.
- What records tell of the instance is read from them, all between two numbers; nobody's word is
  taken for it. A claim that names a record is held against that record.
- How far is read has a bound, and nothing is read before it is known that the caller may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bailiwick.apps.readiness.evidence import CheckClaims, CheckEvidence, CheckFacts
from bailiwick.apps.readiness.judge import judge
from bailiwick.apps.readiness.timeline import ToldRow, tell_facts, wants
from bailiwick.events.cloud import instance_of
from bailiwick.events.types import type_of
from bailiwick.iam import Permission, Scope
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel.apps.book import AppCheck
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.checks.rules import standing_of
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import home_of
from bailiwick.services.apps.events import may_be_event
from bailiwick.services.caller import Caller
from bailiwick.vocab.errors import EvidenceContradicted
from bailiwick.vocab.readiness import EvidenceFault

SPAN_MAX: Final = 200_000
"""Records between the first and the last of a check."""
_PAGE: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Trial:
    """What is claimed of which version."""

    app: str
    version: str
    claims: CheckClaims

    def contradicts(self, fault: EvidenceFault, seq: int | None = None) -> EvidenceContradicted:
        return EvidenceContradicted(fault, f"{self.app} {self.version}", seq=seq)

    def is_about(self, record: Record) -> bool:
        """Whether a record is one of the instance."""
        c = self.claims
        is_here = (record.tenant, record.project) == (c.tenant, c.project)
        return is_here and instance_of(record.body) == str(c.instance_id)


async def seal_check(
    caller: Caller, app: str, *, version: str, claims: Callable[[], CheckClaims]
) -> AppCheck:
    """Have what was seen judged and sealed; in a dry run, judged."""
    await caller.require_at(lambda view: home_of(caller, view.state.apps, app=app))
    trial = _Trial(app, version, claims())
    _require_tried(caller, trial.claims)
    known = await caller.lookup(lambda view: view.state.apps.version(app, version))
    if known.digest != trial.claims.digest:
        raise trial.contradicts(EvidenceFault.OTHER_DIGEST)
    evidence = CheckEvidence(version, trial.claims, await _read_facts(caller, trial))
    command = RecordAppCheck(app, version, evidence.canonical)
    await caller.change(command)

    def look(view: View) -> AppCheck:
        standing = standing_of(view.state, trial.claims)
        found = judge(evidence, known.manifest, standing=standing)
        sealed = view.state.apps.checks.get((app, version))
        is_it = sealed is not None and sealed.evidence_digest == evidence.digest
        at_ms = sealed.at_ms if sealed is not None and is_it and not caller.dry_run else 0
        return AppCheck(found.verdict, found.findings, evidence.digest, at_ms)

    return await caller.lookup(look)


def _require_tried(caller: Caller, claims: CheckClaims) -> None:
    """Who seals must be able to have tried it there, and is not the one who was tried."""
    scope = Scope(claims.tenant, claims.project)
    if not caller.holds(Permission.INSTANCE_UPDATE, scope):
        told = f"{Permission.INSTANCE_UPDATE.value} is needed where the app was tried"
        raise caller.refuse(told, reason="forbidden")
    if caller.principal.name == claims.operator:
        raise caller.refuse("an operator does not judge itself", reason="own_check")


# -- the journal -----------------------------------------------------------------------------


async def _read_facts(caller: Caller, trial: _Trial) -> CheckFacts:
    claims = trial.claims
    records = await _records(caller, trial)
    rows = [ToldRow(each.seq, each.kind.value, each.actor, each.body) for each in records]
    is_whole = bool(rows) and rows[0].kind == "app_instance_requested"
    if not is_whole or rows[0].body["app"] != trial.app:
        raise trial.contradicts(EvidenceFault.NO_SUCH_INSTANCE)
    if not wants(rows, trial.version):
        raise trial.contradicts(EvidenceFault.VERSION_NOT_WANTED)
    types = {each.seq: type_of(each.kind, each.body) for each in records}
    for heard in claims.heard:
        if types.get(heard.seq) != f"apps.instance.{heard.event}":
            raise trial.contradicts(EvidenceFault.NOT_THAT_EVENT, heard.seq)
    await _check_policy(caller, trial)
    return tell_facts(rows, version=trial.version, operator=claims.operator, kills=claims.kills)


async def _records(caller: Caller, trial: _Trial) -> list[Record]:
    """All records about the instance between the first and the last of the check."""
    first, last = trial.claims.first_seq, trial.claims.last_seq
    if last - first >= SPAN_MAX or last >= caller.gateway.journal.size:
        raise trial.contradicts(EvidenceFault.TOO_LONG)
    found: list[Record] = []
    while first <= last:  # bounded by the span: every page is of one line at least
        lines = await caller.records(first, min(_PAGE, last - first + 1))
        if not lines:
            raise trial.contradicts(EvidenceFault.TOO_LONG)
        found += await asyncio.to_thread(_about, trial, lines)
        first += len(lines)
    return found


def _about(trial: _Trial, lines: list[bytes]) -> list[Record]:
    mark = b'"instance_id":%d' % trial.claims.instance_id
    told = (line for line in lines if mark in line and may_be_event(line))
    records = (parse_record(line.rstrip(b"\n")) for line in told)
    return [each for each in records if trial.is_about(each)]


async def _check_policy(caller: Caller, trial: _Trial) -> None:
    """The line that denied a source must be there, about this app, in this tenant and this time."""
    tried = trial.claims.policy
    if tried is None:
        return
    fault = trial.contradicts(EvidenceFault.NOT_THAT_POLICY, tried.seq)
    if not trial.claims.first_seq <= tried.seq <= trial.claims.last_seq:
        raise fault
    (line,) = await caller.records(tried.seq, 1)
    record = parse_record(line.rstrip(b"\n"))
    is_line = record.kind.value == "app_entitlement_set" and record.tenant == trial.claims.tenant
    if not is_line or record.body["app"] != trial.app:
        raise fault
    denied = record.body.get("deny_sources", ())
    if not isinstance(denied, tuple) or tried.source not in denied:
        raise fault

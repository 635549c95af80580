"""Shared runtimes in a snapshot."""

from __future__ import annotations

from typing import Any

from bailiwick.apps.shared.submitting import SubmitPolicy
from bailiwick.kernel.apps.shared.apply import put_runtime
from bailiwick.kernel.apps.shared.book import (
    HeldRuntime,
    SharedAttachment,
    SharedBook,
    SharedContribution,
    SharedRuntime,
    SharedSettlement,
    SharedUse,
)
from bailiwick.kernel.slice import Plain
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.shared import AttachmentPhase, ContributionPhase

# Where the times stand in a row: what was, and what is to be.
_RUNTIME_PAST, _ATTACHMENT_PAST = 13, 4
_GIVEN_DUE, _GIVEN_PAST = 5, 6


def dump_shared(book: SharedBook) -> Plain:
    """The runtimes in their order, each with all that belongs to it."""
    return {"serial": book.serial, "held": [_held_row(each) for each in book.held.values()]}


def _held_row(held: HeldRuntime) -> Plain:
    r = held.runtime
    return {
        "runtime": [
            *(r.id, r.tenant, r.name, r.environment, r.project, r.app, r.instance_id),
            *([*map(list, r.controller.items())], r.withdraw_within_ms, r.billing_rule),
            *(r.billing_digest, r.accepted_by, int(r.is_leaving), r.created_ms, r.seq),
        ],
        "attachments": [
            [a.project, a.phase.value, a.allowed_by, a.accepted_by, a.since_ms, a.seq]
            for a in held.attachments.values()
        ],
        "contributions": [
            [
                *(c.project, c.member_id, c.component_key, c.role, c.phase.value),
                *(c.deadline_ms, c.since_ms, c.seq),
            ]
            for c in held.contributions.values()
        ],
        "policies": [
            [
                *(p.name, p.project, p.queue, p.until_ms, p.grantee_project),
                *(p.grantee_person, [*map(list, p.limits.items())], p.seq),
            ]
            for p in held.policies.values()
        ],
        **_use_rows(held),
    }


def _use_rows(held: HeldRuntime) -> Plain:
    """What was told of use, and what that is worth: nothing where there is none of it."""
    found: Plain = {}
    use, settled = held.use, held.settlement
    if use.told_until_ms:
        recent = [[from_ms, mark] for from_ms, mark in use.recent.items()]
        found["use"] = [use.told_until_ms, recent, use.seq]
    if settled is not None:
        rates = [*map(list, settled.rates.items())]
        found["settlement"] = [rates, settled.accepted_by, settled.since_ms, settled.seq]
    return found


def _load_use(held: HeldRuntime, row: Plain) -> None:
    if "use" in row:
        told_until_ms, recent, seq = row["use"]
        held.use = SharedUse(told_until_ms, dict(recent), seq)
    if "settlement" in row:
        rates, accepted_by, since_ms, seq = row["settlement"]
        told = {"rates": dict(rates), "accepted_by": accepted_by}
        held.settlement = SharedSettlement(**told, since_ms=since_ms, seq=seq)


def load_shared(book: SharedBook, plain: Plain) -> None:
    """Take up what :func:`dump_shared` told."""
    book.serial = plain["serial"]
    for row in plain["held"]:
        held = HeldRuntime(_runtime_from(row["runtime"]))
        for project, phase, allowed_by, accepted_by, since_ms, seq in row["attachments"]:
            held.attachments[project] = SharedAttachment(
                project=project,
                phase=AttachmentPhase(phase),
                allowed_by=allowed_by,
                accepted_by=accepted_by,
                since_ms=since_ms,
                seq=seq,
            )
        for project, number, component, role, phase, due_ms, since_ms, seq in row["contributions"]:
            held.contributions[number] = SharedContribution(
                project=project,
                member_id=number,
                component_key=component,
                role=role,
                phase=ContributionPhase(phase),
                deadline_ms=due_ms,
                since_ms=since_ms,
                seq=seq,
            )
        for each in row["policies"]:
            policy = _policy_from(each)
            held.policies[policy.project, policy.name] = policy
        _load_use(held, row)
        put_runtime(book, held)


def _runtime_from(row: list[Any]) -> SharedRuntime:
    return SharedRuntime(
        id=row[0],
        tenant=row[1],
        name=row[2],
        environment=row[3],
        project=row[4],
        app=row[5],
        instance_id=row[6],
        controller=dict(row[7]),
        withdraw_within_ms=row[8],
        billing_rule=row[9],
        billing_digest=row[10],
        accepted_by=row[11],
        is_leaving=bool(row[12]),
        created_ms=row[13],
        seq=row[14],
    )


def _policy_from(row: list[Any]) -> SubmitPolicy:
    return SubmitPolicy(
        name=row[0],
        project=row[1],
        queue=row[2],
        until_ms=row[3],
        grantee_project=row[4],
        grantee_person=row[5],
        limits=dict(row[6]),
        seq=row[7],
    )


def repair_shared(plain: Plain, clock: ClockRepair) -> None:
    """What was done, and by when things are due, is as the clock that counts says.

    Until when a policy holds was said by people, of the time of day: it stays.
    """
    for held in plain["held"]:
        held["runtime"][_RUNTIME_PAST] = clock.past(held["runtime"][_RUNTIME_PAST])
        for row in held["attachments"]:
            row[_ATTACHMENT_PAST] = clock.past(row[_ATTACHMENT_PAST])
        for row in held["contributions"]:
            row[_GIVEN_PAST] = clock.past(row[_GIVEN_PAST])
            if row[_GIVEN_DUE] is not None:
                row[_GIVEN_DUE] = clock.end(row[_GIVEN_DUE])
        if "use" in held:
            held["use"][0] = clock.past(held["use"][0])
        if "settlement" in held:
            held["settlement"][2] = clock.past(held["settlement"][2])

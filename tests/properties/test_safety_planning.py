"""A plan is what happens: asked on any state, it changes nothing and the command then does it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from bailiwick.journal import Record, parse_record
from bailiwick.kernel import Cancel, ChangeSettings, Envelope, Submit
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.snapshot import digest_of
from bailiwick.kernel.spelling import denial_body
from bailiwick.kernel.work import plan as pl
from bailiwick.scheduler.explain import remedy_for
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.values import TenantId
from bailiwick.vocab.words import FilterReason, LeaseClass, Priority
from tests.support.kernel_histories import AMPERE, HOPPER, Campus, busy_journal
from tests.support.wide_open import wide_settings


def random_submit(campus: Campus, chance: Random) -> Submit:
    gpus = chance.choice((0, 1, 2, 4, 8))
    request = PlacementRequest(
        tenant=TenantId(chance.choice(("lab-a", "lab-b", "lab-c"))),
        gpu_count=gpus,
        cpu_cores=chance.choice((1, 4, 80)) if chance.random() < 0.1 else 1,
        gang_size=chance.choice((1, 1, 1, 2, 3)),
        generation=chance.choice((None, HOPPER, AMPERE)) if gpus else None,
        priority=chance.choice(list(Priority)),
        lease_class=chance.choice(list(LeaseClass)),
        ttl_ms=chance.choice((45_000, 900_000)),
        deadline_ms=chance.choice((None,) * 9 + (campus.now_ms - 1,)),
    )
    return Submit(request, chance.random() < 0.8)


def execute(campus: Campus, command: Submit) -> list[Record]:
    outcome = campus.kernel.execute(Envelope(command, "user"), campus.now_ms)
    campus.lines += outcome.lines
    return [parse_record(line[:-1]) for line in outcome.lines]


def bodies(records: list[Record], kind: str) -> list[dict[str, Any]]:
    return [dict(record.body) for record in records if record.kind == kind]


def tells(body: dict[str, Any], denied: Any) -> bool:
    wanted = denial_body(denied)
    return all(body.get(name) == _frozen(value) for name, value in wanted.items())


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def check_done(campus: Campus, planned: pl.Plan, records: list[Record]) -> None:
    state = campus.kernel.state
    match planned:
        case pl.GrantPlan():
            told = bodies(records, "admission_approved")
            assert [n for body in told for n in body["nodes"]] == list(planned.nodes)
            ids = [i for body in told for i in body["lease_ids"]]
            leases = [state.ledger.told(state.handle(i)) for i in ids]
            assert [lease.gpu_generation for lease in leases] == list(planned.generations)
            assert not bodies(records, "lease_revoked")
        case pl.PreemptPlan():
            warned = {b["lease_id"] for b in bodies(records, "lease_revoked")}
            assert warned == {victim.lease_id for victim in planned.victims}
            for claim in bodies(records, "request_blocked")[:1]:
                assert claim["seats"] == planned.nodes
                assert claim["until_ms"] == planned.until_ms
            if not bodies(records, "request_queued"):
                granted = [n for b in bodies(records, "admission_approved") for n in b["nodes"]]
                assert granted
                assert planned.until_ms == campus.now_ms
        case pl.QueuePlan():
            (queued,) = bodies(records, "request_queued")
            assert len(records) == 1
            assert planned.denied is None or tells(queued, planned.denied)
            assert "detail" not in queued or planned.denied is not None
        case pl.RefusePlan():
            (denied,) = bodies(records, "admission_denied")
            assert len(records) == 1
            assert tells(denied, planned.denied)


def check_explained(campus: Campus, command: Submit, planned: pl.Plan) -> None:
    found = pl.explain(campus.kernel.state, command, now_ms=campus.now_ms)
    assert found.plan == planned
    assert found.fitting + sum(found.fallen.values()) == len(campus.kernel.state.ledger)
    assert (found.blocker is None) == (not found.blockers)
    if found.blocker is not None:
        assert found.blocker.reason.rank == min(b.reason.rank for b in found.blockers)
        usual = remedy_for(found.blocker)
        if found.remedy.word is RemedyWord.FREE_OWN_LEASES and found.remedy.leases:
            assert usual.word is RemedyWord.WAIT_OR_PREEMPT
            owners = {campus.kernel.state.owner_of(i) for i in found.remedy.leases}
            assert owners == {Owner.of(command.request)}, "nobody else's leases are named"
        elif found.remedy != usual:  # nobody could make room: who would serve is closed
            assert usual.word is RemedyWord.WAIT_OR_PREEMPT
            assert found.remedy.word is RemedyWord.OPEN_NODES
            closed = [e for e in campus.kernel.state.ledger.entries.values() if not e.takes_leases]
            assert 0 < found.remedy.amount == len(closed)
            hardware = {FilterReason.GPU_KIND, FilterReason.LABELS, FilterReason.POLICY}
            assert not found.fitting
            assert set(found.fallen) <= hardware | {
                *(FilterReason.NODE_MODE, FilterReason.QUARANTINED, FilterReason.ATTESTATION),
            }
    if isinstance(planned, pl.RefusePlan):
        assert planned.denied in found.blockers


@pytest.mark.parametrize("grace_ms", [0, 30_000])
def test_what_was_planned_is_what_happens(grace_ms: int) -> None:
    seen: Counter[type] = Counter()
    for seed in range(6):
        campus, chance = busy_journal(seed, steps=60), Random(seed)
        campus.do(ChangeSettings(wide_settings(grace_ms=grace_ms, min_run_ms=0)))
        for _ in range(40):
            if chance.random() < 0.7:  # who stands first in line is who may evict
                for entry_id in list(campus.kernel.state.line.entries):
                    campus.do(Cancel(entry_id))
            command = random_submit(campus, chance)
            before = digest_of(campus.kernel.state)
            planned = pl.plan(campus.kernel.state, command, now_ms=campus.now_ms)
            check_explained(campus, command, planned)
            assert digest_of(campus.kernel.state) == before
            check_done(campus, planned, execute(campus, command))
            seen[type(planned)] += 1
            if chance.random() < 0.3:
                campus.pass_time(chance.choice((1_000, 120_000)))
    assert min(seen[kind] for kind in pl.Plan.__args__) >= 5, seen


def test_a_full_queue_is_the_same_error_for_who_asks_and_for_who_does() -> None:
    campus = busy_journal(1, steps=5)
    campus.do(ChangeSettings(wide_settings(queue_max=1)))
    huge = PlacementRequest(tenant=TenantId("lab-b"), gpu_count=8, gang_size=3)
    while not campus.kernel.state.line.entries:
        campus.do(Submit(huge, True))
    for ask in (
        lambda: pl.plan(campus.kernel.state, Submit(huge, True), now_ms=campus.now_ms),
        lambda: campus.do(Submit(huge, True)),
    ):
        with pytest.raises(LimitReached):
            ask()

"""Room that is kept for waiting work: for several at a time, and never for ever."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bailiwick.kernel import Renew, ReportTeardown, digest_of
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.kernel.views import EstimateBasis, waiting
from bailiwick.vocab.errors import BailiwickError
from tests.unit.kernel.desk import CRITICAL, HIGH, Desk, cores

SECOND = 1_000


def desk(*sizes: int, **how: Any) -> Desk:
    nodes = [cores(size) for size in sizes or (4,)]
    return Desk(nodes=nodes, **{"grace_ms": 500, "preempt_from": CRITICAL, **how})


def started(d: Desk) -> list[int | None]:
    return [r.body.get("entry_id") for r in d.last if r.kind == "admission_approved"]


def told(d: Desk, kind: str) -> list[dict[str, Any]]:
    return [dict(r.body) for r in d.last if r.kind == kind]


def is_same_when_read_back(d: Desk) -> bool:
    return digest_of(decode(encode(d.state), d.digest)) == d.digest == digest_of(d.replayed().state)


# --- several at a time --------------------------------------------------------------------------


def test_room_is_kept_for_several_and_each_reckons_with_those_before_it() -> None:
    d = desk(4)
    d.lease(cpu_cores=4, ttl_ms=10 * SECOND)
    first = d.wait("a", cpu_cores=3, ttl_ms=20 * SECOND)
    second = d.wait("b", cpu_cores=2, ttl_ms=20 * SECOND)
    third = d.wait("c", cpu_cores=1, ttl_ms=20 * SECOND)
    d.tick()
    assert [b["entry_id"] for b in told(d, "room_reserved")] == [first], "one is promised it"
    kept = {row.id: row.estimate for row in waiting(d.state, d.now_ms)}
    assert {each.basis for each in kept.values()} == {EstimateBasis.RESERVATION}
    # The third fits beside the first; the second must wait for the end of the first.
    starts = {entry_id: each.starts_ms for entry_id, each in kept.items()}
    assert starts == {first: 11_000, second: 31_000, third: 11_000}
    d.tick(11_000)
    assert started(d) == [first, third]
    d.tick(31_000)
    assert started(d) == [second]


def test_no_more_reservations_are_given_than_the_setting_says() -> None:
    d = desk(4, reservations_max=2)
    d.lease(cpu_cores=4)
    for tenant in "abc":
        d.wait(tenant, cpu_cores=4)
    d.tick()
    found = [row.estimate.basis.value for row in waiting(d.state, d.now_ms)]
    assert found == ["reservation", "reservation", "expiry"]


def test_small_work_takes_nothing_of_any_that_is_kept() -> None:
    d = desk(4, 4)
    d.lease(cpu_cores=3, ttl_ms=10 * SECOND)
    d.lease(cpu_cores=3, ttl_ms=20 * SECOND)
    big = [d.wait(tenant, cpu_cores=4, ttl_ms=50 * SECOND) for tenant in "ab"]
    small = d.wait("c", cpu_cores=1, ttl_ms=60 * SECOND)
    short = d.wait("d", cpu_cores=1, ttl_ms=9 * SECOND)
    d.tick()
    assert started(d) == [short], "it ends before anybody is to start"
    d.tick(11_000)
    assert started(d) == [big[0]]
    d.tick(21_000)
    assert started(d) == [big[1]]
    assert small in d.state.line.entries


# --- never for ever -----------------------------------------------------------------------------


def postpone(d: Desk, now_ms: int) -> None:
    """What runs ends, and urgent work takes the room for ten seconds more."""
    d.at(now_ms)
    d.wait("urgent", cpu_cores=4, priority=HIGH)
    d.tick()


def test_a_start_that_moves_later_is_told_and_lost_when_it_did_so_too_often() -> None:
    d = desk(slips_max=3, patience_ms=1_000 * SECOND)
    d.lease("other", cpu_cores=4)
    entry = d.wait(cpu_cores=4)
    d.tick()
    assert [b["starts_ms"] for b in told(d, "room_reserved")] == [11_000]
    postpone(d, 2_000)
    assert [(b["starts_ms"], b["slips"]) for b in told(d, "room_postponed")] == [(21_000, 1)]
    postpone(d, 3_000)
    assert [(b["starts_ms"], b["slips"]) for b in told(d, "room_postponed")] == [(31_000, 2)]
    assert is_same_when_read_back(d)
    postpone(d, 4_000)
    assert [(b["cause"], b["until_ms"]) for b in told(d, "room_lost")] == [("slipped", 1_004_000)]
    assert entry not in d.state.line.promises
    assert d.tick(5_000) == []
    assert is_same_when_read_back(d)


def test_after_patience_room_is_kept_again() -> None:
    d = desk(slips_max=1, patience_ms=5 * SECOND, aging_max=0)
    d.lease("other", cpu_cores=4, ttl_ms=100 * SECOND)
    entry = d.wait(cpu_cores=4)
    d.tick()
    postpone(d, 2_000)
    assert [b["entry_id"] for b in told(d, "room_lost")] == [entry]
    assert "room_reserved" not in d.tick(6_999)
    d.tick(7_000)
    assert [b["entry_id"] for b in told(d, "room_reserved")] == [entry]


def test_room_is_lost_at_once_when_its_own_tenant_postpones_it() -> None:
    d = desk(slips_max=100)
    lease = d.lease("lab", cpu_cores=1, ttl_ms=4 * SECOND)
    entry = d.wait("lab", cpu_cores=4)
    small = d.wait("third", cpu_cores=3, ttl_ms=500 * SECOND)
    d.tick()
    assert told(d, "room_reserved")[0]["entry_id"] == entry
    assert started(d) == []
    d.at(3_000).do(Renew(lease, 4 * SECOND))
    assert is_same_when_read_back(d)
    d.tick()
    assert [(b["entry_id"], b["cause"]) for b in told(d, "room_lost")] == [(entry, "own_renewal")]
    assert started(d) == [small], "it is held back no longer"
    assert is_same_when_read_back(d)


def test_a_renewal_of_its_own_tenant_that_postpones_nothing_costs_nothing() -> None:
    d = desk(4, 4)
    spared = d.lease("lab", cpu_cores=1, ttl_ms=50 * SECOND)
    d.lease("lab", cpu_cores=4, ttl_ms=10 * SECOND)
    entry = d.wait("lab", cpu_cores=4)
    d.tick()
    d.at(2_000).do(Renew(spared, 100 * SECOND))
    assert d.tick() == []
    d.tick(11_000)
    assert started(d) == [entry]


def test_one_core_that_is_renewed_for_ever_does_not_hold_a_machine_empty() -> None:
    for tenant in ("lab", "attacker"):
        d = desk(64)
        crumb = d.lease(tenant, cpu_cores=1, ttl_ms=4 * SECOND)
        whole = d.wait("lab", cpu_cores=64)
        useful = d.wait("useful", cpu_cores=32, ttl_ms=3_600 * SECOND)
        served = None
        for step in range(1, 20):
            d.at(step * 3 * SECOND)
            with suppress(BailiwickError):  # refused, it ends and the machine is free
                d.do(Renew(crumb, 4 * SECOND))
            d.tick()
            served = served or (started(d) and step)
            if served:
                break
        assert served, f"{tenant} holds 64 cores empty with one"
        assert {whole, useful} - set(d.state.line.entries)


def test_what_is_only_waited_for_to_be_torn_down_is_no_slip() -> None:
    d = desk(confirm_teardown=True, teardown_ms=60 * SECOND)
    lease = d.lease("other", cpu_cores=4)
    entry = d.wait(cpu_cores=4)
    d.tick()
    for second in range(11, 40):
        d.tick(second * SECOND)
        assert not {"room_postponed", "room_lost"} & set(d.kinds)
    d.do(ReportTeardown(lease, clean=True))
    d.tick()
    assert started(d) == [entry]

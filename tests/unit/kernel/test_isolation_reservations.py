"""Nobody waits for ever because of a rule: room is kept in advance where a rule closes it now."""

from __future__ import annotations

from typing import Any

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import RegisterNode, Release, SetIsolationPolicy, Submit
from bailiwick.kernel.views import EstimateBasis, waiting
from tests.unit.kernel.desk import CRITICAL, Desk, ask

APART = "never share host between tenant a and tenant b"


def desk(text: str, *, nodes: int = 1, racks: int = 1) -> Desk:
    """Machines of four cores behind the policy."""
    made = Desk(grace_ms=0, preempt_from=CRITICAL)
    for number in range(1, nodes + 1):
        labels = {"rack": f"r{number % racks}"}
        made.do(RegisterNode(f"n{number}", NodeCapacity(4, 10**6, labels=labels)))
    made.do(SetIsolationPolicy(text))
    return made


def started_by(d: Desk, entry: int, *, while_come: Any, rounds: int = 30) -> int | None:
    """When the entry starts while such requests keep coming, three seconds apart."""
    for _ in range(rounds):
        d.do(Submit(while_come))
        d.tick(d.now_ms + 3_000)
        if entry not in d.state.line.entries:
            return d.now_ms
    return None


def promised(d: Desk) -> int | None:
    """When the first in line is to start, if room is kept for it."""
    (first, *_) = waiting(d.state, d.now_ms)
    kept = first.estimate.basis is EstimateBasis.RESERVATION
    return first.estimate.starts_ms if kept else None


def test_who_is_kept_out_by_work_that_runs_starts_when_that_has_ended() -> None:
    d = desk(APART)
    d.lease("a", ttl_ms=10_000)
    entry = d.wait("b", ttl_ms=5_000)
    d.tick()
    assert promised(d) == 11_000
    assert started_by(d, entry, while_come=ask("a", ttl_ms=10_000)) == 13_000


def test_nobody_comes_beside_a_reservation_with_whom_its_holder_may_not_be() -> None:
    d = desk(APART)
    d.lease("c", cpu_cores=2, ttl_ms=10_000)
    entry = d.wait("b", cpu_cores=3, ttl_ms=5_000)
    d.tick()
    assert started_by(d, entry, while_come=ask("a", ttl_ms=10_000)) == 13_000


def test_who_may_be_beside_its_holder_still_goes_ahead() -> None:
    d = desk(APART)
    d.lease("a", ttl_ms=10_000)
    entry = d.wait("b", cpu_cores=2, ttl_ms=5_000)
    d.tick()
    d.do(Submit(ask("c", ttl_ms=60_000)))  # takes none of its room, and may be beside both
    d.do(Submit(ask("a", ttl_ms=5_000)))  # is gone by then
    d.do(Submit(ask("a", ttl_ms=60_000)))  # would shut it out
    d.tick()
    assert sorted(str(d.state.owner_of(i).tenant) for i in d.state.leases) == ["a", "a", "c"]
    d.tick(11_000)
    assert entry not in d.state.line.entries


def test_work_anywhere_in_a_rack_keeps_the_rack_from_being_shut_again() -> None:
    d = desk("never share rack among tenants", nodes=4, racks=2)
    for _ in range(2):
        d.lease("a", cpu_cores=4, ttl_ms=10_000)
        d.lease("c", cpu_cores=4, ttl_ms=20_000)
    entry = d.wait("b", ttl_ms=5_000)
    d.tick()
    assert promised(d) == 11_000
    assert started_by(d, entry, while_come=ask("a", ttl_ms=10_000)) == 13_000


def test_what_somebody_would_leave_behind_is_reckoned_with() -> None:
    d = desk(f"{APART}\nkeep host for tenant a 30s after it left")
    d.lease("a", ttl_ms=10_000)
    entry = d.wait("b", ttl_ms=5_000)
    d.tick()
    assert promised(d) == 41_000
    # It would end in time, and what it leaves would not.
    assert started_by(d, entry, while_come=ask("a", ttl_ms=20_000)) == 43_000


def test_where_nobody_knows_when_a_node_is_scrubbed_nothing_is_promised() -> None:
    d = desk("keep host for tenant a until scrubbed")
    d.do(Release(d.lease("a")))
    d.wait("b")
    d.tick()
    assert promised(d) is None


def test_too_many_of_ones_own_do_not_keep_a_gang_from_its_places() -> None:
    d = desk("at most 1 of tenant a per rack", nodes=4, racks=2)
    for _ in range(2):
        d.lease("a", ttl_ms=10_000)
    entry = d.wait("a", gang_size=2, ttl_ms=5_000)
    d.tick()
    assert promised(d) == 11_000
    assert started_by(d, entry, while_come=ask("a", ttl_ms=10_000)) == 13_000


def test_a_gang_that_is_kept_out_starts_whole() -> None:
    d = desk(APART, nodes=3)
    for _ in range(3):
        d.lease("a", cpu_cores=3, ttl_ms=10_000)
    entry = d.wait("b", cpu_cores=3, gang_size=3, ttl_ms=5_000)
    d.tick()
    assert promised(d) == 11_000
    assert started_by(d, entry, while_come=ask("a", ttl_ms=10_000)) == 13_000


def test_a_window_that_opens_while_it_would_run_is_reckoned_with() -> None:
    hour_ms = 3_600_000
    d = Desk(grace_ms=0, preempt_from=CRITICAL)
    d.now_ms = 4 * 24 * hour_ms + 6 * hour_ms  # a Monday at six
    d.do(RegisterNode("n1", NodeCapacity(4, 10**6)))
    d.do(SetIsolationPolicy(f"{APART} between 08:00 and 18:00"))
    begun_ms = d.now_ms
    d.lease("a", cpu_cores=2, ttl_ms=2 * hour_ms - 1)
    d.lease("c", cpu_cores=2, ttl_ms=hour_ms)
    d.wait("b", cpu_cores=2, ttl_ms=hour_ms + 1)
    d.tick()
    # At seven there is room, but not beside a for what would run past eight.
    assert promised(d) == begun_ms + 2 * hour_ms - 1

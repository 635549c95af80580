"""Waiting raises an entry in the order of the line, within bounds, and in nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import Granted, Settings, Submit
from bailiwick.kernel.views import POSITION_MAX, waiting_entry
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import Priority
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores

SECOND, NORMAL = 1_000, Priority.NORMAL


def desk(**how: Any) -> Desk:
    known = {"grace_ms": 500, "aging_ms": 10 * SECOND, "preempt_from": CRITICAL}
    return Desk(nodes=[cores(4)], **{**known, **how})


def served(d: Desk, entry: int) -> int | None:
    """After how many seconds of an endless stream of urgent work the entry starts, if it does."""
    for second in range(60):
        d.at(1_000 + second * SECOND)
        d.do(Submit(ask("stream", cpu_cores=4, ttl_ms=2 * SECOND, priority=HIGH)))
        d.tick()
        if entry not in d.state.line.entries:
            return second
    return None


@pytest.mark.parametrize("tenant", ["lab", "stream"])
def test_an_endless_stream_of_urgent_work_does_not_starve_the_rest(tenant: str) -> None:
    d = desk()
    d.lease("stream", cpu_cores=4, ttl_ms=500, priority=HIGH)
    found = served(d, d.wait(tenant, cpu_cores=4))
    assert found is not None
    assert 10 <= found <= 22, "not before its time, and soon after it"


def test_without_aging_it_waits_for_ever() -> None:
    d = desk(aging_max=0)
    d.lease("stream", cpu_cores=4, ttl_ms=500, priority=HIGH)
    assert served(d, d.wait("lab", cpu_cores=4)) is None


def test_a_newcomer_stands_behind_who_was_raised_to_its_priority() -> None:
    d = desk()
    d.lease(cpu_cores=3, ttl_ms=90 * SECOND)
    d.wait("old", cpu_cores=4)
    assert isinstance(d.at(10_999).do(Submit(ask("x", cpu_cores=1, priority=HIGH))), Granted)
    d.tick(11_000)
    answer = d.at(11_001).do(Submit(ask("y", cpu_cores=1, priority=HIGH)))
    assert not isinstance(answer, Granted)


def test_who_is_raised_evicts_nobody() -> None:
    d = desk(preempt_from=HIGH)
    d.lease("victim", cpu_cores=4, priority=LOW, ttl_ms=90 * SECOND)
    d.wait("old", cpu_cores=4)
    for now_ms in (11_000, 31_000, 61_000):
        assert "request_blocked" not in d.tick(now_ms)
    assert not d.state.claims


@pytest.mark.parametrize(
    ("how", "raised"),
    [
        ({}, {"low": 1, "normal": 1, "high": 0}),
        ({"aging_max": 3}, {"low": 2, "normal": 1, "high": 0}),
        ({"aging_max": 3, "aging_ceiling": CRITICAL}, {"low": 3, "normal": 2, "high": 1}),
        ({"aging_max": 0}, {"low": 0, "normal": 0, "high": 0}),
    ],
)
def test_nobody_is_raised_above_the_ceiling(how: dict[str, Any], raised: dict[str, int]) -> None:
    d = desk(**how)
    d.lease(cpu_cores=4, ttl_ms=10**6)
    entries = {word: d.wait(cpu_cores=4, priority=word) for word in (LOW, NORMAL, HIGH)}
    found = {w: waiting_entry(d.state, i, now_ms=200_000).raised for w, i in entries.items()}
    assert found == raised
    assert not any(waiting_entry(d.state, i, now_ms=2_000).raised for i in entries.values())


def test_a_long_line_is_counted_no_further_than_it_must_be() -> None:
    d = desk()
    d.lease(cpu_cores=4, ttl_ms=10**6)
    entries = [d.wait(cpu_cores=4) for _ in range(POSITION_MAX + 2)]
    rows = [waiting_entry(d.state, i, now_ms=d.now_ms) for i in entries[-3:]]
    told = [(row.position, row.is_further) for row in rows]
    assert told == [(POSITION_MAX, False), (POSITION_MAX, True), (POSITION_MAX, True)]


@pytest.mark.parametrize(
    "how",
    [
        {"aging_ms": 0},
        {"aging_max": 4},
        {"aging_max": -1},
        {"aging_ceiling": 2},
        {"slips_max": 0},
        {"reservations_max": 0},
        {"reservations_max": 65},
    ],
)
def test_settings_of_the_line_are_bounded(how: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=next(iter(how))):
        Settings(**how)

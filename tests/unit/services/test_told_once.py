"""What is news about a budget, read from the kernel's own records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiwick.kernel import DepartNode
from bailiwick.kernel.money.commands import RemoveBudget, SetRateCard
from bailiwick.services.notices.tidings import may_matter, read_line
from bailiwick.services.notices.told_once import OF_BUDGETS, told_after
from bailiwick.store.notices.told import NOTHING_TOLD, ToldBudget
from tests.unit.kernel.desk import Desk, cores
from tests.unit.kernel.test_budgets import LONG, budget, per_ms, spent, states

LOW = {"thresholds": (800,)}


def told(desk: Desk) -> list[tuple[Any, Any]]:
    """What people were told of the one budget there is: how it stands, and what is spent of it."""
    known, found = NOTHING_TOLD, []
    for line in filter(may_matter, desk.lines):
        record = json.loads(line)
        if record["kind"] not in OF_BUDGETS:
            continue
        before, known = known, told_after(record, known)
        tiding = read_line(record, journal="j", holder=str)
        if tiding is not None and known.level > before.level:
            found.append((tiding.facts["state"], tiding.facts["spent_micros"]))
    return found


def refunded() -> Desk:
    """A budget of 1,000 that was at 808, and is at 720 since a node was lost."""
    desk = Desk(nodes=[cores(8), cores(8)], grace_ms=500)
    desk.do(SetRateCard(per_ms()))
    desk.do(budget(1_000, **LOW))
    desk.lease(cpu_cores=8, ttl_ms=LONG)
    desk.tick(1_101)
    desk.do(DepartNode("n1", 1_090))
    desk.tick(1_102)
    assert (spent(desk), states(desk)) == (720, ["low_balance", "healthy"])
    desk.lease(cpu_cores=8, ttl_ms=LONG)
    return desk


def test_a_line_that_is_passed_again_after_a_refund_is_no_news() -> None:
    desk = refunded()
    desk.tick(1_115)
    assert states(desk) == ["low_balance", "healthy", "low_balance"], "the journal has each"
    assert told(desk) == [("low_balance", 808)]


def test_the_next_line_is_news_after_a_refund_all_the_same() -> None:
    desk = refunded()
    desk.tick(1_137)
    assert states(desk)[-1] == "depleted"
    assert told(desk) == [("low_balance", 808), ("depleted", 1_000)]


@pytest.mark.parametrize(
    "other",
    [
        budget(1_001, **LOW),
        budget(1_000, thresholds=(810,)),
        budget(1_000, **LOW, until_ms=LONG, opening=720),
        budget(1_000, **LOW, opening=720),
    ],
)
def test_a_budget_that_is_set_otherwise_or_counted_anew_is_told_anew(other: Any) -> None:
    desk = refunded()
    desk.do(other)
    desk.tick(1_115)
    assert [state for state, _ in told(desk)] == ["low_balance"] * 2


def test_so_is_one_that_was_removed_and_set_again() -> None:
    desk = refunded()
    desk.do(RemoveBudget("lab"))
    desk.do(budget(1_000, **LOW, opening=720))
    desk.tick(1_115)
    assert [state for state, _ in told(desk)] == ["low_balance"] * 2


@pytest.mark.parametrize("cap_micros", [None, LONG])
def test_one_that_is_set_to_what_it_was_is_not_told_anew(cap_micros: int | None) -> None:
    """As a file is that somebody applies every night; a cap is none of the lines."""
    desk = refunded()
    desk.do(budget(1_000, **LOW, cap_micros=cap_micros))
    desk.tick(1_115)
    assert states(desk)[-1] == "low_balance"
    assert told(desk) == [("low_balance", 808)]


def test_that_work_is_ended_and_gone_is_no_line_of_its_own() -> None:
    body = {"before": "healthy", "crossed": 1, "spent_micros": 9, "limit_micros": 9}
    known = ToldBudget("t", 0)
    for state in ("auto_release_pending", "depleted", "low_balance", "auto_release_pending"):
        line = {"kind": "budget_state_changed", "body": {**body, "after": state}}
        known = told_after(line, known)
        assert known == ToldBudget("t", 2)

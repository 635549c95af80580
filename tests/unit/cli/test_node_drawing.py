"""A node as its row and its page tell it: why it takes no work, and what is fenced there."""

from __future__ import annotations

from time import time_ns
from typing import Any

import pytest

from bailiwick.cli.commands.plan import draw_rules
from bailiwick.cli.nodes.drawing import NODES, draw_node
from bailiwick.kernel.bookings.guard import BOOKING_RULE
from bailiwick.kernel.maintenance.guard import RULE_PREFIX
from bailiwick.phrases.reasons import BOOKING, MAINTENANCE
from bailiwick.phrases.times import clock, moment
from bailiwick.wire.base import ClosingRule
from bailiwick.wire.fleet import Node
from tests.unit.cli.test_node_tree import NODE as MACHINE

HOUR_MS = 3_600_000
NOW_MS = time_ns() // 1_000_000


def node(**more: Any) -> Node:
    return Node.model_validate({**MACHINE, **more})


def takes(**more: Any) -> str:
    return NODES.row(node(**more))[NODES.headings.index("takes leases")]


def test_a_row_tells_why_a_node_takes_no_work_or_soon_takes_none() -> None:
    past, later = NOW_MS - HOUR_MS, NOW_MS + HOUR_MS
    assert takes() == "yes"
    assert takes(booked_ms=past, booked_until_ms=later) == f"no, booked until {clock(later)}"
    assert takes(booked_ms=later, booked_until_ms=later + 1) == f"yes, booked from {clock(later)}"
    assert takes(maintained_ms=past) == f"no, maintenance from {clock(past)}"
    assert takes(maintained_ms=later) == f"yes, maintenance from {clock(later)}"
    closed = {"takes_leases": False, "mode": "draining"}
    assert takes(**closed, maintained_ms=later) == f"no, maintenance from {clock(later)}"
    assert takes(**closed) == "no"


def test_a_fenced_lease_is_told_with_its_holder_since_when_and_how_it_is_cleared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    lease: dict[str, Any] = {"lease_id": 7, "tenant": "lab", "project": "p", "cpu_milli": 1_000}
    lease |= {"lease_class": "spot", "devices": [], "device_milli": 0, "ending": True}
    lease |= {"expires_ms": 2**53, "fenced": True, "fenced_ms": NOW_MS - HOUR_MS}
    draw_node(node(holders=[lease], leases=1))
    told = capsys.readouterr().out
    row = next(line for line in told.splitlines() if line.strip().startswith("lease-7"))
    assert "lab/p" in row
    assert f"fenced since {moment(NOW_MS - HOUR_MS)}" in row
    assert "bailiwick lease clear-fence lease-7" in told
    draw_node(node(holders=[lease | {"fenced": False, "fenced_ms": None}], leases=1))
    assert "clear-fence" not in capsys.readouterr().out


def test_bookings_and_maintenance_are_not_told_as_rules_of_a_policy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = (BOOKING_RULE, f"{RULE_PREFIX}july", "no-strangers")
    draw_rules([ClosingRule(rule=name, nodes=2) for name in names], 0)
    told = capsys.readouterr().out
    assert "isolation policy" not in told
    for part in ("a booking", "the maintenance window july", "rule no-strangers"):
        assert part in told
    assert (BOOKING, MAINTENANCE) == (BOOKING_RULE, RULE_PREFIX)

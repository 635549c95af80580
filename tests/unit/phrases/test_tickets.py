"""The text of a ticket: what is known, in sentences, and never whose work it was."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.phrases.health.sentences import told_findings
from bailiwick.phrases.health.tickets import CaseTest, NodeCase, ticket_text, ticket_title
from bailiwick.phrases.notices.texts import text_of, title_of
from bailiwick.vocab.health import (
    HealthAction,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestOutcome,
)
from bailiwick.vocab.notices import NoticeKind
from bailiwick.vocab.transitions import NodeMode

XID = HealthFinding(HealthCheck.XID, HealthLevel.FAIL, gpu=3, value=1, code=79)
DISK = HealthFinding(HealthCheck.DISK, HealthLevel.WARN, value=960, limit=900)

CASE = NodeCase(
    node="n1",
    now_ms=3_600_000,
    mode=NodeMode.DRAINING,
    findings=(XID, DISK),
    failed_ms=0,
    closed=HealthAction.DRAIN,
    models=("NVIDIA H200", "NVIDIA H200"),
    labels=("gpu_driver=570.1", "rack=r7"),
    leases=3,
    ending=2,
    tests=(CaseTest(NodeTestOutcome.FAILED, 1_000, 9_000),),
    can_test=True,
)

TEXT = """\
Node n1: the driver reported a fault of a GPU

As of 1970-01-01 01:00:00 UTC the node is draining.
It has failed since 1970-01-01 00:00:00 UTC (1h).
It was closed for its health, and what ran there was told to go.
3 leases there, 2 of them on the way out.

What was found:
- fail: GPU 3: the driver reported a fault of a GPU (1, and no more than 0 may be, \
XID 79)
- warn: the machine: a disk is full, or cannot be written (960, and no more than 900 may be)

Machine: 2 x NVIDIA H200.
Labels: gpu_driver=570.1, rack=r7.

Tests, the newest first:
- failed at 1970-01-01 00:00:01 UTC after 9s

What to do next:
- Look up the driver's number for the fault; the kernel's log has more.
- Make room, or replace the disk if it can only be read.
- Wait until it is empty: bailiwick node show n1
- Say that it is worked on: bailiwick node maintenance n1
- When it is repaired: bailiwick node uncordon n1 (it is tested first)
"""


def test_a_ticket_tells_all_that_is_known_in_one_order() -> None:
    assert ticket_text(CASE) == TEXT


def test_a_machine_of_which_nothing_is_known_has_a_short_one() -> None:
    case = NodeCase(node="n2", now_ms=0, mode=NodeMode.ACCEPTING)
    assert ticket_title(case) == "Node n2: nothing found"
    assert "no GPU" in ticket_text(case)
    late = NodeCase(
        node="n2",
        now_ms=0,
        mode=NodeMode.RETURNING,
        tests=(CaseTest(NodeTestOutcome.TIMED_OUT, 5),),
    )
    assert ticket_title(late) == "Node n2: its test was not answered"


def test_a_healthy_machine_needs_no_ticket_and_is_not_to_be_repaired() -> None:
    passed = (CaseTest(NodeTestOutcome.PASSED, 5),)
    case = NodeCase(node="n2", now_ms=0, mode=NodeMode.ACCEPTING, is_told=True, tests=passed)
    assert ticket_title(case) == "Node n2 is healthy: no ticket is needed"
    text = ticket_text(case)
    assert "There is nothing to do." in text
    assert "bailiwick node" not in text
    failed = (CaseTest(NodeTestOutcome.FAILED, 5),)
    assert "healthy" not in ticket_text(
        NodeCase(node="n2", now_ms=0, mode=NodeMode.CORDONED, is_told=True, tests=failed)
    )


DRAIN, WAIT, WORK = "node drain n1", "node show n1", "node maintenance n1"
TESTED = "node uncordon n1 (it is tested first)"
UNTESTED = "node uncordon n1 (its agent cannot test it)"


@pytest.mark.parametrize(
    ("more", "commands"),
    [
        ({"mode": NodeMode.ACCEPTING, "leases": 1}, [DRAIN, WAIT, WORK, TESTED]),
        ({"mode": NodeMode.CORDONED}, [DRAIN, WORK, TESTED]),
        ({"mode": NodeMode.DRAINING, "leases": 1}, [WAIT, WORK, TESTED]),
        ({"mode": NodeMode.DRAINED}, [WORK, TESTED]),
        ({"mode": NodeMode.MAINTENANCE}, [TESTED]),
        ({"mode": NodeMode.MAINTENANCE, "can_test": False}, [UNTESTED]),
        ({"mode": NodeMode.RETURNING}, [TESTED]),
        ({"mode": NodeMode.RETURNING, "due_ms": 9}, [WAIT]),
        ({"mode": NodeMode.FENCE_LOST}, ["node clear-fence n1", TESTED]),
    ],
)
def test_a_ticket_names_only_what_the_nodes_mode_allows(
    more: dict[str, Any], commands: list[str]
) -> None:
    case = NodeCase(**{"node": "n1", "now_ms": 0, "can_test": True, **more})
    lines = [line for line in ticket_text(case).splitlines() if ": bailiwick " in line]
    assert [line.partition(": bailiwick ")[2] for line in lines] == commands


def test_leases_that_all_go_are_not_counted_twice() -> None:
    case = NodeCase(node="n1", now_ms=0, mode=NodeMode.DRAINING, leases=1, ending=1)
    assert "1 lease there, on the way out." in ticket_text(case)


def test_how_many_findings_there_are_is_said_in_a_few_words() -> None:
    assert told_findings(()) == "ok"
    assert told_findings((DISK,)) == "1 warning"
    assert told_findings((XID, DISK)) == "1 finding that fails it, 1 warning"


def test_a_notice_tells_what_fails_a_node_and_where_the_ticket_is() -> None:
    facts = {"node": "n1", "action": "drain", "findings": "xid/fail/3/1/0/79 disk/warn/-/9/8/0"}
    assert title_of(NoticeKind.NODE_DRAINED, facts) == "Node n1 is being drained: it is not healthy"
    assert text_of(NoticeKind.NODE_DRAINED, facts, at_ms=0) == (
        "GPU 3: the driver reported a fault of a GPU. The ticket: bailiwick node ticket n1"
    )
    assert title_of(NoticeKind.NODE_DRAINED, {"node": "n1"}) == "Node n1 is drained"


def test_a_notice_of_a_test_says_that_the_node_stays_closed() -> None:
    facts = {"node": "n1", "action": "test_failed", "findings": "ecc/fail/3/2/0/0"}
    assert title_of(NoticeKind.NODE_DRAINED, facts) == "Node n1 did not pass its test"
    assert text_of(NoticeKind.NODE_DRAINED, facts, at_ms=0) == (
        "GPU 3: memory errors that could not be corrected. It takes no work. "
        "The ticket: bailiwick node ticket n1"
    )
    facts = {"node": "n1", "action": "test_timed_out", "findings": ""}
    assert title_of(NoticeKind.NODE_DRAINED, facts) == "Node n1 did not answer its test"

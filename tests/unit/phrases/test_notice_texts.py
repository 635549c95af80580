"""What people are told, read as they read it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bailiwick.iam import FLEET, Scope
from bailiwick.phrases.notices.texts import Facts, text_of, title_of
from bailiwick.services.notices.letters import text_of_letter, title_of_letter
from bailiwick.store.notices.told import Tiding
from bailiwick.vocab.notices import NoticeKind

MANUAL = Path(__file__).parents[3] / "docs" / "cli.md"
K = NoticeKind
TOLD: list[tuple[NoticeKind, Facts, str, str]] = [
    (
        K.JOB_ENDED,
        {"job_id": 7, "phase": "failed", "name": "train", "exit_code": 3},
        "Job 7 (train) failed",
        "Its exit code is 3. What it printed: bailiwick logs job-7",
    ),
    (
        K.JOB_ENDED,
        {"job_id": 7, "phase": "expired"},
        "Job 7 ran out of time",
        "What it printed: bailiwick logs job-7",
    ),
    (
        K.GRAPH_ENDED,
        {"graph_id": 4, "phase": "failed", "tasks": 9, "succeeded": 8},
        "Graph 4 failed",
        "8 of its 9 tasks succeeded. See: bailiwick graph show graph-4",
    ),
    (
        K.PREEMPTION_ANNOUNCED,
        {"lease_id": 3, "expires_ms": 300_000, "reason": "operator_drain"},
        "Lease 3 will be preempted",
        "Its time ends at 1970-01-01 00:05:00 UTC, 5m after this was decided; what runs on it then "
        "is stopped. Save now what must not be lost. Why: an operator is draining the node or "
        "cell. See: bailiwick lease explain lease-3",
    ),
    (
        K.PREEMPTION_ANNOUNCED,
        {"lease_id": 3, "reason": "operator_drain", "preemptor": "health", "rule": "xid"},
        "Lease 3 will be preempted",
        "Its time ends soon; what runs on it then is stopped. Save now what must not be lost. "
        "Why: the machine failed a check: xid (the driver reported a fault of a GPU). "
        "See: bailiwick lease explain lease-3",
    ),
    (
        K.BUDGET_REACHED,
        {"state": "low_balance", "spent_micros": 80, "limit_micros": 100},
        "80 % of a budget is spent",
        "Once all of it is spent, nothing new starts on it. See: bailiwick budget list",
    ),
    (
        K.BUDGET_REACHED,
        {"state": "depleted", "spent_micros": 100, "limit_micros": 100},
        "100 % of a budget is spent",
        "Nothing new starts on it until there is more. See: bailiwick budget list",
    ),
    (
        K.NODE_DRAINED,
        {"node": "n1"},
        "Node n1 is drained",
        "No work is left on it, so it can be serviced now. "
        "Back to work: bailiwick node uncordon n1",
    ),
    (
        K.NODE_DRAINED,
        {"node": "n1", "action": "hold_back", "findings": "xid/fail/3/1/0/79"},
        "Node n1 takes no new work: it is not healthy",
        "GPU 3: the driver reported a fault of a GPU. The ticket: bailiwick node ticket n1",
    ),
    (
        K.NODE_LOST,
        {"node": "n1", "cause": "departed", "leases": 1},
        "Node n1 is gone",
        "It fell silent or left the fleet, with 1 lease on it. See: bailiwick node show n1",
    ),
    (
        K.NODE_LOST,
        {"node": "n1", "cause": "quarantined"},
        "Node n1 is in quarantine",
        "It takes no work until an operator has looked at it and lets it back. "
        "See: bailiwick node show n1",
    ),
    (
        K.FINDING_REPORTED,
        {"finding": "clock_gap", "severity": "high", "subject": "n1"},
        "Finding: clock_gap",
        "Usage that was counted does not fit the journal, about n1 (severity: high). "
        "See: bailiwick finding list",
    ),
    (
        K.ISOLATION_VIOLATED,
        {"lease_id": 3, "rule": "apart"},
        "Isolation rule apart is violated",
        "Lease 3 is where the rule forbids it. See: bailiwick lease show lease-3",
    ),
    (
        K.MANY_MORE,
        {"notices": 12},
        "12 more notices in your inbox",
        "They were not sent, so that you are not flooded. See: bailiwick inbox list --unread",
    ),
    (
        K.TEST,
        {},
        "A test notice",
        "Notices reach you this way. Somebody with your login asked for this one: if that was not "
        "you, see bailiwick session list, and session revoke",
    ),
]


@pytest.mark.parametrize(("kind", "facts", "title", "text"), TOLD)
def test_a_notice_reads_so(kind: NoticeKind, facts: Facts, title: str, text: str) -> None:
    assert title_of(kind, facts) == title
    assert text_of(kind, facts, at_ms=0) == text


def test_every_kind_is_read_here_and_every_command_is_in_the_manual() -> None:
    assert {kind for kind, *_ in TOLD} == set(NoticeKind)
    manual = MANUAL.read_text()
    word = r"bailiwick ([a-z]+(?: [a-z]+(?![a-z-]))?)"
    named = {found for *_, text in TOLD for found in re.findall(word, text)}
    assert [each for each in named if f"`{each}`" not in manual] == []


@pytest.mark.parametrize("kind", list(NoticeKind))
def test_a_fact_that_is_missing_leaves_the_sentence(kind: NoticeKind) -> None:
    assert title_of(kind, {})
    assert text_of(kind, {}, at_ms=0)


def tiding(number: int, scope: Scope = FLEET) -> Tiding:
    kind, facts, *_ = TOLD[number]
    return Tiding(message=f"m-{number}", kind=kind, at_ms=0, scope=scope, facts=facts)


def test_a_letter_of_one_thing() -> None:
    told = [tiding(0, Scope("lab", "p"))]
    assert title_of_letter(told) == "Job 7 (train) failed"
    assert text_of_letter(told, withheld=0) == (
        "Job 7 (train) failed.\n\n"
        "Its exit code is 3. What it printed: bailiwick logs job-7\n"
        "Where: lab/p"
    )


def test_a_letter_of_several_things_and_of_how_many_more_there_are() -> None:
    told = [tiding(9), tiding(0, Scope("lab", "p"))]
    assert title_of_letter(told) == "Node n1 is gone, and 1 more notice"
    assert text_of_letter(told, withheld=3) == (
        "Node n1 is gone.\n"
        "It fell silent or left the fleet, with 1 lease on it. See: bailiwick node show n1\n\n"
        "Job 7 (train) failed.\n"
        "Its exit code is 3. What it printed: bailiwick logs job-7\n"
        "Where: lab/p\n\n"
        "3 more notices were not sent, so that you are not flooded. "
        "See: bailiwick inbox list --unread"
    )

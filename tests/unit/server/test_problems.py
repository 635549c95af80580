"""Every error has one status, one envelope, and tells nothing that is not the caller's business."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bailiwick.server.problems import (
    PROBLEMS,
    Trouble,
    problem_of,
    trouble_of,
    trouble_of_denial,
    trouble_of_status,
)
from bailiwick.services.caller import AccessDenied, Hidden, Refusal
from bailiwick.vocab import errors
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.wire.problem import EdgeCode


def test_the_catalog_is_closed() -> None:
    assert set(PROBLEMS) == {*ErrorCode, *EdgeCode}
    assert not {str(code) for code in ErrorCode} & {str(code) for code in EdgeCode}


def test_what_the_table_says_of_trying_again_is_what_the_error_says() -> None:
    for kind in BailiwickError.__subclasses__():
        if "code" in vars(kind):
            assert PROBLEMS[kind.code].retryable is kind.retryable, kind


@pytest.mark.parametrize(
    ("error", "status", "details"),
    [
        (errors.InvalidValue("ttl_ms", 0, "more"), 422, {"field": "ttl_ms", "expected": "more"}),
        (errors.NotFound("lease", 7), 404, {}),
        (errors.Conflict("lease", 7, "is fenced"), 409, {}),
        (errors.IllegalTransition("m", "a", "b", ("c",)), 409, {"current": "a", "allowed": ["c"]}),
        (errors.Stale("lease", 7, held=1, current=2), 412, {"held": 1, "current": 2}),
        (errors.LimitReached("nodes", 3), 409, {}),
        (errors.Unavailable("the store", "gone"), 503, {}),
        (errors.NotLeader("host:7077"), 503, {"leader": "host:7077"}),
        (errors.Deposed(1, 2), 503, {}),
        (errors.ClockJumped(9_000, 5_000, 1_000), 503, {}),
    ],
)
def test_an_error_is_told_with_its_numbers(
    error: BailiwickError, status: int, details: dict[str, object]
) -> None:
    found, problem = problem_of(trouble_of(error), "c-1")
    assert found == status
    assert problem.code == error.code
    assert problem.details == details
    assert problem.correlation_id == "c-1"
    assert problem.retryable is error.retryable
    assert problem.message == str(error)


@pytest.mark.parametrize(
    "error",
    [
        errors.InvariantBroken("secret-7"),
        errors.Damaged("the journal", "secret-7", "why"),
        errors.UnsupportedSchema("secret-7", "1"),
        RuntimeError("secret-7"),
    ],
)
def test_a_fault_says_only_that_it_is_one(error: Exception) -> None:
    status, problem = problem_of(trouble_of(error), "c-1")
    assert status == 500
    assert "secret-7" not in problem.model_dump_json()


def test_what_is_not_there_and_what_is_anothers_look_alike() -> None:
    absent = problem_of(trouble_of_status(404, "Not Found"), "c")
    assert problem_of(trouble_of(Hidden()), "c") == absent
    assert problem_of(trouble_of_denial(AccessDenied(Refusal("foreign_scope"))), "c") == absent


def test_a_refusal_says_itself_whether_waiting_helps() -> None:
    trouble = Trouble(EdgeCode.REFUSED, "no", retryable=True)
    assert problem_of(trouble, "c")[1].retryable


def test_the_manual_lists_every_code_with_its_status_and_meaning() -> None:
    manual = Path(__file__).resolve().parents[3] / "docs" / "api.md"
    row_pattern = r"^\| `([a-z_]+)` \| (\d{3}) \| ([a-z ]+) \| (.+) \|$"
    rows = re.findall(row_pattern, manual.read_text(), re.M)
    told = {code: (int(status), again, meaning) for code, status, again, meaning in rows}
    assert told.keys() == {code.value for code in PROBLEMS}
    for code, row in PROBLEMS.items():
        status, again, meaning = told[code.value]
        assert (status, meaning) == (row.status, row.meaning)
        assert again in (("yes" if row.retryable else "no"), "as the decision says")

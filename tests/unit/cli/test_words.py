"""Every closed word has its sentence, its exit code, its command: none is forgotten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from bailiwick.cli import ExitCode
from bailiwick.cli.lazy import COMMANDS, load_command
from bailiwick.cli.main import app
from bailiwick.cli.shared.denials import phrase_denial
from bailiwick.cli.shared.failures import EXIT_CODES, tell
from bailiwick.cli.shared.jobs import exit_code_of
from bailiwick.cli.shared.session import ENVIRONMENT
from bailiwick.client.bodies import denial_in
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.kernel.spelling import denial_body
from bailiwick.scheduler.decision import DenialDetail, Denied
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.tools.job_files.words import WORDS
from bailiwick.vocab.errors import ErrorCode, InvalidValue, InvariantBroken
from bailiwick.vocab.jobs import JobPhase
from bailiwick.wire import answers as ans
from bailiwick.wire import denials as den
from bailiwick.wire.problem import EdgeCode, Problem

DENIALS = get_args(get_args(ans.Denial)[0])


def denial(kind: Any) -> ans.Denial:
    """One of this kind, with numbers that are told apart."""
    values: dict[str, Any] = {"reason": "waiting_for_quota"}
    for number, (name, field) in enumerate(kind.model_fields.items(), 2):
        match name:
            case "reason":
                continue
            case "detail":
                values[name] = get_args(field.annotation)[0]
            case "denied_scope":
                values[name] = ["lab", "p"]
            case "resource" | "dimension":
                values[name] = "mem_bytes"
            case "denied_generation":
                values[name] = "nvidia_hopper"
            case "node":
                values[name] = "node-1"
            case "rule":
                values[name] = "vault"
            case "closed_by":
                values[name] = "quarantined"
            case "asked_priority" | "priority_max":
                values[name] = "critical" if name == "asked_priority" else "high"
            case "asked_class":
                values[name] = "guaranteed"
            case _:
                values[name] = number * 2**30
    found: ans.Denial = kind.model_validate(values)
    return found


@pytest.mark.parametrize("kind", DENIALS, ids=lambda kind: kind.__name__)
def test_every_denial_has_its_sentence(kind: Any) -> None:
    told = phrase_denial(denial(kind))
    assert told[0].islower() or told[0].isdigit()
    assert "_bytes" not in told
    assert not told.endswith(".")


def detail_of(denied: ans.Denial) -> DenialDetail:
    """The value that was decided; what both sides have is called the same."""
    apart = ("reason", "detail", "denied_scope", "denied_generation")
    names = [name for name in type(denied).model_fields if name not in apart]
    values: dict[str, Any] = {name: getattr(denied, name) for name in names}
    if "denied_scope" in type(denied).model_fields:
        values["scope"] = QuotaScope.of(*denied.denied_scope)  # type: ignore[union-attr, misc]
    if isinstance(denied, den.GpuGenerationLimitExceeded):
        values["generation"] = denied.denied_generation
    kinds = {kind.code.value: kind for kind in get_args(DenialDetail)}
    found: DenialDetail = kinds[denied.detail](**values)
    return found


@pytest.mark.parametrize("kind", DENIALS, ids=lambda kind: kind.__name__)
def test_a_denial_of_the_contract_is_the_one_that_was_decided(kind: Any) -> None:
    wanted = denial(kind)
    assert denial_body(Denied(wanted.reason, detail_of(wanted))) == wanted.model_dump(mode="json")


@pytest.mark.parametrize("kind", DENIALS, ids=lambda kind: kind.__name__)
def test_a_denial_is_found_among_the_facts_of_a_record(kind: Any) -> None:
    wanted = denial(kind)
    facts = wanted.model_dump(mode="json") | {"entry_id": 7, "nodes_seen": 3}
    assert denial_in(facts) == wanted


def test_facts_without_a_denial_have_none() -> None:
    assert denial_in({"entry_id": 7}) is None
    assert denial_in({"detail": "fragmented"}) is None


def test_every_error_code_has_its_exit_code() -> None:
    assert EXIT_CODES.keys() == {*ErrorCode, *EdgeCode}
    assert EXIT_CODES[ErrorCode.STALE] is ExitCode.CHANGED
    assert EXIT_CODES[EdgeCode.REFUSED] is ExitCode.DENIED


def problem(code: str, **more: Any) -> Refusal:
    told = {"code": code, "message": "it is so", "correlation_id": "c-1", "details": {}}
    return Refusal(409, Problem.model_validate(told | {"retryable": False} | more))


def test_a_refusal_says_what_a_fix_and_the_id_in_one_line() -> None:
    line, code = tell(problem("forbidden")) or ("", 0)
    assert line == (
        "it is so (ask an administrator there for a role that has it); correlation id c-1"
    )
    assert code is ExitCode.DENIED


def test_a_refused_request_is_told_by_its_decision() -> None:
    decision = {"answer": "refused", "denied": denial(den.NotEnoughFree).model_dump(mode="json")}
    line, code = tell(problem("refused", decision=decision)) or ("", 0)
    assert line.startswith("refused: ")
    assert "of memory free in all" in line
    assert code is ExitCode.DENIED


def test_all_errors_of_a_body_are_told() -> None:
    line, code = tell(problem("invalid_value", details={"errors": ["a: x", "b: y"]})) or ("", 0)
    assert line.startswith("a: x; b: y")
    assert code is ExitCode.USAGE


def test_text_from_a_server_does_not_steer_the_terminal() -> None:
    line, _ = tell(problem("conflict", message="a\x1b[2Jb\nc")) or ("", 0)
    assert "\x1b" not in line
    assert "\n" not in line


def test_errors_that_are_ours_have_their_codes() -> None:
    def code_of(error: Exception) -> ExitCode | None:
        told = tell(error)
        return None if told is None else told[1]

    assert code_of(Unreachable("x", "no", correlation_id="c")) is ExitCode.UNREACHABLE
    assert code_of(Misunderstood("x", "no", correlation_id="c")) is ExitCode.FAULT
    assert code_of(InvalidValue("a", 1, "b")) is ExitCode.USAGE
    assert code_of(InvariantBroken("x")) is ExitCode.FAULT
    assert code_of(KeyError("x")) is None


@pytest.mark.parametrize("phase", JobPhase)
def test_every_phase_ends_a_follower_in_its_way(phase: JobPhase) -> None:
    assert (exit_code_of(phase) is ExitCode.PENDING) is not phase.is_over
    assert (exit_code_of(phase) is ExitCode.DONE) is (phase is JobPhase.SUCCEEDED)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_first_level_is_there_and_has_a_line(name: str) -> None:
    command = load_command(name)
    assert app is not None
    assert command.name == name
    assert command.help or name in ("up", "whatif", "history")
    commands = getattr(command, "commands", {})
    assert all(each.help for each in commands.values()), name


def test_every_command_is_in_the_manual() -> None:
    manual = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text("utf-8")
    elsewhere = {"journal", "history", "bench"}  # described in pages of their own
    missing = []
    for name in COMMANDS:
        commands = getattr(load_command(name), "commands", {})
        words = [f"{name} {verb}" for verb in commands] if name not in elsewhere else [name]
        missing += [word for word in words or [name] if f"`{word}" not in manual]
    assert missing == []


def test_every_word_of_a_job_file_and_every_variable_is_in_the_manual() -> None:
    manual = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text("utf-8")
    named = [*WORDS, *ENVIRONMENT.values()]
    assert [word for word in named if f"`{word}`" not in manual] == []


def test_every_exit_code_is_in_the_manual() -> None:
    manual = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text("utf-8")
    assert [code for code in ExitCode if f"\n| {code.value} | " not in manual] == []


def test_starting_loads_nothing_that_a_help_screen_does_not_need() -> None:
    code = (
        "import sys, bailiwick.cli.main; "
        "print(sorted({'httpx2', 'pydantic', 'sqlalchemy', 'fastapi', 'rich.table', 'ruamel.yaml',"
        " 'bailiwick.client', 'bailiwick.wire', 'bailiwick.cli.commands', 'bailiwick.cli.offline',"
        " 'bailiwick.cli.shared'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

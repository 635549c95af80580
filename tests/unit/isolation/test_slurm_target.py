"""Slurm on trial, with programs that stand for its own: what is submitted, tried and cancelled."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.clusters.conformance import StepNotPossible
from bailiwick.clusters.live import LiveQuestion
from bailiwick.clusters.slurm import conformance
from bailiwick.clusters.slurm.conformance import JOB_NAME, begin
from bailiwick.isolation.conformance import make_trials
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.policy import Subject
from bailiwick.tools.isolation_conformance.runner import ConformanceRun, TrialNotRun, told_outcome
from bailiwick.vocab.errors import InvalidValue

STUB = Path(__file__).resolve().parents[2] / "support" / "stub_slurm.py"
POLICY = parse_policy("apart: never share host between tenant acme and tenant bank")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sbatch", "scancel", "squeue", "sinfo", "scontrol"):
        program = folder / name
        program.write_text(f"#!{sys.executable} -ES\n{STUB.read_text()}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("STUB_SLURM", str(tmp_path / "state"))
    monkeypatch.setattr(conformance, "PATIENCE_S", 0.0)
    return tmp_path / "state"


def cluster(
    state: Path, *, apart: bool = False, unknown: tuple[str, ...] = (), denied: bool = False
) -> None:
    others = {"id": 1, "account": "acme", "wish": "", "node": "n1", "cores": 1}
    world: dict[str, Any] = {"apart": apart, "unknown": unknown, "jobs": [others]}
    world |= {"down": {}, "denied": denied, "updates": []}
    state.write_text(json.dumps({**world, "last": 1, "submitted": []}))


def results(*words: str) -> dict[str, str]:
    target = begin(LiveQuestion())
    found = make_trials(POLICY, target.nodes(), now_ms=target.now_ms())
    trials = [each for each in found.trials if any(word in each.name for word in words)]
    run = ConformanceRun(target, POLICY)
    return {each.trial.name: told_outcome(each.outcome)[0] for each in run.run(trials)}


def test_jobs_of_two_accounts_are_driven_together_and_nobody_elses_job_is_touched(
    state: Path,
) -> None:
    cluster(state)
    assert results("ask-1.1") == {"apart/ask-1.1": "broken"}
    world = json.loads(state.read_text())
    assert [job["id"] for job in world["jobs"]] == [1]
    for words in world["submitted"]:
        assert f"--job-name={JOB_NAME}" in words
        assert any(word.startswith("--time=") for word in words)
    asked = [word for words in world["submitted"] for word in words if "--nodelist" in word]
    assert asked == ["--nodelist=n1"]


def test_a_cluster_that_keeps_accounts_apart_holds_after_every_partition_was_tried(
    state: Path,
) -> None:
    cluster(state, apart=True)
    assert results("ask-1.1") == {"apart/ask-1.1": "held"}
    submitted = json.loads(state.read_text())["submitted"]
    assert any("--partition=open" in words for words in submitted)
    assert not any("--partition=closed" in words for words in submitted)


def test_an_account_that_the_cluster_does_not_know_proves_nothing(state: Path) -> None:
    cluster(state, unknown=("bank",))
    target = begin(LiveQuestion())
    trials = make_trials(POLICY, target.nodes(), now_ms=target.now_ms()).trials
    outcomes = [each.outcome for each in ConformanceRun(target, POLICY).run(trials)]
    assert {type(each) for each in outcomes} == {TrialNotRun}
    assert "Invalid account" in str(outcomes[0])


def test_what_cannot_be_said_by_who_submits_is_refused_before_anything_is(state: Path) -> None:
    cluster(state)
    with pytest.raises(InvalidValue, match="user_name"):
        begin(LiveQuestion(tenant_by="user_name"))
    with pytest.raises(InvalidValue, match="on trial"):
        begin(LiveQuestion(files=(state,)))
    state.unlink()
    with pytest.raises(NoAnswer, match="sinfo failed"):
        begin(LiveQuestion()).nodes()


def test_a_node_without_others_work_goes_down_with_the_trials_own_and_is_up_at_the_end(
    state: Path,
) -> None:
    cluster(state)
    target = begin(LiveQuestion())
    target.submit("J1", Subject("acme"), cores=1, gpus=0, node="n2")
    target.lose("n2")
    assert [*target.settle(is_last=True)][-1] == ()
    with pytest.raises(StepNotPossible, match="n2 is down"):
        target.lose("n2")
    target.reset()
    world = json.loads(state.read_text())
    assert world["updates"] == ["n2 drain", "n2 down", "n2 resume"]
    assert ([job["id"] for job in world["jobs"]], world["down"]) == ([1], {})


def test_a_node_with_others_work_stays_up_and_so_does_one_that_nobody_may_change(
    state: Path,
) -> None:
    cluster(state)
    with pytest.raises(StepNotPossible, match="1 jobs of others are on n1"):
        begin(LiveQuestion()).lose("n1")
    world = json.loads(state.read_text())
    assert ([job["id"] for job in world["jobs"]], world["down"]) == ([1], {})
    cluster(state, denied=True)
    target = begin(LiveQuestion())
    with pytest.raises(StepNotPossible, match="permission denied"):
        target.lose("n2")
    target.reset()
    with pytest.raises(StepNotPossible, match="was not taken down here"):
        target.regain("n2")

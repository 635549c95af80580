"""``bailiwick meter slurm`` on a real cluster: the report is what was run, and the sum is whole.

What was run the test knows from the jobs' own clocks, and what Slurm says of it from its own
``sacct``; the report must agree with both, with the first as far as whole seconds go and with the
second exactly.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.slurm.story import AWAY_S, STATES, Story, tell_story
from tests.support.slurm_cluster import NODES
from tests.support.waiting import WAIT_S

SLACK_MS = 5_000
"""Whole seconds at both ends, and how long a machine takes to start a script and to see its end."""


def meter(story: Story, *words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "bailiwick.cli.main", "meter", "slurm", "-o", "json", *words]
    done = subprocess.run(
        command, env=story.cluster.env, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_meter_tells_what_a_real_cluster_ran_and_names_the_charge_past_an_end(
    tmp_path: Path,
) -> None:
    with tell_story(tmp_path / "saved") as story:
        logs = ("--node-logs", str(story.cluster.logs), "--save", str(story.saved))
        code, report = meter(story, "--from", _iso(story.from_s), *logs)
        assert code == 3  # the over-charge is a finding
        what_slurm_charged_is_what_ran_but_for_the_end_that_nobody_saw(story)
        the_report_is_exactly_the_sum_of_what_slurm_charged(story, report)
        leased_idle_and_unavailable_time_is_capacity_times_time(report)
        the_lost_nodes_gpus_are_unavailable_from_its_loss_on(story, report)
        the_job_that_ended_while_the_controller_was_away_is_named(story, report)
        saved_books_give_the_same_report_elsewhere(story, report)
        without_the_nodes_logs_the_end_is_in_doubt_with_its_bound(story, report)
    assert not story.cluster.folder.exists()
    assert story.cluster.left() == []


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat()


def _charged_s(story: Story, name: str) -> int:
    """What Slurm says of a job, asked and added up apart from the meter."""
    job = story.jobs[name]
    words = ("-aXnP", "-D", "-j", job.job_id, "-o", "elapsedraw,state")
    (row,) = story.cluster.run("sacct", *words).splitlines()
    elapsed, state = row.split("|")
    assert state == STATES[name]
    return int(elapsed)


def what_slurm_charged_is_what_ran_but_for_the_end_that_nobody_saw(story: Story) -> None:
    slack_ms = SLACK_MS + 20 * story.answer_ms
    for name, job in story.jobs.items():
        ran_ms = job.ended_ms - job.began_ms
        over_ms = _charged_s(story, name) * 1000 - ran_ms
        if name == "away":
            assert over_ms > AWAY_S * 1000 - 1_000
        else:
            assert -SLACK_MS <= over_ms <= slack_ms, (name, over_ms)


def the_report_is_exactly_the_sum_of_what_slurm_charged(
    story: Story, report: dict[str, Any]
) -> None:
    charged = {name: _charged_s(story, name) * 10**6 for name in story.jobs}
    hopper, ampere = "nvidia_hopper", "nvidia_ampere"
    expected = {
        ("acme", "vision", hopper, "exp-7", "standard"): 2 * charged["finished"],
        ("acme", "vision", hopper, None, "standard"): 4 * charged["preemptor"] + charged["spread"],
        ("acme", "vision", ampere, None, "standard"): charged["spread"],
        ("acme", "nlp", ampere, None, "standard"): 3 * charged["failed"] + 2 * charged["away"],
        ("uni", "uni", hopper, None, "spot"): 4 * charged["preempted"],
        ("uni", "uni", hopper, None, "standard"): 2 * charged["lost"],
    }
    found = {
        (row["tenant"], row["project"], row["generation"], row["tag"], row["lease_class"]): row[
            "gpu_micro_seconds"
        ]
        for row in report["rows"]
    }
    assert found == expected


def leased_idle_and_unavailable_time_is_capacity_times_time(report: dict[str, Any]) -> None:
    gpus: dict[str, int] = {}
    for kind, count in NODES.values():
        gpus[f"nvidia_{kind}"] = gpus.get(f"nvidia_{kind}", 0) + count
    for each in report["equations"]:
        assert each["holds"]
        owned = each["leased"] + each["idle"] + sum(each["unavailable"].values())
        time_ms = report["to_ms"] - report["from_ms"]
        assert owned == gpus.pop(each["generation"]) * time_ms * 1000
    assert gpus == {}


def the_lost_nodes_gpus_are_unavailable_from_its_loss_on(
    story: Story, report: dict[str, Any]
) -> None:
    words = ("-nP", "show", "event", f"start=uts{story.from_s}", "format=nodename,start")
    rows = story.cluster.run("env", "SLURM_TIME_FORMAT=%s", "sacctmgr", *words).splitlines()
    (down_s,) = [int(row.partition("|")[2]) for row in rows if row.startswith("h1|")]
    (hopper,) = [each for each in report["equations"] if each["generation"] == "nvidia_hopper"]
    lost_ms = report["to_ms"] - down_s * 1000
    assert hopper["unavailable"] == {"fence_lost": 4 * lost_ms * 1000}


def the_job_that_ended_while_the_controller_was_away_is_named(
    story: Story, report: dict[str, Any]
) -> None:
    found = {each["subject"]: each for each in report["findings"]}
    assert story.jobs["away"].job_id in found
    for job in story.jobs.values():
        finding = found.pop(job.job_id, None)
        if finding is None:
            continue
        # Another job may be named too, on a machine that is busy enough; then that is true of it.
        assert (finding["finding"], finding["gpus"]) == ("charged_past_end", job.gpus)
        # The node sees the end a moment after the job itself has told it.
        unseen_ms = finding["at_ms"] - job.ended_ms - finding["by_ms"]
        assert -1_000 < unseen_ms < 1_000 + 20 * story.answer_ms
        assert finding["gpu_micro_seconds"] == job.gpus * finding["by_ms"] * 1000
    assert found == {}


def saved_books_give_the_same_report_elsewhere(story: Story, report: dict[str, Any]) -> None:
    code, again = meter(story, "--files", str(story.saved))
    assert (code, again) == (3, report)


def without_the_nodes_logs_the_end_is_in_doubt_with_its_bound(
    story: Story, report: dict[str, Any]
) -> None:
    code, found = meter(story, "--from", _iso(story.from_s))
    away = story.jobs["away"]
    (finding,) = found["findings"]
    assert (code, finding["finding"], finding["subject"]) == (3, "end_in_doubt", away.job_id)
    over_ms = finding["at_ms"] - away.ended_ms
    assert finding["by_ms"] >= over_ms
    assert found["rows"] == report["rows"]

"""``bailiwick meter`` from a shell: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bailiwick.metering.report import Finding, ReportFindingWord
from bailiwick.phrases.findings import phrase_finding
from tests.support.command_line import Ended, call, run

ROOT = Path(__file__).resolve().parents[2]
BOOKS = ROOT / "tests/vectors/slurm_books"
"""What a real cluster (22.05) answered, saved with --save after tests/slurm/story.py was told."""

NAME = {"source": "ctl", "epoch": 1}
GOOD: list[dict[str, Any]] = [
    {"at_ms": 0, "kind": "node_appeared", "node": "n1", "gpus": ["nvidia_hopper"] * 2},
    {
        "at_ms": 10_000,
        "kind": "lease_started",
        "lease": "job-1",
        "node": "n1",
        "tenant": "lab",
        "project": "vision",
        "tag": "exp-7",
        "class": "spot",
        "devices": [0],
    },
    {"at_ms": 30_500, "kind": "lease_ended", "lease": "job-1", "cause": "released"},
    {"at_ms": 40_000, "kind": "node_unavailable", "node": "n1", "cause": "maintenance"},
    {"at_ms": 50_000, "kind": "node_gone", "node": "n1"},
]


def numbered(events: list[dict[str, Any]]) -> str:
    lines = (NAME | {"sequence": number} | each for number, each in enumerate(events))
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def meter(*words: str, given: str = "", **env: str) -> Ended:
    return call("meter", *words, given=given, **{"TZ": "UTC", "COLUMNS": "140", **env})


def test_events_are_a_table_with_idle_unavailable_and_the_equation(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(numbered(GOOD))
    done = run("meter", "events", tmp_path / "events.jsonl", COLUMNS="140", TZ="UTC")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["lab", "vision", "nvidia_hopper", "exp-7", "spot", "20.5"] in rows
    assert ["(idle)", "nvidia_hopper", "59.5"] in rows
    assert ["(unavailable:", "maintenance)", "nvidia_hopper", "20.0"] in rows
    assert ["in", "all", "100.0"] in rows
    assert (
        "nvidia_hopper: 20.5 leased + 59.5 idle + 20.0 unavailable (maintenance) = 100.0 = 100.0 "
        "GPU-seconds" in done.stdout
    )
    assert "no findings" in done.stdout
    assert done.stderr == ""


def test_the_same_as_json_and_yaml_from_standard_input() -> None:
    done = meter("events", "-", "-o", "json", given=numbered(GOOD))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    (row,) = found["rows"]
    assert row["gpu_micro_seconds"] == 20_500_000
    assert (row["tenant"], row["lease_class"]) == ("lab", "spot")
    (equation,) = found["equations"]
    assert equation["owned"] == equation["capacity_x_time"] == 100_000_000
    assert equation["unavailable"] == {"maintenance": 20_000_000}
    yaml = meter("events", "-", "-o", "yaml", given=numbered(GOOD))
    assert YAML(typ="safe").load(yaml.stdout) == found


def test_findings_follow_the_table_and_end_with_three() -> None:
    overlap = GOOD[1] | {"lease": "job-2", "at_ms": 20_000}
    past = GOOD[2] | {"ended_ms": 30_000}
    done = meter("events", "-", given=numbered([*GOOD[:2], overlap, past, *GOOD[3:]]))
    assert done.returncode == 3
    sums, _, findings = done.stdout.partition("2 findings")
    assert "in all" in sums
    assert "it holds 1 GPU on n1, and 0 were free, while job-1 ran there" in findings
    assert "(line 3)" in findings
    assert "500ms after it had ended, 0.5 GPU-seconds too many (line 4)" in findings


def test_repeats_and_reordering_change_nothing() -> None:
    lines = numbered(GOOD).splitlines(keepends=True)
    shaken = "".join([lines[3], lines[0], lines[0], *lines[4:0:-1]])
    plain = meter("events", "-", "-o", "json", given="".join(lines))
    done = meter("events", "-", "-o", "json", given=shaken)
    assert done.stdout == plain.stdout
    assert "2 lines repeat an event" in done.stderr


def test_rows_can_be_added_up_by_fewer_words() -> None:
    done = meter("events", "-", "-o", "json", "--by", "tenant,class", given=numbered(GOOD))
    (row,) = json.loads(done.stdout)["rows"]
    assert row == {"tenant": "lab", "lease_class": "spot", "gpu_micro_seconds": 20_500_000}


@pytest.mark.parametrize(
    ("words", "given", "told"),
    [
        (("events", "-"), "{}\n", "line 1: source: expected this field"),
        (("events", "-"), numbered(GOOD) + "x\n", "line 6: event: expected a JSON object"),
        (("events", "-"), "[" * 70_000, "line 1: length: expected at most 65536 bytes"),
        (("events", "missing.jsonl"), "", "FILE: expected a file of events"),
        (("events", "-", "--by", "colour"), "", "--by: expected some of tenant,project"),
        (("slurm", "--from", "soon"), "", "--from: expected a time such as"),
        (("slurm", "--class", "gold"), "", "--class: expected NAME=WORD"),
        (("slurm", "--from", "2026-01-02", "--to", "2026-01-01"), "", "--from: expected a time"),
    ],
)
def test_a_mistake_is_one_line_and_ends_with_two(
    words: tuple[str, ...], given: str, told: str
) -> None:
    done = meter(*words, given=given)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert told in line


def test_a_cluster_that_cannot_be_asked_ends_with_five(tmp_path: Path) -> None:
    done = meter("slurm", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (5, "")
    assert "sacct is not installed here" in done.stderr
    assert "--files DIR" in done.stderr


def test_a_program_that_fails_is_told_with_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "sacct").write_text("#!/bin/sh\necho no such cluster >&2\nexit 1\n")
    (tmp_path / "sacct").chmod(0o755)
    done = meter("slurm", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 5
    assert "sacct failed: no such cluster" in done.stderr


# -- books that a real cluster gave ----------------------------------------------------------


def test_saved_books_of_a_real_cluster_are_metered_without_it(tmp_path: Path) -> None:
    done = meter("slurm", "--files", str(BOOKS), "-o", "json", PATH=str(tmp_path))
    assert done.returncode == 3
    found = json.loads(done.stdout)
    rows = {
        (row["tenant"], row["project"], row["generation"], row["tag"], row["lease_class"]): row[
            "gpu_micro_seconds"
        ]
        // 10**6
        for row in found["rows"]
    }
    assert rows == {
        ("acme", "nlp", "nvidia_ampere", None, "standard"): 37,
        ("acme", "vision", "nvidia_ampere", None, "standard"): 10,
        ("acme", "vision", "nvidia_hopper", None, "standard"): 18,
        ("acme", "vision", "nvidia_hopper", "exp-7", "standard"): 6,
        ("acme", "vision", "nvidia_hopper", "k1", "standard"): 8,
        ("uni", "uni", "nvidia_hopper", None, "spot"): 12,
        ("uni", "uni", "nvidia_hopper", None, "standard"): 12,
    }
    (finding,) = found["findings"]
    assert (finding["finding"], finding["subject"]) == ("charged_past_end", "7")
    assert (finding["by_ms"], finding["gpu_micro_seconds"]) == (8_936, 17_872_000)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BOOKS, tmp_path / "books"))


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_jobs_that_hold_more_gpus_than_the_node_has_are_named(books: Path) -> None:
    change(books / "nodes.txt", "gpu:ampere:8", "gpu:ampere:2")
    done = meter("slurm", "--files", str(books), "-o", "json")
    found = {each["subject"]: each["finding"] for each in json.loads(done.stdout)["findings"]}
    assert found["2"] == "capacity_differs"  # three GPUs, and its node has two
    assert found["test"] == "capacity_differs"  # sixteen were registered
    assert "7" in found


def test_a_running_job_that_the_controller_does_not_know_is_named(books: Path) -> None:
    change(books / "queue.txt", "9|RUNNING", "99|RUNNING")
    done = meter("slurm", "--files", str(books))
    assert done.returncode == 3
    assert "never_ended" in done.stdout
    assert "and the controller does not know it" in done.stdout


def test_an_end_before_the_start_is_named(books: Path) -> None:
    change(books / "jobs.txt", "1794745341<", "1794745331<")
    done = meter("slurm", "--files", str(books))
    assert "time_went_back" in done.stdout


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("books.json", '"to_s": 1794745369', '"to_s": 1', "books.json: to_s"),
        ("books.json", "bailiwick-slurm-books-1", "other", "books.json"),
        ("books.json", '"separator": "<', '"separator": "', "separator"),
        ("events.txt", "|DOWN|", "|WOBBLY|", "events row 2: state"),
        ("jobs.txt", ">1794745338<", ">now<", "sacct row 1: Submit"),
        ("nodes.txt", "Gres=", "Gras=", "nodes row 1"),
    ],
)
def test_books_that_are_not_understood_are_refused(
    books: Path, name: str, before: str, after: str, told: str
) -> None:
    change(books / name, before, after)
    done = meter("slurm", "--files", str(books))
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_folder_without_books_is_refused(tmp_path: Path) -> None:
    done = meter("slurm", "--files", str(tmp_path))
    assert done.returncode == 2
    assert "--files reads what --save wrote" in done.stderr
    both = meter("slurm", "--files", str(BOOKS), "--cluster", "other")
    assert both.returncode == 2


# -- the manual ------------------------------------------------------------------------------

MANUAL = (ROOT / "docs/metering.md").read_text("utf-8")


def test_the_manuals_example_is_what_is_printed() -> None:
    blocks = MANUAL.split("```\n")
    given = next(block for block in blocks if block.startswith('{"source"'))
    expected = next(block for block in blocks if block.startswith("$ bailiwick meter events"))
    done = meter("events", "-", given=given, COLUMNS="120")
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    told = [line.rstrip() for line in expected.splitlines()]
    assert printed == told[1 : told.index("$ echo $?")]
    assert told[-1] == str(done.returncode)


@pytest.mark.parametrize("word", ReportFindingWord)
def test_every_finding_has_a_sentence_and_a_place_in_the_manual(word: ReportFindingWord) -> None:
    sentence = phrase_finding(Finding(word, "job-1", at_ms=0, by_ms=1_000, gpus=1, line=7))
    assert sentence.endswith(" (line 7)")
    assert f"`{word.value}`" in MANUAL.partition("## Findings")[2]

"""The command line as a person meets it: arguments, output and an exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Ended, call, run

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("--nodes", "bench/lists/nodes.csv", "--pods", "bench/lists/pods_default.csv")


def bailiwick(*arguments: str) -> Ended:
    return call(*arguments, cwd=ROOT)


def assert_one_line_and_usage(done: Ended, *words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("bailiwick: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_help_lists_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("demo", "bench", "version"))


def test_no_command_shows_the_help_as_a_usage_error() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage" in done.stdout + done.stderr


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("nonsense").returncode == 2


def test_version_names_the_engine() -> None:
    done = run("version")
    assert done.returncode == 0
    assert done.stdout.startswith("bailiwick 0.")
    assert "engine" in done.stdout


def test_starting_loads_no_screen_or_bench_code() -> None:
    code = (
        "import sys, bailiwick.cli.main; "
        "print([m for m in sys.modules if m.startswith(('bailiwick.bench', 'bailiwick.demo'))"
        " or m in ('rich.table', 'rich.progress', 'rich.console', 'plotille')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_bench_placement_tells_its_options() -> None:
    done = bailiwick("bench", "placement", "--help")
    assert done.returncode == 0
    options = ("--nodes", "--pods", "--strategy", "--seeds", "--arrived", "--output", "--engine")
    assert all(option in done.stdout for option in options)


def test_bench_placement_prints_a_table_and_nothing_else() -> None:
    done = bailiwick("bench", "placement", *LISTS, "--strategy", "all", "--seeds", "42-43")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("round_robin", "best_fit", "weighted", "fragmentation_aware", "mean", "sd"):
        assert word in done.stdout


def test_bench_placement_in_json_has_one_object_per_strategy_and_seed() -> None:
    arguments = ("bench", "placement", *LISTS, "--seeds", "42,50", "--arrived", "80", "-o", "json")
    done = bailiwick(*arguments)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(one["strategy"], one["seed"]) for one in told] == [
        ("fragmentation_aware", 42),
        ("fragmentation_aware", 50),
    ]
    for one in told:
        assert 0 < one["allocation_ratio"] <= 80.5
        assert 0 <= one["fragmentation"] <= 100
        assert one["decisions_per_s"] > 0
        assert one["arrived"] == 80
        assert one["engine"] in ("compiled", "pure")
        assert one["lists"] == {"nodes": "nodes.csv", "pods": "pods_default.csv"}


def test_bench_growth_tells_curves_and_the_same_in_json() -> None:
    small = ("bench", "growth", "--leases", "100,200", "--waiting", "2,4", "--calls", "1")
    done = bailiwick(*small)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines()]
    heads = ["case", "tenants", "100/2", "200/2", "200/4", "curve", "leases", "waiting", "bars"]
    assert heads in lines
    for case in ("tick", "submit_capped", "queue_row"):
        for tenants in ("many", "few"):
            told = next(line for line in lines if line[:2] == [case, tenants])
            assert told[-1] in ("met", "missed"), "cut at the right"
    told = json.loads(bailiwick(*small, "-o", "json").stdout)
    sizes = [(one["leases"], one["waiting"]) for one in told if one["case"] == "renew"]
    assert sizes == [(100, 2), (200, 2), (200, 4)] * 2
    assert {one["waiting_tenants"] for one in told} == {"many", "few"}
    assert bailiwick("bench", "growth", "--leases", "200,100").returncode == 2


def test_both_engines_answer_alike() -> None:
    def ratios(engine: str) -> list[float]:
        options = ("--seeds", "42", "--arrived", "30", "--engine", engine, "-o", "json")
        done = bailiwick("bench", "placement", *LISTS, *options)
        assert done.returncode == 0, done.stderr
        return [one["allocation_ratio"] for one in json.loads(done.stdout)]

    assert ratios("auto") == ratios("pure")


def test_an_unknown_strategy_is_told_the_valid_words() -> None:
    done = run("bench", "placement", *LISTS, "--strategy", "bestfit", cwd=ROOT)
    assert_one_line_and_usage(done, "round_robin", "fragmentation_aware", "all", "'bestfit'")


def test_bad_seeds_are_told_in_one_line() -> None:
    done = bailiwick("bench", "placement", *LISTS, "--seeds", "51-42")
    assert_one_line_and_usage(done, "seeds", "51-42")


def test_an_absent_file_is_told_in_one_line() -> None:
    done = bailiwick("bench", "placement", *LISTS[:2], "--pods", "absent.csv")
    assert_one_line_and_usage(done, "absent.csv", "No such file")


def test_a_list_of_the_wrong_kind_is_told_in_one_line() -> None:
    done = bailiwick("bench", "placement", *LISTS[:2], "--pods", "bench/lists/nodes.csv")
    assert_one_line_and_usage(done, "nodes.csv", "a column named num_gpu")


def test_a_bad_row_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text("cpu_milli,memory_mib,num_gpu,gpu_milli\n1000,1024,1,1000\n1000,1024,1,x\n")
    done = bailiwick("bench", "placement", *LISTS[:2], "--pods", str(path))
    assert_one_line_and_usage(done, "pods.csv line 3: gpu_milli", "'x'")


@pytest.mark.parametrize(
    "wrong", [("--arrived", "0"), ("--engine", "fast"), ("-o", "yaml"), ("--seed", "1")]
)
def test_a_wrong_option_is_a_usage_error(wrong: tuple[str, str]) -> None:
    assert bailiwick("bench", "placement", *LISTS, *wrong).returncode == 2


def test_an_option_that_is_needed_is_asked_for() -> None:
    done = bailiwick("bench", "placement", *LISTS[:2])
    assert done.returncode == 2
    assert "--pods" in done.stderr

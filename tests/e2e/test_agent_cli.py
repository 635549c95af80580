"""``bailiwick agent`` as a person meets it, on the machine that the tests run on."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bailiwick.agent.machine.inventory import Readings, judge
from bailiwick.agent.machine.nvml import NvmlGpus
from bailiwick.agent.machine.raw import replay
from bailiwick.cli.commands.agent import show_inventory
from tests.support.command_line import Ended, call, run
from tests.support.machine_trees import files_of, host, two_sockets
from tests.support.simulated_nvml import NvmlError, SimulatedGpu, SimulatedNvml
from tests.support.waiting import WAIT_S

ROOT = Path(__file__).resolve().parents[2]


def agent(*arguments: str) -> Ended:
    return call("agent", *arguments)


def test_the_inventory_of_this_machine_is_a_table() -> None:
    done = run("agent", "inventory")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("machine", "cores", "memory", "block storage", "gpus"):
        assert word in done.stdout


def test_the_inventory_of_this_machine_is_json_of_a_stated_schema(tmp_path: Path) -> None:
    done = agent("inventory", "-o", "json", "--block-path", str(tmp_path))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["schema"] == "bailiwick.agent.inventory/1"
    assert told["cpu"]["allowed"] == sorted(os.sched_getaffinity(0))
    assert 0 < told["memory"]["usable_bytes"] <= told["memory"]["whole_bytes"]
    assert told["block"]["path"] == str(tmp_path)
    assert told["labels"]["cpu_arch"] == os.uname().machine
    assert set(told["sources"]) == {"psutil", "cgroup", "numa", "cache", "pci", "nvml"}


def test_a_block_path_that_is_not_there_is_told_in_one_line() -> None:
    done = agent("inventory", "--block-path", "/absent")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bailiwick: block path: ")
    assert done.stderr.count("\n") == 1


def test_the_raw_dump_needs_only_the_source_tree_and_can_be_judged_again() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bailiwick.agent", "--json"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    found = judge(replay(json.loads(done.stdout)))
    assert list(found.host.cpus_allowed) == sorted(os.sched_getaffinity(0))


def run_with(tmp_path: Path, *arguments: str) -> Ended:
    token = tmp_path / "token"
    token.write_text("t")
    server = ("--server", "http://127.0.0.1:1", "--token-file", str(token), "--once")
    return agent("run", *server, "--attest-state", str(tmp_path / "state"), *arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--tpm", "device:/dev/tpm0"), "--tpm: expected --attest tpm2 beside it"),
        (("--attest", "ed25519", "--tpm", "x"), "--tpm: expected --attest tpm2 beside it"),
        (("--attest", "tpm2", "--firmware", "x"), "--firmware: expected --attest ed25519"),
        (("--attest", "ed25519"), "--firmware: expected the digest"),
        (("--attest", "ed25519", "--firmware", "/absent"), "--firmware: expected a SHA-256"),
        (("--attest", "tpm2", "--tpm", "cmd:true"), "--tpm: expected device:/dev/tpmrm0"),
        (("--mint",), "--mint: expected --attest beside it"),
    ],
)
def test_a_proof_that_cannot_be_is_refused_in_one_line_before_anything_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run_with(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"bailiwick: {told}")
    assert done.stderr.count("\n") == 1


def test_a_tpm_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    done = run_with(tmp_path, "--attest", "tpm2", "--tpm", "device:/dev/absent")
    assert done.returncode == 2
    assert "--tpm says which" in done.stderr or "bailiwick[tpm2]" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "TSS2" not in done.stderr


def test_a_machine_with_gpus_shows_them_and_what_is_wrong() -> None:
    lost = SimulatedGpu.numbered(1, answers={"handle": NvmlError(15)})
    gpus = NvmlGpus(SimulatedNvml(SimulatedGpu.numbered(0), lost))
    screen = io.StringIO()
    found = judge(Readings(host(), gpus.read(), files_of(two_sockets())))
    show_inventory(Console(file=screen, width=160), found)
    shown = screen.getvalue()
    for word in (
        "NVIDIA H100 80GB HBM3", "nvidia_hopper", "80 GiB", "0000:10:00.0", "disabled",
        "driver 580.159.03, CUDA 13.2", "NUMA nodes", "4-7", "Cache domains", "32 MiB",
        "gpu_lost", "it has fallen off the bus", "cgroup",
    ):  # fmt: skip
        assert word in shown, shown


def test_what_is_wrong_with_this_machine_is_json_and_ends_with_1_only_if_it_fails_it() -> None:
    lax = ("--health-limit", "disk_warn_milli=1000")
    done = agent("health", "-o", "json", "--burn-in", "--health-limit", "burn_in_s=0", *lax)
    told = json.loads(done.stdout)
    assert told["schema"] == "bailiwick.agent.health/1"
    assert done.returncode == (1 if any(f["level"] == "fail" for f in told["findings"]) else 0)


def test_a_disk_beyond_its_limit_is_a_row_that_only_warns(tmp_path: Path) -> None:
    limit = ("--health-limit", "disk_warn_milli=0")
    done = agent("health", "--block-path", str(tmp_path), *limit)
    rows = [line for line in done.stdout.splitlines() if " disk " in line]
    assert rows, done.stderr
    assert all("warn" in row for row in rows)
    assert "a disk is full, or cannot be written" in done.stdout


def test_a_limit_that_is_none_is_refused_in_one_line() -> None:
    done = agent("health", "--health-limit", "heat=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bailiwick: --health-limit: ")


def test_limits_go_with_looking() -> None:
    done = agent(
        *("run", "--once", "--server", "http://127.0.0.1:1", "--token-file", os.devnull),
        *("--no-health", "--health-limit", "burn_in_s=1"),
    )
    assert done.returncode == 2

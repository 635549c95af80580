"""What the README and the examples show is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import WAIT_S

ROOT = Path(__file__).parents[2]


def run(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=WAIT_S, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_each_example_runs_to_its_end(path: Path) -> None:
    assert run(sys.executable, str(path))


def test_the_preemption_recipe_evicts_with_a_typed_reason_and_then_admits() -> None:
    out = run(sys.executable, "examples/recipe_26_multi_tenant_preemption.py")
    assert "reason priority_preemption" in out
    assert "urgent work runs on node-2" in out
    assert "node-1 is quarantined: firmware" in out
    for kind in ("bwh1", "bwb1"):
        told = [line for line in out.splitlines() if line.startswith(f"capability: {kind}")]
        assert [line.split()[-1] for line in told] == ["Accepted", "Refused"]


def test_the_data_service_serves_who_holds_the_lease_and_tells_the_others_why_not() -> None:
    out = run(sys.executable, "examples/data_service.py")
    assert out.splitlines() == [
        "GET, no token: 401 unauthenticated",
        "GET, a token of the lease: 200 a page of team-alpha's lease 7",
        "PUT, a token of the lease: 200 a page of team-alpha's lease 7",
        "PUT, narrowed to reading: 403 operation_not_allowed",
        "GET, the lease renewed since: 403 revoked",
        "GET, forged by another: 403 unknown_key",
    ]


def test_the_generation_recipe_shows_all_three_denials() -> None:
    out = run(sys.executable, "examples/recipe_56_gpu_generation_targeting.py")
    assert "untagged: gpu_generation_required" in out
    assert "unlisted: gpu_generation_limit_exceeded limit=0" in out
    assert "limit=4, used=2, requested=3" in out


def test_the_ten_lines_of_the_readme_run_as_they_stand() -> None:
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", text, re.S)
    assert block is not None
    assert len([line for line in block[1].splitlines() if line.strip()]) <= 12
    shown = re.findall(r"print\(.*\)  # (.*)", block[1])
    assert shown[0] == "node-1"
    assert run(sys.executable, "-c", block[1]).splitlines() == shown


def test_the_ten_lines_of_the_kernels_manual_run_as_they_stand() -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "docs/kernel.md").read_text(), re.S)
    assert block is not None
    printed = re.search(r"print\(outcome.answer\)  # (.*)", block[1])
    assert printed is not None
    assert run(sys.executable, "-c", block[1]).strip() == printed[1]


def test_the_tokens_of_the_manual_are_judged_as_it_says() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/capability.md").read_text(), re.S)
    shown = re.findall(r"print\(.*\)  # (.*)", blocks[1])
    assert run(sys.executable, "-c", blocks[1]).splitlines() == shown

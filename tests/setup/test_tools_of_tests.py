"""The tools that tests run on: one list, each told by name, none taking the rest down."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from setup import test_tools
from tests.support.tools import need

ROOT = Path(__file__).resolve().parents[2]
TOOLS = test_tools.load_tools()
ABSENT = 'programs = ["no-such-program"]'


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of our own: one tool that is there, and one that is not."""
    path = tmp_path / "tools.toml"
    path.write_text(
        '[shell]\npurpose = "runs"\nprograms = ["sh"]\n'
        f'[ghost]\npurpose = "haunts"\n{ABSENT}\n'
        '[skips]\n"the moon" = "it is far"\n[cannot.x86_64]\n[cannot.aarch64]\n'
    )
    monkeypatch.setattr(test_tools, "LIST", path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("WITHOUT", raising=False)
    return path


def forgive(path: Path, name: str, why: str) -> None:
    """Write down that this kind of machine cannot have it."""
    machine = f"[cannot.{os.uname().machine}]\n"
    path.write_text(path.read_text().replace(machine, f'{machine}{name} = "{why}"\n'))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_each_tool_says_what_for_and_how_it_is_installed(tool: test_tools.Tool) -> None:
    assert tool.purpose
    assert tool.programs
    assert tool.debian or tool.step
    assert tool.step is None or tool.step in test_tools.STEPS


def test_only_tools_of_the_list_are_forgiven_and_each_with_a_reason() -> None:
    for machine in ("x86_64", "aarch64"):
        rows = test_tools.tomllib.loads(test_tools.LIST.read_text())["cannot"][machine]
        assert rows.keys() <= TOOLS.keys()
        assert all(len(why) > 10 for why in rows.values())


def test_a_tool_that_is_there_lets_the_test_go_on(listed: Path) -> None:
    need("shell")
    assert test_tools.is_there("shell")


def test_a_missing_tool_skips_by_name_and_says_why(listed: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="ghost: no-such-program not found"):
        need("ghost")


def test_a_missing_tool_fails_under_ci(listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="ghost"):
        need("ghost")


def test_what_the_platform_cannot_have_is_skipped_under_ci_with_the_reason(
    listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    forgive(listed, "ghost", "nobody packages ghosts")
    with pytest.raises(pytest.skip.Exception, match="ghost: nobody packages ghosts"):
        need("ghost")


def test_leaving_a_tool_out_on_purpose_is_no_excuse_under_ci(
    listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WITHOUT", "shell, coq")
    with pytest.raises(pytest.skip.Exception, match="WITHOUT=shell"):
        need("shell")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        need("shell")


def test_a_machine_without_apt_is_told_and_every_tool_has_its_line(tmp_path: Path) -> None:
    """With nothing on the path nothing can be installed, and nothing falls over."""
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    script = (
        "import sys; sys.path.insert(0, '.'); import setup.test_tools as tools; "
        "tools.SEARCH = tools.os.environ['PATH']; sys.exit(tools.main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment | {"WITHOUT": "nagini fuzzer swtpm"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "no apt-get here" in ran.stdout
    for name in TOOLS:
        assert re.search(rf"^  {name} .*(ready|MISSING|left out|not for)", ran.stdout, re.MULTILINE)


def test_a_name_that_no_tool_has_is_refused() -> None:
    ran = subprocess.run(
        [sys.executable, "setup/test_tools.py"],
        cwd=ROOT,
        env=os.environ | {"WITHOUT": "slrum"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "no tool named slrum" in ran.stderr


# --- the table at the end ----------------------------------------------------------------------

SKIPS = """
import pytest

def test_a():
    pytest.skip("{reason}")

@pytest.mark.skipif(True, reason="{reason}")
def test_b():
    pass

def test_c():
    pass
"""


def run_pytest(folder: Path, reason: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A run of three tests, two of them skipped, with this suite's own conftest."""
    (folder / "test_it.py").write_text(SKIPS.format(reason=reason))
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "tests.conftest"),
            *("-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", str(folder)),
        ],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)} | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_ends_with_what_it_left_out_and_why(tmp_path: Path) -> None:
    ran = run_pytest(tmp_path, "left out, ghost: nobody packages it")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^ghost +2 +nobody packages it$", ran.stdout, re.MULTILINE)


def test_under_ci_a_skip_without_an_excuse_fails_the_run(tmp_path: Path) -> None:
    ran = run_pytest(tmp_path, "too lazy today", CI="1")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "each must be excused in setup/test_tools.toml" in ran.stdout


def test_under_ci_an_excused_skip_does_not_fail_the_run(tmp_path: Path) -> None:
    ran = run_pytest(tmp_path, "root may read everything", CI="1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^root may read everything +2 +CI runs as root$", ran.stdout, re.MULTILINE)

"""What every test may rely on: hypothesis profiles and the folder of shared vectors and traces.

A run ends with a table of what it left out. Under CI, what is left out without an excuse
(setup/test_tools.toml) fails the run.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.tools import LeftOut, left_out, table

ROOT = Path(__file__).resolve().parents[1]

# No deadlines anywhere: the machines are shared, and a slow moment is not a fault.
settings.register_profile("default", deadline=None, max_examples=100)
# Repeatable, so that a red run is the fault of the change and of nothing else.
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=5_000, stateful_step_count=200)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


WORKERS_MAX = 8
"""Beyond these, starting them costs more than they save."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: many tests wait for servers, and a core would idle."""
    some = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if some else os.cpu_count() or 1
    return min(cores + 1, WORKERS_MAX)


LONGEST = (
    "tests/proofs/test_coq.py",
    "tests/setup/test_environment.py",
    "tests/ray/test_executor.py",
    "tests/processes/test_torture_postgres.py",
    "tests/processes/test_torture_sqlite.py",
    "tests/contract/test_schemathesis.py",
)
"""Files with tests of minutes. They begin first: one that begins last keeps one worker busy while
the others have nothing left to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, and all else as it was."""
    turns = {ROOT / name: turn for turn, name in enumerate(LONGEST)}
    items.sort(key=lambda item: turns.get(item.path, len(turns)))


def pytest_collection_finish() -> None:
    """What collecting left in memory stays for the whole run: the garbage collector skips it.

    Without this, each full collection looks at every test and module again, for half a second.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared vectors and traces; where it is absent, the test is skipped."""
    named = os.environ.get("BAILIWICK_SHARED")
    path = Path(named) if named else ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"no shared folder at {path} (BAILIWICK_SHARED names another place)")
    return path


def reasons_of_skips(config: pytest.Config) -> Counter[str]:
    """Why tests of this run were skipped, and how many for each reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    # A report's place, line and words; the words alone are the reason.
    return Counter(str(each.longrepr[2]).removeprefix("Skipped: ") for each in skipped)


def rows_of(config: pytest.Config) -> list[LeftOut]:
    """The table's rows; none in a worker, which sees only its own tests."""
    return [] if hasattr(config, "workerinput") else left_out(reasons_of_skips(config))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Under CI nothing is left out silently."""
    rows = rows_of(session.config)
    if os.environ.get("CI") and exitstatus == 0 and not all(row.is_excused for row in rows):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of what was left out, and why."""
    rows = rows_of(terminalreporter.config)
    if not rows:
        return
    terminalreporter.section("left out")
    for line in table(rows):
        terminalreporter.write_line(line)
    if os.environ.get("CI") and not all(row.is_excused for row in rows):
        terminalreporter.write_line(
            "under CI each must be excused in setup/test_tools.toml", red=True
        )

"""A fresh executor for each test, and nothing left running after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.modes import (
    Apart,
    JobMode,
    Shown,
    can_sandbox,
    can_switch_users,
)
from bailiwick.executors.local.teardown import TeardownWaits
from tests.support.waiting import WAIT_S

PATIENT = TeardownWaits(start_s=WAIT_S, term_s=WAIT_S, kill_s=WAIT_S)
HASTY = TeardownWaits(start_s=WAIT_S, term_s=0.2, kill_s=WAIT_S)
"""For jobs that do not end when they are asked to, or not provably."""


MODES = [
    mode
    for mode, can in (
        (JobMode.TRUSTED, True),
        (JobMode.SANDBOX, can_sandbox()),
        (JobMode.USERS, can_switch_users()),
    )
    if can
]
"""The modes that this machine and user can have."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> JobMode:
    """Every mode that can be had here, one after the other."""
    found: JobMode = request.param
    return found


@pytest.fixture
def apart(mode: JobMode, tmp_path: Path) -> Apart:
    """The mode, and the test's own folder shown to jobs."""
    if mode is not JobMode.TRUSTED:
        tmp_path.chmod(0o711)
    (tmp_path / "shown").mkdir(exist_ok=True)
    return Apart(mode=mode, shown=(Shown(tmp_path / "shown"),))


@pytest.fixture
def hasty(executor: LocalExecutor, root: Path, apart: Apart) -> LocalExecutor:
    """Another on the same jobs, who does not wait for long."""
    del executor  # it ends what is left
    return LocalExecutor(root, waits=HASTY, apart=apart)


@pytest.fixture
def executor(root: Path, apart: Apart) -> Iterator[LocalExecutor]:
    executor = LocalExecutor(root, waits=PATIENT, apart=apart)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)

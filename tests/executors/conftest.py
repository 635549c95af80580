"""A fresh executor for each test, and nothing left running after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.teardown import TeardownWaits
from tests.support.waiting import WAIT_S

PATIENT = TeardownWaits(start_s=WAIT_S, term_s=WAIT_S, kill_s=WAIT_S)
HASTY = TeardownWaits(start_s=WAIT_S, term_s=0.2, kill_s=WAIT_S)
"""For jobs that do not end when they are asked to, or not provably."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


@pytest.fixture
def hasty(executor: LocalExecutor, root: Path) -> LocalExecutor:
    """Another on the same jobs, who does not wait for long."""
    del executor  # it ends what is left
    return LocalExecutor(root, waits=HASTY)


@pytest.fixture
def executor(root: Path) -> Iterator[LocalExecutor]:
    executor = LocalExecutor(root, waits=PATIENT)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)

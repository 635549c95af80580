"""A fresh executor for each test, and nothing left running after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local import LocalExecutor
from bailiwick.executors.teardown import Waits

QUICK = Waits(start_s=20, term_s=1.0, kill_s=5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


@pytest.fixture
def executor(root: Path) -> Iterator[LocalExecutor]:
    executor = LocalExecutor(root, waits=QUICK)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)

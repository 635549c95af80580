"""What every test may rely on: hypothesis profiles and the folder of shared vectors and traces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# No deadlines anywhere: the machines are shared, and a slow moment is not a fault.
settings.register_profile("default", deadline=None, max_examples=100)
# Repeatable, so that a red run is the fault of the change and of nothing else.
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=5_000, stateful_step_count=200)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared vectors and traces; where it is absent, the test is skipped."""
    named = os.environ.get("BAILIWICK_SHARED")
    path = Path(named) if named else ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"no shared folder at {path} (BAILIWICK_SHARED names another place)")
    return path

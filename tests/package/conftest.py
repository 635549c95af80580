"""What tests of the package share: its files, built once in a run."""

from __future__ import annotations

import os

import pytest

from tests.package.building import Dist, build_once


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Dist:
    """The archive and the wheels of this tree."""
    base = tmp_path_factory.getbasetemp()
    # Workers have folders of their own below the run's.
    return build_once((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "package")

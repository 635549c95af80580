"""A fleet of cells whose network parts, by seed: see :mod:`tests.simulation.cells`."""

from __future__ import annotations

import pytest

from tests.simulation.cells import run

BATCHES, SEEDS = 10, 10
"""A thousand seeds are run by ``make simulate``."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_under_partitions_nothing_is_given_twice_and_nothing_is_lost(batch: int) -> None:
    lives = [run(seed) for seed in range(batch * SEEDS, (batch + 1) * SEEDS)]
    # What never happens proves nothing.
    assert sum(life.taken for life in lives) > SEEDS
    assert sum(life.cuts for life in lives)
    assert sum(life.evictions for life in lives)
    assert sum(life.let_go for life in lives)
    assert sum(life.refused for life in lives)

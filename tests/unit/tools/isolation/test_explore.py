"""The real kernel under every short sequence of commands."""

from __future__ import annotations

import pytest

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.shape import FleetShape
from bailiwick.isolation.model.world import make_world
from bailiwick.tools.isolation.explore import explore_kernel

CASES = {
    "dedicated host for tenant bank": (FleetShape(hosts=1), 3),
    "never share cache among tenants": (FleetShape(hosts=1, caches=2, seats=2), 2),
    "never share fabric between tenant a and tenant b": (
        FleetShape(hosts=1, seats=2, fabrics=1),
        2,
    ),
    "at most 1 of tenant bank per host": (FleetShape(hosts=2), 2),
}


@pytest.mark.parametrize("rule", CASES)
def test_no_sequence_drives_the_kernel_where_its_policy_forbids_to_be(rule: str) -> None:
    shape, depth = CASES[rule]
    found = explore_kernel(make_world(parse_policy(rule), shape=shape), depth=depth)
    assert (found.story, found.broken) == ((), ())
    assert found.states > 5


@pytest.mark.parametrize("rule", CASES)
def test_without_the_policy_a_sequence_does(rule: str) -> None:
    shape, depth = CASES[rule]
    world = make_world(parse_policy(rule), shape=shape)
    found = explore_kernel(world, depth=depth, enforced=False)
    assert found.broken
    assert 1 <= len(found.story) <= 2  # a gang alone is too many

"""Tokens against a naive verifier, and that no chain of narrowings ever adds anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.capability import (
    Accepted,
    Operation,
    Refused,
    Revocations,
    TokenClaims,
    Use,
)
from tests.support.lease_tokens import MAKERS, Chain, kit, naive

KITS = {name: kit(name) for name in MAKERS}

operations = st.lists(st.sampled_from(list(Operation)), min_size=1, max_size=7, unique=True).map(
    tuple
)
instants = st.integers(0, 6)
resources = st.sampled_from(["a", "a/b", "a/b/c", "a/bc", "ab", "b"])
nodes = st.sampled_from(["node-1", "node-2"])

claims = st.builds(
    TokenClaims,
    token_id=st.just("t"),
    tenant=st.sampled_from(["x", "y"]),
    lease_id=st.integers(0, 2),
    generation=st.integers(0, 3),
    resource=resources,
    operations=operations,
    audience=st.just("node-1"),
    expires_ms=instants,
)
steps = st.fixed_dictionaries(
    {},
    optional={"operations": operations, "expires_ms": instants, "resource": resources},
).filter(bool)
chains = st.builds(Chain, claims, st.lists(steps, max_size=3).map(tuple))
uses = st.builds(
    Use,
    st.sampled_from(list(Operation)),
    tenant=st.none() | st.sampled_from(["x", "y"]),
    lease_id=st.none() | st.integers(0, 2),
    resource=st.none() | resources,
)


def token_of(name: str, chain: Chain) -> str:
    token = str(KITS[name].minter.mint(chain.claims))
    for step in chain.steps:
        token = KITS[name].narrow(token, **step)
    return token


def floor_of(chain: Chain, floor: int) -> Revocations:
    revoked = Revocations()
    revoked.renewed(chain.claims.lease_id, generation=floor, at_ms=0)
    return revoked


@pytest.mark.parametrize("name", sorted(MAKERS))
@given(chain=chains, use=uses, now_ms=instants, floor=st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_a_verdict_is_what_the_naive_verifier_says(
    name: str, chain: Chain, use: Use, now_ms: int, floor: int
) -> None:
    fault = naive(chain, use, audience="node-1", now_ms=now_ms, floor=floor)
    only = replace(chain.claims, operations=(use.operation,))
    wanted = Accepted(only) if fault is None else Refused(fault)
    revoked = floor_of(chain, floor)
    assert KITS[name].verify(token_of(name, chain), use, now_ms=now_ms, revoked=revoked) == wanted


@pytest.mark.parametrize("name", sorted(MAKERS))
@given(chain=chains, more=steps, use=uses, now_ms=instants)
@settings(max_examples=200, deadline=None)
def test_a_narrowed_token_is_accepted_only_where_its_parent_is(
    name: str, chain: Chain, more: dict[str, Any], use: Use, now_ms: int
) -> None:
    parent = token_of(name, chain)
    child = KITS[name].narrow(parent, **more)
    if isinstance(KITS[name].verify(child, use, now_ms=now_ms), Accepted):
        assert isinstance(KITS[name].verify(parent, use, now_ms=now_ms), Accepted)


@pytest.mark.parametrize("name", sorted(MAKERS))
@given(chain=chains, use=uses, audience=nodes, now_ms=instants)
@settings(max_examples=100, deadline=None)
def test_a_token_is_accepted_by_its_audience_alone(
    name: str, chain: Chain, use: Use, audience: str, now_ms: int
) -> None:
    found = KITS[name].verify(token_of(name, chain), use, audience=audience, now_ms=now_ms)
    if audience != "node-1":
        assert isinstance(found, Refused)

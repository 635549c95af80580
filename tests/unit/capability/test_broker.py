"""When a lease gets a token, what the token says, and which broker may mint it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.capability import (
    TOKEN_TTL_MS_MAX,
    Accepted,
    CapBroker,
    Denied,
    Issued,
    KeyRing,
    LeaseView,
    MintDenial,
    MintWish,
    Operation,
)
from bailiwick.vocab.errors import InvalidValue
from tests.support.lease_tokens import MAKERS, OTHER_SEED, READ, kit, minter_of

LEASE = LeaseView(lease_id=7, tenant="team-a", node="node-1", generation=3, expires_ms=3_600_000)
WISH = MintWish(token_id="token-1", tenant="team-a", operations=(Operation.MEM_READ,))


@pytest.fixture(params=sorted(MAKERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def issued(broker: CapBroker, wish: MintWish = WISH, lease: LeaseView = LEASE) -> Issued:
    found = broker.mint(wish, lease, now_ms=1_000)
    assert isinstance(found, Issued), found
    return found


def test_a_token_says_what_the_lease_is_and_what_was_wished(name: str) -> None:
    made = issued(CapBroker(minter_of(name)))
    assert (made.claims.lease_id, made.claims.generation) == (7, 3)
    assert (made.claims.tenant, made.claims.audience) == ("team-a", "node-1")
    assert made.claims.resource == "lease-7"
    assert kit(name).verify(made.token) == Accepted(made.claims)


def test_a_part_of_the_lease_can_be_wished_and_nothing_outside_it(name: str) -> None:
    made = issued(CapBroker(minter_of(name)), replace(WISH, part="gpu-0"))
    assert made.claims.resource == "lease-7/gpu-0"
    for part in ("../lease-8", "/lease-8", "", "a//b"):
        with pytest.raises(InvalidValue):
            replace(WISH, part=part)


@pytest.mark.parametrize(
    ("ttl_ms", "lease_end_ms", "expires_ms"),
    [
        (TOKEN_TTL_MS_MAX, 3_600_000, 301_000),
        (1, 3_600_000, 1_001),
        (TOKEN_TTL_MS_MAX, 60_000, 60_000),
        (59_000, 60_000, 60_000),
        (58_999, 60_000, 59_999),
    ],
)
def test_a_token_ends_with_its_time_or_its_lease(
    ttl_ms: int, lease_end_ms: int, expires_ms: int
) -> None:
    lease = replace(LEASE, expires_ms=lease_end_ms)
    made = issued(CapBroker(minter_of("hmac")), replace(WISH, ttl_ms=ttl_ms), lease)
    assert made.claims.expires_ms == expires_ms


REFUSALS: list[tuple[dict[str, Any], dict[str, Any], MintDenial]] = [
    ({"tenant": "team-b"}, {}, MintDenial.NOT_OWNER),
    ({}, {"is_ending": True}, MintDenial.LEASE_ENDING),
    ({}, {"expires_ms": 1_000}, MintDenial.LEASE_ENDING),
    ({"generation": 2}, {}, MintDenial.STALE_GENERATION),
    ({"generation": 4}, {}, MintDenial.STALE_GENERATION),
    ({}, {"is_quarantined": True}, MintDenial.NODE_QUARANTINED),
    ({"audience": "node-2"}, {}, MintDenial.WRONG_AUDIENCE),
    ({"operations": ()}, {}, MintDenial.NO_OPERATION),
    ({"ttl_ms": TOKEN_TTL_MS_MAX + 1}, {}, MintDenial.TTL_TOO_LONG),
]


@pytest.mark.parametrize(("wish", "lease", "reason"), REFUSALS, ids=str)
def test_each_denial_has_its_word(
    wish: dict[str, Any], lease: dict[str, Any], reason: MintDenial
) -> None:
    broker = CapBroker(minter_of("hmac"))
    found = broker.mint(replace(WISH, **wish), replace(LEASE, **lease), now_ms=1_000)
    assert found == Denied(reason)


def test_the_first_denial_in_the_order_of_the_rules_is_told() -> None:
    broker = CapBroker(minter_of("hmac"))
    wish, lease = WISH, LEASE
    told = []
    for more_wish, more_lease, reason in reversed(REFUSALS):
        wish, lease = replace(wish, **more_wish), replace(lease, **more_lease)
        assert broker.mint(wish, lease, now_ms=1_000) == Denied(reason)
        told.append(reason)
    assert broker.mint(wish, None, now_ms=1_000) == Denied(MintDenial.NO_SUCH_LEASE)
    assert len(set(told)) == len(MintDenial) - 2  # no_such_lease; node_mints is about keys


def test_another_tenant_learns_nothing_about_the_lease() -> None:
    """Whatever is wrong with the lease, a stranger is told only that it is not theirs."""
    broker = CapBroker(minter_of("hmac"))
    lease = replace(LEASE, is_ending=True, is_quarantined=True)
    wish = replace(WISH, tenant="team-b", generation=1, audience="node-2")
    assert broker.mint(wish, lease, now_ms=1_000) == Denied(MintDenial.NOT_OWNER)


def test_a_node_that_mints_itself_gets_no_token_from_the_broker(name: str) -> None:
    fleet, node = minter_of(name), minter_of(name, OTHER_SEED)
    ring = KeyRing((fleet.key,), {"node-1": (node.key,)})
    denied = CapBroker(fleet, ring).mint(WISH, LEASE, now_ms=1_000)
    assert denied == Denied(MintDenial.NODE_MINTS)
    own = CapBroker(node, ring)
    assert isinstance(kit(name).verify(issued(own).token, READ, keys=ring), Accepted)


def test_a_nodes_broker_mints_for_no_other_node(name: str) -> None:
    fleet, node = minter_of(name), minter_of(name, OTHER_SEED)
    ring = KeyRing((fleet.key,), {"node-1": (node.key,)})
    elsewhere = replace(LEASE, node="node-2")
    assert CapBroker(node, ring).mint(WISH, elsewhere, now_ms=1_000) == Denied(
        MintDenial.WRONG_AUDIENCE
    )
    assert isinstance(CapBroker(fleet, ring).mint(WISH, elsewhere, now_ms=1_000), Issued)


def test_an_outcome_does_not_show_its_token(name: str) -> None:
    made = issued(CapBroker(minter_of(name)))
    assert made.token not in repr(made)


@pytest.mark.parametrize(
    "wrong",
    [{"ttl_ms": 0}, {"ttl_ms": True}, {"token_id": ""}, {"tenant": "a b"}, {"operations": ("x",)}],
)
def test_a_wish_that_cannot_be_is_a_mistake(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        replace(WISH, **wrong)

"""Which key counts for whom, and what of a ring may be told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiwick.capability import BiscuitMinter, HmacMinter, KeyRing
from bailiwick.vocab.errors import InvalidValue
from tests.support.lease_tokens import OTHER_SEED, SEED

FLEET, NODE = BiscuitMinter(SEED).key, BiscuitMinter(OTHER_SEED).key
ROOT = HmacMinter(SEED).key


def test_the_brokers_keys_count_where_a_node_has_none() -> None:
    ring = KeyRing((FLEET, ROOT), {"node-1": (NODE,)})
    assert ring.keys_of("node-1") == (NODE,)
    assert ring.keys_of("node-2") == (FLEET, ROOT.for_audience("node-2"))


def test_a_key_is_found_by_its_id_and_only_where_it_counts() -> None:
    ring = KeyRing((FLEET,), {"node-1": (NODE,)})
    assert ring.find("node-1", NODE.id) == NODE
    assert ring.find("node-1", FLEET.id) is None
    assert ring.find("node-2", FLEET.id) == FLEET


def test_only_public_keys_are_told_and_they_can_be_read_back() -> None:
    ring = KeyRing((FLEET, ROOT), {"node-1": (NODE,), "node-2": (ROOT.for_audience("node-2"),)})
    told = json.dumps(ring.told())
    assert SEED.hex() not in told
    back = KeyRing.read(json.loads(told))
    assert back.keys_of("node-3") == (FLEET,)
    assert back.keys_of("node-1") == (NODE,)


def test_a_node_whose_keys_are_secret_does_not_fall_back_to_the_brokers() -> None:
    """Else a stolen key of the broker would count there, for whoever knows only what is told."""
    ring = KeyRing((FLEET,), {"node-2": (ROOT.for_audience("node-2"),)})
    assert KeyRing.read(ring.told()).keys_of("node-2") == ()


GOOD: dict[str, Any] = {"shared": [str(FLEET)], "nodes": {"node-1": [str(NODE)]}}


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        GOOD | {"more": 1},
        GOOD | {"shared": str(FLEET)},
        GOOD | {"shared": [str(FLEET)] * 17},
        GOOD | {"shared": [FLEET.public.hex()]},
        GOOD | {"shared": ["ed25519/" + "00" * 32]},
        GOOD | {"nodes": []},
        GOOD | {"nodes": {"a b": []}},
        GOOD | {"nodes": {"node-1": None}},
    ],
)
def test_another_document_is_refused(body: object) -> None:
    with pytest.raises(InvalidValue):
        KeyRing.read(body)


def test_a_ring_holds_keys_and_nothing_else() -> None:
    with pytest.raises(InvalidValue):
        KeyRing((SEED,))  # type: ignore[arg-type]
    with pytest.raises(InvalidValue):
        KeyRing((), {"node-1": (None,)})  # type: ignore[dict-item]

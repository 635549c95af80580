"""Leases that have run out are found like by a look at all of them, in both engines."""

from __future__ import annotations

import random

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import Engine, traits

ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]
BLOCK = 64


def naive_expired(engine: Engine, ids: dict[int, int], now: int, limit: int) -> list[int]:
    """Slot by slot; after each block of slots the limit is looked at."""
    found: list[int] = []
    for slot in range(max(ids, default=-1) + 1):
        if slot % BLOCK == 0 and len(found) >= limit:
            break
        row = engine.lease(ids[slot]) if slot in ids else None
        if row is not None and row[12] <= now:
            found.append(ids[slot])
    return found


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("seed", range(8))
def test_what_ran_out_is_found_as_by_a_look_at_every_lease(name: str, seed: int) -> None:
    rng, engine = random.Random(seed), new_engine(name)
    node = engine.add_node(engine.add_class(10**9, 0, 0, b""))
    engine.set_eligible(node, 1)
    shape = engine.add_shape(1, 0, 0, 0, 0, 0, 0, -1)
    ids: dict[int, int] = {}  # by slot

    def take(expires: int) -> None:
        lease = engine.take(node, shape, 0, traits(1, 1), 0, expires, -1, 0)
        ids[lease & 0xFFFFFFFF] = lease

    for _ in range(rng.choice([10, 64, 5000])):
        take(rng.randrange(10, 3000))
    now = 0
    for _ in range(400):
        dice = rng.random()
        if dice < 0.3:
            take(now + rng.choice([0, 1, 50, 5000, 2**62]))
        elif dice < 0.5 and ids:
            lease = ids.pop(rng.choice(list(ids)))
            engine.release(lease)
        elif dice < 0.8 and ids:
            lease = ids[rng.choice(list(ids))]
            engine.update_lease(lease, 0, 0, 2, now + rng.choice([-5, 1, 80, 9000]), 0)
        else:
            now += rng.choice([0, 1, 30, 300])
            for limit in (1, rng.randrange(2, 200), 10**6):
                expected = naive_expired(engine, ids, now, limit)
                assert engine.expired(now, limit) == expected
            if rng.random() < 0.5:
                for lease in engine.expired(now, rng.choice([1, 100])):
                    engine.release(lease)
                    del ids[lease & 0xFFFFFFFF]


def test_a_lease_that_cannot_have_run_out_is_not_looked_at() -> None:
    class Untouched:
        expires = property(lambda self: pytest.fail("it was looked at"))

    engine = new_engine("pure")  # the tables of the compiled one cannot be looked into
    node = engine.add_node(engine.add_class(10**9, 0, 0, b""))
    engine.set_eligible(node, 1)
    shape = engine.add_shape(1, 0, 0, 0, 0, 0, 0, -1)
    for slot in range(300):
        engine.take(node, shape, 0, traits(1, 1), 0, 500 if slot == 100 else 1000, -1, 0)
    leases = engine.leases  # type: ignore[attr-defined]
    for slot in (0, 63, 128, 299):
        leases[slot] = Untouched()
    assert [lease & 0xFFFFFFFF for lease in engine.expired(500, 10)] == [100]

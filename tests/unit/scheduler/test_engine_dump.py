"""Many leases told at once are told as each alone, in columns."""

from __future__ import annotations

from array import array

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import Engine, traits

ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]


def held(which: str) -> tuple[Engine, list[int]]:
    engine = new_engine(which)
    engine.add_class(64_000, 2**40, 0, bytes([0, 0]))
    engine.set_eligible(engine.add_node(0), 1)
    engine.set_eligible(engine.add_node(0), 1)
    shape = engine.add_shape(1000, 5, 0, 0, 1, 250, 1, -1)
    ids = [
        engine.take(i % 2, shape, 0, traits(i % 4, i % 3), i, 2**50 + i, -1, -1) for i in range(9)
    ]
    engine.release(ids.pop(3))
    engine.update_lease(ids[2], 2, 0, 7, 99, 55)
    return engine, ids


@pytest.mark.parametrize("which", ENGINES)
def test_each_lease_has_its_fields_in_its_row_of_every_column(which: str) -> None:
    engine, ids = held(which)
    ids.reverse()
    table = array("q")
    table.frombytes(engine.dump(array("q", ids)))
    rows = zip(*(table[i : i + len(ids)] for i in range(0, len(table), len(ids))), strict=True)
    assert list(rows) == [engine.lease(lease_id) for lease_id in ids]


@pytest.mark.skipif(not has_compiled(), reason="no compiled core here: nothing to compare with")
def test_both_engines_give_the_same_bytes() -> None:
    (pure, ids), (compiled, same) = held("pure"), held("compiled")
    assert ids == same
    assert pure.dump(array("q", ids)) == compiled.dump(array("q", ids))


@pytest.mark.parametrize("which", ENGINES)
@pytest.mark.parametrize("wrong", [-1, 2**40, 10**6])
def test_a_lease_that_is_not_held_is_refused(which: str, wrong: int) -> None:
    engine, ids = held(which)
    with pytest.raises(IndexError):
        engine.dump(array("q", [*ids, wrong]))


@pytest.mark.parametrize("which", ENGINES)
def test_no_leases_are_no_bytes(which: str) -> None:
    assert held(which)[0].dump(array("q")) == b""

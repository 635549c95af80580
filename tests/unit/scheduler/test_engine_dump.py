"""Many leases told at once are told as each alone, in columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import NEVER, Engine, traits

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


@pytest.mark.parametrize("which", ENGINES)
def test_a_node_has_another_version_after_a_lease_there_came_went_or_changed(which: str) -> None:
    engine, ids = held(which)

    def changed(act: Callable[[], object]) -> list[int]:
        before = array("I", engine.versions())
        act()
        after = array("I", engine.versions())
        return [x for x, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1]

    lease = engine.lease(ids[0])
    assert lease is not None
    assert lease[0] == 0
    new: list[int] = []
    assert changed(lambda: new.append(engine.take(1, 0, 0, traits(0, 1), 0, 9, -1, -1))) == [1]
    assert changed(lambda: engine.release(new[0])) == [1]
    assert changed(lambda: engine.update_lease(ids[0], 0, 0, 2, 99, NEVER)) == []  # another term
    assert changed(lambda: engine.update_lease(ids[0], 0, 0, 3, 99, 5)) == [0]  # a checkpoint
    assert changed(lambda: engine.update_lease(ids[0], 1, 0, 3, 99, 5)) == [0]  # a state
    assert changed(lambda: engine.update_lease(ids[0], 1, 4, 3, 99, 5)) == [0]  # a flag
    assert changed(lambda: engine.set_eligible(1, 0)) == [1]
    assert changed(lambda: engine.shift(1, -5, 0, 0)) == [1]


@pytest.mark.skipif(not has_compiled(), reason="no compiled core here: nothing to compare with")
def test_both_engines_give_the_same_versions() -> None:
    assert held("pure")[0].versions() == held("compiled")[0].versions()

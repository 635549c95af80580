"""When and where there will be room is what a walk over all leases finds, in both engines.

The naive reader ends one lease after the other, earliest first, and looks at every node each time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import NEVER, Engine, traits

ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]
CLASSES = [(8_000, 64, 10, b""), (16_000, 128, 0, bytes([0, 0, 1, 1])), (4_000, 32, 40, bytes([1]))]
SHAPES = [
    (1_000, 4, 0, 0, 0, 0, 3, -1),
    (3_000, 0, 5, 0, 0, 0, 3, -1),
    (500, 8, 0, 0, 1, 250, 3, -1),
    (0, 1, 0, 0, 2, 1000, 1, -1),
    (2_000, 0, 0, 0, 1, 1000, 2, -1),
    (7_000, 60, 0, 0, 0, 0, 3, -1),
]
HORIZON = 400


@dataclass
class Fleet:
    """An engine, and beside it what is known of its nodes, shapes and leases."""

    engine: Engine
    rng: random.Random
    aside: random.Random = field(default_factory=lambda: random.Random(1))
    now: int = 0
    nodes: dict[int, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    leases: list[int] = field(default_factory=list)

    def begin(self) -> None:
        for kind in (0, 1):
            self.engine.add_kind(kind, kind + 2, 0)
        for row in CLASSES:
            self.engine.add_class(*row)
        for _ in range(4):
            self.join()
        for row in SHAPES:
            self.shapes[self.engine.add_shape(*row)] = row

    def join(self) -> None:
        cls = self.rng.randrange(len(CLASSES))
        x = self.engine.add_node(cls)
        self.engine.set_eligible(x, 1)
        self.nodes[x] = cls

    def act(self) -> None:
        rng, engine, dice = self.rng, self.engine, self.rng.random()
        x = rng.choice(list(self.nodes))
        if dice < 0.6:
            expires = self.now + rng.choice([-3, 1, 5, 5, 20, 90, 300, 2**62])
            shape = rng.choice(list(self.shapes))
            lease = engine.take(x, shape, 0, traits(1, 1), self.now, expires, -1, -1)
            if lease >= 0:
                self.leases.append(lease)
        elif dice < 0.68 and self.leases:
            engine.release(self.leases.pop(rng.randrange(len(self.leases))))
        elif dice < 0.8 and self.leases:
            expires = self.now + rng.choice([-1, 2, 40, 350])
            engine.update_lease(rng.choice(self.leases), 0, 0, 2, expires, 0)
        elif dice < 0.84:
            self.closed ^= {x}
            engine.set_eligible(x, int(x not in self.closed))
        elif dice < 0.87:
            self.replace_node(x)
        elif dice < 0.93:
            self.replace_shape()
        elif dice < 0.96:
            self.shift(x)
        else:
            self.now += rng.choice([1, 7, 60])

    def replace_node(self, x: int) -> None:
        for lease in self.engine.leases_on(x):
            self.engine.release(lease)
            self.leases.remove(lease)
        self.engine.remove_node(x)
        del self.nodes[x]
        self.closed.discard(x)
        self.join()

    def replace_shape(self) -> None:
        index = self.rng.choice(list(self.shapes))
        row = list(self.rng.choice(SHAPES))
        row[6] = self.rng.choice([1, 2, 3])
        if self.engine.shape_use(index)[0]:
            row = [*self.shapes[index][:6], row[6], -1]
            self.engine.set_shape_kinds(index, row[6])
        else:
            self.engine.free_shape(index)
            del self.shapes[index]
            index = self.engine.add_shape(*row)
        self.shapes[index] = tuple(row)

    def shift(self, x: int) -> None:
        """Somebody keeps a core, or gives it back."""
        free, most = self.engine.node(x)[2], CLASSES[self.nodes[x]][0]
        if free >= 1_000:
            self.engine.shift(x, -1_000, 0, 0)
        elif free + 1_000 <= most and not self.engine.leases_on(x):
            self.engine.shift(x, 1_000, 0, 0)

    # -- the naive reader ----------------------------------------------------------------------

    def mask(self) -> bytearray | None:
        return self.rng.choice([None, bytearray(self.rng.randbytes(8))])

    def room(self, x: int, at: int) -> tuple[list[int], list[int]]:
        _, _, cpu, mem, block, devices, _ = self.engine.node(x)
        amounts, milli = [cpu, mem, block], list(devices)
        for lease in self.engine.leases_on(x):
            row = self.engine.lease(lease)
            assert row is not None
            if row[12] <= at:
                shape = self.shapes[row[2]]
                amounts = [a + b for a, b in zip(amounts, shape[:3], strict=True)]
                for i in range(len(milli)):
                    milli[i] += shape[5] if row[4] >> i & 1 else 0
        return amounts, milli

    def members(self, x: int, shape: int, at: int, rows: Sequence[tuple[int, ...]] = ()) -> int:
        cpu, mem, block, _, count, milli, kinds, _ = self.shapes[shape]
        amounts, devices = self.room(x, at)
        for when, *more in rows:
            if when <= at:
                amounts = [a + b for a, b in zip(amounts, more[:3], strict=True)]
                devices = [a + b for a, b in zip(devices, more[3:], strict=True)]
        found = [
            max(free, 0) // need
            for free, need in zip(amounts, (cpu, mem, block), strict=True)
            if need
        ]
        if count:
            own = zip(devices, CLASSES[self.nodes[x]][3], strict=True)
            free = (max(each, 0) for each, kind in own if kinds >> kind & 1)
            found.append(sum(each // milli for each in free) // count)
        return min(found)

    def rows(self, x: int) -> list[tuple[int, ...]]:
        """Somebody takes some of a node at a time, or gives it back."""
        rng, width = self.aside, len(CLASSES[self.nodes[x]][3])
        found = []
        for _ in range(rng.randrange(4)):
            sign = rng.choice([-1, 1])
            amounts = sign * 1_000 * rng.randrange(9), sign * rng.randrange(30), 0
            devices = [sign * rng.choice([0, 250, 1_000]) for _ in range(width)]
            found.append((self.now + rng.choice([-2, 0, 5, 40, 40, 500]), *amounts, *devices))
        return found

    def naive_steps(
        self, shape: int, x: int, until: int, rows: list[tuple[int, ...]]
    ) -> list[tuple[int, int]]:
        ends = [row[12] for lease in self.engine.leases_on(x) if (row := self.engine.lease(lease))]
        found = [(-(2**63), self.members(x, shape, -(2**63), rows))]
        for at in sorted({*ends, *(row[0] for row in rows)}):
            members = self.members(x, shape, at, rows)
            if at <= until and members != found[-1][1]:
                found.append((at, members))
        return found

    def open(self, mask: bytearray | None) -> Iterator[int]:
        for x in sorted(self.nodes):
            if x not in self.closed and (mask is None or mask[x >> 3] >> (x & 7) & 1):
                yield x

    def naive_time(self, shape: int, need: int, mask: bytearray | None, until: int) -> int | None:
        rows = [self.engine.lease(lease) for lease in self.leases]
        times = sorted({self.now, *(max(row[12], self.now) for row in rows if row)})
        for at in times:
            if at <= until and sum(self.members(x, shape, at) for x in self.open(mask)) >= need:
                return at
        return None

    def naive_nodes(
        self, shape: int, need: int, mask: bytearray | None, at: int
    ) -> list[tuple[int, int]]:
        rows = sorted((-self.members(x, shape, at), x) for x in self.open(mask))
        found: list[tuple[int, int]] = []
        for less, x in rows:
            if less and sum(members for _, members in found) < need:
                found.append((x, -less))
        return found


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_room_is_foreseen_as_by_a_walk_over_all_leases(name: str, seed: int) -> None:
    fleet = Fleet(new_engine(name), random.Random(seed))
    fleet.begin()
    foreseen = 0
    for _ in range(240):
        fleet.act()
        shape, need = fleet.rng.choice(list(fleet.shapes)), fleet.rng.choice([1, 1, 2, 5, 12])
        mask, until = fleet.mask(), fleet.now + fleet.rng.choice([0, 10, HORIZON])
        x = fleet.aside.choice(list(fleet.nodes))
        rows = fleet.rows(x)
        steps = fleet.engine.room_steps(shape, x, until, rows)
        assert steps == fleet.naive_steps(shape, x, until, rows)
        at = fleet.engine.room_time(shape, need, mask, fleet.now, until)
        assert at == fleet.naive_time(shape, need, mask, until)
        if at is None:
            continue
        foreseen += at > fleet.now
        found = fleet.engine.room_nodes(shape, need, mask, at)
        assert found == fleet.naive_nodes(shape, need, mask, at)
        for x, _ in found:
            cpu, mem, block, devices = fleet.engine.room_on(x, at)
            assert ([cpu, mem, block], list(devices)) == fleet.room(x, at)
    assert foreseen >= 3


def test_a_node_on_which_nothing_changed_is_not_reckoned_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = new_engine("pure")  # the twin's work cannot be seen from here
    engine.add_class(8_000, 64, 0, b"")
    nodes = [engine.add_node(0) for _ in range(5)]
    for x in nodes:
        engine.set_eligible(x, 1)
    shape = engine.add_shape(1_000, 1, 0, 0, 0, 0, 0, -1)
    leases = [engine.take(x, shape, 0, traits(1, 1), 0, 100, -1, 0) for x in nodes * 8]
    rooms = engine.rooms  # type: ignore[attr-defined]
    reckoned: list[int] = []
    walk = rooms._steps
    monkeypatch.setattr(rooms, "_steps", lambda s, x: reckoned.append(x) or walk(s, x))
    assert engine.room_time(shape, 1, None, 0, 500) == 100
    assert reckoned == nodes
    engine.update_lease(leases[2], 0, 0, 2, 50, NEVER)
    engine.update_lease(leases[3], 0, 0, 2, 100, NEVER)
    del reckoned[:]
    assert engine.room_time(shape, 1, None, 0, 500) == 50
    assert engine.room_time(shape, 1, None, 60, 500) == 60
    assert reckoned == [nodes[2]]


@pytest.mark.parametrize("engine_name", ["pure", *(["compiled"] if has_compiled() else [])])
def test_a_node_that_departed_has_no_leases_to_look_at(engine_name: str) -> None:
    engine = new_engine(engine_name)
    engine.add_class(8_000_000, 64, 0, b"")
    *gone, last = [engine.add_node(0) for _ in range(2_000)]
    shape = engine.add_shape(1_000, 0, 0, 0, 0, 0, 0, -1)
    engine.set_eligible(last, 1)
    for number in range(8_000):
        engine.take(last, shape, 0, traits(1, 1), 0, 100 + number, -1, 0)
    for x in gone:
        engine.remove_node(x)
    assert engine.room_time(shape, 1, None, 0, 10**6) == 100
    assert engine.room_nodes(shape, 1, None, 10**6) == [(last, 8_000)]

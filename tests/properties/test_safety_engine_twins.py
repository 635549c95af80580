"""The compiled engine and its pure twin make the same decisions and keep the same tables.

One random history (nodes come, close, leave; requests arrive; leases end) is told to both; after
every step the answers must be equal, and at the end every table that can be read.
"""

from __future__ import annotations

import random
from array import array

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import ONE, Engine, traits

pytestmark = pytest.mark.skipif(not has_compiled(), reason="the compiled core is not built here")

CLASSES = [
    (64_000, 2**38, 2**42, b""),
    (96_000, 2**39, 2**42, bytes([0] * 8)),
    (128_000, 2**40, 0, bytes([1] * 8)),
    (48_000, 2**37, 2**41, bytes([2] * 4)),
    (32_000, 2**36, 2**40, bytes([0, 1, 2])),  # a mixed machine
    (96_000, 2**39, 2**42, bytes([0] * 8), bytes([0, 0, 1, 1, 1, 1, 0, 0])),  # two fabrics
    (96_000, 2**39, 2**42, bytes([1, 0, 1, 0, 2, 2]), bytes([0, 0, 1, 2, 1, 1])),
]
GENERATIONS = {0: 2, 1: 4, 2: 5}
MEMORY = {0: 2**34 + 1, 1: 2**36, 2: 3 * 2**35}
SHARES = [100, 250, 333, 500, 700]
ROWS = 6


class Twins:
    """Tells both engines the same thing and compares what they answer."""

    def __init__(self) -> None:
        self.both: tuple[Engine, Engine] = (new_engine("compiled"), new_engine("pure"))
        self.tables = [array("q", [0] * 48 * ROWS) for _ in self.both]
        for engine, table in zip(self.both, self.tables, strict=True):
            for row in range(ROWS):
                table[row * 48] = -1 if row % 2 == 0 else row - 1
                for d in range(6):
                    table[row * 48 + 8 + d] = 2**61
                for g in range(16):
                    table[row * 48 + 30 + g] = 2**61
            table[1 * 48 + 8 + 3] = 40_000  # project row 1: at most 40 GPUs
            table[2 * 48 + 8 + 4] = 2**39  # row 2 and its project: so much GPU memory
            table[3 * 48 + 1] = 2  # project row 3: an allow-list of one generation
            for g in range(16):
                table[3 * 48 + 30 + g] = 30_000 if g == 4 else 0
            engine.attach_quota(table)
            for kind, generation in GENERATIONS.items():
                engine.add_kind(kind, generation, MEMORY[kind])

    def call(self, name: str, *args: object) -> object:
        compiled, pure = (getattr(engine, name)(*args) for engine in self.both)
        assert compiled == pure, f"{name}{args}: compiled {compiled}, pure {pure}"
        return compiled


def random_shape(rng: random.Random) -> tuple[int, ...]:
    cpu = rng.choice([500, 1000, 4000, 8000, 16000, 40000])
    mem = rng.choice([2**28, 2**30, 2**33, 2**35 + 12345])
    block = rng.choice([0, 0, 2**33])
    if rng.random() < 0.3:
        return cpu, mem, block, 0, 0, 0, 7, -1
    kinds = rng.choice([1, 2, 4, 7, 7, 6])
    generation = {1: 2, 2: 4, 4: 5}.get(kinds, -1)
    if rng.random() < 0.5:
        return cpu, mem, block, 2**34, 1, rng.choice(SHARES), kinds, generation
    return cpu, mem, block, 0, rng.choice([1, 1, 2, 4, 8]), 1000, kinds, generation


def random_limits(rng: random.Random, nodes: list[int], mask: bytearray) -> array[int] | None:
    """Some nodes, taken out of the mask, with the devices that may be used there."""
    rows = array("q")
    for x in sorted(rng.sample(nodes, rng.choice([0, 1, 9]))):
        mask[x >> 3] &= ~(1 << (x & 7))
        rows.extend((x, rng.choice([0, 1, 0b1100, 0b11110000, 2**16 - 1, rng.randrange(2**16)])))
    return rows if rng.random() < 0.9 else None


def learn(rng: random.Random, twins: Twins) -> None:
    items = array("q")
    for n, m in [(1, 250), (1, 500), (1, 1000), (2, 1000), (4, 1000), (8, 1000)]:
        for cpu in (1000, 4000, 16000):
            items.extend((n, m, 7, cpu, rng.randrange(1, 6000)))
    pressure = array("q", [rng.randrange(0, ONE) for _ in range(64)])
    twins.call("set_workload", rng.randrange(2000, 20000), pressure, items)


@pytest.mark.parametrize("strategy", range(4))
@pytest.mark.parametrize("seed", range(6))
def test_both_engines_tell_the_same_story(strategy: int, seed: int) -> None:
    rng = random.Random(seed * 10 + strategy)
    twins = Twins()
    for cls in CLASSES:
        twins.call("add_class", *cls)
    nodes: list[int] = []
    for _ in range(60):
        x = twins.call("add_node", rng.randrange(len(CLASSES)))
        twins.call("set_eligible", x, 1)
        nodes.append(x)
    shapes = [twins.call("add_shape", *random_shape(rng)) for _ in range(24)]
    accounts = [twins.call("add_account", row) for row in (-1, 0, 1, 2, 3)]
    twins.call("set_weights", 250, 250, -100, 500)
    twins.call("set_headroom", 2, 10_000, 2**34, 0, 4_000)
    learn(rng, twins)
    live: list[int] = []
    for step in range(900):
        dice = rng.random()
        if dice < 0.62:
            mask, limits = None, None
            if rng.random() < 0.4:
                mask = bytearray(rng.randbytes(40))
                limits = random_limits(rng, nodes, mask)
            now, shape = step * 10, rng.choice(shapes)
            lease = twins.call(
                "place", strategy, shape, rng.choice(accounts),
                traits(rng.randrange(4), rng.randrange(3)), now, now + rng.randrange(1, 9000),
                -1, mask, limits,
            )  # fmt: skip
            twins.call("find", strategy, shape, mask, limits)
            if lease >= 0:
                live.append(lease)
        elif dice < 0.90 and live:
            assert twins.call("release", live.pop(rng.randrange(len(live)))) is True
        elif dice < 0.92:
            x = rng.choice(nodes)
            twins.call("set_eligible", x, rng.randrange(2))
        elif dice < 0.93:
            x = nodes.pop(rng.randrange(len(nodes)))
            for lease in twins.call("leases_on", x):
                twins.call("release", lease)
                live.remove(lease)
            twins.call("remove_node", x)
            y = twins.call("add_node", rng.randrange(len(CLASSES)))
            twins.call("set_eligible", y, 1)
            nodes.append(y)
        elif dice < 0.94:
            learn(rng, twins)
        elif dice < 0.96:
            shape = rng.choice(shapes)
            twins.call("set_shape_kinds", shape, rng.choice([1, 2, 4, 7]))
        elif dice < 0.98 and live:
            lease = rng.choice(live)
            twins.call("update_lease", lease, rng.randrange(2), 0, 2, step * 10 + 500, step)
        else:
            twins.call("expired", step * 10, 50)
        twins.call("free_totals")
        if step % 30 == 0:
            masks = [rng.choice([None, bytearray(rng.randbytes(40))]) for _ in range(2)]
            limits = random_limits(rng, nodes, bytearray(40))
            counts = twins.call("filter_counts", rng.choice(shapes), *masks, limits)
            twins.call("leases_of", bytearray(rng.randbytes(1)), rng.choice([1, 9, 10**6]))
            assert sum(counts) == sum(twins.call("node", x)[1] for x in nodes)
    for x in nodes:
        twins.call("node", x)
        twins.call("leases_on", x)
        for shape in shapes:
            twins.call("score", strategy, shape, x)
            twins.call("score", strategy, shape, x, rng.randrange(2**16))
    for lease in live:
        twins.call("lease", lease)
    assert twins.tables[0] == twins.tables[1]
    assert len(live) > 20

"""The compiled victim search and its pure twin find the same plan, or the same obstacles.

One random history (leases with gangs, shares and whole devices come and go, report checkpoints,
are revoked; nodes close and leave; time passes, sometimes backwards) is told to both. The compiled
search keeps profiles between questions and the pure one keeps nothing, so a profile that missed a
change shows up here.
"""

from __future__ import annotations

import random

import pytest

from bailiwick.scheduler.engine import has_compiled, new_engine
from bailiwick.scheduler.engine.protocol import NEVER, Engine, traits
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.vocab.words import PRIORITIES, LeaseClass

pytestmark = pytest.mark.skipif(not has_compiled(), reason="the compiled core is not built here")

GIB = 2**30
CLASSES = [
    (32_000, 64 * GIB, 0, b""),
    (48_000, 96 * GIB, 512 * GIB, bytes([0] * 4)),
    (64_000, 128 * GIB, 512 * GIB, bytes([1] * 8)),
    (32_000, 64 * GIB, 512 * GIB, bytes([0, 1, 1, 2])),
]


class Twins:
    """Tells both engines the same thing and compares what they answer."""

    def __init__(self) -> None:
        self.both: tuple[Engine, Engine] = (new_engine("compiled"), new_engine("pure"))

    def call(self, name: str, *args: object) -> object:
        compiled, pure = (getattr(engine, name)(*args) for engine in self.both)
        assert compiled == pure, f"{name}{args}: compiled {compiled}, pure {pure}"
        return compiled

    def handle(self, name: str, *args: object) -> int:
        found = self.call(name, *args)
        assert isinstance(found, int)
        return found


class History:
    """What one seed tells the twins."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.twins = Twins()
        self.now = 10_000
        self.live: list[int] = []
        self.found = self.blocked = 0
        for cls in CLASSES:
            self.twins.call("add_class", *cls)
        self.nodes = [self._new_node() for _ in range(16)]
        self.small = [self._shape(cpu=3000, mem=4) for _ in range(14)]
        self.large = [self._shape(cpu=8000 * i, mem=12 * i) for i in (1, 1, 2, 2, 3, 4, 5)]
        self.terms = (rng.choice([0, 300]), rng.choice([100, 1000]), rng.choice([2, 3, 255]))
        for _ in range(2000):
            self.take()

    def _new_node(self) -> int:
        x = self.twins.handle("add_node", self.rng.randrange(len(CLASSES)))
        self.twins.call("set_eligible", x, 1)
        return x

    def _shape(self, cpu: int, mem: int) -> int:
        rng = self.rng
        count, milli = rng.choice([(0, 0)] * 5 + [(1, 100), (1, 250), (1, 500), (1, 900)])
        if rng.random() < 0.25:
            count, milli = rng.choice([1, 1, 2, 4]), 1000
        amounts = (
            rng.randrange(0, cpu + 1, rng.choice([1, 250, 1000])),
            rng.randrange(0, mem * GIB, rng.choice([1, GIB // 2, GIB])),
            rng.choice([0, 0, 1, 5]) * GIB,
        )
        kinds = rng.choice([7, 7, 1, 2, 6])
        return self.twins.handle("add_shape", *amounts, 0, count, milli, kinds, -1)

    def take(self, x: int = -1) -> None:
        rng = self.rng
        facts = traits(
            rng.choices(range(4), [4, 3, 2, 1])[0],
            rng.choices(range(3), [1, 4, 5])[0],
            rng.choice([0] * 20 + [1, 2, 4]),
            rng.choice([0, 0, 0, 0, 1, 2]),
        )
        gang = rng.randrange(60) if rng.random() < 0.1 else -1
        granted = self.now - rng.choice([0, 10, 100, 400, 5000])
        where = x if x >= 0 else rng.choice(self.nodes), rng.choice(self.small)
        lease = self.twins.handle("take", *where, 0, facts, granted, self.now + 9, gang, -1)
        if lease >= 0:
            self.live.append(lease)

    def change(self) -> None:
        """One thing happens."""
        rng, twins, dice = self.rng, self.twins, self.rng.random()
        if dice < 0.35:
            for _ in range(4):
                self.take()
        elif dice < 0.6 and self.live:
            twins.call("release", self.live.pop(rng.randrange(len(self.live))))
        elif dice < 0.9 and self.live:
            state = rng.choice([0] * 12 + [1])
            checkpoint = rng.choice([NEVER, self.now, self.now - rng.randrange(1500)])
            flags = rng.choice([0] * 12 + [1, 4])
            lease = rng.choice(self.live)
            twins.call("update_lease", lease, state, flags, 2, self.now + 9, checkpoint)
        elif dice < 0.95:
            twins.call("set_eligible", rng.choice(self.nodes), rng.choice([0, 1, 1]))
        elif dice < 0.96:
            self._replace_node()
        else:
            twins.call("set_shape_kinds", rng.choice(self.large), rng.choice([1, 2, 6, 7]))

    def _replace_node(self) -> None:
        x = self.nodes.pop(self.rng.randrange(len(self.nodes)))
        held = self.twins.call("leases_on", x)
        assert isinstance(held, list)
        for lease in held:
            self.twins.call("release", lease)
            self.live.remove(lease)
        self.twins.call("remove_node", x)
        self.nodes.append(self._new_node())
        for _ in range(100):
            self.take(self.nodes[-1])

    def ask(self) -> None:
        """The same question for both; sometimes on other terms than before."""
        rng = self.rng
        terms = self.terms if rng.random() < 0.9 else (0, 50, 255)
        mask = bytearray(rng.randbytes(8)) if rng.random() < 0.2 else None
        exclude = rng.choice([-1, -1, -1, *self.nodes[:2]])
        shape = rng.choice([*self.large, *self.large, *self.small])
        rank = PRIORITIES[rng.choice([0, 1, 1, 2, 2, 3, 3])]
        whom = evictable_by(rng.choice(list(LeaseClass)), rank)
        asked = shape, whom, self.now
        answer = self.twins.call("find_victims", *asked, *terms, mask, exclude)
        assert isinstance(answer, tuple)
        if len(answer) == 6:
            self.blocked += 1
        elif answer[2]:
            self.found += 1


@pytest.mark.parametrize("seed", range(10))
def test_both_engines_find_the_same_victims(seed: int) -> None:
    history = History(seed)
    for _ in range(80):
        for _ in range(history.rng.choice([0, 1, 3, 20])):
            history.change()
        history.now += history.rng.choice([0, 1, 50, 400, -30])
        history.ask()
    assert history.found > 15
    assert history.blocked


@pytest.mark.parametrize("seed", range(4))
def test_both_engines_agree_on_a_plan_cut_short(seed: int) -> None:
    """Sizes that weigh as much as the base, in three dimensions at odds: too hard to be exact."""
    rng = random.Random(seed)
    twins = Twins()
    most, count = 10**7, 36
    twins.call("add_class", most, most, most, b"")
    twins.call("set_eligible", twins.handle("add_node", 0), 1)
    for _ in range(count):
        one, two = sorted(rng.randrange(most // count) for _ in range(2))
        amounts = one, two - one, most // count - two
        shape = twins.handle("add_shape", *amounts, 0, 0, 0, 1, -1)
        twins.call("take", 0, shape, 0, traits(0, 2), 0, 9, -1, -1)
    wanted = twins.handle("add_shape", *[most * 8 // 10] * 3, 0, 0, 0, 1, -1)
    whom = evictable_by(LeaseClass.STANDARD, PRIORITIES[1])
    answer = twins.call("find_victims", wanted, whom, 100, 0, 0, 9, None, -1)
    assert isinstance(answer, tuple)
    assert answer[3] is False
    for lease in answer[2]:
        twins.call("release", lease)
    assert twins.handle("take", 0, wanted, 0, traits(1, 1), 0, 9, -1, -1) >= 0

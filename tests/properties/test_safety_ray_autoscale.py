"""Scaling by demand: within bounds, never at the cost of who works, at rest if nothing changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.ray.autoscale import (
    ClusterSeen,
    Grow,
    ScaleBounds,
    ScaleDecision,
    ScaledWorker,
    ScaleMemory,
    Shrink,
    StaySize,
    decide,
    workers_for,
)

SIZE = {"CPU": 4.0, "GPU": 1.0}
amounts = st.fixed_dictionaries(
    {}, optional={"CPU": st.sampled_from([0.5, 1.0, 2.0, 4.0, 5.0]), "GPU": st.just(1.0)}
)
demands = st.lists(st.tuples(amounts, st.integers(0, 6)), max_size=5).map(tuple)
workers = st.lists(st.sampled_from(["coming", "idle", "busy"]), max_size=8).map(
    lambda kinds: tuple(
        ScaledWorker(f"worker-{n}", None if kind == "coming" else SIZE, kind == "busy")
        for n, kind in enumerate(kinds)
    )
)


@st.composite
def bounds(draw: st.DrawFn) -> ScaleBounds:
    least = draw(st.integers(0, 6))
    most = draw(st.integers(least, 10))
    return ScaleBounds(least=least, most=most, wait_s=draw(st.integers(0, 20)), idle_s=60)


@given(st.lists(st.tuples(workers, demands, st.floats(0, 100)), min_size=1, max_size=8), bounds())
def test_whatever_is_seen_the_bounds_hold_and_who_works_stays(
    looks: list[tuple[tuple[ScaledWorker, ...], tuple[tuple[dict[str, float], int], ...], float]],
    within: ScaleBounds,
) -> None:
    memory, now_s = ScaleMemory(), 0.0
    for seen_workers, demand, passed_s in looks:
        now_s += passed_s
        seen = ClusterSeen(seen_workers, demand)
        memory, decision = decide(memory, seen, bounds=within, now_s=now_s)
        there = len(seen_workers)
        match decision:
            case Grow(count):
                assert count >= 1
                assert there + count <= within.most
                assert count <= max(1, there, within.least - there)
            case Shrink(keys):
                idle = {e.key for e in seen_workers if e.has is not None and not e.is_busy}
                assert keys
                assert {*keys} <= idle
                assert len({*keys}) == len(keys)
                assert there - len(keys) >= within.least
            case StaySize():
                assert there >= within.least


class ModelCluster:
    """A cluster that does as it is told: whoever is asked for comes, whoever is let go leaves."""

    def __init__(
        self, demand: tuple[tuple[dict[str, float], int], ...], within: ScaleBounds
    ) -> None:
        self.demand, self.within = demand, within
        self.memory, self.now_s, self.serial = ScaleMemory(), 0.0, 0
        self.there: dict[str, bool] = {}
        """Whether each has arrived."""

    def look(self, passed_s: float = 10.0) -> ScaleDecision:
        self.now_s += passed_s
        here = [key for key, has_come in self.there.items() if has_come]
        # What fits is taken up by those that are here; they are busy then.
        taken = min(len(here), self.needed)
        seen = ClusterSeen(
            tuple(
                ScaledWorker(key, SIZE if has_come else None, key in here[:taken])
                for key, has_come in self.there.items()
            ),
            () if self.needed <= len(here) else self.demand,
        )
        self.memory, decision = decide(self.memory, seen, bounds=self.within, now_s=self.now_s)
        self.there = dict.fromkeys(self.there, True)
        match decision:
            case Grow(count):
                for _ in range(count):
                    self.serial += 1
                    self.there[f"worker-{self.serial}"] = False
            case Shrink(keys):
                for key in keys:
                    del self.there[key]
            case StaySize():
                pass
        return decision

    @property
    def needed(self) -> int:
        fit = [(n, c) for n, c in self.demand if all(SIZE.get(k, 0) >= v for k, v in n.items())]
        return workers_for([pair for pair in fit if pair[1]], SIZE, most=1_000)


@given(demands, bounds())
def test_under_the_same_load_it_comes_to_rest_and_stays_there(
    demand: tuple[tuple[dict[str, float], int], ...], within: ScaleBounds
) -> None:
    model = ModelCluster(demand, within)
    for _ in range(80):
        model.look()
    rest = {*model.there}
    assert within.least <= len(rest) <= within.most
    if model.serial:  # once it was seen what a worker has
        assert len(rest) >= min(model.needed, within.most)
    for _ in range(20):
        assert isinstance(model.look(), StaySize)
    assert {*model.there} == rest
    model.demand = ()
    for _ in range(20):
        model.look()
    assert len(model.there) == within.least, "without work it goes back to the least"


@given(demands, st.integers(0, 12))
def test_a_short_wait_asks_for_nobody_and_a_short_rest_lets_nobody_go(
    demand: tuple[tuple[dict[str, float], int], ...], count: int
) -> None:
    within = ScaleBounds(least=0, most=20, wait_s=30, idle_s=60)
    idle = tuple(ScaledWorker(f"worker-{n}", SIZE) for n in range(count))
    memory, first = decide(ScaleMemory(), ClusterSeen(idle, demand), bounds=within, now_s=0)
    assert isinstance(first, StaySize)
    memory, second = decide(memory, ClusterSeen(idle, ()), bounds=within, now_s=29)
    assert isinstance(second, StaySize)
    _, third = decide(memory, ClusterSeen(idle, demand), bounds=within, now_s=58)
    assert isinstance(third, StaySize)


def test_what_fits_nowhere_is_told_and_asks_for_nobody() -> None:
    seen = ClusterSeen(
        (ScaledWorker("worker-0", SIZE, True),), (({"CPU": 64.0}, 2), ({"TPU": 1.0}, 1))
    )
    memory, within = ScaleMemory(), ScaleBounds(most=9, wait_s=0)
    for now_s in range(5):
        memory, decision = decide(memory, seen, bounds=within, now_s=now_s)
        assert decision == StaySize(unfit=3)


def test_those_that_are_on_their_way_count() -> None:
    within = ScaleBounds(most=9, wait_s=0)
    coming = (ScaledWorker("worker-0", SIZE, True), ScaledWorker("worker-1"))
    seen = ClusterSeen(coming, (({"CPU": 4.0}, 1),))
    assert decide(ScaleMemory(), seen, bounds=within, now_s=5)[1] == StaySize()


def test_more_than_may_be_leave_as_soon_as_they_are_idle() -> None:
    seen = ClusterSeen(tuple(ScaledWorker(f"worker-{n}", SIZE, n != 2) for n in range(4)))
    decision = decide(ScaleMemory(), seen, bounds=ScaleBounds(most=2), now_s=0)[1]
    assert decision == Shrink(("worker-2",))


def test_nobody_leaves_while_something_waits() -> None:
    memory, within = ScaleMemory(), ScaleBounds(most=1)
    seen = ClusterSeen((ScaledWorker("worker-0", SIZE),), (({"CPU": 4.0}, 1),))
    for now_s in (0, 100, 1_000):
        memory, decision = decide(memory, seen, bounds=within, now_s=now_s)
        assert decision == StaySize()

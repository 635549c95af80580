"""Whatever ceilings are set, a request is judged as a naive reader of them judges it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    Answer,
    ChangeSettings,
    Command,
    Envelope,
    Granted,
    Kernel,
    Queued,
    Refused,
    RegisterNode,
    SetQuota,
    Settings,
    Submit,
)
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import LeaseClass, Priority

NAMES = [("ann", None), ("ann", "p"), ("bob", None), ("bob", "p")]
ceilings = st.builds(
    Ceiling,
    st.sampled_from(list(Priority)),
    st.lists(st.sampled_from(list(LeaseClass)), unique=True, min_size=1).map(tuple),
    st.sampled_from([10, 20, 30]),
    st.sampled_from([0, 1, 2]),
)
changes = st.tuples(st.sampled_from(NAMES), st.none() | ceilings)
asks = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(list(Priority)),
    st.sampled_from(list(LeaseClass)),
    st.sampled_from([10, 20, 30]),
)


class Bench:
    """A kernel whose one core is taken, and the naive reader's own notes."""

    def __init__(self, usual: Ceiling) -> None:
        self.kernel, self.usual = Kernel(simulated=True), usual
        self.own: dict[tuple[str, str | None], Ceiling] = {}
        self.waiting: list[tuple[str, str | None]] = []
        self.do(RegisterNode("n", NodeCapacity(1, 10)))
        settled: dict[str, Any] = {
            "preempt_from": Priority.CRITICAL,
            "priority_max": usual.priority_max,
            "lease_classes": usual.lease_classes,
            "term_max_ms": usual.term_max_ms,
            "waiting_max": usual.waiting_max,
        }
        self.do(ChangeSettings(Settings(preempt_from=Priority.CRITICAL)))
        terms: dict[str, Any] = {"tenant": "holder", "cpu_cores": 1, "ttl_ms": 1_000}
        holder = PlacementRequest(**terms)
        assert isinstance(self.do(Submit(holder)), Granted)
        self.do(ChangeSettings(Settings(**settled)))

    def do(self, command: Command) -> Answer:
        return self.kernel.execute(Envelope(command), 0).answer

    def change(self, name: tuple[str, str | None], ceiling: Ceiling | None) -> None:
        """A project's may not be above its tenant's."""
        tenant, project = name
        outer = self.own.get((tenant, None), self.usual)
        too_much = project is not None and ceiling is not None and not inside(ceiling, outer)
        try:
            self.do(SetQuota(tenant, Quota(ceiling=ceiling), project))
        except Conflict:
            assert too_much
            return
        assert not too_much
        self.own.pop(name, None)
        if ceiling is not None:
            self.own[name] = ceiling

    def expected(
        self, name: tuple[str, str | None], rank: Priority, kind: LeaseClass, ttl_ms: int
    ) -> str:
        tenant, project = name
        bound = [self.own[name]] if project is not None and name in self.own else []
        bound.append(self.own.get((tenant, None), self.usual))
        for most in bound:
            if list(Priority).index(rank) > list(Priority).index(most.priority_max):
                return "priority_too_high"
            if kind not in most.lease_classes:
                return "lease_class_forbidden"
            if ttl_ms > most.term_max_ms:
                return "term_too_long"
        own = sum(each == name for each in self.waiting)
        for most in bound:
            everybody = most is bound[-1]
            count = sum(each[0] == tenant for each in self.waiting) if everybody else own
            if count >= most.waiting_max:
                return "too_many_waiting"
        return "queued"


def inside(inner: Ceiling, outer: Ceiling) -> bool:
    ranks = list(Priority)
    return (
        ranks.index(inner.priority_max) <= ranks.index(outer.priority_max)
        and all(kind in outer.lease_classes for kind in inner.lease_classes)
        and inner.term_max_ms <= outer.term_max_ms
        and inner.waiting_max <= outer.waiting_max
    )


@settings(max_examples=200)
@given(ceilings, st.lists(changes | asks, max_size=12))
def test_requests_are_judged_by_the_ceilings_above_them(
    usual: Ceiling, steps: list[object]
) -> None:
    bench = Bench(usual)
    for step in steps:
        assert isinstance(step, tuple)
        if len(step) == 2:
            bench.change(*step)
            continue
        (tenant, project), rank, kind, ttl_ms = step
        terms = {"priority": rank, "lease_class": kind, "ttl_ms": ttl_ms, "cpu_cores": 1}
        request = PlacementRequest(tenant=tenant, project=project, **terms)
        expected = bench.expected((tenant, project), rank, kind, ttl_ms)
        answer = bench.do(Submit(request))
        if isinstance(answer, Refused):
            assert str(answer.denied.detail.code) == expected
            continue
        assert isinstance(answer, Queued), answer
        assert expected == "queued"
        bench.waiting.append((tenant, project))

"""Whatever happened and whatever policies were set: nothing stays where it may not be.

Histories of leases, ends, fences, departures and policies in a kernel; after each step the judge,
who looks at every pair, finds nothing among what stays. What is left behind is what a naive reader
of the leases finds.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.isolation.judge import violations
from bailiwick.isolation.language.spelling import spell_policy
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import Linger, Policy
from bailiwick.kernel import (
    ClearFence,
    DepartNode,
    Evict,
    RegisterNode,
    Release,
    ReportTeardown,
    ScrubDomain,
    SetIsolationPolicy,
    Submit,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.isolation.placements import placements
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import DomainKind, PreemptionReason
from tests.support.isolation_policies import (
    HOUR_MS,
    JOB_LABELS,
    NOW_MS,
    PROJECTS,
    TENANTS,
    labels,
    policies,
)
from tests.unit.kernel.desk import HOPPER, Desk, ask

NODES = {
    "n1": NodeCapacity(
        8,
        10**6,
        gpus=(GpuDevice(HOPPER, fabric="blue"), GpuDevice(HOPPER, fabric="red")),
        labels={"rack": "r1", "zone": "inner"},
        topology=NodeTopology((CacheDomain(4_000), CacheDomain(4_000, numa=1)), (0, 1)),
    ),
    "n2": NodeCapacity(8, 10**6, gpus=(GpuDevice(HOPPER, fabric="red"),), labels={"rack": "r1"}),
    "n3": NodeCapacity(8, 10**6, labels={"zone": "inner"}),
}
tenants = st.sampled_from(TENANTS)
requests = st.builds(
    lambda tenant, more, **terms: ask(tenant, **more, **terms),
    tenants,
    st.sampled_from(({"cpu_cores": 1}, {"cpu_cores": 2, "gpu_count": 1})),
    project=st.none() | st.sampled_from(PROJECTS),
    job_labels=labels(JOB_LABELS),
    gang_size=st.sampled_from((1, 1, 1, 2)),
    ttl_ms=st.sampled_from((HOUR_MS, 30 * HOUR_MS, 200 * HOUR_MS)),
)
steps = st.one_of(
    st.tuples(st.just("ask"), requests),
    st.tuples(st.just("ask"), requests),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("evict"), st.integers(0, 9)),
    st.tuples(st.just("fence"), st.integers(0, 9)),
    st.tuples(st.just("leave"), st.sampled_from(sorted(NODES))),
    st.tuples(st.just("scrub"), st.sampled_from(("n1", "n2", "n3"))),
    st.tuples(st.just("wait"), st.sampled_from((0, 1, HOUR_MS, 9 * HOUR_MS))),
    st.tuples(st.just("set"), policies()),
)


class History:
    """A desk, and what a naive reader knows of the leases and of what they left."""

    def __init__(self) -> None:
        self.desk = Desk(grace_ms=0, confirm_teardown=True).at(NOW_MS)
        self.left: dict[tuple[str, DomainKind, str], Residue] = {}
        for name, capacity in NODES.items():
            self.desk.do(RegisterNode(name, capacity))

    @property
    def policy(self) -> Policy:
        return self.desk.state.isolation.policy

    def step(self, word: str, what: object) -> None:
        d, before = self.desk, {each.id: each for each in placements(self.desk.state)}
        self._do(word, what)
        after = {each.id for each in placements(d.state)}
        self._check_all()
        if word == "set":
            self.left = dict(d.state.isolation.residues)
            return
        if word == "scrub":
            self.left = {k: v for k, v in self.left.items() if not _is_in(k, str(what))}
        # One by one, as the records tell it: of two that end together the first is not the last.
        ended = [i for i in before if i not in after]
        for at, lease_id in enumerate(ended):
            there = [before[i] for i in before if i not in ended[: at + 1]]
            self._note_end(before[lease_id], there)

    def _do(self, word: str, what: Any) -> None:
        d, held = self.desk, sorted(self.desk.state.leases)
        lease_id = held[what % len(held)] if isinstance(what, int) and held else 0
        with suppress(BailiwickError):
            match word:
                case "ask":
                    d.do(Submit(what, wait=False))
                case "end" if lease_id in d.state.fenced:
                    d.do(ClearFence(lease_id))
                case "end":
                    d.do(Release(lease_id))
                case "evict" | "fence":
                    d.do(Evict((lease_id,), PreemptionReason.OPERATOR_DRAIN, 0))
                    d.do(ReportTeardown(lease_id, clean=word == "evict"))
                case "leave":
                    d.do(DepartNode(what))
                    d.do(RegisterNode(what, NODES[what]))
                case "scrub":
                    d.do(ScrubDomain(DomainKind.HOST, what))
                case "wait":
                    d.now_ms += what
                    d.tick()
                case "set":
                    d.do(SetIsolationPolicy(spell_policy(what)))
                    assert d.state.isolation.policy == what

    def check_left(self) -> None:
        """What is left behind is what the naive reader found, and a twin says the same."""
        d = self.desk
        told = {(e.rule, e.kind, e.domain): e for e in d.state.isolation.residues_at(d.now_ms)}
        known = {
            key: each
            for key, each in self.left.items()
            if each.until_ms is None or each.until_ms > d.now_ms
        }
        assert {k: e.until_ms for k, e in told.items()} == {k: e.until_ms for k, e in known.items()}
        assert digest_of(decode(encode(d.state), d.digest)) == d.digest

    def _note_end(self, gone: Placement, there: list[Placement]) -> None:
        for rule in self.policy.rules:
            if not isinstance(rule, Linger) or not rule.whose.matches(gone.subject):
                continue
            theirs = [each for each in there if rule.whose.matches(each.subject)]
            for kind, domain in ((k, d) for k in rule.kinds for d in gone.domains[k]):
                if not any(domain in each.domains[kind] for each in theirs):
                    until = None if rule.for_ms is None else self.desk.now_ms + rule.for_ms
                    key = rule.name, kind, domain
                    self.left[key] = Residue(*key, self.desk.now_ms, until)

    def _check_all(self) -> None:
        state, now = self.desk.state, self.desk.now_ms
        stays = [
            each
            for each in placements(state)
            if state.phase(int(each.id)) is RevokeState.ACTIVE or int(each.id) in state.fenced
        ]
        fixed = [each for each in stays if int(each.id) in state.fenced]
        residues = state.isolation.residues_at(now)
        broken = violations(self.policy, stays, now_ms=now, residues=residues)
        old = violations(self.policy, fixed, now_ms=now, residues=residues)
        fenced = {each.id for each in fixed}
        # Fenced work cannot be made to go: what it breaks by itself stays broken.
        assert [v for v in broken if not fenced.issuperset(v.who)] == [], (broken, old)


def _is_in(key: tuple[str, DomainKind, str], host: str) -> bool:
    _, kind, domain = key
    inner = kind in (DomainKind.CACHE, DomainKind.NUMA) and domain.startswith(f"{host}/")
    return inner or (kind, domain) == (DomainKind.HOST, host)


@given(st.lists(steps, max_size=30), policies())
def test_nothing_stays_where_it_may_not_be_whatever_happens(
    before: list[tuple[str, object]], policy: Policy
) -> None:
    history = History()
    for word, what in (*before, ("set", policy)):
        history.step(word, what)
        history.check_left()
    assert digest_of(history.desk.replayed().state) == history.desk.digest

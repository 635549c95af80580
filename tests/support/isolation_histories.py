"""Random histories of a kernel behind a policy, and what the judge says of each moment."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Policy
from bailiwick.kernel import (
    Cancel,
    DepartNode,
    Evict,
    Granted,
    Queued,
    Refused,
    RegisterNode,
    Release,
    Renew,
    State,
    Submit,
)
from bailiwick.kernel.isolation.guard import stand_guard
from bailiwick.kernel.isolation.placements import placements, seats, site_of
from bailiwick.kernel.isolation.residues import recount
from bailiwick.kernel.isolation.subjects import subject_of_request
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import PreemptionReason, Priority
from tests.unit.kernel.desk import HOPPER, Desk, ask

HOUR_MS = 3_600_000
START_MS = 4 * 24 * HOUR_MS
"""A Monday, at midnight."""


def machine(random: Random, number: int) -> NodeCapacity:
    """Four cores in one or two caches, up to two GPUs on some fabric, in one of two racks."""
    caches = random.choice(((), (CacheDomain(2_000), CacheDomain(2_000, numa=1))))
    fabrics = random.choice(((), ("", ""), ("x", "y"), (f"f{number}", f"f{number}"), ("x", "x")))
    labels = {"rack": random.choice(("r1", "r2")), "zone": random.choice(("inner", "outer"))}
    if random.random() < 0.2:
        del labels["rack"]
    gpus = tuple(GpuDevice(HOPPER, fabric=fabric) for fabric in fabrics)
    near = tuple(random.choice((0, 1)) for _ in gpus) if caches else ()
    return NodeCapacity(4, 10**6, gpus=gpus, labels=labels, topology=NodeTopology(caches, near))


def use_policy(state: State, policy: Policy) -> None:
    """Have the policy in force, as a command that sets it does, but without its text."""
    state.isolation.set_policy(1, "", policy=policy, at_ms=0)
    recount(state)
    stand_guard(state)


class History:
    """A desk with a policy, on which random things happen."""

    def __init__(self, policy: Policy, seed: int, *, nodes: int = 4, **how: Any) -> None:
        self.random, self.policy = Random(seed), policy
        engine = "pure" if seed % 2 else "auto"
        grace_ms = self.random.choice((0, 0, 5_000))
        self.desk = Desk(engine=engine, **{"grace_ms": grace_ms, **how})
        self.desk.now_ms = START_MS + self.random.randrange(7 * 24) * HOUR_MS
        self.made = 0
        for _ in range(nodes):
            self.add_node()
        use_policy(self.desk.state, policy)
        self.queued: list[int] = []

    def add_node(self) -> None:
        self.made += 1
        self.desk.do(RegisterNode(f"n{self.made}", machine(self.random, self.made)))

    def request(self) -> PlacementRequest:
        random = self.random
        terms: dict[str, Any] = {
            "cpu_cores": random.choice((1, 1, 2, 4)),
            "ttl_ms": random.choice((60_000, HOUR_MS, 10 * HOUR_MS)),
            "priority": random.choice(list(Priority)),
            "gang_size": random.choice((1, 1, 1, 2, 3)),
            "project": random.choice((None, None, "p", "q")),
            "job_labels": random.choice(({}, {}, {"team": "red"}, {"team": "blue"})),
        }
        if random.random() < 0.3:
            terms |= {"gpu_count": 1, "generation": HOPPER}
        return ask(random.choice("abc"), **terms)

    def step(self) -> None:
        """One thing happens; what may not be is refused."""
        desk, random, state = self.desk, self.random, self.desk.state
        leases = sorted(state.leases)
        what = random.random()
        try:
            if what < 0.5 or not leases:
                answer = desk.do(Submit(self.request(), wait=random.random() < 0.6))
                if isinstance(answer, Queued):
                    self.queued.append(answer.entry_id)
            elif what < 0.62:
                desk.do(Release(random.choice(leases)))
            elif what < 0.68:
                reason = PreemptionReason.OPERATOR_DRAIN
                desk.do(Evict((random.choice(leases),), reason, grace_ms=0))
            elif what < 0.78:
                ttl_ms = random.choice((HOUR_MS, 10 * HOUR_MS))
                desk.do(Renew(random.choice(leases), ttl_ms))
            elif what < 0.82 and self.queued:
                desk.do(Cancel(random.choice(self.queued)))
            elif what < 0.85:
                self.add_node()
            elif what < 0.88:
                desk.do(DepartNode(random.choice(sorted(map(str, state.ledger.entries)))))
            else:
                desk.now_ms += random.choice((1_000, 6_000, HOUR_MS, 5 * HOUR_MS))
        except BailiwickError:
            pass  # it ended meanwhile, or may not be asked now
        desk.tick(desk.now_ms + 1)

    # -- what the judge says -----------------------------------------------------------------

    def violations(self) -> list[Violation]:
        """What is broken now by what runs."""
        state, now_ms = self.desk.state, self.desk.now_ms
        left = state.isolation.residues_at(now_ms)
        return violations(self.policy, [*placements(state)], now_ms=now_ms, residues=left)

    def allowed(self, request: PlacementRequest) -> set[str]:
        """The nodes where the judge finds nothing against one who comes now, whatever it gets."""
        now_ms, found = self.desk.now_ms, set()
        state = self.desk.state
        there = (*placements(state), *seats(state, now_ms=now_ms))
        others = [replace(each, until_ms=None) for each in there]
        for node, entry in state.ledger.entries.items():
            site = site_of(entry)
            held = site.domains(devices=None if request.device_count else ())
            new = Placement(
                "new",
                subject_of_request(request),
                site.node,
                held,
                site.labels,
                now_ms + 1,  # after all who left at this moment
                now_ms + request.ttl_ms,
            )
            left = state.isolation.residues_at(now_ms)
            told = violations(self.policy, [*others, new], now_ms=now_ms, residues=left)
            if not any("new" in each.who for each in told):
                found.add(str(node))
        return found

    def ask(self, request: PlacementRequest) -> Granted | Refused:
        """What one is answered who will not wait."""
        answer = self.desk.do(Submit(request, wait=False))
        assert isinstance(answer, Granted | Refused), answer
        return answer

"""Random histories of a kernel behind a policy, and what the judge says of each moment."""

from __future__ import annotations

from random import Random
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.placements import Placement, Site
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
    Submit,
)
from bailiwick.kernel.isolation.guard import IsolationGuard, guard_of
from bailiwick.kernel.isolation.subjects import subject_of_lease, subject_of_request
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
        self.guard: IsolationGuard = guard_of(self.desk.state, policy)
        self.desk.state.guards.add(self.guard)
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

    def site(self, node: str) -> Site:
        entry = self.desk.state.ledger.entry(node)
        fabrics = tuple(gpu.fabric for gpu in entry.capacity.gpus)
        return Site(node, entry.capacity.topology, fabrics, entry.capacity.labels)

    def placements(self, *, ends: bool = True, seats: bool = False) -> list[Placement]:
        """What runs, and if asked for, who is to come into kept room; with or without its end."""
        state, found = self.desk.state, []
        for lease_id in state.leases:
            fields = state.fields(lease_id)
            site = self.site(str(state.node_of(lease_id)))
            found.append(
                Placement(
                    str(lease_id),
                    subject_of_lease(state, lease_id),
                    site.node,
                    site.domains(devices=_indices(fields.devices)),
                    site.labels,
                    fields.granted_ms,
                    fields.expires_ms if ends else None,
                )
            )
        for entry_id, claim in state.claims.items() if seats else ():
            subject = subject_of_request(state.entry(entry_id).request)
            for number, seat in enumerate(claim.seats):
                site = self.site(str(seat.node))
                domains = site.domains(devices=_indices(seat.devices))
                name = f"claim-{entry_id}-{number}"
                found.append(Placement(name, subject, site.node, domains, site.labels))
        return found

    def violations(self) -> list[Violation]:
        """What is broken now by what runs."""
        return violations(self.policy, self.placements(), now_ms=self.desk.now_ms)

    def allowed(self, request: PlacementRequest) -> set[str]:
        """The nodes where the judge finds nothing against one who comes now, whatever it gets."""
        now_ms, found = self.desk.now_ms, set()
        others = self.placements(ends=False, seats=True)
        for node in map(str, self.desk.state.ledger.entries):
            site = self.site(node)
            held = site.domains(devices=None if request.device_count else ())
            new = Placement(
                "new",
                subject_of_request(request),
                node,
                held,
                site.labels,
                now_ms,
                now_ms + request.ttl_ms,
            )
            told = violations(self.policy, [*others, new], now_ms=now_ms)
            if not any("new" in each.who for each in told):
                found.add(node)
        return found

    def ask(self, request: PlacementRequest) -> Granted | Refused:
        """What one is answered who will not wait."""
        answer = self.desk.do(Submit(request, wait=False))
        assert isinstance(answer, Granted | Refused), answer
        return answer


def _indices(bits: int) -> tuple[int, ...]:
    return tuple(index for index in range(bits.bit_length()) if bits >> index & 1)

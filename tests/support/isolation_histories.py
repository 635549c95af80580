"""Random histories of a kernel behind a policy, and what the judge says of each moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
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
    State,
    Submit,
)
from bailiwick.kernel.isolation.guard import stand_guard
from bailiwick.kernel.isolation.placements import placements, seats, site_of
from bailiwick.kernel.isolation.residues import recount
from bailiwick.kernel.isolation.subjects import subject_of_request
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from bailiwick.vocab.words import PreemptionReason, Priority
from tests.unit.kernel.desk import HOPPER, Desk, ask

HOUR_MS = 3_600_000
START_MS = 4 * 24 * HOUR_MS
"""A Monday, at midnight."""


def machine(random: Random, number: int) -> NodeCapacity:
    """Four cores in up to three caches, up to three GPUs on some fabrics, in one of two racks."""
    two = CacheDomain(2_000), CacheDomain(2_000, numa=1)
    three = CacheDomain(1_000), CacheDomain(1_000, numa=1), CacheDomain(3_000, numa=1)
    caches = random.choice(((), two, two, three))
    own = f"f{number}"
    fabrics = random.choice(((), ("", ""), ("x", "y"), (own, own), ("x", "x"), (own, own, "x")))
    labels = {"rack": random.choice(("r1", "r2")), "zone": random.choice(("inner", "outer"))}
    if random.random() < 0.2:
        del labels["rack"]
    gpus = tuple(GpuDevice(HOPPER, fabric=fabric) for fabric in fabrics)
    near = tuple(random.choice((0, 1, None)) for _ in gpus) if caches else ()
    return NodeCapacity(4, 10**6, gpus=gpus, labels=labels, topology=NodeTopology(caches, near))


def use_policy(state: State, policy: Policy) -> None:
    """Have the policy in force, as a command that sets it does, but without its text."""
    state.isolation.set_policy(1, "", policy=policy, at_ms=0)
    recount(state)
    stand_guard(state)


class History:
    """A desk with a policy, on which random things happen."""

    def __init__(
        self, policy: Policy, seed: int, *, nodes: int = 4, patient: float = 0.6, **how: Any
    ) -> None:
        self.random, self.policy, self._patient = Random(seed), policy, patient
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
            "cpu_cores": random.choice((1, 1, 2, 4, 0)),
            "mem_bytes": 1,
            "ttl_ms": random.choice((60_000, HOUR_MS, 10 * HOUR_MS)),
            "priority": random.choice(list(Priority)),
            "gang_size": random.choice((1, 1, 1, 2, 3)),
            "project": random.choice((None, None, "p", "q")),
            "job_labels": random.choice(({}, {}, {"team": "red"}, {"team": "blue"})),
        }
        if random.random() < 0.3:
            terms |= {"gpu_count": random.choice((1, 1, 2)), "generation": HOPPER}
        return ask(random.choice("abc"), **terms)

    def step(self) -> None:
        """One thing happens; what may not be is refused."""
        desk, random, state = self.desk, self.random, self.desk.state
        leases = sorted(state.leases)
        what = random.random()
        try:
            if what < 0.5 or not leases:
                answer = desk.do(Submit(self.request(), wait=random.random() < self._patient))
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
        except InvariantBroken:
            raise
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
        """The nodes where the judge finds nothing against one who takes the right part of them.

        It may be the whole node, or cores that are free under some caches, and some devices.
        """
        found = set()
        for node, entry in self.desk.state.ledger.entries.items():
            devices = tuple(range(len(entry.capacity.gpus))) if request.device_count else ()
            for caches, held in ((None, devices), *self._parts(request, entry, free=False)):
                if self._is_open(request, site_of(entry), caches, held):
                    found.add(str(node))
                    break
        return found

    def fitting(self, request: PlacementRequest) -> set[str]:
        """The nodes where there is room, of which the judge finds nothing against taking it."""
        found, ledger = set(), self.desk.state.ledger
        for node, entry in ledger.entries.items():
            free = ledger.node(node).free
            if not entry.takes_leases or free.cpu_milli < request.cpu_milli:
                continue
            if free.mem_bytes < request.mem_bytes:
                continue
            ways = self._parts(request, entry, free=True)
            if any(self._is_open(request, site_of(entry), *way) for way in ways):
                found.add(str(node))
        return found

    def _parts(
        self, request: PlacementRequest, entry: NodeEntry, *, free: bool
    ) -> Iterator[tuple[tuple[int, ...] | None, tuple[int, ...]]]:
        """Every way to take caches and devices of a node, of free devices if so told."""
        state = self.desk.state
        cores, milli = state.cores.free(entry.handle), state.ledger.node(entry.id).device_free_milli
        some: list[tuple[int, ...] | None] = [None]
        if state.cores.is_kept(entry.handle):
            numbers = range(len(cores))
            some = [way for size in (*numbers, len(cores)) for way in combinations(numbers, size)]
            some = [
                way
                for way in some
                if way is not None
                # Whether there is room is for a policy to say only of a part of the cores.
                and (
                    sum(cores[at] for at in way) >= request.cpu_milli
                    or (not free and len(way) == len(cores))
                )
            ]
        usable = [at for at, left in enumerate(milli) if not free or left >= request.device_milli]
        # Whether it has so many is not for a policy to say.
        count = request.device_count if free else min(request.device_count, len(milli))
        return product(some, combinations(usable, count))

    def _is_open(
        self,
        request: PlacementRequest,
        site: Site,
        caches: tuple[int, ...] | None,
        devices: tuple[int, ...],
    ) -> bool:
        """Whether the judge finds nothing against one who comes now and takes that."""
        now_ms, state = self.desk.now_ms, self.desk.state
        there = (*placements(state), *seats(state, now_ms=now_ms))
        others = [replace(each, until_ms=None) for each in there]
        held = site.domains(caches=caches, devices=devices)
        from_ms = now_ms + 1  # after all who left at this moment
        subject, until_ms = subject_of_request(request), now_ms + request.ttl_ms
        new = Placement("new", subject, site.node, held, site.labels, from_ms, until_ms)
        left = state.isolation.residues_at(now_ms)
        told = violations(self.policy, [*others, new], now_ms=now_ms, residues=left)
        return not any("new" in each.who for each in told)

    def ask(self, request: PlacementRequest) -> Granted | Refused:
        """What one is answered who will not wait."""
        answer = self.desk.do(Submit(request, wait=False))
        assert isinstance(answer, Granted | Refused), answer
        return answer

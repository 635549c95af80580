"""What a program without a kernel admits keeps a policy, in one ledger and over several cells.

The book of what runs, and of what was left behind, is kept here by hand; the judge reads that.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick import (
    AdmissionController,
    CapacityLedger,
    Conflict,
    EndedLease,
    Federation,
    Isolation,
    Lease,
    Placed,
    PlacementRequest,
    PlacementScorer,
    Unplaced,
)
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import Linger, Policy, Subject
from bailiwick.scheduler.node_state import NodeEntry
from tests.support.isolation_grounds import INNER, OUTER, policies
from tests.support.isolation_histories import HOUR_MS, START_MS, machine
from tests.unit.kernel.desk import HOPPER

ALL = (*OUTER, *INNER)
STEPS = 25


class Cells:
    """Cells under one policy, on which random things happen."""

    def __init__(self, policy: Policy, seed: int, *, names: tuple[str, ...]) -> None:
        self.random, self.policy = Random(seed), policy
        self.now_ms = START_MS + self.random.randrange(7 * 24) * HOUR_MS
        isolation, engine = Isolation(policy), "pure" if seed % 2 else "auto"
        self.federation = Federation()
        self.made: dict[str, int] = {}
        self.running: dict[tuple[str, int], Placement] = {}
        self.left: dict[object, Residue] = {}
        for name in names:
            ledger = CapacityLedger(engine=engine)
            scorer = PlacementScorer(filters=[isolation.over(ledger, cell=name)])
            self.federation.add_cell(name, AdmissionController(ledger, scorer=scorer))
            for _ in range(3 if len(names) == 1 else 2):
                self.add_node(name)

    def ledger(self, cell: str) -> CapacityLedger:
        return self.federation.cell(cell).admission.ledger

    def add_node(self, cell: str) -> None:
        number = self.made[cell] = self.made.get(cell, 0) + 1  # the same names in every cell
        self.ledger(cell).register_node(f"n{number}", machine(self.random, number))

    def request(self, *, gangs: bool = True) -> PlacementRequest:
        random = self.random
        terms: dict[str, Any] = {
            "cpu_cores": random.choice((1, 1, 2, 4, 0)),
            "mem_bytes": 1,
            "ttl_ms": random.choice((60_000, HOUR_MS, 10 * HOUR_MS)),
            "gang_size": random.choice((1, 1, 1, 2, 3)) if gangs else 1,
            "project": random.choice((None, None, "p", "q")),
            "job_labels": random.choice(({}, {}, {"team": "red"}, {"team": "blue"})),
        }
        if random.random() < 0.3:
            terms |= {"gpu_count": random.choice((1, 1, 2)), "generation": HOPPER}
        return PlacementRequest(tenant=random.choice("abc"), **terms)

    def step(self) -> None:
        random, what = self.random, self.random.random()
        self.now_ms += 1
        running = sorted(self.running)
        if what < 0.55 or not running:
            self.admit(self.request())
        elif what < 0.68:
            cell, lease_id = random.choice(running)
            self._end(cell, (self.ledger(cell).release(lease_id, now_ms=self.now_ms),))
        elif what < 0.8:
            self._renew(*random.choice(running), ttl_ms=random.choice((HOUR_MS, 10 * HOUR_MS)))
        elif what < 0.84:
            self.add_node(random.choice([str(cell.id) for cell in self.federation.cells()]))
        elif what < 0.88:
            cell = random.choice(running)[0]
            node = random.choice(sorted(map(str, self.ledger(cell).entries)))
            self._end(cell, self.ledger(cell).depart_node(node, now_ms=self.now_ms))
        else:
            self.now_ms += random.choice((1_000, HOUR_MS, 5 * HOUR_MS))
        for each in self.federation.cells():
            self._end(str(each.id), each.admission.ledger.expire(self.now_ms))

    def admit(self, request: PlacementRequest) -> Placed | Unplaced:
        answer = self.federation.admit(request, now_ms=self.now_ms)
        for lease in answer.decision.leases if isinstance(answer, Placed) else ():
            assert isinstance(answer, Placed)
            entry = self.ledger(answer.cell).entry(lease.node)
            new = self.placed(answer.cell, entry, request, devices=lease.devices)
            name = f"{answer.cell}/{lease.id}"
            self.running[str(answer.cell), lease.id] = replace(new, id=name)
        return answer

    def placed(
        self, cell: str, entry: NodeEntry, request: PlacementRequest, *, devices: tuple[int, ...]
    ) -> Placement:
        capacity = entry.capacity
        name = f"{cell}:{entry.id}"
        fabrics = tuple(gpu.fabric for gpu in capacity.gpus)
        site = Site(name, capacity.topology, fabrics, capacity.labels)
        project = None if request.project is None else str(request.project)
        subject = Subject(str(request.tenant), project, dict(request.job_labels))
        held, until_ms = site.domains(devices=devices), self.now_ms + request.ttl_ms
        return Placement("new", subject, name, held, site.labels, self.now_ms, until_ms)

    def _renew(self, cell: str, lease_id: int, *, ttl_ms: int) -> None:
        try:
            lease = self.ledger(cell).renew(lease_id, ttl_ms=ttl_ms, now_ms=self.now_ms)
        except Conflict:
            return
        old = self.running[cell, lease_id]
        self.running[cell, lease_id] = replace(old, until_ms=lease.expires_ms)

    def _end(self, cell: str, ended: tuple[EndedLease, ...]) -> None:
        for lease in (each.lease for each in ended):
            self._leave(self.running.pop((cell, lease.id)), lease)

    def _leave(self, gone: Placement, lease: Lease) -> None:
        assert gone.until_ms == lease.expires_ms
        for rule in (each for each in self.policy.rules if isinstance(each, Linger)):
            theirs = [e for e in self.running.values() if rule.whose.matches(e.subject)]
            for kind in rule.kinds if rule.whose.matches(gone.subject) else ():
                for name in gone.domains[kind]:
                    if not any(name in each.domains[kind] for each in theirs):
                        until_ms = None if rule.for_ms is None else self.now_ms + rule.for_ms
                        left = Residue(rule.name, kind, name, self.now_ms, until_ms)
                        self.left[rule.name, kind, name] = left

    # -- what the judge says -----------------------------------------------------------------

    def violations(self) -> list[Violation]:
        there, left = [*self.running.values()], self.left.values()
        return violations(self.policy, there, now_ms=self.now_ms, residues=left)

    def fitting(self, cell: str, request: PlacementRequest) -> set[str]:
        """The nodes where there is room, of which the judge finds nothing against taking it."""
        found, ledger = set(), self.ledger(cell)
        others = [replace(each, until_ms=None) for each in self.running.values()]
        for node, entry in ledger.entries.items():
            usage = ledger.node(node)
            if usage.free.cpu_milli < request.cpu_milli:
                continue
            free = [at for at, left in enumerate(usage.device_free_milli) if left == 1000]
            for devices in combinations(free, request.device_count):
                there = [*others, self.placed(cell, entry, request, devices=devices)]
                left = self.left.values()
                told = violations(self.policy, there, now_ms=self.now_ms, residues=left)
                if not any("new" in each.who for each in told):
                    found.add(str(node))
        return found


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_nothing_that_the_library_admits_breaks_a_rule(policy: Policy, seed: int) -> None:
    cells = Cells(policy, seed, names=("only",))
    for _ in range(STEPS):
        cells.step()
        assert cells.violations() == []


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_the_library_keeps_nobody_out_for_less(policy: Policy, seed: int) -> None:
    cells = Cells(policy, seed, names=("only",))
    for _ in range(STEPS // 2):
        cells.step()
    for _ in range(4):
        cells.now_ms += 1
        request = cells.request(gangs=False)
        fitting = cells.fitting("only", request)
        answer = cells.admit(request)
        if isinstance(answer, Placed):
            assert set(map(str, answer.decision.nodes)) <= fitting
        else:
            assert not fitting


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_no_two_cells_together_break_a_rule(policy: Policy, seed: int) -> None:
    cells = Cells(policy, seed, names=("east", "west"))
    for _ in range(STEPS):
        cells.step()
        assert cells.violations() == []


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_a_cell_is_passed_over_only_where_the_judge_closes_all_that_fits(
    policy: Policy, seed: int
) -> None:
    cells = Cells(policy, seed, names=("east", "west"))
    for _ in range(STEPS // 2):
        cells.step()
    for _ in range(4):
        cells.now_ms += 1
        request = cells.request(gangs=False)
        fitting = {name: cells.fitting(name, request) for name in ("east", "west")}
        before = {str(each.id): each.kept_apart for each in cells.federation.cells()}
        answer = cells.admit(request)
        if isinstance(answer, Placed):
            assert set(map(str, answer.decision.nodes)) <= fitting[str(answer.cell)]
        else:
            assert not any(fitting.values())
        for name, told in answer.passed_over.items():
            assert not fitting[str(name)]
            assert told.rule in {rule.name for rule in policy.rules}
        for each in cells.federation.cells():
            counted = each.kept_apart - before[str(each.id)]
            assert counted == (each.id in answer.passed_over)

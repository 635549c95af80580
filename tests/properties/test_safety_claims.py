"""Nobody is evicted for nothing, and nobody waits for one who is less urgent.

The reference reads the journal only, and reckons with whole cores: who runs where, who is told to
go, for whom, and what is kept. Policies, GPUs and money have tests of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest

from bailiwick.journal import Record
from bailiwick.kernel import (
    Cancel,
    Queued,
    RegisterNode,
    Release,
    ReportCheckpoint,
    SetQuota,
    Submit,
    digest_of,
)
from bailiwick.kernel.work.requests import SEARCHES_MAX
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import Priority
from tests.unit.kernel.desk import Desk, ask, cores

NODES = {"n1": 10, "n2": 4}
GRACE = 3_000


@dataclass
class Job:
    node: str
    cores: int
    tenant: str
    leaving: bool = False
    """Told to go for more urgent work, and still able to stay."""


@dataclass
class Wish:
    tenant: str
    cores: int
    rank: int
    victims: tuple[int, ...] = ()
    seat: str | None = None


@dataclass
class Story:
    """What the journal tells."""

    nodes: dict[str, int]
    jobs: dict[int, Job] = field(default_factory=dict)
    wishes: dict[int, Wish] = field(default_factory=dict)
    quotas: dict[str, int] = field(default_factory=dict)

    def read(self, record: Record) -> None:
        body = record.body
        match record.kind:
            case "node_registered":
                self.nodes[str(body["node"])] = NODES.get(str(body["node"]), 6)
            case "admission_approved":
                wish = self.wishes.pop(body["entry_id"], None) if "entry_id" in body else None
                size = body["resources"]["cpu_milli"] // 1000
                assert wish is None or wish.cores == size
                (lease_id,), (node,) = body["lease_ids"], body["nodes"]
                self.jobs[lease_id] = Job(node, size, str(record.tenant))
            case "request_queued":
                size = body["resources"]["cpu_milli"] // 1000
                rank = Priority(body["priority"]).rank
                self.wishes[body["entry_id"]] = Wish(str(record.tenant), size, rank)
            case "request_blocked":
                wish = self.wishes.pop(body["entry_id"])
                self.wishes[body["entry_id"]] = wish  # who claimed first is served first
                wish.victims = tuple(body.get("victims", ()))
                wish.seat = body["seats"][0] if wish.victims else None
            case "request_cancelled":
                del self.wishes[body["entry_id"]]
            case "lease_revoked":
                job = self.jobs[body["lease_id"]]
                job.leaving = body["after"] in ("revoke_warning", "grace_running")
            case "lease_restored":
                job = self.jobs[body["lease_id"]]
                assert job.leaving, "who was not told to go is not told to stay"
                job.leaving = False
            case "lease_preempted":
                preempted = body["lease_id"]
                wanted = [w for w in self.wishes.values() if preempted in w.victims]
                assert wanted, "somebody went for nobody"
                del self.jobs[preempted]
            case "lease_released" | "lease_expired":
                del self.jobs[body["lease_id"]]
            case _:
                pass

    def kept(self, node: str) -> int:
        """Cores of a node kept for those who wait."""
        rests = {i: job.cores for i, job in self.jobs.items() if job.node == node}
        total = 0
        for wish in self.wishes.values():
            lacking = wish.cores if wish.seat == node else 0
            for victim in wish.victims:
                used = min(lacking, rests.get(victim, 0))
                lacking -= used
                if used:
                    rests[victim] -= used
            total += lacking
        return total

    def free(self, node: str) -> int:
        return self.nodes[node] - sum(j.cores for j in self.jobs.values() if j.node == node)

    def used(self, tenant: str) -> int:
        return sum(j.cores for j in self.jobs.values() if j.tenant == tenant)

    def held(self, tenant: str, *, but: int) -> int:
        """Quota kept for those of a tenant that wait for victims, none of which are its own."""
        return sum(
            w.cores
            for number, w in self.wishes.items()
            if w.tenant == tenant and w.victims and number != but
        )

    def check(self) -> None:
        """At any time."""
        for node in self.nodes:
            assert self.free(node) >= self.kept(node) >= 0, "more is kept than is there"
        for wish in self.wishes.values():
            assert all(victim in self.jobs for victim in wish.victims) or wish.seat

    def check_after_look(self) -> None:
        """After the line was looked at."""
        for number, wish in self.wishes.items():
            if wish.victims:
                assert any(i in self.jobs for i in wish.victims), "its room is there, and it waits"
            self._waits_rightly(number, wish)

    def check_spared(self) -> None:
        wanted = {i for wish in self.wishes.values() for i in wish.victims}
        for lease_id, job in self.jobs.items():
            assert not job.leaving or lease_id in wanted, f"{lease_id} goes for nobody"

    def _waits_rightly(self, number: int, wish: Wish) -> None:
        """It would not fit, beside those who stay and those at least as urgent who wait."""
        limit = self.quotas.get(wish.tenant)
        if limit is not None and self.used(wish.tenant) + wish.cores > limit:
            return
        if limit is not None and self.held(wish.tenant, but=number):
            return
        if wish.rank < Priority.HIGH.rank:
            return  # it may stand behind a reservation, and takes nothing over
        if sum(other.rank >= Priority.HIGH.rank for other in self.wishes.values()) > SEARCHES_MAX:
            return  # not everybody's room is sought in one look
        others = [w for key, w in self.wishes.items() if key != number and w.rank >= wish.rank]
        for node in self.nodes if not wish.victims else ():
            staying = (j.cores for j in self.jobs.values() if j.node == node and not j.leaving)
            ahead = sum(other.cores for other in others if other.seat in (None, node))
            assert self.nodes[node] - sum(staying) < wish.cores + ahead, f"{number} fits on {node}"


def next_step(draw: Random) -> tuple[object, ...]:
    """Mostly urgent work that comes, and time that passes."""
    what = draw.choices(
        ["submit", "fill", "tick", "cancel", "release", "checkpoint", "node", "quota"],
        weights=[40, 15, 30, 8, 8, 4, 1, 2],
    )[0]
    match what:
        case "submit":
            urgency = draw.choice([Priority.HIGH, Priority.CRITICAL, *Priority])
            size, ttl_ms = draw.choice([1, 2, 4, 6, 8, 10]), draw.choice([500, 1_000, 5_000])
            return what, draw.choice("abc"), size, urgency, ttl_ms, draw.random() < 0.7
        case "tick":
            return what, draw.choice([1, 500, 1_000, GRACE])
        case "fill":
            return what, draw.choice([(10, 4), (5, 5, 4), (6, 3, 1, 2, 2), (7, 2, 4)])
        case "node":
            return what, draw.choice([3, 4])
        case "quota":
            return what, draw.choice("ab"), draw.randint(10, 14)
        case _:
            return what, draw.randrange(6)


class House:
    """A kernel, and the story its journal tells."""

    def __init__(self, engine: str) -> None:
        self.desk = Desk(engine=engine, grace_ms=GRACE)
        self.story = Story({})
        for name, size in NODES.items():
            self.do(RegisterNode(name, cores(size)))

    def fill(self, sizes: tuple[int, ...]) -> None:
        """Patient work of many sizes, so that who is urgent finds no room."""
        for number, size in enumerate(sizes):
            who, priority = "abc"[number % 3], (Priority.LOW, Priority.NORMAL)[number % 2]
            terms = {"cpu_cores": size, "priority": priority, "ttl_ms": 600_000}
            self.do(Submit(ask(who, **terms), wait=False))

    def do(self, command: object) -> object:
        try:
            answer = self.desk.do(command)  # type: ignore[arg-type]
        except BailiwickError:
            return None
        for record in self.desk.last:
            self.story.read(record)
        self.story.check()
        return answer

    def pick(self, numbers: object, index: int) -> int | None:
        chosen = sorted(numbers)  # type: ignore[call-overload]
        return chosen[index % len(chosen)] if chosen else None

    def step(self, what: str, *terms: object) -> None:
        desk, story = self.desk, self.story
        match what, *terms:
            case "submit", str(who), int(size), Priority() as priority, int(ttl), bool(wait):
                request = ask(who, cpu_cores=size, priority=priority, ttl_ms=ttl)
                answer = self.do(Submit(request, wait))
                if isinstance(answer, Queued):
                    assert answer.entry_id in story.wishes
            case "fill", tuple(sizes):
                self.fill(sizes)
            case "tick", int(after):
                desk.now_ms += after
                desk.tick()
                for record in desk.last:
                    story.read(record)
                story.check()
                story.check_after_look()
                story.check_spared()
            case "cancel", int(index):
                entry = self.pick(story.wishes, index)
                if entry is not None:
                    self.do(Cancel(entry))
                    story.check_spared()
            case "release", int(index):
                lease = self.pick(story.jobs, index)
                if lease is not None:
                    self.do(Release(lease))
            case "checkpoint", int(index):
                lease = self.pick(story.jobs, index)
                if lease is not None:
                    self.do(ReportCheckpoint(lease))
            case "node", int(number):
                self.do(RegisterNode(f"n{number}", cores(6)))
            case "quota", str(who), int(most):
                story.quotas[who] = most
                self.do(SetQuota(who, Quota((ResourceLimit.cpu_cores(most),))))
            case _:
                raise AssertionError(what)


@pytest.mark.parametrize("engine", ["pure", "compiled"])
@pytest.mark.parametrize("seed", range(25))
def test_who_goes_goes_for_somebody_and_who_waits_waits_for_no_less_urgent(
    engine: str, seed: int
) -> None:
    draw, house = Random(seed), House(engine)
    house.fill((10, 4))
    for _ in range(60):
        what, *terms = next_step(draw)
        house.step(str(what), *terms)
    assert digest_of(house.desk.replayed(engine=engine).state) == house.desk.digest

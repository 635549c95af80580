"""One run: the campus in simulated time, from Monday midnight to the last hour of the last day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bailiwick import Dimension, HardwareGeneration, RevokeState
from bailiwick.demo.agenda import Agenda
from bailiwick.demo.books import Books, Puzzle, Sample
from bailiwick.demo.desk import MINUTE_MS, Desk, Run
from bailiwick.demo.fleet import HOUR_MS, LABS, capacity_of, price_micros_per_hour
from bailiwick.demo.story import Story
from bailiwick.demo.traffic import draw_jobs

SERVE_MS = 5 * MINUTE_MS
KEEP_MS = 30 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run has come."""

    now_ms: int
    asked: int
    granted: int
    sample: Sample


class Simulation:
    """The campus over some days."""

    def __init__(self, days: int, seed: int, *, engine: str = "auto") -> None:
        self.end_ms = 24 * HOUR_MS * days
        self.agenda = Agenda()
        self.desk = Desk(self.agenda, seed=seed, engine=engine)
        self.story = Story(self.desk, days)
        self._watcher: Callable[[Step], None] = lambda step: None
        for job in draw_jobs(days, seed):
            self.agenda.at(job.arrives_ms, partial(self.desk.arrive, job))
        self.story.plan()
        self.agenda.every(SERVE_MS, self._serve)
        self.agenda.every(KEEP_MS, self._keep)

    def run(self, watcher: Callable[[Step], None]) -> Books:
        """Let time pass; the watcher is told every half hour of it."""
        self._watcher = watcher
        self.agenda.run(self.end_ms, self.desk.audit.verify)
        desk, books = self.desk, self.desk.books
        for lease_id in sorted(desk.runs):
            desk.meter(desk.ledger.lease(lease_id), self.end_ms)
        books.waiting = [line.job for line in desk.lines.values()]
        books.running = len(set(desk.runs.values()))
        books.nodes, books.checks = len(desk.ledger), desk.audit.checks
        milli = sum(sum(s.total.values()) for s in books.samples) // len(books.samples)
        books.capacity_micros = milli * self.end_ms
        return books

    def _serve(self) -> None:
        self.desk.advance()
        self.story.watch()
        self.desk.serve_queue()

    def _keep(self) -> None:
        """Holders save and renew; the fleet is sampled."""
        for run in dict.fromkeys(self.desk.runs.values()):
            self._keep_run(run)
        sample = self._sample()
        self.desk.books.samples.append(sample)
        self._look_for_puzzle()
        tenants = self.desk.books.tenants.values()
        asked, granted = sum(t.asked for t in tenants), sum(t.granted for t in tenants)
        self._watcher(Step(self.agenda.now_ms, asked, granted, sample))

    def _keep_run(self, run: Run) -> None:
        now_ms, ledger, kind = self.agenda.now_ms, self.desk.ledger, run.job.kind
        for lease_id in sorted(run.leases):
            lease = ledger.lease(lease_id)
            if lease.state is not RevokeState.ACTIVE:
                return
            if kind.saves:
                ledger.report_checkpoint(lease_id, now_ms=now_ms)
                run.saved_ms = now_ms - run.started_ms
            if kind.renews and lease.expires_ms - now_ms <= HOUR_MS:
                renewed = ledger.renew(
                    lease_id, ttl_ms=kind.term_ms, now_ms=now_ms, generation=lease.generation
                )
                self.desk.seal.renewed(renewed, at_ms=now_ms)
                self.desk.books.renewals += 1

    def _sample(self) -> Sample:
        leased: dict[HardwareGeneration, int] = {}
        total: dict[HardwareGeneration, int] = {}
        for node in self.desk.ledger.nodes():
            for device in capacity_of(node.id).gpus[:1]:
                family = device.generation
                leased[family] = leased.get(family, 0) + node.leased.gpu_milli
                total[family] = total.get(family, 0) + node.total.gpu_milli
        for lab in LABS:
            room = self.desk.quotas.headroom(lab.name).dimensions[Dimension.GPU_COUNT]
            use = room.used / room.limit if room.limit else 0.0
            self.desk.books.tenants[lab.name].quota_use.append(use)
        running = len(set(self.desk.runs.values()))
        return Sample(self.agenda.now_ms, leased, total, running, len(self.desk.lines))

    def _look_for_puzzle(self) -> None:
        """Keep the waiting request whose explanation has most to say."""
        now_ms, desk = self.agenda.now_ms, self.desk
        if now_ms % HOUR_MS or not 0.5 * self.end_ms < now_ms < 0.8 * self.end_ms:
            return
        lines = [
            (entry_id, line)
            for entry_id, line in desk.lines.items()
            if HOUR_MS <= now_ms - line.job.arrives_ms <= 8 * HOUR_MS
        ]
        for entry_id, line in lines[:12]:
            plan = desk.admission.plan(
                line.job.request,
                now_ms=now_ms,
                preemption=desk.preemption,
                price=price_micros_per_hour,
            )
            place = desk.queue.position(entry_id, now_ms) + 1
            found = Puzzle(line.job, now_ms, plan, place, len(desk.lines))
            if desk.books.puzzle is None or _interest(found) > _interest(desk.books.puzzle):
                desk.books.puzzle = found


def _interest(puzzle: Puzzle) -> tuple[bool, int, int]:
    """Whether evicting was looked into, then how many filters bite, then the size of the gang."""
    fallen = puzzle.plan.explanation.fallen
    return puzzle.plan.victims is not None, len(fallen), puzzle.job.request.gang_size

"""``bailiwick up --demo``: the campus as a simulated cell that lives beside the real machine.

Rules:

- Its machines are simulated and are labelled so (``cell=demo``); its work asks for that label, so
  it never lands on a real machine. Jobs ask for a machine with an executor, so they never land
  here.
- Everything goes through the kernel like anybody's: it is admitted, waits, is evicted, is sealed.
- An hour of the campus takes half a minute. Leases end when their work does, or by their term.
- After a restart it goes on with what it finds: what it does not remember ends a little later.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from bailiwick.demo.fleet import HOUR_MS, LABS, capacity_of, found, node_names
from bailiwick.demo.traffic import Job, draw_jobs
from bailiwick.kernel import (
    Command,
    Envelope,
    RegisterNode,
    Release,
    ReportCheckpoint,
    Submit,
)
from bailiwick.kernel.answers import Answer, Granted, Queued
from bailiwick.ports import Clock
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.vocab.errors import BailiwickError

ACTOR = "demo-campus"
LABEL = {"cell": "demo"}
SPEED = 120
FIRST_HOUR = 8
WAITING_MAX = 200
READ_MAX = 2_000
STEP_S = 0.2


@dataclass(order=True, slots=True)
class _Due:
    at_ms: int
    serial: int
    act: Callable[[], None] = field(compare=False)


class DemoCell:
    """The duty of keeping the campus alive."""

    name = "demo"

    def __init__(self, runner: Runner, clock: Clock, *, seed: int = 7) -> None:
        self._runner, self._clock, self._seed = runner, clock, seed
        self._due: list[_Due] = []
        self._serial = 0
        self._waiting: dict[int, Job] = {}
        self._running: dict[int, Job] = {}
        self._leaving: set[int] = set()
        self._read = 0

    def run(self, stop: threading.Event) -> None:
        """Furnish the cell if it is new, then let its days pass."""
        self._furnish()
        self._due, self._waiting, self._running = [], {}, {}
        self._leaving.clear()
        self._read = self._runner.replica.journal.size
        self._adopt()
        jobs, began_ms = self._jobs(), self._clock.now_ms()
        coming = next(jobs)
        while not stop.wait(STEP_S):  # until told to stop
            now_ms = self._clock.now_ms()
            self._hear()
            while began_ms + coming.arrives_ms <= now_ms:  # bounded by the arrivals of a step
                self._arrive(coming, now_ms)
                coming = next(jobs)
            while self._due and self._due[0].at_ms <= now_ms:  # bounded: each is done once
                heappop(self._due).act()

    # -- what there is -------------------------------------------------------------------------

    def _furnish(self) -> None:
        known = self._runner.read(
            lambda view: (set(view.state.directory.tenants), set(view.state.ledger.entries))
        )
        tenants, nodes = known[0], {str(node) for node in known[1]}
        for command in _fixtures(tenants, nodes):
            self._tell(command, correlation_id="demo-start")

    def _adopt(self) -> None:
        """What ran before a restart ends within its own time."""

        def held(view: View) -> list[int]:
            state = view.state
            return [i for i in state.leases if str(state.node_of(i)).startswith("demo-")]

        now_ms = self._clock.now_ms()
        for number, lease_id in enumerate(self._runner.read(held)):
            self._plan(now_ms + 1_000 * (1 + number % 90), partial(self._release, lease_id))

    def _jobs(self) -> Iterator[Job]:
        """Work without end, a day after the other, in our own time."""
        day = 0
        while True:  # the caller stops
            for job in draw_jobs(1, self._seed + day):
                at_ms = day * 24 * HOUR_MS + job.arrives_ms - FIRST_HOUR * HOUR_MS
                if at_ms >= 0:
                    job.arrives_ms = at_ms // SPEED
                    job.length_ms //= SPEED
                    yield job
            day += 1

    # -- what happens --------------------------------------------------------------------------

    def _arrive(self, job: Job, now_ms: int) -> None:
        if len(self._waiting) >= WAITING_MAX:
            return
        request = replace(
            job.request,
            labels={**job.request.labels, **LABEL},
            ttl_ms=max(1_000, job.request.ttl_ms // SPEED),
            deadline_ms=None
            if job.request.deadline_ms is None
            else now_ms + max(1, job.kind.start_within_h) * HOUR_MS // SPEED,
        )
        answer = self._tell(Submit(request), correlation_id=f"demo-{job.id}")
        if isinstance(answer, Granted):
            self._begin(answer.lease_ids, job)
        elif isinstance(answer, Queued):
            self._waiting[answer.entry_id] = job

    def _begin(self, lease_ids: tuple[int, ...] | list[int], job: Job | None) -> None:
        ends_ms = self._clock.now_ms() + (30_000 if job is None else job.length_ms)
        for lease_id in lease_ids:
            if job is not None:
                self._running[lease_id] = job
            self._plan(ends_ms, partial(self._release, lease_id))

    def _release(self, lease_id: int) -> None:
        self._running.pop(lease_id, None)
        self._tell(Release(lease_id))

    def _hear(self) -> None:
        """What the journal says about our own: who started, who must go, who is gone."""
        feed = self._runner.replica.journal
        lines = feed.read(self._read, READ_MAX)
        if lines is None:  # too far behind: what was missed ends by its term
            self._read = feed.size
            self._waiting.clear()  # nobody would ever take those out that were admitted meanwhile
            return
        self._read += len(lines)
        for line in lines:
            record = json.loads(line)
            self._note(record["kind"], record["body"])

    def _note(self, kind: str, body: dict[str, Any]) -> None:
        entry_id = body.get("entry_id")
        if kind == "admission_approved" and entry_id in self._waiting:
            self._begin(body["lease_ids"], self._waiting.pop(entry_id))
        elif kind == "request_cancelled":
            self._waiting.pop(entry_id or 0, None)
        elif kind == "lease_revoked" and body.get("after") == "grace_running":
            job = self._running.get(body["lease_id"])
            if job is not None and job.kind.saves:
                saved_ms = self._clock.now_ms() + 2_000
                self._leaving.add(body["lease_id"])
                self._plan(saved_ms, partial(self._save, body["lease_id"]))
        elif kind == "lease_restored":
            self._leaving.discard(body["lease_id"])
        elif kind in ("lease_preempted", "lease_expired", "lease_released"):
            self._running.pop(body["lease_id"], None)
            self._leaving.discard(body["lease_id"])

    def _save(self, lease_id: int) -> None:
        if lease_id in self._leaving:  # else it may stay after all, and goes on
            self._tell(ReportCheckpoint(lease_id))

    # -- how it is done ------------------------------------------------------------------------

    def _plan(self, at_ms: int, act: Callable[[], None]) -> None:
        self._serial += 1
        heappush(self._due, _Due(at_ms, self._serial, act))

    def _tell(self, command: Command, *, correlation_id: str = "demo") -> Answer | None:
        """Have something done; what came too late (a lease that has ended) is no matter."""
        try:
            return self._runner.execute(Envelope(command, ACTOR, correlation_id))
        except BailiwickError as error:
            if error.retryable:
                raise
            return None


def _fixtures(tenants: set[str], nodes: set[str]) -> Iterator[Command]:
    for lab in LABS:
        if lab.name not in tenants:
            yield from found(lab)
    for name in node_names():
        if f"demo-{name}" not in nodes:
            has = capacity_of(name, partitionable=name.startswith("a100"))
            labels = {**has.labels, **LABEL}
            yield RegisterNode(f"demo-{name}", replace(has, labels=labels))

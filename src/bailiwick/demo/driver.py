"""One run: the kernel decides, and this drives it from Monday midnight to the last hour.

The kernel is told what the people and machines of a campus would tell it, each at its time; what it
made of that is read from its answers, its state and the records that it sealed. Rules:

- Nothing is decided here. Holders begin, save, renew and end their work; executors report what they
  tore down; whoever was evicted asks again for what is left of his work.
- Time passes by ticks, every few minutes and only when something is due or has changed.
- No time but the agenda's, no chance but the generator's: the same seed gives the same journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from bailiwick import (
    DeadlinePassed,
    Denied,
    EndCause,
    InvariantBroken,
    PreemptionReason,
    Priority,
    Resources,
    RevokeState,
)
from bailiwick.demo.agenda import Agenda
from bailiwick.demo.books import CampusBooks, CampusRecord, Eviction, Moment, Sample, read_line
from bailiwick.demo.fleet import HOUR_MS, MINUTE_MS, furnish
from bailiwick.demo.traffic import Job, draw_jobs
from bailiwick.demo.watch import keep_puzzle, take_sample
from bailiwick.journal import RecordKind
from bailiwick.kernel import (
    Answer,
    ChangeSettings,
    Command,
    Envelope,
    Granted,
    Kernel,
    Queued,
    Refused,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Settings,
    State,
    Submit,
    Tick,
)

STEP_MS = 3 * MINUTE_MS
"""Between two ticks, at least: a server ticks every second, which would take a demo too long."""

KEEP_MS, SAVE_MS, PUZZLE_MS = 30 * MINUTE_MS, 2 * HOUR_MS, 3 * HOUR_MS
"""How often the fleet is looked at, work is saved, and the queue is read for a riddle."""

TEARDOWN_MS = 20_000
"""How long it takes to end what a lease held, and to say so."""

SETTINGS = Settings(
    headroom=Resources(gpu_milli=8_000),
    headroom_priority=Priority.HIGH,
    grace_ms=5 * MINUTE_MS,
    confirm_teardown=True,
    teardown_ms=5 * MINUTE_MS,
    min_run_ms=10 * MINUTE_MS,
    max_cascade_depth=2,
    fresh_checkpoint_ms=15 * MINUTE_MS,
    half_life_ms=24 * HOUR_MS,
    patience_ms=2 * HOUR_MS,
)
LOOKS_MAX = 64
"""Waiting requests that one tick looks at."""

_ENDING = (RevokeState.ACTIVE, RevokeState.GRACE_RUNNING)
_BY = {
    PreemptionReason.POLICY_VIOLATION_RECOVERY: "policy",
    PreemptionReason.QUOTA_REBALANCE: "own quota",
    PreemptionReason.BURST_CREDIT_EXHAUSTED: "own quota",
    PreemptionReason.BUDGET_EXHAUSTED: "own budget",
    PreemptionReason.COST_CAP_EVICTION: "own budget",
}


@dataclass(frozen=True, slots=True)
class RunStep:
    """How far a run has come."""

    now_ms: int
    asked: int
    granted: int
    sample: Sample


@dataclass(slots=True, eq=False)
class Run:
    """One attempt of a job: its leases, and how much of it is safe."""

    job: Job
    started_ms: int
    expires_ms: int
    leases: set[int]
    saved_ms: int = 0
    moment: Moment | None = None
    saved: bool = False
    fenced: bool = False


class Driver:
    """The campus over some days, on one kernel."""

    def __init__(self, days: int, seed: int, *, engine: str = "auto") -> None:
        self.end_ms = 24 * HOUR_MS * days
        self.agenda, self.books = Agenda(), CampusBooks()
        self.kernel = Kernel(State(engine=engine), simulated=True)
        self.runs: dict[int, Run] = {}
        self.waiting: dict[int, Job] = {}
        self.stuck: set[str] = set()
        """Nodes on which the next teardown fails."""
        self._random = Random(seed ^ 0x5EED)
        self._ticks: set[int] = set()
        self._moments: dict[tuple[str, str], Moment] = {}
        self._claimants: dict[int, tuple[Job, int]] = {}
        self._subject = ""
        self._watcher: Callable[[RunStep], None] = lambda step: None
        self.tell(ChangeSettings(SETTINGS), actor="operator")
        for command in furnish():
            self.tell(command, actor="operator")
        for job in draw_jobs(days, seed):
            self.agenda.at(job.arrives_ms, partial(self._arrive, job))
        self.agenda.every(KEEP_MS, self._keep)

    @property
    def now_ms(self) -> int:
        """The agenda's time."""
        return self.agenda.now_ms

    @property
    def state(self) -> State:
        """What the kernel's records add up to."""
        return self.kernel.state

    def run(self, watcher: Callable[[RunStep], None]) -> None:
        """Let time pass; the watcher is told every half hour of it."""
        self._watcher = watcher
        self.agenda.run(self.end_ms)
        self.books.waiting = list(self.waiting.values())
        self.books.nodes = len(self.state.ledger)

    # -- telling the kernel --------------------------------------------------------------------

    def tell(self, command: Command, *, actor: str = "campus", subject: str = "") -> Answer:
        """Have a command executed now, and hear what its records say."""
        outcome = self.kernel.execute(Envelope(command, actor), self.now_ms)
        self._subject, self._moments = subject, {}
        self._hear(outcome.lines)
        return outcome.answer

    def wake(self, at_ms: int) -> None:
        """Have the kernel look at what is due at the first step from then on."""
        at_ms = -(-at_ms // STEP_MS) * STEP_MS
        if at_ms not in self._ticks:
            self._ticks.add(at_ms)
            self.agenda.at(at_ms, self._tick)

    def _tick(self) -> None:
        self._ticks.discard(self.now_ms)
        self.tell(Tick(LOOKS_MAX), actor="scheduler")

    # -- people and their work -----------------------------------------------------------------

    def _arrive(self, job: Job) -> None:
        self.books.tenants[job.kind.tenant].asked += 1
        self._submit(job)

    def _submit(self, job: Job) -> None:
        envelope = Envelope(Submit(job.request), job.kind.tenant, f"job-{job.id}")
        outcome = self.kernel.execute(envelope, self.now_ms)
        match outcome.answer:
            case Granted(lease_ids=ids):
                self._start(job, ids)
            case Queued(entry_id=entry_id, denied=denied):
                self.waiting[entry_id] = job
                self.wake(self.now_ms + 1)
                if denied is not None:
                    self.books.denied(job, denied, at_ms=self.now_ms)
            case Refused(denied=denied):
                self.books.denied(job, denied, at_ms=self.now_ms)
            case answer:
                raise InvariantBroken(f"a request was answered with {answer}")
        self._moments = {}
        self._hear(outcome.lines)

    def _start(self, job: Job, lease_ids: tuple[int, ...]) -> None:
        book = self.books.tenants[job.kind.tenant]
        if not job.attempts:
            book.granted += 1
            book.waits_ms.append(self.now_ms - job.arrives_ms)
        job.attempts += 1
        expires_ms = self.now_ms + job.request.ttl_ms
        run = Run(job, self.now_ms, expires_ms, set(lease_ids))
        self.runs |= dict.fromkeys(lease_ids, run)
        self.wake(expires_ms)
        self.agenda.after(job.length_ms - job.saved_ms, partial(self._finish, run))

    def _finish(self, run: Run) -> None:
        for lease_id in sorted(run.leases):
            if self.state.phase(lease_id) in _ENDING:
                self.tell(Release(lease_id), actor=run.job.kind.tenant)

    def _save(self, run: Run) -> None:
        """A holder in its grace reports that its work is safe."""
        for lease_id in sorted(run.leases):
            if self.state.phase(lease_id) is RevokeState.GRACE_RUNNING:
                run.saved = True
                self.tell(ReportCheckpoint(lease_id), actor=run.job.kind.tenant)

    def _tear_down(self, lease_id: int) -> None:
        """An executor ends what is left of a lease; on a node that is stuck it fails once."""
        run, node = self.runs[lease_id], str(self.state.node_of(lease_id))
        fails = node in self.stuck and run.job.gpu_milli > 0
        if fails:
            self.stuck.discard(node)
        self.tell(ReportTeardown(lease_id, clean=not fails), actor="executor")

    # -- hearing what the kernel decided -------------------------------------------------------

    def _hear(self, lines: tuple[bytes, ...]) -> None:
        self.books.lines += lines
        for line in lines:
            record = read_line(line)
            self.books.records.append(record)
            heard = _HEARD.get(record.kind)
            if heard is not None:
                heard(self, record, record.body)

    def _approved(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        entry_id = body.get("entry_id")
        if entry_id is not None:
            self._start(self.waiting.pop(entry_id), tuple(body["lease_ids"]))

    def _blocked(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        entry_id = body["entry_id"]
        job, denied = self.waiting[entry_id], self.state.blocked.get(entry_id)
        if denied is not None:
            self.books.denied(job, denied, at_ms=record.at_ms)
        claim = job, body.get("depth", 0)
        self._claimants |= dict.fromkeys(body.get("victims", ()), claim)

    def _cancelled(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        job = self.waiting.pop(body["entry_id"])
        passed = DeadlinePassed(job.request.deadline_ms or 0, record.at_ms)
        self.books.denied(job, Denied.because(passed), at_ms=record.at_ms)

    def _reserved(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        self.books.reservations.add(body["entry_id"])

    def _renewed(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        self.runs[body["lease_id"]].expires_ms = body["expires_ms"]
        self.books.renewals += 1
        self.wake(body["expires_ms"])

    def _stepped(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        lease_id, due_ms = body["lease_id"], body.get("expires_ms", 0)
        run = self.runs[lease_id]
        match RevokeState(body["after"]):
            case RevokeState.REVOKE_WARNING:
                self._warned(run, lease_id, PreemptionReason(body["reason"]))
            case RevokeState.GRACE_RUNNING:
                self.wake(due_ms)
                if run.job.kind.saves and due_ms > self.now_ms and lease_id == min(run.leases):
                    delay_s = int(20 + 1.15 * self._random.random() * (due_ms - self.now_ms) / 1000)
                    self.agenda.after(delay_s * 1000, partial(self._save, run))
            case _:
                self.agenda.after(TEARDOWN_MS, partial(self._tear_down, lease_id))

    def _restored(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        """Nobody needs its room: it goes on as if nobody had asked, a gang as a whole."""
        run = self.runs[body["lease_id"]]
        moment, run.moment = run.moment, None
        self._claimants.pop(body["lease_id"], None)
        if moment is not None:
            moment.gpu_milli -= len(run.leases) * run.job.request.gpu_milli_total
            if not (moment.gpu_milli or moment.evictions):
                self.books.moments.remove(moment)
        self.wake(body["expires_ms"])

    def _warned(self, run: Run, lease_id: int, word: PreemptionReason) -> None:
        """Somebody has to go; what one command asks of many is one moment."""
        job, depth = self._claimants.pop(lease_id, (None, 0))
        subject = self._subject or run.job.kind.tenant
        by = _BY.get(word, "operator")
        if job is not None:
            subject, by = job.name, job.kind.tenant
        moment = self._moments.get((word, subject))
        if moment is None:
            moment = Moment(self.now_ms, word, by, subject, job=job, depth=depth)
            self._moments[word, subject] = moment
            self.books.moments.append(moment)
        moment.gpu_milli += run.job.request.gpu_milli_total
        run.moment = moment

    def _departed(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        node, cause = body["node"], EndCause.NODE_DEPARTED
        moment = Moment(record.at_ms, cause, "hardware", node)
        lost = [i for i in body["lease_ids"] if i in self.runs]
        if lost:
            self.books.moments.append(moment)
        for lease_id in lost:
            run = self.runs[lease_id]
            moment.gpu_milli += run.job.request.gpu_milli_total
            run.moment = moment
            self._close(lease_id)

    def _mode(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        what = f"{body['before']} → {body['after']}"
        self.books.note(body["node"], what, at_ms=record.at_ms)

    def _ended(self, record: CampusRecord, body: Mapping[str, Any]) -> None:
        run = self.runs[body["lease_id"]]
        run.fenced |= record.kind is RecordKind.LEASE_FENCED
        self._close(body["lease_id"], released=record.kind is RecordKind.LEASE_RELEASED)

    def _close(self, lease_id: int, *, released: bool = False) -> None:
        """One lease is over; with the last of a run, see what becomes of its job."""
        run = self.runs.pop(lease_id)
        run.leases.discard(lease_id)
        self.wake(self.now_ms + 1)
        if run.leases:
            return
        job, moment, book = run.job, run.moment, self.books.tenants[run.job.kind.tenant]
        if released:
            book.finished += 1
        elif moment is None:
            book.expired += 1
        else:
            ran_ms = self.now_ms - run.started_ms
            kept_ms = ran_ms if run.saved else run.saved_ms
            job.saved_ms = min(job.saved_ms + kept_ms, job.length_ms - 1)
            told = self.now_ms, job, moment.by, moment.word
            eviction = Eviction(*told, ran_ms - kept_ms, run.saved, run.fenced)
            moment.evictions.append(eviction)
            self.agenda.after(0, partial(self._submit, job))

    # -- every half hour -----------------------------------------------------------------------

    def _keep(self) -> None:
        """Holders save and renew; the fleet is sampled."""
        for run in dict.fromkeys(self.runs.values()):
            if run.moment is None:
                self._keep_run(run)
        state, books, now_ms = self.state, self.books, self.now_ms
        running, waiting = len(set(self.runs.values())), len(self.waiting)
        sample = take_sample(state, books, now_ms=now_ms, running=running, waiting=waiting)
        if now_ms % PUZZLE_MS == 0 and 0.5 * self.end_ms < now_ms < 0.8 * self.end_ms:
            keep_puzzle(state, books, waiting=self.waiting, now_ms=now_ms)
        tenants = self.books.tenants.values()
        asked, granted = sum(t.asked for t in tenants), sum(t.granted for t in tenants)
        self._watcher(RunStep(self.now_ms, asked, granted, sample))

    def _keep_run(self, run: Run) -> None:
        now_ms, kind = self.now_ms, run.job.kind
        for lease_id in sorted(run.leases):
            if self.state.phase(lease_id) is not RevokeState.ACTIVE:
                return
            if kind.saves and now_ms % SAVE_MS == 0:
                self.tell(ReportCheckpoint(lease_id), actor=kind.tenant)
                run.saved_ms = now_ms - run.started_ms
            if kind.renews and now_ms < run.expires_ms <= now_ms + HOUR_MS:
                self.tell(Renew(lease_id, kind.term_ms), actor=kind.tenant)


_HEARD: Mapping[RecordKind, Callable[[Driver, CampusRecord, Mapping[str, Any]], None]] = {
    RecordKind.ADMISSION_APPROVED: Driver._approved,
    RecordKind.REQUEST_BLOCKED: Driver._blocked,
    RecordKind.REQUEST_CANCELLED: Driver._cancelled,
    RecordKind.ROOM_RESERVED: Driver._reserved,
    RecordKind.LEASE_RENEWED: Driver._renewed,
    RecordKind.LEASE_REVOKED: Driver._stepped,
    RecordKind.LEASE_RESTORED: Driver._restored,
    RecordKind.LEASE_RELEASED: Driver._ended,
    RecordKind.LEASE_EXPIRED: Driver._ended,
    RecordKind.LEASE_PREEMPTED: Driver._ended,
    RecordKind.LEASE_FENCED: Driver._ended,
    RecordKind.NODE_DEPARTED: Driver._departed,
    RecordKind.NODE_MODE_CHANGED: Driver._mode,
}

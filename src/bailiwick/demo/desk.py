"""The scheduling desk: every call into the library, and what follows from its answers.

Rules:

- A request is asked about at once if nobody waits for the same hardware; otherwise it joins the
  fair queue, which is served every few minutes.
- A denial that waiting cannot clear is final. Evicted work is queued again with what it had saved.
- Room is made for urgent work only when it has waited as long as its priority must, and for one
  request per generation at a time.
- No time but the agenda's, no chance but the generator's: the same seed gives the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    Denied,
    EndCause,
    EndedLease,
    EvictionPlan,
    FairShares,
    HardwareGeneration,
    Impossible,
    Lease,
    LeaseRevoker,
    PendingReason,
    PlacementRequest,
    PlacementScorer,
    Preemptable,
    PreemptionConfig,
    PreemptionManager,
    Priority,
    Quota,
    QuotaManager,
    ReservationHeadroom,
    Resources,
    Revocation,
    RevokeState,
    WaitingQueue,
)
from bailiwick.demo.agenda import Agenda
from bailiwick.demo.audit import Audit
from bailiwick.demo.books import Books, Eviction, Moment
from bailiwick.demo.fleet import (
    HOUR_MS,
    LABS,
    capacity_of,
    node_names,
    price_micros_per_hour,
)
from bailiwick.demo.money import Spending
from bailiwick.demo.rules import ClinicalOnly
from bailiwick.demo.seal import Seal
from bailiwick.demo.traffic import Job

MINUTE_MS = 60_000
URGENT_GRACE_MS = 2 * MINUTE_MS
LOOKS_MAX = 64
SEARCHES_MAX = 4
CASCADE_DEPTH_MAX = 2

PATIENCE_MS = {
    Priority.CRITICAL: 0,
    Priority.HIGH: 10 * MINUTE_MS,
    Priority.NORMAL: 45 * MINUTE_MS,
}
"""How long work waits before others are evicted for it; low priority never is a reason."""

_ROOM = (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)


@dataclass(slots=True, eq=False)
class Run:
    """One attempt of a job: its leases, and how much of it is safe."""

    job: Job
    started_ms: int
    rate: int
    leases: set[int]
    saved_ms: int = 0
    moment: Moment | None = None
    saved: bool = False
    fenced: bool = False


@dataclass(slots=True)
class Line:
    """A job in the queue, and what it was last told."""

    job: Job
    denied: Denied | None
    searched_ms: int = -HOUR_MS


@dataclass(slots=True)
class Teardown:
    """Whether a machine really let go of a lease; an armed node fails once."""

    armed: set[str] = field(default_factory=set)

    def __call__(self, lease: Lease) -> bool:
        if lease.node in self.armed and lease.resources.gpu_milli:
            self.armed.discard(lease.node)
            return False
        return True


class Desk:
    """The library's objects for one campus, wired together."""

    def __init__(self, agenda: Agenda, *, seed: int, engine: str = "auto") -> None:
        self.agenda, self.books, self.spending = agenda, Books(), Spending()
        self.random = Random(seed ^ 0x5EED)
        self.quotas = QuotaManager()
        self.shares = FairShares(half_life_ms=24 * HOUR_MS)
        self.ledger = CapacityLedger(quotas=self.quotas, engine=engine)
        self.rules, self.teardown = ClinicalOnly(self.ledger), Teardown()
        self.admission = AdmissionController(
            self.ledger,
            scorer=PlacementScorer(filters=[self.rules]),
            headroom=ReservationHeadroom(Resources(gpu_milli=8_000), Priority.HIGH),
        )
        self.queue = WaitingQueue(self.admission, self.shares, patience_ms=2 * HOUR_MS)
        self.revoker = LeaseRevoker(self.ledger, teardown=self.teardown)
        self.preemption = PreemptionManager(
            PreemptionConfig(
                min_run_ms=10 * MINUTE_MS,
                max_cascade_depth=CASCADE_DEPTH_MAX,
                fresh_checkpoint_ms=15 * MINUTE_MS,
            )
        )
        self.audit = Audit(self.ledger, self.quotas)
        self.runs: dict[int, Run] = {}
        self.lines: dict[int, Line] = {}
        self.making_room: set[HardwareGeneration | None] = set()
        for node in node_names():
            self.register(node)
        for lab in LABS:
            self.set_quota(lab.name, lab.quota)
            self.shares.set_share(lab.name, lab.share)
            for project, quota in lab.projects.items():
                self.set_quota(lab.name, quota, project=project)

    @property
    def now_ms(self) -> int:
        """The agenda's time."""
        return self.agenda.now_ms

    def register(self, node: str, *, partitionable: bool = False) -> None:
        """A machine joins the fleet."""
        capacity = capacity_of(node, partitionable=partitionable)
        joined = self.ledger.register_node(node, capacity)
        self.rules.registered(node)
        self.seal.registered(joined, at_ms=self.now_ms)

    @property
    def seal(self) -> Seal:
        """The journal of this run."""
        return self.books.seal

    def set_quota(self, tenant: str, quota: Quota, *, project: str | None = None) -> None:
        """Give a tenant or project this quota from now on."""
        self.quotas.set_quota(tenant, quota, project=project, now_ms=self.now_ms)
        self.seal.quota(tenant, quota, project=project, at_ms=self.now_ms)

    # -- asking and starting -----------------------------------------------------------------

    def arrive(self, job: Job) -> None:
        """Somebody submits a job."""
        self.books.tenants[job.kind.tenant].asked += 1
        if self._would_overtake(job.request):
            self._queue(job)
            return
        decision = self.admission.admit(job.request, now_ms=self.now_ms)
        self.seal.admission(job.request, decision, at_ms=self.now_ms)
        if isinstance(decision, Approved):
            self._start(job, decision)
        elif self._is_final(job, self._first_blocker(job.request, decision)):
            return
        elif job.request.priority is not Priority.CRITICAL or not self._make_room(job, decision):
            self._queue(job, decision)

    def _first_blocker(self, request: PlacementRequest, denied: Denied) -> Denied:
        """Quota is asked before capacity, so a denial may hide one that waiting cannot clear."""
        if denied.reason is not PendingReason.WAITING_FOR_QUOTA:
            return denied
        explanation = self.admission.explain(request, now_ms=self.now_ms)
        return explanation.first_blocker or denied

    def _would_overtake(self, request: PlacementRequest) -> bool:
        """Whether somebody at least as urgent waits for the same hardware already.

        While others end to make room nobody new starts: neither the room nor the quota that the
        search counted on is held for the one it was made for.
        """
        if self.making_room:
            return True
        return any(
            line.job.request.generation is request.generation
            and line.job.request.priority.rank >= request.priority.rank
            and (line.denied is None or line.denied.reason in _ROOM)
            for line in self.lines.values()
        )

    def _is_final(self, job: Job, denied: Denied) -> bool:
        self.books.denied(job, denied, at_ms=self.now_ms)
        return not denied.reason.is_transient

    def _queue(self, job: Job, denied: Denied | None = None) -> None:
        entry = self.queue.submit(job.request, self.now_ms)
        self.lines[entry.id] = Line(job, denied)

    def _start(self, job: Job, approved: Approved) -> None:
        book = self.books.tenants[job.kind.tenant]
        if not job.attempts:
            book.granted += 1
            book.waits_ms.append(self.now_ms - job.arrives_ms)
        job.attempts += 1
        rate = price_micros_per_hour(job.request) // job.request.gang_size
        run = Run(job, self.now_ms, rate, {lease.id for lease in approved.leases})
        for lease in approved.leases:
            self.runs[lease.id] = run
            self.audit.granted(lease)
            self.spending.change(lease.tenant, rate, now_ms=self.now_ms)
        self.agenda.after(job.length_ms - job.saved_ms, partial(self._finish, run))

    def _finish(self, run: Run) -> None:
        for lease_id in sorted(run.leases):
            self._close(self.ledger.release(lease_id, now_ms=self.now_ms))

    # -- the queue ---------------------------------------------------------------------------

    def serve_queue(self) -> None:
        """Start what may start, in fair order; then see for whom others must go."""
        if self.making_room:
            return
        result = self.queue.schedule(self.now_ms, limit=LOOKS_MAX)
        for started in result.started:
            job = self.lines.pop(started.entry.id).job
            self.seal.admission(job.request, started.approved, at_ms=self.now_ms)
            self._start(job, started.approved)
        if result.reservation is not None:
            self.books.reservations[result.reservation.entry.id] = result.reservation
        for waiting in result.waiting:
            line = self.lines[waiting.entry.id]
            line.denied = waiting.denied
            if self._is_final(line.job, waiting.denied):
                self.seal.admission(line.job.request, waiting.denied, at_ms=self.now_ms)
                self.queue.cancel(waiting.entry.id)
                del self.lines[waiting.entry.id]
        self._search([w.entry.id for w in result.waiting if w.entry.id in self.lines])

    def _search(self, entry_ids: list[int]) -> None:
        """Make room for those who have waited long enough, a few at a time."""
        left = SEARCHES_MAX
        for entry_id in entry_ids:
            line = self.lines[entry_id]
            since = max(self.queue.entry(entry_id).submitted_ms, line.searched_ms)
            patience = PATIENCE_MS.get(line.job.request.priority)
            if patience is None or self.now_ms - since < patience or not left:
                continue
            left -= 1
            line.searched_ms = self.now_ms
            if line.denied is not None and self._make_room(line.job, line.denied):
                self.queue.cancel(entry_id)
                del self.lines[entry_id]

    def _make_room(self, job: Job, denied: Denied) -> bool:
        """Evict for this job if that is allowed and would help; it starts when grace is over."""
        request = job.request
        if denied.reason not in _ROOM or request.generation in self.making_room:
            return False
        found = self.preemption.find_victims(
            self.ledger, request, now_ms=self.now_ms, filters=self.admission.scorer.filters
        )
        if isinstance(found, Impossible):
            self.books.impossible[found.reason] += 1
            return False
        if not found.victims:  # there is room, but it is kept for others: nobody's end helps
            return False
        self.making_room.add(request.generation)
        moment = self.evict(found, by=job.kind.tenant, subject=job.name, grace_ms=URGENT_GRACE_MS)
        moment.job = job
        self.agenda.after(URGENT_GRACE_MS, partial(self._claim, job, found))
        return True

    def _claim(self, job: Job, plan: Preemptable) -> None:
        self.making_room.discard(job.request.generation)
        decision = self.admission.admit(job.request, now_ms=self.now_ms, depth=plan.depth)
        self.seal.admission(job.request, decision, at_ms=self.now_ms)
        if isinstance(decision, Approved):
            self._start(job, decision)
        elif not self._is_final(job, decision):
            self._queue(job, decision)

    # -- endings -----------------------------------------------------------------------------

    def evict(self, plan: EvictionPlan, *, by: str, subject: str, grace_ms: int) -> Moment:
        """Carry a plan out; holders that save their work in time lose nothing."""
        depth = plan.depth if isinstance(plan, Preemptable) else 0
        held = plan.freed.gpu_milli
        moment = Moment(self.now_ms, plan.reason, by, subject, held, depth=depth)
        self.books.moments.append(moment)
        for run in dict.fromkeys(self.runs[victim.lease_id] for victim in plan.victims):
            run.moment = moment
            if run.job.kind.saves and grace_ms:
                delay_s = int(20 + 1.15 * self.random.random() * grace_ms / 1000)
                self.agenda.after(delay_s * 1000, partial(self._save, run))
        revoker = LeaseRevoker(self.ledger, grace_ms=grace_ms, teardown=self.teardown)
        done = self.preemption.preempt(plan, revoker, now_ms=self.now_ms)
        self.follow(Revocation(done.steps, done.ended))
        if grace_ms:
            self.agenda.after(grace_ms, self.advance)
        return moment

    def _save(self, run: Run) -> None:
        """A holder in its grace window reports that its work is safe."""
        run.saved = bool(run.leases)
        for lease_id in sorted(run.leases):
            self.follow(self.revoker.report_checkpoint(lease_id, now_ms=self.now_ms))

    def advance(self) -> None:
        """End what is due: grace windows and terms."""
        self.follow(self.revoker.advance(self.now_ms))

    def follow(self, walked: Revocation) -> None:
        """Take note of the leases that a walk ended or fenced."""
        over = {ended.lease.id: ended.lease for ended in walked.ended}
        for step in walked.steps:
            lease = over.get(step.lease_id) or self.ledger.lease(step.lease_id)
            self.seal.step(step, lease)
        fenced = {s.lease_id for s in walked.steps if s.after is RevokeState.FENCED}
        for ended in walked.ended:
            self._close(ended, fenced=ended.lease.id in fenced)

    def depart(self, node: str) -> None:
        """A machine is gone; its work starts again elsewhere."""
        held = self.ledger.node(node).leased.gpu_milli
        moment = Moment(self.now_ms, EndCause.NODE_DEPARTED, "hardware", node, held)
        ended = self.ledger.depart_node(node, now_ms=self.now_ms)
        self.seal.departed(node, [each.lease.id for each in ended], at_ms=self.now_ms)
        if ended:
            self.books.moments.append(moment)
        for each in ended:
            self.runs[each.lease.id].moment = moment
            self._close(each)
        self.audit.departed(node)

    def _close(self, ended: EndedLease, *, fenced: bool = False) -> None:
        """One lease is over: meter it, and see whether its job is."""
        lease = ended.lease
        run = self.runs.pop(lease.id)
        self.seal.ended(ended, by=run.moment.by if run.moment is not None else lease.tenant)
        run.leases.discard(lease.id)
        run.fenced |= fenced
        self.audit.ended(lease, fenced=fenced)
        self.spending.change(lease.tenant, -run.rate, now_ms=self.now_ms)
        self.meter(lease, self.now_ms)
        if not run.leases:
            self._settle(run, ended)

    def meter(self, lease: Lease, until_ms: int) -> None:
        """Charge a lease's GPU time to its tenant, for the report and for fairness."""
        used = lease.resources.gpu_milli * (until_ms - lease.granted_ms)
        if lease.gpu_generation is not None:
            self.books.tenants[lease.tenant].gpu_micros[lease.gpu_generation] += used
        self.shares.charge(lease.tenant, used, now_ms=until_ms, project=lease.project)

    def _settle(self, run: Run, ended: EndedLease) -> None:
        job, book = run.job, self.books.tenants[run.job.kind.tenant]
        if ended.cause is EndCause.RELEASED:
            book.finished += 1
            return
        if ended.cause is EndCause.EXPIRED or run.moment is None:
            book.expired += 1
            return
        ran_ms = self.now_ms - run.started_ms
        kept_ms = ran_ms if run.saved else run.saved_ms
        job.saved_ms += kept_ms
        word, lost_ms = run.moment.word, ran_ms - kept_ms
        run.moment.evictions.append(
            Eviction(self.now_ms, job, run.moment.by, word, lost_ms, run.saved, run.fenced)
        )
        self._queue(job)

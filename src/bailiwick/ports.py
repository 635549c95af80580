"""What the outside must provide: a clock, and a place where the journal and the jobs last.

Rules every :class:`JournalStore` keeps, whatever it is made of:

- ``append`` returns only when the lines are durable. All of a batch is kept, or none of it.
- One writer: a batch carries the epoch of its leader, and is refused with ``Deposed`` once a later
  epoch exists, whatever the deposed leader believes. Numbers have no gap: a batch that does not
  begin where the journal ends is refused in the same way.
- ``Unavailable`` means that the outcome is not known: the batch may be there or not. Whoever gets
  it reads the journal again before writing on.
- A snapshot is a cache. A store may lose it, and may hand back a damaged one.
- A batch is kept with its stamp, in the same step; what a stamp means is for others to say
  (:mod:`bailiwick.runtime.stamps`).

Rules every :class:`JobStore` keeps:

- A number is given to one job and never again. A job that is over does not change any more.
- A job's environment is kept until its last attempt runs or it is over, whichever comes first, and
  then wiped.
- A job is let go to the kernel, ended while it is held, or put back after an attempt, each by one
  transaction that looks whether it may: of several that want it, one has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.job_addresses import AfterNeed
from bailiwick.vocab.job_members import MemberStore
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase


@dataclass(frozen=True, slots=True)
class Leader:
    """Who may append: its epoch (a later one deposes it), its name, and where it is reached."""

    epoch: int
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """The state after the first ``size`` records, as bytes, and the anchor of the journal there."""

    size: int
    anchor: str
    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class StoredStamp:
    """What the leader of an epoch put under a batch, after which there were ``size`` records."""

    size: int
    epoch: int
    mark: bytes


class Clock(Protocol):
    """The time of day. It may jump; whoever keeps order must not rely on it."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, as this machine believes."""

    def elapsed_ms(self) -> int:
        """Milliseconds since some moment, never going back: for timers."""


class JournalStore(Protocol):
    """Where the journal and its snapshots last."""

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer, with a new epoch; ``None`` while somebody else is."""

    def leader(self) -> Leader | None:
        """The last leader that was made, reachable or not; ``None`` if there never was one."""

    def resign(self) -> None:
        """Let another lead; a store that does not lead does nothing."""

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep these records, the first being number ``first``. A line ends in a newline.

        With no lines it only makes sure that this epoch may still write.
        """

    def last_stamp(self, size: int) -> StoredStamp | None:
        """The newest stamp of a batch that ended with at most so many records; or ``None``."""

    def size(self) -> int:
        """How many records there are."""

    def read(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines from number ``first`` on, in order and without a gap."""

    def clock_ms(self) -> int | None:
        """What time it is there, in milliseconds since 1970; ``None`` if it has no clock."""

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep this snapshot, and forget older ones but the last few."""

    def snapshots(self) -> list[int]:
        """Sizes of the snapshots that are kept, newest first."""

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """That snapshot, or ``None`` if it is gone."""

    def close(self) -> None:
        """Let go of everything; leadership ends."""


@dataclass(frozen=True, slots=True)
class AfterJob:
    """A job, or a whole array, that must be over before, and how."""

    job_id: int
    is_array: bool
    need: AfterNeed


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJobRow:
    """A job as it is first written down: whose, what is asked for, and what is to be run."""

    tenant: str
    project: str | None
    name: str | None
    submitter: str
    submitter_kind: str
    submitter_keys: tuple[str, ...] | None
    """The only permission keys that its submitter's token carried; ``None``: all of its roles."""
    correlation_id: str
    key: str | None
    """The caller's own idempotency key; the kernel's is made from the job's number."""
    digest: str
    """Of all that was asked, to tell the same request from another under the same key."""
    request: Mapping[str, Any] = field(repr=False)
    """The kernel's command, as it is spelled for :func:`bailiwick.kernel.decode_command`."""
    command: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None
    tag: str | None
    submitted_ms: int
    since_seq: int
    """How long the journal was before the kernel was asked: what follows from it comes later."""
    asked_ms: int | None = 0
    """When the kernel was asked for this attempt; ``None``: not yet, the job is held."""
    after: tuple[AfterJob, ...] = ()
    array: str | None = None
    """The array that it is a task of, as it is spelled."""
    array_index: int | None = None
    retries: int = 0
    """How often it may be tried again."""
    retry_on: tuple[FailureCategory, ...] = ()
    checkpoint: str | None = None
    """Where it saves its work, and goes on from."""
    image: str | None = None
    """The image that is its root."""
    interactive: bool = False
    """Whether it begins once its submitter is attached to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow(NewJobRow):
    """A job: how far it has come, and where it runs."""

    job_id: int
    phase: JobPhase = JobPhase.WAITING
    reason: str | None = None
    cancel_asked: bool = False
    entry_id: int | None = None
    lease_id: int | None = None
    node: str | None = None
    token_id: str | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    is_forgotten: bool = False
    """Whether what the executor kept of it, its output among it, was removed."""
    denial: Mapping[str, Any] | None = None
    """Why it was refused, with the numbers; ``None`` if it was not, or before that was kept."""
    array_id: int | None = None
    """The first task of its array, which stands for the whole of it."""
    attempt: int = 1
    asks: int = 1
    """How often it was let go to the kernel, each time under a key of its own."""
    retry_at_ms: int | None = None
    """Before then its next attempt is not made."""

    @property
    def is_held(self) -> bool:
        """Whether it is kept back until something else is so."""
        return self.phase is JobPhase.WAITING and self.asked_ms is None

    @property
    def has_been_held(self) -> bool:
        """Whether nobody waits for the answer to its request: it was asked for later."""
        return self.array is not None or bool(self.after) or self.attempt > 1

    @property
    def kernel_key(self) -> str:
        """The key under which the kernel is asked: the same one gives the same answer."""
        return f"job-{self.job_id}" + ("" if self.asks <= 1 else f"/{self.asks}")

    @property
    def gang_size(self) -> int:
        """How many leases it runs on, all at once; read from its request as it was written."""
        asked = self.request.get("request")
        return int(asked.get("gang_size", 1)) if isinstance(asked, Mapping) else 1

    @property
    def is_unsubmitted(self) -> bool:
        """Whether it is not known that the kernel has ever heard of the job."""
        is_bare = self.entry_id is None and self.lease_id is None
        return self.phase is JobPhase.WAITING and self.asked_ms is not None and is_bare


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """What becomes known of a job; ``None`` leaves a field as it is.

    But a change of phase replaces the reason, by none if none is given.
    """

    phase: JobPhase | None = None
    reason: str | None = None
    cancel_asked: bool | None = None
    entry_id: int | None = None
    lease_id: int | None = None
    node: str | None = None
    token_id: str | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    denial: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs are meant; ``None`` leaves a question open."""

    tenant: str | None = None
    project: str | None = None
    submitter: str | None = None
    name: str | None = None
    phases: tuple[JobPhase, ...] | None = None
    array_id: int | None = None
    array_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAttempt:
    """An attempt of a job that is over, and how it ended; the job was to be tried again."""

    attempt: int
    phase: JobPhase
    reason: str | None
    lease_id: int | None
    node: str | None
    started_ms: int | None
    ended_ms: int
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldJob:
    """A job that is held, as far as it matters for letting it go."""

    job_id: int
    tenant: str = ""
    project: str | None = None
    after: tuple[AfterJob, ...] = ()
    array_id: int | None = None
    limit: int | None = None
    """How many tasks of its array may be under way at once."""
    retry_at_ms: int | None = None
    cancel_asked: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """What is known of the jobs that held ones wait for."""

    phases: Mapping[int, JobPhase]
    """Of single jobs; one that is missing is gone."""
    arrays: Mapping[int, frozenset[JobPhase]]
    """The phases in which any task of an array is."""
    under_way: Mapping[int, int]
    """How many tasks of an array are neither held nor over."""


class HeldStore(Protocol):
    """Held jobs; its calls may come from any thread."""

    def held(self) -> list[HeldJob]:
        """All of them, the oldest first."""

    def facts(self, held: Sequence[HeldJob]) -> HeldFacts:
        """What they wait for, as it is now."""

    def release(self, job_id: int, *, now_ms: int, since_seq: int) -> bool:
        """Let one go: from here on the kernel is asked. Whether it was still held."""

    def hold(self, job_id: int, *, asks: int, reason: str | None) -> bool:
        """Keep one back again of which the kernel surely knows nothing under this ask."""

    def end(self, job_id: int, *, phase: JobPhase, reason: str | None, now_ms: int) -> bool:
        """Write down how a held job ended; whether it was held."""

    def tell(self, job_id: int, reason: str) -> None:
        """Write down why a job is held."""

    def requeue(self, job_id: int, *, ended: JobAttempt, retry_at_ms: int, reason: str) -> bool:
        """End this attempt and hold the job for the next one, unless somebody wants it ended."""

    def attempts(self, job_ids: Sequence[int]) -> dict[int, list[JobAttempt]]:
        """The attempts of these jobs that are over, in order."""


class JobStore(Protocol):
    """Where jobs last; its calls may come from any thread."""

    @property
    def members(self) -> MemberStore:
        """The members of those that run on several leases."""

    @property
    def held(self) -> HeldStore:
        """Those that are held."""

    def insert_array(self, new: NewJobRow, *, indices: Sequence[int], live_max: int) -> JobRow:
        """Write down a task for each index, all or none; the first stands for the array."""

    def insert(self, new: NewJobRow, *, live_max: int) -> JobRow:
        """Write a job down; under a key that its submitter used before, the job of then.

        Refused with ``LimitReached`` if so many jobs are not over.
        """

    def get(self, job_id: int) -> JobRow | None:
        """That job."""

    def change(
        self,
        job_id: int,
        change: JobChange,
        *,
        only_from: Sequence[JobPhase] = LIVE_PHASES,
        only_ask: int | None = None,
    ) -> bool:
        """Write down what became known, if the job is in one of these phases; whether it was.

        What the kernel said to an ask (``only_ask``) counts while that is the last one.
        """

    def page(
        self,
        scopes: Sequence[tuple[str, str | None]] | None,
        *,
        which: JobFilter | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[JobRow]:
        """Jobs of these tenants and projects (``None``: of all), the newest first."""

    def live(self) -> list[JobRow]:
        """All jobs that are neither held nor over, the oldest first."""

    def of_leases(self, lease_ids: Sequence[int]) -> list[JobRow]:
        """The jobs under these leases, over or not; of an earlier attempt, as that one ended."""

    def under_keys(self, submitter: str, keys: Sequence[str]) -> list[JobRow]:
        """The jobs that one submitted under these keys, the oldest first."""

    def of_entries(self, entry_ids: Sequence[int]) -> dict[int, int]:
        """The number of the job that waits as each of these entries of the queue."""

    def forgettable(self, node: str | None, *, kept_max: int, before_ms: int) -> list[JobRow]:
        """Some jobs that are over, beyond the newest so many or ended before then.

        Those of a node, or (``None``) of all that have an agent.
        """

    def forget(self, lease_id: int) -> None:
        """What the executor kept of the job under this lease is gone."""

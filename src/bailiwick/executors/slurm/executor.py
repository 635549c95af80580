"""Jobs as batch jobs of a cluster: submitted once, found again by name, cancelled, accounted for.

Rules:

- A submission has a name that nobody else gives (ours, the lease, a random number). A submit whose
  answer was lost is found by it. One that the cluster lost is told as never started: a controller
  that crashes forgets what it acknowledged within the last seconds, and gives the numbers away
  again. Then the loop starts it afresh, under a new name, and the old one can no longer begin.
- The same job is the same (cluster, number, time of submission). A number alone proves nothing.
- What a cluster that does not answer knows is not made up: the last that was seen still holds.
- ``tear_down`` is true only if the controller says that nothing of the job is left.
- What the cluster cannot give (a part of a core) is refused before it is asked.
- The output is what the job printed, whole, on the cluster's file system; past the bound it is not
  read.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.folder import DRAFT, load, load_owner, read_plain, save, timeless
from bailiwick.executors.port import (
    Adopted,
    Exited,
    JobOrdered,
    JobSpec,
    JobStatus,
    JobUsage,
    Lost,
    LostReason,
    OutputPart,
    Running,
    Starting,
    Unstarted,
    UsedInAll,
)
from bailiwick.executors.slurm import batch
from bailiwick.executors.slurm.folder import Kept, lay_out, load_kept
from bailiwick.executors.slurm.programs import (
    IS_THERE,
    IS_WAITING,
    NODE_LOST,
    QueuedJob,
    SlurmPrograms,
    Submission,
)
from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue, NotFound, Unavailable
from bailiwick.vocab.jobs import JobFault
from bailiwick.vocab.values import check_amount

_FRESH_S = 0.25
"""How long one answer of the controller serves all who ask."""

LOST_AFTER_S = 15.0
"""So long a submission may be on its way before one that nobody knows is called lost."""

_OWNER = "owner"
_CORE_MILLI = 1000
_OVER_MEMORY = "OUT_OF_MEMORY"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmWaits:
    """How long a job that is to end is waited for: after the cluster's warning, after its kill."""

    term_s: float = 5.0
    kill_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmSettings:
    """How jobs are submitted; empty leaves it to the cluster."""

    account: str = ""
    """May name ``{tenant}`` and ``{project}``."""
    partition: str = ""
    qos: str = ""


class SlurmExecutor:
    """Runs jobs on one cluster. One at a time may own a folder; its calls may come from threads."""

    def __init__(
        self,
        root: Path,
        *,
        programs: SlurmPrograms | None = None,
        settings: SlurmSettings | None = None,
        waits: SlurmWaits | None = None,
    ) -> None:
        self._root = root.resolve()
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._programs = programs or SlurmPrograms()
        self._settings = settings or SlurmSettings()
        self._waits = waits or SlurmWaits()
        self._owner = load_owner(self._root / _OWNER)
        self._turn = threading.Lock()
        self._answer: dict[str, QueuedJob] = {}
        self._answered_at = -_FRESH_S
        for draft in self._root.glob(f"{DRAFT}*"):
            shutil.rmtree(draft, ignore_errors=True)  # of a start that was cut short

    # -- the port ----------------------------------------------------------------------------

    def start(self, spec: JobSpec) -> JobOrdered:
        """Submit the command; what becomes of it ``status`` tells."""
        folder = self._root / str(spec.lease_id)
        if folder.exists():
            raise Conflict("job of lease", spec.lease_id, "was started before")
        if spec.image is not None:
            raise InvalidValue("image", spec.image, "none: this executor runs jobs without images")
        name = f"bw-{self._owner}-{spec.lease_id}-{secrets.token_hex(6)}"
        asked = self._submission(spec, folder, name=name)
        lay_out(spec, folder, name=name)
        try:
            self._programs.submit(asked)
        except InvalidValue:
            shutil.rmtree(folder)
            raise
        except Unavailable:
            pass  # it may have been heard: if not, it will be told as never started
        return JobOrdered(spec.lease_id)

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Tell the job that it must be gone by then: a file, and SIGUSR1 if it asked for one."""
        check_amount("until_ms", until_ms)
        folder = self._folder(lease_id)
        body = json.dumps({"lease_id": lease_id, "until_ms": until_ms})
        try:
            (folder / batch.WORK).mkdir(mode=0o700, exist_ok=True)
            save(folder / batch.WORK / batch.WARNING, body)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error
        kept = load_kept(folder)
        if kept.warn_by_signal:
            job = self._queue().get(kept.name)
            if job is not None and job.state in IS_THERE:
                self._programs.cancel(job.job_id, "--signal=USR1", "--batch")

    def call_off(self, lease_id: int) -> None:
        """Take the warning back: its file is gone. A signal that was sent cannot be."""
        try:
            (self._folder(lease_id) / batch.WORK / batch.WARNING).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error

    def tear_down(self, lease_id: int) -> bool:
        """Cancel the job; whether the controller says that nothing of it is left."""
        folder = self._folder(lease_id)
        try:
            # First, that what may still be on its way to the cluster cannot begin.
            save(folder / batch.CURRENT, "none")
            name = load_kept(folder).name
            return self._cancel(name)
        except (Damaged, Unavailable, OSError):
            return False

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""
        return self._status(self._folder(lease_id))

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are."""
        return tuple(Adopted(each, self.status(each)) for each in self.leases())

    def leases(self) -> tuple[int, ...]:
        """The leases of which there is a folder."""
        names = (path.name for path in self._root.iterdir() if path.is_dir())
        found = (int(name) for name in names if name.isdecimal() and str(int(name)) == name)
        return tuple(sorted(found))

    def usage(self, lease_id: int) -> JobUsage | None:
        """What the cluster accounted for a job that is over; nothing before."""
        folder = self._folder(lease_id)
        try:
            job = self._queue().get(load_kept(folder).name)
            ended, began_ms = batch.parse_exit(load(folder / batch.EXIT) or "")
        except (Damaged, Unavailable):
            return None
        if job is None or not _is_over(job):
            return None
        used = self._programs.used(job.job_id)
        if used is None:
            return None
        return UsedInAll(began_ms, max(began_ms, ended.ended_ms), *used)

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""
        return (self._folder(lease_id) / batch.OUTPUT,)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs."""
        check_amount("offset", offset)
        check_amount("limit", limit)
        folder = self._folder(lease_id)
        if since_ms:
            raise timeless(lease_id)  # the cluster writes the file, and no times
        most = load_kept(folder).output_bytes_max
        data, size = read_plain(folder / batch.OUTPUT, offset, limit=min(limit, most - offset))
        return OutputPart(data, offset + len(data), size > most)

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended, its own working directory included."""
        folder = self._folder(lease_id)
        try:
            job = self._queue(is_fresh=True).get(load_kept(folder).name)
        except Damaged:
            job = None
        if job is not None and not _is_over(job):
            raise Conflict("job of lease", lease_id, "has not ended", hint="tear it down first")
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise Unavailable("the job's folder", error.strerror) from error

    # -- starting ----------------------------------------------------------------------------

    def _submission(self, spec: JobSpec, folder: Path, *, name: str) -> Submission:
        cpu_milli = spec.limits.cpu_milli or _CORE_MILLI
        if cpu_milli % _CORE_MILLI:
            raise InvalidValue("limits.cpu_milli", cpu_milli, "whole cores: a cluster shares none")
        cwd = spec.cwd or folder / batch.WORK
        gpus = len(spec.device_indices)
        tenant, _, project = spec.owner.partition("/")
        return Submission(
            name=name,
            script=batch.script_text(spec.argv, folder, cwd=cwd, submission=name),
            folder=str(folder),
            output=str(folder / batch.OUTPUT),
            node=spec.node,
            account=self._settings.account.format(tenant=tenant, project=project or tenant),
            partition=self._settings.partition,
            qos=self._settings.qos,
            cores=cpu_milli // _CORE_MILLI,
            mem_bytes=spec.limits.mem_bytes,
            gpus=gpus,
            gpu_type=self._programs.gpu_type(spec.node) if gpus and spec.node else "",
        )

    # -- looking -----------------------------------------------------------------------------

    def _queue(self, *, is_fresh: bool = False) -> Mapping[str, QueuedJob]:
        """What the controller knows of our jobs; one answer serves all who ask within a moment."""
        asked_at = time.monotonic()
        with self._turn:
            since = asked_at if is_fresh else asked_at - _FRESH_S
            if self._answered_at < since:
                began_at = time.monotonic()
                self._answer = self._programs.queue()
                self._answered_at = began_at
            return self._answer

    def _status(self, folder: Path) -> JobStatus:
        try:
            kept = load_kept(folder)
            unstarted = load(folder / batch.UNSTARTED)
            # Asked in this order: a script writes how its program ended, then leaves the queue.
            job, is_known = self._find(kept.name)
            written = load(folder / batch.EXIT)
            ended = batch.parse_exit(written)[0] if written is not None else None
        except (Damaged, OSError):
            return Lost(LostReason.STATE_UNREADABLE)
        if unstarted is not None:
            is_directory = unstarted.strip() == "cwd"
            fault = JobFault.DIRECTORY_NOT_USABLE if is_directory else JobFault.PROGRAM_NOT_RUNNABLE
            return Unstarted(fault)
        has_begun = (folder / batch.STARTED).is_dir()
        if ended is not None:
            is_emptied = is_known and (job is None or _is_over(job))
            if job is not None and not is_emptied and ended.signal == signal.SIGKILL:
                # Whether its memory was the reason the cluster says once all of it is over.
                return self._told(job, folder, has_begun=True)
            is_over_memory = job is not None and job.state == _OVER_MEMORY
            return Exited(ended.code, ended.signal, ended.ended_ms, is_emptied, is_over_memory)
        if not is_known:
            return self._last_seen(folder, kept, has_begun=has_begun)
        if job is None:
            return self._missing(kept, has_begun=has_begun)
        return self._told(job, folder, has_begun=has_begun)

    def _find(self, name: str) -> tuple[QueuedJob | None, bool]:
        """The job as the controller has it, and whether the controller answered at all."""
        try:
            return self._queue().get(name), True
        except Unavailable:
            return None, False

    def _last_seen(self, folder: Path, kept: Kept, *, has_begun: bool) -> JobStatus:
        """While nobody answers: what the folder says."""
        if not has_begun:
            return Starting()
        return Running(0, kept.submitted_ms, self._owner, _is_warned(folder))

    def _missing(self, kept: Kept, *, has_begun: bool) -> JobStatus:
        """The controller answers, and knows of no such job."""
        if has_begun:
            return Lost(LostReason.SUPERVISOR_GONE)
        age_ms = time.time_ns() // 1_000_000 - kept.submitted_ms
        if 0 <= age_ms < LOST_AFTER_S * 1000:
            return Starting()
        return Lost(LostReason.NEVER_STARTED)

    def _told(self, job: QueuedJob, folder: Path, *, has_begun: bool) -> JobStatus:
        if not _is_over(job):
            if not has_begun:
                return Starting()
            return Running(
                job.job_id, _ticks(job.submitted), f"slurm-{self._owner}", _is_warned(folder)
            )
        if not has_begun and job.state not in NODE_LOST:
            return Lost(LostReason.NEVER_STARTED)
        if job.state in NODE_LOST:
            return Lost(LostReason.OTHER_BOOT)
        now_ms = time.time_ns() // 1_000_000
        code, number = batch.split_code(job.exit_code) if job.state == "FAILED" else (None, 15)
        is_over_memory = job.state == _OVER_MEMORY
        if is_over_memory:
            code, number = None, 9
        return Exited(code, number, now_ms, is_emptied=True, is_out_of_memory=is_over_memory)

    # -- ending ------------------------------------------------------------------------------

    def _cancel(self, name: str) -> bool:
        for options, wait_s in (
            ((), self._waits.term_s),
            (("--signal=KILL", "--full"), self._waits.kill_s),
        ):
            job = self._queue(is_fresh=True).get(name)
            if job is None or _is_over(job):
                return True
            self._programs.cancel(job.job_id, *options)
            if self._is_gone_within(name, wait_s):
                return True
        return False

    def _is_gone_within(self, name: str, wait_s: float) -> bool:
        until = time.monotonic() + wait_s
        while True:  # bounded by ``wait_s``
            job = self._queue(is_fresh=True).get(name)
            if job is None or _is_over(job):
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(_FRESH_S)

    def _folder(self, lease_id: int) -> Path:
        check_amount("lease_id", lease_id)
        folder = self._root / str(lease_id)
        if not folder.is_dir():
            raise NotFound("job of lease", lease_id)
        return folder


def _is_over(job: QueuedJob) -> bool:
    return job.state not in IS_THERE and job.state not in IS_WAITING


def _is_warned(folder: Path) -> bool:
    return os.path.lexists(folder / batch.WORK / batch.WARNING)


def _ticks(submitted: str) -> int:
    """A time of submission as a number that tells one job from another with its id."""
    return int("".join(filter(str.isdecimal, submitted)))

"""Jobs as batch jobs of a cluster: submitted once, found again by name, cancelled, accounted for.

Rules:

- A submission has a name that nobody else gives (ours, the lease, a random number). A submit whose
  answer was lost is found by it. One that the cluster lost is told as never started: a controller
  that crashes forgets what it acknowledged within the last seconds, and gives the numbers away
  again. Then the loop starts it afresh, under a new name, and the old one can no longer begin.
- The same job is the same (cluster, number, time of submission). A number alone proves nothing.
- What a cluster that does not answer knows is not made up: the last that was seen still holds.
- ``tear_down`` is true only if the controller says that nothing of the job is left.
- What the cluster cannot give (a part of a core) is refused before it is asked; so are jobs of a
  second tenant, because all of them run as one user there.
- A place that the cluster took back (it preempted the job, or put it into its queue again) is told
  as that. What runs the next time does nothing: whether there is a next time is decided here.
- The output is what the job printed, whole, on the cluster's file system; past the bound it is not
  read.
"""

from __future__ import annotations

import json
import secrets
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.clusters import ClusterNode
from bailiwick.executors.folder import (
    folder_of,
    leases_in,
    load,
    load_owner,
    open_root,
    read_plain,
    save,
    timeless,
)
from bailiwick.executors.local.modes import OneTenant
from bailiwick.executors.port import (
    Adopted,
    JobOrdered,
    JobSpec,
    JobStatus,
    JobUsage,
    Lost,
    LostReason,
    OutputPart,
    UsedInAll,
)
from bailiwick.executors.slurm import batch
from bailiwick.executors.slurm.folder import lay_out, load_kept
from bailiwick.executors.slurm.job_status import LOST_AFTER_S, is_over, judge, read_facts
from bailiwick.executors.slurm.nodes import SlurmMachine
from bailiwick.executors.slurm.programs import (
    IS_THERE,
    IS_WAITING,
    QueuedJob,
    SlurmPrograms,
    Submission,
)
from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue, Unavailable
from bailiwick.vocab.values import check_amount

_FRESH_S = 0.25
"""How long one answer of the controller serves all who ask."""

_LISTED_S = 60.0
"""How long the list of nodes serves those who submit to one of them."""

_OWNER, _TENANT = "owner", "tenant.json"
_CORE_MILLI = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmWaits:
    """How long a job that is to end is waited for: after the cluster's warning, after its kill."""

    term_s: float = 5.0
    kill_s: float = 20.0
    lost_s: float = LOST_AFTER_S


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
        self._root = open_root(root)
        self._programs = programs or SlurmPrograms()
        self._settings = settings or SlurmSettings()
        self._waits = waits or SlurmWaits()
        self._owner = load_owner(self._root / _OWNER)
        self._turn = threading.Lock()
        self._answer: dict[str, QueuedJob] = {}
        self._answered_at = -_FRESH_S
        self._tenant = OneTenant(self._root / _TENANT)
        self._asking = threading.Lock()
        self._listed: Mapping[str, SlurmMachine] = {}
        self._listed_at = -_LISTED_S

    # -- the port ----------------------------------------------------------------------------

    def start(self, spec: JobSpec) -> JobOrdered:
        """Submit the command; what becomes of it ``status`` tells."""
        folder = self._root / str(spec.lease_id)
        if folder.exists():
            raise Conflict("job of lease", spec.lease_id, "was started before")
        if spec.image is not None:
            raise InvalidValue("image", spec.image, "none: this executor runs jobs without images")
        tenant = spec.owner.partition("/")[0]
        if tenant and not self._tenant.admit(tenant):
            raise InvalidValue("owner", spec.owner, "the one tenant whose jobs this cluster runs")
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
        folder = folder_of(self._root, lease_id)
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
                self._programs.cancel(job.job_id, "--signal=USR1", "--batch", name=kept.name)

    def call_off(self, lease_id: int) -> None:
        """Take the warning back: its file is gone. A signal that was sent cannot be."""
        try:
            (folder_of(self._root, lease_id) / batch.WORK / batch.WARNING).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error

    def tear_down(self, lease_id: int) -> bool:
        """Cancel the job; whether the controller says that nothing of it is left."""
        folder = folder_of(self._root, lease_id)
        try:
            # First, that what may still be on its way to the cluster cannot begin.
            save(folder / batch.CURRENT, "none")
            if self._status(folder) == Lost(LostReason.PLACE_TAKEN):
                save(folder / batch.TAKEN, "")  # once it is cancelled nobody else tells
            name = load_kept(folder).name
            return self._cancel(name)
        except (Damaged, Unavailable, OSError):
            return False

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""
        return self._status(folder_of(self._root, lease_id))

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are."""
        return tuple(Adopted(each, self.status(each)) for each in self.leases())

    def leases(self) -> tuple[int, ...]:
        """The leases of which there is a folder."""
        return leases_in(self._root)

    def nodes(self) -> Mapping[str, ClusterNode]:
        """The machines of the cluster, or of its partition, that are there."""
        with self._asking:
            return {name: node.told() for name, node in self._list().items()}

    def set_open(self, node: str, *, is_open: bool) -> bool:
        """Have the cluster drain a machine, or take it up again."""
        self._programs.set_drained(node, is_drained=not is_open)
        return True

    def usage(self, lease_id: int) -> JobUsage | None:
        """What the cluster accounted for a job that is over; nothing before."""
        folder = folder_of(self._root, lease_id)
        try:
            job = self._queue().get(load_kept(folder).name)
            ended, began_ms = batch.parse_exit(load(folder / batch.EXIT) or "")
        except (Damaged, Unavailable):
            return None
        if job is None or not is_over(job):
            return None
        used = self._programs.used(job.job_id)
        if used is None:
            return None
        return UsedInAll(began_ms, max(began_ms, ended.ended_ms), *used)

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""
        return (folder_of(self._root, lease_id) / batch.OUTPUT,)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs."""
        check_amount("offset", offset)
        check_amount("limit", limit)
        folder = folder_of(self._root, lease_id)
        if since_ms:
            raise timeless(lease_id)  # the cluster writes the file, and no times
        most = load_kept(folder).output_bytes_max
        data, size = read_plain(folder / batch.OUTPUT, offset, limit=min(limit, most - offset))
        return OutputPart(data, offset + len(data), size > most)

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended, its own working directory included."""
        folder = folder_of(self._root, lease_id)
        try:
            job = self._queue(is_fresh=True).get(load_kept(folder).name)
        except Damaged:
            job = None
        if job is not None and not is_over(job):
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
        node = self._node(spec.node) if spec.node else None
        indices = spec.device_indices
        gpus = node.gres_of(indices) if node is not None else {"": len(indices)} if indices else {}
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
            cores=cpu_milli // _CORE_MILLI * (1 if node is None else node.threads),
            mem_bytes=spec.limits.mem_bytes,
            gpus=gpus,
        )

    def _node(self, name: str) -> SlurmMachine | None:
        """A node as it was told lately; one that is not there the cluster itself refuses."""
        with self._asking:
            is_old = self._listed_at < time.monotonic() - _LISTED_S
            if is_old or name not in self._listed:
                self._list()
            return self._listed.get(name)

    def _list(self) -> Mapping[str, SlurmMachine]:
        self._listed = self._programs.nodes(self._settings.partition)
        self._listed_at = time.monotonic()
        return self._listed

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
            # In this order: a script writes how its program ended, then leaves the queue.
            job, is_known = self._find(load_kept(folder).name)
            facts = read_facts(folder)
        except (Damaged, OSError):
            return Lost(LostReason.STATE_UNREADABLE)
        if job is not None and job.state in IS_WAITING and facts.has_begun:
            # As it is now, not as it was a moment before it began.
            job, is_known = self._find(facts.name, is_fresh=True)
        now_ms = time.time_ns() // 1_000_000
        lost_s, whose = self._waits.lost_s, self._owner
        return judge(facts, job, is_known=is_known, now_ms=now_ms, whose=whose, lost_after_s=lost_s)

    def _find(self, name: str, *, is_fresh: bool = False) -> tuple[QueuedJob | None, bool]:
        """The job as the controller has it, and whether the controller answered at all."""
        try:
            return self._queue(is_fresh=is_fresh).get(name), True
        except Unavailable:
            return None, False

    # -- ending ------------------------------------------------------------------------------

    def _cancel(self, name: str) -> bool:
        for options, wait_s in (
            ((), self._waits.term_s),
            (("--signal=KILL", "--full"), self._waits.kill_s),
        ):
            job = self._queue(is_fresh=True).get(name)
            if job is None or is_over(job):
                return True
            self._programs.cancel(job.job_id, *options, name=name)
            if self._is_gone_within(name, wait_s):
                return True
        return False

    def _is_gone_within(self, name: str, wait_s: float) -> bool:
        until = time.monotonic() + wait_s
        while True:  # bounded by ``wait_s``
            job = self._queue(is_fresh=True).get(name)
            if job is None or is_over(job):
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(_FRESH_S)

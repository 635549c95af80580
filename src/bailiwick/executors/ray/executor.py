"""Jobs as tasks in placement groups of a Ray cluster: submitted once by name, ended with proof.

Rules:

- A submission has a name that nobody else gives (ours, the lease, a random number), which is its id
  at the cluster. A submit whose answer was lost is found by it. One that the cluster does not know
  is told as never started; the loop then starts it afresh under a new name, and the old one, should
  it come back, has no permit.
- What became of a job is told by its keeper on the node. The cluster is asked only about what no
  keeper tells: a job that waits for its place, a node that is gone.
- What a cluster that does not answer knows is not made up: the last that was seen still holds.
- ``tear_down`` is true only if the permit came back unused, or the keeper wrote that nothing is
  left. A node that was lost with its keeper proves nothing: it may live on, unreachable.
- What the cluster cannot give is refused before it is asked: more than any node has, cores by
  their numbers, jobs of a second tenant (a cluster's jobs can reach one another).
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bailiwick.executors.clusters import ClusterNode
from bailiwick.executors.folder import (
    begin_since,
    folder_of,
    leases_in,
    load_owner,
    open_root,
    read_plain,
    save,
)
from bailiwick.executors.local.modes import OneTenant
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
    fault_of,
)
from bailiwick.executors.ray import keeper
from bailiwick.executors.ray.folder import (
    WORK,
    KeptEnd,
    RaySubmission,
    has_begun,
    lay_out,
    load_end,
    load_kept,
    load_lost,
    load_process,
    load_unstarted,
    lost_reason,
    withdraw,
)
from bailiwick.executors.ray.jobs_api import RayCluster, RayJob, RayNode, RayState
from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue, Unavailable
from bailiwick.vocab.jobs import JobFault
from bailiwick.vocab.values import check_amount

FRESH_S = 1.0
"""How long one answer of the cluster serves all who ask."""

_LOOK_S = 0.05
_OWNER, _TENANT = "owner", "tenant.json"
_CORE_MILLI = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RayWaits:
    """How long a job that is to end is waited for: after the warning, after the kill."""

    term_s: float = 5.0
    kill_s: float = 20.0
    lost_s: float = 30.0
    """How long a submission may be on its way, or the word about a job that lost its place."""


class RayExecutor:
    """Runs jobs on one cluster. One at a time may own a folder; its calls may come from threads."""

    def __init__(
        self,
        root: Path,
        cluster: RayCluster,
        *,
        python: str = "python",
        waits: RayWaits | None = None,
    ) -> None:
        self._root = open_root(root)
        self._cluster, self._waits = cluster, waits or RayWaits()
        self._python = python
        """The cluster's own interpreter, the one that has Ray, as its head finds it."""
        self._owner = load_owner(self._root / _OWNER)
        self._tenant = OneTenant(self._root / _TENANT)
        self._turn = threading.Lock()
        self._answer: Mapping[str, RayJob] = {}
        self._answered_at = -FRESH_S

    # -- the port ----------------------------------------------------------------------------

    def start(self, spec: JobSpec) -> JobOrdered:
        """Submit the command; what becomes of it ``status`` tells."""
        folder = self._root / str(spec.lease_id)
        if folder.exists():
            raise Conflict("job of lease", spec.lease_id, "was started before")
        if spec.image is not None:
            raise InvalidValue("image", spec.image, "none: this executor runs jobs without images")
        self._check(spec)
        ask = self._ask(spec)
        name = f"bw-{self._owner}-{spec.lease_id}-{secrets.token_hex(6)}"
        lay_out(spec, folder, name=name, ask=ask, term_s=self._waits.term_s)
        words = ("exec", self._python, str(folder / "driver.py"), str(folder), name)
        entrypoint = " ".join(shlex.quote(word) for word in words)
        try:
            self._cluster.submit(name, entrypoint, about={"lease": str(spec.lease_id)})
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
            (folder / WORK).mkdir(mode=0o700, exist_ok=True)
            save(folder / keeper.WARNING, body)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error

    def call_off(self, lease_id: int) -> None:
        """Take the warning back: its file is gone. A signal that was sent cannot be."""
        try:
            (folder_of(self._root, lease_id) / keeper.WARNING).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error

    def tear_down(self, lease_id: int) -> bool:
        """End the job; whether it is proven that nothing of it is left."""
        folder = folder_of(self._root, lease_id)
        try:
            kept = load_kept(folder)
            if withdraw(folder, kept) or _never_ran(folder):
                with suppress(Unavailable):  # its place is freed later: it can do nothing there
                    self._cluster.stop(kept.name)
                return True
            save(folder / keeper.END, "")
            if self._is_emptied_within(folder, self._waits.term_s + 1):
                return True
            with suppress(Unavailable):  # the keeper may hear of it by the file yet
                self._cluster.stop(kept.name)
            return self._is_emptied_within(folder, self._waits.kill_s)
        except (Damaged, OSError):
            return False

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""
        folder = folder_of(self._root, lease_id)
        try:
            kept, end = load_kept(folder), load_end(folder)
            unstarted, process = load_unstarted(folder), load_process(folder)
            if end is not None and not self._is_lost(folder, end):
                return Exited(end.code, end.signal, end.ended_ms, end.is_emptied)
            if unstarted is not None:
                return Unstarted(fault_of(unstarted), unstarted.expected)
            job, is_known = self._find(kept.name)
            # Read again: the keeper writes how the job ended before the cluster knows that it did.
            end = load_end(folder)
            if end is not None or (
                is_known and has_begun(folder) and (not job or job.state.is_over)
            ):
                return self._ended(folder, end, job)
            if process is not None:
                is_warned = os.path.lexists(folder / keeper.WARNING)
                return Running(process.pid, process.start_ticks, process.boot_id, is_warned)
            return self._waiting(folder, kept, job) if is_known else Starting()
        except (Damaged, OSError):
            return Lost(LostReason.STATE_UNREADABLE)

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are."""
        return tuple(Adopted(each, self.status(each)) for each in self.leases())

    def leases(self) -> tuple[int, ...]:
        """The leases of which there is a folder."""
        return leases_in(self._root)

    def nodes(self) -> Mapping[str, ClusterNode]:
        """The machines of the cluster that are alive."""
        return {node.name: ClusterNode(node.capacity()) for node in self._cluster.nodes()}

    def set_open(self, node: str, *, is_open: bool) -> bool:
        """Nothing: this API of the cluster closes no machine. We place nothing there ourselves."""
        return False

    def usage(self, lease_id: int) -> JobUsage | None:
        """What the node's kernel counted for a job that is over; nothing before."""
        try:
            end = load_end(folder_of(self._root, lease_id))
        except Damaged:
            return None
        if end is None or not end.is_emptied:
            return None
        return UsedInAll(end.began_ms, max(end.began_ms, end.emptied_ms), end.cpu_ms, None)

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""
        return (folder_of(self._root, lease_id) / keeper.OUTPUT,)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs."""
        check_amount("offset", offset)
        check_amount("limit", limit)
        folder = folder_of(self._root, lease_id)
        is_truncated = (folder / keeper.TRUNCATED).exists()
        offset = begin_since(folder, offset, since_ms=since_ms)
        data, _ = read_plain(folder / keeper.OUTPUT, offset, limit=limit)
        return OutputPart(data, offset + len(data), is_truncated)

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended, its own working directory included."""
        folder = folder_of(self._root, lease_id)
        with suppress(Damaged):
            kept, end = load_kept(folder), load_end(folder)
            is_over = end is not None and end.is_emptied
            if not is_over and not _never_ran(folder) and not withdraw(folder, kept):
                raise Conflict("job of lease", lease_id, "has not ended", hint="tear it down first")
            with suppress(Unavailable):
                self._cluster.stop(kept.name)
                self._cluster.forget(kept.name)
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise Unavailable("the job's folder", error.strerror) from error

    # -- starting ----------------------------------------------------------------------------

    def _check(self, spec: JobSpec) -> None:
        """Refuse what no cluster of this kind can honour."""
        for name in ("cores", "pids_max"):
            if getattr(spec.limits, name):
                raise InvalidValue(f"limits.{name}", getattr(spec.limits, name), "none: not on Ray")
        tenant = spec.owner.partition("/")[0]
        if tenant and not self._tenant.admit(tenant):
            raise InvalidValue("owner", spec.owner, "the one tenant whose jobs this cluster runs")

    def _ask(self, spec: JobSpec) -> dict[str, Any]:
        """What the place must have, and on which node; refused if no node ever has that."""
        bundle: dict[str, float] = {"CPU": (spec.limits.cpu_milli or _CORE_MILLI) / _CORE_MILLI}
        if spec.limits.mem_bytes is not None:
            bundle["memory"] = spec.limits.mem_bytes
        nodes = self._cluster.nodes()
        node = next((each for each in nodes if each.name == spec.node), None)
        if spec.node and node is None:
            raise Unavailable(f"node {spec.node}", "the cluster does not have it now")
        if spec.device_indices:
            bundle["GPU"] = len(spec.device_indices)
            if node is not None and node.generations:
                bundle[node.generations[0]] = len(spec.device_indices)
        _check_room(bundle, (node,) if node is not None else nodes)
        return {
            "bundle": bundle,
            "node_id": "" if node is None else node.node_id,
            "node_ip": "" if node is None else node.address,
        }

    # -- looking -----------------------------------------------------------------------------

    def _find(self, name: str) -> tuple[RayJob | None, bool]:
        """The job as the cluster has it, and whether the cluster answered at all."""
        asked_at = time.monotonic()
        try:
            with self._turn:
                if self._answered_at < asked_at - FRESH_S:
                    began_at = time.monotonic()
                    self._answer = self._cluster.jobs()
                    self._answered_at = began_at
                return self._answer.get(name), True
        except Unavailable:
            return None, False

    def _is_lost(self, folder: Path, end: KeptEnd) -> bool:
        """Whether a job ended because it lost its place, and not because we wished it to."""
        return end.is_cut and not (folder / keeper.END).exists()

    def _ended(self, folder: Path, end: KeptEnd | None, job: RayJob | None) -> JobStatus:
        """It lost its place, or nobody is there who could tell how it ended."""
        if end is not None and not self._is_lost(folder, end):
            return Exited(end.code, end.signal, end.ended_ms, end.is_emptied)
        word = load_lost(folder)
        now_ms = time.time_ns() // 1_000_000
        if end is not None and word == "memory":
            return Exited(None, 9, end.ended_ms, end.is_emptied)
        if end is not None and job is not None and job.state is RayState.STOPPED:
            return Exited(end.code, end.signal, end.ended_ms, end.is_emptied)
        if end is not None and word is None and (job is None or not job.state.is_over):
            process = load_process(folder)
            if process is not None and 0 <= now_ms - end.ended_ms < self._waits.lost_s * 1000:
                return Running(process.pid, process.start_ticks, process.boot_id)
        return Lost(lost_reason(word))

    def _waiting(self, folder: Path, kept: RaySubmission, job: RayJob | None) -> JobStatus:
        """The cluster answers, and nothing of the job has run."""
        if job is not None and not job.state.is_over:
            return Starting()
        is_lost = job is None or job.state is RayState.STOPPED or job.error.startswith("JOB_SUPER")
        if job is not None and not is_lost and load_lost(folder) is None:
            return Unstarted(JobFault.EXECUTOR_UNAVAILABLE, job.message)
        age_ms = time.time_ns() // 1_000_000 - kept.submitted_ms
        if job is None and 0 <= age_ms < self._waits.lost_s * 1000:
            return Starting()
        return Lost(LostReason.NEVER_STARTED)

    # -- ending ------------------------------------------------------------------------------

    def _is_emptied_within(self, folder: Path, wait_s: float) -> bool:
        until = time.monotonic() + wait_s
        while True:  # bounded by ``wait_s``
            end = load_end(folder)
            if end is not None and end.is_emptied:
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_S)


def _never_ran(folder: Path) -> bool:
    """Whether a keeper wrote that the program could not be run."""
    return load_unstarted(folder) is not None


def _check_room(bundle: Mapping[str, float], nodes: tuple[RayNode, ...]) -> None:
    """Refuse what no node ever has; the closest miss is named."""
    lacking = [node.lacks(bundle) for node in nodes]
    if nodes and None not in lacking:
        short = next(each for each in lacking if each is not None)
        raise InvalidValue(f"limits.{short}", bundle[short], "what a node of the cluster has")

"""Jobs as processes of this machine: started, warned, ended, and found again.

Rules:

- Each job has a folder of its own (0700) under the root, named by its lease. It is made before
  anything runs and says all that is needed to find the job again.
- A job sees no more of our environment than is written in ``environment_of``. There is no shell.
- The supervisor holds a lock on the folder for all its life. So whether it lives is asked of the
  kernel, and not of a number in a file.
- How jobs are kept apart is chosen once (:mod:`bailiwick.executors.local.modes`); nothing here
  depends on it, but where a job's own files lie.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path
from typing import Any

from bailiwick.executors.folder import begin_since
from bailiwick.executors.local import is_available, supervisor
from bailiwick.executors.local.inside import LocalInside, enter
from bailiwick.executors.local.launch import (
    DRAFT,
    TOKEN,
    WARNING,
    WORK,
    Own,
    Starter,
    environment_of,
    is_locked,
    laid_out,
    launch,
    refusal_of,
    save_warning,
)
from bailiwick.executors.local.limits import common_rlimits, plan_rlimits
from bailiwick.executors.local.limits_v1 import JobCgroup, find_parent, group_below, group_named
from bailiwick.executors.local.modes import Apart, JobMode
from bailiwick.executors.local.proc import Process, count_threads, is_same, load_boot_id, send
from bailiwick.executors.local.separation import Separation
from bailiwick.executors.local.state import (
    JobState,
    digest_of,
    load_counts,
    load_exit,
    load_state,
    lost_or_just_ended,
    read_plain,
)
from bailiwick.executors.local.teardown import (
    Look,
    Sight,
    TeardownWaits,
    end_job,
    find_bearers,
    has_left,
    take_census,
    wait_until,
)
from bailiwick.executors.port import (
    Adopted,
    Exited,
    JobSpec,
    JobStarted,
    JobStatus,
    JobUsage,
    LimitedBy,
    Lost,
    LostReason,
    OutputPart,
    Running,
    UsedByProcesses,
)
from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue, NotFound, Unavailable
from bailiwick.vocab.execs import ExecWish
from bailiwick.vocab.values import check_amount


class LocalExecutor:
    """Runs jobs on this machine. One at a time may own a root; its calls may come from threads."""

    def __init__(
        self,
        root: Path,
        *,
        waits: TeardownWaits | None = None,
        cgroup: Path | None = None,
        look: Look = take_census,
        apart: Apart | None = None,
    ) -> None:
        if not is_available():
            raise Unavailable("the local executor", "it needs Linux")
        self._root = root.resolve()
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._separation = Separation(self._root, apart or Apart(mode=JobMode.TRUSTED))
        self.mode, self.keeps_files_in = self._separation.mode, self._separation.keeps_files_in
        self._waits = waits or TeardownWaits()
        self._starter = Starter(self._root)
        self._parent = find_parent(cgroup)
        self._look = look
        self._boot_id = load_boot_id()
        for draft in self._root.glob(f"{DRAFT}*"):
            shutil.rmtree(draft, ignore_errors=True)  # of a start that was cut short

    def start(self, spec: JobSpec) -> JobStarted:
        """Run the command; returns once it runs, raises if it cannot."""
        folder = self._root / str(spec.lease_id)
        if folder.exists():
            raise Conflict("job of lease", spec.lease_id, "was started before")
        try:
            self._root.mkdir(mode=0o700, exist_ok=True)  # somebody may have removed it
            own = self._separation.plan_own(spec)
        except OSError as error:
            raise Unavailable("the local executor", error.strerror) from error
        if spec.cwd is not None and spec.image is None and not os.path.isdir(spec.cwd):
            raise InvalidValue("cwd", str(spec.cwd), "a directory that exists")
        cgroup = self._make_cgroup(spec)
        order, unenforced = self._order(spec, own, cgroup)
        try:
            with laid_out(folder, spec, state=order["state"], own=own) as lock:
                wait_s = self._waits.start_s
                answer = launch(self._starter, folder, order=order, lock=lock, wait_s=wait_s)
        except (Unavailable, OSError) as error:
            self._undo(spec.lease_id, may_have_run=True)
            if isinstance(error, Unavailable):
                raise
            raise Unavailable("the local executor", error.strerror) from error
        if "fault" in answer:
            self._undo(spec.lease_id)
            raise refusal_of(spec, answer)
        return JobStarted(
            lease_id=spec.lease_id,
            pid=answer["pid"],
            start_ticks=answer["start_ticks"],
            boot_id=self._boot_id,
            cwd=Path(order["cwd"]),
            limited_by=LimitedBy.RLIMIT if cgroup is None else cgroup.limited_by,
            unenforced=unenforced,
        )

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Tell the job that it must be gone by then: a file, and SIGUSR1 if it asked for one."""
        check_amount("until_ms", until_ms)
        folder = self._folder(lease_id)
        work = self._separation.own_of(lease_id) / WORK
        try:
            work.mkdir(mode=0o700, exist_ok=True)  # a job may have removed it
            save_warning(work, {"lease_id": lease_id, "until_ms": until_ms})
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error
        status = self.status(lease_id)
        state = load_state(folder)
        if isinstance(status, Running) and state is not None and state.warn_by_signal:
            # To the main process alone: whoever has no handler would die of it.
            main = Process(status.pid, 0, 0, "?", 0, status.start_ticks)
            send([main], signal.SIGUSR1)

    def call_off(self, lease_id: int) -> None:
        """Take the warning back: its file is gone. A signal that was sent cannot be."""
        try:
            own = self._separation.own_of(int(self._folder(lease_id).name))
            (own / WORK / WARNING).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable("the job's working directory", error.strerror) from error

    def enter(self, lease_id: int, wish: ExecWish) -> LocalInside:
        """Start a further program inside a job that runs."""
        folder, state = self._folder(lease_id), load_state(self._folder(lease_id))
        if state is not None and not state.lets_in(wish):
            raise Conflict("job of lease", lease_id, "lets nobody in")

        runs = lambda: isinstance(self._status(folder), Running)  # noqa: E731
        return enter(folder, wish, wait_s=self._waits.start_s, runs=runs)

    def tear_down(self, lease_id: int) -> bool:
        """End the job and all it started; whether nothing of it is left."""
        check_amount("lease_id", lease_id)
        folder = self._root / str(lease_id)
        if not folder.is_dir() and find_bearers(self._mark_of(folder)):
            return False  # somebody removed its folder: it lives, and nothing proves who it is
        folder = self._folder(lease_id)
        try:
            state = self._settled_state(folder)
            if state is None:
                return not is_locked(folder)
            if state.boot_id != self._boot_id:
                return True
            cgroup = group_named(state.cgroup)
            can_write = self.mode is JobMode.TRUSTED or state.on_host
            is_told = not can_write and has_left(folder, cgroup)
            is_clean = is_told or end_job(
                lambda: self._look(self._sight(folder, state)), cgroup, waits=self._waits
            )
        except (Damaged, OSError):
            return False  # what cannot be read cannot be called clean
        if is_clean and cgroup is not None:
            cgroup.remove()
        return is_clean and self._end_supervisor(folder, state)

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""
        return self._status(self._folder(lease_id))

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are, those of an earlier life of the server among them."""
        return tuple(
            Adopted(lease_id, self._status(self._root / str(lease_id)))
            for lease_id in self.leases()
        )

    def leases(self) -> tuple[int, ...]:
        """The leases of which there is a folder."""
        try:
            paths = list(self._root.iterdir())
        except FileNotFoundError:
            return ()  # somebody removed it, and all that was known with it
        return tuple(
            sorted(
                int(path.name)
                for path in paths
                if path.name.isdecimal() and str(int(path.name)) == path.name and path.is_dir()
            )
        )

    def usage(self, lease_id: int) -> JobUsage | None:
        """What its supervisor wrote down if the job is over, else the processes below that."""
        folder = self._folder(lease_id)
        counts = load_counts(folder)
        if counts is not None:
            return counts
        state = load_state(folder)
        if state is None or state.supervisor is None:
            return None
        return UsedByProcesses(state.supervisor.pid, state.supervisor.start_ticks)

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept: standard output and error as they came, in one file."""
        return (self._folder(lease_id) / supervisor.OUTPUT,)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs."""
        check_amount("offset", offset)
        check_amount("limit", limit)
        folder = self._folder(lease_id)
        is_truncated = (folder / supervisor.TRUNCATED).exists()
        offset = begin_since(folder, offset, since_ms=since_ms)
        data = read_plain(folder / supervisor.OUTPUT, offset, limit=limit)
        return OutputPart(data, offset + len(data), is_truncated)

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended, its own working directory included."""
        folder = self._folder(lease_id)
        if not self._is_over(folder):
            raise Conflict("job of lease", lease_id, "has not ended", hint="tear it down first")
        try:
            self._separation.forget(lease_id)
            shutil.rmtree(folder)
        except OSError as error:
            raise Unavailable("the job's folder", error.strerror) from error

    def _folder(self, lease_id: int) -> Path:
        check_amount("lease_id", lease_id)
        folder = self._root / str(lease_id)
        if not folder.is_dir():
            raise NotFound("job of lease", lease_id)
        return folder

    def _make_cgroup(self, spec: JobSpec) -> JobCgroup | None:
        if self._parent is None:
            return None
        cgroup = group_below(self._parent, f"lease-{spec.lease_id}")
        try:
            cgroup.make()
            cgroup.apply_limits(spec.limits)
        except OSError:
            cgroup.remove()
            return None  # rlimits then, and the answer says so
        return cgroup

    def _order(
        self, spec: JobSpec, own: Own, cgroup: JobCgroup | None
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What the supervisor is told, and the limits that will not be held."""
        cwd = spec.cwd or own.folder / WORK
        uid = os.getuid() if own.uid is None else own.uid
        if cgroup is None:
            others = count_threads(uid) if spec.limits.pids_max is not None else 0
            rlimits, unenforced = plan_rlimits(spec.limits, others=others, is_root=uid == 0)
        else:
            rlimits, unenforced = common_rlimits(spec.limits), ()
        state = JobState(
            lease_id=spec.lease_id,
            boot_id=self._boot_id,
            argv_digest=digest_of(spec.argv),
            limited_by=LimitedBy.RLIMIT if cgroup is None else cgroup.limited_by,
            cgroup="" if cgroup is None else cgroup.text,
            cwd=str(cwd),
            warn_by_signal=spec.warn_by_signal,
            on_host=own.is_host,
            ask_digest=digest_of(spec.ask) if own.is_host and spec.ask else None,
        )
        order = {
            "state": state.to_body(),
            "argv": list(spec.argv),
            "env": environment_of(spec, own, image_env=self._separation.image_env(spec, own)),
            "cwd": str(cwd),
            "cgroup": state.cgroup,
            "rlimits": rlimits,
            "cores": list(spec.limits.cores),
            "output_bytes_max": spec.output_bytes_max,
            "interactive": spec.is_interactive,
            **self._separation.plan_walls(spec, own),
        }
        return order, unenforced

    def _undo(self, lease_id: int, *, may_have_run: bool = False) -> None:
        """Leave nothing of a start that failed, unless something of it lives.

        A program that came past its gate stays on record: it must not be started again.
        """
        with contextlib.suppress(NotFound):  # it may not have come as far as a folder
            is_gone = self.tear_down(lease_id)
            never_ran = self.status(lease_id) == Lost(LostReason.NEVER_STARTED)
            if is_gone and (never_ran or not may_have_run):
                self.forget(lease_id)

    def _status(self, folder: Path) -> JobStatus:
        try:
            state = self._settled_state(folder)
            # The lock is asked before the exit file: a supervisor writes that, then lets go.
            locked = is_locked(folder)
            ended = load_exit(folder)
        except (Damaged, OSError):
            return Lost(LostReason.STATE_UNREADABLE)
        if state is None or state.job is None or state.supervisor is None:
            return Lost(LostReason.NEVER_STARTED)
        if ended is not None:
            return ended
        if state.boot_id != self._boot_id:
            return Lost(LostReason.OTHER_BOOT)
        if not locked:
            return Lost(LostReason.SUPERVISOR_GONE)
        for who in (state.job, state.supervisor):
            if not is_same(who.pid, who.start_ticks):
                return lost_or_just_ended(folder)
        is_warned = os.path.lexists(self._separation.own_of(state.lease_id) / WORK / WARNING)
        return Running(state.job.pid, state.job.start_ticks, state.boot_id, is_warned)

    def _is_over(self, folder: Path) -> bool:
        """Whether nothing of the job is left, as far as its folder can tell."""
        match self._status(folder):
            case Running():
                return False
            case Exited(is_emptied=True):  # its supervisor is on its way out
                return wait_until(lambda: not is_locked(folder), wait_s=self._waits.kill_s)
            case Exited() | Lost(LostReason.SUPERVISOR_GONE | LostReason.NOT_THE_SAME_PROCESS):
                state = load_state(folder)
                return state is None or self._look(self._sight(folder, state)).is_empty
            case _:
                return not is_locked(folder)

    def _settled_state(self, folder: Path) -> JobState | None:
        """The state once it is known whether the job began; a supervisor may be about to say."""

        def is_settled() -> bool:
            locked = is_locked(folder)
            state = load_state(folder)
            return not locked or (state is not None and state.job is not None)

        if not wait_until(is_settled, wait_s=self._waits.start_s):
            raise Damaged("the state file of a job", folder, "its supervisor does not go on")
        return load_state(folder)

    def _sight(self, folder: Path, state: JobState) -> Sight:
        is_supervised = is_locked(folder)
        try:
            has_exited = load_exit(folder) is not None
        except Damaged:
            has_exited = False  # the process table will tell
        return Sight(state, self._mark_of(folder), is_supervised, has_exited)

    def _mark_of(self, folder: Path) -> bytes:
        own = self._separation.own_of(int(folder.name))
        return b"BAILIWICK_LEASE_TOKEN_FILE=" + os.fsencode(own / TOKEN)

    def _end_supervisor(self, folder: Path, state: JobState) -> bool:
        """It leaves when its last child did; one that is stuck is ended."""
        if wait_until(lambda: not is_locked(folder), wait_s=self._waits.kill_s):
            return True
        if state.supervisor is not None:
            who = state.supervisor
            send([Process(who.pid, 0, 0, "?", 0, who.start_ticks)], signal.SIGKILL)
        return wait_until(lambda: not is_locked(folder), wait_s=self._waits.kill_s)

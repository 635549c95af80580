"""One small process beside each job: it starts the job, keeps its output and writes how it ended.

It belongs to nobody once it runs, so the end of a job is known even if the server was killed.
It is a copy of :mod:`bailiwick.executors.local.starter`, or is started by its path (``python -I -S
supervisor.py``). It imports nothing of Bailiwick: the package's own imports would cost more time
than all that is done here.

Rules:

- A job never runs unrecorded: its process waits at a gate until its identity is on disk. If this
  process dies before, the gate opens onto nothing and the job's process leaves.
- It is the subreaper of all the job starts: a daemon that leaves the session stays a descendant,
  as long as this process lives. It lives until the last descendant has ended.
- How the job ended is on disk before its process id can be used again; once the last descendant
  has ended, so is what the kernel counted for all of them together.
- Walls that are ordered (:mod:`bailiwick.executors.local.sandbox`) stand before the job begins,
  and the job's process is a child of this one all the same.
- Further programs are let in through a door (:mod:`bailiwick.executors.local.door`), each as the
  job's own was: same walls, same user, same limits, same environment.
- Whether the kernel ended processes because of the job's memory limit is asked of its control
  group; without one nothing is said of it.
- Output past the bound, or that a full disk refuses, is read and dropped: a job is neither
  blocked nor killed for talking, and the mark ``output.truncated`` says that there was more.
- A job that fills the disk ends as any other: the room to say so is taken before it begins.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import select
import signal
import sys
import time
import warnings  # noqa: F401  # the last step to a program asks for it
from collections.abc import Callable
from typing import Any

STATE, EXIT, OUTPUT, TRUNCATED = "state.json", "exit.json", "output", "output.truncated"

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_CHUNK_BYTES = 65536
_POLL_MS = 1000
_DRAIN_CHUNKS = 64  # far more than a pipe holds
_NOT_STARTED = 126  # what a shell answers for a program that could not be run


def load_start_ticks(pid: int) -> int:
    """When a process began, in clock ticks since boot: with its id, what tells it from others."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return int(stat.read().rpartition(b")")[2].split()[19])


def main() -> None:
    """Run the job whose order comes from standard input."""
    folder, ready, lock = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    supervise(folder, json.loads(sys.stdin.buffer.read()), ready=ready, lock=lock)


def preload() -> None:
    """Have all at hand that a supervisor needs: whoever copies this process does so once."""
    import ctypes  # noqa: F401

    for path in (("sandbox.py",), ("cgroups.py",), ("door.py",)):
        _beside(*path)
    for name in ("output_times.py", "spares.py"):
        _beside("..", name)


def supervise(folder: str, order: dict[str, Any], *, ready: int, lock: int) -> None:
    """Leave the one who gave the order, and run the job."""
    for fd in (ready, lock):
        os.set_inheritable(fd, False)
    if os.fork():
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # only its job's end, or SIGKILL, ends it
    os.umask(0o077)
    _become_subreaper()
    _Watch(folder, order, ready).run()


def _become_subreaper() -> None:
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this kernel knows no subreapers")


class _Watch:
    """The job from its first moment to the end of its last descendant."""

    def __init__(self, folder: str, order: dict[str, Any], ready: int) -> None:
        self._folder, self._order, self._ready = folder, order, ready
        self._exit: dict[str, Any] | None = None
        self._began_ms = _now_ms()
        self._room, self._kept = int(order["output_bytes_max"]), 0
        self._times: Any = None
        self._spares: Any = None
        self._pid = 0
        self._walls: Any = None
        self._door: Any = None
        self._waiting: Any = None
        self._poll = select.poll()
        self._cpu_before_s = 0.0
        self._killed_before = _beside("cgroups.py").killed_for_memory(order["cgroup"])
        self._file = os.open(
            self._path(OUTPUT), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600
        )
        self._source, self._sink = os.pipe()
        os.set_blocking(self._source, False)

    def run(self) -> None:
        """Start the job, tell whether it started, and see it through."""
        self._wake, wake = os.pipe()
        for fd in (self._wake, wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        answer = self._start()
        with contextlib.suppress(BrokenPipeError):  # whoever asked may be dead; the job is not
            os.write(self._ready, json.dumps(answer).encode() + b"\n")
        os.close(self._ready)
        if self._pid:
            self._see_through()

    def _start(self) -> dict[str, Any]:
        gate, open_gate = os.pipe()
        fault, tell_fault = os.pipe()
        try:
            self._raise_walls()
            if self._order.get("interactive"):
                self._waiting = _beside("door.py").pair()
            self._pid = self._fork()
        except OSError as error:
            print(error, file=sys.stderr)
            return {"fault": "owner", "errno": error.errno}
        if not self._pid:
            os.close(open_gate)
            become_job(self._order, gate=gate, fault=tell_fault, files=self._files)
        self._cpu_before_s = _cpu_s()
        for fd in (gate, tell_fault, self._sink):
            os.close(fd)
        found: dict[str, Any] = {
            "phase": "running",
            "pid": self._pid,
            "start_ticks": load_start_ticks(self._pid),
            "supervisor_pid": os.getpid(),
            "supervisor_start_ticks": load_start_ticks(os.getpid()),
        }
        self._hold(self._pid)
        spares = _beside("..", "spares.py")
        self._spares = spares.Spares(self._path(EXIT), self._path(TRUNCATED))
        spares.save_atomically(self._path(STATE), self._order["state"] | found)
        os.write(open_gate, b"!")
        os.close(open_gate)
        told = os.read(fault, 200).decode()  # empty once the program has taken over
        os.close(fault)
        if not told:
            return found
        field, _, number = told.partition(" ")
        return {"fault": field, "errno": int(number)}

    def _files(self, fault: int) -> tuple[int, ...]:
        """In the job's own process: its files, or the terminal of whoever is attached to it."""
        if self._waiting is None:
            return os.open(os.devnull, os.O_RDONLY), self._sink, self._sink
        os.close(fault)  # it runs, as far as anybody is told: it waits
        return tuple(_beside("door.py").await_guest(self._waiting[1], self._order))

    def _hold(self, pid: int) -> None:
        """Put a process into the job's control group, if it has one."""
        _beside("cgroups.py").join(self._order["cgroup"], pid)

    def _raise_walls(self) -> None:
        """The walls that are ordered; this process and all of the job are one domain then."""
        if self._order.get("walls"):
            self._walls = _beside("sandbox.py").raise_walls(self._folder, self._order["walls"])
        if self._order.get("is_apart"):
            _beside("sandbox.py").keep_in()

    def _fork(self) -> int:
        """Have a process of the job; 0 in that process, which is inside the walls if there are any.

        One that only enters them and ends would be a parent of the job: the job is ours then.
        """
        if self._walls is None:
            return os.fork()
        told, tell = os.pipe()
        entering = os.fork()
        if not entering:
            inside = -1
            try:
                inside = self._walls.enter()
            finally:
                if inside:
                    os.write(tell, str(max(inside, 0)).encode())
                    os._exit(0)
            return 0
        os.close(tell)
        os.waitpid(entering, 0)
        pid = int(os.read(told, 20) or b"0")
        os.close(told)
        if not pid:
            raise PermissionError(errno.EPERM, "the walls cannot be entered")
        return pid

    def _see_through(self) -> None:
        poll = self._poll
        poll.register(self._source, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        times = _beside("..", "output_times.py")
        self._times = times.OutputTimes(self._path(times.NAME))
        with contextlib.suppress(OSError):  # a job that nobody can enter runs all the same
            door = _beside("door.py")
            how = {"fork": self._fork, "hold": self._hold, "become": become_job, "beside": _beside}
            job = door.Supervised(self._folder, self._order, **how)
            if self._waiting is not None:
                job.waiting, job.main = self._waiting[0], self._pid
                self._waiting[1].close()
            self._door = door.JobDoor(job, poll)
        while self._reap():  # until nothing of the job is left: that is what this process is for
            for fd, _ in poll.poll(_POLL_MS):
                if fd == self._wake:
                    os.read(self._wake, _CHUNK_BYTES)
                elif fd != self._source:
                    self._door.serve(fd)
                elif self._pump() == 0:
                    poll.unregister(self._source)
            if self._door is not None:
                self._door.tick()
        self._drain()
        counts = {"began_ms": self._began_ms, "emptied_ms": _now_ms()}
        counts["cpu_ms"] = int((_cpu_s() - self._cpu_before_s) * 1000)
        counts |= _beside("cgroups.py").counts(self._order["cgroup"])  # its word before ours
        self._save_exit((self._exit or {}) | {"emptied": True} | counts)
        self._spares.drop()

    def _reap(self) -> bool:
        """Take note of all that ended; whether any child is left."""
        if sys.platform != "linux":  # others have no waitid
            raise OSError("only on Linux")
        cgroup = self._order["cgroup"]
        while True:  # once per dead child
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return False
            if ended is None:
                return True
            if ended.si_pid == self._pid and self._exit is None:
                self._drain()
                key = "code" if ended.si_code == os.CLD_EXITED else "signal"
                self._exit = {key: ended.si_status, "ended_ms": _now_ms()}
                if _beside("cgroups.py").killed_for_memory(cgroup) > self._killed_before:
                    self._exit["out_of_memory"] = True
                self._save_exit(self._exit | {"emptied": False})
                if self._door is not None:
                    self._door.close()
            if self._door is not None:
                key = "code" if ended.si_code == os.CLD_EXITED else "signal"
                self._door.ended(ended.si_pid, {key: ended.si_status})
            os.waitpid(ended.si_pid, 0)
            if ended.si_pid == self._pid and self._walls is not None:
                self._walls.main_ended()

    def _drain(self) -> None:
        """Keep what the pipe holds now; bounded, for others may go on writing."""
        for _ in range(_DRAIN_CHUNKS):
            if not self._pump():
                return

    def _pump(self) -> int | None:
        """Keep a piece of output; its size, 0 if no more can come, ``None`` if none is there."""
        try:
            data = os.read(self._source, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        kept = data[: self._room]
        try:
            written = os.write(self._file, kept) if kept else 0
        except OSError:
            self._room = written = 0
        self._room -= written
        self._kept += written
        if written and self._times is not None:
            self._times.note(self._kept, _now_ms())
        if written < len(data):
            self._room = 0
            self._spares.mark_cut()
        return len(data)

    def _save_exit(self, content: dict[str, Any]) -> None:
        self._spares.save_end({"format": 1} | content)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _beside(*path: str) -> Any:
    """A module beside this one, by its path: no folder of ours is searched for modules.

    Once it is loaded it stays: inside the walls another file may lie there.
    """
    name = path[-1].removesuffix(".py")
    if name in sys.modules:
        return sys.modules[name]
    from importlib import util

    at = os.path.join(os.path.dirname(os.path.abspath(__file__)), *path)
    spec = util.spec_from_file_location(name, at)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def become_job(
    order: dict[str, Any], *, gate: int, fault: int, files: Callable[[int], tuple[int, ...]]
) -> None:
    """In a process of the job: take on what was ordered, and become the program.

    ``files`` are its standard input, output and error, had once it is who it will be.
    """
    if order.get("walls"):
        sys.meta_path.clear()  # what lies inside is the job's: no module is read from there
    if sys.platform != "linux":  # real-time signals and affinity
        raise OSError("only on Linux")

    field = "limits"
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            if number < signal.SIGRTMIN:
                signal.signal(number, signal.SIG_DFL)
        if not os.read(gate, 1):
            os._exit(_NOT_STARTED)
        os.umask(0o022)
        for name, amount in order["rlimits"]:
            which = getattr(resource, name)
            most = resource.getrlimit(which)[1]
            held = amount if most == resource.RLIM_INFINITY else min(amount, most)
            resource.setrlimit(which, (held, held))
        if order["cores"]:
            os.sched_setaffinity(0, order["cores"])
        field = "owner"
        if order.get("is_apart"):
            walls = _beside("sandbox.py")
            walls.drop(order.get("user"))
            walls.forbid()
        field = "cwd"
        os.chdir(order["cwd"])
        field = "terminal"
        for standard, file in enumerate(files(fault)):
            os.dup2(file, standard)
        field = "argv[0]"
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(fault, f"{field} {error.errno}".encode())
    except BaseException:  # a forked child: what it raises reaches nobody but by this pipe
        os.write(fault, f"{field} 0".encode())
    finally:
        os._exit(_NOT_STARTED)


if __name__ == "__main__":
    main()

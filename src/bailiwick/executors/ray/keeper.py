"""Beside each job on a node of the cluster: it runs the job once, keeps its output, ends all of it.

Started by its path with the node's own Python (``python -I -S keeper.py FOLDER NAME LEASH DONE``);
it imports nothing of Bailiwick and nothing of Ray: a node has no Bailiwick on it.

Rules:

- A submission runs once: whoever takes its permit runs it. The permit is one file that is renamed,
  so of two who try, the server that withdraws it among them, exactly one succeeds.
- It is the subreaper of all the job starts, and lives until the last of them has ended. Then, and
  only then, it writes that nothing of the job is left.
- The worker that started it holds the other end of a leash. When that end is gone, the job has lost
  its place on the cluster (stopped, worker killed, node agent dead), and all of it is ended.
- So it is when the server says so by a file, whether or not anybody of the cluster answers.
- What a user gave in secret is read and removed before the program runs.
- Output past the bound is read and dropped: a job is neither blocked nor killed for talking.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import sys
import time
from typing import Any

PERMIT, STARTED, ORDER, PROCESS = "permit", "started", "order.json", "process.json"
UNSTARTED, EXIT, OUTPUT, TRUNCATED = "unstarted.json", "exit.json", "output", "output.truncated"
END, WARNING, TIMES = "end", "work/PREEMPTION", "output_times.py"

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_CHUNK_BYTES = 65536
_LOOK_MS = 200
_DRAIN_CHUNKS = 64  # far more than a pipe holds
_WRITE_TRIES = 30
_NOT_STARTED = 126  # what a shell answers for a program that could not be run


def main() -> None:
    """Leave the worker, take the permit and run the job."""
    folder, name, leash, done = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for fd in (leash, done):
        os.set_inheritable(fd, False)
    # Not a child of the worker: a worker that leaves kills its children, this one among them.
    if os.fork():
        os._exit(0)
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o077)
    if not take_permit(folder, name):
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
        save(os.path.join(folder, UNSTARTED), {"fault": "executor", "errno": ctypes.get_errno()})
        return
    order = load_order(folder)
    devices = sys.argv[5] if len(sys.argv) > 5 else ""
    order["env"] |= {"CUDA_VISIBLE_DEVICES": devices, "NVIDIA_VISIBLE_DEVICES": devices}
    _Keeper(folder, order, leash).run()


def take_permit(folder: str, name: str) -> bool:
    """Whether this submission may run: it is the first, and nobody has withdrawn it."""
    try:
        os.rename(os.path.join(folder, f"{PERMIT}-{name}"), os.path.join(folder, STARTED))
    except OSError:
        return False
    return True


def load_order(folder: str) -> dict[str, Any]:
    """What is to be run; it is removed, for there are secrets in it."""
    path = os.path.join(folder, ORDER)
    with open(path, "rb") as file:
        order: dict[str, Any] = json.load(file)
    os.unlink(path)
    return order


def save(path: str, content: dict[str, Any]) -> None:
    """The whole of it, durable, under that name; a full disk may have room again."""
    scratch = f"{path}.{os.getpid()}.new"
    for _ in range(_WRITE_TRIES):
        try:
            fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(json.dumps({"format": 1} | content).encode())
                file.flush()
                os.fsync(fd)
            return os.rename(scratch, path)
        except FileNotFoundError:
            return None  # the folder was removed: nobody wants to know any more
        except OSError:
            time.sleep(1)
    return None


class _Keeper:
    """The job from its first moment to the end of its last descendant."""

    def __init__(self, folder: str, order: dict[str, Any], leash: int) -> None:
        self._folder, self._order, self._leash = folder, order, leash
        self._exit: dict[str, Any] | None = None
        self._began_ms = now_ms()
        self._room, self._kept = int(order["output_bytes_max"]), 0
        self._times: Any = None
        self._pid = 0
        self._is_cut = self._is_signalled = False
        self._killing_at: float | None = None
        self._asked: set[tuple[int, int]] = set()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._file = os.open(self._path(OUTPUT), flags, 0o600)
        self._source, self._sink = os.pipe()
        os.set_blocking(self._source, False)

    def run(self) -> None:
        """Start the job and see it through."""
        self._wake, wake = os.pipe()
        for fd in (self._wake, wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        told = self._start()
        if told:
            field, _, number = told.partition(" ")
            os.waitpid(self._pid, 0)
            save(self._path(UNSTARTED), {"fault": field, "errno": int(number)})
            return
        found = {"pid": self._pid, "start_ticks": stat_of(self._pid)[1], "boot_id": boot_id()}
        save(self._path(PROCESS), found | {"host": os.uname().nodename})
        self._see_through()

    def _start(self) -> str:
        """Have the job's process; why there is no program in it, or nothing."""
        fault, tell_fault = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            become_job(self._order, fault=tell_fault, output=self._sink)
        for fd in (tell_fault, self._sink):
            os.close(fd)
        told = os.read(fault, 200).decode()  # empty once the program has taken over
        os.close(fault)
        return told

    def _see_through(self) -> None:
        poll = select.poll()
        times = load_times(self._folder)
        self._times = times.OutputTimes(self._path(times.NAME))
        for fd in (self._source, self._wake, self._leash):
            poll.register(fd, select.POLLIN)
        while self._reap():  # until nothing of the job is left: that is what this process is for
            for fd, _ in poll.poll(_LOOK_MS):
                if fd == self._wake:
                    os.read(self._wake, _CHUNK_BYTES)
                elif fd == self._leash:
                    self._is_cut = self._exit is None
                    self._killing_at = self._killing_at or time.monotonic()
                    poll.unregister(self._leash)
                elif self._pump() == 0:
                    poll.unregister(self._source)
            self._look()
        self._drain()
        counts = {"began_ms": self._began_ms, "emptied_ms": now_ms(), "cpu_ms": cpu_ms()}
        save(self._path(EXIT), (self._exit or {}) | {"emptied": True} | counts)

    def _look(self) -> None:
        """What the server wants, by its files; and what follows from that."""
        if self._order["warn_by_signal"] and not self._is_signalled and self._has(WARNING):
            self._is_signalled = True
            if self._exit is None:
                os.kill(self._pid, signal.SIGUSR1)  # ours until it is reaped
        if self._killing_at is None and self._has(END):
            self._killing_at = time.monotonic()
        if self._killing_at is not None:
            is_late = time.monotonic() - self._killing_at > self._order["term_s"]
            self._kill(signal.SIGKILL if is_late else signal.SIGTERM)

    def _kill(self, number: int) -> None:
        """Ask all that descends from this process to go, each once; or make them, each time."""
        for pid, ticks in descendants():
            if number == signal.SIGTERM and (pid, ticks) in self._asked:
                continue
            self._asked.add((pid, ticks))
            with contextlib.suppress(OSError, ValueError, IndexError):
                send(pid, number, ticks=ticks)

    def _reap(self) -> bool:
        """Take note of all that ended; whether any child is left."""
        while True:  # once per dead child
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self._pid and self._exit is None:
                self._drain()
                code = os.waitstatus_to_exitcode(status)
                told = {"code": code} if code >= 0 else {"signal": -code}
                self._exit = told | {"ended_ms": now_ms(), "is_cut": self._is_cut}
                save(self._path(EXIT), self._exit | {"emptied": False})

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
            self._times.note(self._kept, now_ms())
        if written < len(data):
            self._room = 0
            with contextlib.suppress(OSError):
                os.close(os.open(self._path(TRUNCATED), os.O_WRONLY | os.O_CREAT, 0o600))
        return len(data)

    def _has(self, name: str) -> bool:
        return os.path.lexists(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def become_job(order: dict[str, Any], *, fault: int, output: int) -> None:
    """In the job's own process: take on what was ordered, and become the program."""
    import resource

    field = "limits"
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.umask(0o022)
        for name, amount in order["rlimits"]:
            which = getattr(resource, name)
            most = resource.getrlimit(which)[1]
            held = amount if most == resource.RLIM_INFINITY else min(amount, most)
            resource.setrlimit(which, (held, held))
        field = "cwd"
        os.chdir(order["cwd"])
        field = "argv"
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(fault, f"{field} {error.errno or errno.EIO}".encode())
    except BaseException:
        os.write(fault, f"{field} 0".encode())
    finally:
        os._exit(_NOT_STARTED)


def load_times(folder: str) -> Any:
    """The module that lies in the folder beside this one."""
    from importlib import util

    spec = util.spec_from_file_location("output_times", os.path.join(folder, TIMES))
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def send(pid: int, number: int, *, ticks: int) -> None:
    """A signal to the process that was born then, and to no other that has its id now."""
    if sys.platform != "linux":  # others have no handles to processes
        raise OSError(errno.ENOSYS, "a keeper needs Linux")
    handle = os.pidfd_open(pid)
    try:
        if stat_of(pid)[1] == ticks:
            signal.pidfd_send_signal(handle, number)
            signal.pidfd_send_signal(handle, signal.SIGCONT)
    finally:
        os.close(handle)


def descendants() -> list[tuple[int, int]]:
    """All that descends from this process, each with the moment of its birth."""
    parents: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(name)] = stat_of(int(name))
    found, news = list[tuple[int, int]](), {os.getpid()}
    while news:  # a process has one parent, so each is found once
        below = {pid for pid, (parent, _) in parents.items() if parent in news}
        found += [(pid, parents[pid][1]) for pid in below]
        news = below
    return found


def stat_of(pid: int) -> tuple[int, int]:
    """A process's parent, and when it began in clock ticks since boot."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    return int(fields[1]), int(fields[19])


def boot_id() -> str:
    """Which life of the machine this is."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def now_ms() -> int:
    """The node's clock."""
    return time.time_ns() // 1_000_000


def cpu_ms() -> int:
    """What the kernel counted for all that ended below this process."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1000)


if __name__ == "__main__":
    main()

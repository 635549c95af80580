"""The walls around one job: namespaces of its own, and a root with nothing but what is named.

Loaded by its path from the supervisor (:mod:`bailiwick.executors.local.supervisor`), so it imports
nothing of Bailiwick. Run as a program, ``python sandbox.py FOLDER``, it tries whether this machine
and user can have such walls, and exits with 0 if so.

Rules:

- The job's root is an empty file system in memory. Into it go the folders of the plan, read-only
  unless it says otherwise; what is not in the plan is absent. Paths keep their names.
- A keeper is process 1 of the job's process namespace. It reaps what is orphaned, and leaves when
  nothing is left; if it ends, the kernel ends everything in the namespace at once. If the
  supervisor ends, so does the keeper.
- The job is the supervisor's own child all the same: its exit, its processor time and its process
  id are those that anybody outside sees.
- As root no user namespace is needed: the job is another user, with no capability. Anybody else
  gets a user namespace in which there is only that user.
- A member of an app that is given the host has the machine's own root, and process numbers of its
  own: that it ends as a whole is all that these walls are for.
- All others: no new privileges, whatever program is run; no system call that makes namespaces,
  mounts, reads keyrings or loads code into the kernel; no abstract socket from outside, where
  Landlock has it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import struct
import sys
from typing import Any, Final

_LIBC = ctypes.CDLL(None, use_errno=True)

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000
_KINDS: Final = (("user", _NEWUSER), ("mnt", _NEWNS), ("ipc", _NEWIPC), ("uts", _NEWUTS))
_PIVOT_ROOT = {"aarch64": 41, "x86_64": 155}
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 442, 444, 446
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_SLAVE = 0x80000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2
_RECURSIVE, _DETACH = 0x8000, 2
_NO_NEW_PRIVS, _SET_SECCOMP, _SECCOMP_FILTER, _CAPBSET_DROP, _CAP_AMBIENT = 38, 22, 2, 24, 47
_SET_DUMPABLE, _CAPS = 4, 64
_SCOPES = 1 | 2  # abstract sockets, and signals
_SCOPES_ABI = 6
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"))
_ROOT = "root"
"""The folder in the job's folder on which its root is put; seen by nobody but the job."""

FORBIDDEN: Final[dict[str, tuple[int, tuple[int, ...]]]] = {
    # umount2 mount pivot_root unshare setns keys(3) bpf perf_event_open userfaultfd handles(2)
    # modules(3) kexec(2) reboot swap(2) settimeofday clock_settime acct quotactl chroot
    # open_tree..mount_setattr, io_uring(3), name: aarch64 keeps its own numbers
    "aarch64": (
        0xC00000B7,
        (
            *(39, 40, 41, 97, 268, 217, 218, 219, 280, 241, 282, 264, 265),
            *(105, 106, 273, 104, 294, 142, 224, 225, 170, 112, 89, 60, 51),
            *(425, 426, 427, 428, 429, 430, 431, 432, 433, 442),
        ),
    ),
    "x86_64": (
        0xC000003E,
        (
            *(166, 165, 155, 272, 308, 248, 249, 250, 321, 298, 323, 303, 304),
            *(175, 176, 313, 246, 320, 169, 167, 168, 164, 227, 163, 179, 161),
            *(425, 426, 427, 428, 429, 430, 431, 432, 433, 442),
        ),
    ),
}
"""For each machine: its word for the audit, and the system calls that a job may not make."""

_CLONE: Final = {"aarch64": 220, "x86_64": 56}
_CLONE3: Final = 435
_X32_BIT = 0x40000000


class Walls:
    """What was raised around a job that is about to begin."""

    def __init__(self, keeper: int, leave: int, *, is_root: bool) -> None:
        self._leave = leave
        self._handles: list[tuple[int, int]] = []
        for kind, flag in (*_KINDS, ("pid", _NEWPID)):
            if kind != "user" or not is_root:
                self._handles.append((os.open(f"/proc/{keeper}/ns/{kind}", os.O_RDONLY), flag))
        os.write(leave, b"!")  # from here on nobody else of its user can look into the keeper

    def enter(self) -> int:
        """From a child of the supervisor: begin, inside, in a new process; its id outside.

        Returns 0 in that process, into which none of the job's others can look.
        """
        _LIBC.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        for handle, flag in self._handles:
            _check(_LIBC.setns(handle, flag), "setns")
            os.close(handle)
        return os.fork()

    def main_ended(self) -> None:
        """Let the keeper go once it has no more children."""
        if self._leave >= 0:
            with contextlib.suppress(OSError):
                os.write(self._leave, b"!")
            os.close(self._leave)
        self._leave = -1


def raise_walls(folder: str, plan: dict[str, Any]) -> Walls:
    """Make the namespaces and the root of a job; called from its supervisor, a subreaper."""
    told, tell = os.pipe()
    stays, leave = os.pipe()
    maker = os.fork()
    if not maker:
        os.close(leave)
        os.close(told)
        _make(folder, plan, tell=tell, stays=stays)
    os.close(tell)
    os.close(stays)
    os.waitpid(maker, 0)
    answer = b""
    while piece := os.read(told, 200):  # until the keeper has said that all stands, or is gone
        answer += piece
    os.close(told)
    words = answer.decode().split(" ", 2)
    if words[0] != "keeper" or not answer.endswith(b" stands"):
        os.close(leave)
        number = int(words[-1]) if words[-1].isdecimal() else errno.EPERM
        raise OSError(number, f"no sandbox: {answer.decode() or 'nothing was said'}")
    return Walls(int(words[1]), leave, is_root=os.geteuid() == 0)


def _make(folder: str, plan: dict[str, Any], *, tell: int, stays: int) -> None:
    """In a process of its own, which ends: namespaces, then process 1 of them."""
    try:
        is_root = os.geteuid() == 0
        uid, gid = os.geteuid(), os.getegid()
        own = _NEWNS | _NEWPID | (0 if plan.get("host") else _NEWUTS | _NEWIPC)
        _check(_LIBC.unshare(own | (0 if is_root else _NEWUSER)), "unshare")
        if not is_root:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{uid} {uid} 1")
            _write("/proc/self/gid_map", f"{gid} {gid} 1")
        gate, go = os.pipe()
        keeper = os.fork()
        if not keeper:
            os.close(go)
            os.read(gate, 1)
            _keep(folder, plan, tell=tell, stays=stays)
        os.write(tell, f"keeper {keeper}".encode())
        os.write(go, b"!")
    except BaseException as error:
        os.write(tell, f" {getattr(error, 'strerror', error)} {_number(error)}".encode())
    finally:
        os._exit(0)


def _keep(folder: str, plan: dict[str, Any], *, tell: int, stays: int) -> None:
    """As process 1: put up the root, then reap until nothing is left."""
    try:
        (_put_up_host if plan.get("host") else _put_up)(folder, plan)
        drop(plan["user"])
        os.write(tell, b" stands")
        _close_all_but(stays)
        is_entered = os.read(stays, 1)
        _LIBC.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        # Without a word the supervisor is gone, and all of the job goes with it.
        if is_entered and os.read(stays, 1):
            _reap_all()
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(tell, f" {getattr(error, 'strerror', error)} {_number(error)}".encode())
    finally:
        os._exit(0)


def _reap_all() -> None:
    """Until none is left: nobody else can start anything here any more."""
    with contextlib.suppress(ChildProcessError):
        while True:  # once per dead child
            os.waitpid(-1, 0)


def _close_all_but(kept: int) -> None:
    os.closerange(0, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


# --- the root ------------------------------------------------------------------------------------


def _put_up(folder: str, plan: dict[str, Any]) -> None:
    """The job's root, from the plan; afterwards nothing of the old one can be reached."""
    os.umask(0o022)
    root = os.path.join(folder, _ROOT)
    _mount(None, "/", None, flags=_REC | _PRIVATE)
    _mount("tmpfs", root, "tmpfs", flags=_NOSUID | _NODEV, data="mode=0755")
    for path, target in plan["links"]:
        _make_parent(root, path)
        os.symlink(target, root + path)
    for path in plan["empty"]:
        os.makedirs(root + path, exist_ok=True)
    for source, path, is_writable in plan["shown"]:
        _show(root, source, path, is_writable=is_writable)
    for path in plan["hidden"]:
        if os.path.isdir(root + path):
            _mount("tmpfs", root + path, "tmpfs", flags=_NOSUID | _NODEV, data="mode=0755")
        elif os.path.isfile(root + path):
            _mount("/dev/null", root + path, None, flags=_BIND)
    for source, path, is_writable in plan["own"]:
        _show(root, source, path, is_writable=is_writable)
    _put_up_devices(root, plan["devices"])
    os.makedirs(root + "/proc", exist_ok=True)
    _mount("proc", root + "/proc", "proc", flags=_NOSUID | _NODEV | _NOEXEC)
    os.chdir(root)
    _check(_LIBC.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _check(_LIBC.umount2(b".", _DETACH), "umount")
    os.chdir("/")
    _restrict("/", _ATTR_RDONLY | _ATTR_NOSUID, deep=False)
    for path in plan["hidden"]:
        if os.path.ismount(path):
            _restrict(path, _ATTR_RDONLY, deep=False)


def _put_up_host(folder: str, plan: dict[str, Any]) -> None:
    """The machine's own root; ``/proc`` tells of the job alone, and the machine's lies beside."""
    del plan
    _mount(None, "/", None, flags=_REC | _SLAVE)
    _mount("/proc", os.path.join(folder, _ROOT), None, flags=_BIND | _REC)
    _mount("proc", "/proc", "proc", flags=_NOSUID | _NODEV | _NOEXEC)


def _show(root: str, source: str, path: str, *, is_writable: bool) -> None:
    at = root + path
    if os.path.isdir(source):
        os.makedirs(at, exist_ok=True)
    else:
        _make_parent(root, path)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(at, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    _mount(source, at, None, flags=_BIND | _REC)
    _restrict(at, _ATTR_NOSUID | (0 if is_writable else _ATTR_RDONLY), deep=True)


def _put_up_devices(root: str, devices: list[str]) -> None:
    at = root + "/dev"
    os.makedirs(at + "/shm")
    os.makedirs(at + "/pts")
    for name in _DEVICES:
        if os.path.exists(f"/dev/{name}"):
            _show_device(root, f"/dev/{name}")
    for path in devices:
        _show_device(root, path)
    for name, target in (*_LINKS, ("stderr", "/proc/self/fd/2"), ("ptmx", "pts/ptmx")):
        os.symlink(target, f"{at}/{name}")
    _mount("tmpfs", at + "/shm", "tmpfs", flags=_NOSUID | _NODEV, data="mode=1777")
    options = "newinstance,ptmxmode=0666,mode=0620"
    _mount("devpts", at + "/pts", "devpts", flags=_NOSUID | _NOEXEC, data=options)


def _show_device(root: str, path: str) -> None:
    _make_parent(root, path)
    os.close(os.open(root + path, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(path, root + path, None, flags=_BIND)


def _make_parent(root: str, path: str) -> None:
    os.makedirs(os.path.dirname(root + path), exist_ok=True)


def _mount(
    source: str | None, target: str, kind: str | None, *, flags: int, data: str | None = None
) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    _check(
        _LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]),
        f"mount of {target}",
    )


def _restrict(path: str, attributes: int, *, deep: bool) -> None:
    """Add restrictions to a mount, and if deep to all below it; what is there stays."""
    wish = struct.pack("QQQQ", attributes, 0, 0, 0)
    at = ctypes.c_int(-100)
    flags = ctypes.c_uint(_RECURSIVE if deep else 0)
    size = ctypes.c_size_t(len(wish))
    done = _LIBC.syscall(_MOUNT_SETATTR, at, os.fsencode(path), flags, wish, size)
    _check(done, f"restricting {path}")


# --- the process ---------------------------------------------------------------------------------


def drop(user: list[int] | None) -> None:
    """Become that user, if one is named, and give up every capability for good."""
    if sys.platform != "linux":  # others have no such calls
        raise OSError("only on Linux")
    for number in range(_CAPS):
        _LIBC.prctl(_CAPBSET_DROP, number, 0, 0, 0)
    if user is not None:
        uid, gid = user
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    _LIBC.prctl(_CAP_AMBIENT, 4, 0, 0, 0)
    header, nothing = struct.pack("Ii", 0x20080522, 0), b"\0" * 24
    _check(_LIBC.capset(header, nothing), "capset")
    _check(_LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def keep_in() -> None:
    """Who calls this, and all that it starts, reach no abstract socket or process outside.

    Called once for all of a job: its programs reach each other.
    """
    abi = _LIBC.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if abi >= _SCOPES_ABI:
        rules = struct.pack("QQQ", 0, 0, _SCOPES)
        handle = _LIBC.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
        _check(handle, "landlock")
        _check(_LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        _check(_LIBC.syscall(_LANDLOCK_RESTRICT, handle, 0), "landlock")
        os.close(handle)


def forbid() -> None:
    """No more of the kernel than a program needs; after :func:`drop`."""
    program = filter_of(os.uname().machine)
    if program:
        code = ctypes.create_string_buffer(program, len(program))
        told = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
        _check(_LIBC.prctl(_SET_SECCOMP, _SECCOMP_FILTER, told, 0, 0), "seccomp")


def filter_of(machine: str) -> bytes:
    """The filter of system calls as the kernel runs it; empty for a machine that is not known."""
    if machine not in FORBIDDEN:
        return b""
    audit, calls = FORBIDDEN[machine]
    load, is_equal, is_at_least, any_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, absent = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    lines = [(load, 0, 0, 4), (is_equal, 1, 0, audit), (answer, 0, 0, refuse), (load, 0, 0, 0)]
    if machine == "x86_64":
        lines += [(is_at_least, 0, 1, _X32_BIT), (answer, 0, 0, refuse)]
    for call in calls:
        lines += [(is_equal, 0, 1, call), (answer, 0, 0, refuse)]
    # Its flags lie in memory, where a filter cannot look: programs then fall back to clone.
    lines += [(is_equal, 0, 1, _CLONE3), (answer, 0, 0, absent)]
    lines += [(is_equal, 0, 3, _CLONE[machine]), (load, 0, 0, 16)]
    lines += [(any_bit, 0, 1, 0x7E020080), (answer, 0, 0, refuse), (answer, 0, 0, allow)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _check(answer: int, what: str) -> None:
    if answer < 0:
        raise OSError(ctypes.get_errno(), what)


def _number(error: BaseException) -> int:
    return getattr(error, "errno", None) or errno.EPERM


def _try_out(folder: str) -> None:
    """Raise walls around nothing, and leave."""
    os.makedirs(os.path.join(folder, _ROOT), exist_ok=True)
    lists: dict[str, Any] = {key: [] for key in ("links", "empty", "shown", "hidden", "devices")}
    walls = raise_walls(folder, {**lists, "own": [(folder, "/own", True)], "user": None})
    child = os.fork()
    if not child:
        inside = walls.enter()
        if inside:
            os._exit(os.waitstatus_to_exitcode(os.waitpid(inside, 0)[1]))
        keep_in()
        drop(None)
        forbid()
        os._exit(0 if sorted(os.listdir("/")) == ["dev", "own", "proc"] else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    walls.main_ended()
    sys.exit(code)


if __name__ == "__main__":
    _try_out(sys.argv[1])

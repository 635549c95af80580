"""Runs Python as it is on macOS, as far as that can be had on Linux: no stand-in for a real Mac.

    python tests/package/as_on_a_mac.py -m bailiwick.cli.main journal verify FOLDER
    python tests/package/as_on_a_mac.py -c 'import bailiwick'

Rules:

- What Python's own manual marks as available on Linux and not on macOS is taken away: names of
  the standard library, whole modules, and the files below ``/proc`` and ``/sys``.
- Modules of ours see ``sys.platform == "darwin"``. Everybody else sees what is: their packages for
  macOS are other files, which are not here.
- Our packages that exist for Linux only cannot be imported.
"""

from __future__ import annotations

import builtins
import fcntl
import importlib.abc
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

MISSING: dict[str, tuple[str, ...]] = {
    "os": (
        *("pidfd_open", "memfd_create", "getrandom", "splice", "copy_file_range", "waitid"),
        *("eventfd", "eventfd_read", "eventfd_write", "setns", "unshare", "fdatasync", "pipe2"),
        *("sched_getaffinity", "sched_setaffinity", "sched_setscheduler", "sched_getscheduler"),
        *("sched_getparam", "sched_setparam", "sched_param", "sched_rr_get_interval"),
        *("getxattr", "setxattr", "listxattr", "removexattr", "posix_fadvise", "posix_fallocate"),
        *("getresuid", "getresgid", "setresuid", "setresgid", "O_PATH", "O_TMPFILE", "O_DIRECT"),
        *("O_LARGEFILE", "O_NOATIME", "O_RSYNC", "P_PIDFD", "RWF_DSYNC", "RWF_SYNC"),
    ),
    "signal": (
        *("pidfd_send_signal", "SIGRTMIN", "SIGRTMAX", "SIGPWR", "SIGSTKFLT", "SIGPOLL", "SIGCLD"),
        *("sigtimedwait", "sigwaitinfo"),
    ),
    "select": ("epoll", "EPOLLIN", "EPOLLOUT", "EPOLL_CLOEXEC", "POLLRDHUP"),
    "socket": (
        *("AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_CAN", "AF_TIPC", "AF_QIPCRTR"),
        *("SO_PEERCRED", "SO_PASSCRED", "SO_BINDTODEVICE", "SO_DOMAIN", "SO_PROTOCOL", "SO_MARK"),
        *("SOCK_CLOEXEC", "SOCK_NONBLOCK", "TCP_USER_TIMEOUT", "TCP_DEFER_ACCEPT", "TCP_QUICKACK"),
        *("TCP_CORK", "TCP_KEEPIDLE", "MSG_NOSIGNAL", "MSG_CMSG_CLOEXEC", "MSG_ERRQUEUE"),
    ),
    "resource": ("prlimit", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_SIGPENDING"),
    "fcntl": ("F_OFD_SETLK", "F_OFD_GETLK", "F_OFD_SETLKW", "F_SETPIPE_SZ", "F_ADD_SEALS"),
    "mmap": ("MAP_POPULATE", "MAP_DENYWRITE", "MAP_EXECUTABLE", "MAP_HUGETLB", "MADV_HUGEPAGE"),
    "time": ("CLOCK_BOOTTIME", "CLOCK_TAI", "clock_getcpuclockid", "pthread_getcpuclockid"),
}
"""Names of the standard library that Linux has and macOS has not."""

BLOCKED = {"spwd", "ossaudiodev", "prctl", "pyudev", "systemd", "tpm2_pytss", "atheris", "psutil"}
"""Modules and packages that are for Linux only. Of psutil, its half for Linux is what is here."""

LINUX_FOLDERS = ("/proc", "/sys")
FULL_SYNC = 51


class MacSys(ModuleType):
    """The module ``sys`` with another platform; all else is passed through, both ways."""

    def __getattribute__(self, name: str) -> Any:
        return "darwin" if name == "platform" else getattr(sys, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(sys, name, value)


class Blocker(importlib.abc.MetaPathFinder):
    """Refuses modules that macOS has not."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise for a blocked name; leave all others to the usual finders."""
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}: as on macOS", name=name)


def become_mac() -> None:
    """From here on this process is as poor as on macOS."""
    for module, names in MISSING.items():
        found = __import__(module)
        for name in names:
            if hasattr(found, name):
                delattr(found, name)
    add_full_sync()
    sys.meta_path.insert(0, Blocker())
    sys.addaudithook(refuse_linux_files)
    platform, real = MacSys("sys"), builtins.__import__

    def give(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        asker = str((globals or {}).get("__name__", ""))
        runs_as_main = asker == "__main__" and (globals or {}).get("__package__") == "bailiwick.cli"
        if name == "sys" and (asker.partition(".")[0] == "bailiwick" or runs_as_main):
            return platform
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = give


def add_full_sync() -> None:
    """What macOS has and Linux has not: the call that empties the drive's own cache."""
    fcntl.F_FULLFSYNC = FULL_SYNC
    real = fcntl.fcntl

    def call(file: Any, command: int, argument: Any = 0) -> Any:
        return os.fsync(file) if command == FULL_SYNC else real(file, command, argument)

    fcntl.fcntl = call


def refuse_linux_files(event: str, arguments: tuple[Any, ...]) -> None:
    """There is neither /proc nor /sys."""
    if event not in ("open", "os.listdir", "os.scandir") or not arguments:
        return
    path = arguments[0]
    if isinstance(path, str | bytes | os.PathLike):
        text = os.fsdecode(path)
        if any(text == folder or text.startswith(f"{folder}/") for folder in LINUX_FOLDERS):
            raise FileNotFoundError(2, "No such file or directory, as on macOS", text)


def main() -> None:
    """Run a module or a piece of code."""
    _, kind, what, *rest = sys.argv
    become_mac()
    sys.argv = [what if kind == "-m" else "-c", *rest]
    sys.path[0] = ""  # as the interpreter itself does for both
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main()

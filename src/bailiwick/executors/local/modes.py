"""How jobs are kept apart from each other and from the server, and what each may see.

Rules:

- **sandbox**: what is not the job's own is absent (:mod:`bailiwick.executors.local.sandbox`). As
  root, each project has a user id of its own as well.
- **users**: each project has a user id of its own, and its folders are closed to all others. Only
  root can do that.
- **trusted**: a job is a process of the server's user. Only if whoever starts the server says so,
  and for one tenant alone.
- **closed**: none of these can be had; every job is refused.
- The best that the machine allows is chosen by trying it, unless one is named; a named one that
  cannot be had is an error, never a lesser one.
- A user id belongs to one project for good: it is written down before it is used.
- Members of apps that were granted the host run as the server's own user, with the machine's own
  files, only where whoever starts the server says so. As root, each has process numbers of its own,
  so that the kernel ends all of it at once: a machine that cannot have that gives no host.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bailiwick.executors.local import sandbox
from bailiwick.executors.spares import save_atomically
from bailiwick.vocab.errors import Damaged, InvalidValue, LimitReached, Unavailable

UIDS: Final = range(1_900_000_000, 1_900_100_000)
"""User ids for projects: above all that systems and containers give out."""

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt")
SECRET: Final = ("/etc/bailiwick", "/sys/fs/cgroup", "/sys/kernel/security")
EMPTY: Final = ("/home", "/mnt", "/root", "/run", "/srv", "/var")

_MADE: Final = ("/dev", "/proc", "/sys", "/tmp")
_KEPT_EMPTY: Final = ("/run",)
_GIVEN: Final = ("/etc/resolv.conf", "/etc/hosts")
"""Of the machine's own files, all that a job in an image sees."""

_NVIDIA: Final = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
_GPUS = Path("/proc/driver/nvidia/gpus")
_TRY_S = 30.0
_SEEN_BY = 0o711


class JobMode(StrEnum):
    """How jobs are kept apart."""

    SANDBOX = "sandbox"
    USERS = "users"
    TRUSTED = "trusted"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class ShownFolder:
    """A folder of the machine that jobs see, under its own name."""

    path: Path
    is_writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What whoever starts the server says about it."""

    mode: JobMode | None = None
    """The one to use; ``None``: the best that can be had."""
    shown: tuple[ShownFolder, ...] = ()
    hidden: tuple[Path, ...] = ()
    """What no job sees, wherever it lies."""
    images: Path | None = None
    """Where images lie; ``None``: in ``images`` beside the folder of jobs."""
    host_members: bool = False
    """Whether members of apps that were granted it run as the machine's own, outside the walls."""


def apart_of(
    job_mode: str | None,
    *,
    trust_jobs: bool,
    job_path: Sequence[str] | None,
    hidden: Iterable[Path],
    host_members: bool = False,
) -> Apart:
    """What was said on a command line, of a server or of an agent.

    >>> apart_of("users", trust_jobs=False, job_path=None, hidden=()).mode
    <JobMode.USERS: 'users'>
    >>> apart_of("users", trust_jobs=True, job_path=None, hidden=())
    Traceback (most recent call last):
    ...
    bailiwick.vocab.errors.InvalidValue: --job-mode: expected sandbox or users, or ...
    """
    can_be_named = (JobMode.SANDBOX, JobMode.USERS)
    if job_mode is not None and (trust_jobs or job_mode not in can_be_named):
        raise InvalidValue("--job-mode", job_mode, "sandbox or users, or --trust-jobs")
    mode = None if job_mode is None else JobMode(job_mode)
    return Apart(
        mode=JobMode.TRUSTED if trust_jobs else mode,
        shown=tuple(parse_shown(text) for text in job_path or ()),
        hidden=tuple(path.resolve() for path in hidden),
        host_members=host_members,
    )


def choose_mode(wish: JobMode | None) -> JobMode:
    """The mode to use: the one that was named, or the best that this machine and user allow."""
    can: dict[JobMode, Callable[[], bool]] = {
        JobMode.SANDBOX: can_sandbox,
        JobMode.USERS: can_switch_users,
        JobMode.TRUSTED: lambda: True,
        JobMode.CLOSED: lambda: True,
    }
    if wish is not None:
        if not can[wish]():
            raise Unavailable(f"the job mode {wish}", "this machine or user cannot have it")
        return wish
    return next(m for m in (JobMode.SANDBOX, JobMode.USERS, JobMode.CLOSED) if can[m]())


def check_host() -> None:
    """Refuse to give members the host where nothing would hold a member of root's together."""
    if os.geteuid() == 0 and not can_sandbox():
        why = "as root it needs process namespaces, which this machine does not let it have"
        raise Unavailable("--host-members", why)


def can_sandbox() -> bool:
    """Whether walls can be raised here: tried, not guessed."""
    with tempfile.TemporaryDirectory(prefix="bailiwick-try-") as folder:
        command = [sys.executable, "-I", "-S", "-B", sandbox.__file__, folder]
        try:
            done = subprocess.run(
                command, env={}, capture_output=True, check=False, timeout=_TRY_S, cwd="/"
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0


def can_switch_users() -> bool:
    """Whether a process of ours may become another user: root, with root's rights."""
    if os.geteuid() != 0:
        return False
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("CapEff:"))
    needed = 1 << 0 | 1 << 6 | 1 << 7  # chown, setgid, setuid
    return int(line.split()[1], 16) & needed == needed


def parse_shown(text: str) -> ShownFolder:
    """``PATH`` as jobs may read it, ``PATH:rw`` as they may write it too.

    >>> parse_shown("/usr:rw")
    ShownFolder(path=PosixPath('/usr'), is_writable=True)
    """
    path, colon, how = text.rpartition(":")
    if not colon or how not in ("ro", "rw"):
        path, how = text, "ro"
    if not os.path.isabs(path) or not os.path.isdir(path) or os.path.realpath(path) == "/":
        raise InvalidValue("job-path", text, "a folder by its absolute path, then :rw to write it")
    return ShownFolder(Path(os.path.realpath(path)), how == "rw")


def sandbox_plan(
    own: Sequence[tuple[Path, Path, bool]], tmp: Path, *, apart: Apart, devices: Sequence[int]
) -> dict[str, Any]:
    """What the job's root is made of: the system, what is shown to all, and what is its own."""
    links, shown = [], [(str(tmp), "/tmp", True), ("/sys", "/sys", False)]
    for path in SYSTEM:
        if os.path.islink(path):
            links.append((path, os.readlink(path)))
        elif os.path.isdir(path):
            shown.append((path, path, False))
    named = [(str(each.path), str(each.path), each.is_writable) for each in apart.shown]
    for extra in (*_python_folders(), *_resolver()):
        if not any(extra == path or extra.startswith(f"{path}/") for path in SYSTEM):
            shown.append((extra, extra, False))
    return {
        "links": links,
        "empty": EMPTY,
        "shown": [*shown, *sorted(named)],
        "hidden": [*SECRET, *(str(path) for path in apart.hidden)],
        "own": [(str(source), str(path), is_writable) for source, path, is_writable in own],
        "devices": device_paths(devices),
    }


def image_plan(
    root: Path,
    own: Sequence[tuple[Path, Path, bool]],
    *,
    tmp: Path,
    apart: Apart,
    devices: Sequence[int],
) -> dict[str, Any]:
    """As :func:`sandbox_plan`, with an image in the place of the machine's own system."""
    named = [(str(each.path), str(each.path), each.is_writable) for each in apart.shown]
    mine = [(str(source), str(path), is_writable) for source, path, is_writable in own]
    needed = [path for _, path, _ in (*named, *mine)]
    empty, links, shown = _spread(str(root), [*needed, *_KEPT_EMPTY])
    shown += [(str(tmp), "/tmp", True), ("/sys", "/sys", False)]
    inner = [(path, path, False) for path in _GIVEN if (root / path[1:]).is_file()]
    given = [
        row for row in inner if os.path.isfile(row[0]) and not (root / row[1][1:]).is_symlink()
    ]
    covers = ["/sys", *needed]
    hidden = [*SECRET, *(str(path) for path in apart.hidden)]
    return {
        "links": links,
        "empty": [*empty, *_KEPT_EMPTY],
        "shown": [*shown, *sorted(named)],
        "hidden": [path for path in hidden if any(path.startswith(f"{c}/") for c in covers)],
        "own": [*given, *mine],
        "devices": device_paths(devices),
    }


def _spread(
    root: str, needed: Sequence[str]
) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str, bool]]]:
    """An image's files as they are shown: as few pieces as leave room for what is put between.

    A link or a file where a folder is needed is left out: nothing is ever mounted through a link.
    """
    empty: list[str] = []
    links: list[tuple[str, str]] = []
    shown: list[tuple[str, str, bool]] = []
    todo = ["/"]
    while todo:  # bounded by the folders above what is needed
        folder = todo.pop()
        for name in sorted(os.listdir(root + folder)):
            path = os.path.join(folder, name)
            is_above = any(each == path or each.startswith(f"{path}/") for each in needed)
            if path in _MADE:
                continue
            if os.path.islink(root + path):
                links += [] if is_above else [(path, os.readlink(root + path))]
            elif not is_above:
                shown.append((root + path, path, False))
            elif os.path.isdir(root + path) and path not in needed:
                empty.append(path)
                todo.append(path)
    return empty, links, shown


def _python_folders() -> list[str]:
    """Where the server's own program lies: a job may call ``bailiwick`` too."""
    package = os.path.realpath(Path(__file__).parents[2])
    found = {os.path.realpath(path) for path in (sys.base_prefix, sys.prefix, package)}
    return sorted(path for path in found if path not in ("/", "/usr"))


def _resolver() -> list[str]:
    """Where names are looked up, if that is a link into what jobs do not see."""
    real = os.path.realpath("/etc/resolv.conf")
    is_elsewhere = real.startswith("/run/") and os.path.isfile(real)
    return [real] if is_elsewhere else []


def device_paths(indices: Sequence[int], *, gpus: Path = _GPUS) -> list[str]:
    """The device files of these GPUs, counted by PCI address, and those that all GPUs need."""
    if not indices:
        return []
    minors = []
    try:
        cards = sorted(gpus.iterdir())
    except OSError:
        cards = []
    for card in cards:
        words = (card / "information").read_text(encoding="utf-8").splitlines()
        minors += [line.split(":")[1].strip() for line in words if line.startswith("Device Minor")]
    names = [f"nvidia{minors[i]}" if i < len(minors) else f"nvidia{i}" for i in indices]
    return [path for name in (*names, *_NVIDIA) if os.path.exists(path := f"/dev/{name}")]


class ProjectUsers:
    """Which user id is whose; one file, written before an id is used."""

    def __init__(self, path: Path, uids: range = UIDS) -> None:
        self._path, self._uids = path, uids
        self._lock = threading.Lock()

    def of(self, owner: str) -> int:
        """The user id of this project; a new one if it has none yet."""
        with self._lock:
            known = self._load()
            if owner in known:
                return known[owner]
            uid = max(known.values(), default=self._uids.start - 1) + 1
            if uid not in self._uids:
                raise LimitReached("user ids of projects", len(self._uids))
            save_atomically(str(self._path), {"users": known | {owner: uid}})
            return uid

    def _load(self) -> dict[str, int]:
        try:
            content = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise Damaged("the user ids of projects", self._path, "is no JSON") from error
        users = content.get("users") if isinstance(content, dict) else None
        is_sound = isinstance(users, dict) and all(
            type(uid) is int and uid in self._uids for uid in users.values()
        )
        if not isinstance(users, dict) or not is_sound or len({*users.values()}) != len(users):
            raise Damaged("the user ids of projects", self._path, "is not what was written")
        return users


class OneTenant:
    """The one tenant whose jobs run where nothing keeps jobs apart; the first to come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def admit(self, tenant: str) -> bool:
        """Whether it is this one."""
        with self._lock:
            if not self._path.exists():
                save_atomically(str(self._path), {"tenant": tenant})
            try:
                return bool(json.loads(self._path.read_bytes())["tenant"] == tenant)
            except (ValueError, KeyError, TypeError) as error:
                raise Damaged("the tenant of trusted jobs", self._path, "is unreadable") from error


def open_work_root(name: str) -> Path:
    """Where jobs of other users keep their files: reached by all, listed by none, root's own."""
    path = Path("/var/tmp") / f"bailiwick-jobs-{name}"
    path.mkdir(mode=_SEEN_BY, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise Unavailable("the folder of jobs", f"{path} belongs to somebody else")
    path.chmod(_SEEN_BY)
    return path

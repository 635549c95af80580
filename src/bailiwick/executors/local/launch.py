"""Bringing a job to life: its folder, its environment, and the supervisor that starts it.

Rules:

- The folder appears under its name as a whole, with the lock held: nobody ever sees half of it.
- The lock goes on to the supervisor, and is held for as long as that lives.
- The command, its environment and the token travel through a socket: none is in an argument list,
  and none but the token (a file of mode 0600) is on disk.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import pwd
import secrets
import select
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bailiwick.executors.local import starter, supervisor
from bailiwick.executors.port import JobSpec
from bailiwick.executors.spares import save_atomically
from bailiwick.vocab.errors import Conflict, InvalidValue, Unavailable
from bailiwick.vocab.jobs import PLAIN_PATH

WORK, TOKEN, LOCK, WARNING = "work", "token", "lock", "PREEMPTION"
TMP, ROOT = "tmp", "root"
"""In a sandbox: what the job sees as ``/tmp``, and where its root folder is put."""
DRAFT = ".new-"
"""How the folder of a job is called before it is complete."""

USER = "job"
"""Who a job that is kept apart is told that it is: its user has no name on the machine."""


_EXPECTED = {
    "argv[0]": "a program that can be run",
    "cwd": "a directory that can be entered",
    "limits": "limits that this machine and user can have",
    "owner": "a job that can be kept apart from others",
}


@dataclass(frozen=True, slots=True)
class Own:
    """What is a job's own: where its files lie, and as which user it runs."""

    folder: Path
    uid: int | None = None
    """``None``: as the server's own user."""
    is_apart: bool = False
    """Whether it is kept from the server's user's home."""
    is_host: bool = False
    """Whether it is a member of an app that runs as the machine's own."""


def environment_of(
    spec: JobSpec, own: Own, *, image_env: Mapping[str, str] | None = None
) -> dict[str, str]:
    """All that a job finds in its environment."""
    folder = own.folder
    devices = ",".join(str(index) for index in spec.device_indices)
    base = {
        "PATH": PLAIN_PATH,
        "HOME": str(folder / WORK) if own.is_apart else _home(),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "USER": USER if own.is_apart else _user(),
    }
    base["LOGNAME"] = base["USER"]
    ours = {
        **spec.told,
        "BAILIWICK_LEASE_ID": str(spec.lease_id),
        "BAILIWICK_LEASE_TOKEN": spec.token,
        "BAILIWICK_LEASE_TOKEN_FILE": str(folder / TOKEN),
        "BAILIWICK_PREEMPTION_FILE": str(folder / WORK / WARNING),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": devices,
        "NVIDIA_VISIBLE_DEVICES": devices,
    }
    if spec.server:
        ours["BAILIWICK_SERVER"] = spec.server
    return base | dict(image_env or {}) | {"HOME": base["HOME"]} | dict(spec.env) | ours


@contextlib.contextmanager
def laid_out(
    folder: Path, spec: JobSpec, *, state: dict[str, Any], own: Own | None = None
) -> Iterator[int]:
    """The job's folder with all that must be in it, and its lock held; it appears as a whole."""
    draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=folder.parent))
    lock = os.open(draft / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if own is None or own.folder == folder:
            _lay_out_own(draft, spec, own or Own(folder))
        else:
            shutil.rmtree(own.folder, ignore_errors=True)  # of a start that was cut short
            own.folder.mkdir(mode=0o711)
            _lay_out_own(own.folder, spec, own)
        save_atomically(str(draft / supervisor.STATE), state)
        try:
            draft.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise Conflict("job of lease", spec.lease_id, "was started before") from None
        yield lock
    finally:
        os.close(lock)
        shutil.rmtree(draft, ignore_errors=True)


class Starter:
    """Has supervisors begun; from any thread. What begins them is begun with the first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._orders: socket.socket | None = None

    def send(self, order: dict[str, Any], files: Sequence[int], *, wait_s: float) -> None:
        """Have a supervisor begin with these files; whether it does, it tells by itself."""
        body = json.dumps(order).encode()
        head = f"{len(body):0{starter.HEAD_BYTES}d}".encode()
        with self._lock:
            is_new = self._orders is None
            try:
                self._send(head, files, body=body, wait_s=wait_s)
            except (BrokenPipeError, ConnectionResetError):
                self._close()
                if is_new:
                    raise
                self._send(head, files, body=body, wait_s=wait_s)  # it had gone
            except OSError:
                self._close()  # half of an order is on its way: nobody goes on with it
                raise

    def _send(self, head: bytes, files: Sequence[int], *, body: bytes, wait_s: float) -> None:
        if self._orders is None:
            self._orders = self._begin(wait_s)
        self._orders.settimeout(wait_s)
        socket.send_fds(self._orders, [head], files)
        self._orders.sendall(body)

    def _begin(self, wait_s: float) -> socket.socket:
        ours, theirs = socket.socketpair()
        weakref.finalize(self, ours.close)  # then it leaves
        with theirs:
            # The root is there for people: it says whose supervisors these are.
            command = (sys.executable, "-I", "-S", "-B", "-X", "utf8", starter.__file__)
            subprocess.run(
                [*command, str(self._root)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
                timeout=wait_s,
                check=True,
            )
        return ours

    def _close(self) -> None:
        if self._orders is not None:
            self._orders.close()
        self._orders = None


def launch(
    begin: Starter, folder: Path, *, order: dict[str, Any], lock: int, wait_s: float
) -> dict[str, Any]:
    """Start a supervisor and hear from it, in bounded time."""
    until = time.monotonic() + wait_s
    heard, ready = os.pipe()
    with (
        contextlib.closing(os.fdopen(heard, "rb")),
        contextlib.closing(os.fdopen(ready, "wb")) as end,
        (folder / "supervisor.err").open("wb") as errors,
    ):
        files = (ready, lock, errors.fileno())
        try:
            begin.send({"folder": str(folder), "order": order}, files, wait_s=wait_s)
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable("the job's supervisor", f"it was not begun: {error}") from None
        end.close()
        return _hear(heard, until)


def _hear(heard: int, until: float) -> dict[str, Any]:
    told = b""
    while not told.endswith(b"\n"):  # the far end speaks, closes or is given up
        is_there, _, _ = select.select([heard], [], [], max(0.0, until - time.monotonic()))
        piece = os.read(heard, 4096) if is_there else b""
        if not piece:
            raise Unavailable("the job's supervisor", "it did not tell whether the job began")
        told += piece
    answer: dict[str, Any] = json.loads(told)
    return answer


def refusal_of(spec: JobSpec, answer: dict[str, Any]) -> InvalidValue:
    """The job could not be run as asked: which field it was."""
    field = str(answer["fault"])
    values = {"argv[0]": spec.argv[0], "cwd": str(spec.cwd), "limits": spec.limits}
    why = os.strerror(answer["errno"]) if answer["errno"] else "it was refused"
    return InvalidValue(field, values.get(field, spec.owner), f"{_EXPECTED[field]} ({why})")


def is_locked(folder: Path) -> bool:
    """Whether the job's supervisor lives."""
    try:
        fd = os.open(folder / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _lay_out_own(folder: Path, spec: JobSpec, own: Own) -> None:
    """What the job itself may write, and its token."""
    (folder / WORK).mkdir(mode=0o700)
    _save_private(folder / TOKEN, spec.token)
    if own.is_apart:
        (folder / TMP).mkdir(mode=0o700)
    if own.is_apart or own.is_host:
        (folder / ROOT).mkdir(mode=0o700)
    if own.uid is not None:
        for name in (WORK, TOKEN, TMP):
            os.chown(folder / name, own.uid, own.uid, follow_symlinks=False)


def save_warning(work: Path, content: dict[str, Any]) -> None:
    """Put the warning into a folder that its job may write: no link in it is followed."""
    folder = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        scratch = f".{WARNING}-{secrets.token_hex(8)}"
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(scratch, how, 0o644, dir_fd=folder), "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(json.dumps(content, sort_keys=True).encode())
            file.flush()
            os.fsync(file.fileno())
        os.rename(scratch, WARNING, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)


def _save_private(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return USER


def _home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"

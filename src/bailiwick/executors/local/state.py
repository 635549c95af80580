"""What is on disk about a job, and how it is read again after anything.

Rules:

- A file is written whole and durably, or the former one stays (``spares.save_atomically``).
- Whatever is found on disk, reading gives a value or ``Damaged``: nothing else.
- The environment and the token are not in it; the command is there as a digest only.

>>> parse_exit(b'{"format": 1, "code": 3, "ended_ms": 9, "emptied": true}').code
3
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bailiwick.executors.local.supervisor import EXIT, STATE
from bailiwick.executors.port import Exited, LimitedBy, Lost, LostReason, UsedInAll
from bailiwick.vocab.errors import Damaged, Unavailable
from bailiwick.vocab.execs import ExecWish
from bailiwick.vocab.values import AMOUNT_MAX

FORMAT = 1
FILE_BYTES_MAX = 65536

_HEX = frozenset("0123456789abcdef-")


@dataclass(frozen=True, slots=True)
class Identity:
    """One process, beyond the reuse of its id."""

    pid: int
    start_ticks: int


@dataclass(frozen=True, slots=True)
class JobState:
    """A job as its state file tells it; without processes, it had not begun."""

    lease_id: int
    boot_id: str
    argv_digest: str
    limited_by: LimitedBy
    cgroup: str
    cwd: str
    warn_by_signal: bool
    job: Identity | None = None
    supervisor: Identity | None = None
    on_host: bool = False
    """Whether it can write what its supervisor writes: then no file of those proves anything."""
    ask_digest: str | None = None
    """Of the one program that is let in though it is outside the walls."""

    def lets_in(self, wish: ExecWish) -> bool:
        """Whether somebody may come in so: who may enter a job does not get the host by it."""
        return not self.on_host or (wish.is_plain and digest_of(wish.argv) == self.ask_digest)

    def to_body(self) -> dict[str, Any]:
        """The file's content before the job begins; its supervisor adds the processes."""
        return {
            "format": FORMAT,
            "phase": "starting",
            "lease_id": self.lease_id,
            "boot_id": self.boot_id,
            "argv_digest": self.argv_digest,
            "limited_by": self.limited_by.value,
            "cgroup": self.cgroup,
            "cwd": self.cwd,
            "warn_by_signal": self.warn_by_signal,
            **({"on_host": True} if self.on_host else {}),
            **({} if self.ask_digest is None else {"ask_digest": self.ask_digest}),
        }


def digest_of(argv: Sequence[str]) -> str:
    """The command as a digest: the same command can be recognised, and not read back."""
    text = json.dumps(list(argv)).encode()
    return hashlib.sha256(text).hexdigest()


def parse_state(data: bytes) -> JobState:
    """The state file's content; ``Damaged`` if it is not one."""
    body = _Body("the state file of a job", data)
    phase = body.text("phase", limit=16)
    if phase not in ("starting", "running"):
        raise body.damaged("phase", "is no phase")
    running = phase == "running"
    limited_by = body.text("limited_by", limit=16)
    if limited_by not in tuple(LimitedBy):
        raise body.damaged("limited_by", "is no such word")
    return JobState(
        lease_id=body.amount("lease_id"),
        boot_id=body.hex("boot_id"),
        argv_digest=body.hex("argv_digest"),
        limited_by=LimitedBy(limited_by),
        cgroup=body.text("cgroup"),
        cwd=body.text("cwd"),
        warn_by_signal=body.flag("warn_by_signal"),
        job=_identity(body, "") if running else None,
        supervisor=_identity(body, "supervisor_") if running else None,
        on_host="on_host" in body.content and body.flag("on_host"),
        ask_digest=body.hex("ask_digest") if "ask_digest" in body.content else None,
    )


def parse_exit(data: bytes) -> Exited:
    """The exit file's content; ``Damaged`` if it is not one."""
    body = _Body("the exit file of a job", data)
    code = body.amount("code", limit=255) if "code" in body.content else None
    number = body.amount("signal", limit=64) if "signal" in body.content else None
    if (code is None) == (number is None):
        raise body.damaged("code", "is not one of code and signal")
    is_over_memory = "out_of_memory" in body.content and body.flag("out_of_memory")
    return Exited(code, number, body.amount("ended_ms"), body.flag("emptied"), is_over_memory)


def parse_counts(data: bytes) -> UsedInAll | None:
    """What the exit file's content says was counted; ``None`` while not all of it has ended."""
    body = _Body("the exit file of a job", data)
    if not body.flag("emptied") or "cpu_ms" not in body.content:
        return None
    peak = body.amount("mem_peak_bytes") if "mem_peak_bytes" in body.content else None
    began_ms, emptied_ms = body.amount("began_ms"), body.amount("emptied_ms")
    return UsedInAll(began_ms, max(began_ms, emptied_ms), body.amount("cpu_ms"), peak)


def load_state(folder: Path) -> JobState | None:
    """The state of the job in this folder, ``None`` if none was written."""
    data = _load(folder / STATE)
    return None if data is None else parse_state(data)


def load_exit(folder: Path) -> Exited | None:
    """How the job in this folder ended, ``None`` if that is not written."""
    data = _load(folder / EXIT)
    return None if data is None else parse_exit(data)


def lost_or_just_ended(folder: Path) -> Exited | Lost:
    """What became of a job whose processes are others now."""
    try:
        return load_exit(folder) or Lost(LostReason.NOT_THE_SAME_PROCESS)
    except Damaged:
        return Lost(LostReason.STATE_UNREADABLE)


def load_counts(folder: Path) -> UsedInAll | None:
    """What was counted for the job in this folder, once all of it has ended."""
    data = _load(folder / EXIT)
    return None if data is None else parse_counts(data)


def read_plain(path: Path, offset: int, *, limit: int) -> bytes:
    """A part of a plain file; a job may have put a link, a pipe or a folder in its place."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return b""
        raise Unavailable("the job's output", error.strerror) from error
    try:
        return os.pread(fd, limit, offset) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)


def _load(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged("the folder of a job", path, error.strerror) from None


def _identity(body: _Body, prefix: str) -> Identity:
    pid = body.amount(f"{prefix}pid", limit=2**22)
    if pid < 2:
        raise body.damaged(f"{prefix}pid", "is no process of a job")
    return Identity(pid, body.amount(f"{prefix}start_ticks"))


class _Body:
    """A JSON object from outside, asked field by field."""

    def __init__(self, what: str, data: bytes) -> None:
        self._what = what
        try:
            if len(data) > FILE_BYTES_MAX:
                raise ValueError("it is too long")
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Damaged(what, "its text", type(error).__name__) from None
        if not isinstance(content, dict):
            raise Damaged(what, "its text", "is no object")
        self.content: dict[str, Any] = content
        if self.amount("format") != FORMAT:
            raise self.damaged("format", "is not known")

    def damaged(self, key: str, why: str) -> Damaged:
        return Damaged(self._what, key, why)

    def amount(self, key: str, *, limit: int = AMOUNT_MAX) -> int:
        value = self.content.get(key)
        if type(value) is not int or not 0 <= value <= limit:
            raise self.damaged(key, "is no such number")
        return value

    def flag(self, key: str) -> bool:
        value = self.content.get(key)
        if not isinstance(value, bool):
            raise self.damaged(key, "is neither true nor false")
        return value

    def text(self, key: str, *, limit: int = 4096) -> str:
        value = self.content.get(key)
        if not isinstance(value, str) or len(value) > limit or "\0" in value:
            raise self.damaged(key, "is no such text")
        return value

    def hex(self, key: str) -> str:
        value = self.text(key, limit=64)
        if not value or not _HEX.issuperset(value):
            raise self.damaged(key, "is not written in hexadecimal")
        return value

"""The folder of one member: its configuration, keys, sockets, logs and state.

Rules:

- All is below the folder that the member was begun in; only the state may be elsewhere, on
  storage that outlives the member.
- A file appears as a whole. Keys and what has a password in it are readable by nobody else.
- Configurations come with ``@HOME@`` and ``@STATE@`` in them; the member's own folders go there.
"""

from __future__ import annotations

import base64
import json
import os
import pwd
import secrets
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

_SOCKET_CHARS_MAX: Final = 100
_PRIVATE: Final = frozenset(("slurmdbd.conf", "my.cnf", "grants"))
_PROGRAMS: Final = frozenset(("task_prolog",))
_PUBLIC: Final = frozenset(("slurm.conf", "gres.conf", "cgroup.conf", "job_submit.lua"))
_KEY_BYTES: Final = 128
_WRAPPER: Final = "libnss_wrapper.so"


class MemberError(Exception):
    """What was asked for cannot be."""


class Home:
    """Where everything of a member is."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.state = self.root / "state"
        self.shown = self.root
        """The path to it that Slurm's programs and jobs know."""
        self.is_to_be_wiped = False
        """Whether what is on storage is removed when the member ends."""
        if len(str(self.root / "run/munge.sock")) > _SOCKET_CHARS_MAX:
            raise MemberError(
                f"{self.root} is too long a path: the sockets in it could not be opened"
            )
        for name in ("etc", "run", "log", "spool", "dev", "keys"):
            (self.root / name).mkdir(mode=0o700, exist_ok=True)

    @property
    def conf(self) -> Path:
        """The configuration that Slurm's programs read."""
        return self.shown / "etc/slurm.conf"

    @property
    def user(self) -> str:
        """As whom the daemons run."""
        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return "job"

    @property
    def env(self) -> dict[str, str]:
        """What Slurm's programs need to find this cluster."""
        kept = ("LANG", "TZ", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HOME")
        found = {name: os.environ[name] for name in kept if name in os.environ}
        found |= {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SLURM_CONF": str(self.conf),
            "MYSQL_UNIX_PORT": str(self.root / "run/mysql.sock"),
        }
        return found | self._names()

    def _names(self) -> dict[str, str]:
        """In a sandbox the user has no name; Slurm wants one, and is told of one."""
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            people, groups = self.root / "etc/passwd", self.root / "etc/group"
            if not people.exists():
                uid, gid = os.geteuid(), os.getegid()
                known = (
                    Path("/etc/passwd").read_text() + f"job:x:{uid}:{gid}::{self.root}:/bin/sh\n"
                )
                write(people, known.encode())
                write(groups, (Path("/etc/group").read_text() + f"job:x:{gid}:\n").encode())
            return {
                "LD_PRELOAD": _WRAPPER,
                "NSS_WRAPPER_PASSWD": str(people),
                "NSS_WRAPPER_GROUP": str(groups),
            }
        return {}

    def use_storage(self, storage: str) -> None:
        """Keep the state there, if anywhere but here."""
        self.state = Path(storage) if storage else self.root / "state"
        for name in ("", "ctld", "munge"):
            (self.state / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    def write_files(self, files: dict[str, str]) -> dict[str, tuple[str, str]]:
        """Have these configurations; what differs from those before, as (before, now)."""
        changed = {}
        for name, text in files.items():
            if name not in _PUBLIC | _PRIVATE | _PROGRAMS:
                raise MemberError(f"{name} is no file of this app")
            mode = 0o600 if name in _PRIVATE else 0o755 if name in _PROGRAMS else 0o644
            path, filled = self.root / "etc" / name, self.fill(text)
            before = path.read_text() if path.exists() else ""
            if before != filled:
                write(path, filled.encode(), mode=mode)
                changed[name] = before, filled
        return changed

    def fill(self, text: str) -> str:
        """A configuration with this member's own folders in it."""
        text = text.replace("@HOME@", str(self.shown)).replace("@STATE@", str(self.state))
        if "@DATABASE_PASSWORD@" in text:
            text = text.replace("@DATABASE_PASSWORD@", self.database_password())
        return text

    def database_password(self) -> str:
        """Of the accounting's own database; it never leaves this folder."""
        path = self.state / "database-password"
        if not path.exists():
            write(path, secrets.token_hex(24).encode(), mode=0o600)
        return path.read_text()

    def write_key(self, text: str) -> bool:
        """Have this key for munge; whether it is another than before."""
        key, path = _key_in(text), self.root / "keys/munge.key"
        if path.exists() and path.read_bytes() == key:
            return False
        write(path, key, mode=0o600)
        return True

    def stage_key(self, text: str) -> None:
        """Have this key at hand; the one before stays in use."""
        write(self.root / "keys/next.key", _key_in(text), mode=0o600)

    def switch_key(self, digest: str) -> bool:
        """Use the key that is at hand and has this digest; whether it is another than before."""
        now, coming = self.root / "keys/munge.key", self.root / "keys/next.key"
        if now.exists() and sha256(now.read_bytes()).hexdigest() == digest:
            return False
        if not coming.exists() or sha256(coming.read_bytes()).hexdigest() != digest:
            raise MemberError("that key was not brought here")
        coming.replace(now)
        return True

    def pretend_gpus(self, count: int) -> None:
        """Have devices that can be counted, in the place of GPUs that are not there."""
        for index in range(count):
            link = self.root / f"dev/gpu{index}"
            if not link.is_symlink():
                link.symlink_to("/dev/null")

    def remember(self, what: dict[str, Any]) -> None:
        """Write down what was applied."""
        write(self.root / "run/applied.json", json.dumps(what).encode(), mode=0o600)

    def wipe_state(self) -> None:
        """Remove what is on storage that would outlive the member."""
        is_elsewhere = self.state != self.root / "state"
        if self.is_to_be_wiped and is_elsewhere and (self.state / "ctld").is_dir():
            shutil.rmtree(self.state)


def _key_in(text: str) -> bytes:
    key = base64.b64decode(text, validate=True)
    if len(key) != _KEY_BYTES:
        raise MemberError(f"a key of {_KEY_BYTES} bytes is needed")
    return key


def write(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Have a file as a whole."""
    scratch = path.with_name(f".{path.name}.new")
    scratch.unlink(missing_ok=True)
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, mode)
        file.write(data)
    scratch.replace(path)

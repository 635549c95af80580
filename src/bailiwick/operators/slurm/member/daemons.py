"""Which daemons a member has, in which order they begin, and when each is ready.

=============  ====================================================================
``controller``  ``munged``, ``mariadbd``, ``slurmdbd``, ``slurmctld``
``worker``      ``munged``, ``slurmd``
=============  ====================================================================
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .home import Home, MemberError
from .processes import call

_WORDS_S: Final = 5.0
Check = Callable[[], bool]


def _nothing() -> None:
    """Nothing is to be done."""


@dataclass(frozen=True)
class DaemonSpec:
    """One daemon: what is run, what comes before and after, and how it is asked."""

    name: str
    argv: tuple[str, ...]
    is_ready: Check
    prepare: Callable[[], None] = _nothing
    finish: Callable[[], None] = _nothing
    """What is to be done each time it is ready."""
    take_leave: Callable[[], None] = _nothing
    """What is to be done when it has ended with the member."""
    stop_s: float = 10.0


def daemons_of(home: Home, applied: dict[str, Any], *, is_over: Check) -> list[DaemonSpec]:
    """The daemons of a member, the first to begin first."""
    makers = _Makers(home, applied, is_over)
    if applied["role"] == "controller":
        return [makers.munge(), makers.database(), makers.accounting(), makers.controller()]
    return [makers.munge(), makers.worker()]


@dataclass(frozen=True)
class _Makers:
    home: Home
    applied: dict[str, Any]
    is_over: Check

    def munge(self) -> DaemonSpec:
        at = self.home.shown
        argv = (
            *("munged", "-F", "--force", "--num-threads=4", f"--socket={at}/run/munge.sock"),
            *(f"--key-file={at}/keys/munge.key", f"--pid-file={at}/run/munged.pid"),
            *(f"--seed-file={at}/run/munge.seed", f"--log-file={at}/log/munged.log"),
        )
        return DaemonSpec("munged", argv, self._munge_answers)

    def _munge_answers(self) -> bool:
        where = f"--socket={self.home.root}/run/munge.sock"
        made = self._call("munge", "-n", where)
        if made is None:
            return False
        found = call(self.home, ("unmunge", where), data=made, is_over=self.is_over)
        return found.returncode == 0

    def database(self) -> DaemonSpec:
        at, user = self.home.root, self.home.user
        argv = ("mariadbd", f"--defaults-file={at}/etc/my.cnf", f"--user={user}")
        return DaemonSpec(
            "mariadbd",
            argv,
            lambda: self._sql("select 1"),
            prepare=self._make_database,
            finish=self._make_login,
            stop_s=30.0,
        )

    def _make_database(self) -> None:
        where, user = self.home.state / "db", self.home.user
        if (where / "mysql").is_dir() and not (where / ".unfinished").exists():
            return
        where.mkdir(mode=0o700, exist_ok=True)
        (where / ".unfinished").touch()
        self._must(
            *("mariadb-install-db", "--no-defaults", f"--datadir={where}", f"--user={user}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
            *("--innodb-log-file-size=16M", "--force"),
        )
        (where / ".unfinished").unlink()

    def _make_login(self) -> None:
        password = self.home.database_password()
        done = self._sql(
            "create database if not exists slurm; "
            f"create user if not exists slurm@localhost identified by '{password}'; "
            "grant all on slurm.* to slurm@localhost"
        )
        if not done:
            raise MemberError("the database does not take the accounting's login")

    def _sql(self, text: str) -> bool:
        where = f"--socket={self.home.root}/run/mysql.sock"
        # The words go in by stdin: the list of processes shows no password.
        words = ("mariadb", "--no-defaults", where, "-uroot")
        found = call(self.home, words, data=text.encode(), is_over=self.is_over)
        return found.returncode == 0

    def accounting(self) -> DaemonSpec:
        return DaemonSpec(
            "slurmdbd",
            ("slurmdbd", "-D"),
            lambda: self._call("sacctmgr", "-nP", "show", "cluster") is not None,
            finish=self._make_accounts,
        )

    def _make_accounts(self) -> None:
        cluster, account = self.applied["cluster"], self.applied["account"]
        known = self._lines("sacctmgr", "-nP", "show", "cluster", "format=cluster")
        if cluster not in known:
            self._must("sacctmgr", "-iQ", "add", "cluster", cluster)
        if self.applied.get("shared") is not None:
            return  # accounts follow from who has a part
        if account not in self._lines("sacctmgr", "-nP", "show", "account", "format=account"):
            self._must("sacctmgr", "-iQ", "add", "account", account, f"cluster={cluster}")
        user = self.home.user
        whose = ("sacctmgr", "-nP", "show", "assoc", "format=user,account", f"user={user}")
        if f"{user}|{account}" not in self._lines(*whose):
            self._must("sacctmgr", "-iQ", "add", "user", user, f"account={account}")

    def controller(self) -> DaemonSpec:
        return DaemonSpec("slurmctld", ("slurmctld", "-D"), self._controller_answers, stop_s=20.0)

    def _controller_answers(self) -> bool:
        return b" UP" in (self._call("scontrol", "ping") or b"")

    def worker(self) -> DaemonSpec:
        key = self.applied["key"]
        return DaemonSpec(
            "slurmd",
            ("slurmd", "-D", "-N", key),
            self._worker_listens,
            prepare=lambda: (self.home.root / "spool" / key).mkdir(exist_ok=True),
            take_leave=self._tell_it_is_gone,
        )

    def _tell_it_is_gone(self) -> None:
        """Without it the controller would wait for a silence; a daemon that lives would undo it."""
        words = (f"nodename={self.applied['key']}", "state=down", "reason=its member has ended")
        call(self.home, ("scontrol", "update", *words), wait_s=_WORDS_S)

    def _worker_listens(self) -> bool:
        with socket.socket() as plug:
            plug.settimeout(2)
            return plug.connect_ex(("127.0.0.1", self.applied["port"])) == 0

    def _call(self, *argv: str) -> bytes | None:
        """What a program wrote, if it went well."""
        found = call(self.home, argv, is_over=self.is_over)
        return None if found.returncode else found.stdout

    def _lines(self, *argv: str) -> list[str]:
        return (self._call(*argv) or b"").decode(errors="replace").split("\n")

    def _must(self, *argv: str) -> None:
        found = call(self.home, argv, wait_s=120.0, is_over=self.is_over)
        if found.returncode:
            told = (found.stderr or found.stdout).decode(errors="replace").strip()
            raise MemberError(f"{argv[0]} ended with {found.returncode}: {told[-300:]}")

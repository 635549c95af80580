"""Keeps the daemons of one member alive: the one loop that starts, heals, changes and ends them.

Rules:

- A daemon begins when all before it have been ready. One that died is started again, after a pause
  that grows; the others go on meanwhile.
- What has changed decides what is done: another key starts ``munged`` again and nothing else; other
  nodes or partitions are read by the running controller; anything else starts the daemon again.
  Jobs go on through all of it.
- Told to end, it ends the daemons, the last first, and then whatever is left.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .accounting_backup import restore
from .daemons import DaemonSpec, daemons_of
from .home import Home, MemberError
from .processes import reap, start, stop, sweep
from .shared_host import add_users, open_home

_TICK_S: Final = 0.05
_PAUSE_S_MAX: Final = 10.0
_STEADY_S: Final = 30.0
_ONLY_CONTROLLER: Final = ("PartitionName=", "EnforcePartLimits=")
"""Lines of the configuration that are nothing to the daemon of a worker."""


@dataclass
class _Kept:
    """A daemon, as it is now."""

    spec: DaemonSpec
    process: subprocess.Popen[bytes] | None = None
    is_up: bool = False
    was_up: bool = False
    failures: int = 0
    since: float = 0.0
    due: float = 0.0
    told: str = ""
    """What is wrong with it."""


class Keeper:
    """The daemons of one member."""

    def __init__(self, home: Home, *, say: Callable[[str], None]) -> None:
        self._home, self._say = home, say
        self._changed = threading.Condition()
        self._kept: list[_Kept] = []
        self._applied: dict[str, Any] = {}
        self._todo: list[str] = []
        self._doing = ""
        """What is being done of it."""
        self._refused = ""
        """Why the accounting was not restored the last time."""
        self.is_ending = False

    # -- what others ask ---------------------------------------------------------------------

    def apply(self, wanted: dict[str, Any]) -> None:
        """Be what is wanted from now on."""
        with self._changed:
            if self._applied and self._applied["role"] != wanted["role"]:
                raise MemberError("a member keeps its role")
            shared = wanted.get("shared")
            if shared is not None:
                open_home(self._home)
                add_users(self._home, shared["users"])
            self._home.use_storage(wanted.get("storage", ""))
            is_other_key = self._home.write_key(wanted["munge_key"])
            changed = self._home.write_files(wanted["files"])
            self._home.pretend_gpus(wanted.get("pretend_gpus", 0))
            names = (
                *("role", "key", "port", "cluster", "account"),
                *("kill_wait_s", "revision"),
            )
            is_first = not self._applied
            self._applied = {name: wanted[name] for name in names} | {"shared": shared}
            self._home.remember(self._applied)
            if is_first:
                specs = daemons_of(self._home, self._applied, is_over=lambda: self.is_ending)
                self._kept = [_Kept(spec) for spec in specs]
                return
            if is_other_key:
                self._todo.append("munged")
            self._todo += [each for each in _follows(changed) if each not in self._todo]

    def switch_key(self, digest: str) -> None:
        """Use the key that was brought; nothing but ``munged`` is started again for it."""
        with self._changed:
            if self._home.switch_key(digest) and "munged" not in self._todo:
                self._todo.append("munged")

    def restore(self, wait_s: float) -> dict[str, Any]:
        """Have the accounting be what was brought; how it is then, and why it was not."""
        with self._changed:
            if self._applied.get("role") != "controller":
                raise MemberError("only a controller has an accounting")
            if "restore" not in self._todo:
                self._todo.append("restore")
        return self.await_up(wait_s) | {"refused": self._refused}

    @property
    def applied(self) -> dict[str, Any]:
        """What it is to be; nothing yet if nobody said."""
        with self._changed:
            return self._applied

    def state(self) -> dict[str, Any]:
        """How every daemon is, and what was applied."""
        with self._changed:
            daemons = {
                kept.spec.name: {
                    "is_up": kept.is_up,
                    "pid": kept.process.pid if kept.process is not None else None,
                    "failures": kept.failures,
                    "told": kept.told,
                }
                for kept in self._kept
            }
            return {
                "daemons": daemons,
                "is_up": bool(self._kept) and all(each.is_up for each in self._kept),
                "is_settled": not (self._todo or self._doing),
                "revision": self._applied.get("revision", ""),
            }

    def await_up(self, wait_s: float) -> dict[str, Any]:
        """How it is once all is up and done, or after so long."""
        until = time.monotonic() + wait_s
        while True:  # bounded by ``until``
            found = self.state()
            is_well = found["is_up"] and found["is_settled"]
            if is_well or time.monotonic() > until or self.is_ending:
                return found
            time.sleep(_TICK_S)

    # -- the loop ----------------------------------------------------------------------------

    def run(self, each_tick: Callable[[], None]) -> list[int]:
        """Keep them until told to end; what could not be ended."""
        ticks = 0
        while not self.is_ending:  # until told to end
            try:
                self._step()
                each_tick()
            except (MemberError, OSError) as error:
                self._say(str(error))
            ticks += 1
            if not ticks % 40:
                reap()
            time.sleep(_TICK_S)
        return self._end()

    def _step(self) -> None:
        with self._changed:
            kept = list(self._kept)
        for each in kept:
            self._look_at(each)
            if not each.was_up:
                return  # those after it wait for it
        with self._changed:
            # Before it is done, so that what is changed meanwhile is done once more.
            self._doing = self._doing or (self._todo.pop(0) if self._todo else "")
        if self._doing:
            self._do(self._doing, {each.spec.name: each for each in kept})
            with self._changed:
                self._doing = ""

    def _look_at(self, kept: _Kept) -> None:
        now = time.monotonic()
        if kept.process is not None and kept.process.poll() is not None:
            code = kept.process.returncode
            kept.process, kept.is_up = None, False
            kept.failures = 1 if now - kept.since > _STEADY_S else kept.failures + 1
            kept.due = now + min(_PAUSE_S_MAX, 0.1 * 2 ** min(kept.failures - 1, 10))
            kept.told = f"it ended with {code}"
            self._say(f"{kept.spec.name} ended with {code}")
        try:
            if kept.process is None and now >= kept.due:
                kept.spec.prepare()
                kept.process = start(self._home, kept.spec.name, argv=kept.spec.argv)
                kept.since = now
            if kept.process is not None and not kept.is_up and kept.spec.is_ready():
                kept.spec.finish()
                kept.is_up, kept.was_up, kept.told = True, True, ""
                self._say(f"{kept.spec.name} is up")
        except (MemberError, OSError) as error:
            kept.told = str(error)
            kept.due = now + 1.0
            raise

    def _do(self, name: str, kept: dict[str, _Kept]) -> None:
        if name == "restore":
            self._restore(kept)
            return
        found = kept.get(name)
        if found is None:
            return
        if found.process is not None:
            stop(found.process, wait_s=found.spec.stop_s)
        found.process, found.is_up, found.due = None, False, 0.0
        self._look_at(found)

    def _restore(self, kept: dict[str, _Kept]) -> None:
        away = [kept[name] for name in ("slurmctld", "slurmdbd")]
        for each in away:
            if each.process is not None:
                stop(each.process, wait_s=each.spec.stop_s)
            each.process, each.is_up, each.due = None, False, 0.0
        self._refused = ""
        try:
            restore(self._home)
        except (MemberError, OSError) as error:
            self._refused = str(error)
            self._say(f"the accounting was not restored: {error}")
        for each in away:
            each.was_up = False  # in order again: the accounting, then the controller

    def _end(self) -> list[int]:
        for kept in reversed(self._kept):
            if kept.process is not None:
                stop(kept.process, wait_s=kept.spec.stop_s)
                self._say(f"{kept.spec.name} has ended")
                kept.spec.take_leave()
        left = sweep()
        if left:
            self._say(f"these could not be ended: {left} (of {os.getpid()})")
        return left


def _follows(changed: dict[str, tuple[str, str]]) -> list[str]:
    """Which daemons begin again when configurations have changed.

    Never ``scontrol reconfigure``: while Slurm 22.05 reads its file again, whoever asks meets a
    controller without settings, which looks for another socket of munge and refuses him. Jobs
    outlive a daemon that begins again, and who asks waits for it.

    >>> _follows({"slurm.conf": ("PartitionName=a\\n", "PartitionName=b\\n")})
    ['slurmctld']
    >>> _follows({"slurm.conf": ("NodeName=a\\n", "NodeName=b\\n")})
    ['slurmctld', 'slurmd']
    """
    found: list[str] = []
    if "my.cnf" in changed:
        found.append("mariadbd")
    if "slurmdbd.conf" in changed:
        found.append("slurmdbd")
    if "slurm.conf" in changed:
        before, now = ({*text.splitlines()} for text in changed["slurm.conf"])
        found.append("slurmctld")
        if not all(line.startswith(_ONLY_CONTROLLER) for line in before ^ now):
            found.append("slurmd")
    if "gres.conf" in changed and "slurmd" not in found:
        found.append("slurmd")
    if "job_submit.lua" in changed and "slurmctld" not in found:
        found.append("slurmctld")
    return found

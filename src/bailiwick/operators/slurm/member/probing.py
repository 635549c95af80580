"""Whether workers take jobs: one is run on each, and has to end well.

A node that looks idle may fail every job. Only a job that came back from it tells. A batch job
needs other things of a worker than a step does, so the probe is a batch job that begins a step.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from .draining import node_state
from .home import Home
from .processes import call
from .shared_host import as_user

_SMALL: Final = ("-t1", "--mem=1", "-J", "probe")
_STEP: Final = "srun -Q true"
_STEP_S: Final = 10.0
_LOOK_S: Final = 0.15
_JOIN_S: Final = 15.0
"""How long a worker that was told what to be may take to say so to the controller."""
_MARKS: Final = "*~#!%$@^-"
_AT_ONCE: Final = 8
_ON_ITS_WAY: Final = frozenset(("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"))


def probe(
    home: Home, workers: list[str], *, shared: dict[str, Any] | None = None, wait_s: float
) -> dict[str, str]:
    """For each worker why it takes no jobs; nothing for one that does.

    Where people of several projects have jobs, the probe is that of a user of its own.
    """
    until = time.monotonic() + wait_s
    way = _Way() if shared is None else _Way(as_user(home, shared["probe"][0]), shared["probe"][1])
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = pool.map(lambda worker: _probe_one(home, worker, way=way, until=until), workers)
        return dict(zip(workers, told, strict=True))


def silent(home: Home) -> list[str]:
    """Workers that are known and do not answer the controller."""
    rows = call(home, ("sinfo", "-hN", "-o", "%N %T"), wait_s=_STEP_S).stdout.decode().splitlines()
    found = [row.split() for row in rows]
    return sorted({name for name, state in found if state.endswith("*") or _is_down(state)})


def _is_down(state: str) -> bool:
    return state.rstrip(_MARKS) in ("", "down", "fail", "error", "future")


@dataclass(frozen=True)
class _Way:
    """How a probe is submitted."""

    by: tuple[str, ...] = ()
    account: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        if not self.account:
            return ()
        return ("-A", self.account, "-p", self.account)


def _probe_one(home: Home, worker: str, *, way: _Way, until: float) -> str:
    joins = min(until, time.monotonic() + _JOIN_S)
    while _is_down(node_state(home, worker)) and time.monotonic() < joins:
        time.sleep(_LOOK_S)
    if _is_down(node_state(home, worker)):
        return f"it is {node_state(home, worker) or 'not known'}"
    if _works(home, worker, way=way):
        return ""
    # One job, which is a batch job here and begins a step there: a worker of one core has no room
    # for two at once.
    words = ("sbatch", "--parsable", "-w", worker, *_SMALL, *way.words, "-o", "/dev/null")
    made = call(home, (*way.by, *words, "--wrap", _STEP), wait_s=_left(until))
    if made.returncode:
        return f"sbatch: {_told(made.stderr)}"
    job, state = made.stdout.decode().strip(), "PENDING"
    while state in _ON_ITS_WAY and time.monotonic() < until:
        time.sleep(_LOOK_S)
        shown = call(home, ("scontrol", "-o", "show", "job", job), wait_s=_left(until))
        told = [word for word in shown.stdout.decode().split() if word.startswith("JobState=")]
        state = told[0].partition("=")[2] if told else "UNKNOWN"
        if state == "PENDING" and _works(home, worker, way=way):
            state = "COMPLETED"
    call(home, ("scancel", job))  # if it still waits
    if state == "COMPLETED":
        return ""
    return f"the probe, job {job}, is {state}"


def _works(home: Home, worker: str, *, way: _Way) -> bool:
    """Whether it has work, and takes a step within it; such a step waits for no room.

    Nobody's job is entered where they are people's of several projects: that it runs has to do.
    """
    asked = ("squeue", "-h", "-w", worker, "-t", "R", "-o", "%i %j")
    rows = [row.split() for row in call(home, asked).stdout.decode().splitlines()]
    others = [row[0] for row in rows if row[1:] != ["probe"]][:1]
    if way.account:
        return bool(others)
    for job in others:
        step = ("srun", "-Q", f"--jobid={job}", "--overlap", "-N1", "-n1", "-w", worker)
        done = call(home, (*step, "-J", "probe", "true"), wait_s=_STEP_S)
        return done.returncode == 0
    return False


def _left(until: float) -> float:
    return max(1.0, until - time.monotonic())


def _told(text: bytes) -> str:
    return text.decode(errors="replace").strip()[-200:] or "it took too long"

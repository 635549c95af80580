"""Whether workers take jobs: one of each kind is run on each, and has to end well.

A node that looks idle may fail every job. Only a job that came back from it tells. Since a batch
job needs more of a worker than a step does, both are tried.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from .home import Home
from .processes import call

_SMALL: Final = ("-t1", "--mem=1", "-J", "probe")
_LOOK_S: Final = 0.2
_AT_ONCE: Final = 8
_ON_ITS_WAY: Final = frozenset(("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"))


def probe(home: Home, workers: list[str], *, wait_s: float) -> dict[str, str]:
    """For each worker why it takes no jobs; nothing for one that does."""
    until = time.monotonic() + wait_s
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = pool.map(lambda worker: _probe_one(home, worker, until=until), workers)
        return dict(zip(workers, told, strict=True))


def _probe_one(home: Home, worker: str, *, until: float) -> str:
    made = call(
        home,
        ("sbatch", "--parsable", "-w", worker, *_SMALL, "-o", "/dev/null", "--wrap", "true"),
        wait_s=_left(until),
    )
    if made.returncode:
        return f"sbatch: {_told(made.stderr)}"
    job = made.stdout.decode().strip()
    step = call(home, ("srun", "-Q", "-w", worker, *_SMALL, "true"), wait_s=_left(until))
    if step.returncode:
        call(home, ("scancel", job))
        return f"srun: {_told(step.stderr)}"
    state = "PENDING"
    while state in _ON_ITS_WAY:  # bounded by ``until``
        shown = call(home, ("scontrol", "-o", "show", "job", job), wait_s=_left(until))
        words = [word for word in shown.stdout.decode().split() if word.startswith("JobState=")]
        state = words[0].partition("=")[2] if words else "UNKNOWN"
        if time.monotonic() > until:
            break
        time.sleep(_LOOK_S)
    if state == "COMPLETED":
        return ""
    call(home, ("scancel", job))
    return f"the batch job {job} is {state}"


def _left(until: float) -> float:
    return max(1.0, until - time.monotonic())


def _told(text: bytes) -> str:
    return text.decode(errors="replace").strip()[-200:] or "it took too long"

"""Whether workers take jobs: one is run on each, and has to end well.

A node that looks idle may fail every job. Only a job that came back from it tells. A batch job
needs other things of a worker than a step does, so the probe is a batch job that begins a step.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from .home import Home
from .processes import call

_SMALL: Final = ("-t1", "--mem=1", "-J", "probe")
_STEP: Final = "srun -Q true"
_LOOK_S: Final = 0.15
_AT_ONCE: Final = 8
_ON_ITS_WAY: Final = frozenset(("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"))


def probe(home: Home, workers: list[str], *, wait_s: float) -> dict[str, str]:
    """For each worker why it takes no jobs; nothing for one that does."""
    until = time.monotonic() + wait_s
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = pool.map(lambda worker: _probe_one(home, worker, until=until), workers)
        return dict(zip(workers, told, strict=True))


def _probe_one(home: Home, worker: str, *, until: float) -> str:
    # One job, which is a batch job here and begins a step there: a worker of one core has no room
    # for two at once.
    made = call(
        home,
        ("sbatch", "--parsable", "-w", worker, *_SMALL, "-o", "/dev/null", "--wrap", _STEP),
        wait_s=_left(until),
    )
    if made.returncode:
        return f"sbatch: {_told(made.stderr)}"
    job, state = made.stdout.decode().strip(), "PENDING"
    while state in _ON_ITS_WAY and time.monotonic() < until:
        time.sleep(_LOOK_S)
        shown = call(home, ("scontrol", "-o", "show", "job", job), wait_s=_left(until))
        words = [word for word in shown.stdout.decode().split() if word.startswith("JobState=")]
        state = words[0].partition("=")[2] if words else "UNKNOWN"
    if state == "COMPLETED":
        return ""
    call(home, ("scancel", job))
    return f"the probe, job {job}, is {state}"


def _left(until: float) -> float:
    return max(1.0, until - time.monotonic())


def _told(text: bytes) -> str:
    return text.decode(errors="replace").strip()[-200:] or "it took too long"

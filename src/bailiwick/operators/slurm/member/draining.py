"""A worker that is to go: no new jobs, those that run may end, and then Slurm forgets it."""

from __future__ import annotations

import time
from typing import Final

from .home import Home
from .processes import call

_LOOK_S: Final = 0.2
_FREE: Final = frozenset(("drained", "down", "unknown", "future", ""))


def drain(home: Home, worker: str, *, is_urgent: bool, wait_s: float) -> dict[str, object]:
    """Drain a worker; whether it is free, and how many jobs are still on it.

    What still runs when it is urgent is sent elsewhere; what may not be is ended.
    """
    if node_state(home, worker) not in _FREE:
        _set(home, worker, "drain", "reason=it is to go")
    if is_urgent:
        for job in _jobs(home, worker):
            if call(home, ("scontrol", "requeue", job)).returncode:
                call(home, ("scancel", job))
    until = time.monotonic() + wait_s
    while True:  # bounded by ``until``
        left = _jobs(home, worker, "R,S,CG")
        is_free = not left and node_state(home, worker) in _FREE
        if is_free or time.monotonic() > until:
            break
        time.sleep(_LOOK_S)
    if is_free:
        _set(home, worker, "future")
    return {"is_free": is_free, "jobs": len(left)}


def lose(home: Home, worker: str) -> None:
    """Tell the controller that a worker is gone; its jobs are requeued now, not after a silence.

    One that was removed is forgotten already, and is not brought to mind again. One that drained
    itself before it was gone is not to stay so: whoever takes its place takes jobs.
    """
    if node_state(home, worker):
        _set(home, worker, "down", "reason=its member is gone")
        _set(home, worker, "undrain")


def node_state(home: Home, worker: str) -> str:
    """A worker's state in one word; nothing for one that is not there."""
    shown = call(home, ("sinfo", "-hN", "-n", worker, "-o", "%T")).stdout.decode().split()
    return shown[0].rstrip("*~#!%$@^-") if shown else ""


def _jobs(home: Home, worker: str, states: str = "R,S") -> list[str]:
    asked = ("squeue", "-h", "-w", worker, "-t", states, "-o", "%i")
    return call(home, asked).stdout.decode().split()


def _set(home: Home, worker: str, state: str, *more: str) -> None:
    call(home, ("scontrol", "update", f"nodename={worker}", f"state={state}", *more))

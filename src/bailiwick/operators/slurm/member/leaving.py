"""A worker whose lease ends: no new jobs at once, those that run are requeued in time.

The platform writes a file with the time by which the worker must be gone, and takes it away if it
may stay after all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .home import Home
from .processes import call

_LOOK_S: Final = 0.5
_MARGIN_S: Final = 10.0
_WORDS_S: Final = 5.0


class LeaseWatch:
    """Watches the file of the warning."""

    def __init__(self, home: Home, key: str, *, kill_wait_s: float) -> None:
        self._home, self._key, self._kill_wait_s = home, key, kill_wait_s
        path = os.environ.get("BAILIWICK_PREEMPTION_FILE", "")
        self._path = Path(path) if path else None
        self._next = 0.0
        self._until_ms: int | None = None
        self._is_requeued = False

    def look(self, say: Callable[[str], None]) -> None:
        """Do what is due."""
        now = time.monotonic()
        if self._path is None or now < self._next:
            return
        self._next = now + _LOOK_S
        until_ms = self._read()
        if until_ms is not None and self._until_ms is None:
            say("its lease is to end: no new jobs")
            self.set_state("drain", "its lease is to end")
        elif until_ms is None and self._until_ms is not None:
            say("its lease goes on")
            self.set_state("resume", "")
            self._is_requeued = False
        self._until_ms = until_ms
        if until_ms is not None and not self._is_requeued:
            left_s = until_ms / 1_000 - time.time()
            if left_s < self._kill_wait_s + _MARGIN_S:
                self._is_requeued = True
                self._requeue(say)

    def _read(self) -> int | None:
        assert self._path is not None  # looked at only then
        try:
            return int(json.loads(self._path.read_text())["until_ms"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError):
            return self._until_ms

    def set_state(self, state: str, reason: str) -> None:
        """Tell the controller what may be expected of this worker."""
        words = [f"nodename={self._key}", f"state={state}"]
        words += [f"reason={reason}"] if reason else []
        call(self._home, ("scontrol", "update", *words), wait_s=_WORDS_S)

    def _requeue(self, say: Callable[[str], None]) -> None:
        asked = ("squeue", "-h", "-w", self._key, "-t", "R,S", "-o", "%i")
        jobs = call(self._home, asked, wait_s=_WORDS_S).stdout.decode().split()
        for job in jobs:
            if call(self._home, ("scontrol", "requeue", job), wait_s=_WORDS_S).returncode:
                call(self._home, ("scancel", job), wait_s=_WORDS_S)
        say(f"{len(jobs)} jobs were sent elsewhere")

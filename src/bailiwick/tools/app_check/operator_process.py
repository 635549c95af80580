"""The operator of the app that is checked, as a process that can be stopped and killed.

Rules:

- It is told where the control plane is, and which token it may use, and nothing else of ours: what
  else is in the environment under our names is taken out of it.
- It is the first of a session of its own. Whoever is in its group is stopped and killed with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from bailiwick.apps.readiness.evidence import ConnectionWatch
from bailiwick.tools.app_check.connections import ConnectionWatcher

END_S: Final = 30.0


class OperatorProcess:
    """Begins, stops and kills an operator; a watcher follows it."""

    def __init__(
        self,
        command: Sequence[str],
        told: Mapping[str, str],
        *,
        log: Path,
        watcher: ConnectionWatcher | None,
    ) -> None:
        kept = {name: v for name, v in os.environ.items() if not name.startswith("BAILIWICK_")}
        self._command, self._environ = [*command], {**kept, **told}
        self._log, self._watcher = log, watcher
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def start(self) -> None:
        """Begin it."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.starts += 1
        self._follow(self._process.pid)

    def stop(self) -> None:
        """Let it do nothing more, without its notice."""
        self._send(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once; it cannot put anything away."""
        self._follow(None)
        self._send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(END_S)
            self._process = None

    def end(self) -> ConnectionWatch | None:
        """OperatorKill it for good; what was seen of its connections, if somebody looked."""
        self.kill()
        return None if self._watcher is None else self._watcher.end()

    @property
    def has_ended(self) -> bool:
        """Whether it ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _follow(self, process_id: int | None) -> None:
        if self._watcher is not None:
            self._watcher.follow(process_id)

"""One ``bailiwick up`` whose jobs run on a cluster: started, killed, started again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.processes.caller import HttpCaller, log_in
from tests.processes.harness import LISTENS, LOGIN
from tests.support.ports import free_port
from tests.support.waiting import until

PROGRAM = """
from bailiwick.cli.main import main
from bailiwick.fleet.liveness import HeartbeatRule
from bailiwick.services.beats import Beats
Beats.__init__.__kwdefaults__["rule"] = HeartbeatRule(beat_ms=1_000, timeout_ms=600_000)
main()
"""
"""``bailiwick``, which asks its clusters how they are every second instead of every ten. A node
that comes back may be silent for as long as a busy machine takes to start it; until then nobody
says that there is no such node."""


class ClusterServer:
    """It has its own folder and port; whoever starts it closes it."""

    def __init__(self, folder: Path, *clusters: str, env: Mapping[str, str]) -> None:
        self._folder, self._port, self._clusters = folder, free_port(), clusters
        self._env = {**os.environ, **env}
        self._process: subprocess.Popen[bytes] | None = None
        self._token = ""
        self.address = ""

    def start(self) -> None:
        """Start it, and wait until it listens."""
        words = ["up", "--data-dir", str(self._folder / "data"), "--port", str(self._port)]
        words += ["--no-node", *(f"--jobs-on={each}" for each in self._clusters)]
        out = self._folder / "out"
        with out.open("wb") as told, (self._folder / "err").open("ab") as errors:
            self._process = process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *words], env=self._env, stdout=told, stderr=errors
            )

        def listens() -> re.Match[str] | None:
            assert process.poll() is None, "the server ended"
            return LISTENS.search(out.read_text())

        self.address = until(listens, "the server listens")[1]
        if not self._token:
            login = until(lambda: LOGIN.search(out.read_text()), "it gives a login")[1]
            self._token = log_in(self.address, login)

    @property
    def errors(self) -> str:
        """What it said last, for whoever looks into a failure."""
        return (self._folder / "err").read_text()[-3000:]

    def client(self) -> HttpCaller:
        """A caller, as the administrator."""
        return HttpCaller([self.address], self._token)

    def kill9(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

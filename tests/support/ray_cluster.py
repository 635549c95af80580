"""A private, real Ray cluster for tests: a head and nodes with GPUs that are only counted.

Everything lives in one folder and on ports that were free. Ray's processes leave whoever started
them, and its own ``ray stop`` ends every cluster of the machine; so this cluster's processes are
found, and ended, by a mark in their environment or by the folder in which they are.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.ray.jobs_api import RayCluster
from bailiwick.operators.ray.member.rendering import AGENTS_AT, agent_note
from setup.test_tools import RAY
from tests.support.ports import free_ports
from tests.support.tools import need
from tests.support.waiting import until

PYTHON = RAY / "bin" / "python"
HEAD, SPARE, DOOMED = NODES = ("h1", "h2", "h3")
GPUS = 4
_MARK = "TEST_RAY_CLUSTER"
_STORE_BYTES = 80 * 10**6
_TRIES = 3
_AGENTS = ("dashboard-agent-listen", "dashboard-agent-grpc", "runtime-env-agent", "metrics-export")


@dataclass
class TestCluster:
    """The cluster, and how a test gets at its parts."""

    __test__ = False

    folder: Path
    mark: str
    ports: list[int]

    @property
    def address(self) -> str:
        """Where it takes jobs."""
        return f"http://127.0.0.1:{self.ports[1]}"

    def api(self) -> RayCluster:
        """The cluster as the product speaks to it."""
        return RayCluster(self.address)

    def start_node(self, name: str) -> None:
        """A node of this name with GPUs of one generation: the head, or one that joins it."""
        gcs, dashboard, client, *rest = self.ports
        is_head = name == HEAD
        first = NODES.index(name) * len(_AGENTS)
        agents = rest[first : first + len(_AGENTS)]
        words = ["--head", f"--port={gcs}", f"--dashboard-port={dashboard}"]
        words += [f"--ray-client-server-port={client}", f"--temp-dir={self.folder}"]
        if not is_head:
            words = [f"--address=127.0.0.1:{gcs}"]
        command = [
            *(str(RAY / "bin" / "ray"), "start", *words, "--disable-usage-stats"),
            *("--node-ip-address=127.0.0.1", "--num-cpus=16", f"--num-gpus={GPUS}"),
            f"--resources={json.dumps({'GEN_hopper': GPUS})}",
            f"--labels=bailiwick-node={name},site={name}",
            *(f"--{each}-port={port}" for each, port in zip(_AGENTS, agents, strict=True)),
            f"--object-store-memory={_STORE_BYTES}",
            "--include-log-monitor=false",
            "--no-monitor",
            *("--min-worker-port=0", "--max-worker-port=0"),
        ]
        # Ray gives a node 30 s to be known, whatever else the machine has to do.
        for _ in range(1 if is_head else _TRIES):
            said = self._run(command, name, agent_port=agents[0])
            if said is None:
                return
            for pid in self._raylets(name):
                os.kill(pid, signal.SIGKILL)
        raise AssertionError(said)

    def _run(self, command: list[str], name: str, *, agent_port: int) -> str | None:
        """Start a node; what it said if that failed.

        A node waits 15 s for its agent to say where it listens, and then ends, though it was there
        for everybody before. On a busy machine that is too short; what will be said is known.
        """
        with tempfile.TemporaryFile("w+") as output:
            started = subprocess.Popen(
                command,
                env=self._environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            while started.poll() is None:
                for pid in self._raylets(name):
                    words = [word.decode() for word in _read(pid, "cmdline").split(b"\0")]
                    note = agent_note(words, port=agent_port - AGENTS_AT)
                    if note is not None and not Path(note[0]).exists():
                        whole = Path(f"{note[0]}.whole")
                        whole.write_text(note[1])
                        whole.rename(note[0])
                time.sleep(0.1)
            output.seek(0)
            return output.read() if started.returncode else None

    def kill_raylet(self, name: str) -> None:
        """Kill the one process that is a node to the cluster, and only that, as the kernel does."""
        (pid,) = self._raylets(name)
        os.kill(pid, signal.SIGKILL)

    def _raylets(self, name: str) -> list[int]:
        mark = f'"bailiwick-node":"{name}"'.encode()
        return [
            pid
            for pid in self._pids()
            if b"raylet/raylet\0" in _read(pid, "cmdline")
            and mark in _read(pid, "cmdline").replace(b" ", b"")
        ]

    def stop(self) -> None:
        """End all of it."""

        def is_gone() -> bool:
            for pid in self._pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not self._pids()

        until(is_gone, "nothing of the cluster is left")

    def _pids(self) -> list[int]:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
        return [pid for pid in pids if self._is_mine(pid) and not _is_dead(pid)]

    def _is_mine(self, pid: int) -> bool:
        """By the mark; who gave itself a title wrote over that, but is in the cluster's folder."""
        if f"{_MARK}={self.mark}\0".encode() in _read(pid, "environ"):
            return True
        with suppress(OSError):
            return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(self.folder)
        return False

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{RAY / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "RAY_prestart_worker_first_driver": "0",
            # A node that is gone is noticed soon; one that is slow is still waited for.
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "2",
            _MARK: self.mark,
        }


@contextmanager
def ray_cluster(*more: str) -> Iterator[TestCluster]:
    """A cluster of a head and these nodes, for as long as the test needs it."""
    need("ray")
    # Sockets are below it: their paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    cluster = TestCluster(folder, secrets.token_hex(8), free_ports(3 + len(NODES) * len(_AGENTS)))
    try:
        for name in (HEAD, *more):
            cluster.start_node(name)
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _is_dead(pid: int) -> bool:
    return _read(pid, "stat").rpartition(b")")[2].split()[:1] in ([], [b"Z"])

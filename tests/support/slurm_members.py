"""Members of the Slurm app as plain processes, with the program that the app ships.

Each has a folder of its own and is asked the way the platform lets an operator ask: by running the
program inside that folder.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bailiwick.operators.kit.packing import BOOTSTRAP, PROGRAM, digest_of
from bailiwick.operators.slurm.manifest import pack_member
from bailiwick.operators.slurm.orders import order_for
from bailiwick.operators.slurm.wanted import (
    CONTROLLER,
    PORTS,
    Cluster,
    ClusterWish,
    HeldGpu,
    Worker,
)
from tests.support.ports import free_ports
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

KILL_WAIT_S = 3
HOST = socket.gethostname().split(".")[0]


class MemberRefused(Exception):
    """A member said that it would not."""


@dataclass
class SlurmMembers:
    """The members that were begun, and the cluster that they are to be."""

    folder: Path
    wish: ClusterWish
    munge_key: bytes = field(default_factory=lambda: secrets.token_bytes(128))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def begin(self, key: str, **environ: str) -> None:
        """Begin a member: it waits for its program, and then for what it is to be."""
        program = pack_member()
        own = self.folder / key
        own.mkdir(mode=0o700)
        env = {"PATH": os.environ["PATH"], "APP_ARTIFACT": digest_of(program), **environ}
        with (own / "out").open("wb") as out:
            self.processes[key] = subprocess.Popen(
                [sys.executable, "-c", BOOTSTRAP, "run"], cwd=own, env=env, stdout=out, stderr=out
            )
        (own / PROGRAM).write_bytes(program[:1_000])  # a file that is not whole is not begun
        (own / PROGRAM).write_bytes(program)
        until((own / "run/door").exists, f"{key} can be asked")

    def ask(self, member: str, /, **question: Any) -> dict[str, Any]:
        """Ask a member something."""
        done = subprocess.run(
            [sys.executable, "-I", PROGRAM, "ask"],
            cwd=self.folder / member,
            input=json.dumps(question).encode(),
            capture_output=True,
            timeout=WAIT_S,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        if "error" in answer:
            raise MemberRefused(answer["error"])
        return answer

    def cluster(self, *workers: str) -> Cluster:
        """The cluster with these workers; each has two cores and two GPUs."""
        return Cluster(
            instance_id=7,
            account="vision",
            user="root" if os.geteuid() == 0 else os.environ.get("USER", "job"),
            address="127.0.0.1",
            host=HOST,
            wish=self.wish,
            workers=tuple(_worker(key) for key in workers),
        )

    def be(self, *workers: str) -> None:
        """Have all members be a cluster with these workers, and wait until they are."""
        cluster = self.cluster(*workers)
        for key in (CONTROLLER, *workers):
            self.ask(key, **order_for(cluster, key, munge_key=self.munge_key))
        for key in (CONTROLLER, *workers):
            until(lambda key=key: self.is_well(key), f"{key} is up")  # type: ignore[misc]

    def is_well(self, key: str) -> bool:
        """Whether all daemons of a member are up, and nothing is left to be done."""
        state = self.ask(key, do="wait", wait_s=20)
        return bool(state["is_up"] and state["is_settled"])

    def slurm(self, *argv: str, code: int = 0) -> str:
        """Run one of Slurm's programs at the controller; what it wrote."""
        done = self.ask(CONTROLLER, do="slurm", argv=argv, wait_s=100)
        assert done["code"] == code, (argv, done)
        return str(done["out"] if code == 0 else done["err"])

    def pid(self, key: str, daemon: str) -> int:
        """The process of a daemon; 0 if it has none."""
        return int(self.ask(key, do="facts")["daemons"][daemon]["pid"] or 0)

    def end(self, key: str) -> int:
        """End a member; its exit status."""
        process = self.processes.pop(key)
        process.terminate()
        return process.wait(WAIT_S)

    def left(self) -> list[int]:
        """Processes that belong to any of the members."""
        mark, found = str(self.folder).encode(), []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and entry.name != str(os.getpid()):
                try:
                    told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                found += [int(entry.name)] if mark in told else []
        return found


def _worker(key: str) -> Worker:
    first = 2 * int(key.rpartition("-")[2])
    gpus = (HeldGpu("hopper", first), HeldGpu("hopper", first + 1))
    return Worker(key, "127.0.0.1", host=HOST, cpus=2, mem_mib=500, gpus=gpus, features=("rack-1",))


@contextmanager
def slurm_members() -> Iterator[SlurmMembers]:
    """Members for as long as the block lasts."""
    need("slurm")
    shm = Path("/dev/shm")
    base = shm if os.access(shm, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="bw-m-", dir=base))
    wish = ClusterWish(port=free_ports(PORTS)[0], kill_wait_s=KILL_WAIT_S, pretend_gpus=True)
    members = SlurmMembers(folder, wish)
    try:
        yield members
    except BaseException:
        for path in sorted(folder.glob("*/out")) + sorted(folder.glob("*/log/*")):
            print(f"== {path}\n{path.read_text(errors='replace')[-1500:]}")
        raise
    finally:
        for process in members.processes.values():
            process.terminate()
        for process in members.processes.values():
            process.wait(WAIT_S)
        shutil.rmtree(folder)

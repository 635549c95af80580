"""The runbook of the Slurm app, typed: each fault is made in a cluster of the platform, its words
are found by the triage, and what the section says is typed as it stands there.

How faults are found at all, and which one comes first, is in ``test_app_runbook``.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bailiwick.operators.slurm.faults import ClusterFault
from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.processes.caller import HttpCaller
from tests.slurm.test_app_runbook import RUNBOOK
from tests.support.ports import free_ports
from tests.support.slurm_app import ALL, FIRST, Operator, house, members, pid, runs
from tests.support.waiting import until

WORKER, BACKUP = "worker-1", "c1.accounting"
_F = ClusterFault


def section(fault: ClusterFault) -> list[str]:
    """The commands of a section, in their order."""
    (text,) = re.findall(rf"^### {fault.value}\n(.*?)(?=^##|\Z)", RUNBOOK, re.M | re.S)
    return re.findall(r"`((?:bailiwick|python -m bailiwick\S*) [^`]+)`", text)


@dataclass
class Patient:
    """A cluster with which something is wrong, and who looks after it."""

    caller: HttpCaller
    operator: Operator
    folder: Path
    path: str

    def work(self, member: str) -> Path:
        """The folder of a member."""
        lease = members(self.caller, self.path)[member]["lease_id"]
        (found,) = self.folder.glob(f"n?/jobs/{lease}/work")
        return found

    def kill(self, member: str, daemon: str) -> None:
        os.kill(pid(self.caller, self.path, member=member, daemon=daemon), signal.SIGKILL)

    def spoil(self, member: str, file: str, daemon: str) -> None:
        """Have a daemon end, and not come up again: it does not understand its configuration."""
        conf = self.work(member) / "etc" / file
        conf.write_text(conf.read_text() + "no-such-key=1\n")
        self.kill(member, daemon)

    def triage(self) -> str:
        ran = self.operator.command("triage", "c1")
        return ran.stdout.decode()

    def type(self, command: str, member: str) -> str:
        """Type a command of the runbook, for this member, as an administrator of the project."""
        job = members(self.caller, self.path)[member]["job_id"]
        words = shlex.split(command.replace("job-N", f"job-{job}"))
        words = [str(self.folder / each) if each == BACKUP else each for each in words]
        if words[0] == "python":
            ran = self.operator.command(*words[3:])
            assert ran.returncode == 0, (command, ran.stderr)
            return ran.stdout.decode()
        environ = {
            **os.environ,
            "BAILIWICK_SERVER": self.operator.server.address,
            "BAILIWICK_TOKEN": self.operator.server.token,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
        }
        done = subprocess.run(
            [sys.executable, "-m", "bailiwick.cli.main", *words[1:]],
            env=environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def is_well(self) -> bool:
        return runs(self.caller, self.path, workers=2)


def silence(patient: Patient) -> None:
    process = pid(patient.caller, patient.path, member=WORKER, daemon="slurmd")
    os.kill(process, signal.SIGSTOP)


def hang(patient: Patient) -> None:
    """Have the member itself stop, with its daemons: it answers nobody."""
    daemon = pid(patient.caller, patient.path, member=WORKER, daemon="slurmd")
    stat = Path(f"/proc/{daemon}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGSTOP)


def lock_out(patient: Patient) -> None:
    (patient.work(WORKER) / "keys/munge.key").write_bytes(b"x" * 128)
    patient.kill(WORKER, "munged")


def lose_key(patient: Patient) -> None:
    (patient.work(WORKER) / "keys/munge.key").unlink()
    patient.kill(WORKER, "munged")


MADE: tuple[tuple[ClusterFault, str, Callable[[Patient], None]], ...] = (
    (_F.MEMBER_AWAY, WORKER, hang),
    (_F.WORKER_DOWN, WORKER, lambda p: p.spoil(WORKER, "slurm.conf", "slurmd")),
    (_F.NODE_SILENT, WORKER, silence),
    (_F.MUNGE_DOWN, WORKER, lose_key),
    (_F.MUNGE_KEY_DIFFERS, WORKER, lock_out),
    (_F.CONTROLLER_DEAD, CONTROLLER, lambda p: p.spoil(CONTROLLER, "slurm.conf", "slurmctld")),
    (_F.ACCOUNTING_DOWN, CONTROLLER, lambda p: p.spoil(CONTROLLER, "slurmdbd.conf", "slurmdbd")),
    (_F.DATABASE_DOWN, CONTROLLER, lambda p: p.spoil(CONTROLLER, "my.cnf", "mariadbd")),
)
REPLACE = "bailiwick app member replace c1 {} --wait"
SAID_IN_WORDS = (_F.MUNGE_DOWN, _F.ACCOUNTING_DOWN, _F.DATABASE_DOWN, _F.WORKER_DOWN)
"""Where the section says to replace the member, without the command for it."""


def test_each_section_says_what_to_type() -> None:
    for fault in ClusterFault:
        assert section(fault), fault


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_what_the_runbook_says_to_type_mends_each_fault() -> None:
    with house() as (caller, _, operator, folder):
        storage = folder / "storage"
        storage.mkdir()
        parameters = {"port": free_ports(PORTS)[0], "kill_wait_s": 2, "storage": str(storage)}
        wish = {"name": "c1", "app": "slurm", "version": FIRST, "parameters": parameters}
        made = caller.ask("POST", ALL, wish | {"counts": {"worker": 2}}, key="make")
        patient = Patient(caller, operator, folder, f"{ALL}/{made['instance_id']}")
        until(patient.is_well, "it runs")
        patient.type("python -m bailiwick.operators.slurm backup c1 c1.accounting", WORKER)
        for fault, member, make in MADE:
            mend(patient, fault, member=member, make=make)
        well = operator.command("triage", "c1")
        assert (well.returncode, well.stdout.count(b"\n")) == (0, 2), well.stdout
        (look, _) = section(_F.DISK_FULL)  # what mends it is the second of ``NODE_SILENT`` too
        assert patient.type(look, WORKER)


def mend(
    patient: Patient, fault: ClusterFault, *, member: str, make: Callable[[Patient], None]
) -> None:
    """Make a fault, find it, and do what its section says."""
    # While it is found nobody heals it.
    patient.operator.send(signal.SIGSTOP)
    make(patient)
    until(lambda: f"\n{fault.value} {member} " in patient.triage(), fault.value)
    patient.operator.send(signal.SIGCONT)
    commands = section(fault)
    looks = [each for each in commands if " exec " in each]
    for command in looks:
        assert patient.type(command, member), "it says why"
    if fault in SAID_IN_WORDS:
        patient.type(REPLACE.format(member), member)
        until(patient.is_well, f"jobs came back after {fault.value}")
    for command in commands:
        # To go back is for a parameter that is the reason; here it is none.
        if command not in looks and "rollback" not in command:
            patient.type(command, member)
    until(patient.is_well, f"{fault.value} is over, and jobs came back")

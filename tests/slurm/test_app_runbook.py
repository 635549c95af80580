"""The runbook of the Slurm app: each fault that it names is made in a real cluster, and found.

What the runbook says to do about it is done here as the operator would do it: the member is told
again what to be.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bailiwick.operators.slurm.faults import ClusterFault, FoundFault, find_faults
from bailiwick.operators.slurm.wanted import CONTROLLER
from tests.support.slurm_members import SlurmMembers, slurm_members
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs/runbooks/slurm.md").read_text("utf-8")
WORKERS = ("worker-0", "worker-1")


def faults(members: SlurmMembers) -> list[FoundFault]:
    return find_faults({key: members.ask(key, do="condition") for key in members.processes})


def is_found(members: SlurmMembers, fault: ClusterFault, *, member: str) -> bool:
    return (fault, member) in [(each.fault, each.member) for each in faults(members)]


def test_the_runbook_has_a_section_for_each_fault_and_names_commands_that_exist() -> None:
    sections = re.findall(r"^### (\w+)$", RUNBOOK, re.MULTILINE)
    assert sections == [each.value for each in ClusterFault]
    manual = (ROOT / "docs/cli.md").read_text("utf-8")
    known = set(re.findall(r"^\| `([a-z -]+)` \|", manual, re.MULTILINE))
    told = re.findall(r"`bailiwick ([a-z-]+(?: [a-z-]+)*)", RUNBOOK)
    assert told
    for words in told:
        parts = words.split()
        assert any(" ".join(parts[:length]) in known for length in range(1, len(parts) + 1)), words


def test_each_fault_is_found_and_over_when_its_cause_is() -> None:
    with slurm_members() as members:
        for key in (CONTROLLER, *WORKERS):
            members.begin(key)
        members.be(*WORKERS)
        until(lambda: faults(members) == [], "nothing is wrong")
        a_daemon_that_cannot_begin_is_found(members)
        a_key_that_differs_is_found_before_what_it_leads_to(members)
        a_worker_that_is_silent_is_found(members)


def a_daemon_that_cannot_begin_is_found(members: SlurmMembers) -> None:
    for daemon, file, fault in (
        ("slurmdbd", "slurmdbd.conf", ClusterFault.ACCOUNTING_DOWN),
        ("slurmctld", "slurm.conf", ClusterFault.CONTROLLER_DEAD),
    ):
        conf = members.folder / CONTROLLER / "etc" / file
        conf.write_text(conf.read_text() + "NoSuchKey=1\n")
        os.kill(members.pid(CONTROLLER, daemon), signal.SIGKILL)
        until(lambda: is_found(members, fault, member=CONTROLLER), fault)  # noqa: B023
        assert (members.folder / CONTROLLER / f"log/{daemon}.out").exists(), "where to look"
        members.be(*WORKERS)
        until(lambda: faults(members) == [], f"{fault} is over")
        members.slurm("srun", "-N2", "-t1", "--mem=1", "true")


def a_key_that_differs_is_found_before_what_it_leads_to(members: SlurmMembers) -> None:
    key = members.folder / "worker-1/keys/munge.key"
    key.write_bytes(bytes(reversed(members.munge_key)))
    os.kill(members.pid("worker-1", "munged"), signal.SIGKILL)
    until(
        lambda: is_found(members, ClusterFault.MUNGE_KEY_DIFFERS, member="worker-1"), "it differs"
    )
    until(
        lambda: is_found(members, ClusterFault.NODE_SILENT, member="worker-1"),
        "it is not understood",
    )
    assert faults(members)[0].fault is ClusterFault.MUNGE_KEY_DIFFERS, "the cause comes first"
    members.munge_key = os.urandom(128)
    members.be(*WORKERS)
    until(lambda: faults(members) == [], "all have a new one")
    members.slurm("srun", "-N2", "-t1", "--mem=1", "true")


def a_worker_that_is_silent_is_found(members: SlurmMembers) -> None:
    process = members.pid("worker-1", "slurmd")
    os.kill(process, signal.SIGSTOP)
    try:
        until(
            lambda: is_found(members, ClusterFault.NODE_SILENT, member="worker-1"), "it is silent"
        )
        assert {each.fault for each in faults(members)} == {ClusterFault.NODE_SILENT}
    finally:
        os.kill(process, signal.SIGCONT)
    until(lambda: faults(members) == [], "it is heard again")


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_without_room_and_a_member_that_is_away_are_found() -> None:
    with slurm_members() as members:
        members.begin(CONTROLLER)
        whole = members.ask(CONTROLLER, do="condition")
        with small_disk(members.folder / "small"):
            members.begin("small/worker-0")
            full = members.ask("small/worker-0", do="condition")
            found = find_faults({CONTROLLER: whole, "worker-0": full, "worker-1": "it is away"})
            assert [(each.fault, each.member) for each in found] == [
                (ClusterFault.MEMBER_AWAY, "worker-1"),
                (ClusterFault.DISK_FULL, "worker-0"),
            ]
            assert members.end("small/worker-0") == 0

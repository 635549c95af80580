"""What a Slurm cluster answers is read strictly, and what became of a job follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.executors.clusters import NodeGate
from bailiwick.executors.port import (
    Exited,
    JobSpec,
    JobStatus,
    Limits,
    Lost,
    LostReason,
    Running,
    Starting,
    Unstarted,
)
from bailiwick.executors.slurm.executor import SlurmExecutor, SlurmSettings
from bailiwick.executors.slurm.job_status import Facts, judge
from bailiwick.executors.slurm.nodes import SlurmMachine, parse_nodes
from bailiwick.executors.slurm.programs import (
    QueuedJob,
    SlurmPrograms,
    Submission,
    parse_queue,
)
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.jobs import JobFault
from bailiwick.vocab.words import HardwareGeneration as G

# -- nodes -----------------------------------------------------------------------------------


def row(state: str = "idle", *, gres: str = "gpu:hopper:4(S:0-1)", reason: str = "none") -> str:
    return f"h1|64|2|64000|{state}|{gres}|{reason}"


def test_a_node_has_whole_cores_and_its_devices_by_their_types() -> None:
    two = "gpu:h100:2(S:0),gpu:mini:1,shard:8"
    told = parse_nodes(f"{row(gres=two)}\n{row(gres=two)}\n")  # once for each partition
    assert told.keys() == {"h1"}
    has = told["h1"].told().capacity
    assert (has.cpu_milli, has.mem_bytes) == (32_000, 64_000 * 2**20)
    assert [gpu.generation for gpu in has.gpus] == [G.NVIDIA_HOPPER, G.NVIDIA_HOPPER, G.OTHER]
    assert told["h1"].gres_of((0, 2)) == {"h100": 1, "mini": 1}


@pytest.mark.parametrize(("gres", "count"), [("(null)", 0), ("gpu:4", 4), ("gpu:a:40", 16)])
def test_devices_without_a_type_and_more_than_a_node_may_have(gres: str, count: int) -> None:
    assert len(parse_nodes(row(gres=gres))["h1"].told().capacity.gpus) == count


@pytest.mark.parametrize(
    ("state", "reason", "gate"),
    [
        ("idle", "none", NodeGate.OPEN),
        ("mixed*", "none", NodeGate.OPEN),
        ("idle+cloud+powered_down", "none", NodeGate.OPEN),
        ("idle+drain", "disk | bailiwick", NodeGate.CLOSED),
        ("mixed+drain", "bailiwick: closed there", NodeGate.CLOSED_BY_US),
        ("idle+maint", "none", NodeGate.CLOSED),
        ("allocated+reserved", "none", NodeGate.CLOSED),
    ],
)
def test_a_gate_is_open_or_closed_by_somebody(state: str, reason: str, gate: NodeGate) -> None:
    assert parse_nodes(row(state, reason=reason))["h1"].gate is gate


@pytest.mark.parametrize("state", ["down", "down*", "down+drain", "unknown*", "future", "inval"])
def test_a_node_that_is_not_there_is_not_listed(state: str) -> None:
    assert parse_nodes(row(state)) == {}


@pytest.mark.parametrize("text", ["x", "h1|64|2|m|idle|g|n", "h 1|64|2|64000|idle||", "|||||||"])
def test_what_is_no_list_of_nodes_decides_nothing(text: str) -> None:
    with pytest.raises(Unavailable):
        parse_nodes(text)


def test_devices_are_asked_for_by_type() -> None:
    asked = Submission(name="n", script="", folder="/f", output="/o", gpus={"h100": 2, "": 1})
    assert "--gres=gpu:h100:2,gpu:1" in asked.options()


# -- what became of a job --------------------------------------------------------------------

NOW, SENT = 1_000_000, 990_000
BEGUN = Facts("bw", SENT, has_begun=True)
DONE = Facts("bw", SENT, has_begun=True, ended=Exited(0, None, 5, False))
TERMED = Facts("bw", SENT, has_begun=True, ended=Exited(None, 15, 5, False))
KILLED = Facts("bw", SENT, has_begun=True, ended=Exited(None, 9, 5, False))
SENT_ONLY = Facts("bw", SENT)
TAKEN = Lost(LostReason.PLACE_TAKEN)
CLOSED = "ReqNodeNotAvail, UnavailableNodes:h1"


def job(state: str, code: int = 0, reason: str = "") -> QueuedJob:
    return QueuedJob(7, state, "2026-11-16T20:00:01", code, reason)


RUNS = Running(7, 20261116200001, "slurm-me", False)


@pytest.mark.parametrize(
    ("facts", "found", "status"),
    [
        (SENT_ONLY, job("PENDING"), Starting()),
        (Facts("bw", 0), job("PENDING", 0, "Resources"), Starting()),
        (Facts("bw", 0), job("PENDING", 0, CLOSED), Lost(LostReason.NODE_LOST)),
        (SENT_ONLY, job("PENDING", 0, CLOSED), Starting()),  # it may be open again in a moment
        (SENT_ONLY, job("RUNNING"), Starting()),
        (SENT_ONLY, None, Starting()),
        (Facts("bw", 0), None, Lost(LostReason.NEVER_STARTED)),
        (SENT_ONLY, job("CANCELLED"), Lost(LostReason.NEVER_STARTED)),
        (SENT_ONLY, job("PREEMPTED"), Lost(LostReason.NEVER_STARTED)),
        (SENT_ONLY, job("NODE_FAIL"), Lost(LostReason.NODE_LOST)),
        (BEGUN, job("RUNNING"), RUNS),
        (BEGUN, job("COMPLETING"), RUNS),
        (BEGUN, None, Lost(LostReason.SUPERVISOR_GONE)),
        (BEGUN, job("NODE_FAIL"), Lost(LostReason.NODE_LOST)),
        (BEGUN, job("PREEMPTED"), TAKEN),
        (BEGUN, job("PENDING"), TAKEN),  # it is in the queue again
        (BEGUN, job("FAILED", 124), TAKEN),  # it was run again, and did nothing
        (BEGUN, job("FAILED", 3), Exited(3, None, NOW, True)),
        (BEGUN, job("FAILED", 143), Exited(None, 15, NOW, True)),
        (BEGUN, job("COMPLETED"), Lost(LostReason.SUPERVISOR_GONE)),  # another's end was told
        (BEGUN, job("CANCELLED"), Exited(None, 15, NOW, True)),
        (BEGUN, job("OUT_OF_MEMORY"), Exited(None, 9, NOW, True, True)),
        (TERMED, job("COMPLETING"), RUNS),  # the cluster has yet to say whose doing that was
        (TERMED, job("PREEMPTED"), TAKEN),
        (TERMED, job("REQUEUED"), TAKEN),
        (TERMED, job("CANCELLED"), Exited(None, 15, 5, True)),
        (TERMED, None, Exited(None, 15, 5, True)),
        (KILLED, job("COMPLETING"), RUNS),
        (KILLED, job("OUT_OF_MEMORY"), Exited(None, 9, 5, True, True)),
        (KILLED, job("FAILED", 137), Exited(None, 9, 5, True)),
        (DONE, job("COMPLETING"), Exited(0, None, 5, False)),
        (DONE, job("PREEMPTED"), Exited(0, None, 5, True)),  # it was faster
        # Ended while the controller was away: by its own clock, whatever is charged for it.
        (DONE, job("COMPLETED"), Exited(0, None, 5, True)),
        (Facts("bw", SENT, unstarted="cwd\n"), job("FAILED", 125),
         Unstarted(JobFault.DIRECTORY_NOT_USABLE)),
    ],
)  # fmt: skip
def test_what_became_of_a_job(facts: Facts, found: QueuedJob | None, status: JobStatus) -> None:
    assert judge(facts, found, is_known=True, now_ms=NOW, whose="me") == status


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        (Facts("bw", 0), Starting()),
        (BEGUN, Running(0, SENT, "me", False)),
        (TERMED, Exited(None, 15, 5, False)),
        (DONE, Exited(0, None, 5, False)),
    ],
)
def test_a_controller_that_does_not_answer_has_decided_nothing(
    facts: Facts, status: JobStatus
) -> None:
    assert judge(facts, None, is_known=False, now_ms=NOW, whose="me") == status


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("0", 0),
        ("0:0", 0),
        ("31744", 124),  # squeue tells what wait(2) told the node
        ("256", 1),
        ("15", 143),  # the script itself was ended by a signal
        ("137", 137),  # and left a core
        ("3:0", 3),
        ("0:9", 137),
    ],
)
def test_how_a_script_ended_is_read_as_a_shell_tells_it(told: str, code: int) -> None:
    name = "bw-0123abcd-7-0123456789ab"
    found = parse_queue(f"7|FAILED|{name}|2026-11-16T20:00:01|{told}|NonZeroExitCode")[name]
    assert found.exit_code == code


# -- what is asked of a cluster --------------------------------------------------------------


def test_what_is_cancelled_is_named_by_more_than_its_number(tmp_path: Path) -> None:
    program = tmp_path / "scancel"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    programs = SlurmPrograms({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    programs.cancel(7, "--signal=USR1", name="bw-1")
    # After a crash of its controller a cluster gives the number to another job.
    assert (tmp_path / "asked").read_text() == "--quiet --signal=USR1 --name=bw-1 7\n"


class PaperPrograms(SlurmPrograms):
    """A cluster of one node, of which it is known what was asked of it."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[Submission] = []
        self.lists = 0

    def nodes(self, partition: str = "") -> dict[str, SlurmMachine]:
        """It has two threads to a core."""
        assert partition == "gpu"
        self.lists += 1
        return parse_nodes(row(gres="gpu:h100:2,gpu:mini:2"))

    def submit(self, asked: Submission) -> int:
        """Taken."""
        self.asked.append(asked)
        return 7


def test_a_job_gets_its_node_its_whole_cores_and_its_devices_by_type(tmp_path: Path) -> None:
    programs = PaperPrograms()
    settings = SlurmSettings(account="{tenant}-{project}", partition="gpu")
    executor = SlurmExecutor(tmp_path, programs=programs, settings=settings)
    for lease_id in (1, 2):
        limits = Limits(cpu_milli=3000)
        job = JobSpec(
            lease_id,
            argv=("true",),
            token="t",
            node="h1",
            owner="uni/p",
            limits=limits,
            device_indices=(1, 2, 3),
        )
        executor.start(job)
    asked = programs.asked[-1]
    assert (asked.node, asked.cores, asked.account) == ("h1", 6, "uni-p")
    assert asked.gpus == {"h100": 1, "mini": 2}
    assert programs.lists == 1  # one list serves those who come after

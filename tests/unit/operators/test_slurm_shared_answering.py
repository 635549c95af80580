"""What people ask a shared Slurm: as whom it is run, in which account and queue, and what not."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from bailiwick.operators.kit import RanInside
from bailiwick.operators.slurm.member.door import PROGRAMS
from bailiwick.operators.slurm.member.shared_host import NO_USER
from bailiwick.operators.slurm.questions import ASK_SHARED
from bailiwick.operators.slurm.queue.programs import AWAY, RULES, SHARED_RULES, USAGE
from bailiwick.operators.slurm.shared.answering import (
    NOBODY,
    NOT_YET,
    NOWHERE,
    SharedQueueAnswers,
)
from bailiwick.operators.slurm.shared.people import unix_of
from bailiwick.vocab.apps import CallVerb
from bailiwick.vocab.execs import ExecEnd, ExecOutcome
from bailiwick.wire.instances import CallPart, CallReply, TakenCall
from bailiwick.wire.shared import SharedPerson

OWN = CallPart(project="vision", owner="vision", queue=None)
GUEST = CallPart(project="vision", owner="audio", queue="night")


def asked(
    *argv: str, verb: str = "submit", stdin: str = "", part: CallPart | None = OWN, by: str = "ana"
) -> TakenCall:
    return TakenCall(
        call_id=7,
        tenant="lab",
        project="core",  # the owner record's, which is nobody's account here
        instance_id=1,
        verb=CallVerb(verb),
        principal=by,
        correlation_id="c-1",
        argv=list(argv),
        stdin=stdin,
        expires_ms=1,
        part=part,
    )


class Controller:
    """What a kit is for an answer: it keeps what would be run, and says that it ran."""

    def __init__(self, said: str = '{"code":0,"out":"31","err":""}') -> None:
        self.asked: list[dict[str, Any]] = []
        self.instance = SimpleNamespace(parameters={"queues": "main,night"})
        self._ran = RanInside(ExecOutcome(ExecEnd.EXITED, 0), said.encode())

    def runtime(self) -> Any:
        people = [SharedPerson(principal="ana", projects=["vision"])]
        return SimpleNamespace(people=people)

    def run_inside(self, member: str, command: Any, *, given: bytes, within_s: float) -> RanInside:
        assert (member, command) == ("controller-0", ASK_SHARED)
        assert within_s < 60
        size, _, question = given.partition(b"\n")
        assert size == b"0", "no program is brought: it would be asked twice"
        self.asked.append(json.loads(question))
        return self._ran


def answered(call: TakenCall, kit: Controller | None = None) -> tuple[CallReply, list[Any]]:
    kit = kit or Controller()
    said = SharedQueueAnswers()(call, kit)  # type: ignore[arg-type]  # all that an answer needs
    return said, kit.asked


def test_a_job_is_run_by_who_asked_in_his_projects_account_and_queue() -> None:
    said, (question,) = answered(asked("sbatch", "-N2", stdin="#!/bin/sh\n#SBATCH -t 5\nid\n"))
    assert (said.exit_code, said.stdout) == (0, "31")
    assert (question["do"], question["user"]) == ("slurm", unix_of("ana").name)
    assert question["argv"] == [
        *("sbatch", NOWHERE, "--nodes=2", "--ignore-pbs", "--account=vision"),
        "--comment=principal=ana;call=7;correlation=c-1",
        "--partition=vision",
    ]


def test_a_guest_is_in_his_own_account_and_the_owners_partition() -> None:
    _, (question,) = answered(asked("sbatch", "--wrap=true", part=GUEST))
    assert "--account=vision" in question["argv"]
    assert question["argv"][-1] == "--partition=audio+night"


def test_a_job_that_says_nothing_of_its_output_has_none_rather_than_to_fail() -> None:
    """Nobody has a folder there: Slurm would write to where he may not, and end the job."""
    said, (question,) = answered(asked("sbatch", "--wrap=true"))
    assert NOWHERE in question["argv"]
    assert (said.exit_code, said.stdout) == (0, "31")
    assert "kept nowhere" in said.stderr
    script = "#!/bin/sh\n#SBATCH -t 5 -Ho /data/%j\nid\n"
    for words, given in (
        (("--wrap=true", "-o/data/%j"), ""),
        (("--wrap=true", "--output", "/data/%j"), ""),
        ((), script),
    ):
        said, (question,) = answered(asked("sbatch", *words, stdin=given))
        assert NOWHERE not in question["argv"], "it was told"
        assert said.stderr == ""
    _, (question,) = answered(asked("sbatch", stdin="#!/bin/sh\n# SBATCH -o x\necho -o x\n"))
    assert NOWHERE in question["argv"], "only what Slurm reads counts"


def test_what_the_cluster_has_not_learnt_yet_is_to_be_asked_again() -> None:
    refused = "sbatch: error: Batch job submission failed: Invalid account or account/partition"
    for told in (
        {"error": NO_USER},
        {"code": 1, "out": "", "err": f"{refused} combination specified\n"},
    ):
        said, ran = answered(asked("sbatch", "--wrap=true"), Controller(json.dumps(told)))
        assert (said.exit_code, said.stdout, len(ran)) == (NOT_YET, "", 1)
        assert "ask again" in said.stderr
    wrong = {"code": 1, "out": "", "err": "sbatch: error: Invalid numeric value\n"}
    said, _ = answered(asked("sbatch", "--wrap=true"), Controller(json.dumps(wrong)))
    assert (said.exit_code, said.stderr) == (1, wrong["err"]), "that is his own mistake"


def test_what_is_read_and_cancelled_is_the_projects_and_as_who_asked() -> None:
    for argv, verb, held in (
        (("squeue", "-h"), "read", "--account=vision"),
        (("sacct", "-X"), "read", "--accounts=vision"),
        (("sinfo",), "read", "--partition=vision"),
        (("scancel", "12"), "cancel", "--account=vision"),
    ):
        _, (question,) = answered(asked(*argv, verb=verb))
        assert held in question["argv"]
        assert question["user"] == unix_of("ana").name


@pytest.mark.parametrize(
    ("argv", "verb"),
    [
        (("sbatch", "--wrap=true", "--partition=audio"), "submit"),
        (("sbatch", "--wrap=true", "-paudio"), "submit"),
        (("sbatch", "--wrap=true", "--qos=own+audio"), "submit"),
        (("sbatch", "--wrap=true", "--account=audio"), "submit"),
        (("squeue", "--steps=1"), "read"),
        (("squeue", "-s1"), "read"),
        (("squeue", "--json"), "read"),
        (("sacct", "--json"), "read"),
        (("sinfo", "--json"), "read"),
        (("sinfo", "-p", "audio"), "read"),
        (("sinfo", "-R"), "read"),
        (("scancel",), "cancel"),
        (("sbatch", "--wrap=true"), "read"),
        (("srun", "id"), "submit"),
    ],
)
def test_what_would_choose_or_show_more_is_not_run(argv: tuple[str, ...], verb: str) -> None:
    said, ran = answered(asked(*argv, verb=verb))
    assert (said.exit_code, ran) == (USAGE, [])


def test_a_scripts_own_partition_is_not_taken() -> None:
    said, ran = answered(asked("sbatch", stdin="#!/bin/sh\n#SBATCH -p audio\nid\n"))
    assert (said.exit_code, ran) == (USAGE, [])


def test_who_is_none_of_the_clusters_people_for_that_project_runs_nothing() -> None:
    other = CallPart(project="audio", owner="audio", queue=None)
    for call in (
        asked("sbatch", "--wrap=true", by="eve"),
        asked("squeue", verb="read", part=other),
    ):
        said, ran = answered(call)
        assert (said.exit_code, ran) == (NOBODY, [])


def test_a_queue_that_the_cluster_has_not_and_a_call_for_no_project_are_not_run() -> None:
    odd = CallPart(project="vision", owner="vision", queue="dawn")
    for part in (odd, None):
        said, ran = answered(asked("sbatch", "--wrap=true", part=part))
        assert (said.exit_code, ran) == (USAGE, [])
        assert said.stderr


def test_a_controller_that_does_not_answer_is_asked_once() -> None:
    said, ran = answered(asked("sbatch", "--wrap=true"), Controller('{"error":"no such user"}'))
    assert (said.exit_code, len(ran)) == (AWAY, 1)


def test_no_program_is_there_for_shared_ones_alone() -> None:
    assert {*SHARED_RULES} == {*RULES}
    assert {*SHARED_RULES} <= PROGRAMS

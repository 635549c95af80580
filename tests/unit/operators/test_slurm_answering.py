"""What people ask a Slurm cluster: which programs a verb has, and what is put on the command."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bailiwick.operators.kit import Outdated, RanInside
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.member.door import PROGRAMS
from bailiwick.operators.slurm.member.submitting import spell_mark
from bailiwick.operators.slurm.questions import ASK
from bailiwick.operators.slurm.queue.answering import QueueAnswers
from bailiwick.operators.slurm.queue.marks import CallersJob, MarkedJob
from bailiwick.operators.slurm.queue.programs import AWAY, RULES, USAGE, argv_of
from bailiwick.vocab.apps import CallVerb
from bailiwick.vocab.execs import ExecEnd, ExecOutcome
from bailiwick.wire.instances import CallReply, TakenCall

SCRIPT = "#!/bin/sh\n#SBATCH --nodes=2 # two of them\n#SBATCH -t 5\nhostname\n"
OWN = ["--ignore-pbs", "--account=vision", "--comment=principal=ana;call=7;correlation=c-1"]


def asked(*argv: str, verb: str = "submit", stdin: str = "") -> TakenCall:
    return TakenCall(
        call_id=7,
        tenant="lab",
        project="vision",
        instance_id=1,
        verb=CallVerb(verb),
        principal="ana",
        correlation_id="c-1",
        argv=list(argv),
        stdin=stdin,
        expires_ms=1,
    )


class Controller:
    """What a kit is for an answer: it keeps what would be run, and says what it was told to."""

    def __init__(self, stdout: bytes = b"", *, code: int = 0, error: Exception | None = None):
        self.asked: list[dict[str, Any]] = []
        self._ran = RanInside(ExecOutcome(ExecEnd.EXITED, code), stdout)
        self._error = error

    def run_inside(self, member: str, command: Any, *, given: bytes, within_s: float) -> RanInside:
        assert (member, command) == ("controller-0", ASK)
        assert within_s < 60
        self.asked.append(json.loads(given))
        if self._error is not None:
            raise self._error
        return self._ran


def answered(call: TakenCall, kit: Controller, keys: ClusterKeys | None = None) -> CallReply:
    with TemporaryDirectory() as folder:
        answers = QueueAnswers(keys or ClusterKeys(Path(folder)))
        return answers(call, kit)  # type: ignore[arg-type]  # all that an answer needs of one


def test_a_job_has_the_projects_account_and_who_asked() -> None:
    found = argv_of(asked("sbatch", "-N2", "--gpus", "hopper:1", "-J", "x y", stdin=SCRIPT))
    assert found == ["sbatch", "--nodes=2", "--gpus=hopper:1", "--job-name=x y", *OWN]
    assert argv_of(asked("sbatch", "--wrap=true", "-H")) == [
        "sbatch",
        "--wrap=true",
        "--hold",
        *OWN,
    ]


def test_what_is_read_and_cancelled_is_the_projects() -> None:
    for argv, told in (
        (("squeue", "-h", "-o", "%i"), ["--noheader", "--format=%i", "--account=vision"]),
        (
            ("sacct", "-XnPj12", "-S", "now"),
            [
                *("--allocations", "--noheader", "--parsable2", "--jobs=12", "--starttime=now"),
                *("--allusers", "--accounts=vision"),
            ],
        ),
        (("sacct", "-X"), ["--allocations", "--allusers", "--accounts=vision"]),
        (("sinfo",), []),
    ):
        assert argv_of(asked(*argv, verb="read")) == [argv[0], *told]
    found = argv_of(asked("scancel", "12", "13_4", verb="cancel"))
    assert found == ["scancel", "--account=vision", "12", "13_4"]


@pytest.mark.parametrize("program", sorted(RULES))
@pytest.mark.parametrize("verb", ["submit", "read", "cancel"])
def test_a_verb_runs_its_own_programs_alone(program: str, verb: str) -> None:
    kit = Controller(b'{"code":0,"out":"","err":""}')
    words = {"scancel": ["1"], "sbatch": ["--wrap=true"]}.get(program, [])
    said = answered(asked(program, *words, verb=verb), kit)
    is_its_own = RULES[program].verb.value == verb
    assert (said.exit_code, len(kit.asked)) == ((0, 1) if is_its_own else (USAGE, 0))


REFUSED = [
    ("srun", "hostname"),
    ("scontrol", "show", "config"),
    ("sacctmgr", "list", "user"),
    ("/usr/bin/sbatch", "--wrap=true"),
    ("sbatch", "/etc/passwd"),
    ("sbatch", "--wrap=true", "job.sh"),
    ("sbatch", "--wrap=true", "--account=other"),
    ("sbatch", "--wrap=true", "-Aother"),
    ("sbatch", "--wrap=true", "--comment=principal=eve"),
    ("sbatch", "--wrap=true", "--acc=other"),
    ("sbatch", "--wrap=true", "--uid=0"),
    ("sbatch", "--wrap=true", "--export-file=/etc/passwd"),
    ("sbatch", "--wrap=true", "--wait"),
    ("sbatch", "--wrap=true", "--nodelist=/etc/passwd"),
    ("sbatch", "--wrap=true", "-w", "/etc/passwd"),
    ("sbatch", "--wrap=true", "-MC"),
    ("sbatch", "--wrap=true", "-HAother"),
    ("sbatch", "--wrap=true", "-HH="),
    ("sbatch", "--wrap=true", "-"),
    ("sbatch", "--wrap=true", "--"),
    ("sbatch", "--wrap=true", "--hold=x"),
    ("sbatch", "--wrap=true", "--nodes"),
    ("sbatch", "--wrap=true", "--nodes="),
    ("sbatch",),
]


@pytest.mark.parametrize("argv", REFUSED)
def test_what_is_not_in_the_table_is_not_run(argv: tuple[str, ...]) -> None:
    kit = Controller()
    said = answered(asked(*argv), kit)
    assert (said.exit_code, kit.asked) == (USAGE, [])
    assert said.stderr


@pytest.mark.parametrize(
    "line",
    [
        "#SBATCH --account=other",
        "#SBATCH -A other",
        "#SBATCH --comment=principal=eve",
        "  #SBATCH --export-file=/etc/passwd",
        "#SBATCH--uid=0",
        "#SBATCH --nodelist=/etc/passwd",
        '#SBATCH --job-name="a" --account=other',
        "#SBATCH --job-name=a\\ --account=other",
        "#SBATCH job.sh",
        "#SBATCH -t 5 #x --uid=0",
        "#SLURM --uid=0",
        "#BSUB -J other",
        "true\n#SBATCH --account=other",
    ],
)
def test_a_scripts_own_options_are_held_to_the_same_table(line: str) -> None:
    kit = Controller()
    said = answered(asked("sbatch", stdin=f"#!/bin/sh\n{line}\ntrue\n"), kit)
    assert (said.exit_code, kit.asked) == (USAGE, [])


@pytest.mark.parametrize("argv", [(), ("--partition=all",), ("1;2",), ("-u", "ana"), ("--me",)])
def test_nobody_cancels_all_jobs_by_leaving_out_which(argv: tuple[str, ...]) -> None:
    kit = Controller()
    said = answered(asked("scancel", *argv, verb="cancel"), kit)
    assert (said.exit_code, kit.asked) == (USAGE, [])


def test_what_a_program_wrote_is_the_answer() -> None:
    told = {"code": 1, "out": "Submitted\n", "err": "warn\n"}
    kit = Controller(json.dumps(told).encode())
    said = answered(asked("sbatch", stdin=SCRIPT), kit)
    assert (said.exit_code, said.stdout, said.stderr) == (1, "Submitted\n", "warn\n")
    (question,) = kit.asked
    assert (question["do"], question["stdin"], question["argv"][0]) == ("submit", SCRIPT, "sbatch")
    ended = Controller(json.dumps(told | {"code": -9}).encode())
    assert answered(asked("sinfo", verb="read"), ended).exit_code == 137


def test_what_is_submitted_is_marked_with_who_asked(tmp_path: Path) -> None:
    keys, kit = ClusterKeys(tmp_path), Controller(b'{"code":0,"out":"31","err":""}')
    assert answered(asked("sbatch", "--wrap=true"), kit, keys).stdout == "31"
    (question,) = kit.asked
    told, key = question["mark"]["told"], bytes.fromhex(question["mark"]["key"])
    job = MarkedJob("31", "vision", "x", 5, spell_mark(told, key, number="31"))
    assert keys.marks(1).attribute(job) == CallersJob("31", "ana", 7, "c-1")
    answered(asked("squeue", verb="read"), kit, keys)
    assert "mark" not in kit.asked[-1], "only what submits needs it"


def test_a_controller_that_does_not_answer_is_asked_once() -> None:
    for kit in (
        Controller(b'{"error":"it is not so"}'),
        Controller(b"no answer"),
        Controller(code=1),
        Controller(error=Outdated("it is gone")),
    ):
        said = answered(asked("sbatch", stdin=SCRIPT), kit)
        assert (said.exit_code, len(kit.asked)) == (AWAY, 1)


def test_the_member_runs_all_programs_of_the_table() -> None:
    assert set(RULES) <= PROGRAMS

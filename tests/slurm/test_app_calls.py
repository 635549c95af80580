"""The queue of a cluster for people, on a real server, agents, operator and Slurm.

Who may what, whose each job is and stays, that a question is answered once however the operator
ends, and that what jobs used is told as Slurm's own books have it. To start a cluster is dear: one
is there for all of it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bailiwick.operators.slurm.queue.programs import RULES, USAGE
from bailiwick.operators.slurm.wanted import CONTROLLER
from tests.processes.caller import CallFailed, HttpCaller
from tests.slurm.test_app_operator import cluster, is_in
from tests.support.slurm_app import ALL, FIRST, PROJECT, Operator, ask, house, slurm
from tests.support.waiting import WAIT_S, until

CLI = (sys.executable, "-m", "bailiwick.cli.main")
FRONT = (sys.executable, "-m", "bailiwick.operators.slurm.queue.front")
SMALL = ("--mem=1", "-o", "/dev/null")


@dataclass
class Person:
    """Somebody with a token: at the command line, and over HTTP."""

    name: str
    token: str
    address: str

    def types(self, *words: str) -> subprocess.CompletedProcess[str]:
        place = {"BAILIWICK_TENANT": "main", "BAILIWICK_PROJECT": "default"}
        way = {"BAILIWICK_SERVER": self.address, "BAILIWICK_TOKEN": self.token}
        return subprocess.run(
            words, env=os.environ | place | way, capture_output=True, text=True, timeout=WAIT_S,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def calls(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.types(*CLI, "app", "call", *words)

    def asks(self, path: str, verb: str, *argv: str, **more: Any) -> dict[str, Any]:
        """What the operator says to it, over HTTP."""
        body = {"argv": argv, "wait_s": 20, "within_s": 60} | more
        with HttpCaller([self.address], self.token) as caller:
            found: dict[str, Any] = caller.ask(
                "POST", f"{path}/calls/{verb}", body, key=uuid4().hex
            )
            return found["call"]


def person(
    caller: HttpCaller, operator: Operator, name: str, *, role: str, project: str = PROJECT
) -> Person:
    caller.ask("PUT", f"{project}/members", {"member": name, "role": role}, key=f"role-{name}")
    made = caller.ask("POST", "/v1/tokens", {"principal": name})
    return Person(name, made["token"], operator.address)


def well(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done
    return done.stdout


def jobs(caller: HttpCaller, path: str, name: str) -> list[str]:
    """The jobs of a name that the books have."""
    words = ("sacct", "-aXnP", "-S", "now-1day", "--name", name, "-o", "jobid")
    return slurm(caller, path, *words).split()


def submit(who: Person, path: str, name: str, *, script: str = "true") -> str:
    words = ("sbatch", "--parsable", "-J", name, *SMALL, f"--wrap={script}")
    found = who.asks(path, "submit", *words)
    assert found["reply"]["exit_code"] == 0, found
    return str(found["reply"]["stdout"]).strip()


@pytest.mark.long
def test_people_use_the_queue_of_their_cluster() -> None:
    with (
        house(options=("--tell-every", "2")) as (caller, both, operator, folder),
        cluster(caller, folder, both) as path,
    ):
        ana = person(caller, operator, "ana", role="project_member")
        every_option_of_the_table_is_one_of_slurms(caller, path)
        a_person_submits_sees_and_cancels(caller, path, ana)
        a_script_is_read_here_and_sent(caller, path, ana, folder)
        who_has_not_the_key_is_refused(caller, path, operator)
        what_is_not_in_the_table_is_not_run(caller, path, ana)
        a_job_is_whose_it_was_whatever_is_written_to_it(caller, path, ana, operator)
        a_question_is_answered_once_however_the_operator_ends(caller, path, ana, operator)
        what_jobs_used_is_told_as_the_books_have_it(caller, path, ana, operator)


TRIED = {
    "sbatch": (
        "--array=1-2%1 --begin=now --constraint=none --cpus-per-task=1 --deadline=now+1hour "
        "--dependency=singleton --error=/dev/null --exclude=worker-9 --job-name=x --mem=1 "
        "--nodelist=worker-0 --nodes=1 --ntasks=1 --ntasks-per-node=1 --open-mode=append "
        "--output=/dev/null --partition=main --qos=normal --signal=B:TERM@30 --time=5 "
        "--time-min=1 --wrap=true --exclusive --hold --no-requeue --parsable --test-only",
        "--gpus=hopper:1 --gpus-per-node=hopper:1 --gpus-per-task=hopper:1 --gres=gpu:hopper:1 "
        "--cpus-per-gpu=1 --mem-per-gpu=1 --requeue --test-only --wrap=true --ntasks=1",
        "--mem-per-cpu=1 --test-only --wrap=true",
    ),
    "squeue": (
        "--format=%i --jobs=1 --name=x --nodelist=worker-0 --partition=main --qos=normal "
        "--sort=i --states=all --all --array --noheader",
        "--long",
        "--Format=jobid --start",
        "--steps=1.0",
        "--json",
    ),
    "sacct": (
        "--endtime=now --format=jobid --jobs=1 --name=x --nodelist=worker-0 --partition=main "
        "--qos=normal --starttime=now-1hour --state=CD --units=M --allocations "
        "--duplicates --noheader --parsable",
        "--long --parsable2",
        "--json",
    ),
    "sinfo": (
        "--format=%n --nodes=worker-0 --partition=main --states=idle --Node --noheader "
        "--responding",
        "--long",
        "--Format=nodelist",
        "--list-reasons",
        "--summarize",
        "--json",
    ),
    "scancel": (
        "--name=nothing --partition=main --signal=TERM --state=PENDING --batch --quiet --verbose",
        "--name=nothing --full --hurry",
    ),
}
NOT_KNOWN = re.compile("unrecognized option|invalid option|ambiguous|an argument|Unknown option")


def every_option_of_the_table_is_one_of_slurms(caller: HttpCaller, path: str) -> None:
    assert set(TRIED) == set(RULES)
    for program, rule in RULES.items():
        lines = [line.split() for line in TRIED[program]]
        tried = {word[2:].partition("=")[0] for line in lines for word in line}
        assert tried == rule.valued | rule.flags, program
        bound = [each.format(account="default", comment="x") for each in rule.bound]
        for line in lines:
            question = {"argv": [program, *line, *bound], "wait_s": 30}
            told = ask(caller, path, member=CONTROLLER, do="slurm", **question)
            assert not NOT_KNOWN.search(told["err"]), (line, told)
            assert told["code"] == 0 or program in ("sbatch", "scancel"), (line, told)


def a_person_submits_sees_and_cancels(caller: HttpCaller, path: str, ana: Person) -> None:
    words = ("c", "submit", "--", "sbatch", "--parsable", "-J", "long", *SMALL)
    job = well(ana.calls(*words, "--wrap=sleep 600")).strip()
    until(lambda: is_in(caller, path, job, state="RUNNING"), "it runs")
    shown = well(ana.calls("c", "read", "--", "squeue", "-h", "-o", "%i|%a|%k"))
    (row,) = [each for each in shown.splitlines() if each.startswith(f"{job}|")]
    said = re.fullmatch(rf"{job}\|default\|principal=ana;call=(\d+);correlation=(\S+)", row)
    assert said, row
    record = caller.ask("GET", f"/v1/tenants/main/records?cursor={said[1]}&limit=1")["items"][0]
    assert (record["seq"], record["kind"]) == (int(said[1]), "app_instance_called"), record
    assert record["actor"] == "ana"
    assert record["correlation_id"] == said[2]
    assert well(ana.calls("c", "cancel", "--", "scancel", job)) == ""
    until(lambda: is_in(caller, path, job, state="CANCELLED"), "it is cancelled")
    columns = "jobid,account,comment"
    books = well(ana.calls("c", "read", "--", "sacct", "-XnP", "-j", job, "-o", columns))
    assert books.strip() == row


def a_script_is_read_here_and_sent(
    caller: HttpCaller, path: str, ana: Person, folder: Path
) -> None:
    script, wrote = folder / "job.sh", folder / "wrote"
    script.write_text(
        f"#!/bin/sh\n#SBATCH -J script --mem=1 # small\n#SBATCH -o {wrote}\n"
        "#PBS -N otherwise\necho ran; sleep 1\n"
    )
    assert "Submitted" in well(ana.calls("--input", str(script), "c", "submit", "--", "sbatch"))
    until(lambda: wrote.exists() and wrote.read_text() == "ran\n", "the script ran")
    typed = ana.types(*FRONT, "--on", "c", "sbatch", "-J", "typed", "--parsable", str(script))
    job = well(typed).strip()
    until(lambda: is_in(caller, path, job, state="COMPLETED"), "the second has run")
    assert jobs(caller, path, "typed") == [job], "what is typed stands above the script"
    link = folder / "sinfo"
    link.symlink_to(Path(sys.executable).parent / "bailiwick-slurm")
    assert (
        "named" in ana.types(*FRONT, "squeue").stderr
        or "which instance" in ana.types(*FRONT, "squeue").stderr
    )


def who_has_not_the_key_is_refused(caller: HttpCaller, path: str, operator: Operator) -> None:
    vic = person(caller, operator, "vic", role="project_viewer")
    refused = vic.calls("c", "submit", "--", "sbatch", *SMALL, "--wrap=true")
    assert (refused.returncode, "scheduler.queue.submit" in refused.stderr) == (3, True), refused
    assert "JOBID" in well(vic.calls("c", "read", "--", "squeue"))
    sly = vic.asks(path, "read", "sbatch", "--wrap=true")
    assert sly["reply"]["exit_code"] == USAGE, "a program goes with its own verb"
    caller.ask("POST", "/v1/tenants/main/projects", {"project": "other"}, key="other")
    caller.ask("POST", "/v1/tenants", {"tenant": "firm"}, key="firm")
    caller.ask("POST", "/v1/tenants/firm/projects", {"project": "default"}, key="firms")
    places = {"bob": "/v1/tenants/main/projects/other", "cy": "/v1/tenants/firm/projects/default"}
    for name, place in places.items():
        stranger = person(caller, operator, name, role="project_admin", project=place)
        for way in (path, path.replace(PROJECT, place)):
            assert failure(stranger, way, "squeue") in ("not_found", "permission_denied")


def failure(who: Person, path: str, *argv: str, verb: str = "read") -> str:
    try:
        found = who.asks(path, verb, *argv)
    except CallFailed as failed:
        return failed.code
    raise AssertionError(found)


REFUSED = [
    ("sbatch", "--uid=0", "--wrap=true"),
    ("sbatch", "--account=root", "--wrap=true"),
    ("sbatch", "--export-file=/etc/passwd", "--wrap=true"),
    ("sbatch", "/etc/passwd"),
    ("sbatch", "--comment=principal=eve", "--wrap=true"),
]
LINES = [
    "#SBATCH --uid=0",
    "#SBATCH --account=root",
    '#SBATCH --job-name="a" --uid=0',
    "#SLURM --uid=0",
    "#BSUB -J other",
]


def what_is_not_in_the_table_is_not_run(caller: HttpCaller, path: str, ana: Person) -> None:
    before = slurm(caller, path, "squeue", "-h", "-t", "all", "-o", "%i")
    for argv in REFUSED:
        said = ana.asks(path, "submit", *argv)["reply"]
        assert said["exit_code"] == USAGE, (argv, said)
    for line in LINES:
        said = ana.asks(path, "submit", "sbatch", stdin=f"#!/bin/sh\n{line}\ntrue\n")["reply"]
        assert said["exit_code"] == USAGE, (line, said)
    assert slurm(caller, path, "squeue", "-h", "-t", "all", "-o", "%i") == before
    wish = {"name": "d", "app": "slurm", "version": FIRST, "counts": {"worker": 0}}
    other = f"{ALL}/{caller.ask('POST', ALL, wish, key='other-instance')['instance_id']}"
    caller.ask("DELETE", other, key="delete-other")
    assert failure(ana, other, "squeue") == "instance_refused"


def whose(operator: Operator) -> tuple[int, dict[str, str]]:
    """What is said of each job, by its number."""
    done = operator.command("jobs", "c", "--keys", str(operator.keys))
    rows = [line.split(" ", 1) for line in done.stdout.decode().splitlines()]
    return done.returncode, dict(rows)


def a_job_is_whose_it_was_whatever_is_written_to_it(
    caller: HttpCaller, path: str, ana: Person, operator: Operator
) -> None:
    # All of a cluster have one user: what is run here is what any job could run.
    first, second = submit(ana, path, "one", script="sleep 2"), submit(ana, path, "two")
    for what in ("comment=principal=eve", "admincomment=x", "admincomment="):
        told = ask(
            caller, path, member=CONTROLLER, do="slurm", wait_s=30,
            argv=["scontrol", "update", f"jobid={first}", what],
        )  # fmt: skip
        assert told["code"] != 0, (what, told)
    for job in (first, second):
        until(lambda: is_in(caller, path, job, state="COMPLETED"), "it has run")  # noqa: B023
    until(lambda: {first, second} <= set(whose(operator)[1]), "the books have both")
    found = whose(operator)[1]
    assert {found[each].split()[0] for each in (first, second)} == {"ana"}, found
    around = slurm(
        caller, path, "sbatch", "--parsable", *SMALL, "--comment=principal=ana;call=1",
        "--wrap=sleep 1",
    ).strip()  # fmt: skip
    mark = slurm(caller, path, "sacct", "-XnP", "-j", first, "-o", "admincomment").strip()
    forged = ("admincomment=" + mark, "admincomment=" + mark.replace("ana", "eve"))
    until(lambda: is_in(caller, path, around, state="COMPLETED"), "it has run as well")
    for job, what in zip((second, first), forged, strict=True):
        slurm(caller, path, "sacctmgr", "-i", "modify", "job", f"jobid={job}", "set", what)
    until(lambda: around in whose(operator)[1], "the books have it")
    code, found = whose(operator)
    assert code == 3
    assert found[around] == "(nobody) no_mark"
    assert found[second] == "(nobody) mark_of_another_job"
    assert found[first] == "(nobody) mark_not_ours"
    until(lambda: b"jobs are nobody's" in operator.log.read_bytes(), "the operator found them")


def a_question_is_answered_once_however_the_operator_ends(
    caller: HttpCaller, path: str, ana: Person, operator: Operator
) -> None:
    words = ("sbatch", "--parsable", *SMALL, "--wrap=true")

    def phase(number: int) -> str:
        return str(caller.ask("GET", f"{path}/calls/{number}")["phase"])

    operator.end(signal.SIGKILL)
    waits = ana.asks(path, "submit", *words, "-J", "waited", wait_s=0)["call_id"]
    assert phase(waits) == "open"
    operator.start()
    until(lambda: phase(waits) == "answered", "the next one answers it")
    until(lambda: len(jobs(caller, path, "waited")) == 1, "the books have it")
    broken = ana.asks(path, "submit", *words, "-J", "broken", wait_s=0, within_s=8)["call_id"]
    until(lambda: phase(broken) != "open", "the operator has the question")
    operator.end(signal.SIGKILL)
    operator.start()
    until(lambda: phase(broken) in ("answered", "unanswered"), "it is over")
    after = submit(ana, path, "after")
    until(lambda: jobs(caller, path, "after") == [after], "the books have what came after it")
    assert len(jobs(caller, path, "waited")) == 1
    assert len(jobs(caller, path, "broken")) <= 1, "it may have run, and it ran no more than once"


def what_jobs_used_is_told_as_the_books_have_it(
    caller: HttpCaller, path: str, ana: Person, operator: Operator
) -> None:
    job = submit(ana, path, "used", script="sleep 4")
    until(lambda: is_in(caller, path, job, state="RUNNING"), "it runs")
    operator.end(signal.SIGKILL)
    operator.start()
    until(lambda: is_in(caller, path, job, state="COMPLETED"), "it has run")

    def told() -> dict[str, int]:
        return {each["unit"]: each["quantity"] for each in usage(caller, path)["units"]}

    def books() -> dict[str, int]:
        fields = ("-aXnPD", "-S", "now-1day", "-o", "elapsedraw,alloccpus")
        rows = [row.split("|") for row in slurm(caller, path, "sacct", *fields).splitlines()]
        ran = [(int(seconds), int(cpus)) for seconds, cpus in rows]
        sums = {"job_second": sum(s for s, _ in ran), "cpu_second": sum(s * c for s, c in ran)}
        return sums | {"gpu_second": 0}

    assert books()["job_second"] >= 4
    until(lambda: told() == books(), "what was told is what the books have")
    found = caller.ask("GET", "/v1/findings")["items"]
    assert [each for each in found if "told" in json.dumps(each)] == [], "no more than was held"


def usage(caller: HttpCaller, path: str) -> dict[str, Any]:
    return caller.ask("GET", f"{path}/usage")

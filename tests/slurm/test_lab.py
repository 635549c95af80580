"""The lab: it is used as its tutorial says, and nothing is left of it, however it ends."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.operators.slurm.queue.programs import RULES, SHARED_RULES, QueuePlace, argv_of
from bailiwick.vocab.apps import CallVerb
from bailiwick.wire.instances import TakenCall
from examples.lab.campus import NODES, PEOPLE, PROJECTS, Campus
from examples.lab.clusters import OWNER, SIGNS
from examples.lab.guide import OF_A_PROJECT, OF_THE_DEPARTMENT, guide
from examples.lab.room import ROOT, clean_folder, in_a_room
from tests.e2e.test_tutorials import FOLDER, IN_THE_LAB
from tests.support.reader import LAB, Typed, new_reader, read_steps
from tests.support.tools import leave_out, need
from tests.support.waiting import until
from tests.unit.cli.test_examples import LEAVES


@pytest.fixture
def folder() -> Iterator[Path]:
    """One with a short name, that is not there yet."""
    above = Path(tempfile.mkdtemp(prefix="bw-l-"))
    yield above / "lab"
    assert processes_of(above) == [], "nothing of it runs any more"
    shutil.rmtree(above)


def processes_of(folder: Path) -> list[str]:
    """Processes that name the folder in their words."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def may_have_rooms() -> bool:
    if shutil.which("unshare") is None:
        return False
    return not subprocess.run(in_a_room(["true"]), capture_output=True, check=False).returncode


@pytest.mark.skipif(not may_have_rooms(), reason="needs root or user namespaces")
def test_when_whoever_asked_for_it_is_killed_all_of_it_ends(folder: Path) -> None:
    mark = f"sleep 1000; : {folder}"
    # Its first process leaves another behind, in a session of its own, which nobody waits for.
    script = f"setsid sh -c '{mark}' & sh -c '{mark}'"
    program = (
        "import subprocess, sys, time; from examples.lab.room import in_a_room;"
        " words = in_a_room(['sh', '-c', sys.argv[1]]);"
        " subprocess.Popen(words, start_new_session=True); time.sleep(1000)"
    )
    outer = subprocess.Popen([sys.executable, "-c", program, script], cwd=ROOT)
    try:
        until(lambda: len(processes_of(folder)) >= 4, "both are there")
    finally:
        outer.send_signal(signal.SIGKILL)
        outer.wait()
    until(lambda: processes_of(folder) == [], "all of it has ended")


def test_there_is_one_lab_at_a_time_and_its_folder_is_gone_afterwards(folder: Path) -> None:
    folder.mkdir()
    (folder / "left").write_text("of a lab that was killed")
    with clean_folder(folder):
        assert list(folder.iterdir()) == []
        (folder / "new").touch()
        with pytest.raises(SystemExit, match="runs already"), clean_folder(folder):
            pass
        assert (folder / "new").exists(), "the one that runs keeps its own"
    assert list(folder.parent.iterdir()) == []


def test_make_lab_is_what_is_tested_here() -> None:
    told = subprocess.run(
        ["make", "-n", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "-m examples.lab" in told.stdout
    pages = [read_steps((FOLDER / f"{name}.md").read_text("utf-8")) for name in IN_THE_LAB]
    for steps in pages:
        assert isinstance(steps[0], Typed)
        assert steps[0].command == LAB


def typed_in(text: str) -> list[list[str]]:
    """The words of each of our commands in a line of a shell, or in lines of a guide."""
    found = re.findall(r"^ *(?:until )?(bailiwick [^;|#\n]*)", text, re.M)
    return [shlex.split(each) for each in found]


def check_typed(words: list[str]) -> None:
    """There is such a command with such options, and a cluster would run what it is asked."""
    known = [each for each in LEAVES if words[1 : 1 + len(each.split())] == each.split()]
    assert known, f"there is no such command: {words}"
    name = max(known, key=len)
    LEAVES[name].make_context(name, words[1 + len(name.split()) :])
    if name not in ("app call", "shared call"):
        return
    at = words.index("--")
    call = TakenCall(
        call_id=1,
        tenant="campus",
        project="vision",
        instance_id=1,
        verb=CallVerb(words[at - 1]),
        principal="ben",
        correlation_id="c-1",
        argv=words[at + 1 :],
        stdin="#!/bin/sh\nid\n" if "--input" in words else "",
        expires_ms=1,
        part=None,
    )
    rules = SHARED_RULES if name == "shared call" else RULES
    argv_of(call, QueuePlace("vision", "vision", rules))


def test_every_command_that_the_lab_tells_can_be_typed(tmp_path: Path) -> None:
    """The tutorials are followed to their ends where there is time; this is seen at every test."""
    (tmp_path / "greet.sh").touch()
    told = [each for part in (OF_A_PROJECT, OF_THE_DEPARTMENT) for each in typed_in(part)]
    assert len(told) == sum(part.count("\n  ") for part in (OF_A_PROJECT, OF_THE_DEPARTMENT))
    for name in IN_THE_LAB:
        steps = read_steps((FOLDER / f"{name}.md").read_text("utf-8"))
        lines = [each.command for each in steps if isinstance(each, Typed)]
        mine = [each for line in lines for each in typed_in(line)]
        assert len(mine) > len(lines) // 2, name
        told += [[str(tmp_path / w) if w == "greet.sh" else w for w in each] for each in mine]
    for words in told:
        check_typed(words)
    for wrong, why in (
        ("bailiwick shared atach dept vision", "no such command"),
        ("bailiwick shared show dept --all", "No such option"),
        ("bailiwick shared call dept submit -- sbatch --qos=x --wrap=id", "no option --qos"),
    ):
        with pytest.raises(Exception, match=why):
            check_typed(wrong.split())


def test_the_guide_lets_everybody_log_in_and_speaks_of_what_is_there() -> None:
    campus = Campus(Path("/lab"), codes={who: f"code-of-{who}" for who in PEOPLE})
    text = guide(campus)
    assert all(f"code-of-{who}    # {who} " in text for who in PEOPLE)
    words = OF_A_PROJECT + OF_THE_DEPARTMENT
    assert {*re.findall(r"\b[Aa]s (\w+),", words)} <= {*PEOPLE}
    assert {*re.findall(r"--(?:for-)?project (\w+)", words)} <= {*PROJECTS}
    assert {project for _, project in PEOPLE.values()} <= {None, *PROJECTS}
    assert {*SIGNS, OWNER} <= {*PROJECTS}
    assert all(PEOPLE[who] == ("project_admin", project) for project, who in SIGNS.items())
    assert len(NODES) == 4


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", IN_THE_LAB)
def test_a_reader_follows_the_tutorial_in_the_lab(name: str, folder: Path, tmp_path: Path) -> None:
    need("slurm")
    if name == "department-cluster" and os.geteuid() != 0:
        leave_out("root", "members become the users of several projects, which takes root")
    reader = new_reader(tmp_path)
    reader.lab = (sys.executable, "-m", "examples.lab", "--folder", str(folder))
    reader.patience_s = 900.0  # it has a cluster in it, and the machine other things to do
    try:
        reader.follow(read_steps((FOLDER / f"{name}.md").read_text("utf-8")))
    finally:
        reader.leave()
    assert list(folder.parent.iterdir()) == []

"""The lab: it is used as its tutorial says, and nothing is left of it, however it ends."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.lab.room import ROOT, clean_folder, in_a_room
from tests.e2e.test_tutorials import FOLDER, IN_THE_LAB
from tests.support.reader import LAB, Typed, new_reader, read_steps
from tests.support.tools import need
from tests.support.waiting import until


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


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", IN_THE_LAB)
def test_a_reader_follows_the_tutorial_in_the_lab(name: str, folder: Path, tmp_path: Path) -> None:
    need("slurm")
    reader = new_reader(tmp_path)
    reader.lab = (sys.executable, "-m", "examples.lab", "--folder", str(folder))
    reader.patience_s = 900.0  # it has a cluster in it, and the machine other things to do
    try:
        reader.follow(read_steps((FOLDER / f"{name}.md").read_text("utf-8")))
    finally:
        reader.leave()
    assert list(folder.parent.iterdir()) == []

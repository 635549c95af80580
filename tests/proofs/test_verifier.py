"""A verifier that dies, hangs or talks nonsense has proven nothing, and the next question is asked
of a new one. A small program stands in for Nagini; what it does is in the text to verify.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "proofs" / "nagini")]
import verifier  # noqa: E402
from verifier import Nagini  # noqa: E402

LONG_S = 300.0
SESSION = f"""#!{sys.executable}
import json, os, sys, time
for line in sys.stdin:
    question = json.loads(line)
    said = {{"said": "Verification successful", "is_verified": True, "pid": os.getpid()}}
    exec(question["text"])
    print(json.dumps(said), flush=True)
"""


@pytest.fixture
def nagini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nagini]:
    python = tmp_path / "python"
    python.write_text(SESSION)
    python.chmod(0o755)
    monkeypatch.setattr(verifier, "PYTHON", python)
    monkeypatch.setattr(verifier, "java", lambda: (tmp_path, "17"))
    with Nagini() as found:
        yield found


def test_one_process_answers_many_questions(nagini: Nagini) -> None:
    same = "said['said'] += str(os.getpid())"
    first = nagini.verify(same, "total", limit_s=LONG_S)
    second = nagini.verify(same, "total", limit_s=LONG_S)
    assert first.is_verified
    assert second.is_verified
    assert first.words == second.words


def test_one_that_dies_has_proven_nothing_and_tells_what_of(nagini: Nagini) -> None:
    dead = nagini.verify("sys.exit('no memory left')", "total", limit_s=LONG_S)
    assert (dead.is_verified, dead.is_refused, dead.is_out_of_time) == (False, False, False)
    assert "no memory left" in dead.words
    assert nagini.verify("", "total", limit_s=LONG_S).is_verified


def test_one_that_dies_between_two_questions_is_started_again(nagini: Nagini) -> None:
    assert nagini.verify("", "total", limit_s=LONG_S).is_verified
    process = nagini._process
    assert process is not None
    process.kill()
    process.wait()
    assert not nagini.verify("", "total", limit_s=LONG_S).is_verified
    assert nagini.verify("", "total", limit_s=LONG_S).is_verified


def test_one_that_does_not_answer_in_time_is_ended_with_all_it_started(
    nagini: Nagini, tmp_path: Path
) -> None:
    solver = tmp_path / "solver"
    text = f"""
import subprocess
started = subprocess.Popen(["sleep", "3600"])
open({str(solver)!r}, "w").write(str(started.pid))
time.sleep(3600)
"""
    late = nagini.verify(text, "total", limit_s=5)
    assert (late.is_verified, late.is_refused, late.is_out_of_time) == (False, False, True)
    pid = solver.read_text() if solver.exists() else ""
    assert not pid or is_gone(int(pid))  # on a very slow machine it never came so far
    assert nagini.verify("", "total", limit_s=LONG_S).is_verified


def is_gone(pid: int) -> bool:
    """It was killed; whoever inherits it takes a moment to bury it."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    "said",
    [
        "said['is_verified'] = 1",
        "said['is_verified'] = False",
        "said['said'] = 'Translation failed'",
        "said['said'] = 'Nothing was selected. Verification successful'",
    ],
)
def test_only_a_success_that_nagini_calls_one_is_a_proof(nagini: Nagini, said: str) -> None:
    assert not nagini.verify(said, "total", limit_s=LONG_S).is_verified


def test_only_a_fault_that_was_found_is_a_refusal(nagini: Nagini) -> None:
    failed = "said.update(is_verified=False, said='Verification failed\\nErrors:\\nwrong')"
    assert nagini.verify(failed, "total", limit_s=LONG_S).is_refused
    broken = "said.update(is_verified=False, said='Translation failed')"
    assert not nagini.verify(broken, "total", limit_s=LONG_S).is_refused


def test_what_could_change_an_answer_is_not_passed_on(
    nagini: Nagini, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Z3_EXE", "VIPERJAVAPATH", "SILICONJAR", "MYPYPATH", "_JAVA_OPTIONS"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    said = nagini.verify("said['said'] += ' ' + repr(dict(os.environ))", "total", limit_s=LONG_S)
    assert "/elsewhere" not in said.words
    assert "-Xmx1m" not in said.words
    assert os.environ["PATH"] in said.words


def test_nothing_is_left_when_it_ends(tmp_path: Path, nagini: Nagini) -> None:
    where = nagini.verify("said['said'] += ' ' + os.getcwd()", "total", limit_s=LONG_S)
    folder = Path(where.words.split()[-1])
    assert folder.is_dir()
    nagini.end()
    nagini.end()
    assert not folder.parent.exists()

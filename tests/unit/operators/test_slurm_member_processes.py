"""How a program ended is told to who started it, though the member forgets orphans that ended.

Each in a process of its own: who adopts and forgets does so to everything below it.
"""

from __future__ import annotations

import subprocess
import sys

from tests.support.waiting import WAIT_S

BEGIN = """
import os, time
from bailiwick.operators.slurm.member import processes as p

def await_dead():
    while "Z" not in p.descendants(os.getpid()).values():
        time.sleep(0.01)
"""
OWN = """
process = p.launch(("sh", "-c", "exit 3"))
await_dead()
p.reap()
print(process.wait())
p.reap()
print(len(p._launched))
"""
ORPHAN = """
p.adopt_orphans()
p.launch(("sh", "-c", "sleep 0.1 & :")).wait()
await_dead()
p.reap()
print(len(p.descendants(os.getpid())))
"""


def said(body: str) -> list[str]:
    words = (sys.executable, "-c", BEGIN + body)
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S, check=True)
    return done.stdout.split()


def test_a_program_that_has_ended_keeps_its_code_for_who_started_it() -> None:
    assert said(OWN) == ["3", "0"], "its code, and then nothing is kept of it"


def test_an_orphan_that_has_ended_is_forgotten() -> None:
    assert said(ORPHAN) == ["0"]

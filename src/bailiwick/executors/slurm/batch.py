"""The batch script of one job, and what it leaves in the job's folder for us to read.

The folder lies on a file system that the node sees too. Files in it, by the names below:

- ``current`` holds the number of the one submission that counts. A submission that another has
  replaced (the cluster had lost it, and found it again) reads a number that is not its own, and
  ends without having done anything.
- ``started`` is a folder that the script makes before anything else. Making it fails the second
  time, so a program is run once, however often the cluster runs the script: after a crash of the
  controller it may do so, without a word.
- ``environment`` holds the user's variables and the token, for this user alone; the script reads it
  and removes it before the program runs. None of it is in an argument list, nor at the controller.
- ``taken`` is written by us: the cluster had taken the job's place back before we ended it.
- ``unstarted`` names what could not be had, if the program never ran; ``exit`` how it ended.

Rules:

- The script needs a POSIX shell and ``date``, nothing of ours: a node has no Bailiwick on it.
- Every word of a user is quoted; no name or value is ever a piece of the script's own text.

>>> print(assignment("MINE", "it's"))
export MINE='it'"'"'s'
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bailiwick.executors.port import Exited, JobSpec
from bailiwick.vocab.errors import Damaged, InvalidValue

WORK, TOKEN, WARNING = "work", "token", "PREEMPTION"
CURRENT, STARTED, ENVIRONMENT, UNSTARTED, EXIT = (
    "current",
    "started",
    "environment",
    "unstarted",
    "exit",
)
OUTPUT, BATCH, STATE, TAKEN = "output", "batch", "state.json", "taken"

SUPERSEDED = 124
"""What a script ends with that found another in its place."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNAL_MAX: Final = 64
_LEFT_TO_THE_CLUSTER = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
"""The cluster hands devices out itself, and says which."""


def assignment(name: str, value: str) -> str:
    """A line that gives a shell one variable."""
    if not _NAME.fullmatch(name):
        raise InvalidValue(f"env.{name}", "(not shown)", "a name that a shell can set")
    return f"export {name}={shlex.quote(value)}"


def environment_text(spec: JobSpec, folder: Path) -> str:
    """What the job finds in its environment beside what the cluster gives it."""
    ours = {
        **spec.told,
        "BAILIWICK_LEASE_ID": str(spec.lease_id),
        "BAILIWICK_LEASE_TOKEN": spec.token,
        "BAILIWICK_LEASE_TOKEN_FILE": str(folder / TOKEN),
        "BAILIWICK_PREEMPTION_FILE": str(folder / WORK / WARNING),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    if spec.server:
        ours["BAILIWICK_SERVER"] = spec.server
    base: Mapping[str, str] = {"LANG": "C.UTF-8"}
    told = {**base, **spec.env, **ours}
    return "".join(assignment(name, value) + "\n" for name, value in told.items())


def script_text(argv: Sequence[str], folder: Path, *, cwd: Path, submission: str) -> str:
    """The batch script of one submission of a job."""
    words = " ".join(shlex.quote(word) for word in argv)
    return _SCRIPT.format(
        folder=shlex.quote(str(folder)),
        cwd=shlex.quote(str(cwd)),
        program=shlex.quote(argv[0]),
        words=words,
        submission=shlex.quote(submission),
        superseded=SUPERSEDED,
        devices="; ".join(f"export {name}=${{{name}-}}" for name in _LEFT_TO_THE_CLUSTER),
    )


# ``set -m`` is left out on purpose: the program and the script are one job to the cluster, which
# ends both. A signal that warns is for the program; the script outlives it.
_SCRIPT = """#!/bin/sh
folder={folder}
cd "$folder" || exit 125
[ "$(cat current)" = {submission} ] || exit {superseded}
mkdir started || exit {superseded}
trap : USR1
tell() {{ echo "$2" > "$1.new" && mv "$1.new" "$1"; }}
refuse() {{ tell unstarted "$1"; exit 125; }}
began=$(date +%s%3N)
[ -d {cwd} ] && ( cd {cwd} ) || refuse cwd
(
  . ./environment
  rm -f environment
  {devices}
  cd {cwd}
  command -v {program} > /dev/null || {{ cd "$folder"; echo program > unprogram; exit 127; }}
  trap - USR1
  exec {words}
) < /dev/null
code=$?
[ -e unprogram ] && refuse program
tell exit "$code $began $(date +%s%3N)"
exit "$code"
"""


def parse_exit(text: str) -> tuple[Exited, int]:
    """How the program ended by the script's own word, and when it had begun."""
    words = text.split()
    try:
        code, began_ms, ended_ms = (int(word) for word in words)
    except ValueError:
        raise Damaged("the exit file of a job", "its text", "is not three numbers") from None
    if not 0 <= code <= 255 or not 0 <= began_ms <= 2**52 or not 0 <= ended_ms <= 2**52:
        raise Damaged("the exit file of a job", "its text", "has no such numbers")
    return Exited(*split_code(code), ended_ms, is_emptied=False), began_ms


def split_code(code: int) -> tuple[int | None, int | None]:
    """A shell's number for an end: its code, or the signal that a shell tells as 128 and more.

    >>> split_code(3), split_code(137)
    ((3, None), (None, 9))
    """
    number = code - 128
    return (None, number) if 0 < number <= _SIGNAL_MAX else (code, None)

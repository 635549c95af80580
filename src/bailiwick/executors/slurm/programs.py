"""Slurm's own programs: called with bounded patience, and their answers read strictly.

Rules:

- Free text is never asked for: every field that is read is a number, a closed word or a name that
  we gave. So nothing that another user writes into his job can be taken for an answer.
- An answer that cannot be had is ``Unavailable``, and nothing follows from it: a cluster that does
  not answer has lost no job.
- What is cancelled is named by its number and its name: a controller that crashed meanwhile has
  given the number away again.
- A refusal of ``sbatch`` is told apart from silence by the exit code *and* its words: whoever could
  not reach the controller does not know whether it heard.

>>> name = "bw-0123abcd-7-0123456789ab"
>>> parse_queue(f"17|RUNNING|{name}|2026-11-16T20:00:01|0:0")[name].state
'RUNNING'
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bailiwick.executors.slurm.nodes import FORMAT, OUR_REASON, SlurmMachine, parse_nodes
from bailiwick.vocab.errors import Damaged, InvalidValue, Unavailable

WAIT_S: Final = 30.0
ANSWER_BYTES_MAX: Final = 64 * 2**20
NAME = re.compile(r"bw-[0-9a-f]{8}-(\d{1,16})-[0-9a-f]{12}")
"""How a submission is called: whose, for which lease, and which one of that lease."""

_QUEUE = ("squeue", "--noheader", "--states=all", "--array")
_FIELDS = "jobid:|,state:|,name:|,submittime:|,exit_code:|,reason:"
_STATE = re.compile(r"[A-Z_]{2,32}")
_SUBMITTED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_AWAY = re.compile(r"contact|timed out|connect|communicat|try again|not responding", re.IGNORECASE)

IS_WAITING: Final = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD"}
)
IS_THERE: Final = frozenset(
    {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
)
"""States in which something of the job may live; every other one is an end."""

NODE_LOST: Final = frozenset({"NODE_FAIL", "BOOT_FAIL"})
TAKEN: Final = frozenset({"PREEMPTED", "REVOKED"})


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job as the controller tells it."""

    job_id: int
    state: str
    submitted: str
    exit_code: int
    """How its script ended, as a shell tells it: a signal as 128 and more."""
    reason: str = ""
    """Why it waits, in the controller's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What is asked of the cluster for one job."""

    name: str
    script: str
    folder: str
    output: str
    node: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    cores: int = 1
    mem_bytes: int | None = None
    gpus: Mapping[str, int] = field(default_factory=dict)
    """How many by type; the empty type is whichever the node has."""

    def options(self) -> list[str]:
        """The options of ``sbatch``; all have values that cannot be taken for another option."""
        gres = [":".join(filter(None, ("gpu", k, str(n)))) for k, n in self.gpus.items()]
        asked = {
            "job-name": self.name,
            "comment": self.name,
            "chdir": self.folder,
            "output": self.output,
            "open-mode": "append",
            "export": "NIL",
            "nodes": "1",
            "ntasks": "1",
            "cpus-per-task": str(self.cores),
            "nodelist": self.node,
            "account": self.account,
            "partition": self.partition,
            "qos": self.qos,
            "mem": f"{-(-self.mem_bytes // 2**20)}M" if self.mem_bytes is not None else "",
            "gres": ",".join(gres),
        }
        given = [f"--{name}={value}" for name, value in asked.items() if value]
        return [*given, "--no-requeue", "--parsable"]


class SlurmPrograms:
    """The programs of one cluster, as this machine's user may call them."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(os.environ if environment is None else environment)

    def submit(self, asked: Submission) -> int:
        """Submit a job; its number. ``InvalidValue`` if the cluster refuses it for good."""
        done = self._call(("sbatch", *asked.options()), given=asked.script.encode())
        told = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode:
            if _AWAY.search(told):
                raise Unavailable("the cluster", last_line(told))
            raise InvalidValue(
                "limits", asked.name, f"what the cluster accepts ({last_line(told)})"
            )
        number = done.stdout.decode("ascii", "replace").strip().partition(";")[0]
        if not number.isdecimal():
            raise Damaged("the answer of sbatch", "its text", "is no number")
        return int(number)

    def queue(self) -> dict[str, QueuedJob]:
        """Our submissions that the controller knows, by their names."""
        me = f"--user={os.getuid()}"
        return parse_queue(self._ask((*_QUEUE, me, f"--Format={_FIELDS}")))

    def cancel(self, job_id: int, *options: str, name: str) -> None:
        """End a job, or with options send it a signal; one that is gone is no error."""
        self._call(("scancel", "--quiet", *options, f"--name={name}", str(job_id)))

    def nodes(self, partition: str = "") -> dict[str, SlurmMachine]:
        """The nodes that are there, of one partition or of all."""
        which = (f"--partition={partition}",) if partition else ()
        return parse_nodes(self._ask(("sinfo", "--noheader", "--Node", *which, f"-O{FORMAT}")))

    def set_drained(self, node: str, *, is_drained: bool) -> None:
        """Have a node take no new work, under our own word, or take work again."""
        told = f"reason={OUR_REASON}: closed there"
        words = ("state=drain", told) if is_drained else ("state=resume",)
        self._ask(("scontrol", "update", f"nodename={node}", *words))

    def used(self, job_id: int) -> tuple[int, int | None] | None:
        """CPU time in milliseconds and the most memory, if accounting tells them."""
        words = ("sacct", "-nP", "-j", str(job_id), "-o", "totalcpu,maxrss", "--units=K")
        try:
            return parse_used(self._ask(words))
        except Unavailable:
            return None  # a cluster may keep no accounts

    def _ask(self, words: Sequence[str]) -> str:
        done = self._call(words)
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip()
            raise Unavailable("the cluster", last_line(told) or f"{words[0]} failed")
        return done.stdout.decode("utf-8", "replace")

    def _call(
        self, words: Sequence[str], *, given: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            done = subprocess.run(
                words,
                env=self._environment,
                input=given,
                capture_output=True,
                timeout=WAIT_S,
                check=False,
            )
        except FileNotFoundError:
            raise Unavailable("the cluster", f"{words[0]} is not installed here") from None
        except subprocess.TimeoutExpired:
            raise Unavailable("the cluster", f"{words[0]} gave no answer in {WAIT_S:g} s") from None
        if len(done.stdout) > ANSWER_BYTES_MAX:
            raise Unavailable("the cluster", f"{words[0]} told more than can be held")
        return done


def parse_queue(text: str) -> dict[str, QueuedJob]:
    """The answer of ``squeue``; jobs that are not ours are passed over, whatever they look like."""
    found = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.strip().split("|", 5)]
        if len(fields) < 5 or not NAME.fullmatch(fields[2]):
            continue
        number, state, name, submitted, code, *why = fields
        if not number.isdecimal() or not _STATE.fullmatch(state):
            raise Damaged("the answer of squeue", name, "has no number or no state")
        if not _SUBMITTED.fullmatch(submitted):
            raise Damaged("the answer of squeue", name, "has no time of submission")
        found[name] = QueuedJob(int(number), state, submitted, parse_ended(code), "".join(why))
    return found


def parse_ended(text: str) -> int:
    """How a script ended, as a shell tells it.

    ``squeue`` tells the number that wait(2) gave, other programs the code and the signal.

    >>> parse_ended("31744"), parse_ended("15"), parse_ended("124:0"), parse_ended("0:15")
    (124, 143, 124, 143)
    """
    code, colon, number = text.partition(":")
    if not code.isdecimal() or (colon and not number.isdecimal()):
        return 0
    told = int(code)
    ended, signal = (told, int(number)) if colon else (told >> 8 & 0xFF, told & 0x7F)
    return 128 + signal if signal else ended


def parse_used(text: str) -> tuple[int, int | None] | None:
    """The answer of ``sacct``: the sum is in the first row, the most memory in any of its steps.

    >>> parse_used("00:01.250|\\n00:01.250|5120K\\n")
    (1250, 5242880)
    """
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 1]
    if not rows:
        return None
    peaks = [int(row[1][:-1]) for row in rows if re.fullmatch(r"\d{1,15}K", row[1])]
    cpu_ms = _duration_ms(rows[0][0])
    return None if cpu_ms is None else (cpu_ms, max(peaks) * 1024 if peaks else None)


def _duration_ms(text: str) -> int | None:
    """``[DAYS-][HOURS:]MINUTES:SECONDS[.FRACTION]``."""
    found = re.fullmatch(r"(?:(\d{1,5})-)?(?:(\d{1,2}):)?(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?", text)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
    fraction = int((found[5] or "0").ljust(3, "0")[:3])
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + fraction


def last_line(text: str) -> str:
    """What a program said last, without its own name before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("sbatch: error: ")[:200] if lines else ""

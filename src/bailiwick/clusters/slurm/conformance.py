"""A Slurm cluster on trial: jobs that sleep, submitted as one account and another.

Rules:

- Who submits needs the right to submit under every account that is tried. Jobs carry the name
  :data:`JOB_NAME` and a time limit, so that none stays behind if this process dies.
- A user may name any partition, so every one is tried, the cluster's own choice first: the first in
  which the job runs. One that runs nowhere waits where it was first taken.
- A node is taken down (``scontrol update state=down``) only if it is open to work and nothing runs
  on it but jobs of the trial, and it is resumed afterwards; that needs an operator's rights. The
  reason that Slurm shows for it is :data:`JOB_NAME`.
- A job that waits has been considered once Slurm gives a reason for it. Before a trial is over,
  those that wait are given :data:`PATIENCE_S` more: the backfill has its own rhythm.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.clusters.conformance import StepNotPossible, SubmissionRefused
from bailiwick.clusters.live import LiveQuestion, Read
from bailiwick.clusters.slurm.live import watch
from bailiwick.isolation.conformance import TrialNode
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Subject
from bailiwick.vocab.errors import InvalidValue

JOB_NAME: Final = "bailiwick-conformance"
LIMIT_MINUTES: Final = 10
PATIENCE_S: Final = 2.0
CONSIDERED_S: Final = 15.0
"""How long a job may wait without a reason."""
GONE_S: Final = 120.0
EVERY_S: Final = 0.1
WAIT_S: Final = 30

_FLAGS: Final = {
    "account": "--account",
    "partition": "--partition",
    "qos": "--qos",
    "wckey": "--wckey",
    "comment": "--comment",
}
"""By which option a user says what stands for tenant, project or labels."""
_OPEN: Final = ("idle", "mixed", "allocated", "completing", "planned")


def begin(question: LiveQuestion) -> SlurmTarget:
    """The cluster that this machine's programs talk to."""
    if question.files:
        raise InvalidValue("files", len(question.files), "none: the cluster itself is on trial")
    words = (question.tenant_by or "account", question.project_by, question.labels_by)
    for word in filter(None, words):
        if word not in _FLAGS:
            raise InvalidValue("subject", word, "one of " + ", ".join(_FLAGS))
    return SlurmTarget(watch(question), *words)


@dataclass(slots=True)
class SlurmTarget:
    """The cluster, and the jobs of the trial that is on."""

    read: Read
    tenant_by: str
    project_by: str = ""
    labels_by: str = ""
    _ids: dict[str, str] = field(default_factory=dict)
    """Slurm's id of each job of the trial."""
    _down: list[str] = field(default_factory=list)
    """The nodes that were taken down."""

    def now_ms(self) -> int:
        """This machine's time."""
        return time.time_ns() // 1_000_000

    def nodes(self) -> Sequence[TrialNode]:
        """All nodes that are up."""
        cores = {}
        for line in _run("sinfo", "-hNr", "-o", "%N %c").splitlines():
            name, count = line.split()
            cores[name] = int(count)
        sites = self.read().sites
        return [TrialNode(site, cores[name]) for name, site in sites.items() if name in cores]

    def submit(
        self, job: str, subject: Subject, *, cores: int, gpus: int, node: str | None
    ) -> None:
        """Try every partition; stay in the first that takes the job, if it runs in none."""
        self._end([self._ids.pop(job)] if job in self._ids else [])  # lost, and here again
        words = [*self._words(subject), f"--cpus-per-task={cores}"]
        words += [f"--gres=gpu:{gpus}"] if gpus else []
        words += [f"--nodelist={node}"] if node is not None else []
        first: list[str] | None = None
        why = "no partition"
        for choice in self._partitions():
            try:
                self._ids[job] = _submit([*words, *choice])
            except NoAnswer as error:
                why = str(error)
                continue
            if self._runs(job):
                return
            first = [*words, *choice] if first is None else first
            self._end([self._ids.pop(job)])
        if first is None:
            raise SubmissionRefused(why)
        self._ids[job] = _submit(first)

    def cancel(self, job: str) -> None:
        """End a job of the trial."""
        if job in self._states():
            _run("scancel", self._ids[job])

    def lose(self, node: str) -> None:
        """Take a node down on which nobody else is."""
        word = _node_state(node)
        if word not in _OPEN:
            raise StepNotPossible(f"{node} is {word or 'not there'}, not open to work")
        self._down.append(node)
        try:
            _update(node, "state=drain", f"reason={JOB_NAME}")  # from here on nobody comes
            there = {*_run("squeue", "-h", "-a", "-w", node, "-o", "%A").split()}
            if others := there - {*self._ids.values()}:
                self.regain(node)
                raise StepNotPossible(f"{len(others)} jobs of others are on {node}")
            _update(node, "state=down", f"reason={JOB_NAME}")
        except NoAnswer as error:
            if _node_state(node) in _OPEN:  # else it is resumed when all is over
                self._down.remove(node)
            raise StepNotPossible(f"{node} cannot be taken down: {error}") from None

    def regain(self, node: str) -> None:
        """Resume a node that was taken down here, and wait until it is open."""
        if node not in self._down:
            raise StepNotPossible(f"{node} was not taken down here")
        _update(node, "state=resume")
        until_s = time.monotonic() + GONE_S
        while _node_state(node) not in _OPEN:
            if time.monotonic() > until_s:
                raise NoAnswer(f"{node} is not up again after {GONE_S:.0f} s")
            time.sleep(EVERY_S)
        self._down.remove(node)

    def settle(self, *, is_last: bool) -> Iterator[tuple[Placement, ...]]:
        """Look until every job runs or waits for a reason that Slurm gives."""
        until_s = time.monotonic() + CONSIDERED_S
        while True:  # bounded: by the time
            states = self._states()
            yield self._placements()
            if all(_is_considered(*state) for state in states.values()):
                break
            if time.monotonic() > until_s:
                raise NoAnswer(f"a job was not considered in {CONSIDERED_S:.0f} s")
            time.sleep(EVERY_S)
        until_s = time.monotonic() + PATIENCE_S
        while is_last and any(word == "PENDING" for word, _ in self._states().values()):
            if time.monotonic() > until_s:
                break
            time.sleep(EVERY_S)
            yield self._placements()

    def reset(self) -> None:
        """End all jobs of the trial, and resume what was taken down."""
        try:
            self._end([*self._ids.values()])
            self._ids = {}
        finally:
            for node in [*self._down]:
                self.regain(node)

    # -- one look ----------------------------------------------------------------------------

    def _words(self, subject: Subject) -> list[str]:
        labels = ",".join(f"{key}={value}" for key, value in sorted(subject.labels.items()))
        words = [f"{_FLAGS[self.tenant_by]}={subject.tenant}"]
        for by, value in ((self.project_by, subject.project), (self.labels_by, labels)):
            if value and not by:
                raise SubmissionRefused(f"nothing there stands for {value}")
            if value:
                words.append(f"{_FLAGS[by]}={value}")
        return words

    def _partitions(self) -> list[list[str]]:
        if "partition" in (self.tenant_by, self.project_by):
            return [[]]
        names = dict.fromkeys(_run("sinfo", "-ha", "-o", "%R").split())
        return [[], *([f"--partition={name}"] for name in names)]

    def _runs(self, job: str) -> bool:
        """Whether a job that was just submitted runs, once it was considered."""
        until_s = time.monotonic() + CONSIDERED_S
        while time.monotonic() < until_s:
            state = self._states().get(job)
            if state is None or _is_considered(*state):
                return state is not None and state[0] != "PENDING"
            time.sleep(EVERY_S)
        return False

    def _states(self) -> Mapping[str, tuple[str, str]]:
        """State and reason of every job of the trial that Slurm still knows as such."""
        if not self._ids:
            return {}
        names = {number: job for job, number in self._ids.items()}
        told = _run("squeue", "-h", "-a", "-n", JOB_NAME, "-o", "%A|%T|%r")
        rows = (line.split("|", 2) for line in told.splitlines())
        return {names[row[0]]: (row[1], row[2]) for row in rows if row[0] in names}

    def _placements(self) -> tuple[Placement, ...]:
        names = {number: job for job, number in self._ids.items()}
        found = []
        for each in self.read().placements:
            job = names.get(each.id.partition("@")[0])
            if job is not None:
                found.append(replace(each, id=job))
        return tuple(found)

    def _end(self, numbers: list[str]) -> None:
        if not _there(numbers):
            return
        _run("scancel", *numbers)
        until_s = time.monotonic() + GONE_S
        while _there(numbers):
            if time.monotonic() > until_s:
                raise NoAnswer(f"cancelled jobs are still there after {GONE_S:.0f} s")
            time.sleep(EVERY_S)


def _is_considered(word: str, reason: str) -> bool:
    """Whether nothing more follows for the job from what was done so far."""
    if word == "PENDING":
        return reason not in ("None", "")
    return word not in ("CONFIGURING", "COMPLETING")


def _there(numbers: list[str]) -> set[str]:
    """Those of these jobs that have not ended."""
    if not numbers:
        return set()
    return {*_run("squeue", "-h", "-a", "-n", JOB_NAME, "-o", "%A").split()}.intersection(numbers)


def _node_state(node: str) -> str:
    """Slurm's word for a node, without the marks for what else is so; nothing if there is none."""
    told = _run("sinfo", "-h", "-N", "-n", node, "-o", "%T").split()
    return told[0] if told else ""


def _update(node: str, *words: str) -> None:
    _run("scontrol", "update", f"nodename={node}", *words)


def _submit(words: list[str]) -> str:
    told = _run(
        *("sbatch", "--parsable", "--ntasks=1", "--nodes=1", f"--time={LIMIT_MINUTES}"),
        *("--output=/dev/null", "--no-requeue", f"--job-name={JOB_NAME}", *words),
        *("--wrap", f"exec sleep {LIMIT_MINUTES * 60}"),
    )
    return told.strip().partition(";")[0]


def _run(*words: str) -> str:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S, check=False
        )
    except FileNotFoundError:
        raise NoAnswer(f"{words[0]} is not installed here") from None
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{words[0]} gave no answer in {WAIT_S} s") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoAnswer(f"{words[0]} failed: {told[-1] if told else done.returncode}")
    return done.stdout.decode("utf-8", "replace")

"""A job as it stands, and waiting for it: until it runs, or with its output until it is over.

Rules:

- Each stage is told once, on stderr, and only to a terminal.
- A job that has ended decides the exit code: 0 succeeded, 3 refused, cancelled, preempted or
  expired, 1 otherwise. One that has not is 4.
"""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import Ask
from bailiwick.vocab.job_addresses import JobAddress
from bailiwick.vocab.jobs import JobPhase

if TYPE_CHECKING:
    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.jobs import Job, JobOutput

T = TypeVar("T")

POLL_S: Final = 0.5
PATIENCE_S: Final = 60.0
"""How long a follower waits for a server that is away."""
WAIT_S: Final = 15
"""How long the server may hold back an answer that has nothing new."""
CHUNK_BYTES: Final = 65_536
_BEFORE: Final = (JobPhase.WAITING, JobPhase.STARTING)
_DENIED: Final = (JobPhase.CANCELLED, JobPhase.PREEMPTED, JobPhase.EXPIRED, JobPhase.REFUSED)


def exit_code_of(phase: JobPhase) -> ExitCode:
    """How a command that waited for a job ends."""
    if phase is JobPhase.SUCCEEDED:
        return ExitCode.DONE
    if phase in _DENIED:
        return ExitCode.DENIED
    return ExitCode.FAULT if phase.is_over else ExitCode.PENDING


def has_begun(phase: JobPhase) -> bool:
    """Whether the job runs, or is over."""
    return phase not in _BEFORE


class Stages:
    """Tells each stage once, to a terminal."""

    def __init__(self) -> None:
        self._told = ""
        self._loud = sys.stderr.isatty()

    def tell(self, text: str) -> None:
        """Say it, unless it was just said."""
        if self._loud and text != self._told:
            typer.echo(text, err=True)
        self._told = text


def wait_until_running(ask: Ask, job: Job, *, timeout_s: float | None) -> Job:
    """The job once it runs or is over, or as it is when the time is up."""
    until = None if timeout_s is None else time.monotonic() + timeout_s
    stages = Stages()
    while not has_begun(job.phase):  # bounded by the timeout, or the person
        stages.tell(_stage(ask, job))
        if until is not None and time.monotonic() >= until:
            return job
        time.sleep(POLL_S)
        job = patiently(partial(read_job, ask, job.job_id))
    stages.tell(_stage(ask, job))
    return job


def _stage(ask: Ask, job: Job) -> str:
    name = f"job-{job.job_id}"
    if job.phase is not JobPhase.WAITING or job.entry_id is None or not sys.stderr.isatty():
        return f"{name}: {outcome_of(job)}" + (f" on {job.node}" if job.node else "")
    from bailiwick.cli.shared.denials import phrase_denial
    from bailiwick.client.errors import Refusal
    from bailiwick.phrases.estimates import phrase_position
    from bailiwick.phrases.reasons import phrase_turn
    from bailiwick.wire.actions.leases import QUEUE_READ

    try:
        entry = ask.client.send(QUEUE_READ, path={"entry_id": job.entry_id})
    except Refusal:  # it has just left the queue
        return f"{name}: leaves the queue"
    first = min(entry.blockers, key=lambda b: b.reason.rank, default=None)
    why = phrase_turn(entry.position) if first is None else phrase_denial(first)
    return f"{name}: waits {phrase_position(entry.position, entry.is_further)}: {why}"


@dataclass(frozen=True, slots=True)
class Printed:
    """What was printed by one job, member and attempt."""

    number: int
    member: int = 0
    attempt: int | None = None

    def read(self, ask: Ask, offset: int, **more: int) -> JobOutput:
        """A piece of it."""
        from bailiwick.wire.actions.jobs import JOB_OUTPUT

        query: dict[str, Any] = {"offset": offset, **more, "attempt": self.attempt}
        query |= {"member": self.member} if self.member else {}
        return ask.client.send(JOB_OUTPUT, path={"job_id": self.number}, query=query)


def copy_output(ask: Ask, printed: Printed, *, follow: bool, offset: int = 0) -> None:
    """Copy what a job printed to stdout, byte for byte."""
    out = sys.stdout.buffer
    while True:  # bounded by the output there is, or with follow by the job's end
        wait_s = WAIT_S if follow else 0
        found = patiently(partial(printed.read, ask, offset, limit=CHUNK_BYTES, wait_s=wait_s))
        out.write(base64.b64decode(found.data))
        out.flush()
        is_end = found.next_offset == offset
        offset = found.next_offset
        if is_end and (found.is_over or not follow):
            if found.is_truncated:
                typer.echo("bailiwick: the output was longer than is kept", err=True)
            return


def find_tail(ask: Ask, printed: Printed, *, lines: int) -> int:
    """Where the last so many lines of a job's output begin."""

    def read(offset: int, limit: int) -> bytes:
        return base64.b64decode(printed.read(ask, offset, limit=limit).data)

    return tail_offset(read, lines)


def find_since(ask: Ask, printed: Printed, *, since_ms: int) -> int:
    """Where the output begins that came at that time or later."""
    return printed.read(ask, 0, limit=1, since_ms=since_ms).offset


def tail_offset(read: Callable[[int, int], bytes], lines: int) -> int:
    """The same, of whatever is read so; its length is found by halving, then it is read backwards.

    >>> text = b"one" + bytes([10]) + b"two" + bytes([10]) + b"thr"
    >>> [tail_offset(lambda at, most: text[at : at + most], n) for n in range(5)]
    [11, 8, 4, 0, 0]
    """
    low, high = 0, 1
    while read(high - 1, 1):  # bounded: what is kept of an output is
        low, high = high, 2 * high
    while low < high - 1:  # halved each time; ``low`` bytes are there, ``high`` are not
        middle = (low + high) // 2
        low, high = (middle, high) if read(middle - 1, 1) else (low, middle)
    end, found = low, 0
    is_ended = low > 0 and read(low - 1, 1) == b"\n"
    wanted = lines + 1 if is_ended else lines
    if not lines:
        return low
    while end > 0:  # a piece nearer to the beginning each time
        begin = max(0, end - CHUNK_BYTES)
        piece = read(begin, end - begin)
        here = piece.count(b"\n")
        if found + here >= wanted:
            at = len(piece)
            for _ in range(wanted - found):  # as many as there are line ends
                at = piece.rindex(b"\n", 0, at)
            return begin + at + 1
        end, found = begin, found + here
    return 0


def patiently(read: Callable[[], T]) -> T:
    """What ``read`` finds; a server that is away is waited for, it may only be starting again."""
    from bailiwick.client.errors import Unreachable

    until = time.monotonic() + PATIENCE_S
    stages = Stages()
    while True:  # bounded by the patience
        try:
            return read()
        except Unreachable as error:
            if time.monotonic() >= until:
                raise
            stages.tell(f"waiting for the server: {error}")
            time.sleep(POLL_S)


def follow_job(ask: Ask, number: int) -> Job:
    """Copy the output until the job is over, then tell how it ended."""
    copy_output(ask, Printed(number), follow=True)
    job = patiently(partial(read_job, ask, number))
    while not job.phase.is_over:  # bounded: its output has ended, only its record is to come
        time.sleep(POLL_S)
        job = patiently(partial(read_job, ask, number))
    return job


def outcome_of(job: Job) -> str:
    """How a job stands, in a few words."""
    told = job.phase.value
    if job.exit_code is not None and job.phase is JobPhase.FAILED:
        told += f", exit code {job.exit_code}"
    if job.signal is not None:
        told += f", signal {job.signal}"
    if job.reason is not None:
        told += f" ({job.reason})"
    return told


_WAS = (JobPhase.CANCELLED, JobPhase.PREEMPTED, JobPhase.REFUSED, JobPhase.LOST)


def sentence_of(job: Job) -> str:
    """The same as a sentence about the job."""
    verb_word = "was " if job.phase in _WAS else "" if job.phase.is_over else "is "
    return f"{name_of(job)} {verb_word}{outcome_of(job)}"


def name_of(job: Job) -> str:
    """What other commands take: ``job-7``, or ``job-7[3]`` of a task of an array."""
    return str(JobAddress(job.array_id or job.job_id, job.array_index))


def read_job(ask: Ask, number: int) -> Job:
    """One job as it stands now."""
    from bailiwick.wire.actions.jobs import JOB_READ

    return ask.client.send(JOB_READ, path={"job_id": number})

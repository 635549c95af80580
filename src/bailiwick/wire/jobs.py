"""Jobs on the wire: commands that run under leases, how far they have come, what they print."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.job_addresses import AFTER_MAX
from bailiwick.vocab.jobs import JobPhase
from bailiwick.wire.base import Model, Name
from bailiwick.wire.denials import Denial
from bailiwick.wire.work import Asked, LeaseRequest

_Phase = Annotated[JobPhase, Field(strict=False)]
_Category = Annotated[FailureCategory, Field(strict=False)]
_After = Annotated[
    str, Field(pattern=r"^(job-)?[1-9][0-9]{0,15}(\[[0-9]{1,6}\])?(:(ok|failed|any))?$")
]
_Word = Annotated[str, Field(max_length=131_071)]
_IMAGE = r"^[a-z0-9]+([._-][a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$"
_EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,254}$")]


FILE_CHARS_MAX = 16_384
"""Characters of a job file: reading YAML takes the server's time."""


class NewJob(LeaseRequest):
    """What to run, and the request for what it runs on; it lands only where jobs can be run."""

    command: Annotated[list[_Word], Field(min_length=1, max_length=1024)]
    """The program and its arguments; no shell reads them."""
    env: Annotated[dict[_EnvName, _Word], Field(max_length=256)] = Field(default_factory=dict)
    cwd: Annotated[str, Field(pattern=r"^/", max_length=4095)] | None = None
    """An absolute path; without one, a fresh private folder."""
    image: Annotated[str, Field(pattern=_IMAGE, max_length=255)] | None = None
    """The OCI image that is its root: ``NAME``, ``NAME:TAG``, either with ``@sha256:DIGEST``."""
    interactive: bool = False
    """Whether it begins once you are attached to it, on a terminal; see ``job.exec``."""
    name: Name | None = None
    on: Name | None = None
    """Who runs it (``local``, ``node`` or a cluster's word), or the one node it is to run on."""
    after: Annotated[list[_After], Field(max_length=AFTER_MAX)] = Field(default_factory=list)
    """Jobs that must be over before, and how: ``job-3:ok``, ``:failed`` or ``:any``."""
    array: Annotated[str, Field(pattern=r"^[0-9,:%-]+$", max_length=8_000)] | None = None
    """One task for each index, such as ``0-99%10``: a hundred, ten of them at once."""
    retries: Annotated[int, Field(ge=0, le=100)] = 0
    """How often it may be tried again."""
    retry_on: Annotated[list[_Category], Field(max_length=6)] | None = None
    """For which reasons; without a word, when it was preempted or its node was lost."""
    checkpoint: Annotated[str, Field(pattern=r"^/", max_length=4095)] | None = None
    """Where it saves its work and goes on from: every attempt is told."""


class JobAttempt(Model):
    """An attempt that is over of a job that was tried again."""

    attempt: int
    phase: _Phase
    reason: str | None
    lease_id: int | None
    node: str | None
    started_ms: int | None
    ended_ms: int
    exit_code: int | None
    signal: int | None


class JobMember(Model):
    """A member of a job that runs on several leases; its output is told by its rank."""

    rank: int
    lease_id: int
    node: str
    ended_ms: int | None
    exit_code: int | None
    signal: int | None


class JobCost(Model):
    """What a job has cost so far, as its invoice will have it, and what an hour of it costs."""

    currency: str
    cost_micros: int
    micros_per_hour: int | None
    """At the prices of now: of what it holds or, while it waits, asks for; null once it is over."""
    is_upper_bound: bool
    """Whether it is not known which GPUs it gets: then the dearest that would do count."""


class Job(Model):
    """A command under a lease; ``reason`` is the closed word for why it waits or ended."""

    job_id: int
    tenant: str
    project: str | None
    name: str | None
    command: list[str]
    mem_bytes: int
    """The memory it may use; who names none when submitting gets some for each core."""
    tag: str | None
    submitter: str
    phase: _Phase
    reason: str | None
    submitted_ms: int
    entry_id: int | None
    lease_id: int | None
    node: str | None
    started_ms: int | None
    ended_ms: int | None
    exit_code: int | None
    signal: int | None
    request: Asked | None = None
    """What it asked for; its time limit (``ttl_ms``) among it."""
    denied: Denial | None = None
    """Why it was refused, with the numbers; null for who was not."""
    image: str | None = None
    """The image that is its root; null for the machine's own system."""
    interactive: bool = False
    """Whether it begins once its submitter is attached to it."""
    members: list[JobMember] = Field(default_factory=list)
    """Of a gang that has its leases, when it is read alone; of any other, none."""
    is_held: bool = False
    """Whether it is not in the queue yet; ``reason`` tells why."""
    after: list[str] = Field(default_factory=list)
    """What it comes after."""
    array_id: int | None = None
    """The array that it is a task of: the number of its first task."""
    array_index: int | None = None
    array: str | None = None
    """The whole array, as it is spelled."""
    attempt: int = 1
    retries: int = 0
    retry_on: list[_Category] = Field(default_factory=list)
    checkpoint: str | None = None
    attempts: list[JobAttempt] = Field(default_factory=list)
    """Those that are over, if it was tried again."""
    cost: JobCost | None = None
    """What it costs, when it is read alone; of every member and every attempt."""


class JobFile(Model):
    """A job file as it was written, and where it is to run if it does not say so itself."""

    tenant: Name
    project: Name | None = None
    text: Annotated[str, Field(max_length=FILE_CHARS_MAX)]


class JobFileMistake(Model):
    """What is wrong in a job file, and where."""

    line: int
    column: int
    message: str


class JobFileRead(Model):
    """The job that a file asks for, or everything that is wrong in it."""

    job: NewJob | None
    mistakes: list[JobFileMistake]


class JobOutput(Model):
    """A piece of what a job printed; ``next_offset`` is where to go on, until ``is_over``."""

    job_id: int
    offset: int
    next_offset: int
    data: str
    """In base64: a job may print any bytes."""
    is_truncated: bool
    """Whether the job printed more than was kept."""
    is_over: bool
    """Whether the job is over and this was the last piece."""

"""What Slurm's programs tell, as values: jobs, nodes, outages, and all of it as one set of books.

Rules:

- Times are integer milliseconds, though Slurm keeps whole seconds only.
- A job is (id, submit time): ids are given out again after a crash, and every run of a requeued
  job has its own row, with its own submit time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bailiwick.metering.owners import UnavailableCause


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """One run of one job, as the accounting database has it."""

    job_id: str
    """What people call it, an array's index among it."""
    raw_id: int
    user: str
    account: str
    qos: str
    partition: str
    submit_ms: int
    start_ms: int | None
    end_ms: int | None
    elapsed_ms: int
    suspended_ms: int
    state: str
    """Its first word only: CANCELLED, not by whom."""
    gpus: Mapping[str, int]
    """How many of each type; those of no type under an empty word."""
    nodes: tuple[str, ...]
    wckey: str = ""
    name: str = ""
    comment: str = ""

    @property
    def key(self) -> tuple[int, int, int | None]:
        """What makes it this run and no other."""
        return self.raw_id, self.submit_ms, self.start_ms

    @property
    def gpu_count(self) -> int:
        """All its GPUs."""
        return sum(self.gpus.values())


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node and its GPUs, type by type in the order of their indices."""

    name: str
    gpus: tuple[tuple[str, int], ...]

    @property
    def gpu_count(self) -> int:
        """All of them."""
        return sum(count for _, count in self.gpus)


@dataclass(frozen=True, slots=True)
class Outage:
    """From when to when a node took no work, and why."""

    node: str
    from_ms: int
    to_ms: int | None
    cause: UnavailableCause
    is_down: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Registered:
    """How many GPUs the cluster had from when to when, as the database was told."""

    from_ms: int
    to_ms: int | None
    gpus: int


@dataclass(frozen=True, slots=True)
class Active:
    """A job that the controller knows to be running, with the devices it gave it by node."""

    raw_id: int
    start_ms: int
    devices: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Runaway:
    """A job without an end in the database that the controller knows nothing of."""

    raw_id: int
    start_ms: int


@dataclass(frozen=True, slots=True)
class SlurmBooks:
    """Everything that was read."""

    cluster: str
    from_ms: int
    to_ms: int
    boot_ms: int | None
    """When the controller was started last."""
    jobs: tuple[SlurmJob, ...]
    nodes: Mapping[str, SlurmNode]
    outages: tuple[Outage, ...]
    registered: tuple[Registered, ...]
    active: Mapping[int, Active]
    runaways: tuple[Runaway, ...]
    parents: Mapping[str, str]
    """The account above each account."""
    preempted_qos: frozenset[str]
    """The qualities of service that another one may preempt."""
    exits: Mapping[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    """When batch scripts really ended, by job and node, as the nodes' own logs tell."""
    logged: frozenset[str] = frozenset()
    """The nodes whose logs were read."""

"""The port of executors: what really happens to a granted lease. They run, warn, end, find again.

The kernel decides that a lease begins or must go; an executor does it and reports. It decides
nothing about who gets what. Which executors there are is in :mod:`bailiwick.executors.registry`.

Rules every executor keeps:

- A job is started once: a second start of the same lease is a ``Conflict``.
- ``tear_down`` answers true only if nothing of the job lives. Everything else, "I cannot tell"
  included, is false, and the kernel fences what the lease held.
- It ends only what it started, and can prove that it did.
- What it started outlives it: after its own death ``adopt`` finds everything again.
- One whose machines are elsewhere may answer a start with ``JobOrdered``: ``status`` then tells
  what became of it (``Starting``, and ``Unstarted`` if it cannot be run as asked).

Rules of the values that are asked and answered:

- A specification is judged when it is made: each error names the field. What only the machine that
  runs it can tell (whether a directory is there) is judged when it is started.
- The names that tell a job its lease and its devices are ours; a user cannot set them.
- Neither a token nor a user's environment shows in a ``repr``.

>>> JobSpec(7, argv=("true",), token="t").argv
('true',)
>>> JobSpec(7, argv=(), token="t")
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: argv: expected a program and its arguments, got ()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import JobFault
from bailiwick.vocab.values import MIB, check_amount, check_kind

OUTPUT_BYTES_MAX = 64 * MIB
"""How much of a job's output is kept unless it says otherwise."""

RESERVED = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES")
"""Names of the environment that say which devices a job has; so does all of ``BAILIWICK_``."""


_OURS: Final = "BAILIWICK_"


class LimitedBy(StrEnum):
    """What holds a job to its limits."""

    CGROUP_V2 = "cgroup_v2"
    CGROUP_V1 = "cgroup_v1"
    RLIMIT = "rlimit"


class LostReason(StrEnum):
    """Why it is not known what became of a job."""

    NEVER_STARTED = "never_started"
    STATE_UNREADABLE = "state_unreadable"
    OTHER_BOOT = "other_boot"
    NOT_THE_SAME_PROCESS = "not_the_same_process"
    SUPERVISOR_GONE = "supervisor_gone"
    NODE_LOST = "node_lost"
    PLACE_TAKEN = "place_taken"
    """A cluster of others took the job's place back for something else."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine a job may use; ``None`` and ``()`` ask for no limit."""

    mem_bytes: int | None = None
    cpu_milli: int | None = None
    cores: tuple[int, ...] = ()
    pids_max: int | None = None
    cpu_s: int | None = None

    def __post_init__(self) -> None:
        for name in ("mem_bytes", "cpu_milli", "pids_max", "cpu_s"):
            value = getattr(self, name)
            if value is None:
                continue
            check_amount(f"limits.{name}", value)
            if not value:
                raise InvalidValue(f"limits.{name}", value, "at least 1, or none")
        _check_indices("limits.cores", self.cores)


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A command to run under a granted lease."""

    lease_id: int
    argv: tuple[str, ...]
    token: str = field(repr=False)
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    device_indices: tuple[int, ...] = ()
    limits: Limits = field(default_factory=Limits)
    output_bytes_max: int = OUTPUT_BYTES_MAX
    warn_by_signal: bool = False
    server: str = ""
    """Where the job reaches the server that runs it; empty says nothing to it."""
    owner: str = ""
    """Whose it is, ``TENANT`` or ``TENANT/PROJECT``: jobs of different owners are kept apart."""
    node: str = ""
    """The node of its lease; empty where there is but one."""
    image: str | None = None
    """The image that is its root; without one, it sees the machine's own system."""
    is_interactive: bool = False
    """Whether its program begins only once somebody is attached to it, on a terminal."""
    told: Mapping[str, str] = field(default_factory=dict)
    """What the job is told of itself, under names that no user can set: all of ``BAILIWICK_``."""
    on_host: bool = False
    """Whether it runs outside the walls, as the machine's own: members of apps alone, granted."""
    ask: tuple[str, ...] = ()
    """The one program that is let into a job outside the walls; without one, none is."""

    def __post_init__(self) -> None:
        check_amount("lease_id", self.lease_id)
        check_kind("argv", self.argv, tuple)
        if not self.argv or not self.argv[0]:
            raise InvalidValue("argv", self.argv, "a program and its arguments")
        for number, word in enumerate(self.argv):
            _check_text(f"argv[{number}]", word)
        self._check_token()
        self._check_cwd()
        if not isinstance(self.env, Mapping):
            raise InvalidValue("env", "(not shown)", "names and values")
        for name, value in self.env.items():
            _check_env(name, value)
        for name, value in self.told.items():
            _check_text(f"told.{name}", value)
            if not name.startswith(_OURS):
                raise InvalidValue("told", name, f"names that begin with {_OURS}")
        _check_indices("device_indices", self.device_indices)
        check_kind("limits", self.limits, Limits)
        check_amount("output_bytes_max", self.output_bytes_max)
        check_kind("warn_by_signal", self.warn_by_signal, bool)
        check_kind("is_interactive", self.is_interactive, bool)
        check_kind("on_host", self.on_host, bool)
        check_kind("ask", self.ask, tuple)
        for number, word in enumerate(self.ask):
            _check_text(f"ask[{number}]", word)
        if self.on_host and self.is_interactive:
            raise InvalidValue("on_host", True, "a job that nobody is attached to")
        _check_text("server", self.server)
        _check_text("owner", self.owner)
        _check_text("node", self.node)
        if self.image is not None:
            _check_text("image", self.image)

    def _check_token(self) -> None:
        # The value is not put into the error: errors are logged.
        if not isinstance(self.token, str) or not self.token.isprintable() or not self.token:
            raise InvalidValue("token", "(not shown)", "a printable text")

    def _check_cwd(self) -> None:
        if self.cwd is None:
            return
        check_kind("cwd", self.cwd, Path)
        _check_text("cwd", str(self.cwd))
        if not self.cwd.is_absolute():
            raise InvalidValue("cwd", str(self.cwd), "an absolute path")


@dataclass(frozen=True, slots=True)
class JobStarted:
    """The job runs. ``unenforced`` are the limits that were asked for and that nothing holds."""

    lease_id: int
    pid: int
    start_ticks: int
    boot_id: str
    cwd: Path
    limited_by: LimitedBy
    unenforced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobOrdered:
    """Whoever runs the job will start it, once; what became of it ``status`` tells."""

    lease_id: int


@dataclass(frozen=True, slots=True)
class Starting:
    """It was ordered, and nobody has said yet that it runs."""


@dataclass(frozen=True, slots=True)
class Unstarted:
    """It could not be run as asked, and nothing of it ever ran."""

    fault: JobFault
    note: str = ""
    """For a person."""


@dataclass(frozen=True, slots=True)
class Running:
    """It runs, and it is the process that was started: same id, same start, same boot."""

    pid: int
    start_ticks: int
    boot_id: str
    is_warned: bool = False
    """Whether a warning stands that it must be gone."""


@dataclass(frozen=True, slots=True)
class Exited:
    """Its main process ended, by itself (``code``) or by a signal; exactly one of the two."""

    code: int | None
    signal: int | None
    ended_ms: int
    is_emptied: bool
    """Whether all it had started has ended too; only then are its resources surely free."""
    is_out_of_memory: bool = False
    """Whether its limit of memory is known to have ended something of it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """How it ended, or whether it did, cannot be known."""

    reason: LostReason


JobStatus: TypeAlias = Starting | Unstarted | Running | Exited | Lost


@dataclass(frozen=True, slots=True)
class Adopted:
    """A job of an earlier life of this server, as it was found."""

    lease_id: int
    status: JobStatus


@dataclass(frozen=True, slots=True)
class OutputPart:
    """A piece of a job's output; ``next_offset`` is where to go on."""

    data: bytes
    next_offset: int
    is_truncated: bool
    """Whether the job wrote more than was kept."""


@dataclass(frozen=True, slots=True)
class UsedInAll:
    """What was counted for all of a job, from its start to the end of the last of it."""

    began_ms: int
    emptied_ms: int
    cpu_ms: int
    mem_peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class UsedByProcesses:
    """What a job uses is to be read from this machine's processes below this one."""

    pid: int
    start_ticks: int


JobUsage: TypeAlias = UsedInAll | UsedByProcesses


class Executor(Protocol):
    """Whoever runs the jobs of granted leases."""

    def start(self, spec: JobSpec) -> JobStarted | JobOrdered:
        """Run the command; returns once it runs or is ordered, raises if it cannot."""

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Tell the job that it must be gone by then."""

    def call_off(self, lease_id: int) -> None:
        """Take the warning back, if there is one: the job may go on."""

    def tear_down(self, lease_id: int) -> bool:
        """End the job and all it started; whether nothing of it is left."""

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are, those of an earlier life of the server among them."""

    def leases(self) -> tuple[int, ...]:
        """The leases of which anything is kept; told at once, without looking at their jobs."""

    def usage(self, lease_id: int) -> JobUsage | None:
        """Where to read what the job used; ``None`` if nobody counts for it."""

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs.

        With ``since_ms``, only of what came then or later (and at most a little of what came
        before); who keeps no times answers with a ``Conflict``.
        """

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended."""


_FAULTS: Final = {
    "argv": JobFault.PROGRAM_NOT_RUNNABLE,
    "cwd": JobFault.DIRECTORY_NOT_USABLE,
    "limits": JobFault.LIMITS_NOT_POSSIBLE,
    "owner": JobFault.NOT_KEPT_APART,
    "image": JobFault.IMAGE_NOT_USABLE,
    "agent": JobFault.AGENT_TOO_OLD,
    "on_host": JobFault.HOST_NOT_GIVEN,
}


def fault_of(error: InvalidValue) -> JobFault:
    """The word for why a job cannot be run as asked."""
    field_name = error.field.partition("[")[0].partition(".")[0]
    return _FAULTS.get(field_name, JobFault.EXECUTOR_UNAVAILABLE)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or "\0" in value:
        raise InvalidValue(name, value, "a text without NUL")


def _check_env(name: object, value: object) -> None:
    # Values are not put into errors: they may be secrets.
    if not isinstance(name, str) or not name or "=" in name or "\0" in name:
        raise InvalidValue("env", name, "names without '=' and NUL")
    if name in RESERVED or name.startswith(_OURS):
        raise InvalidValue(f"env.{name}", "(not shown)", "a name that the lease does not set")
    if not isinstance(value, str) or "\0" in value:
        raise InvalidValue(f"env.{name}", "(not shown)", "a text without NUL")


def _check_indices(name: str, indices: object) -> None:
    check_kind(name, indices, tuple)
    assert isinstance(indices, tuple)
    for index in indices:
        check_amount(name, index)
    if len(set(indices)) != len(indices):
        raise InvalidValue(name, indices, "each index once")

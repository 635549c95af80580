"""One task as it is written down: what it runs, what it needs, what it stands after.

Rules:

- A value that cannot be is refused when the task is made, and the error names the field.
- What a task needs is asked for only when it may start: one that waits for another holds nothing.
- A retry has a category. Losing a node or the room is nobody's fault and is tried again unless the
  task says otherwise; what a program did itself is not, unless the task says so.
- The pause before a retry doubles up to a bound, and is shortened by a chance that is a number
  given in (:func:`pause_ms`): the same run pauses the same.
- Inputs and outputs are known by what is in them: ``sha256:`` and 64 digits.

>>> ResourceReq(cpu_milli=500).gpu_count
0
>>> RetryPolicy().limit(FailureCategory.NODE_LOST), RetryPolicy().limit(FailureCategory.EXIT_CODE)
(3, 0)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory, UpstreamResult
from bailiwick.vocab.values import (
    MILLI,
    TERM_MAX_MS,
    TTL_DEFAULT_MS,
    check_amount,
    check_integer,
    check_kind,
    check_name,
    check_unique,
)
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass, Priority

MAP_MAX: Final = 10_000
"""Elements of one map."""
UPSTREAM_MAX: Final = 64
FILES_MAX: Final = 64
"""Inputs or outputs of one task."""
WORD_MAX: Final = 131_071
RETRIES_MAX: Final = 100
GPUS_MAX: Final = 16

DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_ELEMENT: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,62})(?:\[(0|[1-9][0-9]{0,5})\])?")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_RESERVED: Final = ("BAILIWICK_", "TASK_", "GRAPH_")

DEFAULT_RETRIES: Final[Mapping[FailureCategory, int]] = MappingProxyType(
    {FailureCategory.NODE_LOST: 3, FailureCategory.PREEMPTED: 10}
)
"""How often a task that says nothing is tried again."""


def split_name(text: str) -> tuple[str, int | None] | None:
    """A task's name and the number of its element; nothing if it is no name.

    >>> split_name("train[3]"), split_name("prep"), split_name("[3]")
    (('train', 3), ('prep', None), None)
    """
    found = _ELEMENT.fullmatch(text)
    return None if found is None else (found[1], None if found[2] is None else int(found[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReq:
    """What one attempt of a task runs on, and for how long."""

    cpu_milli: int = MILLI
    mem_bytes: int = 0
    """0: as much as the server gives for each core."""
    block_bytes: int = 0
    gpu_count: int = 0
    gpu_milli: int = 0
    gpu_vram: int = 0
    generation: HardwareGeneration | None = None
    exclusivity: Exclusivity | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    lease_class: LeaseClass = LeaseClass.STANDARD
    ttl_ms: int = TTL_DEFAULT_MS
    """An attempt that takes longer is ended, as a ``timeout``."""

    def __post_init__(self) -> None:
        check_integer("cpu_milli", self.cpu_milli, low=0, high=10**9)
        for name in ("mem_bytes", "block_bytes", "gpu_vram"):
            check_amount(name, getattr(self, name))
        check_integer("gpu_count", self.gpu_count, low=0, high=GPUS_MAX)
        check_integer("gpu_milli", self.gpu_milli, low=0, high=MILLI)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=TERM_MAX_MS)
        check_kind("lease_class", self.lease_class, LeaseClass)
        if self.generation is not None:
            check_kind("generation", self.generation, HardwareGeneration)
        if self.gpu_count and self.gpu_milli:
            raise InvalidValue("gpus", self.gpu_milli, "whole devices or a share of one, not both")
        gpus = self.gpu_count or self.gpu_milli or self.gpu_vram
        if (self.generation or self.exclusivity) and not gpus:
            raise InvalidValue("gpus", 0, "a GPU, since a generation or exclusivity is given")
        if not (gpus or self.cpu_milli or self.mem_bytes or self.block_bytes):
            raise InvalidValue("cpus", 0, "at least one resource above zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often what is tried again, and after which pause."""

    retries: Mapping[FailureCategory, int] = field(default_factory=lambda: DEFAULT_RETRIES)
    exit_codes: tuple[int, ...] = ()
    """The only codes that are worth another try; none named: any of them."""
    pause_ms: int = 1_000
    pause_ms_max: int = 300_000
    jitter_milli: int = 500
    """How much of a pause is left to chance."""

    def __post_init__(self) -> None:
        for category, count in self.retries.items():
            check_kind("retry", category, FailureCategory)
            check_integer(f"retry.{category}", count, low=0, high=RETRIES_MAX)
        for code in check_unique("exit_codes", self.exit_codes):
            check_integer("exit_codes", code, low=1, high=255)
        check_integer("pause_ms", self.pause_ms, low=0, high=TERM_MAX_MS)
        check_integer("pause_ms_max", self.pause_ms_max, low=self.pause_ms, high=TERM_MAX_MS)
        check_integer("jitter_milli", self.jitter_milli, low=0, high=MILLI)

    def limit(self, category: FailureCategory) -> int:
        """How often a failure of this category is tried again."""
        return self.retries.get(category, 0)

    def allows(self, category: FailureCategory, *, before: int, exit_code: int | None) -> bool:
        """Whether one more try is worth it, after so many of the same category."""
        is_code = category is FailureCategory.EXIT_CODE
        if is_code and self.exit_codes and exit_code not in self.exit_codes:
            return False
        return before < self.limit(category)


def pause_ms(policy: RetryPolicy, *, seed: int, task: str, failures: int) -> int:
    """How long to wait after so many failures: doubled each time, bounded, less by chance.

    >>> policy = RetryPolicy(pause_ms=100, pause_ms_max=350, jitter_milli=0)
    >>> [pause_ms(policy, seed=1, task="a", failures=n) for n in (1, 2, 3, 4)]
    [100, 200, 350, 350]
    """
    whole = min(policy.pause_ms << min(failures - 1, 40), policy.pause_ms_max)
    drawn = sha256(f"{seed}/{task}/{failures}".encode()).digest()[:4]
    chance = whole * policy.jitter_milli * int.from_bytes(drawn, "big") // (MILLI << 32)
    return whole - chance


@dataclass(frozen=True, slots=True)
class Upstream:
    """A task that must be over, and how, before another starts; of a map, all elements.

    ``failed`` asks for at least one element that failed; ``ended`` for nothing but the end.
    """

    task: str
    when: UpstreamResult = UpstreamResult.SUCCEEDED
    exit_codes: tuple[int, ...] = ()
    """The only codes that it may have ended with; none named: any."""
    each: bool = False
    """Element by element: the fifth after the fifth, both being maps of one length."""

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or split_name(self.task) is None:
            raise InvalidValue("after", self.task, "the name of a task, or of an element: train[3]")
        check_kind("when", self.when, UpstreamResult)
        check_kind("each", self.each, bool)
        for code in check_unique("exit_codes", self.exit_codes):
            check_integer("exit_codes", code, low=0, high=255)


@dataclass(frozen=True, slots=True)
class TaskDef:
    """A task, or with ``over`` one for each item: ``{item}`` and ``{index}`` stand for its own."""

    name: str
    command: tuple[str, ...] = field(repr=False)
    needs: ResourceReq = field(default_factory=ResourceReq, kw_only=True)
    after: Sequence[Upstream | str] = field(default=(), kw_only=True)
    over: tuple[str, ...] | None = field(default=None, kw_only=True)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, kw_only=True)
    cwd: str | None = field(default=None, kw_only=True)
    priority: Priority = field(default=Priority.NORMAL, kw_only=True)
    tag: str | None = field(default=None, kw_only=True)
    deadline_ms: int | None = field(default=None, kw_only=True)
    """By when it must have started and ended, counted from the submission of its graph."""
    retry: RetryPolicy = field(default_factory=RetryPolicy, kw_only=True)
    inputs: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """By name: ``sha256:...``, or ``TASK/OUTPUT`` for what another task makes."""
    outputs: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of what it makes and reports; without them it has not succeeded."""
    checkpoint: str | None = field(default=None, kw_only=True)
    """A folder that all its attempts share, so that one goes on where the last was ended."""
    may_fail: bool = field(default=False, kw_only=True)
    """Whether its graph succeeds all the same."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_name("name", self.name)
        _check_command(self.command)
        after = tuple(Upstream(each) if isinstance(each, str) else each for each in self.after)
        put(self, "after", after)
        if len(after) > UPSTREAM_MAX:
            raise InvalidValue("after", len(after), f"at most {UPSTREAM_MAX} tasks")
        if self.over is not None:
            _check_items(self.over)
        _check_env(self.env)
        for path in (self.cwd, self.checkpoint):
            if path is not None and (not path.startswith("/") or "\0" in path or len(path) > 4095):
                raise InvalidValue("path", path, "an absolute path")
        check_kind("priority", self.priority, Priority)
        if self.tag is not None:
            check_name("tag", self.tag)
        if self.deadline_ms is not None:
            check_integer("deadline_ms", self.deadline_ms, low=1, high=TERM_MAX_MS)
        self._check_files()

    def _check_files(self) -> None:
        for name in (*self.inputs, *check_unique("outputs", self.outputs)):
            check_name("inputs and outputs", name)
        if max(len(self.inputs), len(self.outputs)) > FILES_MAX:
            raise InvalidValue("inputs and outputs", len(self.inputs), f"at most {FILES_MAX} each")
        for ref in self.inputs.values():
            task, slash, output = ref.partition("/")
            named = slash and split_name(task) is not None and output
            if not DIGEST.fullmatch(ref) and not named:
                raise InvalidValue("inputs", ref, "sha256: and 64 digits, or TASK/OUTPUT")

    @property
    def upstreams(self) -> tuple[Upstream, ...]:
        """What it stands after, tasks whose output it takes among them."""
        named = tuple(each for each in self.after if isinstance(each, Upstream))
        known = {each.task for each in named}
        taken = {ref.partition("/")[0] for ref in self.inputs.values() if "/" in ref}
        return named + tuple(Upstream(task) for task in sorted(taken - known))


def _check_command(command: object) -> None:
    if not isinstance(command, tuple) or not command or not command[0]:
        raise InvalidValue("command", "(not shown)", "a program and its arguments")
    if len(command) > 1024:
        raise InvalidValue("command", len(command), "at most 1024 words")
    for word in command:
        if not isinstance(word, str) or "\0" in word or len(word) > WORD_MAX:
            raise InvalidValue("command", "(not shown)", "words without NUL")


def _check_items(items: object) -> None:
    if not isinstance(items, tuple) or not all(isinstance(item, str) for item in items):
        raise InvalidValue("map", "(not shown)", "a list of texts or numbers")
    if len(items) > MAP_MAX:
        raise InvalidValue("map", f"{len(items)} items", f"at most {MAP_MAX}")


def _check_env(env: Mapping[str, str]) -> None:
    # Values are not put into errors: they may be secrets.
    if len(env) > 256:
        raise InvalidValue("env", len(env), "at most 256 names")
    for name, value in env.items():
        if not _VARIABLE.fullmatch(name):
            raise InvalidValue("env", name, "names of letters, digits and _")
        if name.startswith(_RESERVED):
            raise InvalidValue("env", name, "a name that the task's run does not set")
        if not isinstance(value, str) or "\0" in value or len(value) > WORD_MAX:
            raise InvalidValue(f"env.{name}", "(not shown)", "a text without NUL")

"""What was metered, added up: who used what, what stood idle or closed, and that this is all.

Rules:

- A report is made from the meter's own sums, as integers: a GPU's milli-share times a millisecond
  is one micro-GPU-second, a milli-core's likewise one micro-core-second; memory and block storage
  are byte-milliseconds.
- Every row is one account without its stage; rows can be put together by any of their words, and
  then still sum to the same.
- The equation is kept per kind and generation, with both of its sides: what was leased, idle and
  unavailable on the one, capacity x time on the other. They are counted apart from each other, so
  they are compared, never made equal.
- What the source told that cannot be is a finding with its numbers, and no part of any sum.

>>> from bailiwick.metering.owners import IDLE, Account
>>> from bailiwick.metering.values import Balance, Line
>>> from bailiwick.vocab.words import LeaseClass
>>> gpu, hopper = ResourceKind.GPU_MILLI, HardwareGeneration.NVIDIA_HOPPER
>>> mine = Account("lab", None, None, LeaseClass.SPOT, hopper)
>>> totals = {Line(gpu, hopper, mine): 3_000_000, Line(gpu, hopper, IDLE): 1_000_000}
>>> balances = [Balance(gpu, hopper, 4_000_000, 4_000_000)]
>>> found = make_report(totals, balances, span=ReportSpan(0, 4_000))
>>> [(row.tenant, row.used[gpu]) for row in found.rows]
[('lab', 3000000)]
>>> found.equations[0].idle, found.equations[0].holds
(1000000, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

from bailiwick.metering.owners import Account, Idle, UnavailableCapacity, UnavailableCause
from bailiwick.metering.values import Balance, Line
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind


class ReportFindingWord(StrEnum):
    """What a source told that cannot be, or that nobody can know."""

    OVERLAP = "overlap"
    """It holds devices that others held at that time: none of its time is counted."""
    TIME_WENT_BACK = "time_went_back"
    """A time lies before one that came earlier, or an end before its start."""
    CHARGED_PAST_END = "charged_past_end"
    """It was over, and was charged on."""
    END_IN_DOUBT = "end_in_doubt"
    """Nobody watched when it ended: it may have been charged past its end."""
    ELAPSED_DIFFERS = "elapsed_differs"
    """The length that the source tells is not that from start to end."""
    NEVER_ENDED = "never_ended"
    """It is told as running, and whoever would run it knows nothing of it: it is not counted."""
    NOT_IN_BOOKS = "not_in_books"
    """It ran, and no record covers that time: it was charged to nobody."""
    ON_UNAVAILABLE_NODE = "on_unavailable_node"
    """It ran while its node was told as down."""
    SUSPENDED = "suspended"
    """It was suspended for some of its time, and nobody tells when: all of it is counted."""
    GENERATION_UNKNOWN = "generation_unknown"
    """Nobody tells which of its nodes' different GPUs it held: it is not counted."""
    CAPACITY_DIFFERS = "capacity_differs"
    """The source registered another number of GPUs than its nodes have."""
    CONFLICT = "conflict"
    """The same thing was told twice, differently: what came first counts."""
    MISSING_EVENTS = "missing_events"
    """Events before these never came, so these are not counted."""
    FENCED = "fenced"
    """It comes from before its source's last restart, and after it: it is not counted."""
    ALREADY_STARTED = "already_started"
    UNKNOWN_LEASE = "unknown_lease"
    ALREADY_THERE = "already_there"
    UNKNOWN_NODE = "unknown_node"
    """It is told of a node that nobody told of: it is not counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not fit, whose it is and by how much."""

    word: ReportFindingWord
    subject: str
    at_ms: int | None = None
    by_ms: int = 0
    gpus: int = 0
    """How many GPUs it is about; of a lease, those it holds."""
    wanted: int = 0
    found: int = 0
    node: str | None = None
    others: tuple[str, ...] = ()
    line: int = 0
    """Where it stands in what was read; 0 where that has no lines."""
    why: str = ""

    @property
    def gpu_micro_seconds(self) -> int:
        """The GPU time that is in question."""
        return self.by_ms * self.gpus * 1000


_KINDS: Final = (
    *(ResourceKind.GPU_MILLI, ResourceKind.CPU_MILLI),
    *(ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES),
)


class ReportSpan(NamedTuple):
    """The time that a report is about: ``from_ms <= t < to_ms``."""

    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class ReportRow:
    """What one account used; a word that rows were put together over is empty."""

    tenant: str | None
    project: str | None
    generation: HardwareGeneration | None
    tag: str | None
    lease_class: LeaseClass | None
    used: Mapping[ResourceKind, int] = field(default_factory=dict)


ROW_WORDS: Final = tuple(each.name for each in fields(ReportRow) if each.name != "used")
"""What rows can be added up by, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Leased + idle + unavailable = capacity x time, of one kind and generation."""

    kind: ResourceKind
    generation: HardwareGeneration | None
    leased: int
    idle: int
    unavailable: Mapping[UnavailableCause, int]
    capacity: int
    """Capacity x time, from when each share was there until it was gone."""

    @property
    def owned(self) -> int:
        """The left side."""
        return self.leased + self.idle + sum(self.unavailable.values())

    @property
    def holds(self) -> bool:
        """Whether both sides are the same number."""
        return self.owned == self.capacity


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was metered, and everything that did not fit."""

    span: ReportSpan
    rows: tuple[ReportRow, ...]
    equations: tuple[Equation, ...]
    findings: tuple[Finding, ...] = ()


def make_report(
    totals: Mapping[Line, int],
    balances: Iterable[Balance],
    *,
    span: ReportSpan,
    findings: Iterable[Finding] = (),
) -> Report:
    """Add the meter's sums up; stops if they are not capacity x time."""
    rows: list[ReportRow] = []
    free: dict[tuple[ResourceKind, HardwareGeneration | None], _Free] = {}
    for line, used in totals.items():
        of_kind = free.setdefault((line.kind, line.generation), _Free())
        match line.payer:
            case Account() as account:
                of_kind.leased += used
                if used:
                    rows.append(_row(account, line.kind, used))
            case Idle():
                of_kind.idle += used
            case UnavailableCapacity(cause):
                known = of_kind.unavailable.get(cause, 0)
                of_kind.unavailable[cause] = known + used
            case _ as unknown:
                assert_never(unknown)
    equations = tuple(
        _equation(each, free.get((each.kind, each.generation), _Free())) for each in balances
    )
    for each in equations:
        if not each.holds:
            raise InvariantBroken(
                f"{each.kind} {each.generation}: {each.owned} owned, {each.capacity} there"
            )
    order = sorted(equations, key=lambda each: (_KINDS.index(each.kind), each.generation or ""))
    return Report(span, add_up(rows, ROW_WORDS), tuple(order), tuple(findings))


def add_up(rows: Iterable[ReportRow], by: Sequence[str]) -> tuple[ReportRow, ...]:
    """Rows put together by some of their words, in the order of those words."""
    sums: dict[tuple[str | None, ...], ReportRow] = {}
    dropped = {word: None for word in ROW_WORDS if word not in by}
    for row in rows:
        key = tuple(getattr(row, word) for word in by)
        known = sums.get(key)
        if known is None:
            sums[key] = replace(row, used=dict(row.used), **dropped)
            continue
        merged = {
            kind: known.used.get(kind, 0) + row.used.get(kind, 0)
            for kind in ResourceKind
            if kind in known.used or kind in row.used
        }
        sums[key] = replace(known, used=merged)
    return tuple(sums[key] for key in sorted(sums, key=lambda key: [word or "" for word in key]))


@dataclass(slots=True)
class _Free:
    leased: int = 0
    idle: int = 0
    unavailable: dict[UnavailableCause, int] = field(default_factory=dict)


def _row(account: Account, kind: ResourceKind, used: int) -> ReportRow:
    return ReportRow(
        tenant=account.tenant,
        project=account.project,
        generation=account.generation,
        tag=account.tag,
        lease_class=account.lease_class,
        used={kind: used},
    )


def _equation(balance: Balance, free: _Free) -> Equation:
    causes = {
        cause: free.unavailable[cause] for cause in UnavailableCause if free.unavailable.get(cause)
    }
    return Equation(
        balance.kind, balance.generation, free.leased, free.idle, causes, balance.capacity
    )

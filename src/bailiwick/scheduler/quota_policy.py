"""What a quota says and what it answers: limits, the generation table, burst credit, denials.

Rules:

- A limit and a denial speak in the unit their word names: milli-cores, bytes, leases, and for
  ``gpu_count`` whole GPUs. Where shares of a GPU are involved a denial rounds ``used`` and
  ``requested`` up and ``limit`` down, so that ``used + requested > limit`` still shows.
- Everything finer than a whole GPU (burst credit, ``WithinQuota.burst``, ``Shortfall``) counts in
  the row's own unit, where a GPU is 1000 milli-shares.
- The generation table is an allow-list: once it lists anything, what it does not list has limit
  zero. To list a generation twice is an error when the value is built, not when it is used.
- A denial is a value. Two denials are equal when their numbers are; ``scope`` (which row said no)
  is told beside them and not compared.

>>> Quota(limits=[ResourceLimit.gpu_count(8), ResourceLimit.cpu_cores(1.5)]).limits[1].limit
1500
>>> GpuGenerationRequired(requested=1).quota_violation
'gpu_generation_required'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar, cast

from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import (
    AMOUNT_MAX,
    MILLI,
    ProjectId,
    TenantId,
    check_amount,
    check_cores,
    check_integer,
    check_kind,
    check_name,
    check_unique,
)
from bailiwick.vocab.words import Dimension, HardwareGeneration, QuotaViolation

if TYPE_CHECKING:
    from bailiwick.scheduler.quota import QuotaManager

GPUS_MAX = AMOUNT_MAX // MILLI
"""Largest number of whole GPUs: as many as can be counted in milli-shares."""

DIMENSIONS: tuple[Dimension, ...] = tuple(Dimension)
"""The order of the six amounts of a row."""

T = TypeVar("T")


# --- what is limited ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """Whose usage one row counts: a tenant, or one project of it."""

    tenant: TenantId
    project: ProjectId | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.tenant, TenantId):
            put(self, "tenant", TenantId(check_name("tenant", self.tenant)))
        if self.project is not None and not isinstance(self.project, ProjectId):
            put(self, "project", ProjectId(check_name("project", self.project)))

    @classmethod
    def of(cls, tenant: str, project: str | None = None) -> QuotaScope:
        """The scope of these names, plain strings being checked."""
        return cls(cast(TenantId, tenant), cast(ProjectId | None, project))

    def __str__(self) -> str:
        return self.tenant if self.project is None else f"{self.tenant}/{self.project}"


@dataclass(frozen=True, slots=True)
class ResourceLimit:
    """At most this much of one dimension, in the unit its word names."""

    dimension: Dimension
    limit: int

    def __post_init__(self) -> None:
        check_kind("dimension", self.dimension, Dimension)
        high = AMOUNT_MAX // unit_of(self.dimension)
        check_integer("limit", self.limit, low=0, high=high)

    @classmethod
    def cpu_cores(cls, cores: int | float) -> ResourceLimit:
        """At most so many cores (kept in milli-cores)."""
        return cls(Dimension.CPU_MILLI, check_cores("cpu_cores", cores))

    @classmethod
    def mem_bytes(cls, count: int) -> ResourceLimit:
        """At most so many bytes of memory."""
        return cls(Dimension.MEM_BYTES, check_amount("mem_bytes", count))

    @classmethod
    def block_bytes(cls, count: int) -> ResourceLimit:
        """At most so many bytes of block storage."""
        return cls(Dimension.BLOCK_BYTES, check_amount("block_bytes", count))

    @classmethod
    def gpu_count(cls, count: int) -> ResourceLimit:
        """At most so many whole GPUs, over all generations together."""
        checked = check_integer("gpu_count", count, low=0, high=GPUS_MAX)
        return cls(Dimension.GPU_COUNT, checked)

    @classmethod
    def gpu_vram(cls, count: int) -> ResourceLimit:
        """At most so many bytes of GPU memory: of all devices that are held, by their shares."""
        return cls(Dimension.GPU_VRAM, check_amount("gpu_vram", count))

    @classmethod
    def lease_count(cls, count: int) -> ResourceLimit:
        """At most so many leases; each member of a gang holds one."""
        return cls(Dimension.LEASE_COUNT, check_amount("lease_count", count))

    @property
    def amount(self) -> int:
        """The limit in the row's unit: GPUs as milli-shares, all else as it is."""
        return self.limit * unit_of(self.dimension)


@dataclass(frozen=True, slots=True)
class GpuGenerationQuota:
    """At most ``count`` whole GPUs of one generation."""

    generation: HardwareGeneration
    count: int

    def __post_init__(self) -> None:
        check_kind("generation", self.generation, HardwareGeneration)
        check_integer("count", self.count, low=0, high=GPUS_MAX)


@dataclass(frozen=True, slots=True)
class BurstCredit:
    """How long a scope may stay how far above its hard limit in one dimension.

    All three numbers count in the row's unit (milli-cores, bytes, leases, and milli-shares for
    ``gpu_count``). ``capacity`` is in unit-seconds: 7_200_000 pays for two GPUs above the limit for
    an hour. ``refill_per_s`` is the unit-seconds given back in each second spent within the limit.
    ``ceiling`` is the most units above the limit at any moment.
    """

    dimension: Dimension
    capacity: int
    refill_per_s: int
    ceiling: int

    def __post_init__(self) -> None:
        check_kind("dimension", self.dimension, Dimension)
        check_integer("capacity", self.capacity, low=1, high=AMOUNT_MAX)
        check_amount("refill_per_s", self.refill_per_s)
        check_integer("ceiling", self.ceiling, low=1, high=AMOUNT_MAX)


@dataclass(frozen=True, slots=True)
class Quota:
    """Everything one scope is allowed; a dimension that is not named is not limited."""

    limits: tuple[ResourceLimit, ...] = ()
    gpu_generations: tuple[GpuGenerationQuota, ...] = ()
    burst: BurstCredit | None = None
    ceiling: Ceiling | None = None
    """What may be asked for; ``None`` leaves that to whoever is above."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.ceiling is not None:
            check_kind("ceiling", self.ceiling, Ceiling)
        limits = _check_all("limits", self.limits, kind=ResourceLimit)
        limited = check_unique("limits", (limit.dimension for limit in limits))
        put(self, "limits", limits)
        put(self, "gpu_generations", check_generations("gpu_generations", self.gpu_generations))
        if self.burst is None:
            return
        check_kind("burst", self.burst, BurstCredit)
        if self.burst.dimension not in limited:
            raise InvalidValue("burst", self.burst.dimension, "a dimension with a hard limit")


@dataclass(frozen=True, slots=True)
class GpuFleetPolicy:
    """The generations one tenant (or project) may use, built before anything is changed.

    An empty table is refused here: committed, it would lift the allow-list instead of closing it.
    """

    tenant: TenantId
    generations: tuple[GpuGenerationQuota, ...]
    project: ProjectId | None = None

    def __post_init__(self) -> None:
        scope = QuotaScope(self.tenant, self.project)
        put = object.__setattr__
        put(self, "tenant", scope.tenant)
        put(self, "project", scope.project)
        put(self, "generations", check_generations("generations", self.generations))
        if not self.generations:
            raise InvalidValue("generations", (), "at least one generation")

    def commit(self, manager: QuotaManager) -> None:
        """Make this the scope's generation table."""
        manager.set_gpu_generation_limits(self.tenant, self.generations, project=self.project)


def check_generations(field_name: str, quotas: object) -> tuple[GpuGenerationQuota, ...]:
    """The entries as a tuple, if each is one and no generation is listed twice."""
    entries = _check_all(field_name, quotas, kind=GpuGenerationQuota)
    check_unique(field_name, (entry.generation for entry in entries))
    return entries


def _check_all(field_name: str, values: object, *, kind: type[T]) -> tuple[T, ...]:
    if not isinstance(values, list | tuple):
        raise InvalidValue(field_name, values, f"a tuple or list of {kind.__name__}")
    return tuple(check_kind(f"{field_name}[{i}]", v, kind) for i, v in enumerate(values))


# --- what is answered ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WithinQuota:
    """Yes. ``burst`` is how far above a hard limit this goes, in the row's unit; 0 normally.

    When a project and its tenant both go above theirs, it is the project's number.
    """

    burst: int = 0


class _Denied:
    """What every denial has: its word."""

    __slots__ = ()
    code: ClassVar[QuotaViolation]

    @property
    def quota_violation(self) -> str:
        """The word of the rule that said no, as logs and alerts spell it."""
        return self.code.value


@dataclass(frozen=True, slots=True)
class GpuGenerationRequired(_Denied):
    """A generation table is in force and the request names no generation."""

    code: ClassVar[QuotaViolation] = QuotaViolation.GPU_GENERATION_REQUIRED
    requested: int
    scope: QuotaScope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class GpuGenerationLimitExceeded(_Denied):
    """More GPUs of a generation than listed; an unlisted generation has limit 0."""

    code: ClassVar[QuotaViolation] = QuotaViolation.GPU_GENERATION_LIMIT_EXCEEDED
    generation: HardwareGeneration
    limit: int
    used: int
    requested: int
    scope: QuotaScope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class HardLimitExceeded(_Denied):
    """More of a dimension than its limit, with the burst ceiling (if there is one) in ``limit``."""

    code: ClassVar[QuotaViolation] = QuotaViolation.HARD_LIMIT_EXCEEDED
    dimension: Dimension
    limit: int
    used: int
    requested: int
    scope: QuotaScope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BurstCreditExhausted(_Denied):
    """Above the hard limit, and the credit is less than is needed (both in unit-seconds)."""

    code: ClassVar[QuotaViolation] = QuotaViolation.BURST_CREDIT_EXHAUSTED
    dimension: Dimension
    limit: int
    used: int
    requested: int
    credit: int
    credit_needed: int = 0
    """What would carry the scope, with the request, for the least time that a burst must last."""
    scope: QuotaScope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BudgetExhausted(_Denied):
    """The money set aside does not cover the request."""

    code: ClassVar[QuotaViolation] = QuotaViolation.BUDGET_EXHAUSTED
    budget_micros: int
    spent_micros: int
    requested_micros: int
    scope: QuotaScope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CostCapExceeded(_Denied):
    """With this request the projected cost would pass a hard cap."""

    code: ClassVar[QuotaViolation] = QuotaViolation.COST_CAP_EXCEEDED
    cap_micros: int
    projected_micros: int
    scope: QuotaScope | None = field(default=None, compare=False)


QuotaDenied: TypeAlias = (
    GpuGenerationRequired
    | GpuGenerationLimitExceeded
    | HardLimitExceeded
    | BurstCreditExhausted
    | BudgetExhausted
    | CostCapExceeded
)
QuotaDecision: TypeAlias = WithinQuota | QuotaDenied


class BudgetHook(Protocol):
    """What billing hands in: whether a tenant's money allows a request."""

    def check(
        self, request: PlacementRequest, now_ms: int
    ) -> BudgetExhausted | CostCapExceeded | None:
        """The denial, or None when the money allows it. Must change nothing."""


def unit_of(dimension: Dimension) -> int:
    """How many of the row's unit make one of the unit a denial shows."""
    return MILLI if dimension is Dimension.GPU_COUNT else 1


def units_up(amount: int, unit: int) -> int:
    """The amount in whole units, rounded up."""
    return -(-amount // unit)


# --- what is reported ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Missing:
    """Usage that was to be freed and was never recorded, in the row's unit."""

    dimension: Dimension
    amount: int
    generation: HardwareGeneration | None = None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a free could not take from its scope; false when it took everything."""

    scope: QuotaScope
    missing: tuple[Missing, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing)


@dataclass(frozen=True, slots=True)
class Room:
    """One limit, its use and what is left of it; ``None`` where there is no limit.

    ``limit`` and ``used`` are the scope's own. ``left`` is what can still be taken: a project's is
    never more than its tenant's. Numbers for GPUs are whole ones (``used`` rounded up, ``left``
    down); ``left_exact`` is in the row's unit, milli-shares for GPUs.
    """

    limit: int | None
    used: int
    left: int | None
    left_exact: int | None


@dataclass(frozen=True, slots=True)
class QuotaHeadroom:
    """What one scope may still take, by dimension and by generation."""

    scope: QuotaScope
    dimensions: Mapping[Dimension, Room]
    generations: Mapping[HardwareGeneration, Room]

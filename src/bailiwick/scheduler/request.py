"""What is asked for: one placement request, checked once when it is built.

Rules:

- GPUs are asked for as ``gpu_count`` whole devices or ``gpu_milli`` of one device, not both.
- ``gpu_vram`` is the least memory each device must have; given alone it asks for one device.
- ``session_exclusive`` and ``device_exclusive`` take whole devices, however small the share.
- A gang of ``gang_size`` asks for that many equal members, all or nothing.
- ``labels`` choose nodes. ``job_labels`` say what the work is: no node has to have them.

>>> r = PlacementRequest(tenant=TenantId("lab"), cpu_cores=4, mem_bytes=GIB, gpu_milli=500)
>>> r.device_count, r.device_milli, r.effective_exclusivity.value
(1, 500, 'shared')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from bailiwick.fleet.node import DEVICES_MAX, check_labels
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import (
    GIB,
    MILLI,
    TTL_DEFAULT_MS,
    AccountingTag,
    ProjectId,
    TenantId,
    check_amount,
    check_cores,
    check_integer,
    check_kind,
    check_name,
    check_unique,
)
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass, Priority

__all__ = ["GANG_MAX", "GIB", "PlacementRequest"]

GANG_MAX = 4096
"""Members of one gang."""

N = TypeVar("N", TenantId, ProjectId, AccountingTag)

_NO_LABELS: Mapping[str, str] = MappingProxyType({})
_WHOLE = (Exclusivity.SESSION_EXCLUSIVE, Exclusivity.DEVICE_EXCLUSIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRequest:
    """One request for resources, for one tenant, at one priority."""

    tenant: TenantId
    project: ProjectId | None = None
    tag: AccountingTag | None = None
    cpu_cores: int | float = 0
    mem_bytes: int = 0
    block_bytes: int = 0
    gpu_count: int = 0
    gpu_milli: int = 0
    gpu_vram: int = 0
    gpu_models: Sequence[str] = ()
    generation: HardwareGeneration | None = None
    exclusivity: Exclusivity | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    job_labels: Mapping[str, str] = field(default_factory=dict)
    priority: Priority = Priority.NORMAL
    lease_class: LeaseClass = LeaseClass.STANDARD
    gang_size: int = 1
    ttl_ms: int = TTL_DEFAULT_MS
    deadline_ms: int | None = None
    preemptible_on_budget: bool = False
    cpu_milli: int = field(init=False, repr=False)
    device_count: int = field(init=False, repr=False)
    device_milli: int = field(init=False, repr=False)
    effective_exclusivity: Exclusivity | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tenant", _named("tenant", self.tenant, TenantId))
        if self.project is not None:
            put(self, "project", _named("project", self.project, ProjectId))
        if self.tag is not None:
            put(self, "tag", _named("tag", self.tag, AccountingTag))
        put(self, "cpu_milli", check_cores("cpu_cores", self.cpu_cores))
        check_amount("mem_bytes", self.mem_bytes)
        check_amount("block_bytes", self.block_bytes)
        self._check_terms()
        for name in ("labels", "job_labels"):
            given = getattr(self, name)
            put(self, name, _NO_LABELS if given == {} else check_labels(name, given))
        count, milli, exclusivity = self._devices()
        put(self, "device_count", count)
        put(self, "device_milli", milli)
        put(self, "effective_exclusivity", exclusivity)
        if not (self.cpu_milli or self.mem_bytes or self.block_bytes or count):
            raise InvalidValue("request", "empty", "at least one resource above zero")

    def _check_terms(self) -> None:
        check_kind("priority", self.priority, Priority)
        check_kind("lease_class", self.lease_class, LeaseClass)
        check_kind("preemptible_on_budget", self.preemptible_on_budget, bool)
        if self.generation is not None:
            check_kind("generation", self.generation, HardwareGeneration)
        check_integer("gang_size", self.gang_size, low=1, high=GANG_MAX)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=2**53)
        if self.deadline_ms is not None:
            check_amount("deadline_ms", self.deadline_ms)

    def _devices(self) -> tuple[int, int, Exclusivity | None]:
        """Devices, milli of each, and the exclusivity in force (None without a GPU)."""
        check_integer("gpu_count", self.gpu_count, low=0, high=DEVICES_MAX)
        check_integer("gpu_milli", self.gpu_milli, low=0, high=MILLI)
        check_amount("gpu_vram", self.gpu_vram)
        if self.gpu_count and self.gpu_milli:
            raise InvalidValue("gpu_milli", self.gpu_milli, "0 when gpu_count is given")
        models = self.gpu_models
        if models != ():
            self._check_models(models)
        count = self.gpu_count or int(bool(self.gpu_milli or self.gpu_vram))
        if not count:
            if self.generation or models or self.exclusivity:
                raise InvalidValue("gpu_count", 0, "a GPU, since GPU terms are given")
            return 0, 0, None
        check_amount("gpu_vram", self.gpu_vram * count)
        milli = self.gpu_milli or MILLI
        exclusivity = self.exclusivity
        if exclusivity is None:
            exclusivity = Exclusivity.SHARED if milli < MILLI else Exclusivity.DEVICE_EXCLUSIVE
        check_kind("exclusivity", exclusivity, Exclusivity)
        return count, MILLI if exclusivity in _WHOLE else milli, exclusivity

    def _check_models(self, models: Sequence[str]) -> None:
        if not isinstance(models, list | tuple) or not all(
            isinstance(m, str) and m for m in models
        ):
            raise InvalidValue("gpu_models", models, "a tuple or list of non-empty model names")
        check_unique("gpu_models", models)
        object.__setattr__(self, "gpu_models", tuple(sorted(models)))

    def __hash__(self) -> int:
        return hash((self.tenant, self.cpu_milli, self.mem_bytes, self.gpu_count, self.gpu_milli))

    @property
    def gpu_milli_total(self) -> int:
        """Milli-shares one member holds, over all its devices."""
        return self.device_count * self.device_milli


def with_memory(request: PlacementRequest, bytes_per_core: int) -> PlacementRequest:
    """The request with memory for its cores (for one, if it asks for less), if it names none.

    >>> with_memory(PlacementRequest(tenant=TenantId("lab"), cpu_cores=2.5), GIB).mem_bytes // GIB
    3
    """
    if request.mem_bytes:
        return request
    cores = max(1, -(-request.cpu_milli // MILLI))
    return replace(request, mem_bytes=cores * bytes_per_core)


def _named(field_name: str, value: object, kind: type[N]) -> N:
    if isinstance(value, kind):
        return value
    if not isinstance(value, str):
        raise InvalidValue(field_name, value, f"a {kind.__name__} or a short name")
    return str.__new__(kind, check_name(field_name, value))

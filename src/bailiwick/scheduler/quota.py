"""Whether a tenant may hold more: usage against limits, asked before capacity is looked at.

Rules:

- ``check`` asks and changes nothing; ``record_alloc`` counts what is held even above a limit (a
  limit may be lowered under running work), so whoever places work asks first.
- A project's usage counts in its tenant's too, and a request must pass both rows.
- ``gpu_vram`` counts the memory of the devices that are held, by the share of each. A request is
  held against it by the least it names until its devices are known.
- Order of the rules: generation table, hard limits, burst credit, then budget and cost cap; in
  each the project is asked before its tenant. Only what a request asks for is held against it.
- The generation table is an allow-list, and ``gpu_count`` caps all generations together.
  ``set_quota`` replaces the whole quota, so the table too.
- A free takes at most what its own scope recorded. What it could not take is reported, and is not
  taken from another project through the tenant's row either.
- Above a hard limit, burst credit must last for ``burst_min_run_ms`` (0: for a moment); it carries
  no guaranteed work.
- Time only goes forward; one clock for the whole manager.

Usage and limits live in the rows of :mod:`.quota_rows`, which a compiled core reads and writes too.
It must leave the check of every row with ``FLAG_ASK`` to this module.

>>> from bailiwick.vocab.words import HardwareGeneration as G
>>> quotas = QuotaManager()
>>> quotas.set_gpu_generation_limits("lab", [GpuGenerationQuota(G.NVIDIA_HOPPER, 4)])
>>> quotas.check_gpu_generation("lab", G.NVIDIA_HOPPER, 2)
WithinQuota(burst=0)
>>> quotas.check_gpu_generation("lab", None, 1) == GpuGenerationRequired(requested=1)
True
>>> quotas.check_gpu_generation("lab", G.NVIDIA_BLACKWELL, 1).limit
0
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from bailiwick.scheduler.burst import BurstBook, BurstBucket, BurstOverrun, Firm
from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    GPUS_MAX,
    BudgetHook,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    Quota,
    QuotaDecision,
    QuotaHeadroom,
    QuotaScope,
    Shortfall,
    WithinQuota,
    check_generations,
    units_up,
)
from bailiwick.scheduler.quota_rows import (
    BLANK_ROW,
    FLAG_ASK,
    FLAG_GENERATIONS,
    FLAGS,
    GENERATION_LIMIT,
    GENERATION_USED,
    GPU,
    LIMIT,
    ROW_WIDTH,
    ROWS_MAX,
    VRAM,
    Change,
    RowTable,
    RowView,
    changes_of,
    check_generation,
    check_held_generations,
    demand_of,
    generation_change,
    headroom_of,
    missing_of,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, MILLI, check_integer, check_kind
from bailiwick.vocab.words import GENERATIONS, HardwareGeneration, LeaseClass

MaybeGeneration: TypeAlias = HardwareGeneration | None
_WITHIN, _GUARANTEED = WithinQuota(), LeaseClass.GUARANTEED


class QuotaManager:
    """Limits and usage of every tenant and project."""

    __slots__ = ("_bursts", "_hooks", "_quotas", "_table")

    def __init__(self, *, rows_max: int = ROWS_MAX) -> None:
        self._table = RowTable(rows_max)
        self._quotas: dict[int, Quota] = {}
        self._bursts = BurstBook()
        self._hooks: dict[int, BudgetHook] = {}

    @property
    def buffer(self) -> array[int]:
        """The rows; replaced by a larger array when it is full, never resized."""
        return self._table.buffer

    @property
    def buffer_version(self) -> int:
        """Changes whenever ``buffer`` is replaced: attach to it anew."""
        return self._table.version

    @property
    def table(self) -> RowTable:
        """The rows with their scopes, for whoever looks who is above a limit."""
        return self._table

    @property
    def bursts(self) -> BurstBook:
        """The burst credit of the rows."""
        return self._bursts

    @property
    def row_count(self) -> int:
        """Rows in use, counted from 0; the buffer is longer."""
        return len(self._table.scopes)

    def row_of(self, tenant: str, project: str | None = None) -> int:
        """The scope's row, made when it has none."""
        return self._table.row_of(QuotaScope.of(tenant, project))

    def row_for(self, request: PlacementRequest) -> int:
        """The row of a request's owner, whose names were checked when it was built."""
        row = self._table.by_name.get((request.tenant, request.project))
        return self.row_of(request.tenant, request.project) if row is None else row

    def set_quota(
        self, tenant: str, quota: Quota, *, project: str | None = None, now_ms: int | None = None
    ) -> None:
        """Replace everything the scope is allowed; usage stays, and so does spent burst credit.

        ``now_ms`` is when the new limits begin to count for burst; left out, the last time told.
        """
        check_kind("quota", quota, Quota)
        now = self._bursts.check_now(self._bursts.clock_ms if now_ms is None else now_ms)
        row = self._table.row_of(QuotaScope.of(tenant, project))
        self._settle(row, now)
        base = row * ROW_WIDTH + LIMIT
        self.buffer[base : base + len(DIMENSIONS)] = BLANK_ROW[LIMIT:GENERATION_USED]
        for limit in quota.limits:
            self.buffer[base + DIMENSIONS.index(limit.dimension)] = limit.amount
        self._bursts.put(row, quota.burst)
        self._put_generations(row, quota)

    def quota_of(self, tenant: str, project: str | None = None) -> Quota:
        """What was set for the scope; else of a tenant the default, of a project nothing."""
        row = self._table.find(QuotaScope.of(tenant, project))
        return self._quotas.get(row, Quota() if project else self._table.default)

    def has_quota(self, tenant: str, project: str | None = None) -> bool:
        """Whether the scope was given a quota of its own."""
        return self._table.find(QuotaScope.of(tenant, project)) in self._quotas

    def use_default(self, quota: Quota) -> None:
        """Limit every tenant without a quota of its own to this from now on."""
        self._table.use_default(quota, kept=self._quotas)

    @property
    def clock_ms(self) -> int:
        """The last time that usage changed or was settled."""
        return self._bursts.clock_ms

    @property
    def burst_min_run_ms(self) -> int:
        """How long burst credit must last for whoever is let in above a hard limit."""
        return self._bursts.min_run_ms

    @burst_min_run_ms.setter
    def burst_min_run_ms(self, value: int) -> None:
        if check_integer("burst_min_run_ms", value, low=0, high=2**52) > self._bursts.min_run_ms:
            # Credit carries nobody as far as before: any may be above its limits by now.
            self._table.touched |= dict.fromkeys(self._bursts.rows())
        self._bursts.min_run_ms = value

    def settings(self) -> Iterator[tuple[QuotaScope, Quota, BurstBucket | None]]:
        """Every scope that was given a quota, with its burst credit, in order of names."""
        rows = ((self._table.scopes[row], row) for row in self._quotas)
        for scope, row in sorted(rows, key=lambda pair: (pair[0].tenant, pair[0].project or "")):
            yield scope, self._quotas[row], self._bursts.bucket(row)

    def set_gpu_generation_limits(
        self, tenant: str, quotas: Sequence[GpuGenerationQuota], *, project: str | None = None
    ) -> None:
        """Replace the scope's generation table; an empty one allows every generation again."""
        entries = check_generations("gpu_generations", quotas)
        row = self._table.row_of(QuotaScope.of(tenant, project))
        self._put_generations(row, replace(self._quotas.get(row, Quota()), gpu_generations=entries))

    def set_budget_hook(self, tenant: str, hook: BudgetHook | None) -> None:
        """Ask this about money for every request of the tenant; ``None`` stops asking."""
        if hook is not None and not callable(getattr(hook, "check", None)):
            raise InvalidValue("hook", hook, "an object with check(request, now_ms), or None")
        row = self._table.row_of(QuotaScope.of(tenant))
        self._hooks.pop(row, None)
        if hook is not None:
            self._hooks[row] = hook
        self._put_flags(row)

    def headroom(self, tenant: str, project: str | None = None) -> QuotaHeadroom:
        """Limit, use and what is left, by dimension and by generation."""
        return headroom_of(self._views(QuotaScope.of(tenant, project)))

    def check(
        self, request: PlacementRequest, *, now_ms: int = 0, vram_bytes: int | None = None
    ) -> QuotaDecision:
        """Whether quota allows the whole request, all members of a gang together.

        ``vram_bytes`` is what its devices count for; left out, the least that it names.
        """
        check_kind("request", request, PlacementRequest)
        self._bursts.check_now(now_ms)
        demand = demand_of(request, vram_bytes)
        answer: QuotaDecision = _WITHIN
        rows = self._table.rows_of(request.tenant, request.project)
        is_lent = any(row in self._bursts for row in rows)
        if not rows or is_lent or not self._table.bears(rows[0], demand, asks=True):
            views = self._views(QuotaScope(request.tenant, request.project))
            denied = check_generation(views, request.generation, milli=demand[GPU])
            answer = denied or self._bursts.check_limits(
                views, demand, now_ms=now_ms, guaranteed=request.lease_class is _GUARANTEED
            )
        if not rows or not isinstance(answer, WithinQuota) or rows[-1] not in self._hooks:
            return answer
        return self._hooks[rows[-1]].check(request, now_ms) or answer

    def check_held(
        self, scope: QuotaScope, amounts: Sequence[int], *, now_ms: int, firm: Firm | None = None
    ) -> QuotaDecision:
        """Whether quota would allow anew what is held: by dimension, then by generation.

        ``firm`` counts what is guaranteed in a scope, if what is held is.
        """
        views, book = self._views(scope), self._bursts
        by_row = (book.check_held(view, amounts, now_ms=now_ms, firm=firm) for view in views)
        found = (check_held_generations(views, amounts), *by_row)
        return next((denied for denied in found if denied is not None), WithinQuota())

    def bears(self, row: int, demand: Sequence[int], *, now_ms: int) -> bool:
        """Whether the row surely takes this much more; if not, :meth:`check` must be asked."""
        self._bursts.check_now(now_ms)
        return self._table.bears(row, demand)

    def most_vram(self, row: int, request: PlacementRequest) -> int | None:
        """The most GPU memory the row could ever hold for a request; ``None`` for any amount.

        So with what burst credit carries, unless that carries nothing of the kind.
        """
        if not self._table.is_limited(row, VRAM):
            return None
        views, dimension = self._views(self._table.scopes[row]), DIMENSIONS[VRAM]
        if request.lease_class is _GUARANTEED:
            return min(view.limits[VRAM] for view in views)
        return min(self._bursts.wall(view, dimension) for view in views)

    def check_gpu_generation(
        self, tenant: str, generation: MaybeGeneration, count: int, *, project: str | None = None
    ) -> WithinQuota | GpuGenerationRequired | GpuGenerationLimitExceeded:
        """Whether the generation tables alone allow so many more whole GPUs."""
        if generation is not None:
            check_kind("generation", generation, HardwareGeneration)
        check_integer("count", count, low=0, high=GPUS_MAX)
        views = self._views(QuotaScope.of(tenant, project))
        denied = check_generation(views, generation, milli=count * MILLI)
        return denied or WithinQuota()

    def burst_exhausted(self, now_ms: int, *, anew: bool = False) -> tuple[BurstOverrun, ...]:
        """The scopes above a hard limit with no credit left, for the caller to evict from.

        With ``anew``, without those that were let be and have not changed since.
        """
        view, scopes = self._table.view, self._table.scopes
        now = self._bursts.check_now(now_ms)
        return tuple(self._bursts.overruns(lambda row: view(scopes[row]), now, anew=anew))

    def record_alloc(
        self,
        request: PlacementRequest,
        *,
        generation: MaybeGeneration = None,
        vram_bytes: int | None = None,
        now_ms: int = 0,
    ) -> None:
        """Count the whole request as held, for its project and its tenant.

        ``generation`` is that of the devices, where the request leaves it open, and ``vram_bytes``
        their memory; left out, the least that the request names.
        """
        changes = changes_of(request, generation, vram_bytes=vram_bytes)
        scope = QuotaScope(request.tenant, request.project)
        self._add(scope, changes, now_ms=self._bursts.check_now(now_ms))

    def record_free(
        self,
        request: PlacementRequest,
        *,
        generation: MaybeGeneration = None,
        vram_bytes: int | None = None,
        now_ms: int = 0,
    ) -> Shortfall:
        """Count the whole request as given back; says what had not been recorded as held."""
        changes = changes_of(request, generation, vram_bytes=vram_bytes)
        scope = QuotaScope(request.tenant, request.project)
        missing = self._take(scope, changes, now_ms=self._bursts.check_now(now_ms))
        return Shortfall(scope, tuple(missing_of(place, amount) for place, amount in missing))

    def record_gpu_generation_alloc(
        self, tenant: str, generation: HardwareGeneration, count: int, *, project: str | None = None
    ) -> None:
        """Count whole GPUs in the generation tables alone; ``record_alloc`` counts all else too."""
        change = generation_change(generation, count)
        self._add(QuotaScope.of(tenant, project), [change], now_ms=self._bursts.clock_ms)

    def record_gpu_generation_free(
        self, tenant: str, generation: HardwareGeneration, count: int, *, project: str | None = None
    ) -> int:
        """Give them back; returns the GPUs (rounded up) that had not been recorded as held."""
        change = generation_change(generation, count)
        missing = self._take(QuotaScope.of(tenant, project), [change], now_ms=self._bursts.clock_ms)
        return sum(units_up(amount, MILLI) for _, amount in missing)

    def check_time(self, now_ms: int) -> int:
        """The time, if it is one and not before the last one told."""
        return self._bursts.check_now(now_ms)

    def settle(self, row: int, now_ms: int) -> None:
        """Bring burst credit up to that time; to be done before writing usage into the buffer."""
        check_integer("row", row, low=0, high=self.row_count - 1)
        self._settle(row, self._bursts.check_now(now_ms))

    # -- room that is kept (:mod:`.holds`) ----------------------------------------------------

    def keep(self, row: int, amounts: Sequence[int], *, now_ms: int) -> None:
        """Count this much more (or less) as used in one row alone: by dimension, by generation."""
        if row in self._bursts:
            self._bursts.settle(self._table.view(self._table.scopes[row]), now_ms)
        self._table.count(row, amounts)

    # -- rows --------------------------------------------------------------------------------

    def _add(self, scope: QuotaScope, changes: list[Change], *, now_ms: int) -> None:
        # The tenant's row, since it holds no less than the project's.
        at = self._table.find(QuotaScope(scope.tenant)) * ROW_WIDTH
        for place, amount in changes:
            if amount + (self.buffer[at + place] if at >= 0 else 0) > AMOUNT_MAX:
                word = missing_of(place, amount).dimension
                raise InvalidValue(word, amount, f"usage to stay within {AMOUNT_MAX}")
        row = self._table.row_of(scope)
        self._settle(row, now_ms)
        for each, (place, amount) in product(self._table.path(row), changes):
            self.buffer[each * ROW_WIDTH + place] += amount

    def _take(self, scope: QuotaScope, changes: list[Change], *, now_ms: int) -> list[Change]:
        """Lower usage as far as the scope itself holds any; the changes that were left over."""
        row = self._table.find(scope)
        if row < 0:
            return changes
        taken = [(place, min(amount, self._table.held(row, place))) for place, amount in changes]
        self._settle(row, now_ms)
        for each, (place, amount) in product(self._table.path(row), taken):
            self.buffer[each * ROW_WIDTH + place] -= amount
        pairs = zip(changes, taken, strict=True)
        return [(place, asked - got) for (place, asked), (_, got) in pairs if asked > got]

    def _views(self, scope: QuotaScope) -> list[RowView]:
        scopes = [scope] if scope.project is None else [scope, QuotaScope(scope.tenant)]
        return [self._table.view(each) for each in scopes]

    def _settle(self, row: int, now_ms: int) -> None:
        self._bursts.clock_ms = now_ms
        for each in self._table.path(row):
            if each in self._bursts:
                self._bursts.settle(self._table.view(self._table.scopes[each]), now_ms)

    def _put_generations(self, row: int, quota: Quota) -> None:
        unlisted = 0 if quota.gpu_generations else AMOUNT_MAX
        base = row * ROW_WIDTH + GENERATION_LIMIT
        self.buffer[base : base + len(GENERATIONS)] = array("q", [unlisted] * len(GENERATIONS))
        for entry in quota.gpu_generations:
            self.buffer[base + GENERATIONS.index(entry.generation)] = entry.count * MILLI
        self._quotas[row] = quota
        self._table.touched[row] = None
        self._put_flags(row)

    def _put_flags(self, row: int) -> None:
        """Write the flags of the row and of its projects, which inherit ``FLAG_ASK``."""
        for each in (row, *self._table.children[row]):
            asks = any(r in self._bursts or r in self._hooks for r in self._table.path(each))
            lists = bool(self._quotas.get(each, Quota()).gpu_generations)
            self.buffer[each * ROW_WIDTH + FLAGS] = FLAG_ASK * asks | FLAG_GENERATIONS * lists

"""The rows of quota: one flat buffer of integers, and what can be read from a row.

Usage and limits of every scope lie in one array of 64-bit integers, because a compiled core reads
and writes the same rows. Rules:

- A project's row names its tenant's row as parent; what counts in the one counts in the other.
- The array never changes its size in place: it grows by a new one with a new ``version``.
- A rule is asked only about what a request adds: a scope above its GPU limit may still take memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    GPUS_MAX,
    GpuGenerationLimitExceeded,
    GpuGenerationRequired,
    Missing,
    Quota,
    QuotaHeadroom,
    QuotaScope,
    Room,
    unit_of,
    units_up,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, InvariantBroken, LimitReached
from bailiwick.vocab.values import AMOUNT_MAX, MILLI, check_amount, check_integer, check_kind
from bailiwick.vocab.words import GENERATIONS, Dimension, HardwareGeneration

ROW_WIDTH = 48
"""Integers in one row; the last two are spare."""

PARENT, FLAGS, USED, LIMIT, GENERATION_USED, GENERATION_LIMIT = 0, 1, 2, 8, 14, 30
"""Where the parts of a row begin: the parent's row or -1, flags, amounts in the order of
``DIMENSIONS`` and of ``GENERATIONS``. GPUs are in milli-shares; no limit is ``AMOUNT_MAX``."""

FLAG_ASK = 1
"""A burst credit or a budget hook bears on this row or its parent: only Python can decide."""

FLAG_GENERATIONS = 2
"""This row's generation table is in force."""

ROWS_MAX = 1_000_000
"""Most scopes one manager keeps."""

ROW_AMOUNTS = len(DIMENSIONS) + len(GENERATIONS)
"""What is counted in a row: each dimension, then each generation."""

GPU, VRAM = DIMENSIONS.index(Dimension.GPU_COUNT), DIMENSIONS.index(Dimension.GPU_VRAM)
"""Where GPUs and their memory stand among the dimensions."""

_ROWS_FIRST = 16
BLANK_ROW = array("q", [-1, 0] + [0] * 6 + [AMOUNT_MAX] * 6 + [0] * 16 + [AMOUNT_MAX] * 16 + [0, 0])
"""A row without usage and without limits."""


Change: TypeAlias = tuple[int, int]
"""A place in the row, and by how much it changes."""


@dataclass(frozen=True, slots=True)
class RowView:
    """One scope as a decision reads it; ``row`` is -1 when it has none yet."""

    scope: QuotaScope
    row: int
    listed: bool
    used: Sequence[int]
    limits: Sequence[int]
    generation_used: Sequence[int]
    generation_limits: Sequence[int]

    def without(self, amounts: Sequence[int]) -> RowView:
        """The same row with so much less in use: by dimension, then by generation."""
        split = len(DIMENSIONS)
        used = [now - less for now, less in zip(self.used, amounts[:split], strict=True)]
        pairs = zip(self.generation_used[: len(GENERATIONS)], amounts[split:], strict=True)
        return replace(self, used=used, generation_used=[now - less for now, less in pairs])


class RowTable:
    """The rows: which scope has which, and the buffer they lie in."""

    __slots__ = (
        "_index", "_rows_max", "_tenant", "buffer", "by_name", "children", "default", "scopes",
        "touched", "version",
    )  # fmt: skip

    def __init__(self, rows_max: int) -> None:
        self._rows_max = check_integer("rows_max", rows_max, low=1, high=ROWS_MAX)
        self._index: dict[QuotaScope, int] = {}
        self.by_name: dict[tuple[str, str | None], int] = {}
        self.scopes: list[QuotaScope] = []
        self.children: list[list[int]] = []
        self.buffer = array("q", bytes(8 * ROW_WIDTH * _ROWS_FIRST))
        self.version = 0
        self.touched: dict[int, None] = {}
        """Rows that may be above a limit: whose limits were set since they were seen within."""
        self.default, self._tenant = Quota(), BLANK_ROW
        """What a tenant without a quota may hold, and so what its row begins with."""

    def find(self, scope: QuotaScope) -> int:
        """The scope's row, or -1."""
        return self._index.get(scope, -1)

    def row_of(self, scope: QuotaScope) -> int:
        """The scope's row, made (with its tenant's) when it has none."""
        row = self.find(scope)
        if row >= 0:
            return row
        outer = QuotaScope(scope.tenant)
        parent = -1 if scope.project is None else self.find(outer)
        missing = 1 + (scope.project is not None and parent < 0)
        # Both or neither: a project's row without its tenant's would escape the tenant's limits.
        if len(self.scopes) + missing > self._rows_max:
            raise LimitReached("quota rows", self._rows_max)
        if missing == 2:
            parent = self._append(outer, parent=-1)
        return self._append(scope, parent=parent)

    def path(self, row: int) -> Iterator[int]:
        """The row and its parent, inner first."""
        yield row
        parent = self.buffer[row * ROW_WIDTH + PARENT]
        if parent >= 0:
            yield parent

    def rows_of(self, tenant: str, project: str | None) -> list[int]:
        """The scope's row and its tenant's, those of them that there are."""
        row = self.by_name.get((tenant, project), self.by_name.get((tenant, None)))
        return [] if row is None else list(self.path(row))

    def bears(self, row: int, demand: Sequence[int], *, asks: bool = False) -> bool:
        """Whether plain limits are all that bears on the row, and they take this much more.

        With ``asks``, whoever asks cares for burst credit and budgets himself.
        """
        buffer, in_force = self.buffer, ~FLAG_ASK if asks else ~0
        while row >= 0:  # bounded: a project's row, then its tenant's
            at = row * ROW_WIDTH
            if buffer[at + FLAGS] & in_force:
                return False
            used, limits = buffer[at + USED : at + LIMIT], buffer[at + LIMIT : at + GENERATION_USED]
            for amount, held, most in zip(demand, used, limits, strict=True):
                if amount and held + amount > most:
                    return False
            row = buffer[at + PARENT]
        return True

    def count(self, row: int, amounts: Sequence[int]) -> None:
        """Count this much more (or less) as used in one row alone: by dimension, by generation."""
        at, split = row * ROW_WIDTH, len(DIMENSIONS)
        for i, amount in enumerate(amounts):
            place = USED + i if i < split else GENERATION_USED + i - split
            self.buffer[at + place] += amount

    def is_limited(self, row: int, dimension: int) -> bool:
        """Whether the row or its parent has a limit in a dimension, by its place among them."""
        place = LIMIT + dimension
        return any(self.buffer[each * ROW_WIDTH + place] < AMOUNT_MAX for each in self.path(row))

    def left_in(self, row: int) -> list[int]:
        """What one row alone may still take: by dimension, by generation. Below zero if over."""
        cells = self.buffer[row * ROW_WIDTH : (row + 1) * ROW_WIDTH]
        used = (*cells[USED:LIMIT], *cells[GENERATION_USED:GENERATION_LIMIT])
        most = (*cells[LIMIT:GENERATION_USED], *cells[GENERATION_LIMIT:-2])
        return [limit - now for limit, now in zip(most, used, strict=True)][:ROW_AMOUNTS]

    def view(self, scope: QuotaScope) -> RowView:
        """The scope as a decision reads it."""
        row = self.find(scope)
        at = row * ROW_WIDTH
        blank = self._tenant if scope.project is None else BLANK_ROW
        cells = blank if row < 0 else self.buffer[at : at + ROW_WIDTH]
        usage, allowed = cells[USED:LIMIT], cells[LIMIT:GENERATION_USED]
        by_generation = cells[GENERATION_USED:GENERATION_LIMIT], cells[GENERATION_LIMIT:-2]
        listed = bool(cells[FLAGS] & FLAG_GENERATIONS)
        return RowView(scope, row, listed, usage, allowed, *by_generation)

    def held(self, row: int, place: int) -> int:
        """What the scope holds itself, not through its projects."""
        inner = sum(self.buffer[child * ROW_WIDTH + place] for child in self.children[row])
        held = self.buffer[row * ROW_WIDTH + place] - inner
        # INVARIANT: a tenant's usage is its own and its projects' together, so never below theirs.
        if held < 0:
            raise InvariantBroken(f"{self.scopes[row]} holds less than its projects")
        return held

    def use_default(self, quota: Quota, *, kept: Container[int]) -> None:
        """Limit tenants to this from now on, but for the rows that are ``kept``."""
        if quota.gpu_generations or quota.burst:
            raise InvalidValue("quota", quota, "limits alone, for everybody")
        self.default, self._tenant = quota, BLANK_ROW[:]
        for each in quota.limits:
            self._tenant[LIMIT + DIMENSIONS.index(each.dimension)] = each.amount
        allowed = self._tenant[LIMIT:GENERATION_USED]
        for row, scope in enumerate(self.scopes):
            if scope.project is None and row not in kept:
                base = row * ROW_WIDTH
                self.buffer[base + LIMIT : base + GENERATION_USED] = allowed
                self.touched[row] = None

    def _append(self, scope: QuotaScope, *, parent: int) -> int:
        row = len(self.scopes)
        base = row * ROW_WIDTH
        if base == len(self.buffer):
            self._grow()
        self.buffer[base : base + ROW_WIDTH] = self._tenant if parent < 0 else BLANK_ROW
        if parent >= 0:
            self.buffer[base + PARENT] = parent
            self.buffer[base + FLAGS] = self.buffer[parent * ROW_WIDTH + FLAGS] & FLAG_ASK
            self.children[parent].append(row)
        self.scopes.append(scope)
        self.children.append([])
        self._index[scope] = row
        self.by_name[scope.tenant, scope.project] = row
        return row

    def _grow(self) -> None:
        # Not in place: an array whose memory someone has exported cannot be resized.
        grown = array("q", bytes(2 * 8 * len(self.buffer)))
        grown[: len(self.buffer)] = self.buffer
        self.buffer = grown
        self.version += 1


def check_generation(
    views: Sequence[RowView], generation: HardwareGeneration | None, *, milli: int
) -> GpuGenerationRequired | GpuGenerationLimitExceeded | None:
    """The denial of the first row whose generation table does not bear so many milli-shares."""
    if not milli:
        return None
    for view in views:
        if generation is None:
            if view.listed:
                return GpuGenerationRequired(units_up(milli, MILLI), view.scope)
            continue
        i = GENERATIONS.index(generation)
        limit, used = view.generation_limits[i], view.generation_used[i]
        if used + milli > limit:
            shown = as_told(MILLI, limit, used=used, requested=milli)
            return GpuGenerationLimitExceeded(generation, *shown, view.scope)
    return None


def check_held_generations(
    views: Sequence[RowView], amounts: Sequence[int]
) -> GpuGenerationRequired | GpuGenerationLimitExceeded | None:
    """The denial of the first table that would not bear anew a part of what it bears now."""
    rest = [view.without(amounts) for view in views]
    held = zip(GENERATIONS, amounts[len(DIMENSIONS) :], strict=True)
    found = (check_generation(rest, generation, milli=milli) for generation, milli in held)
    return next((denied for denied in found if denied is not None), None)


def vram_held(vram_bytes: int, milli: int) -> int:
    """What a share of a device that has so much memory counts for, in whole bytes."""
    return units_up(vram_bytes * milli, MILLI)


def vram_of(request: PlacementRequest, vram_bytes: int) -> int:
    """What the whole request counts for in memory, if each of its devices has this much."""
    devices = request.device_count * request.gang_size
    return devices * vram_held(vram_bytes, request.device_milli)


def demand_of(request: PlacementRequest, vram_bytes: int | None = None) -> tuple[int, ...]:
    """What the whole request (all members of a gang) adds to each dimension, in row units.

    ``vram_bytes`` is what it counts for in GPU memory; left out, the least that it names.
    """
    members = request.gang_size
    return (
        request.cpu_milli * members,
        request.mem_bytes * members,
        request.block_bytes * members,
        request.gpu_milli_total * members,
        vram_of(request, request.gpu_vram) if vram_bytes is None else vram_bytes,
        members,
    )


def generation_of(
    request: PlacementRequest, generation: HardwareGeneration | None
) -> HardwareGeneration | None:
    """Under which generation a request counts: its own, else the one its devices turned out."""
    if generation is not None:
        check_kind("generation", generation, HardwareGeneration)
        # Counting it elsewhere than where it was checked would get around the generation table.
        if request.generation not in (None, generation):
            raise InvalidValue("generation", generation, f"{request.generation}, as requested")
    return request.generation or generation


def headroom_of(views: Sequence[RowView]) -> QuotaHeadroom:
    """What the first of these rows may still take, the others being around it."""
    dimensions = {
        d: _room([(v.limits[i], v.used[i]) for v in views], unit_of(d))
        for i, d in enumerate(DIMENSIONS)
    }
    generations = {
        g: _room([(v.generation_limits[i], v.generation_used[i]) for v in views], MILLI)
        for i, g in enumerate(GENERATIONS)
    }
    scope = views[0].scope
    return QuotaHeadroom(scope, MappingProxyType(dimensions), MappingProxyType(generations))


def _room(pairs: list[tuple[int, int]], unit: int) -> Room:
    limit, used = pairs[0]
    lefts = [max(0, most - now) for most, now in pairs if most < AMOUNT_MAX]
    left = min(lefts, default=None)
    return Room(
        limit=limit // unit if limit < AMOUNT_MAX else None,
        used=units_up(used, unit),
        left=None if left is None else left // unit,
        left_exact=left,
    )


def as_told(unit: int, limit: int, *, used: int, requested: int) -> tuple[int, int, int]:
    """Limit, used and requested as a denial tells them."""
    return limit // unit, units_up(used, unit), units_up(requested, unit)


def changes_of(
    request: PlacementRequest, generation: HardwareGeneration | None, *, vram_bytes: int | None
) -> list[Change]:
    """Where and by how much a request raises usage."""
    check_kind("request", request, PlacementRequest)
    family = generation_of(request, generation)
    if vram_bytes is not None:
        check_amount("vram_bytes", vram_bytes)
    demand = demand_of(request, vram_bytes)
    changes = [(USED + i, amount) for i, amount in enumerate(demand) if amount]
    if family is not None and demand[GPU]:
        changes.append((GENERATION_USED + GENERATIONS.index(family), demand[GPU]))
    return changes


def generation_change(generation: HardwareGeneration, count: int) -> Change:
    """Where and by how much whole GPUs raise a generation's usage alone."""
    check_kind("generation", generation, HardwareGeneration)
    check_integer("count", count, low=0, high=GPUS_MAX)
    return GENERATION_USED + GENERATIONS.index(generation), count * MILLI


def missing_of(place: int, amount: int) -> Missing:
    """What a place of the row stands for, and so much of it."""
    if place < GENERATION_USED:
        return Missing(DIMENSIONS[place - USED], amount)
    return Missing(Dimension.GPU_COUNT, amount, GENERATIONS[place - GENERATION_USED])

"""Which bounds of this plane a request to its cells is held against, and which it cannot be.

Rules:

- What is in cells counts in the quota here by what its request names, until its cell says that it
  is over. Only the plain limits bear it: nothing in a cell is ended from here when burst credit is
  used up, so credit carries none of it.
- A budget here cannot see what a cell charges, nor a limit on GPU memory how much the devices have
  that a cell gives. Whoever has one (its own, or its tenant's) would get round it there: he is
  refused, or waits here until it is ended.
- When burst credit is used up here, nobody's lease is ended for what is above the limit in cells
  alone: whoever went would go in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bailiwick.kernel.state import State
from bailiwick.scheduler.burst import BurstOverrun
from bailiwick.scheduler.quota_policy import DIMENSIONS, WithinQuota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension


@dataclass(frozen=True, slots=True)
class UnseenBound:
    """A bound that would be got round in a cell, as it is told; and what to do."""

    why: str
    hint: str


A_BUDGET: Final = UnseenBound(
    "has a budget here, which does not count what runs in cells",
    "give it budgets in the cells, and end the one here",
)
GPU_MEMORY: Final = UnseenBound(
    "has a limit on GPU memory here, which does not see the devices of cells",
    "give it that limit in the cells, and one on GPUs here",
)


def unseen_bound(state: State, request: PlacementRequest) -> UnseenBound | None:
    """What keeps a request out of all cells, if anything does."""
    if _has_purse(state, request):
        return A_BUDGET
    return GPU_MEMORY if _has_vram_limit(state, request) else None


def check_seen_from_here(state: State, request: PlacementRequest) -> None:
    """Go on only if no bound of this plane would be got round in a cell."""
    unseen = unseen_bound(state, request)
    if unseen is not None:
        raise Conflict("tenant", str(request.tenant), unseen.why, hint=unseen.hint)


def beyond_quota(state: State, request: PlacementRequest, *, now_ms: int) -> str | None:
    """Why the plain limits do not bear that a request is given to a cell now, if they do not."""
    answer = state.quotas.check(request, now_ms=now_ms)
    if not isinstance(answer, WithinQuota):
        return f"is beyond its quota: {answer}"
    if answer.burst:
        return f"is {answer.burst} beyond its quota, and burst credit carries nothing in cells"
    return None


def is_borne(state: State, request: PlacementRequest, *, now_ms: int) -> bool:
    """Whether a request may be given to a cell now."""
    if beyond_quota(state, request, now_ms=now_ms) is not None:
        return False
    return unseen_bound(state, request) is None


def is_above_by_cells(state: State, overrun: BurstOverrun) -> bool:
    """Whether a scope were above its limit by what it has in cells, had it nothing here."""
    at = DIMENSIONS.index(overrun.dimension)
    held = state.cells.charged_to(overrun.scope.tenant, overrun.scope.project)[at]
    return held > state.quotas.table.view(overrun.scope).limits[at]


def _has_purse(state: State, request: PlacementRequest) -> bool:
    project = None if request.project is None else str(request.project)
    return bool(state.spending.purses_of(str(request.tenant), project))


def _has_vram_limit(state: State, request: PlacementRequest) -> bool:
    if not request.device_count:
        return False
    projects = {None, None if request.project is None else str(request.project)}
    quotas = (state.quotas.quota_of(str(request.tenant), project) for project in projects)
    return any(each.dimension is Dimension.GPU_VRAM for quota in quotas for each in quota.limits)

"""Fair shares with the work that runs now counted in, without looking at every lease.

Rules:

- Each scope has a rate (what its leases weigh together); usage grows by rate times time. The rate
  changes only when a lease begins or ends, so nothing has to be counted in between.
- What has grown is charged to the fading account at most once in ``SETTLE_MS`` of the journal's
  time, since charging is much dearer than adding. Reading counts the rest in, unfaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.scheduler.fairness import CORES_PER_GPU, FairShares, Scope

SETTLE_MS = 10_000


def weight_of(gpu_milli: int, cpu_milli: int) -> int:
    """What one lease weighs: its GPU shares, or its cores, and never nothing."""
    return max(gpu_milli, cpu_milli // CORES_PER_GPU, 1)


@dataclass(slots=True)
class Running:
    """What a scope's leases weigh now, and what they used since it was last charged."""

    rate: int
    pending: int
    since_ms: int
    charged_ms: int


class RunningShares(FairShares):
    """Shares, fading usage, and usage that is still growing."""

    __slots__ = ("running",)

    def __init__(self, half_life_ms: int) -> None:
        super().__init__(half_life_ms)
        self.running: dict[Scope, Running] = {}

    def change(self, tenant: str, project: str | None, *, rate: int, now_ms: int) -> None:
        """Leases of this owner began (``rate`` above zero) or ended (below)."""
        for scope in ((tenant,), (tenant, project or "")):
            run = self.running.get(scope)
            if run is None:
                self.running[scope] = Running(rate, 0, now_ms, now_ms)
                continue
            run.pending += run.rate * (now_ms - run.since_ms)
            run.since_ms = now_ms
            run.rate += rate
            if run.pending and now_ms - run.charged_ms >= SETTLE_MS:
                self.add(scope, run.pending, now_ms=now_ms)
                run.pending, run.charged_ms = 0, now_ms

    def _usage(self, scope: Scope, now_ms: int) -> int:
        charged = super()._usage(scope, now_ms)
        run = self.running.get(scope)
        if run is None:
            return charged
        return charged + run.pending + run.rate * (now_ms - run.since_ms)

"""Fair shares with the work that runs now counted in, without looking at every lease.

Rules:

- Each scope has a rate (what its leases weigh together); usage grows by rate times time. The rate
  changes only when a lease begins or ends, so nothing has to be counted in between.
- A lease counts for the time that the meter says was its: from its grant to its end or its fence,
  and what is lost with its node up to the last proof of life. What grew beyond is taken off again.
- What has grown is charged to the fading account at most once in ``SETTLE_MS`` of the journal's
  time, since charging is much dearer than adding. Reading counts the rest in, unfaded.
- For a place in the line (:mod:`bailiwick.scheduler.fairness`) usage is refreshed whenever the rate
  changes; in between what runs counts on only at the tenant's own moments.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.scheduler.fairness import CORES_PER_GPU, FairShares, Scope

SETTLE_MS = 10_000


def weight_of(gpu_milli: int, cpu_milli: int) -> int:
    """What one lease weighs: its GPU shares, or its cores, and never nothing."""
    return max(gpu_milli, cpu_milli // CORES_PER_GPU, 1)


@dataclass(slots=True)
class RunningWeight:
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
        self.running: dict[Scope, RunningWeight] = {}

    def change(
        self,
        tenant: str,
        project: str | None,
        *,
        rate: int,
        now_ms: int,
        until_ms: int | None = None,
    ) -> None:
        """Leases of this owner began (``rate`` above zero) or ended (below).

        Those that ended count up to ``until_ms``, if that is before now.
        """
        beyond = 0 if until_ms is None else -rate * (now_ms - until_ms)
        self._tell_change((tenant,))
        for scope in ((tenant,), (tenant, project or "")):
            run = self.running.get(scope)
            if run is None:
                self.running[scope] = RunningWeight(rate, 0, now_ms, now_ms)
                continue
            run.pending += run.rate * (now_ms - run.since_ms)
            run.since_ms = now_ms
            run.rate += rate
            if beyond:
                self._take_off(scope, run, beyond, from_ms=now_ms if until_ms is None else until_ms)
            if run.pending and now_ms - run.charged_ms >= SETTLE_MS:
                self.add(scope, run.pending, now_ms=now_ms)
                run.pending, run.charged_ms = 0, now_ms

    def _take_off(self, scope: Scope, run: RunningWeight, amount: int, *, from_ms: int) -> None:
        """Take off what was counted since then: first of what does not fade yet.

        The rest was charged at that time or later, so taken off as of that time it has faded no
        less than what it is taken from.
        """
        pending = min(run.pending, amount)
        run.pending -= pending
        if amount > pending:
            self.add(scope, pending - amount, now_ms=from_ms)

    def _changed_ms(self, scope: Scope) -> int:
        run = self.running.get(scope)
        return max(super()._changed_ms(scope), 0 if run is None else run.since_ms)

    def _usage(self, scope: Scope, now_ms: int) -> int:
        # What was taken off is rounded away from zero: a part of a unit may be missing.
        charged = max(super()._usage(scope, now_ms), 0)
        run = self.running.get(scope)
        if run is None:
            return charged
        return charged + run.pending + run.rate * (now_ms - run.since_ms)

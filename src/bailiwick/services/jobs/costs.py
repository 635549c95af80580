"""What a job has cost so far, and what an hour of it costs.

Rules:

- The cost is that of all leases it has had: of every member and every attempt, as the invoice will
  have it (:mod:`bailiwick.billing.lease_costs`).
- Prices and usage are read apart; if a price changed in between, it is done again.
- The price of an hour is that of what it holds; of one that waits, of what it asks for, where it
  may be that of the dearest GPUs that would do.
- Whoever may read a job may know what it costs: what it would cost a plan tells as well.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bailiwick.billing.lease_costs import lines_of, micros_per_hour
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook
from bailiwick.kernel import Submit, decode_command
from bailiwick.kernel.work import plan as pl
from bailiwick.ports import JobRow
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.jobs.jobs import Jobs
from bailiwick.services.plans import PlanPrice, price_of
from bailiwick.services.rating import prices_in
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.errors import BailiwickError, Unavailable

_TRIES = 10


@dataclass(frozen=True, slots=True)
class JobCost:
    """What a job has cost, line by line, and what an hour costs now (``None``: it is over)."""

    currency: str
    lines: tuple[RatedLine, ...]
    micros_per_hour: int | None
    is_upper_bound: bool = False

    @property
    def cost_micros(self) -> int:
        """What it all comes to."""
        return sum(line.cost_micros for line in self.lines)


async def read_cost(caller: Caller, jobs: Jobs, *, job: JobRow, meter: MeterBook) -> JobCost:
    """What a job has cost so far; the caller was seen to be allowed to read it."""
    leases = await asyncio.to_thread(leases_of, jobs, job)
    for _ in range(_TRIES):
        before = await caller.lookup(prices_in)
        found = await asyncio.to_thread(
            _cost, meter, leases, book=before.book, now_ms=before.now_ms
        )
        after = await caller.lookup(prices_in)
        if len(after.book.changes) == len(before.book.changes):
            break
    else:
        raise Unavailable("the cost of the job", "prices change while it is counted")
    lines, per_hour = found
    currency = before.book.currency
    if job.phase.is_over or per_hour is not None:
        return JobCost(currency, lines, None if job.phase.is_over else per_hour)
    asked = await caller.lookup(lambda view: _price_asked(view, job))
    if asked is None:
        return JobCost(currency, lines, None)
    return JobCost(currency, lines, asked.micros_per_hour, asked.is_upper_bound)


def leases_of(jobs: Jobs, job: JobRow) -> list[int]:
    """Every lease that a job has had: of its members and of earlier attempts too."""
    found = {job.lease_id}
    if job.attempt > 1:
        ended = jobs.book.held.attempts([job.job_id]).get(job.job_id, ())
        found |= {each.lease_id for each in ended}
    if job.gang_size > 1:
        found |= {row.lease_id for row in jobs.book.members.of_jobs([job.job_id])}
    return sorted(each for each in found if each is not None)


def _cost(
    meter: MeterBook, leases: list[int], *, book: RateBook, now_ms: int
) -> tuple[tuple[RatedLine, ...], int | None]:
    if not leases:
        return (), None
    charged, running = meter.of_leases(leases, now_ms)
    per_hour = micros_per_hour(running, book, at_ms=now_ms) if running else None
    return lines_of((*charged, *running), book), per_hour


def _price_asked(view: View, job: JobRow) -> PlanPrice | None:
    """What it asks for costs; nothing of a row that this version cannot read."""
    try:
        command = decode_command(dict(job.request))
    except BailiwickError:
        return None
    if not isinstance(command, Submit):
        return None
    now_ms = max(view.now_ms, view.state.clock_ms)
    card = view.state.spending.book.card_for(str(command.request.tenant), now_ms)
    fleet = pl.generations_for(view.state, command.request)
    return price_of(None, command, card=card, fleet=fleet)

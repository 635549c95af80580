"""Nothing is lost and nothing doubled between many sources and the meter, on adversarial schedules:
lost, doubled and reordered events and acknowledgements, restarts, crashes around the commit.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.metering_schedules import Schedule

SCHEDULES = 2_000


@given(seed=st.integers(0, 2**64), steps=st.integers(0, 400))
def test_each_event_counts_once_and_in_order_on_any_schedule(seed: int, steps: int) -> None:
    Schedule(seed).run(steps)


def test_each_event_counts_once_on_thousands_of_schedules_that_hold_every_fault() -> None:
    crashes = conflicts = restarts = events = 0
    for seed in range(SCHEDULES):
        schedule = Schedule(seed)
        schedule.run(80)
        crashes += schedule.crashes
        conflicts += schedule.conflicts
        restarts += sum(sender.epoch - 1 for sender in schedule.senders)
        events += len(schedule.durable.ledger)
    # A schedule in which nothing goes wrong proves nothing.
    assert min(crashes, restarts, events) > SCHEDULES
    assert conflicts > SCHEDULES / 20

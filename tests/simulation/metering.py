"""``python -m tests.simulation.metering``: very many adversarial schedules of the metering rules.

Each seed is one schedule of :mod:`tests.support.metering_schedules`: sources that repeat, reorder,
contradict themselves and start again, clocks that step, a meter that dies around its commit. Lost
must be 0, doubled must be 0, and every sum exact; the first schedule that is otherwise is told with
its seed, and ends the run with 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice, repeat

from tests.support.metering_schedules import Schedule

STEPS = 80
BLOCK = 2_000


def run_block(first: int, schedules: int = BLOCK) -> Counter[str]:
    """What happened in so many schedules from this seed on; the first bad one raises."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + schedules):
        schedule = Schedule(seed)
        try:
            schedule.run(STEPS)
        except Exception as error:
            raise AssertionError(f"schedule {seed} of {STEPS} steps: {error!r}") from error
        seen["schedules"] += 1
        seen["events"] += len(schedule.durable.ledger)
        seen["crashes"] += schedule.crashes
        seen["conflicts"] += schedule.conflicts
        seen["restarts"] += sum(sender.epoch - 1 for sender in schedule.senders)
    return seen


def main(arguments: list[str] | None = None) -> int:
    """Run them on all cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args(arguments)
    blocks = -(-asked.schedules // BLOCK)
    firsts = islice(count(asked.first, BLOCK), blocks)
    seen, begin = Counter[str](), time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        try:
            for found in pool.map(run_block, firsts, repeat(BLOCK)):
                seen += found
                said = f"{seen['schedules']:,} schedules, {time.monotonic() - begin:.0f} s"
                print(f"\r{said}", end="", file=sys.stderr, flush=True)
        except AssertionError as error:
            pool.shutdown(cancel_futures=True)
            print(f"\n{error}", file=sys.stderr)
            return 1
    print(file=sys.stderr)
    told = ", ".join(f"{number:,} {word}" for word, number in seen.items())
    print(f"metering: {told}; lost 0, doubled 0, every sum exact")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run many simulations, or one again: ``python -m tests.simulation --seeds 1000 --start 0``.

A broken promise is told in one line with the seed that shows it, and a short trace. The same seed
gives the same run in any process, as long as the code is the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.simulation.model import Violation
from tests.simulation.world import ACTIONS, World

_TRACE_LINES = 15
_TELL_EVERY_S = 2.0


def main(arguments: list[str] | None = None) -> int:
    """Zero if every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many to run")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--actions", type=int, default=ACTIONS, help="how long each of them is")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a broken promise")
    parser.add_argument("-v", "--verbose", action="store_true", help="the trace, and what happened")
    given = parser.parse_args(arguments)
    first = given.start if given.seed is None else given.seed
    seeds = range(first, first + (given.seeds if given.seed is None else 1))
    return _run_all(
        seeds, actions=given.actions, keep_going=given.keep_going, verbose=given.verbose
    )


def _run_all(seeds: range, *, actions: int, keep_going: bool, verbose: bool) -> int:
    began = told = time.monotonic()  # only for the progress line: nothing simulated sees it
    failed = 0
    happened: Counter[str] = Counter()
    for done, seed in enumerate(seeds, start=1):
        world = World(seed, actions=actions)
        if verbose:
            world.trace_lines_max = 1_000_000
        failed += not _run_one(world, verbose=verbose)
        happened += Counter(world.judge.model.kinds)
        now = time.monotonic()
        if now - told >= _TELL_EVERY_S or done == len(seeds):
            told = now
            rate = done / (now - began)
            print(f"{done} of {len(seeds)} seeds, {rate:.1f}/s, {failed} failed", file=sys.stderr)
        if failed and not keep_going:
            break
    if verbose:
        print("\n".join(f"{count:8} {kind}" for kind, count in happened.most_common()))
    return 1 if failed else 0


def _run_one(world: World, *, verbose: bool) -> bool:
    try:
        world.run()
    except Violation as broken:
        print(f"seed {world.seed}: {broken}; replay: make simulate SEED={world.seed}")
        lines = world.trace_tail if verbose else world.trace_tail[-_TRACE_LINES:]
        print("\n".join(f"    {line}" for line in lines))
        return False
    if verbose:
        print("\n".join(world.trace_tail))
        print(f"seed {world.seed}: every promise kept, trace {world.trace_hash[:16]}")
    return True


if __name__ == "__main__":
    sys.exit(main())

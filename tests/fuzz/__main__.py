"""Fuzz parsers with atheris: ``python -m tests.fuzz [TARGET...] --runs 100000``.

A target is an area (``nitro``) or one of its parsers (``nitro.document``); without one all of them
run, one after another. A finding is told with its input, and kept in ``--keep`` if that is given.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz import Target, all_targets
from tests.fuzz.running import Bounds, fuzz, has_atheris


def main(arguments: list[str] | None = None) -> int:
    """Zero if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="areas or parsers; else all")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs for each target")
    parser.add_argument("--seconds", type=int, default=120, help="at most so long for each target")
    parser.add_argument("--rss-mb", type=int, default=1024, help="memory of one run")
    parser.add_argument("--input-seconds", type=int, default=10, help="one input")
    parser.add_argument("--keep", type=Path, help="folder for inputs that show something")
    parser.add_argument("--list", action="store_true", help="only name the targets")
    given = parser.parse_args(arguments)
    targets = [target for target in all_targets() if _is_meant(target, given.targets)]
    if given.list:
        print("\n".join(target.name for target in targets))
        return 0
    if not targets:
        parser.error(f"no such target: {' '.join(given.targets)} (--list names all)")
    if not has_atheris():
        print("atheris is not installed: `make test-tools` installs it, or says why not")
        return 2
    bounds = Bounds(given.runs, given.seconds, given.input_seconds, given.rss_mb)
    found = [not _run(target, bounds, given.keep) for target in targets]
    print(f"{len(found)} targets, {sum(found)} with a finding", file=sys.stderr)
    return 1 if any(found) else 0


def _is_meant(target: Target, wanted: list[str]) -> bool:
    area = target.name.partition(".")[0]
    return not wanted or target.name in wanted or area in wanted


def _run(target: Target, bounds: Bounds, keep: Path | None) -> bool:
    began = time.monotonic()
    finding = fuzz(target.module, target.key, bounds)
    took = time.monotonic() - began
    print(f"{target.name}: {'ok' if finding is None else 'FOUND'} ({took:.0f} s)", flush=True)
    if finding is None:
        return True
    print(finding.told)
    if keep is not None and finding.data is not None:
        keep.mkdir(parents=True, exist_ok=True)
        path = keep / target.name
        path.write_bytes(finding.data)
        print(f"kept as {path}")
    return False


if __name__ == "__main__":
    sys.exit(main())

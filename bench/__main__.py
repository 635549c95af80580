"""``python -m bench``: run the benches, print the tables, leave them in ``bench/out``.

Without a name every section runs (about a quarter of an hour on two cores); ``--quick`` is a
subset of a few minutes whose figures are too rough to judge a bar by. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rich.console import Console

from bailiwick import InvalidValue
from bench import report
from bench.measure import say
from bench.report import Section

SECTIONS = (
    *(
        "quality",
        "hotpath",
        "victims",
        "memory",
        "growth",
        "upkeep",
        "cells",
        "cell_servers",
        "isolation",
        "journal",
    ),
    *(
        "isolation_check",
        "journal_disk",
        "durable",
        "restart",
        "reads",
        "api",
        "metering",
        "capability",
        "attestation",
        "audit",
        "graphs",
        "apps",
        "agents",
        "events",
        "dashboards",
        "pages",
        "slurm_jobs",
        "slurm_app",
    ),
)


def _run(name: str, *, quick: bool) -> Section:
    """One section; what this machine lacks (a compiled core, say) is told and not fatal."""
    runner: Callable[..., Section] = import_module(f"bench.{name}").run
    try:
        section = runner(quick=quick)
    except InvalidValue as error:
        return Section(name, name, notes=[f"Not measured here: {error}"])
    if quick:
        section.leave_unjudged()
    return section


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; 0 when no bar was missed, 1 when one was."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=f"any of {SECTIONS}")
    parser.add_argument("--quick", action="store_true", help="a rough subset, about a minute")
    parser.add_argument("--out", type=Path, default=report.OUT, help="where to leave the results")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; choose from {', '.join(SECTIONS)}")
    done: list[Section] = []
    for name in asked.sections or SECTIONS:
        say(f"section {name}")
        done.append(_run(name, quick=asked.quick))
        report.write(done, folder=asked.out, quick=asked.quick)
    report.show(done, Console(width=None if sys.stdout.isatty() else 140))
    missed = [bar.what for section in done for bar in section.bars if bar.met is False]
    say(f"done; {len(missed)} bar(s) missed; bench.json and bench.md are in {asked.out.name}/")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

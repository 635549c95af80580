"""The command ``bailiwick journal check-cases``: published cases, judged and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.journal_screen import print_table
from bailiwick.cli.shared.flags import Output, OutputOption


def check_cases(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The folder of cases.json.", exists=True, file_okay=False
        ),
    ],
    *,
    output: OutputOption = Output.TABLE,
) -> None:
    """Judge every case of a folder, and compare with what it says to expect.

    The folder has a cases.json of format attestation-lab/tlog/1. Ends with 3 if any differs.

    Example: bailiwick journal check-cases vectors
    """
    import json

    from bailiwick.tools.journal_cases import judged_row, load_cases

    rows = [judged_row(directory, case) for case in load_cases(directory)]
    wrong = sum(row["matches"] != "yes" for row in rows)
    if output is Output.JSON:
        typer.echo(json.dumps(rows, indent=2))
    else:
        headings = ("case", "expected", "verdict", "matches", "note")
        print_table(headings, [tuple(row[name] for name in headings) for row in rows])
    typer.echo(f"{len(rows)} cases, {len(rows) - wrong} as expected, {wrong} not", err=True)
    if wrong or not rows:
        raise typer.Exit(ExitCode.DENIED)

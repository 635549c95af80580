"""The command ``bailiwick attest check-cases``: published cases, judged and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.cli.shared.progress import progress

if TYPE_CHECKING:
    from bailiwick.tools.attest_cases import CaseRow, Folder

_HEADINGS = ("case", "expected", "verdict", "matches")

HELP = (
    "Judge every case of folders, and compare with what they say to expect.\n\n"
    "Example: bailiwick attest check-cases vectors\n\n"
    "A folder has a cases.json of a format attestation-lab/TOPIC/1. Each case goes through the "
    "verifier that the gate uses. Ends with 3 if any verdict or reason differs, or if there is no "
    "case at all."
)


def check_cases(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folders of a cases.json, or folders of such folders.",
            exists=True,
            file_okay=False,
        ),
    ],
    *,
    output: OutputOption = Output.TABLE,
) -> None:
    """Judge every case of folders, and compare with what they say to expect."""
    import json

    from bailiwick.tools.attest_cases import folders_of, judged_row, load_cases

    folders = [folder for directory in directories for folder in folders_of(directory)]
    # A folder that is named twice is judged once.
    folders = [*{folder.root.resolve(): folder for folder in folders}.values()]
    found = [(folder, case) for folder in folders for case in load_cases(folder)]
    rows = []
    with progress(len(found)) as step:
        for folder, case in found:
            rows.append(judged_row(folder, case))
            step(f"{folder.root.name}: {rows[-1].case}")
    if output is Output.JSON:
        typer.echo(json.dumps([row.told for row in rows], indent=2))
    else:
        _print(folders, rows)
    _print_totals(folders, rows)
    if not rows or not all(row.matches for row in rows):
        raise typer.Exit(ExitCode.DENIED)


def _print(folders: list[Folder], rows: list[CaseRow]) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows

    console = make_console()
    for folder in folders:
        shown = [row.told for row in rows if row.folder == folder.name]
        cells = [tuple(row[name] for name in (*_HEADINGS, "note")) for row in shown]
        title = folder.name if len(folders) > 1 else ""
        print_rows(console, (*_HEADINGS, "note*"), rows=cells, title=title)


def _print_totals(folders: list[Folder], rows: list[CaseRow]) -> None:
    for folder in folders if len(folders) > 1 else ():
        typer.echo(_counted(folder.name, [r for r in rows if r.folder == folder.name]), err=True)
    typer.echo(_counted("all" if len(folders) > 1 else "", rows), err=True)


def _counted(name: str, rows: list[CaseRow]) -> str:
    good = sum(row.matches for row in rows)
    told = f"{len(rows)} cases, {good} as expected, {len(rows) - good} not"
    return f"{name}: {told}" if name else told

"""The command ``bailiwick journal check-cases``: published cases, judged and compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.journal_screen import print_table
from bailiwick.cli.shared.flags import Output, OutputOption

FORMAT = "attestation-lab/tlog/1"


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
    """
    import json

    rows = [_judged_row(directory, case) for case in _load_cases(directory)]
    wrong = sum(row["matches"] != "yes" for row in rows)
    if output is Output.JSON:
        typer.echo(json.dumps(rows, indent=2))
    else:
        headings = ("case", "expected", "verdict", "matches", "note")
        print_table(headings, [tuple(row[name] for name in headings) for row in rows])
    typer.echo(f"{len(rows)} cases, {len(rows) - wrong} as expected, {wrong} not", err=True)
    if wrong or not rows:
        raise typer.Exit(ExitCode.DENIED)


def _load_cases(directory: Path) -> list[Mapping[str, object]]:
    import json

    from bailiwick import InvalidValue, NotFound

    path = directory / "cases.json"
    if not path.exists():
        raise NotFound("cases.json in", str(directory))
    try:
        whole = json.loads(path.read_bytes())
    except ValueError as error:
        raise InvalidValue("cases.json", str(path), f"JSON ({error})") from None
    found = whole.get("format") if isinstance(whole, dict) else None
    if found != FORMAT or not isinstance(whole.get("cases"), list):
        raise InvalidValue("cases.json", found, f"a list of cases in the format {FORMAT}")
    cases: list[Mapping[str, object]] = whole["cases"]
    if not all(isinstance(case, dict) for case in cases):
        raise InvalidValue("cases.json", len(cases), "an object for each case")
    return cases


def _judged_row(directory: Path, case: Mapping[str, object]) -> dict[str, str]:
    from bailiwick import InvalidValue, NotFound
    from bailiwick.journal import judge_case
    from bailiwick.store import JournalDirectory

    expected = _told(case.get("expect"), case.get("reason"))
    try:
        judged = judge_case(case, JournalDirectory(directory).read)
    except (InvalidValue, NotFound) as error:
        found, note = "no case", str(error)
    else:
        found = _told(judged.verdict, judged.reason)
        note = f"not looked at: {', '.join(judged.unused)}" if judged.unused else ""
    return {
        "case": str(case.get("id")),
        "expected": expected,
        "verdict": found,
        "matches": "yes" if found == expected else "NO",
        "note": note,
    }


def _told(verdict: object, reason: object) -> str:
    return f"{verdict}: {reason}" if reason else str(verdict)

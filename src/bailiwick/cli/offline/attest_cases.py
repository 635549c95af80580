"""The command ``bailiwick attest check-cases``: published cases, judged and compared.

Rules:

- Only files inside the folder of a cases.json are read, regular ones, and of bounded size. What a
  case names besides is no case of ours, and is told so.
- One case never ends the run: what cannot be judged is a row that does not match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.cli.shared.progress import progress

FILE_BYTES_MAX = 16 * 2**20
FOLDERS_MAX = 256
DEPTH_MAX = 4
_FORMAT = "attestation-lab/"
_HEADINGS = ("case", "expected", "verdict", "matches")
_LOG_KINDS = ("tlog", "consistency")
"""Kinds that the journal judges; a folder of vectors may hold them beside evidence."""

HELP = (
    "Judge every case of folders, and compare with what they say to expect.\n\n"
    "A folder has a cases.json of a format attestation-lab/TOPIC/1. Each case goes through the "
    "verifier that the gate uses. Ends with 3 if any verdict or reason differs, or if there is no "
    "case at all."
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with a cases.json, and what may be read of it."""

    root: Path

    @property
    def name(self) -> str:
        """The folder as it was named."""
        return str(self.root)

    def read(self, path: str) -> bytes:
        """A file of the folder: no link out of it, no pipe, not too large."""
        from bailiwick import InvalidValue, NotFound

        found = (self.root / path).resolve()
        parts = PurePosixPath(path).parts
        if ".." in parts or not parts or not found.is_relative_to(self.root.resolve()):
            raise InvalidValue("path", path, "a path inside the folder of cases.json")
        if not found.is_file():
            raise NotFound("file", path)
        with found.open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
        if len(raw) > FILE_BYTES_MAX:
            raise InvalidValue("path", path, f"a file of at most {FILE_BYTES_MAX} bytes")
        return raw

    def read_if_there(self, path: str) -> bytes | None:
        """The same; None for a file that is not there."""
        from bailiwick import NotFound

        try:
            return self.read(path)
        except NotFound:
            return None


@dataclass(frozen=True, slots=True)
class Row:
    """One case: what was expected, and what came of it."""

    folder: str
    case: str
    expected: str
    verdict: str
    matches: bool
    note: str

    @property
    def told(self) -> dict[str, str]:
        """The row as JSON has it."""
        return {
            "folder": self.folder,
            "case": self.case,
            "expected": self.expected,
            "verdict": self.verdict,
            "matches": "yes" if self.matches else "NO",
            "note": self.note,
        }


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

    folders = [folder for directory in directories for folder in _folders_of(directory)]
    # A folder that is named twice is judged once.
    folders = [*{folder.root.resolve(): folder for folder in folders}.values()]
    found = [(folder, case) for folder in folders for case in _load_cases(folder)]
    rows = []
    with progress(len(found)) as step:
        for folder, case in found:
            rows.append(_judged_row(folder, case))
            step(f"{folder.root.name}: {rows[-1].case}")
    if output is Output.JSON:
        typer.echo(json.dumps([row.told for row in rows], indent=2))
    else:
        _print(folders, rows)
    _print_totals(folders, rows)
    if not rows or not all(row.matches for row in rows):
        raise typer.Exit(ExitCode.DENIED)


def _folders_of(directory: Path) -> list[Folder]:
    from bailiwick import LimitReached, NotFound

    if (directory / "cases.json").is_file():
        return [Folder(directory)]
    patterns = ("/".join(["*"] * depth) + "/cases.json" for depth in range(1, DEPTH_MAX + 1))
    found = sorted({path.parent for pattern in patterns for path in directory.glob(pattern)})
    if not found:
        raise NotFound("cases.json in", str(directory))
    if len(found) > FOLDERS_MAX:
        raise LimitReached(f"folders of cases in {directory}", FOLDERS_MAX)
    return [Folder(path) for path in found]


def _load_cases(folder: Folder) -> list[Mapping[str, Any]]:
    import json

    from bailiwick import InvalidValue

    where = f"{folder.name}/cases.json"
    try:
        whole = json.loads(folder.read("cases.json"))
    except (ValueError, RecursionError) as error:
        raise InvalidValue(where, "no JSON", f"JSON ({error})") from None
    form = whole.get("format") if isinstance(whole, dict) else None
    if not isinstance(form, str) or not form.startswith(_FORMAT):
        raise InvalidValue(where, form, f"cases in a format {_FORMAT}TOPIC/1")
    cases = whole.get("cases")
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InvalidValue(where, type(cases).__name__, "a list of objects as cases")
    return cases


def _judged_row(folder: Folder, case: Mapping[str, Any]) -> Row:
    from bailiwick import InvalidValue, NotFound

    expected = _told(case.get("expect", "trusted"), case.get("reason"))
    matches = False
    try:
        found, matches, note = _judge(folder, case)
    except (InvalidValue, NotFound) as error:
        found, note = "no case", str(error)
    except Exception as error:  # a bug of ours; the gate would not trust the evidence either
        found, note = "untrusted: verifier_fault", f"{type(error).__name__}: {error}"
    return Row(folder.name, str(case.get("id")), expected, found, matches, note)


def _judge(folder: Folder, case: Mapping[str, Any]) -> tuple[str, bool, str]:
    """What came of it, whether that was expected, and a note."""
    from bailiwick.attestation.cases import is_as_expected, judge_case

    if case.get("kind") in _LOG_KINDS:
        from bailiwick.journal import judge_case as judge_log

        log = judge_log(case, folder.read_if_there)
        found = _told(log.verdict, log.reason)
        return found, found == _told(case.get("expect"), case.get("reason")), _note("", log.unused)
    judged = judge_case(case, folder.read)
    found = _told(judged.verdict, judged.reason)
    return found, is_as_expected(case, judged), _note(judged.where, judged.unused)


def _note(where: str, unused: tuple[str, ...]) -> str:
    return "; ".join(
        part for part in (where, unused and f"not looked at: {', '.join(unused)}") if part
    )


def _told(verdict: object, reason: object) -> str:
    return f"{verdict}: {reason}" if reason else str(verdict)


def _print(folders: list[Folder], rows: list[Row]) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows

    console = make_console()
    for folder in folders:
        shown = [row.told for row in rows if row.folder == folder.name]
        cells = [tuple(row[name] for name in (*_HEADINGS, "note")) for row in shown]
        title = folder.name if len(folders) > 1 else ""
        print_rows(console, (*_HEADINGS, "note*"), rows=cells, title=title)


def _print_totals(folders: list[Folder], rows: list[Row]) -> None:
    for folder in folders if len(folders) > 1 else ():
        typer.echo(_counted(folder.name, [r for r in rows if r.folder == folder.name]), err=True)
    typer.echo(_counted("all" if len(folders) > 1 else "", rows), err=True)


def _counted(name: str, rows: list[Row]) -> str:
    good = sum(row.matches for row in rows)
    told = f"{len(rows)} cases, {good} as expected, {len(rows) - good} not"
    return f"{name}: {told}" if name else told

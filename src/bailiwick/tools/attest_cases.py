"""Published cases of evidence, judged and compared with what they say to expect.

Rules:

- Only files inside the folder of a cases.json are read, regular ones, and of bounded size. What a
  case names besides is no case of ours, and is told so.
- One case never ends the run: what cannot be judged is a row that does not match.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bailiwick.vocab.errors import InvalidValue, LimitReached, NotFound

FILE_BYTES_MAX = 16 * 2**20
FOLDERS_MAX = 256
DEPTH_MAX = 4
_FORMAT = "attestation-lab/"
_LOG_KINDS = ("tlog", "consistency")
"""Kinds that the journal judges; a folder of vectors may hold them beside evidence."""


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
        try:
            return self.read(path)
        except NotFound:
            return None


@dataclass(frozen=True, slots=True)
class CaseRow:
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


def folders_of(directory: Path) -> list[Folder]:
    """The folders with cases in or below a folder."""
    if (directory / "cases.json").is_file():
        return [Folder(directory)]
    patterns = ("/".join(["*"] * depth) + "/cases.json" for depth in range(1, DEPTH_MAX + 1))
    found = sorted({path.parent for pattern in patterns for path in directory.glob(pattern)})
    if not found:
        raise NotFound("cases.json in", str(directory))
    if len(found) > FOLDERS_MAX:
        raise LimitReached(f"folders of cases in {directory}", FOLDERS_MAX)
    return [Folder(path) for path in found]


def load_cases(folder: Folder) -> list[Mapping[str, Any]]:
    """The cases of a folder, as they are told."""
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


def judged_row(folder: Folder, case: Mapping[str, Any]) -> CaseRow:
    """One case: what was expected, and what came of it."""
    expected = _told(case.get("expect", "trusted"), case.get("reason"))
    matches = False
    try:
        found, matches, note = _judge(folder, case)
    except (InvalidValue, NotFound) as error:
        found, note = "no case", str(error)
    except Exception as error:  # a bug of ours; the gate would not trust the evidence either
        found, note = "untrusted: verifier_fault", f"{type(error).__name__}: {error}"
    return CaseRow(folder.name, str(case.get("id")), expected, found, matches, note)


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

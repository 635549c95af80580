"""Published cases of logs, judged and compared with what they say to expect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bailiwick.vocab.errors import InvalidValue, NotFound

FORMAT = "attestation-lab/tlog/1"


def load_cases(directory: Path) -> list[Mapping[str, object]]:
    """The cases of a folder, as they are told."""
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


def judged_row(directory: Path, case: Mapping[str, object]) -> dict[str, str]:
    """One case: what was expected, and what came of it."""
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

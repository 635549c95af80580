"""Folders of published cases: ours in tests/vectors/attestation, the shared ones beside the tree.

``pytest.mark.parametrize("case", cases_of(shared("nitro")))`` gives one test a case, to be held by
``check(shared("nitro"), case)``; a shared folder that is absent gives one skipped test naming it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bailiwick.attestation.cases import is_as_expected, judge_case
from bailiwick.attestation.cases.reading import Read

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "vectors" / "attestation"

Case = dict[str, Any]


def shared(topic: str) -> Path:
    """The folder of the shared cases of a topic; it may be absent."""
    named = os.environ.get("BAILIWICK_SHARED")
    return (Path(named) if named else ROOT.parent / "shared") / "vectors" / topic


def own(topic: str) -> Path:
    """The folder of our own cases of a topic."""
    return OWN / topic


def cases_of(folder: Path) -> list[Any]:
    """The folder's cases as parameters, by id; one that is skipped where the folder is absent."""
    if not (folder / "cases.json").is_file():
        if folder.is_relative_to(OWN):
            raise FileNotFoundError(f"{folder}/cases.json is part of the repository")
        skip = pytest.mark.skip(reason=f"no cases at {folder} (BAILIWICK_SHARED names another)")
        return [pytest.param({}, id="absent", marks=skip)]
    cases = json.loads((folder / "cases.json").read_text())["cases"]
    return [pytest.param(each, id=each["id"]) for each in cases]


def reader(folder: Path) -> Read:
    """Reads files of a folder."""
    return lambda path: (folder / path).read_bytes()


def check(folder: Path, case: Case) -> None:
    """The case yields its written verdict and reason, and nothing of it was passed over."""
    judged = judge_case(case, reader(folder))
    expected = case.get("expect"), case.get("reason")
    assert is_as_expected(case, judged), f"{expected}, got {judged}"
    assert not judged.unused, f"nothing looked at {judged.unused}"

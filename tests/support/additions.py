"""A copy of the source in which something can be added, used and counted.

Rules:

- What is added is really used, by another process that imports the copy and nothing else of ours.
- What is counted is every file that is not as it was; nobody says how many there are.
- A mark behind which a text is put occurs once in its file, or the addition cannot be made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PACKAGE = "bailiwick"
_CHECK = "import bailiwick, sys; assert bailiwick.__file__.startswith(sys.argv[1]), bailiwick\n"


@dataclass(frozen=True, slots=True)
class Edit:
    """A text for one file: a new one, or put behind a mark in one that is there."""

    path: str
    """Below the package."""
    text: str
    after: str = ""
    """The mark; without one the file is new."""


@dataclass(frozen=True, slots=True)
class Addition:
    """Something that somebody adds: the edits, and a program that uses it."""

    name: str
    edits: tuple[Edit, ...]
    use: str
    says: str
    """What the program prints at its end."""

    @property
    def files(self) -> list[str]:
        """The files that it needs, each once."""
        return [*dict.fromkeys(edit.path for edit in self.edits)]


HALF_WRITTEN = shutil.ignore_patterns("*.pyc.*")


class Copy:
    """The source, copied to where it may be changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # With the times of the files: what Python has compiled of them counts for the copy too.
        # What it is just compiling has a name of its own, which vanishes.
        shutil.copytree(
            SOURCE / PACKAGE, root / PACKAGE, copy_function=shutil.copy2, ignore=HALF_WRITTEN
        )

    def make(self, edits: Iterable[Edit]) -> None:
        """Do what is to be done."""
        for edit in edits:
            path = self._root / PACKAGE / edit.path
            if not edit.after:
                assert not path.exists(), f"{edit.path} is there already"
                path.parent.mkdir(exist_ok=True)
                path.write_text(edit.text, "utf-8")
                continue
            text = path.read_text("utf-8")
            assert text.count(edit.after) == 1, f"{edit.path}: {edit.after!r} is no mark"
            path.write_text(text.replace(edit.after, edit.after + edit.text), "utf-8")

    def touched(self) -> list[str]:
        """Every file that is new or is not what it was."""
        found = []
        for path in sorted((self._root / PACKAGE).rglob("*")):
            if path.is_dir() or "__pycache__" in path.parts:
                continue
            name = path.relative_to(self._root / PACKAGE)
            before = SOURCE / PACKAGE / name
            if not before.exists() or before.read_bytes() != path.read_bytes():
                found.append(str(name))
        return found

    def use(self, program: str) -> subprocess.CompletedProcess[str]:
        """Run a program on the copy."""
        return subprocess.run(
            [sys.executable, "-c", _CHECK + program, str(self._root)],
            capture_output=True,
            text=True,
            timeout=2 * WAIT_S,  # all of the package is compiled first
            check=False,
            cwd=self._root,
            # The copy before all else; behind it what tests share, to build a server with.
            env={**os.environ, "PYTHONPATH": f"{self._root}{os.pathsep}{ROOT}"},
        )

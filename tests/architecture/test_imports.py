"""Holds DESIGN.md, section 3: who may import whom, what an import costs, whose names stay outside.

The contracts themselves are in pyproject.toml.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import bailiwick

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bailiwick"

HEAVY = {"typer", "rich", "numpy", "sqlalchemy", "fastapi", "pydantic", "cryptography"}

# Schedulers by name, also as a part of snake_case or CamelCase; "array" and "Raymond" are no match.
FOREIGN_NAME = re.compile(r"(?<![A-Za-z])(?i:slurm|ray|kubernetes)(?![a-z])")
FOREIGN_HOMES = ("clusters", "operators", "executors", "isolation/adapters")


def _run_python(code: str) -> subprocess.CompletedProcess[str]:
    # -I: neither the caller's environment nor the folder it stands in may add or hide a module.
    return subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )


def _modules_after(statement: str) -> set[str]:
    """The modules a fresh interpreter has loaded once it has run the statement."""
    done = _run_python(f"{statement}; import json, sys; print(json.dumps(list(sys.modules)))")
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_import_contracts_are_kept() -> None:
    done = _run_python(
        "import sys; from importlinter.cli import lint_imports;"
        "sys.exit(lint_imports(no_logo=True, no_cache=True))"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_the_library_loads_no_heavy_package() -> None:
    assert _modules_after("import bailiwick") & HEAVY == set()


def test_starting_the_command_line_loads_neither_demo_nor_benchmarks() -> None:
    loaded = _modules_after("import bailiwick.cli.main")
    assert loaded & {"bailiwick.demo", "bailiwick.bench", "plotille"} == set()


def test_schedulers_are_named_only_where_they_are_spoken_to() -> None:
    homes = tuple(PACKAGE / home for home in FOREIGN_HOMES)
    offenders = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in {".py", ".pyi", ".c", ".h", ".md", ".json", ".toml", ".sql"}
        and not any(path.is_relative_to(home) for home in homes)
        for number, line in enumerate([path.name, *path.read_text("utf-8").splitlines()])
        if FOREIGN_NAME.search(line)
    ]
    assert not offenders, "\n".join(offenders)


@pytest.mark.parametrize("text", ["Slurm", "a ray cluster", "slurm_job", "RayJob", "KUBERNETES"])
def test_a_scheduler_name_is_recognised(text: str) -> None:
    assert FOREIGN_NAME.search(text)


@pytest.mark.parametrize("text", ["array", "Raymond", "arrays of rays", "bytearray", "tray"])
def test_an_ordinary_word_is_no_scheduler_name(text: str) -> None:
    assert not FOREIGN_NAME.search(text)


def test_every_public_name_has_a_docstring() -> None:
    undocumented = [name for name in bailiwick.__all__ if not _is_documented(name)]
    assert undocumented == []


def test_every_public_name_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "library.md").read_text("utf-8")
    words = set(re.findall(r"\w+", manual))
    assert [name for name in bailiwick.__all__ if name not in words] == []


def _is_documented(name: str) -> bool:
    value = getattr(bailiwick, name)
    if isinstance(value, type):
        # Read from the class itself: a parent's text is not about it. And dataclass fills an empty
        # docstring with the signature, which says nothing.
        text = vars(value).get("__doc__") or ""
        return bool(text) and not text.startswith(f"{name}(")
    if isinstance(value, ModuleType) or inspect.isroutine(value):
        return bool(value.__doc__)
    return True  # a constant or a type alias cannot carry one; the manual explains it

"""Holds that whoever installed too little is told which extra brings the rest."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

from bailiwick.cli.shared.failures import EXTRAS, tell
from tests.package.building import ROOT

ALWAYS = {
    *("typer", "rich", "plotille", "cryptography", "cbor2"),
    *("pydantic", "pydantic_core", "httpx2", "httpcore2", "h11", "ruamel"),
}
"""What every installation has, by the names they are imported under."""


def _imported(path: Path) -> set[str]:
    """The top-level names that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def test_every_package_that_is_imported_is_always_there_or_has_an_extra() -> None:
    package = ROOT / "src/bailiwick"
    # A driver runs with the cluster's own Python, which has what it imports.
    modules = {*package.rglob("*.py")} - {package / "executors/ray/driver.py"}
    names = {name for path in modules for name in _imported(path)}
    strangers = names - set(sys.stdlib_module_names) - {"bailiwick"} - ALWAYS
    assert strangers - set(EXTRAS) == set()


def test_every_extra_that_is_told_of_exists() -> None:
    extras = _project()["optional-dependencies"]
    assert isinstance(extras, dict)
    assert set(EXTRAS.values()) <= set(extras)


def test_only_a_package_of_an_extra_is_told_of() -> None:
    told = tell(ModuleNotFoundError("No module named 'psycopg'", name="psycopg.errors"))
    assert told is not None
    assert told[0] == "this needs the Python package psycopg (pip install 'bailiwick[server]')"
    # A module of ours that is missing is a fault, and its place must be seen.
    assert tell(ModuleNotFoundError("No module named 'x'", name="bailiwick.x")) is None
    assert tell(ModuleNotFoundError("No module named 'typer'", name="typer")) is None

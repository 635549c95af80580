"""Every word that follows ``bailiwick`` has the file of its name, and no file there has another.

So a stranger finds the code of a command by what was typed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.cli.lazy import module_of
from bailiwick.cli.main import app

COMMANDS = Path(__file__).resolve().parents[2] / "src" / "bailiwick" / "cli" / "commands"
PARTS = {
    "app_entitlement",
    "attest_policy",
    "isolation_audit",
    "isolation_check",
    "isolation_conformance",
    "isolation_policy",
    "rates_file",
}
"""What a word has outgrown its one file by, as ``<word>_<part>``. This list only shrinks."""


def _words() -> list[str]:
    """The first level of the real command tree, as a shell completes it."""
    import typer

    group = typer.main.get_command(app)
    return group.list_commands(typer.Context(group))  # type: ignore[attr-defined, no-any-return]


def _files() -> set[str]:
    return {path.stem for path in COMMANDS.glob("*.py")} - {"__init__"}


def test_there_are_words() -> None:
    assert len(_words()) == len(set(_words())) >= 42


@pytest.mark.parametrize("word", _words())
def test_every_word_has_the_file_of_its_name(word: str) -> None:
    assert module_of(word) == f"bailiwick.cli.commands.{word.replace('-', '_')}"
    assert word.replace("-", "_") in _files()


def test_no_other_file_is_there_but_a_part_of_a_word() -> None:
    names = {word.replace("-", "_") for word in _words()}
    assert _files() - names == PARTS
    strangers = {part for part in PARTS if not any(part.startswith(f"{n}_") for n in names)}
    assert strangers == set()

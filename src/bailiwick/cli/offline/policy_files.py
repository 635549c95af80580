"""Policies, placements and histories from files, and what is wrong with them, for a person to mend.

Rules:

- A file is read once, and of bounded size; ``-`` is standard input.
- All problems of a text are told on stderr, each as ``file:line:column`` with the line and a mark
  below the place; the command ends with 2.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.isolation.language.text import PolicyProblem, PolicyRefused
    from bailiwick.isolation.placement_json import PlacementFile
    from bailiwick.isolation.policy import Policy
    from bailiwick.isolation.trace import IsolationTrace


def read_bytes(option: str, path: Path, *, most: int) -> bytes:
    """What a file holds, or standard input."""
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InvalidValue(option, str(path), f"a file to read ({error.strerror})") from None
    if len(data) > most:
        raise InvalidValue(option, str(path), f"at most {most} bytes")
    return data


def read_text(path: Path) -> str:
    """A policy's text."""
    from bailiwick.isolation.language.text import TEXT_BYTES_MAX

    try:
        return read_bytes("POLICY", path, most=TEXT_BYTES_MAX).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidValue("POLICY", str(path), "text in UTF-8") from None


def load_policy(path: Path) -> Policy:
    """The policy in a file; if it is none, its problems are told and the command ends."""
    return load_policy_text(path)[1]


def load_policy_text(path: Path) -> tuple[str, Policy]:
    """The same, and as it is written."""
    from bailiwick.isolation.language.parser import parse_policy
    from bailiwick.isolation.language.text import PolicyRefused

    text = read_text(path)
    try:
        return text, parse_policy(text)
    except PolicyRefused as refused:
        tell_problems(path, refused)
        raise typer.Exit(ExitCode.USAGE) from None


def load_placements(option: str, path: Path) -> PlacementFile:
    """Nodes and placements in a file."""
    from bailiwick.isolation.placement_json import BYTES_MAX, read_placements

    raw = read_bytes(option, path, most=BYTES_MAX)
    try:
        return read_placements(raw)
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error.field}", error.value, error.expected) from None


def load_trace(option: str, path: Path) -> IsolationTrace:
    """The history in a file."""
    from bailiwick.isolation.trace import BYTES_MAX, read_trace

    raw = read_bytes(option, path, most=BYTES_MAX)
    try:
        return read_trace(raw)
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error.field}", error.value, error.expected) from None


def tell_problems(path: Path, refused: PolicyRefused) -> None:
    """Everything that is wrong with a text, on stderr."""
    name = "stdin" if str(path) == "-" else str(path)
    for problem in refused.problems:
        place = f"{name}:{problem.line}:{problem.column}"
        typer.echo(f"bailiwick: {place}: {problem.sentence}", err=True)
        for line in problem.pointed:
            typer.echo(f"    {line}", err=True)
    if refused.is_cut:
        typer.echo("bailiwick: there may be more, which were not looked for", err=True)


def problem_row(problem: PolicyProblem) -> dict[str, Any]:
    """A problem as a program reads it."""
    return {
        "line": problem.line,
        "column": problem.column,
        "found": problem.found,
        "expected": problem.expected,
        "nearest": problem.nearest or None,
        "sentence": problem.sentence,
    }

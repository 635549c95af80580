"""A path of the API stands in one place: the row of its action."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bailiwick.wire.actions import action, table

SRC = Path(__file__).resolve().parents[2] / "src" / "bailiwick"
ROWS = SRC / "wire" / "actions"

OTHERS = {
    "telemetry/spans.py": {"/v1/traces"},  # of OTLP, another's API
}
COMPLETION = "cli/shared/completions.py"
"""Shell completion has no time to import the rows; the test below holds its paths to them."""


def paths_in(source: str) -> Iterator[str]:
    """The texts of a program that begin as a path of the API does; ``{}`` is what is filled in."""
    nodes = list(ast.walk(ast.parse(source)))
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    pieces = {id(part) for whole in formatted for part in whole.values}
    constants = [
        node for node in nodes if isinstance(node, ast.Constant) and id(node) not in pieces
    ]
    texts = ["".join(_text(part) for part in whole.values) for whole in formatted]
    yield from (t for t in [*texts, *map(_text, constants)] if t.startswith("/v1/"))


def _text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{}"


def test_paths_stand_only_in_the_rows_of_the_actions() -> None:
    found = {
        name: paths
        for path in SRC.rglob("*.py")
        if ROWS not in path.parents
        and (name := str(path.relative_to(SRC))) != COMPLETION
        and (paths := set(paths_in(path.read_text())) - OTHERS.get(name, set()))
    }
    assert not found


def test_a_path_that_is_written_by_hand_is_found() -> None:
    assert list(paths_in('client.read(f"/v1/jobs/{number}", Job)')) == ["/v1/jobs/{}"]
    assert list(paths_in('PATH = "/v1/jobs"')) == ["/v1/jobs"]
    assert not list(paths_in('"""See ``GET /v1/jobs``."""'))


def test_shell_completion_asks_for_what_the_rows_say() -> None:
    rows = {re.sub(r"\{\w+\}", "{}", row.path) for row in table.ACTIONS.values()}
    found = set(paths_in((SRC / COMPLETION).read_text()))
    assert found
    assert found <= rows


def test_a_row_is_called_as_its_action_is() -> None:
    for path in ROWS.glob("*.py"):
        module = __import__(f"bailiwick.wire.actions.{path.stem}", fromlist=["_"])
        for name, row in vars(module).items():
            if isinstance(row, action.Action):
                assert name == row.operation_id.upper()
                assert table.find_action(row.name) is row

"""What one addition touches: made in a copy of the source, used there, and counted.

Each sample is the least that works. It is used as its like are used: a command is executed and
replayed, a record kind is written and told to the outside, an action is answered by the app, an
executor is found and runs something, a verifier judges, a cluster's books are read. The checklists
of CONTRIBUTING.md name the same files; tests and pages come on top of what is counted here.
"""

from __future__ import annotations

from itertools import permutations
from operator import ne
from pathlib import Path

import pytest

from tests.architecture.samples import ADDITIONS
from tests.architecture.test_contributing import paths, rows, section
from tests.support.additions import Addition, Copy

GOALS = {
    "command": 4,
    "record kind": 1,
    "API action": 2,
    "executor": 2,
    "verifier": 3,
    "cluster's books": 2,
}
"""Files of the source for each: the most that an addition may ever need."""


CHECKLISTS = {
    "command": "A kernel command with its event",
    "record kind": "A record kind",
    "API action": "An API action",
    "executor": "An executor",
    "verifier": "A verifier",
    "cluster's books": "A cluster's books",
}
"""Where CONTRIBUTING.md says how."""

SOURCE = "src/bailiwick/"


def by_name(addition: Addition) -> str:
    return addition.name.replace(" ", "-")


def test_every_goal_has_its_sample() -> None:
    assert {addition.name for addition in ADDITIONS} == set(GOALS)


@pytest.mark.parametrize("addition", ADDITIONS, ids=by_name)
def test_an_addition_touches_no_more_files_than_its_goal(
    addition: Addition, tmp_path: Path
) -> None:
    copy = Copy(tmp_path)
    copy.make(addition.edits)
    touched = copy.touched()
    assert sorted(touched) == sorted(addition.files)
    assert len(touched) <= GOALS[addition.name], touched
    done = copy.use(addition.use)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1:] == [addition.says]


WITHOUT = [
    pytest.param(addition, path, id=f"{by_name(addition)}-without-{Path(path).name}")
    for addition in ADDITIONS
    for path in addition.files
]


@pytest.mark.parametrize(("addition", "path"), WITHOUT)
def test_without_any_one_of_its_files_it_does_not_work(
    addition: Addition, path: str, tmp_path: Path
) -> None:
    """So the program above notices, and none of the files is counted without need."""
    copy = Copy(tmp_path)
    copy.make(edit for edit in addition.edits if edit.path != path)
    done = copy.use(addition.use)
    assert done.returncode != 0 or done.stdout.splitlines()[-1:] != [addition.says]


@pytest.mark.parametrize("addition", ADDITIONS, ids=by_name)
def test_its_checklist_asks_for_the_same_files(addition: Addition) -> None:
    """By another example: a path there is the sample's but for one of its parts."""
    table = rows(section("CONTRIBUTING.md", CHECKLISTS[addition.name]))
    always = [row[0] for row in table if not row[1].startswith("only ")]
    named = [path for cell in always for path in paths(cell) if path.startswith(SOURCE)]
    assert len(named) == len(addition.files), named
    wanted = [f"{SOURCE}{path.removesuffix('/__init__.py')}" for path in addition.files]
    orders = permutations(named)
    assert any(all(map(alike, wanted, order)) for order in orders), (wanted, named)


def alike(path: str, other: str) -> bool:
    """Whether two paths lead to the same kind of place."""
    ours, theirs = path.split("/"), other.rstrip("/").split("/")
    return len(ours) == len(theirs) and sum(map(ne, ours, theirs)) <= 1


def test_paths_to_other_places_are_told_apart() -> None:
    assert alike("kernel/fleet/rules.py", "kernel/trust/rules.py")
    assert not alike("kernel/fleet/rules.py", "kernel/trust/events.py")
    assert not alike("kernel/fleet/rules.py", "kernel/decide.py")

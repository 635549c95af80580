"""What one addition touches: made in a copy of the source, used there, and counted.

Each sample is the least that works. It is used as its like are used: a command is executed and
replayed, a record kind is written and told to the outside, an action is answered by the app, an
executor is found and runs something, a verifier judges, a cluster's books are read. The checklists
of CONTRIBUTING.md name the same files; tests and pages come on top of what is counted here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.samples import ADDITIONS
from tests.support.additions import Addition, Copy

GOALS = {
    "record kind": 1,
    "executor": 2,
    "verifier": 3,
    "cluster's books": 2,
}
"""Files of the source for each: the most that an addition may ever need."""


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

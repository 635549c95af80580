"""A reader with an empty folder and an empty home follows each tutorial, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.launch import is_locked
from bailiwick.executors.port import JobSpec, Running
from tests.support.reader import ROOT, Reader, Saved, Typed, match_shown, new_reader, read_steps

FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = ("operator", "researcher", "auditor", "first-app")
IN_THE_LAB = ("project-cluster", "department-cluster")
"""Those that a reader follows in the lab: ``tests/slurm/test_lab.py``."""


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    someone = new_reader(tmp_path)
    yield someone
    someone.leave()


def test_who_leaves_in_the_middle_leaves_nothing_running(tmp_path: Path) -> None:
    """As when a page is not followed to its end: its server is gone, and its job is not."""
    someone = new_reader(tmp_path)
    root = someone.folder / "bailiwick-data" / "jobs"
    job = JobSpec(7, argv=("sleep", "1000"), token="none")
    LocalExecutor(root).start(job)
    assert is_locked(root / "7")
    someone.leave()
    assert not is_locked(root / "7")
    assert not isinstance(LocalExecutor(root).status(7), Running)


@pytest.mark.timeout(1800)  # some forty commands, on whatever machine this is
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_reader_follows_the_tutorial(reader: Reader, name: str) -> None:
    steps = read_steps((FOLDER / f"{name}.md").read_text("utf-8"))
    reader.follow(steps)


def test_every_tutorial_is_followed() -> None:
    there = {path.stem for path in FOLDER.glob("*.md")} - {"index"}
    assert there == {*TUTORIALS, *IN_THE_LAB}


@pytest.mark.parametrize("name", [*TUTORIALS, *IN_THE_LAB])
def test_every_block_of_a_tutorial_is_something_that_a_reader_does(name: str) -> None:
    """So no block is passed over because of how it is written."""
    page = (FOLDER / f"{name}.md").read_text("utf-8")
    opened = re.findall(r"^```(\w+)(.*)$", page, re.M)
    assert all(title.startswith(' title="') for _, title in opened), opened
    blocks = {language for language, title in opened if "save as " not in title}
    assert blocks == {"console"}
    typed = [step for step in read_steps(page) if isinstance(step, Typed)]
    assert len(typed) == len(re.findall(r"^\$ ", page, re.M))


def test_what_a_page_says_is_read_as_a_reader_would() -> None:
    page = (
        'Type:\n\n```console title="one"\n$ bailiwick x \\\n    --y  # exit code 3\nno: 7 of ...\n'
        '$ ls\n```\n\n```yaml title="save as a.yaml"\nk: v\n```\n'
    )
    steps = read_steps(page)
    assert steps == [
        Typed("bailiwick x \\\n    --y", ("no: 7 of ...",), 3, "one"),
        Typed("ls", (), 0, "one"),
        Saved("a.yaml", "k: v\n"),
    ]


def test_what_only_looks_may_be_typed_again_and_nothing_else() -> None:
    for looks in ("app instance show c1", "shared show x", "shared call x read -- squeue"):
        assert Typed(f"bailiwick {looks}").is_look
    for changes in ("shared call x submit -- sbatch --name=read", "app instance delete show"):
        assert not Typed(f"bailiwick {changes}").is_look


@pytest.mark.parametrize(
    ("shown", "seen", "matches"),
    [
        (("a  b", "───", "c ..."), "a b\n─────\nc 1 2\n", True),
        (("a b",), "a b\nc\n", False),  # more is seen than is shown
        (("a b", "..."), "a b\nc\nd\n", True),
        (("...", "d"), "a b\nc\nd\n", True),
        (("a NODE", "NODE c"), "a n1\nn1 c\n", True),
        (("a NODE", "NODE c"), "a n1\nn2 c\n", False),  # the same word twice
        (("left 8",), "left 9\n", False),
    ],
)
def test_what_is_seen_is_compared_with_what_is_shown(
    shown: tuple[str, ...], seen: str, matches: bool
) -> None:
    assert (match_shown(shown, seen) is not None) is matches


def test_a_placeholder_that_is_known_means_the_same_later() -> None:
    assert match_shown(("on NODE",), "on n1\n", {"NODE": "n1"})
    assert not match_shown(("on NODE",), "on n2\n", {"NODE": "n1"})

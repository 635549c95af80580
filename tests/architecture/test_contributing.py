"""README, ARCHITECTURE and CONTRIBUTING name what is there: files, folders, links, import rules.

Rules:

- A path in backticks that begins with a folder or file of the repository's root exists.
- A relative link leads to a file, and its anchor to a heading.
- What they tell to make is a target of the Makefile.
- The map names every package, and the table of imports says what import-linter is told.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bailiwick"
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/features.md")
CHECKLISTS = (
    "A kernel command with its event",
    "A record kind",
    "An API action",
    "A CLI verb",
    "A verifier",
    "An executor",
    "A cluster's books",
    "A reason word",
    "A settings key",
    "A metric",
    "A table",
)
MADE = {"build/site", "bailiwick-data", ".venv", "dist"}
"""What commands make, and a clone lacks."""

# A word in backticks that can only be a path: it has a slash, and no space or placeholder.
PATH = re.compile(r"`([\w.-]+(?:/[\w.*-]*)+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
TARGET = re.compile(r"(?:`|^\$ )make ([a-z-]+)", re.M)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def read(page: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", (ROOT / page).read_text("utf-8"))


def section(page: str, title: str) -> str:
    """What stands under a heading of a page, up to the next of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", read(page), re.M | re.S)
    assert found is not None, f"{page} has no section {title!r}"
    return found[1]


def paths(text: str) -> list[str]:
    """Every path of the repository that a text names, once."""
    named = dict.fromkeys(PATH.findall(text))
    return [path for path in named if not any(path.startswith(made) for made in MADE)]


def missing(named: list[str]) -> list[str]:
    """The paths that lead nowhere; a star stands for any part of a name."""
    return [path for path in named if not any(ROOT.glob(path.rstrip("/")))]


def anchors(path: Path) -> set[str]:
    """The anchors of a page, as web sites make them of its headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text("utf-8")), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def broken_links(page: str) -> Iterator[str]:
    """Each relative link of a page that leads to no file or to no heading."""
    for link in LINK.findall(read(page)):
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def rows(text: str) -> list[list[str]]:
    """The rows of a table without its head, cell by cell."""
    lines = re.findall(r"^\| (.*) \|$", text, re.M)
    return [line.split(" | ") for line in lines[2:]]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    assert missing(paths(read(page))) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_target_that_a_page_tells_to_make_is_there(page: str) -> None:
    named = set(TARGET.findall((ROOT / page).read_text("utf-8")))
    there = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert named - there == set()


def test_the_readme_installs_the_version_that_is_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wheels = re.findall(r"dist/(\S+?)\[server\]", (ROOT / "README.md").read_text("utf-8"))
    assert set(wheels) == {f"{project['name']}-{project['version']}-py3-none-any.whl"}


@pytest.mark.parametrize("title", CHECKLISTS)
def test_a_checklist_names_files_that_exist(title: str) -> None:
    named = [path for row in rows(section("CONTRIBUTING.md", title)) for path in paths(row[0])]
    assert len(named) >= 4
    assert missing(named) == []


def test_every_checklist_is_held() -> None:
    text = read("CONTRIBUTING.md").split("\n## Checklists\n")[1]
    assert tuple(re.findall(r"^### (.+)$", text, re.M)) == CHECKLISTS


def test_the_map_names_every_package_and_nothing_that_is_not_there() -> None:
    named = [cell for row in rows(section("ARCHITECTURE.md", "Map")) for cell in row[:1]]
    mapped = {path.rstrip("/") for cell in named for path in re.findall(r"`([^`]+)`", cell)}
    packages = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    assert {f"src/bailiwick/{name}" for name in packages} - mapped == set()
    assert [path for path in mapped if not (ROOT / path).exists()] == []


def test_every_folder_of_tests_is_told() -> None:
    told = re.findall(r"`tests/(\w+)/`", section("CONTRIBUTING.md", "Tests"))
    there = {path.parent.name for path in (ROOT / "tests").glob("*/*") if path.is_file()}
    assert there - set(told) - {"__pycache__"} == set()


def test_the_table_of_floors_is_what_the_linter_is_told() -> None:
    table = rows(section("ARCHITECTURE.md", "Who may import whom"))
    assert [set(re.findall(r"`(\w+)`", rooms)) for _, rooms in table] == floors()


def floors() -> list[set[str]]:
    """The rooms of each floor, from the top, as import-linter is told."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found = [c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    return [set(re.findall(r"\w+", floor)) for floor in found[0]["layers"]]


# --- the rules above, on pages that break them ----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`src/bailiwick/nowhere.py`", ["src/bailiwick/nowhere.py"]),
        ("`tests/unit/` and `docs/none/`", ["docs/none/"]),
        ("`src/bailiwick/kernel/*/rules.py`", []),
        ("`src/bailiwick/kernel/*_rulers.py`", ["src/bailiwick/kernel/*_rulers.py"]),
        ("`node.withdraw`, `and/or` in words", ["and/or"]),
        ("`build/site` is made", []),
    ],
)
def test_a_path_that_leads_nowhere_is_noticed(text: str, found: list[str]) -> None:
    assert missing(paths(text)) == found


def test_a_link_or_anchor_that_leads_nowhere_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "b.md").write_text("# Here it is\n")
    (tmp_path / "a.md").write_text(
        "# A\n[x](b.md) [x](b.md#here-it-is) [x](#a) [x](https://example.org/c.md)\n"
        "[x](b.md#there) ![x](c.svg) [x](#b)\n```\n[x](d.md)\n```\n"
    )
    assert list(broken_links("a.md")) == ["b.md#there", "c.svg", "#b"]

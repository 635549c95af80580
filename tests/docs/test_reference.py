"""The generated pages are as the code is, and a page that is not is found."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from bailiwick.cli.lazy import COMMANDS
from bailiwick.telemetry.catalog import CATALOG
from bailiwick.vocab.permissions import Permission
from bailiwick.vocab.transitions import NODE_MODE_EDGES, REVOKE_EDGES
from bailiwick.vocab.words import PendingReason, PreemptionReason
from bailiwick.wire.actions.table import ACTIONS
from bailiwick.wire.settings import Settings
from docs.tools.generate import DOCS, PAGES, find_stale
from docs.tools.markdown import anchor, code, text


def read(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def test_the_generated_pages_are_as_the_code_is() -> None:
    stale = [path.relative_to(DOCS.parent).as_posix() for path in find_stale()]
    assert stale == [], "run: python -m docs.tools.generate"


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        ("reference/settings.md", "`grace_ms`", "`patience`"),
        ("concepts/leases.md", "active --> expired", "active --> torndown"),
    ],
)
def test_a_page_that_was_changed_by_hand_is_stale(
    tmp_path: Path, page: str, before: str, after: str
) -> None:
    copy = tmp_path / "docs"
    shutil.copytree(DOCS, copy, ignore=shutil.ignore_patterns("tools"))
    assert find_stale(copy) == []
    path = copy / page
    assert before in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")
    assert find_stale(copy) == [path]


def edges(page: str) -> set[tuple[str, str]]:
    """The edges of a page's state diagram, but for its begin and its ends."""
    return set(re.findall(r"^    (\w+) --> (\w+): ", read(page), re.M))


def test_the_picture_of_a_leases_end_is_the_table_that_the_kernel_runs_by() -> None:
    table = {(str(a), str(b)) for a, following in REVOKE_EDGES.items() for b in following}
    assert edges("concepts/leases.md") == table


def test_the_picture_of_node_modes_is_the_table_that_the_kernel_runs_by() -> None:
    table = {(str(a), str(b)) for a, following in NODE_MODE_EDGES.items() for b in following}
    assert edges("concepts/nodes.md") == table


def test_everything_is_in_its_page() -> None:
    pages = {name: read(name) for name in PAGES}
    wanted = {
        "reference/cli.md": [f"## bailiwick {name}\n" for name in COMMANDS],
        "reference/api.md": [f"`{a.method} {a.path}`" for a in ACTIONS.values()],
        "reference/words.md": [code(key) for key in Permission],
        "reference/settings.md": [f"| {code(name)} |" for name in Settings.model_fields],
        "reference/metrics.md": [f"| {code(spec.name)} |" for spec in CATALOG],
    }
    missing = [
        f"{page}: {word}" for page in wanted for word in wanted[page] if word not in pages[page]
    ]
    assert missing == []


def test_every_reason_is_explained_where_scheduling_is() -> None:
    page = read("concepts/scheduling.md")
    words = [*PreemptionReason, *PendingReason]
    assert [word for word in words if f"| {code(word)} |" not in page] == []


def section(path: Path, heading: str) -> str:
    """The text under the heading of a page that an anchor leads to."""
    parts = re.split(r"^#+ (.*)$", path.read_text("utf-8"), flags=re.M)
    return dict(zip(map(anchor, parts[1::2]), parts[2::2], strict=True))[heading]


@pytest.mark.parametrize("reason", PreemptionReason)
def test_every_reason_leads_to_where_its_word_is_explained_and_to_its_alert(reason: str) -> None:
    page = DOCS / "concepts" / "scheduling.md"
    lines = page.read_text("utf-8").splitlines()
    row = next(each for each in lines if each.startswith(f"| {code(reason)} |"))
    links = re.findall(r"\]\(([^#)]*)#([^)]+)\)", row)
    *more, (where, alert) = links
    assert more
    for name, heading in more:
        assert code(reason) in section((page.parent / name).resolve() if name else page, heading)
    assert section((page.parent / where).resolve(), alert).strip()
    rules = (DOCS.parent / "ops" / "prometheus" / "alerts.yml").read_text("utf-8")
    told = next(each for each in rules.split("- alert: ")[1:] if f'reason="{reason}"' in each)
    assert told.split()[0].lower() == alert


def test_every_example_of_a_command_names_that_command() -> None:
    sections = re.split(r"^###? (bailiwick .*)$", read("reference/cli.md"), flags=re.M)[1:]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        for block in re.findall(r"```bash\n(.*?)```", body, re.S):
            lines = [line for line in block.splitlines() if not line.startswith("#")]
            assert all(line.startswith(title) for line in lines), (title, lines)


def test_words_of_the_code_become_text_that_markdown_leaves_alone() -> None:
    assert text("a ``name`` <here>\n  and *there*") == "a `name` &lt;here> and \\*there\\*"
    assert code("a|b") == "<code>a&#124;b</code>"

"""The site builds, is whole, and asks no other host; a planted fault of each kind fails it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from docs.tools.build import ROOT, CannotBuild, build_site, fetch_scripts
from docs.tools.check_site import Page
from tests.support.tools import need


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    need("site-builder")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "site"
    build_site(out)
    return out


def pages(site: Path) -> dict[str, Page]:
    found = {}
    for path in site.rglob("*.html"):
        found[path.relative_to(site).as_posix()] = page = Page()
        page.feed(path.read_text("utf-8"))
    return found


def test_every_page_is_built(site: Path) -> None:
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    missing = [each for each in sources if not (site / each.with_suffix(".html")).is_file()]
    assert missing == []
    assert (site / "openapi.json").is_file()


def test_nothing_of_the_workshop_is_published(site: Path) -> None:
    names = {path.suffix for path in site.rglob("*") if path.is_file()}
    assert names <= {".html", ".css", ".js", ".json", ".xml", ".png", ".svg", ""}
    assert not (site / "tools").exists()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    """Read by plain words as well, so that this does not rest on the check's own parser."""
    loads = r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=\"?(?:https?:)?//"
    loads += r"|<link\b(?=[^>]*rel=\"?(?:stylesheet|icon|preload))[^>]*href=\"?(?:https?:)?//"
    for path in site.rglob("*.html"):
        assert not re.search(loads, path.read_text("utf-8")), path
    for path in site.rglob("*.css"):
        assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", path.read_text("utf-8")), path
    for path in site.rglob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search(r"unpkg\.com|jsdelivr\.net|googleapis\.com", text), path


def test_the_diagrams_have_their_renderer_beside_them(site: Path) -> None:
    drawn = [name for name, page in pages(site).items() if "diagram" in page.classes]
    assert len(drawn) >= 9, "the start page and eight concepts have pictures"
    assert (site / "assets" / "vendor" / "mermaid.js").stat().st_size > 1_000_000
    assert "vendor/mermaid.js" in (site / "assets" / "diagrams.js").read_text("utf-8")


def test_the_locked_scripts_name_no_address_and_have_their_hashes() -> None:
    lock = (ROOT / "docs" / "tools" / "package-lock.json").read_text("utf-8")
    assert "http" not in lock
    packages = re.findall(r'"node_modules/', lock)
    assert len(re.findall(r'"integrity": "sha512-', lock)) == len(packages) == 2


def plant(folder: Path, text: str, *, nav: str = "  - index.md\n  - other.md\n") -> Path:
    """A site of two pages with the real settings, and this on its first page."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    real = (ROOT / "mkdocs.yml").read_text("utf-8")
    head, _, rest = real.partition("nav:\n")
    (folder / "mkdocs.yml").write_text(head + "nav:\n" + nav + "\n" + rest[rest.index("theme:") :])
    (docs / "index.md").write_text(f"# One\n\n{text}\n", "utf-8")
    (docs / "other.md").write_text("# Two\n\n## A part\n\ntext\n", "utf-8")
    (docs / "data.json").write_text("{}")
    shutil.copytree(ROOT / "docs" / "assets", docs / "assets")
    return folder


WHOLE = (
    "[page](other.md) [part](other.md#a-part) [own](#one) [file](data.json) "
    "[web](https://a.example/)"
)


def test_a_site_that_is_whole_is_built(tmp_path: Path) -> None:
    build_site(tmp_path / "site", root=plant(tmp_path / "source", WHOLE))
    assert (tmp_path / "site" / "index.html").is_file()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[page](missing.md)", "page does not exist"),
        ("[part](other.md#no-such-part)", "anchor does not exist"),
        ("[own](#no-such-part)", "anchor does not exist"),
        ("[file](missing.json)", "missing.json is not there"),
        ("[out](../README.md)", "page does not exist"),
        ("[out](../Makefile)", "../Makefile is not there"),
        ("[root](/other.html)", "/other.html is not there"),
        ("![picture](missing.png)", "loads missing.png, which is not there"),
        ("![picture](https://a.example/x.png)", "loads https://a.example/x.png from another host"),
        ('<script src="//a.example/x.js"></script>', "loads //a.example/x.js from another host"),
        ("[a link] [nobody][defined]", "not a link"),
    ],
)
def test_a_planted_fault_fails_the_build(tmp_path: Path, text: str, told: str) -> None:
    before = tmp_path / "site"
    before.mkdir()
    (before / "index.html").write_text("what was built before")
    with pytest.raises(CannotBuild, match=re.escape(told)):
        build_site(before, root=plant(tmp_path / "source", text))
    assert (before / "index.html").read_text() == "what was built before"


@pytest.mark.parametrize(
    ("nav", "told"),
    [
        ("  - index.md\n", "other.md: the navigation lacks it"),
        ("  - index.md\n  - other.md\n  - gone.md\n", "gone.md: in the navigation, and not there"),
        ("  - index.md\n  - other.md\n  - Again: other.md\n", "other.md: twice in the navigation"),
    ],
)
def test_a_navigation_that_does_not_fit_fails_the_build(
    tmp_path: Path, nav: str, told: str
) -> None:
    with pytest.raises(CannotBuild, match=re.escape(told)):
        build_site(tmp_path / "site", root=plant(tmp_path / "source", WHOLE, nav=nav))


def test_a_machine_without_npm_is_told_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docs.tools.build.WORK", tmp_path / "work")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuild, match=r"^npm is needed for the diagrams: install Node\.js"):
        fetch_scripts()
    assert [*(tmp_path / "work").iterdir()] == [], "nothing half made is left"

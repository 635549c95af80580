"""Whether a built site is whole: every link leads somewhere, and nothing comes from another host.

Zensical's strict mode looks at links between pages and at their anchors. It does not look at links
to other files, at images and scripts, at pages that the navigation lacks, or at what a browser
would load from elsewhere. This reads the HTML that was built, and so sees what a reader gets.

Rules:

- What a page loads (scripts, styles, images) is a file of the site.
- A link to another host is for people to click; any other link leads to a file of the site, and
  its anchor to something there.
- Every page of ``docs/`` is in the navigation, and everything in the navigation is a page.
- No bracket of a link that Markdown did not understand is left in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src",),
    "audio": ("src",),
}
"""What a browser fetches by itself, by element and attribute."""

LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}
"""What a ``link`` in the head may be that is fetched; ``next`` and its like are only told."""

FAULTS_MAX = 50

STYLED = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
SCRIPT_HOSTS = re.compile(r"unpkg\.com|jsdelivr\.net|googleapis\.com|cdnjs|esm\.sh")
LEFT_OVER = re.compile(r"\]\([^)\s]+\)|\]\[[^\]]*\]")
NAVIGATION = re.compile(r"^\s+- .*?([\w./-]+\.md)\s*$", re.M)


@dataclass
class Page(HTMLParser):
    """One page as a browser would see it."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    _code: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what it is called, what it leads to and what it loads."""
        given = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := given.get(name))}
        self.classes |= {*(given.get("class") or "").split()}
        if tag in ("pre", "code", "script", "style"):
            self._code += 1
        is_loading = bool(LOADING_LINKS & {*(given.get("rel") or "").split()})
        if tag in ("a", "link") and given.get("href") is not None:
            (self.loaded if tag == "link" and is_loading else self.links).append(
                given["href"] or ""
            )
        for name in LOADED.get(tag, ()):
            for part in (given.get(name) or "").split(","):
                self.loaded += part.split()[:1]
        self.loaded += _styled(given.get("style") or "")

    def handle_endtag(self, tag: str) -> None:
        """Remember whether what follows is text."""
        if tag in ("pre", "code", "script", "style"):
            self._code -= 1

    def handle_data(self, data: str) -> None:
        """Remember the text that is no code."""
        if not self._code:
            self.text.append(data)


def find_faults(site: Path, config: Path, docs: Path) -> list[str]:
    """What is wrong with a built site, one line each; the navigation first, for all show it."""
    faults = [*_navigation_faults(config, docs)] or [*_site_faults(site)]
    more = len(faults) - FAULTS_MAX
    return [*faults[:FAULTS_MAX], *([f"and {more} more"] if more > 0 else [])]


def _site_faults(site: Path) -> list[str]:
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    faults: list[str] = []
    for path, page in pages.items():
        # The page for what does not exist is served at any depth, so its links cannot be judged.
        if path.name == "404.html":
            continue
        where = path.relative_to(site)
        faults += [f"{where}: {what}" for what in _page_faults(path, site, pages)]
        faults += [f"{where}: not a link: {each}" for each in LEFT_OVER.findall(_joined(page))]
    for path in sorted(site.rglob("*.css")):
        where = path.relative_to(site)
        for address in _styled(path.read_text("utf-8")):
            faults += [f"{where}: {what}" for what in _load_faults(address, path, site)]
    for path in sorted(site.rglob("*.js")):
        hosts = set(SCRIPT_HOSTS.findall(path.read_text("utf-8")))
        faults += [f"{path.relative_to(site)}: names the host {host}" for host in sorted(hosts)]
    return [*dict.fromkeys(faults)]


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def _joined(page: Page) -> str:
    return " ".join("".join(page.text).split())


def _page_faults(path: Path, site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    for address in pages[path].loaded:
        yield from _load_faults(address, path, site)
    for address in pages[path].links:
        yield from _link_faults(address, path, site, pages)


def _load_faults(address: str, path: Path, site: Path) -> Iterator[str]:
    parts = urlsplit(address)
    if parts.scheme == "data" or not address:
        return
    if parts.scheme or parts.netloc:
        yield f"loads {address} from another host"
    elif _target(parts.path, path, site) is None:
        yield f"loads {address}, which is not there"


def _link_faults(address: str, path: Path, site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https", "mailto"):
        return
    if parts.scheme or parts.netloc:
        yield f"{address} leads nowhere that a reader can go"
        return
    target = _target(parts.path, path, site)
    if target is None:
        yield f"{address} is not there"
    elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        yield f"{address}: the page has no such anchor"


def _target(where: str, path: Path, site: Path) -> Path | None:
    """The file that a relative address means, if the site has it."""
    if where.startswith("/"):
        return None
    found = (path.parent / unquote(where)).resolve() if where else path
    if found.is_dir():
        found /= "index.html"
    return found if found.is_file() and found.is_relative_to(site.resolve()) else None


def _styled(style: str) -> list[str]:
    return [one or other for one, other in STYLED.findall(style)]


def _navigation_faults(config: Path, docs: Path) -> Iterator[str]:
    text = config.read_text("utf-8").partition("\nnav:\n")[2]
    section = re.split(r"^\S", text, maxsplit=1, flags=re.M)[0]
    named = NAVIGATION.findall(section)
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    yield from (f"{name}: the navigation lacks it" for name in sorted(there - {*named}))
    yield from (f"{name}: in the navigation, and not there" for name in sorted({*named} - there))
    yield from (f"{name}: twice in the navigation" for name in named if named.count(name) > 1)

"""Make the pages, and parts of pages, that follow from the code.

``python -m docs.tools.generate`` rewrites them; ``--check`` only says which are stale. They are
committed, so that they can be read without building anything, and a test fails when one is stale.

Rules:

- A generated page says so at its top. A generated part of a page stands between two comments,
  ``<!-- generated: NAME -->`` and ``<!-- end of generated -->``; all around it is written by hand.
- The same code gives the same bytes, on every machine.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from docs.tools import api_page, cli_page, diagrams, metrics_page, settings_page, words_page

DOCS = Path(__file__).resolve().parents[1]

PAGES: dict[str, Callable[[], str]] = {
    "reference/cli.md": cli_page.make,
    "reference/api.md": api_page.make,
    "reference/words.md": words_page.make,
    "reference/settings.md": settings_page.make,
    "reference/metrics.md": metrics_page.make,
}
"""Pages that are made whole."""

PARTS: dict[str, Callable[[], str]] = {
    "lease states": diagrams.lease_states,
    "node modes": diagrams.node_modes,
    "preemption reasons": diagrams.preemption_reasons,
    "evictions": diagrams.evictions,
    "pending reasons": diagrams.pending_reasons,
    "filters": diagrams.filters,
    "charges": diagrams.charges,
    "roles": diagrams.roles,
}
"""What may stand between the comments of a page."""

PART = re.compile(r"<!-- generated: ([a-z ]+) -->\n.*?<!-- end of generated -->", re.S)
MADE = "<!-- Made from the code by `python -m docs.tools.generate`. Do not edit. -->"


def wanted_texts(docs: Path = DOCS) -> dict[Path, str]:
    """Every page that is generated, whole or in part, with the text that it should have."""
    texts = {docs / name: _with_notice(make()) for name, make in PAGES.items()}
    for path in sorted(docs.rglob("*.md")):
        if path not in texts and PART.search(text := path.read_text("utf-8")):
            texts[path] = PART.sub(_part, text)
    return texts


def find_stale(docs: Path = DOCS) -> list[Path]:
    """The generated pages that are not as the code would have them."""
    texts = wanted_texts(docs)
    return [path for path, text in texts.items() if not _is(path, text)]


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


def _with_notice(text: str) -> str:
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{MADE}\n{rest}"


def _part(found: re.Match[str]) -> str:
    name = found[1]
    if name not in PARTS:
        raise SystemExit(f"no part is called {name!r}: {', '.join(PARTS)}")
    # Blank lines, because Markdown takes what touches a comment for HTML.
    return f"<!-- generated: {name} -->\n\n{PARTS[name]()}\n\n<!-- end of generated -->"


def main() -> int:
    """Rewrite what is stale, or with ``--check`` say so and end with 1."""
    parser = argparse.ArgumentParser(prog="python -m docs.tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if one is stale")
    check = parser.parse_args().check
    texts = wanted_texts()
    stale = [path for path, text in texts.items() if not _is(path, text)]
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(DOCS.parent)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())

"""A page in both themes and widths, as it has to be: accessible, and no wider than its screen."""

from __future__ import annotations

from tests.support.browser import Person
from tests.support.web_apps import look

LOOKS = ((1280, "light"), (390, "dark"))
"""Each theme and each width once; colours do not hang on the width."""


def check_looks(who: Person, name: str) -> None:
    """Let axe look at it, and keep pictures where somebody wants them."""
    for width, theme in LOOKS:
        who.page.set_viewport_size({"width": width, "height": 900})
        who.page.emulate_media(color_scheme=theme)
        who.page.locator(f"html[data-theme={theme}]").wait_for()
        who.settle()
        who.check_accessible()
        who.check_width()
        look(who, f"{name}-{width}-{theme}")
    who.page.set_viewport_size({"width": 1280, "height": 900})

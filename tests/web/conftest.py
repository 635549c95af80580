"""One Chromium and one seeded server for a module: to start them is what costs.

No longer than a module: while Playwright is open, its event loop counts as running in this
thread, and whatever else a worker runs after it (`bailiwick up` in the same process) could not
start one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import chromium
from tests.support.tools import need
from tests.support.web_campus import web_campus
from tests.support.web_world import World, build_world, end_world


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser; whoever comes has a context of his own in it."""
    need("web")
    need("browser")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def world(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server with one of everything; what is tested on it changes nothing of it."""
    with web_campus(browser, tmp_path_factory.mktemp("world")) as campus:
        world = build_world(campus)
        yield world
        end_world(world)

"""One Chromium and one seeded server for all that a worker runs: to start them is what costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import chromium
from tests.support.tools import need
from tests.support.web_campus import web_campus
from tests.support.web_world import World, build_world, end_world


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser; whoever comes has a context of his own in it."""
    need("web")
    need("browser")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def world(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server with one of everything; what is tested on it changes nothing of it."""
    with web_campus(browser, tmp_path_factory.mktemp("world")) as campus:
        world = build_world(campus)
        yield world
        end_world(world)

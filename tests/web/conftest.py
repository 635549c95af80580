"""One Chromium for all that a worker runs: starting it costs more than most of its tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import chromium
from tests.support.tools import need


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser; whoever comes has a context of his own in it."""
    need("web")
    need("browser")
    with chromium() as browser:
        yield browser

"""The product's own patience, stretched for tests in which everything runs in one process.

A server does not keep a caller waiting for a part of it that lags: after a second or two it answers
without. On a machine that stands still for so long that is right, and it is not what a test means
to see. Import the fixture in a folder's ``conftest`` to have it around every test there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bailiwick.capability import biscuit_tokens
from bailiwick.cli.shared import completions
from bailiwick.server.http import door, gauges
from bailiwick.services import capabilities, history
from bailiwick.store import sqlite_store
from bailiwick.telemetry import telemetry
from tests.support.waiting import WAIT_S

STRETCHED = (
    (telemetry, "SETTLE_S"),
    (capabilities, "CATCH_UP_S"),
    (door, "NOTE_WAIT_S"),
    (history, "TURN_S"),
    (completions, "WAIT_S"),
    (sqlite_store, "BUSY_S"),
)


@pytest.fixture(autouse=True, scope="module")
def patient_product() -> Iterator[None]:
    """What lags is waited for."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in STRETCHED:
            patch.setattr(module, name, WAIT_S)
        patch.setitem(gauges.GaugeReader.__init__.__kwdefaults__, "wait_s", WAIT_S)
        patch.setattr(biscuit_tokens, "TIME_LIMIT_FACTOR", int(1000 * WAIT_S))
        biscuit_tokens._limits.cache_clear()
        yield
    biscuit_tokens._limits.cache_clear()

"""Alloy, the search and the kernel say the same of each policy, and each finds every fault.

Alloy takes seconds of every policy, so here it is asked of two; `python -m models.agree` asks it of
all.
"""

from __future__ import annotations

import pytest

from bailiwick.tools.isolation.agree import agree_table
from models.agree import CASES
from tests.support.tools import need


@pytest.mark.parametrize("name", CASES)
def test_the_search_and_the_kernel_agree_and_both_find_every_fault(name: str) -> None:
    rows = [*agree_table(CASES[name], with_alloy=False)]
    assert [row for row in rows if not row.agrees] == []
    assert [row.fault for row in rows] == [None, *CASES[name].faults]


@pytest.mark.parametrize("name", ["spread", "exception"])
def test_alloy_agrees_with_both(name: str) -> None:
    need("alloy")
    rows = [*agree_table(CASES[name])]
    assert [row for row in rows if row.alloy is None or not row.agrees] == []

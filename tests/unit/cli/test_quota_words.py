"""What a limit is on is told by the word by which it is set, wherever it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.cli.outlook.consequences import draw_quota, draw_rebalance
from bailiwick.cli.shared.quota_words import name_of, parse_limit, split_ceiling
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import Dimension
from bailiwick.wire.foreseen import QuotaRebalanced, QuotaSet


@pytest.mark.parametrize("word", list(Dimension))
def test_every_dimension_is_told_by_the_word_that_sets_it(word: Dimension) -> None:
    assert parse_limit(f"{name_of(word)}=none") == ("limits", word.value, None)


def test_what_follows_from_a_quota_counts_gpus_by_that_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    moved = {"before": 8, "after": 4, "used": 6, "over": 2}
    consequence: dict[str, Any] = {"limits": {"gpu_count": moved}, "gpu_limits": {}}
    told = {"answer": "done", "seq": None, "consequence": consequence | {"at_once": None}}
    draw_quota(QuotaSet.model_validate(told))
    rebalance: dict[str, Any] = {"over": {"gpu_count": {"over": 2, "over_after": 0}}}
    rebalance |= {"gpu_over": {}, "leaving": 0, "gangs": 0, "cost": 0, "until_ms": 0, "leases": []}
    draw_rebalance(QuotaRebalanced.model_validate(told | {"consequence": rebalance}))
    shown = capsys.readouterr().out
    assert "gpu_count" not in shown
    assert shown.count("gpus") == 2


@pytest.mark.parametrize("word", ["priority_max", "classes", "term_max", "waiting_max"])
def test_a_word_of_a_ceiling_is_not_lifted_alone_and_what_lifts_it_is_said(word: str) -> None:
    with pytest.raises(InvalidValue, match=f"{word}: .* by ceiling=none"):
        split_ceiling([f"{word}=none"])


@pytest.mark.parametrize("typed", [["ceiling=9"], ["ceiling"], ["waiting_max=9", "ceiling=none"]])
def test_a_ceiling_is_lifted_or_set_and_not_both(typed: list[str]) -> None:
    with pytest.raises(InvalidValue, match="ceiling=none alone"):
        split_ceiling(typed)


@pytest.mark.parametrize("value", ["many", "-1", ""])
def test_how_many_may_wait_is_a_number_and_nothing_else(value: str) -> None:
    with pytest.raises(InvalidValue, match="waiting_max: expected a whole number, got"):
        split_ceiling([f"waiting_max={value}"])

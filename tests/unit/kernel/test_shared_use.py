"""Who used whose workers of a shared runtime: taken once, bounded by what was held, and settled."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bailiwick.kernel import decode, digest_of, encode
from bailiwick.kernel.apps.shared import use_rules
from bailiwick.kernel.apps.shared.book import WINDOWS_MAX
from bailiwick.kernel.apps.shared.dump import dump_shared, repair_shared
from bailiwick.kernel.apps.shared.use_commands import (
    ROWS_MAX,
    WINDOW_MS_MAX,
    ReportSharedUse,
    SetSharedSettlement,
)
from bailiwick.kernel.apps.units.rules import LATE_MS_MAX
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import SharedRefusal, SharedUseRefusal
from tests.support.shared_house import OF, SharedHouse

WHY = SharedUseRefusal
SECOND = 1_000
UNITS = ("cpu_second", "gpu_second", "request")
Rows = list[tuple[str, str, str, int]]


@pytest.fixture
def house() -> SharedHouse:
    found = SharedHouse(billing_units=UNITS)
    found.create()
    found.attach("audio")
    found.now_ms += 10 * SECOND
    return found


def use(house: SharedHouse, rows: Rows, **changes: Any) -> ReportSharedUse:
    """Of the last second, unless it is said otherwise."""
    lists = [tuple(row[at] for row in rows) for at in range(4)]
    names = ("users", "sources", "units", "quantities")
    told: dict[str, Any] = dict(zip(names, lists, strict=True))
    window = {"from_ms": house.now_ms - SECOND, "to_ms": house.now_ms}
    return ReportSharedUse(**(OF | window | told | {"by": "runtime:1"} | changes))


ONE: Rows = [("audio", "vision", "cpu_second", 3)]


def refused(house: SharedHouse, command: Any) -> SharedRuntimeRefused:
    size = house.kernel.state.size
    with pytest.raises(SharedRuntimeRefused) as found:
        house.do(command)
    assert house.kernel.state.size == size
    return found.value


# -- telling ------------------------------------------------------------------------------------


def test_a_window_is_sealed_once_in_the_tenants_records(house: SharedHouse) -> None:
    command = use(house, ONE)
    ((kind, body),) = house.do(command)
    assert kind == "shared_use_told"
    assert (body["users"], body["sources"], body["quantities"]) == (("audio",), ("vision",), (3,))
    assert (house.records[-1].tenant, house.records[-1].project) == ("lab", None)
    held = house.shared.use
    assert (held.told_until_ms, held.seq) == (command.to_ms, house.records[-1].seq)
    assert house.do(command) == []  # a retelling of the same


def test_another_word_about_a_time_that_was_told_is_refused(house: SharedHouse) -> None:
    command = use(house, ONE)
    house.do(command)
    for other in (
        replace(command, quantities=(4,)),
        replace(command, to_ms=command.to_ms - 1),
        replace(command, from_ms=command.to_ms - 1),
        use(house, [], from_ms=command.from_ms - 5, to_ms=command.from_ms + 5),
    ):
        found = refused(house, other)
        assert found.reason is WHY.WINDOW_OVERLAPS
        assert found.numbers == {"told_until_ms": command.to_ms}
    later = {"from_ms": command.to_ms, "to_ms": command.to_ms + 1}
    house.now_ms += 1
    house.do(use(house, [], **later))
    assert house.do(command) == []


def test_a_window_is_over_of_the_runtimes_life_and_not_long_ago(house: SharedHouse) -> None:
    began = house.shared.runtime.created_ms
    ahead = use(house, ONE, to_ms=house.now_ms + 60 * SECOND)
    assert refused(house, ahead).reason is WHY.WINDOW_NOT_OVER
    early = use(house, ONE, from_ms=began - 1, to_ms=began + 1)
    assert refused(house, early).reason is WHY.WINDOW_BEFORE_RUNTIME
    house.now_ms = began + LATE_MS_MAX + 10 * SECOND
    old = use(house, ONE, from_ms=began, to_ms=began + 1)
    assert refused(house, old).reason is WHY.WINDOW_TOO_OLD


def test_only_units_of_time_of_the_app_are_told(house: SharedHouse) -> None:
    found = refused(house, use(house, [("audio", "vision", "disk_second", 1)]))
    assert (found.reason, found.numbers) == (WHY.UNIT_UNKNOWN, {"unit": "disk_second"})
    found = refused(house, use(house, [("audio", "vision", "request", 1)]))
    assert found.reason is WHY.UNIT_NOT_TIME
    for rows in ([("nobody", "vision", "cpu_second", 1)], [("audio", "rival", "cpu_second", 1)]):
        with pytest.raises(NotFound, match="project"):
            house.do(use(house, rows))


def test_what_is_no_report_cannot_be_said(house: SharedHouse) -> None:
    for rows in (
        [*ONE, *ONE],
        [("vision", "vision", "cpu_second", 1), *ONE],  # not in order
        [("audio", "vision", "cpu_second", 0)],
        [("audio", "vision", "CPU", 1)],
        [(f"p{number:04}", "vision", "cpu_second", 1) for number in range(ROWS_MAX + 1)],
    ):
        with pytest.raises(InvalidValue):
            use(house, rows)
    with pytest.raises(InvalidValue, match="whole rows"):
        use(house, ONE, users=())
    with pytest.raises(InvalidValue, match="to_ms"):
        use(house, ONE, from_ms=0, to_ms=WINDOW_MS_MAX + 1)


def test_of_the_windows_the_last_few_are_known_word_for_word(house: SharedHouse) -> None:
    first = use(house, [])
    for _ in range(WINDOWS_MAX + 3):
        house.do(use(house, []))
        house.now_ms += SECOND
    assert len(house.shared.use.recent) == WINDOWS_MAX
    assert refused(house, first).reason is WHY.WINDOW_OVERLAPS


# -- what it is worth ---------------------------------------------------------------------------


def settle(house: SharedHouse, rates: dict[str, int], **changes: Any) -> SetSharedSettlement:
    rule = use_rules.rule_with(house.shared.runtime, rates)
    digest = use_rules.digest_of_rule(rule)
    told = {"accepted_digest": digest, "by": "tina", "rates": rates}
    return SetSharedSettlement(**(OF | told | changes))


def test_use_is_worth_nothing_until_somebody_accepts_what_it_is_worth(house: SharedHouse) -> None:
    before = house.shared.runtime
    assert house.shared.settlement is None
    assert "settled" not in json.loads(before.billing_rule)
    wrong = settle(house, {"cpu_second": 20}, accepted_digest=before.billing_digest)
    assert refused(house, wrong).reason is SharedRefusal.BILLING_RULE_NOT_ACCEPTED
    dearer = settle(house, {"cpu_second": 20})
    other = replace(dearer, rates={"cpu_second": 21})
    assert refused(house, other).reason is SharedRefusal.BILLING_RULE_NOT_ACCEPTED
    ((kind, body),) = house.do(dearer)
    assert (kind, body["rates"], body["accepted_by"]) == (
        "shared_settlement_set",
        ("cpu_second=20",),
        "tina",
    )
    runtime, settled = house.shared.runtime, house.shared.settlement
    assert settled is not None
    assert (settled.rates, settled.seq) == ({"cpu_second": 20}, house.records[-1].seq)
    assert json.loads(runtime.billing_rule)["settled"]["micros"] == {"cpu_second": 20}
    assert runtime.billing_digest == dearer.accepted_digest
    with pytest.raises(Conflict, match="already"):
        house.do(settle(house, {"cpu_second": 20}))
    house.do(settle(house, {}))
    assert house.shared.settlement is None
    assert house.shared.runtime.billing_rule == before.billing_rule


def test_what_is_not_told_cannot_be_worth_anything(house: SharedHouse) -> None:
    assert refused(house, settle(house, {"request": 1})).reason is WHY.UNIT_NOT_TIME
    assert refused(house, settle(house, {"disk_second": 1})).reason is WHY.UNIT_UNKNOWN
    for rates in ({"cpu_second": 0}, {"cpu_second": -1}, {"cpu_second": 10**9 + 1}):
        with pytest.raises(InvalidValue, match="rates"):
            settle(house, rates)


def test_a_runtime_is_made_with_it_only_if_that_was_in_the_plan() -> None:
    house = SharedHouse(billing_units=UNITS)
    plain = house.accepted()
    priced = replace(plain, rates={"gpu_second": 700})
    assert refused(house, priced).reason is SharedRefusal.BILLING_RULE_NOT_ACCEPTED
    told = house.create(rates={"gpu_second": 700})
    assert [kind for kind, _ in told][-2:] == ["shared_runtime_created", "shared_settlement_set"]
    assert house.shared.settlement is not None
    assert house.shared.settlement.rates == {"gpu_second": 700}
    assert json.loads(house.shared.runtime.billing_rule)["settled"]["micros"] == {"gpu_second": 700}
    with pytest.raises(SharedRuntimeRefused, match="unit_unknown"):
        SharedHouse().create(rates={"gpu_second": 700})


def test_a_rule_without_it_has_the_digest_that_it_always_had() -> None:
    house = SharedHouse(billing_units=UNITS)
    assert house.accepted() == house.accepted(rates={}) == house.accepted(rates=None)


# -- what is kept -------------------------------------------------------------------------------


def test_a_snapshot_has_it_and_one_without_has_the_bytes_that_it_always_had(
    house: SharedHouse,
) -> None:
    (row,) = dump_shared(house.book.shared)["held"]
    assert not {"use", "settlement"} & {*row}
    house.do(settle(house, {"cpu_second": 20}))
    house.do(use(house, ONE))
    state = house.kernel.state
    again = decode(encode(state), digest_of(state))
    assert again.apps.shared.get("lab", "main") == house.shared
    assert digest_of(again) == digest_of(state)


def test_a_clock_that_was_set_back_takes_what_was_told_along(house: SharedHouse) -> None:
    house.do(settle(house, {"cpu_second": 20}))
    house.do(use(house, ONE))
    plain = dump_shared(house.book.shared)
    until, since = house.shared.use.told_until_ms, plain["held"][0]["settlement"][2]
    repair_shared(plain, ClockRepair(until + 5_000, 1_000))
    (row,) = plain["held"]
    assert row["use"][0] <= 1_000 < until
    assert row["settlement"][2] <= since

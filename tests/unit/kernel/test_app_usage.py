"""What apps tell of their use: taken once, in order, for time that is over; else refused."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel import decode, encode
from bailiwick.kernel.apps.commands import PublishApp
from bailiwick.kernel.apps.instance_commands import ChangeInstance, DeleteInstance
from bailiwick.kernel.apps.units import book, rules
from bailiwick.kernel.apps.units.book import RECENT_MAX
from bailiwick.kernel.apps.units.commands import QUANTITY_MAX, WINDOW_MS_MAX, ReportAppUsage
from bailiwick.kernel.apps.units.rules import LATE_MS_MAX
from bailiwick.vocab.apps import UsageRefusal
from bailiwick.vocab.errors import InstanceRefused, InvalidValue, LimitReached, NotFound
from tests.support.app_house import OWN, AppHouse, clustered

HOUR = 3_600_000
UNITS = ("job_hour", "request")
ONE: dict[str, Any] = {**OWN, "instance_id": 1, "source": "op"}


def told(sequence: int = 1, **more: Any) -> ReportAppUsage:
    known: dict[str, Any] = {"unit": "job_hour", "quantity": 1, "from_ms": HOUR, "to_ms": 2 * HOUR}
    return ReportAppUsage(**(ONE | known | {"sequence": sequence} | more))


@pytest.fixture
def house() -> AppHouse:
    return some_hours_old()


def some_hours_old() -> AppHouse:
    """An instance whose version names two units; the next command comes at ten hours."""
    found = AppHouse()
    found.do(PublishApp(clustered("1.2.0", billing_units=UNITS)))
    found.request(version="1.2.0")
    found.now_ms = 10 * HOUR - 1
    return found


def refused(house: AppHouse, command: ReportAppUsage) -> InstanceRefused:
    size = house.kernel.state.size
    with pytest.raises(InstanceRefused) as found:
        house.do(command)
    assert house.kernel.state.size == size
    return found.value


def reports(house: AppHouse) -> list[dict[str, Any]]:
    return [dict(each.body) for each in house.records if each.kind == "app_usage_reported"]


def test_a_report_is_one_record_with_its_source(house: AppHouse) -> None:
    house.do(told(component_key="worker-0"))
    assert reports(house) == [
        {
            "instance_id": 1,
            "app": "hello",
            "usage_source": "op",
            "sequence": 1,
            "unit": "job_hour",
            "quantity": 1,
            "from_ms": HOUR,
            "to_ms": 2 * HOUR,
            "component_key": "worker-0",
        }
    ]


def test_the_same_again_does_nothing_and_another_under_its_number_is_refused(
    house: AppHouse,
) -> None:
    for _ in range(3):
        house.do(told())
    assert len(reports(house)) == 1
    for other in (
        {"quantity": 2},
        {"unit": "request"},
        {"to_ms": 3 * HOUR},
        {"component_key": "worker-0"},
    ):
        why = refused(house, told(**other))
        assert (why.reason, why.numbers["expected"]) == (UsageRefusal.SEQUENCE_REUSED, 2)


def test_each_source_has_numbers_of_its_own(house: AppHouse) -> None:
    house.do(told(), told(source="other", from_ms=2 * HOUR, to_ms=3 * HOUR))
    assert [row["usage_source"] for row in reports(house)] == ["op", "other"]


def test_a_number_that_is_left_out_is_missed(house: AppHouse) -> None:
    why = refused(house, told(2))
    assert (why.reason, why.numbers["expected"]) == (UsageRefusal.SEQUENCE_GAP, 1)
    house.do(told(1), told(2, from_ms=2 * HOUR, to_ms=3 * HOUR))
    assert refused(house, told(4)).numbers["expected"] == 3


def test_what_is_refused_does_not_use_its_number_up(house: AppHouse) -> None:
    refused(house, told(1, unit="other_unit"))
    house.do(told(1))
    assert len(reports(house)) == 1


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"unit": "gpu_hour"}, "unit_unknown"),
        ({"from_ms": 9 * HOUR, "to_ms": 10 * HOUR + 1}, "window_not_over"),
        ({"from_ms": 11 * HOUR, "to_ms": 12 * HOUR}, "window_not_over"),
    ],
)
def test_what_cannot_be_is_refused(house: AppHouse, more: dict[str, Any], word: str) -> None:
    assert refused(house, told(**more)).reason.value == word


def test_time_up_to_now_can_be_told(house: AppHouse) -> None:
    house.do(told(from_ms=9 * HOUR, to_ms=10 * HOUR))


def test_time_before_the_instance_is_nobodys(house: AppHouse) -> None:
    house.request("two", version="1.2.0")
    made = house.book.instances.held[2].instance.created_ms
    house.now_ms = made + HOUR
    why = refused(house, told(instance_id=2, from_ms=made - 1, to_ms=made + 1))
    assert (why.reason, why.numbers) == (UsageRefusal.WINDOW_BEFORE_INSTANCE, {"created_ms": made})
    house.do(told(instance_id=2, from_ms=made, to_ms=made + 1))


def test_what_comes_too_late_is_refused(house: AppHouse) -> None:
    house.now_ms = LATE_MS_MAX + HOUR
    assert refused(house, told()).reason is UsageRefusal.WINDOW_TOO_OLD
    house.now_ms -= 2
    house.do(told())


def test_no_time_of_a_series_is_told_twice_whoever_tells_it(house: AppHouse) -> None:
    house.do(told())
    for window in ((HOUR, 2 * HOUR), (2 * HOUR - 1, 3 * HOUR), (99, HOUR), (99, 9 * HOUR)):
        for who, sequence in (("op", 2), ("other", 1)):
            more = {"from_ms": window[0], "to_ms": window[1], "source": who}
            why = refused(house, told(sequence, **more))
            assert (why.reason, why.numbers["told_until_ms"]) == (
                UsageRefusal.WINDOW_OVERLAPS,
                2 * HOUR,
            )
    house.do(told(2, unit="request"))  # another unit has a time of its own
    house.do(told(3, from_ms=2 * HOUR, to_ms=3 * HOUR))


def test_a_unit_is_told_of_the_whole_or_by_component_and_never_both(house: AppHouse) -> None:
    house.do(told(1, component_key="worker-0"), told(2, component_key="worker-1"))
    late = {"from_ms": 5 * HOUR, "to_ms": 6 * HOUR}
    assert refused(house, told(3, **late)).reason is UsageRefusal.UNIT_TOLD_OTHERWISE
    house.do(told(3, unit="request"))
    by_component = told(4, unit="request", component_key="worker-0", **late)
    assert refused(house, by_component).reason is UsageRefusal.UNIT_TOLD_OTHERWISE


@pytest.mark.parametrize(
    "more",
    [
        {"quantity": -1},
        {"quantity": QUANTITY_MAX + 1},
        {"quantity": True},
        {"sequence": 0},
        {"to_ms": HOUR},
        {"to_ms": 0},
        {"from_ms": -1},
        {"to_ms": HOUR + WINDOW_MS_MAX + 1},
        {"unit": "Job Hour"},
        {"component_key": ""},
    ],
    ids=str,
)
def test_what_is_no_report_at_all_is_invalid(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        told(**more)


@pytest.mark.parametrize("foreign", [{"project": "other"}, {"tenant": "firm"}, {"instance_id": 9}])
def test_an_instance_of_another_project_is_not_there(
    house: AppHouse, foreign: dict[str, Any]
) -> None:
    size = house.kernel.state.size
    with pytest.raises(NotFound):
        house.do(told(**foreign))
    assert house.kernel.state.size == size


def test_an_instance_that_is_going_is_told_of_and_one_that_is_gone_is_not(house: AppHouse) -> None:
    house.do(DeleteInstance(**OWN, instance_id=1))
    if 1 in house.book.instances.held:
        house.do(told())
    else:
        with pytest.raises(NotFound):
            house.do(told())


def test_the_units_are_those_of_the_version_that_is_wanted(house: AppHouse) -> None:
    path = (("1.2.0", "1.3.0"),)
    house.do(PublishApp(clustered("1.3.0", billing_units=("request",), upgrades=path)))
    house.do(told())
    house.do(ChangeInstance(**OWN, instance_id=1, version="1.3.0"))
    late = {"from_ms": 2 * HOUR, "to_ms": 3 * HOUR}
    assert refused(house, told(2, **late)).reason is UsageRefusal.UNIT_UNKNOWN
    house.do(told(2, unit="request", **late))


def test_of_old_reports_it_is_only_known_that_they_came(house: AppHouse) -> None:
    for number in range(1, RECENT_MAX + 2):
        house.do(told(number, from_ms=HOUR + number, to_ms=HOUR + number + 1))
    why = refused(house, told(1, from_ms=HOUR + 1, to_ms=HOUR + 2))
    assert why.reason is UsageRefusal.SEQUENCE_FORGOTTEN
    house.do(told(2, from_ms=HOUR + 2, to_ms=HOUR + 3))
    tail = house.held().told.sources["op"]
    assert (tail.last, len(tail.recent)) == (RECENT_MAX + 1, RECENT_MAX)


def test_sources_and_series_have_bounds(house: AppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "SOURCES_MAX", 1)
    monkeypatch.setattr(rules, "SERIES_MAX", 1)
    house.do(told())
    with pytest.raises(LimitReached):
        house.do(told(source="other", from_ms=2 * HOUR, to_ms=3 * HOUR))
    with pytest.raises(LimitReached):
        house.do(told(2, unit="request"))


def test_a_snapshot_keeps_what_was_told(house: AppHouse) -> None:
    house.do(told(), told(2, unit="request", quantity=7, component_key="worker-0"))
    state = house.kernel.state
    data = encode(state)
    again = decode(data, sha256(data).hexdigest())
    assert encode(again) == data
    kept = again.apps.instances.held[1].told
    assert kept == house.held().told
    assert kept.series["job_hour", None] == book.UsageSeries(2 * HOUR, 1, 1)


# -- against a reference that keeps every report -------------------------------------------------

steps = st.lists(
    st.tuples(
        st.sampled_from(["op", "other"]),
        st.integers(1, 5),
        st.sampled_from(UNITS),
        st.integers(0, 2),
        st.integers(1, 11),
        st.integers(1, 4),
        st.sampled_from([None, "w"]),
    ),
    max_size=14,
)


@given(steps)
def test_what_counts_is_what_a_reader_of_all_reports_would_count(found: list[Any]) -> None:
    house = some_hours_old()
    taken: list[ReportAppUsage] = []
    for source, sequence, unit, quantity, start, length, key in found:
        window = {"from_ms": start * HOUR, "to_ms": (start + length) * HOUR}
        more = {"unit": unit, "quantity": quantity, "component_key": key, "source": source}
        command = told(sequence, **more, **window)
        own = [each for each in taken if each.source == source]
        series = [each for each in taken if each.unit == unit]
        is_next = sequence == len(own) + 1
        is_good = (
            is_next
            and command.to_ms <= house.now_ms + 1
            and all((each.component_key is None) == (key is None) for each in series)
            and all(command.from_ms >= each.to_ms for each in series if each.component_key == key)
        )
        if command in own:
            house.do(command)
        elif is_good:
            house.do(command)
            taken.append(command)
        else:
            refused(house, command)
    assert len(reports(house)) == len(taken)
    sums = {key: (row.quantity, row.reports) for key, row in house.held().told.series.items()}
    expected: dict[tuple[str, str | None], tuple[int, int]] = {}
    for each in taken:
        key = each.unit, each.component_key
        quantity, count = expected.get(key, (0, 0))
        expected[key] = quantity + each.quantity, count + 1
    assert sums == expected

"""Names, amounts and the checks that guard them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from math import inf, nan

import pytest

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import (
    AMOUNT_MAX,
    AccountingTag,
    CellId,
    NodeId,
    ProjectId,
    TenantId,
    check_amount,
    check_cores,
    check_finite,
    check_integer,
    check_kind,
    check_name,
    check_unique,
)

NAMES = (TenantId, ProjectId, AccountingTag, NodeId, CellId)
HUGE = 10**5000  # more digits than Python is willing to print

GOOD_NAMES = ["a", "A", "0", "team-alpha", "node.rack_7", "x" * 63, "9-._"]
BAD_NAMES: list[object] = [
    "", " ", "a b", "-a", ".a", "_a", "a/b", "a\n", "\na", "a\x00", "ä", "x" * 64, "a:b", "٣",
    None, 5, True, 1.5, nan, b"a", ["a"], HUGE,
]  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_well_formed_name_is_kept_and_equals_the_plain_string(kind: type, name: str) -> None:
    made = kind(name)
    assert made == name
    assert hash(made) == hash(name)
    assert repr(made) == f"{kind.__name__}({name!r})"


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_a_malformed_name_is_refused(kind: type, name: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        kind(name)
    assert refused.value.field == kind.__name__


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_a_refused_name_is_told_under_the_field_it_was_given_for(name: object) -> None:
    with pytest.raises(InvalidValue, match=r"^owner: ") as refused:
        check_name("owner", name)
    assert refused.value.field == "owner"
    assert refused.value.value is name


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_survives_copying_and_pickling(kind: type) -> None:
    name = kind("team-alpha")
    for twin in (copy.copy(name), copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert twin == name
        assert type(twin) is kind


@pytest.mark.parametrize("value", [0, 1, AMOUNT_MAX])
def test_an_amount_within_bounds_is_given_back(value: int) -> None:
    assert check_amount("mem_bytes", value) == value


@pytest.mark.parametrize(
    "value",
    [-1, AMOUNT_MAX + 1, -HUGE, HUGE, True, False, 0.0, 1.5, nan, inf, "1", None, b"1", [1]],
    ids=range(14),
)
def test_an_amount_that_is_no_amount_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        check_amount("mem_bytes", value)
    assert refused.value.field == "mem_bytes"
    assert str(refused.value).startswith("mem_bytes: expected an integer from 0 to ")


def test_two_amounts_sum_within_64_bits() -> None:
    assert 2 * AMOUNT_MAX < 2**63


@pytest.mark.parametrize("value", [3, 4, 5])
def test_an_integer_within_its_bounds_is_given_back(value: int) -> None:
    assert check_integer("n", value, low=3, high=5) == value


@pytest.mark.parametrize("value", [2, 6, True, 4.0, nan, "4", None])
def test_an_integer_outside_its_bounds_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue, match="n: expected an integer from 3 to 5"):
        check_integer("n", value, low=3, high=5)


@pytest.mark.parametrize(
    ("cores", "milli"),
    [(0, 0), (0.0, 0), (1, 1000), (0.001, 1), (1.5, 1500), (0.1, 100), (2.345, 2345),
     (10**6, 10**9), (1e6, 10**9), (999_999.999, 999_999_999)],
)  # fmt: skip
def test_cores_become_milli_cores_exactly(cores: float, milli: int) -> None:
    assert check_cores("cpu_cores", cores) == milli


@pytest.mark.parametrize(
    "cores",
    [-1, -0.001, 0.0001, 1.2345, 10**6 + 1, 1e6 + 0.001, 1e300, nan, inf, -inf, True, "4", None,
     HUGE, -HUGE],
    ids=range(15),
)  # fmt: skip
def test_cores_that_are_no_thousandths_within_bounds_are_refused(cores: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        check_cores("cpu_cores", cores)
    assert refused.value.field == "cpu_cores"


@pytest.mark.parametrize("value", [-1, 0, 0.5, 1, 1.0])
def test_a_finite_number_within_bounds_is_given_back_as_a_float(value: float) -> None:
    checked = check_finite("weight", value, low=-1.0, high=1.0)
    assert type(checked) is float
    assert checked == value


@pytest.mark.parametrize(
    "value", [-1.01, 2, nan, inf, -inf, True, "1", None, 1j, HUGE, -HUGE], ids=range(11)
)
def test_a_number_that_is_not_finite_or_out_of_bounds_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        check_finite("weight", value, low=-1.0, high=1.0)
    assert refused.value.field == "weight"


def test_a_value_of_the_right_kind_is_given_back_itself() -> None:
    value = TenantId("a")
    assert check_kind("tenant", value, TenantId) is value


@pytest.mark.parametrize("value", ["a", None, 5, ProjectId("a")])
def test_a_value_of_the_wrong_kind_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue, match="tenant: expected a TenantId"):
        check_kind("tenant", value, TenantId)


def test_distinct_values_are_given_back_as_a_tuple() -> None:
    assert check_unique("models", iter(["b", "a"])) == ("b", "a")


@pytest.mark.parametrize("values", [["a", "a"], [1, 2, 1], ["a", "b", "b", "b"]])
def test_a_value_given_twice_is_refused_and_named(values: list[object]) -> None:
    with pytest.raises(InvalidValue, match="models: expected each value at most once") as refused:
        check_unique("models", values)
    assert values.count(refused.value.value) > 1


@pytest.mark.parametrize("check", [check_name, check_amount, check_cores])
def test_a_value_too_large_to_print_is_still_refused_by_name(
    check: Callable[[str, object], object],
) -> None:
    with pytest.raises(InvalidValue, match=r"^field: expected .*cannot be shown$"):
        check("field", HUGE)

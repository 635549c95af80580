"""One placement request: what it comes to, and what it may not be."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from math import inf, nan

import pytest

from bailiwick.fleet.node import DEVICES_MAX, LABELS_MAX
from bailiwick.scheduler.request import GANG_MAX, PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, AccountingTag, ProjectId, TenantId
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass, Priority

G = HardwareGeneration
E = Exclusivity
HUGE = 10**5000

NO_NAMES: list[object] = ["", "a b", "-a", "x" * 64, 5, True, nan, ["a"], b"a", HUGE]
NO_AMOUNTS: list[object] = [-1, AMOUNT_MAX + 1, HUGE, True, 1.5, nan, "1", None]
NO_CORES: list[object] = [-1, -0.5, 0.0001, 10**6 + 1, HUGE, True, nan, inf, "1", None]
NO_LABELS: list[object] = [
    None, "zone", {"": "a"}, {"zone": ""}, {"zone": 5}, {"a b": "c"}, ["zone"],
    {f"k{i}": "v" for i in range(LABELS_MAX + 1)},
]  # fmt: skip

BAD: list[tuple[str, object]] = [
    *[("tenant", v) for v in [*NO_NAMES, None]],
    *[("project", v) for v in NO_NAMES],
    *[("tag", v) for v in NO_NAMES],
    *[("cpu_cores", v) for v in NO_CORES],
    *[("mem_bytes", v) for v in NO_AMOUNTS],
    *[("block_bytes", v) for v in NO_AMOUNTS],
    *[("gpu_vram", v) for v in NO_AMOUNTS],
    *[("gpu_count", v) for v in (-1, DEVICES_MAX + 1, HUGE, True, 1.0, nan, "1", None)],
    *[("gpu_milli", v) for v in (-1, 1001, HUGE, True, 1.0, nan, "1", None)],
    *[("gpu_models", v) for v in ("A40", 5, None, {"A40"}, ("",), (5,), (["A40"],), ("a", "a"))],
    *[("generation", v) for v in ("nvidia_hopper", "hopper", "", 5, True)],
    *[("exclusivity", v) for v in ("shared", "mine", "", 5, True)],
    *[("labels", v) for v in NO_LABELS],
    *[("priority", v) for v in ("normal", None, 1, True, "urgent")],
    *[("lease_class", v) for v in ("spot", None, 1, True)],
    *[("gang_size", v) for v in (0, -1, GANG_MAX + 1, HUGE, True, 2.0, nan, "2", None)],
    *[("ttl_ms", v) for v in (0, -1, 2**53 + 1, HUGE, True, 1.0, nan, "1", None)],
    *[("deadline_ms", v) for v in (-1, AMOUNT_MAX + 1, HUGE, True, 1.0, nan, "1")],
    *[("preemptible_on_budget", v) for v in (1, 0, None, "yes")],
]


def ask(**terms: object) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 1, **terms})


@pytest.mark.parametrize(("field", "value"), BAD, ids=range(len(BAD)))
def test_a_malformed_term_is_refused_by_its_field(field: str, value: object) -> None:
    terms: dict[str, object] = {field: value}
    if field in ("gpu_models", "generation", "exclusivity"):
        terms["gpu_count"] = 1
    with pytest.raises(InvalidValue) as refused:
        ask(**terms)
    assert refused.value.field.startswith(field)


@pytest.mark.parametrize(
    "terms",
    [{}, {"cpu_cores": 0}, {"cpu_cores": 0.0, "mem_bytes": 0, "gpu_count": 0, "gpu_vram": 0}],
)
def test_a_request_for_nothing_is_refused(terms: dict[str, object]) -> None:
    with pytest.raises(InvalidValue, match="request: expected at least one resource above zero"):
        PlacementRequest(tenant="lab", **terms)


@pytest.mark.parametrize(
    "terms",
    [{"cpu_cores": 0.001}, {"mem_bytes": 1}, {"block_bytes": 1}, {"gpu_milli": 1},
     {"gpu_count": 1}, {"gpu_vram": 1}],
)  # fmt: skip
def test_any_one_resource_makes_a_request(terms: dict[str, object]) -> None:
    assert PlacementRequest(tenant="lab", **terms).tenant == "lab"


@pytest.mark.parametrize(
    "terms",
    [{"generation": G.NVIDIA_HOPPER}, {"gpu_models": ("H100",)}, {"exclusivity": E.SHARED}],
)
def test_gpu_terms_without_a_gpu_are_refused(terms: dict[str, object]) -> None:
    with pytest.raises(InvalidValue, match="gpu_count: expected a GPU, since GPU terms are given"):
        ask(**terms)


def test_whole_devices_and_a_share_cannot_both_be_asked_for() -> None:
    with pytest.raises(InvalidValue) as refused:
        ask(gpu_count=1, gpu_milli=500)
    assert refused.value.field == "gpu_milli"


@pytest.mark.parametrize(
    ("terms", "count", "milli", "exclusivity"),
    [
        ({}, 0, 0, None),
        ({"gpu_count": 1}, 1, 1000, E.DEVICE_EXCLUSIVE),
        ({"gpu_count": 16}, 16, 1000, E.DEVICE_EXCLUSIVE),
        ({"gpu_milli": 1}, 1, 1, E.SHARED),
        ({"gpu_milli": 999}, 1, 999, E.SHARED),
        ({"gpu_milli": 1000}, 1, 1000, E.DEVICE_EXCLUSIVE),
        ({"gpu_vram": 5}, 1, 1000, E.DEVICE_EXCLUSIVE),
        ({"gpu_vram": 5, "gpu_milli": 250}, 1, 250, E.SHARED),
        ({"gpu_count": 2, "exclusivity": E.SHARED}, 2, 1000, E.SHARED),
        ({"gpu_milli": 250, "exclusivity": E.SHARED}, 1, 250, E.SHARED),
        ({"gpu_milli": 250, "exclusivity": E.SESSION_EXCLUSIVE}, 1, 1000, E.SESSION_EXCLUSIVE),
        ({"gpu_milli": 250, "exclusivity": E.DEVICE_EXCLUSIVE}, 1, 1000, E.DEVICE_EXCLUSIVE),
        ({"gpu_milli": 250, "exclusivity": E.PARTITION_EXCLUSIVE}, 1, 250, E.PARTITION_EXCLUSIVE),
    ],
)
def test_what_is_asked_of_gpus_comes_to_devices_milli_and_exclusivity(
    terms: dict[str, object], count: int, milli: int, exclusivity: E | None
) -> None:
    request = ask(**terms)
    assert (request.device_count, request.device_milli) == (count, milli)
    assert request.effective_exclusivity is exclusivity
    assert request.gpu_milli_total == count * milli


def test_names_given_as_plain_strings_become_names() -> None:
    request = ask(tenant="lab", project="vision", tag="etl")
    assert type(request.tenant) is TenantId
    assert type(request.project) is ProjectId
    assert type(request.tag) is AccountingTag


def test_a_request_has_modest_terms_unless_told_otherwise() -> None:
    request = ask()
    assert (request.priority, request.lease_class) == (Priority.NORMAL, LeaseClass.STANDARD)
    assert (request.gang_size, request.ttl_ms, request.deadline_ms) == (1, 3_600_000, None)
    assert request.preemptible_on_budget is False


def test_models_are_kept_in_one_order_so_that_equal_requests_are_equal() -> None:
    one, two = ask(gpu_count=1, gpu_models=("b", "a")), ask(gpu_count=1, gpu_models=["a", "b"])
    assert one.gpu_models == ("a", "b")
    assert one == two
    assert hash(one) == hash(two)


def test_requests_that_ask_the_same_are_equal_however_it_was_written() -> None:
    one, two = ask(cpu_cores=2, labels={"a": "b"}), ask(cpu_cores=2.0, labels={"a": "b"})
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize(
    "terms", [{"mem_bytes": 2}, {"labels": {"a": "b"}}, {"gang_size": 2}, {"ttl_ms": 5}]
)
def test_requests_that_differ_in_any_term_are_not_equal(terms: dict[str, object]) -> None:
    assert ask() != ask(**terms)


def test_a_request_does_not_follow_the_labels_it_was_made_from() -> None:
    labels = {"zone": "a"}
    request = ask(labels=labels)
    labels["zone"] = "b"
    assert request.labels == {"zone": "a"}


def test_a_request_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        ask().mem_bytes = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "terms",
    [
        {"cpu_cores": 10**6, "mem_bytes": AMOUNT_MAX, "block_bytes": AMOUNT_MAX},
        {"gpu_vram": AMOUNT_MAX},
        {"gpu_count": 16, "gpu_vram": AMOUNT_MAX // 16},
        {"gang_size": GANG_MAX, "ttl_ms": 2**53, "deadline_ms": AMOUNT_MAX},
        {"labels": {f"k{i}": "v" for i in range(LABELS_MAX)}},
    ],
)
def test_the_largest_terms_that_are_allowed_are_allowed(terms: dict[str, object]) -> None:
    assert ask(**terms).tenant == "lab"


def test_gpu_memory_over_all_devices_must_still_be_an_amount() -> None:
    with pytest.raises(InvalidValue) as refused:
        ask(gpu_count=16, gpu_vram=AMOUNT_MAX // 16 + 1)
    assert refused.value.field == "gpu_vram"


def test_a_request_can_be_made_from_another_with_some_terms_replaced() -> None:
    first = ask(gpu_count=2, labels={"a": "b"}, gpu_models=("x",))
    urgent = replace(first, priority=Priority.CRITICAL, mem_bytes=12)
    assert urgent == ask(
        gpu_count=2, labels={"a": "b"}, gpu_models=("x",), priority=Priority.CRITICAL, mem_bytes=12
    )


@pytest.mark.parametrize(
    ("gpus", "milli"), [({"gpu_count": 0, "gpu_milli": 500}, 500), ({"gpu_count": 0}, 0)]
)
def test_the_gpus_of_a_request_can_be_replaced_too(gpus: dict[str, int], milli: int) -> None:
    assert replace(ask(gpu_count=1), **gpus).device_milli == milli

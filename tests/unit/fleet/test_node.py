"""What one machine offers, and amounts of the four resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, replace
from math import inf, nan

import pytest

from bailiwick.fleet.node import DEVICES_MAX, LABELS_MAX, GpuDevice, NodeCapacity, check_labels
from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX
from bailiwick.vocab.words import HardwareGeneration as G

H100 = GpuDevice(G.NVIDIA_HOPPER, 80)
HUGE = 10**5000

BAD_AMOUNTS: list[object] = [-1, AMOUNT_MAX + 1, HUGE, True, 1.5, nan, "1", None]
BAD_CORES: list[object] = [-1, 0.0001, 10**6 + 1, HUGE, True, nan, inf, "1", None]
BAD_STRINGS: list[object] = ["x" * 128, None, 5, b"x", ["x"]]
BAD_LABELS: list[object] = [
    None, "zone", ["zone"], {"": "a"}, {"zone": ""}, {"zone": 5}, {5: "a"}, {"a b": "a"},
    {"zone": "a\n"}, {"zone": None}, {f"k{i}": "v" for i in range(LABELS_MAX + 1)},
]  # fmt: skip

BAD_DEVICES: list[tuple[str, dict[str, object]]] = [
    *[("vram_bytes", {"vram_bytes": v}) for v in BAD_AMOUNTS],
    *[("generation", {"generation": v}) for v in ("nvidia_hopper", "", None, 5, "hopper")],
    *[("model", {"model": v}) for v in BAD_STRINGS],
    *[("fabric", {"fabric": v}) for v in BAD_STRINGS],
    *[("partitionable", {"partitionable": v}) for v in (1, 0, None, "yes")],
]
BAD_NODES: list[tuple[str, dict[str, object]]] = [
    *[("cpu_cores", {"cpu_cores": v}) for v in BAD_CORES],
    *[("mem_bytes", {"mem_bytes": v}) for v in BAD_AMOUNTS],
    *[("block_bytes", {"block_bytes": v}) for v in BAD_AMOUNTS],
    *[("gpu_vram", {"gpu_vram": v}) for v in BAD_AMOUNTS if v != -1],
    *[("labels", {"labels": v}) for v in BAD_LABELS],
    ("gpus", {"gpus": 5}),
    ("gpus", {"gpus": None}),
    ("gpus", {"gpus": H100}),
    ("gpus", {"gpus": "H100"}),
    ("gpus[0]", {"gpus": ("H100",)}),
    ("gpus[1]", {"gpus": (H100, None)}),
    ("gpus", {"gpus": (H100,) * (DEVICES_MAX + 1)}),
    ("gpu_vram", {"gpus": (H100, H100), "gpu_vram": 159}),
    ("gpu_vram", {"gpus": (H100, H100), "gpu_vram": 0}),
]


@pytest.mark.parametrize(("field", "given"), BAD_DEVICES, ids=range(len(BAD_DEVICES)))
def test_a_malformed_device_is_refused_by_field(field: str, given: dict[str, object]) -> None:
    with pytest.raises(InvalidValue) as refused:
        GpuDevice(**{"generation": G.NVIDIA_HOPPER, **given})
    assert refused.value.field == field


@pytest.mark.parametrize(("field", "given"), BAD_NODES, ids=range(len(BAD_NODES)))
def test_a_malformed_node_is_refused_by_field(field: str, given: dict[str, object]) -> None:
    with pytest.raises(InvalidValue) as refused:
        NodeCapacity(**{"cpu_cores": 4, "mem_bytes": 10, **given})
    assert refused.value.field.startswith(field)


def test_a_node_tells_its_capacity_in_exact_integers() -> None:
    node = NodeCapacity(cpu_cores=1.5, mem_bytes=7, block_bytes=3, gpus=(H100, H100))
    assert (node.cpu_milli, node.mem_bytes, node.block_bytes) == (1500, 7, 3)
    assert (node.gpu_milli, node.gpu_vram) == (2000, 160)


def test_a_node_may_have_nothing() -> None:
    node = NodeCapacity(cpu_cores=0, mem_bytes=0)
    assert (node.cpu_milli, node.gpu_milli, node.gpus) == (0, 0, ())


def test_a_node_may_have_as_many_devices_and_labels_as_stated() -> None:
    labels = {f"k{i}": "v" for i in range(LABELS_MAX)}
    node = NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=(H100,) * DEVICES_MAX, labels=labels)
    assert node.gpu_milli == 16_000
    assert dict(node.labels) == labels


def test_gpu_memory_alone_stands_for_one_device_of_no_known_generation() -> None:
    node = NodeCapacity(cpu_cores=1, mem_bytes=1, gpu_vram=24)
    assert node.gpus == (GpuDevice(G.OTHER, 24),)
    assert node.gpu_vram == 24


def test_no_gpu_memory_stands_for_no_device() -> None:
    assert NodeCapacity(cpu_cores=1, mem_bytes=1, gpu_vram=0).gpus == ()


def test_gpu_memory_may_be_told_beside_the_devices_if_it_is_their_sum() -> None:
    assert NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=(H100, H100), gpu_vram=160).gpu_vram == 160


def test_devices_given_as_a_list_are_kept_as_a_tuple() -> None:
    made = NodeCapacity(cpu_cores=1, mem_bytes=1, gpus=[H100])
    assert made.gpus == (H100,)


def test_a_node_does_not_follow_the_labels_it_was_made_from() -> None:
    labels = {"zone": "a"}
    node = NodeCapacity(cpu_cores=1, mem_bytes=1, labels=labels)
    labels["zone"] = "b"
    assert node.labels["zone"] == "a"


def test_labels_cannot_be_changed_afterwards() -> None:
    node = NodeCapacity(cpu_cores=1, mem_bytes=1, labels={"zone": "a"})
    with pytest.raises(TypeError):
        node.labels["zone"] = "b"  # type: ignore[index]


def test_neither_node_nor_device_can_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        NodeCapacity(cpu_cores=1, mem_bytes=1).mem_bytes = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        H100.vram_bytes = 2  # type: ignore[misc]


def test_equal_nodes_have_equal_hashes_however_cores_were_written() -> None:
    one = NodeCapacity(cpu_cores=4, mem_bytes=1, gpus=(H100,), labels={"zone": "a"})
    two = NodeCapacity(cpu_cores=4.0, mem_bytes=1, gpus=[H100], labels={"zone": "a"})
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize("labels", BAD_LABELS, ids=range(len(BAD_LABELS)))
def test_malformed_labels_are_refused_under_the_field_they_were_given_for(labels: object) -> None:
    with pytest.raises(InvalidValue) as refused:
        check_labels("wanted", labels)
    assert refused.value.field.startswith("wanted")


def test_well_formed_labels_are_given_back_as_a_mapping() -> None:
    checked = check_labels("labels", {"zone": "a"})
    assert isinstance(checked, Mapping)
    assert dict(checked) == {"zone": "a"}


def test_resources_add_and_subtract_each_kind_by_itself() -> None:
    one, two = Resources(5, 6, 7, 8), Resources(1, 2, 3, 4)
    assert one + two == Resources(6, 8, 10, 12)
    assert one - two == Resources(4, 4, 4, 4)
    assert (one + two) - two == one
    assert one + NOTHING == one


def test_resources_are_told_in_the_order_every_table_uses() -> None:
    given = Resources(cpu_milli=1, mem_bytes=2, block_bytes=3, gpu_milli=4)
    assert given.as_tuple() == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("need", "covered"),
    [((5, 6, 7, 8), True), ((0, 0, 0, 0), True), ((6, 0, 0, 0), False), ((0, 7, 0, 0), False),
     ((0, 0, 8, 0), False), ((0, 0, 0, 9), False)],
)  # fmt: skip
def test_resources_cover_a_need_only_if_they_cover_every_kind(
    need: tuple[int, int, int, int], covered: bool
) -> None:
    assert Resources(5, 6, 7, 8).covers(Resources(*need)) is covered


def test_devices_and_caches_are_told_of_the_machine_that_has_them() -> None:
    two = (CacheDomain(8_000), CacheDomain(8_000, numa=1))
    node = NodeCapacity(16, 0, gpus=(GpuDevice.named("NVIDIA A40"),))
    assert node.topology == NodeTopology()
    assert replace(node, cpu_cores=15, topology=NodeTopology(two)).topology.cores_milli == 16_000
    with pytest.raises(InvalidValue, match=r"topology\.gpu_numa"):
        replace(node, topology=NodeTopology(gpu_numa=(0, None)))
    with pytest.raises(InvalidValue, match=r"topology\.caches"):
        replace(node, cpu_cores=17, topology=NodeTopology(two))
    with pytest.raises(InvalidValue, match="topology"):
        replace(node, topology=two)

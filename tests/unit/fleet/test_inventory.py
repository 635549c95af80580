"""Two reports are about the same machine, or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.fleet.inventory import check_inventory, is_same_machine
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.vocab.errors import InvalidValue

H100 = GpuDevice.named("NVIDIA H100 80GB HBM3", vram_bytes=80 << 30)
A100 = GpuDevice.named("NVIDIA A100-SXM4-40GB", vram_bytes=40 << 30)
NODE = NodeCapacity(16, 2**34, 2**40, (H100, A100), labels={"zone": "a", "heartbeat": "agent"})


@pytest.mark.parametrize(
    "change",
    [
        {"block_bytes": 7},
        {"cpu_cores": 16.0},
        {"gpus": [H100, A100]},
        {"labels": {"zone": "a"}},
        {"labels": {"executor": "local", "heartbeat": "server", "zone": "a"}},
    ],
)
def test_free_disk_space_and_who_registered_it_make_no_other_machine(change: object) -> None:
    assert isinstance(change, dict)
    assert is_same_machine(NODE, replace(NODE, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"cpu_cores": 8},
        {"mem_bytes": 2**33},
        {"gpus": (A100, H100)},
        {"gpus": (H100, replace(A100, fabric="f1"))},
        {"labels": {"zone": "b"}},
        {"labels": {}},
    ],
)
def test_cores_memory_devices_in_their_order_and_labels_do(change: object) -> None:
    assert isinstance(change, dict)
    assert not is_same_machine(NODE, replace(NODE, gpu_vram=-1, **change))


def test_a_machine_that_tells_how_it_hangs_together_may_be_one_that_did_not() -> None:
    two = NodeTopology((CacheDomain(8_000), CacheDomain(8_000, numa=1)))
    one = NodeTopology((CacheDomain(16_000),))
    assert is_same_machine(NODE, replace(NODE, topology=two))
    assert is_same_machine(replace(NODE, topology=two), NODE)
    assert not is_same_machine(replace(NODE, topology=one), replace(NODE, topology=two))


def test_a_machine_cannot_call_itself_attested() -> None:
    check_inventory(NODE)
    with pytest.raises(InvalidValue, match=r"attested\.pool"):
        check_inventory(replace(NODE, labels={"attested.pool": "a"}))

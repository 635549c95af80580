"""One machine's inventory: from raw readings to a node's capacity, its labels and its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.machine.files import RootFiles
from bailiwick.agent.machine.inventory import Inventory, Readings, judge, read_machine
from bailiwick.agent.machine.nvml import NvmlGpus
from bailiwick.agent.machine.raw import RAW_SCHEMA, dump, replay
from bailiwick.agent.report import (
    capacity_of,
    labels_given,
    labels_of,
    plain_of,
    spell_label,
    topology_of,
    with_labels,
)
from bailiwick.agent.server import inventory_of
from bailiwick.agent.words import GpuFault, InventorySource, SourceState, Unreadable
from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.topology import CacheDomain
from bailiwick.kernel.fleet.spelling import inventory_body, inventory_from
from bailiwick.server.http.parsing import capacity_of as server_capacity
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import check_name
from bailiwick.vocab.words import HardwareGeneration
from tests.support.machine_trees import PCI, cache, files_of, host, two_sockets, write_tree
from tests.support.simulated_nvml import NvmlError, SimulatedGpu, SimulatedNvml

ROOT = Path(__file__).resolve().parents[3]
VECTORS = sorted((ROOT / "tests" / "vectors" / "agent").glob("*.json"))
GROUP = "sys/fs/cgroup"


def readings(*gpus: SimulatedGpu, texts: Mapping[str, Any] | None = None, **other: Any) -> Readings:
    files = files_of(two_sockets() if texts is None else texts)
    return Readings(host(**other), NvmlGpus(SimulatedNvml(*gpus)).read(), files)


def state_of(inventory: Inventory, source: InventorySource) -> SourceState:
    return next(note.state for note in inventory.sources if note.source is source)


def test_a_machine_is_read_whole() -> None:
    found = judge(readings(SimulatedGpu.numbered(0), SimulatedGpu.numbered(1)))
    assert (found.cpu_milli, found.mem_bytes) == (8000, 4 * 2**30)
    assert [gpu.numa_node for gpu in found.gpu_set.gpus] == [0, 1]
    assert {note.source: note.state for note in found.sources} == {
        InventorySource.PSUTIL: SourceState.READ,
        InventorySource.CGROUP: SourceState.ABSENT,
        InventorySource.NUMA: SourceState.READ,
        InventorySource.CACHE: SourceState.READ,
        InventorySource.PCI: SourceState.READ,
        InventorySource.NVML: SourceState.READ,
    }


def test_a_control_group_narrows_what_is_usable() -> None:
    limits = {f"{GROUP}/cpu.max": "250000 100000\n", f"{GROUP}/memory.max": "1073741824\n"}
    found = judge(readings(texts=two_sockets() | limits))
    assert (found.cpu_milli, found.mem_bytes) == (2500, 2**30)
    assert capacity_of(found).cpu_cores == 2.5


def test_a_control_group_wider_than_the_machine_changes_nothing() -> None:
    limits = {f"{GROUP}/cpu.max": "9900000 100000\n", f"{GROUP}/memory.max": "99999999999\n"}
    found = judge(readings(texts=two_sockets() | limits))
    assert (found.cpu_milli, found.mem_bytes) == (8000, 4 * 2**30)


def test_affinity_narrows_what_is_usable() -> None:
    assert judge(readings(cpus_allowed=[6, 2])).cpu_milli == 2000


def test_a_gpu_whose_node_cannot_be_is_kept_without_one() -> None:
    texts = two_sockets() | {f"{PCI}/0000:10:00.0/numa_node": "77\n"}
    found = judge(readings(SimulatedGpu.numbered(0), texts=texts))
    assert [gpu.numa_node for gpu in found.gpu_set.gpus] == [None]
    assert state_of(found, InventorySource.PCI) is SourceState.MALFORMED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("cpus_allowed", wrong) for wrong in ([], None, [0, 0], [-1], [8192], [True], "01")],
        *[("mem_bytes", wrong) for wrong in (-1, None, 2**53, 1.5, True, "1")],
        *[("block_free_bytes", wrong) for wrong in (-1, None)],
        *[("cpus", wrong) for wrong in (-1, None, 10**6)],
        *[("name", wrong) for wrong in (None, "a\nb", "x" * 256, 5)],
        ("arch", None),
    ],
)
def test_a_host_whose_own_numbers_cannot_be_true_is_unreadable(field: str, value: object) -> None:
    with pytest.raises(Unreadable, match=f"^{field}: "):
        judge(readings(**{field: value}))


def test_the_capacity_holds_what_the_machine_offers() -> None:
    gpus = [SimulatedGpu.numbered(n, links=((0, "00000000:10:00.0"),)) for n in range(2)]
    found = capacity_of(judge(readings(*gpus)))
    assert isinstance(found, NodeCapacity)
    assert (found.cpu_milli, found.mem_bytes, found.block_bytes) == (8000, 4 * 2**30, 10**11)
    assert [gpu.generation for gpu in found.gpus] == [HardwareGeneration.NVIDIA_HOPPER] * 2
    assert found.gpus[0].fabric == found.gpus[1].fabric != ""
    assert inventory_from(inventory_body(found)) == found


def test_cores_are_told_by_cache_and_devices_by_memory_node() -> None:
    gpus = SimulatedGpu.numbered(0), SimulatedGpu.numbered(1)
    found = topology_of(judge(readings(*gpus, cpus_allowed=[0, 1, 2, 6])))
    assert found.caches == (CacheDomain(2000), CacheDomain(1000), CacheDomain(1000, numa=1))
    assert found.gpu_numa == (0, 1)


def test_what_the_agent_sends_is_what_the_server_understands() -> None:
    found = capacity_of(judge(readings(SimulatedGpu.numbered(0), SimulatedGpu.numbered(1))))
    assert server_capacity(inventory_of(found)) == found
    assert found.topology.cache_count == 4


def test_a_machine_with_fewer_cores_than_its_caches_hold_keeps_the_caches_whole() -> None:
    limited = two_sockets() | {f"{GROUP}/cpu.max": "250000 100000\n"}
    found = capacity_of(judge(readings(texts=limited)))
    assert (found.cpu_milli, found.topology.cores_milli) == (2500, 8000)


def test_caches_that_do_not_hold_every_core_are_not_told() -> None:
    texts = {path: t for path, t in two_sockets().items() if "cpu7/cache" not in path}
    texts = {path: t for path, t in texts.items() if "cpu6/cache" not in path}
    assert topology_of(judge(readings(texts=texts))).caches == ()


def test_memory_nodes_that_one_cache_spans_count_as_one() -> None:
    texts = two_sockets()
    for cpu in range(2, 6):
        texts |= cache(cpu, shared="2-5", number=1)
    gpus = SimulatedGpu.numbered(0), SimulatedGpu.numbered(1)
    found = topology_of(judge(readings(*gpus, texts=texts)))
    assert [each.cores_milli for each in found.caches] == [2000, 4000, 2000]
    assert {each.numa for each in found.caches} == {0}
    assert found.gpu_numa == (0, 0)


def test_labels_that_are_given_count_more_than_those_that_were_read() -> None:
    found = capacity_of(judge(readings()))
    given = labels_given(["rack=r12", "os=other"])
    assert with_labels(found, given).labels == {**found.labels, "rack": "r12", "os": "other"}
    for wrong in ("rack", "rack=", "=r12", "rack=a b"):
        with pytest.raises(InvalidValue, match="--label"):
            labels_given([wrong])


def test_labels_are_names_and_those_that_differ_between_gpus_are_left_out() -> None:
    alike = labels_of(judge(readings(SimulatedGpu.numbered(0), SimulatedGpu.numbered(1))))
    assert alike == {
        "cpu_arch": "x86_64",
        "os": "linux",
        "numa_nodes": "2",
        "cache_domains": "4",
        "gpu_model": "NVIDIA-H100-80GB-HBM3",
        "gpu_generation": "nvidia_hopper",
        "gpu_mig": "disabled",
        "gpu_driver": "580.159.03",
        "gpu_cuda": "13.2",
    }
    mixed = (SimulatedGpu.numbered(0), SimulatedGpu.numbered(1, name="Tesla T4"))
    assert labels_of(judge(readings(*mixed))).keys() & {"gpu_model", "gpu_generation"} == set()
    assert not [key for key in labels_of(judge(readings())) if key.startswith("gpu")]


@pytest.mark.parametrize(
    ("text", "label"), [("(R) A 40!", "R-A-40"), ("--x..", "x"), ("é", ""), ("a" * 70, "a" * 63)]
)
def test_a_label_keeps_what_fits(text: str, label: str) -> None:
    assert spell_label(text) == label


@given(st.text(max_size=100))
def test_a_label_is_a_name_or_nothing(text: str) -> None:
    label = spell_label(text)
    assert label == "" or check_name("label", label)


def test_the_json_has_a_schema_and_is_plain() -> None:
    lost = SimulatedGpu.numbered(1, answers={"handle": NvmlError(15)})
    plain = plain_of(judge(readings(SimulatedGpu.numbered(0), lost)))
    assert json.loads(json.dumps(plain)) == plain
    assert plain["schema"] == "bailiwick.agent.inventory/1"
    assert list(plain) == [
        "schema", "machine", "cpu", "memory", "block", "numa_nodes", "cache_domains",
        "gpu_driver", "gpus", "gpus_unread", "labels", "sources",
    ]  # fmt: skip
    assert plain["gpus_unread"] == [{"index": 1, "fault": GpuFault.GPU_LOST.value}]
    assert plain["gpus"][0] == {
        "index": 0,
        "model": "NVIDIA H100 80GB HBM3",
        "generation": "nvidia_hopper",
        "vram_bytes": 80 * 2**30,
        "uuid": "GPU-00000000-0000-0000-0000-000000000000",
        "bus_id": "0000:10:00.0",
        "mig_mode": "disabled",
        "fabric": "",
        "capability": "9.0",
        "numa_node": 0,
        "partitionable": False,
    }


def test_a_dump_replays_the_same_inventory(tmp_path: Path) -> None:
    limits = {f"{GROUP}/cpu.max": "250000 100000\n"}
    files = RootFiles(write_tree(tmp_path, two_sockets() | limits))
    gpus = NvmlGpus(SimulatedNvml(SimulatedGpu.numbered(0)))
    real = read_machine(tmp_path, files=files, gpus=gpus)
    again = replay(json.loads(json.dumps(dump(real))))
    assert judge(again) == judge(real)
    assert dump(again) == dump(real)


def test_a_machine_that_cannot_be_judged_can_still_be_dumped() -> None:
    told = dump(readings(mem_bytes=-1))
    assert told["host"]["mem_bytes"] == -1
    assert told["files"]
    with pytest.raises(Unreadable, match=r"^mem_bytes: "):
        judge(replay(told))


@pytest.mark.parametrize(
    "wrong",
    [None, [], {}, {"schema": "bailiwick.agent.raw/9"}, {"schema": RAW_SCHEMA, "host": {}}],
)
def test_anything_but_a_dump_is_refused(wrong: object) -> None:
    with pytest.raises(Unreadable):
        replay(wrong)


def test_without_psutil_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psutil", None)
    with pytest.raises(NotFound, match=r"psutil.*bailiwick\[agent\]"):
        read_machine(Path("/"))


def test_a_block_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"^block path: "):
        read_machine(tmp_path / "absent")


GARBAGE = st.one_of(
    st.none(), st.integers(-5, 2**70), st.text(max_size=6), st.lists(st.integers(-2, 9), max_size=4)
)


@given(
    st.dictionaries(st.sampled_from(sorted(host())), GARBAGE, max_size=3),
    st.dictionaries(st.sampled_from(sorted(two_sockets())), GARBAGE, max_size=4),
    st.dictionaries(st.sampled_from(("state", "devices", "driver")), GARBAGE),
)
def test_whatever_a_dump_says_it_is_judged_within_bounds_or_unreadable(
    numbers: dict[str, Any], texts: dict[str, Any], nvml: dict[str, Any]
) -> None:
    told = dump(readings(SimulatedGpu.numbered(0)))
    told["host"] |= numbers
    told["files"] |= texts
    told["nvml"] |= nvml
    try:
        found = judge(replay(told))
    except Unreadable:
        return
    capacity = capacity_of(found)
    assert 1 <= capacity.cpu_milli <= 8192 * 1000
    assert 0 <= capacity.mem_bytes < 2**53
    json.dumps(plain_of(found))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_a_recorded_machine_gives_a_node(path: Path) -> None:
    found = judge(replay(json.loads(path.read_text("utf-8"))))
    capacity = capacity_of(found)
    assert capacity.cpu_milli >= 1000
    assert capacity.mem_bytes > 2**30
    assert state_of(found, InventorySource.NVML) is SourceState.READ
    assert inventory_from(inventory_body(capacity)) == capacity


def test_the_recorded_h200_is_a_hopper() -> None:
    path = ROOT / "tests" / "vectors" / "agent" / "h200.json"
    if not path.exists():
        pytest.skip("no machine with an H200 has been recorded")
    found = judge(replay(json.loads(path.read_text("utf-8"))))
    (gpu,) = capacity_of(found).gpus
    assert gpu.generation is HardwareGeneration.NVIDIA_HOPPER
    assert gpu.model == "NVIDIA H200"
    assert gpu.vram_bytes > 130 * 2**30
    assert labels_of(found)["gpu_model"] == "NVIDIA-H200"

"""GPUs: what a driver says, what is believed of it, and which are joined."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.machine.fabric import Joint, name_fabrics
from bailiwick.agent.machine.gpus import GpuSet, GpuUnread, judge_gpus
from bailiwick.agent.machine.nvml import LINKS_MAX, GpuSource, NvmlGpus, RecordedGpus
from bailiwick.agent.words import GpuFault, MigMode, SourceState
from bailiwick.fleet.node import DEVICES_MAX, GpuDevice
from bailiwick.vocab.words import HardwareGeneration
from tests.support.simulated_nvml import GIB, NvmlError, SimulatedGpu, SimulatedNvml

GPU, SWITCH = 0, 2


def judged(*gpus: SimulatedGpu, **answers: Any) -> GpuSet:
    return judge_gpus(NvmlGpus(SimulatedNvml(*gpus, **answers)).read())


def fabrics(*gpus: SimulatedGpu) -> list[str]:
    return [gpu.fabric for gpu in judged(*gpus).gpus]


def test_a_gpu_is_read_with_its_generation_memory_and_names() -> None:
    found = judged(SimulatedGpu.numbered(1, name="NVIDIA H200", vram_bytes=141 * GIB))
    (gpu,) = found.gpus
    assert (found.state, found.driver, found.cuda) == (SourceState.READ, "580.159.03", "13.2")
    assert (gpu.model, gpu.generation) == ("NVIDIA H200", HardwareGeneration.NVIDIA_HOPPER)
    assert (gpu.vram_bytes, gpu.bus_id) == (141 * GIB, "0000:11:00.0")
    assert gpu.uuid == "GPU-00000001-0000-0000-0000-000000000000"
    assert (gpu.mig_mode, gpu.partitionable, gpu.capability) == (MigMode.DISABLED, False, "9.0")
    assert gpu.fabric == ""


def test_older_bindings_that_answer_in_bytes_are_understood() -> None:
    (gpu,) = judged(SimulatedGpu(name=b"Tesla T4", bus_id=b"00000000:1B:00.0")).gpus
    assert (gpu.model, gpu.bus_id) == ("Tesla T4", "0000:1b:00.0")


@pytest.mark.parametrize(
    ("mig", "mode", "partitionable"),
    [
        (None, MigMode.UNSUPPORTED, False),
        ((0, 0), MigMode.DISABLED, False),
        ((0, 1), MigMode.DISABLED, False),  # it will be, after a reset
        ((1, 1), MigMode.ENABLED, True),
        ((7, 0), MigMode.UNKNOWN, False),
        ((1,), MigMode.UNKNOWN, False),
    ],
)
def test_a_gpu_is_partitionable_only_if_mig_is_enabled_now(
    mig: object, mode: MigMode, partitionable: bool
) -> None:
    (gpu,) = judged(SimulatedGpu(mig=mig)).gpus
    assert (gpu.mig_mode, gpu.partitionable) == (mode, partitionable)


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (12, SourceState.DRIVER_MISSING),
        (9, SourceState.DRIVER_MISSING),
        (4, SourceState.NOT_PERMITTED),
        (18, SourceState.FAILED),
        ("x", SourceState.FAILED),
    ],
)
def test_a_driver_that_does_not_open_is_a_word_and_no_error(
    code: object, state: SourceState
) -> None:
    assert judged(init=NvmlError(code)) == GpuSet(state)


def test_a_missing_package_is_a_word_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert judge_gpus(NvmlGpus().read()) == GpuSet(SourceState.PACKAGE_MISSING)


def test_a_driver_without_gpus_says_so() -> None:
    found = judged()
    assert (found.state, found.gpus, found.driver) == (SourceState.NO_DEVICES, (), "580.159.03")
    assert judged(count=-3).state is SourceState.NO_DEVICES
    assert judged(count=NvmlError(999)).state is SourceState.FAILED


def test_the_library_is_closed_again_even_if_a_gpu_fails() -> None:
    library = SimulatedNvml(SimulatedGpu(answers={"name": RuntimeError("ctypes")}))
    NvmlGpus(library).read()
    assert not library.is_open


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ({"handle": NvmlError(15)}, GpuFault.GPU_LOST),
        ({"vram_bytes": NvmlError(15)}, GpuFault.GPU_LOST),
        ({"uuid": NvmlError(16)}, GpuFault.RESET_REQUIRED),
        ({"handle": NvmlError(4)}, GpuFault.NOT_PERMITTED),
        ({"name": NvmlError(999)}, GpuFault.FAILED),
        ({"bus_id": NvmlError("?")}, GpuFault.FAILED),
        ({"name": b"\xff"}, GpuFault.FAILED),
        ({"name": ""}, GpuFault.MALFORMED),
        ({"name": "x" * 97}, GpuFault.MALFORMED),
        ({"name": "a\x1b[2J"}, GpuFault.MALFORMED),
        ({"uuid": "GPU-1"}, GpuFault.MALFORMED),
        ({"uuid": "MIG-00000000-0000-0000-0000-000000000000"}, GpuFault.MALFORMED),
        ({"vram_bytes": -1}, GpuFault.MALFORMED),
        ({"vram_bytes": 0}, GpuFault.MALFORMED),
        ({"vram_bytes": 2**63}, GpuFault.MALFORMED),
        ({"bus_id": "../../etc"}, GpuFault.MALFORMED),
    ],
)
def test_a_gpu_that_cannot_be_is_named_with_its_fault_and_the_others_stay(
    answers: dict[str, Any], fault: GpuFault
) -> None:
    gpus = [SimulatedGpu.numbered(n) for n in range(3)]
    gpus[1].answers = answers
    found = judged(*gpus)
    assert [gpu.index for gpu in found.gpus] == [0, 2]
    assert found.unread == (GpuUnread(1, fault),)


def test_the_same_gpu_told_twice_counts_once() -> None:
    found = judged(SimulatedGpu.numbered(1), SimulatedGpu.numbered(1))
    assert (len(found.gpus), found.unread) == (1, (GpuUnread(1, GpuFault.MALFORMED),))


def test_more_gpus_than_a_node_can_have_are_told_and_left_out() -> None:
    found = judged(*(SimulatedGpu.numbered(n) for n in range(DEVICES_MAX + 2)))
    assert len(found.gpus) == DEVICES_MAX
    assert [unread.fault for unread in found.unread] == [GpuFault.BEYOND_LIMIT] * 2


def test_gpus_with_a_link_between_them_share_a_fabric_named_after_their_uuids() -> None:
    pair = (
        SimulatedGpu.numbered(0, links=((GPU, "00000000:11:00.0"),)),
        SimulatedGpu.numbered(1, links=((GPU, "00000000:10:00.0"),)),
    )
    alone = SimulatedGpu.numbered(2)
    first, second, third = fabrics(*pair, alone)
    assert first == second != ""
    assert third == ""
    assert fabrics(alone, *reversed(pair)) == ["", first, first]


def test_gpus_on_the_same_switch_are_joined_and_two_switches_are_two_fabrics() -> None:
    def on(number: int, switch: str) -> SimulatedGpu:
        return SimulatedGpu.numbered(number, links=((SWITCH, switch),) * 2)

    a, b, c, d = fabrics(
        on(0, "00000000:05:00.0"),
        on(1, "00000000:05:00.0"),
        on(2, "00000000:06:00.0"),
        on(3, "00000000:06:00.0"),
    )
    assert a == b
    assert c == d
    assert a != c


def test_switches_that_a_guest_cannot_see_are_one() -> None:
    first, second = fabrics(
        *(SimulatedGpu.numbered(n, links=((SWITCH, "hidden"),)) for n in range(2))
    )
    assert first == second != ""


def test_a_link_that_is_down_joins_nothing() -> None:
    gpus = [SimulatedGpu.numbered(n, links=((SWITCH, "00000000:05:00.0"),)) for n in range(2)]
    gpus[0].answers = {"active": 0}
    assert fabrics(*gpus) == ["", ""]


def test_a_recorded_link_that_is_down_joins_nothing_whatever_its_far_end() -> None:
    gpus = (SimulatedGpu.numbered(n, links=((SWITCH, "00000000:05:00.0"),)) for n in range(2))
    raw = json.loads(json.dumps(NvmlGpus(SimulatedNvml(*gpus)).read()))
    raw["devices"][0]["links"][0]["active"] = 0
    assert [gpu.fabric for gpu in judge_gpus(raw).gpus] == ["", ""]


def test_a_clique_of_a_cluster_has_one_name_on_every_machine() -> None:
    cluster = bytes(range(16))
    here = fabrics(SimulatedGpu.numbered(0, cluster=cluster, clique=3))
    there = fabrics(SimulatedGpu.numbered(9, cluster=cluster, clique=3))
    other = fabrics(SimulatedGpu.numbered(9, cluster=cluster, clique=4))
    assert here == there != other
    assert here != [""]


def test_no_more_links_are_asked_for_than_nvml_numbers() -> None:
    gpu = SimulatedGpu(links=((SWITCH, "00000000:05:00.0"),) * (LINKS_MAX + 5))
    (device,) = NvmlGpus(SimulatedNvml(gpu)).read()["devices"]
    assert len(device["links"]) == LINKS_MAX


def test_what_was_read_survives_json_and_is_judged_the_same() -> None:
    gpu = SimulatedGpu(links=((GPU, "00000000:11:00.0"),), answers={"mig": NvmlError(3)})
    raw = NvmlGpus(SimulatedNvml(gpu)).read()
    source: GpuSource = RecordedGpus(json.loads(json.dumps(raw)))
    assert judge_gpus(source.read()) == judge_gpus(raw)


def test_the_real_binding_has_every_function_that_is_called() -> None:
    pynvml = pytest.importorskip("pynvml")
    called = [name for name in dir(SimulatedNvml) if name.startswith(("nvml", "c_nvml"))]
    assert len(called) > 15
    assert [name for name in called if not hasattr(pynvml, name)] == []
    assert pynvml.NVML_NVLINK_MAX_LINKS == LINKS_MAX
    told = {name for name, _ in pynvml.c_nvmlGpuFabricInfoV_t._fields_}
    assert {"clusterUuid", "status", "cliqueId", "state"} <= told


def test_being_joined_passes_on() -> None:
    names = name_fabrics(
        [
            Joint("GPU-a", "a", links=("b",)),
            Joint("GPU-b", "b"),
            Joint("GPU-c", "c", links=("b",)),
        ]
    )
    assert len(set(names.values())) == 1


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text(max_size=12),
    st.binary(max_size=12),
)
ERRORS = st.sampled_from([3, 4, 15, 16, 999, -1, "x", None]).map(NvmlError)
ANSWERS = st.one_of(
    SCALARS, ERRORS, st.builds(RuntimeError), st.lists(SCALARS, max_size=3), st.just((1, 1))
)
OF_A_GPU = ("handle", "name", "uuid", "vram_bytes", "bus_id", "mig", "capability")
OF_A_LINK = ("fabric", "active", "remote_type", "remote_bus_id")


def assert_bounds(found: GpuSet) -> None:
    assert len(found.gpus) <= DEVICES_MAX
    assert len({gpu.uuid for gpu in found.gpus}) == len(found.gpus)
    for gpu in found.gpus:
        GpuDevice(gpu.generation, gpu.vram_bytes, gpu.model, gpu.fabric, gpu.partitionable)
        assert gpu.vram_bytes > 0
        assert gpu.model.isprintable()


@given(
    st.dictionaries(st.sampled_from(("init", "driver", "cuda", "nvml", "count")), ANSWERS),
    st.lists(st.dictionaries(st.sampled_from((*OF_A_GPU, *OF_A_LINK)), ANSWERS), max_size=3),
)
def test_whatever_the_driver_says_nothing_is_raised_and_bounds_hold(
    system: dict[str, Any], devices: list[dict[str, Any]]
) -> None:
    gpus = [
        SimulatedGpu.numbered(n, answers=answers, links=((GPU, "00000000:10:00.0"),))
        for n, answers in enumerate(devices)
    ]
    assert_bounds(judged(*gpus, **system))


JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(("state", "devices", *OF_A_GPU, "links", *OF_A_LINK, "errors")),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(JSON, st.lists(JSON, max_size=3))
def test_whatever_a_recording_says_nothing_is_raised_and_bounds_hold(
    raw: Any, devices: list[Any]
) -> None:
    assert_bounds(judge_gpus(raw))
    assert_bounds(judge_gpus({"state": "read", "devices": devices, "driver": raw, "cuda": raw}))

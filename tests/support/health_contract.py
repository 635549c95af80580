"""What we rely on when we look at a GPU and burn it in: the same claims for stand-ins and drivers.

Each claim is a function of a machine (its NVML, its CUDA, the number of a GPU that nobody uses, and
a way to have a program fault there). A claim that does not hold is an ``AssertionError`` that says
what was seen. Nothing here needs more than the standard library.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bailiwick.agent.health.burn import BLOCKS_EACH, PASSES, THREADS, BurnState, burn
from bailiwick.agent.health.cuda import Cuda, CudaRefused
from bailiwick.agent.health.judge import HealthMemory, HealthReadings, judge_health
from bailiwick.agent.health.kernels import CHAINS, CLASSES, PTX, ROUNDS, expected_chains
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.xids import level_of
from bailiwick.agent.machine.health import NvmlHealth
from bailiwick.vocab.health import HealthLevel

NOBODY = "GPU-00000000-1111-2222-3333-444444444444"
NONSENSE = """.version 6.0
.target sm_70
.address_size 64
.visible .entry x() { nonsense; }
"""
SLACK_BYTES = 64 << 20
"""What a driver may keep for itself."""


@dataclass(frozen=True)
class Machine:
    """One machine with a GPU to try things on; ``nvml`` and ``cuda`` are libraries."""

    nvml: Any
    cuda: Any
    index: int = 0
    memory_bytes: int = 1 << 20
    """How much of its memory to try."""
    clock: Callable[[], float] = time.monotonic
    fault: Callable[[str], None] = lambda uuid: None
    """Have a program of another process touch memory that is not its own."""
    fault_xids: frozenset[int] = frozenset({31})
    """What the driver says to that."""

    @property
    def uuid(self) -> str:
        """The GPU's name."""
        source = NvmlHealth(self.nvml)
        try:
            return str(source.read()["devices"][self.index]["uuid"])
        finally:
            source.close()


Claim = Callable[[Machine], None]


def every_gpu_tells_what_is_judged(machine: Machine) -> None:
    """A name, a temperature below the one at which it slows down, and nothing but plain values."""
    source = NvmlHealth(machine.nvml)
    told = source.read()
    source.close()
    json.dumps(told)
    assert told["state"] == "read", told
    for device in told["devices"]:
        assert device["uuid"][:4] == "GPU-", device
        assert len(device["uuid"]) == 40, device
        assert 0 < device["temperature"] < device["slowdown"] < 150, device
        assert device["throttle"] >= 0, device
        assert all(type(code) is int for code in device["errors"].values()), device


def memory_errors_are_told(machine: Machine) -> None:
    """Errors that could not be corrected, and rows that were replaced or are to be."""
    source = NvmlHealth(machine.nvml)
    device = source.read()["devices"][machine.index]
    source.close()
    assert device["ecc_uncorrected"] >= 0, device
    assert len(device["remapped"]) == 4, device


def xids_are_watched(machine: Machine) -> None:
    """The driver keeps its reports for us, and has none yet."""
    source = NvmlHealth(machine.nvml)
    first, second = source.read(), source.read()
    source.close()
    for told in (first, second):
        assert told["errors"] == {}, told["errors"]
        assert told["xids"] == [], told["xids"]


def a_sound_machine_has_no_finding(machine: Machine) -> None:
    """Looked at three times, nothing is wrong with it."""
    source, memory = NvmlHealth(machine.nvml), HealthMemory()
    for at_ms in (1_000, 2_000, 3_000):
        readings = HealthReadings(source.read(), at_ms=at_ms)
        findings, memory = judge_health(readings, HealthLimits(), memory=memory)
        assert findings == (), findings
    source.close()


def whoever_lets_go_can_look_again(machine: Machine) -> None:
    """Closed twice, and opened again."""
    source = NvmlHealth(machine.nvml)
    before = len(source.read()["devices"])
    source.close()
    source.close()
    assert len(source.read()["devices"]) == before
    source.close()


def nobody_computes_on_an_idle_gpu(machine: Machine) -> None:
    """Processes are counted; of a GPU that is not there nothing is told."""
    uuid = machine.uuid
    assert NvmlHealth(machine.nvml).busy([uuid, NOBODY]) == {uuid: 0, NOBODY: None}


def whoever_computes_is_seen(machine: Machine) -> None:
    """A process with a context on a GPU is counted, until it lets go. Only of a real machine."""
    uuid, source = machine.uuid, NvmlHealth(machine.nvml)
    cuda = Cuda(machine.cuda)
    device = cuda.find(uuid)
    assert device is not None
    with cuda.context(device):
        assert source.busy([uuid])[uuid] == 1, source.busy([uuid])
    assert source.busy([uuid])[uuid] == 0, source.busy([uuid])


def a_sound_gpu_burns_in(machine: Machine) -> None:
    """It computes rightly, and its memory keeps what it is given."""
    report = burn(
        machine.cuda,
        machine.uuid,
        seconds=1.0,
        memory_bytes=machine.memory_bytes,
        clock=machine.clock,
    )
    assert report.state is BurnState.DONE, report
    assert report.wrong == 0, report
    assert report.launches >= 3, report
    assert report.memory_bytes == machine.memory_bytes, report


def a_wrong_result_is_counted(machine: Machine) -> None:
    """Given one wrong expectation, exactly the threads that compute it find it wrong."""
    with opened(machine) as (cuda, module, blocks):
        chains = list(expected_chains())
        chains[3] ^= 1
        with cuda.memory(4 * CHAINS) as expected, cuda.memory(16) as counters:
            cuda.write(expected, chains)
            cuda.write(counters, [0, 0, 0, 0])
            given = [expected, counters, ctypes.c_uint32(PASSES), ctypes.c_uint32(ROUNDS)]
            function = cuda.function(module, "bw_compute")
            cuda.launch(function, given, blocks=blocks, threads=THREADS)
            wrong, _, ended, _ = cuda.read(counters, 4)
    assert ended == blocks * THREADS, (ended, blocks)
    assert wrong == blocks * THREADS // CLASSES * PASSES // (CHAINS // CLASSES), wrong


def a_word_that_changed_is_counted(machine: Machine) -> None:
    """One word of memory that is not what was written is found, and no other."""
    size = machine.memory_bytes
    words, salt, flip = ctypes.c_uint64(size // 4), ctypes.c_uint32(7), ctypes.c_uint32(0)
    with opened(machine) as (cuda, module, blocks):
        fill, check = (cuda.function(module, name) for name in ("bw_fill", "bw_check"))
        with cuda.memory(size) as memory, cuda.memory(16) as counters:
            cuda.launch(fill, [memory, words, salt, flip], blocks=blocks, threads=THREADS)
            place = ctypes.c_uint64(memory.value + size // 2)
            cuda.write(place, [cuda.read(place, 1)[0] ^ 1 << 17])
            cuda.write(counters, [0, 0, 0, 0])
            given = [memory, words, salt, flip, counters]
            cuda.launch(check, given, blocks=blocks, threads=THREADS)
            assert cuda.read(counters, 4) == [1, 0, blocks * THREADS, 0], cuda.read(counters, 4)


def what_is_taken_is_given_back(machine: Machine) -> None:
    """After burn-ins, and after refusals, as much memory is free as before."""
    uuid = machine.uuid

    def free() -> int:
        with opened(machine) as (cuda, _, _):
            return cuda.free_bytes()

    before = free()
    for _ in range(3):
        burn(
            machine.cuda,
            uuid,
            seconds=0.0,
            memory_bytes=machine.memory_bytes,
            clock=machine.clock,
        )
        with opened(machine) as (cuda, _, _):
            refused = refusal(lambda cuda=cuda: cuda.memory(1 << 50).__enter__())
            assert refused == 2, refused
    assert abs(free() - before) <= SLACK_BYTES, (free(), before)


def code_that_is_none_is_refused(machine: Machine) -> None:
    """What is no code, what is wrong code, and an entry that is not there have numbers each."""
    cuda = Cuda(machine.cuda)
    device = cuda.find(machine.uuid)
    assert device is not None
    with cuda.context(device):
        assert refusal(lambda: cuda.module("no code\n").__enter__()) == 200
        assert refusal(lambda: cuda.module(NONSENSE).__enter__()) == 218
        with cuda.module(PTX) as module:
            assert refusal(lambda: cuda.function(module, "bw_nothing")) == 500


def a_gpu_that_is_not_there_is_not_found(machine: Machine) -> None:
    """Nothing is burnt in for a name that no GPU has."""
    report = burn(machine.cuda, NOBODY, seconds=0.0, memory_bytes=0, clock=time.monotonic)
    assert report.state is BurnState.NOT_FOUND, report


def a_programs_own_fault_is_told_and_is_no_finding(machine: Machine) -> None:
    """A program that touches what is not its own is reported by the driver, and no more."""
    uuid, source = machine.uuid, NvmlHealth(machine.nvml)
    source.read()
    machine.fault(uuid)
    told: list[Any] = []
    for _ in range(20):
        told += source.read()["xids"]
        if told:
            break
        time.sleep(0.25)
    assert told, "the driver reported nothing"
    assert {each[0] for each in told} == {uuid}, told
    assert {each[1] for each in told} & machine.fault_xids, told
    assert all(level_of(number) is not HealthLevel.FAIL for _, number in told), told
    gpus = {**source.read(), "xids": told}
    findings, _ = judge_health(HealthReadings(gpus), HealthLimits(), memory=HealthMemory())
    source.close()
    assert not [each for each in findings if each.level is HealthLevel.FAIL], findings


CLAIMS: tuple[Claim, ...] = (
    every_gpu_tells_what_is_judged,
    memory_errors_are_told,
    xids_are_watched,
    a_sound_machine_has_no_finding,
    whoever_lets_go_can_look_again,
    nobody_computes_on_an_idle_gpu,
    a_sound_gpu_burns_in,
    a_wrong_result_is_counted,
    a_word_that_changed_is_counted,
    what_is_taken_is_given_back,
    code_that_is_none_is_refused,
    a_gpu_that_is_not_there_is_not_found,
    a_programs_own_fault_is_told_and_is_no_finding,
)

REAL_CLAIMS: tuple[Claim, ...] = (*CLAIMS, whoever_computes_is_seen)
"""Those of a machine where NVML and CUDA speak of the same GPU."""


@contextmanager
def opened(machine: Machine) -> Iterator[tuple[Cuda, ctypes.c_void_p, int]]:
    """A context with our code on the machine's GPU, and how many blocks it takes."""
    cuda = Cuda(machine.cuda)
    device = cuda.find(machine.uuid)
    assert device is not None
    with cuda.context(device), cuda.module(PTX) as module:
        yield cuda, module, BLOCKS_EACH * cuda.processors(device)


def refusal(call: Callable[[], object]) -> int | None:
    """CUDA's number with which it refuses; nothing if it does not."""
    try:
        call()
    except CudaRefused as refused:
        return refused.code
    return None

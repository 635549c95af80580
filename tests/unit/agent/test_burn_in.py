"""GPUs are burnt in by processes of their own, which may find anything, or never end."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from bailiwick.agent.health.burn import BurnReport, BurnState, burn, main
from bailiwick.agent.health.burn_in import BurnIn, BurnInGpu
from bailiwick.agent.health.kernels import CHAINS, WORD, compute, expected_chains, word_at
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.once import HealthLook, look_once
from bailiwick.agent.machine.health import NvmlHealth
from bailiwick.vocab.health import HealthFinding, HealthLevel
from tests.support.simulated_health import CheckedGpu, SimulatedCuda, SimulatedHealth

UUID = "GPU-00112233-4455-6677-8899-aabbccddeeff"
GPU = BurnInGpu(2, UUID)
FAIL, WARN = HealthLevel.FAIL, HealthLevel.WARN


def burnt(cuda: SimulatedCuda | None, seconds: float = 2.0) -> BurnReport:
    clock = map(float, itertools.count()).__next__
    return burn(cuda, UUID, seconds=seconds, memory_bytes=1 << 20, clock=clock)


def child(code: str, seconds: int = 1, start_s: float = 60.0) -> tuple[HealthFinding, ...]:
    """What is found when the process of a burn-in is this program."""
    command = (sys.executable, "-c", "import sys, os, time\n" + code)
    return BurnIn(seconds, 1 << 20, command, start_s).run([GPU], threading.Event())


def printing(report: BurnReport) -> str:
    return f"print({json.dumps(asdict(report))!r})"


def test_a_sound_gpu_computes_rightly_until_the_time_is_over() -> None:
    cuda = SimulatedCuda(UUID)
    assert burnt(cuda) == BurnReport(BurnState.DONE, 0, 4, 1 << 20)
    assert cuda.held == []


def test_one_wrong_chain_is_found_by_every_thread_that_computes_it() -> None:
    cuda = SimulatedCuda(UUID)
    cuda.wrong_chains = {100}
    assert burnt(cuda, seconds=0.0).wrong == 1024 // 64 * 64 // 8


def test_a_bit_that_sticks_is_found_by_one_of_two_patterns() -> None:
    cuda = SimulatedCuda(UUID)
    cuda.stuck = 100_000
    assert burnt(cuda).wrong == 1


def test_a_gpu_that_cannot_compare_is_found_by_the_first_and_last_words() -> None:
    class Blind(SimulatedCuda):
        """Never counts anything wrong."""

        def _count(self, counters: int, wrong: int, threads: int) -> None:
            super()._count(counters, 0, threads)

    cuda = Blind(UUID)
    cuda.stuck = 3
    assert burnt(cuda).wrong == 1


def test_threads_that_do_not_end_are_wrong() -> None:
    class Lazy(SimulatedCuda):
        """Half of its threads never come to their end."""

        def _count(self, counters: int, wrong: int, threads: int) -> None:
            super()._count(counters, wrong, threads // 2)

    assert burnt(Lazy(UUID), seconds=0.0).wrong == 3 * 512


def test_without_cuda_nothing_is_tested() -> None:
    assert burnt(None) == BurnReport(BurnState.NO_LIBRARY)


def test_a_gpu_with_little_memory_free_is_tried_with_what_it_has() -> None:
    cuda = SimulatedCuda(UUID, free_bytes=1 << 20)
    assert burnt(cuda, seconds=0.0).memory_bytes == 0


CALLS = [
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetUuid",
    "cuDeviceGetAttribute",
    "cuCtxCreate",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuMemGetInfo",
    "cuMemAlloc",
    "cuMemcpyHtoD",
    "cuMemcpyDtoH",
    "cuLaunchKernel",
    "cuCtxSynchronize",
]


@pytest.mark.parametrize("call", CALLS)
def test_whatever_call_is_refused_is_told_and_all_is_given_back(call: str) -> None:
    cuda = SimulatedCuda(UUID, **{call: 719})
    report = burnt(cuda)
    assert (report.state, report.code) == (BurnState.REFUSED, 719)
    assert report.call.removesuffix("_v2") == call
    assert cuda.held == []


@pytest.mark.parametrize("call", ["cuMemFree", "cuModuleUnload", "cuCtxDestroy"])
def test_what_is_not_taken_back_is_told(call: str) -> None:
    report = burnt(SimulatedCuda(UUID, **{call: 700}))
    assert (report.state, report.code) == (BurnState.REFUSED, 700)


@pytest.mark.parametrize(
    ("report", "level", "value", "code"),
    [
        (BurnReport(BurnState.DONE, wrong=7), FAIL, 7, 0),
        (BurnReport(BurnState.NOT_FOUND), FAIL, 1, 100),
        (BurnReport(BurnState.REFUSED, call="cuLaunchKernel", code=719), FAIL, 1, 719),
        (BurnReport(BurnState.REFUSED, call="cuMemAlloc_v2", code=2), WARN, 1, 2),
        (BurnReport(BurnState.REFUSED, call="cuCtxCreate_v2", code=46), WARN, 1, 46),
    ],
)
def test_what_a_report_says_of_a_gpu(
    report: BurnReport, level: HealthLevel, value: int, code: int
) -> None:
    (found,) = child(printing(report))
    assert (found.level, found.gpu, found.value, found.code) == (level, 2, value, code)


@pytest.mark.parametrize("state", [BurnState.DONE, BurnState.NO_LIBRARY])
def test_what_is_fine_or_cannot_be_tested_is_no_finding(state: BurnState) -> None:
    assert child(printing(BurnReport(state))) == ()


@pytest.mark.parametrize(
    "code",
    [
        "print('no report')",
        "print('[]')",
        "print('{}')",
        'print(\'{"state": "done", "wrong": -1}\')',
        "print('x' * 10_000)",
        "os.abort()",
        "sys.exit(3)",
    ],
)
def test_a_process_that_says_nothing_of_use_met_something_unknown(code: str) -> None:
    (found,) = child(code)
    assert (found.level, found.code) == (FAIL, 999)


def test_a_process_that_never_ends_is_ended() -> None:
    (found,) = child("time.sleep(600)", start_s=0.0)
    assert (found.level, found.code) == (FAIL, 702)


def test_a_burn_in_that_is_stopped_is_not_waited_for() -> None:
    stop = threading.Event()
    stop.set()
    assert (
        BurnIn(1, 1, (sys.executable, "-c", "import time; time.sleep(600)")).run([GPU], stop) == ()
    )


def test_a_gpu_in_use_is_left_alone_and_told() -> None:
    burn_in = BurnIn(1, 1 << 20, ("/nonexistent",))
    gpus = [BurnInGpu(0, UUID, processes=1), BurnInGpu(1, UUID, processes=None)]
    found = burn_in.run(gpus, threading.Event())
    assert [(each.level, each.gpu, each.code) for each in found] == [(WARN, 0, 46), (WARN, 1, 46)]


def test_a_gpu_that_came_into_use_while_another_was_burnt_in_is_left_alone(
    tmp_path: Path,
) -> None:
    ran = tmp_path / "ran"
    code = f"import sys; open({str(ran)!r}, 'a').write(sys.argv[1])\n"
    code += printing(BurnReport(BurnState.DONE))
    in_use: dict[str, int | None] = {"GPU-0": 0, "GPU-1": 0, "GPU-2": 0}

    def busy(uuids: Sequence[str]) -> dict[str, int | None]:
        found = {uuid: in_use[uuid] for uuid in uuids}
        in_use.update({"GPU-1": 1, "GPU-2": None})  # while the first one is burnt in
        return found

    burn_in = BurnIn(1, 1 << 20, (sys.executable, "-c", code), busy=busy)
    found = burn_in.run([BurnInGpu(at, f"GPU-{at}") for at in range(3)], threading.Event())
    assert [(each.level, each.gpu, each.code) for each in found] == [(WARN, 1, 46), (WARN, 2, 46)]
    assert ran.read_text() == "GPU-0"


def test_one_look_burns_idle_gpus_in_only_if_asked_and_lets_go_of_them(tmp_path: Path) -> None:
    gpus = CheckedGpu(uuid="GPU-aaaa"), CheckedGpu(uuid="GPU-bbbb", computing=[17])
    library = SimulatedHealth(*gpus)
    burner = BurnIn(1, 1, (sys.executable, "-c", printing(BurnReport(BurnState.DONE, wrong=3))))

    def look(*, burn_in: bool) -> HealthLook:
        source = NvmlHealth(library)
        return look_once(tmp_path, HealthLimits(), burn_in=burn_in, gpus=source, burner=burner)

    assert (look(burn_in=False).burnt, look(burn_in=False).findings) == (0, ())
    found = look(burn_in=True)
    assert (found.gpus, found.burnt) == (2, 1)
    told = [(each.level, each.gpu, each.value, each.code) for each in found.findings]
    assert told == [(FAIL, 0, 3, 0), (WARN, 1, 1, 46)]
    assert (library.opened, library.sets) == (0, 0)


def test_no_time_is_no_burn_in() -> None:
    assert BurnIn(0, 1, ("/nonexistent",)).run([GPU], threading.Event()) == ()


def test_a_process_that_cannot_be_begun_has_tested_nothing_and_fails() -> None:
    (found,) = BurnIn(1, 1, ("/nonexistent",)).run([GPU], threading.Event())
    assert (found.level, found.gpu, found.code) == (FAIL, 2, 999)


def test_the_process_sees_its_one_gpu_and_writes_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    note = tmp_path / "seen"
    child(
        f"open({str(note)!r}, 'w').write(repr((sys.argv[1:], sorted((key, value) for key, value"
        " in os.environ.items() if key.startswith('CUDA_')))))"
    )
    seen = [("CUDA_CACHE_DISABLE", "1"), ("CUDA_VISIBLE_DEVICES", UUID)]
    assert note.read_text() == repr(([UUID, "1", str(1 << 20)], seen))


def test_the_real_process_says_that_there_is_no_cuda_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("there is a GPU here")
    assert main([UUID, "1", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] in ("no_library", "refused")
    assert BurnIn(1, 1).run([GPU], threading.Event()) == ()


def test_chains_differ_and_stay_within_what_floats_hold() -> None:
    assert len({*expected_chains()}) == CHAINS
    word = compute(5, rounds=1)
    assert 0 <= word <= WORD


def test_every_place_of_memory_has_a_word_of_its_own_and_an_opposite() -> None:
    places = [0, 1, 2**32, 2**32 + 1, 2**33]
    words = [word_at(at, salt=1, flip=0) for at in places]
    assert len({*words}) == len(places)
    assert [word_at(at, salt=1, flip=WORD) for at in places] == [word ^ WORD for word in words]

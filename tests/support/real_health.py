"""Tells what the real drivers of this machine say of its health, and whether a GPU burns in.

    PYTHONPATH=src python3 -m tests.support.real_health [GPU]

It needs nvidia-ml-py and this repository, and nothing else. The GPU must be idle; it is made to
compute for some seconds, and one program is made to fault on it. What comes out is one line of JSON
for each fact and each claim of :mod:`tests.support.health_contract`. The exit status is 1 if one
does not hold, and 2 if there is no GPU to try (that is told, with what the driver said).
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bailiwick.agent.health.burn import THREADS, burn
from bailiwick.agent.health.burn_in import BurnIn, BurnInGpu
from bailiwick.agent.health.cuda import Cuda, CudaRefused, load_cuda
from bailiwick.agent.health.judge import HealthMemory, HealthReadings, judge_health
from bailiwick.agent.health.kernels import PTX
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.machine.health import DiskProbe, NvmlHealth
from tests.support.health_contract import REAL_CLAIMS, Machine

MEMORY_BYTES = 4 << 30


def main(arguments: list[str]) -> int:
    """Facts first, then the claims."""
    if arguments[:1] == ["--fault"]:
        return have_a_fault(arguments[1])
    index = int(arguments[0]) if arguments else 0
    try:
        import pynvml as library
    except ImportError:
        say("nvml", "nvidia-ml-py is not installed")
        return 2
    cuda = load_cuda()
    say("libcuda", cuda is not None)
    told = NvmlHealth(library).read()
    say("readings", told)
    if cuda is None or not told.get("devices"):
        return 2
    tell_facts(library, cuda, index)
    machine = Machine(library, cuda, index=index, memory_bytes=MEMORY_BYTES, fault=fault_elsewhere)
    broken = 0
    for claim in REAL_CLAIMS:
        began = time.monotonic()
        try:
            claim(machine)
            say(claim.__name__, f"holds ({time.monotonic() - began:.2f} s)")
        except Exception as error:  # whatever a driver does is what is to be told
            broken += 1
            say(claim.__name__, f"DOES NOT HOLD: {type(error).__name__}: {error}")
    return 1 if broken else 0


def tell_facts(library: Any, cuda: Any, index: int) -> None:
    """What is said before anything is claimed."""
    source = NvmlHealth(library)
    device = source.read()["devices"][index]
    began = time.monotonic()
    readings = HealthReadings(source.read(), DiskProbe(Path("/tmp")).read(), at_ms=1)
    say("a_look_took_ms", round(1000 * (time.monotonic() - began), 1))
    source.close()
    findings, _ = judge_health(readings, HealthLimits(), memory=HealthMemory())
    say("findings", [asdict(each) for each in findings])
    say("disks", list(readings.disks))
    uuid = device["uuid"]
    began = time.monotonic()
    for seconds, size in ((0.0, 1 << 30), (5.0, 16 << 30)):
        say(
            f"burn {seconds} s, {size >> 30} GiB",
            lambda seconds=seconds, size=size: asdict(
                burn(cuda, uuid, seconds=seconds, memory_bytes=size, clock=time.monotonic)
            ),
        )
        say("took_s", round(time.monotonic() - began, 2))
    began = time.monotonic()
    gpu = BurnInGpu(0, uuid, NvmlHealth(library).busy([uuid])[uuid])
    say("processes", gpu.processes)
    found = BurnIn(3, MEMORY_BYTES).run([gpu], threading.Event())
    say("burn_in_by_process", [asdict(each) for each in found])
    say("took_s", round(time.monotonic() - began, 2))


def fault_elsewhere(uuid: str) -> None:
    """Have another process touch memory that is not its own."""
    command = [sys.executable, "-m", "tests.support.real_health", "--fault", uuid]
    done = subprocess.run(command, check=False, timeout=120, capture_output=True, text=True)
    say("fault", done.stdout.strip() or done.stderr.strip()[-500:])


def have_a_fault(uuid: str) -> int:
    """Write to where no memory is; the driver's answer."""
    cuda = Cuda(load_cuda())
    device = cuda.find(uuid)
    if device is None:
        return 2
    nowhere, words = ctypes.c_uint64(1 << 44), ctypes.c_uint64(1024)
    nothing = ctypes.c_uint32(0)
    try:
        with cuda.context(device), cuda.module(PTX) as module:
            fill = cuda.function(module, "bw_fill")
            cuda.launch(fill, [nowhere, words, nothing, nothing], blocks=1, threads=THREADS)
    except CudaRefused as refused:
        sys.stdout.write(f"{refused}\n")
    return 0


def say(name: str, value: Any | Callable[[], Any]) -> None:
    """One fact; what a driver refuses is a fact, too."""
    try:
        told = value() if callable(value) else value
    except Exception as error:  # whatever a driver does is what is to be told
        told = f"refused: {type(error).__name__}: {error}"
    sys.stdout.write(json.dumps({name: told}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

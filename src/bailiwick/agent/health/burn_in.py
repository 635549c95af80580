"""Burns GPUs in, each in a process of its own, and says what is wrong with them.

Rules:

- A GPU that a process uses, or of which nobody knows, is left alone: it is told as not tested, and
  that warns. It is asked again just before: others were burnt in first, and that takes its time.
  One that is divided (MIG), or a machine without CUDA, is not tested, and not told.
- A driver that hangs takes its process with it, not the agent: the process is ended after the time
  that it was given and some more. One that cannot even be ended is left behind.
- What a process says is read up to a bound, and believed only if it is a report.
- A process that cannot be started has proven nothing: the GPU fails, as by one that breaks off.
- One GPU after the other, until somebody says stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.agent.health.burn import BurnReport, BurnState
from bailiwick.agent.health.cuda import (
    DEVICE_UNAVAILABLE,
    LAUNCH_TIMEOUT,
    NO_DEVICE,
    OUT_OF_MEMORY,
    UNKNOWN,
)
from bailiwick.vocab.health import NUMBER_MAX, HealthCheck, HealthFinding, HealthLevel

COMMAND: Final = (sys.executable, "-m", "bailiwick.agent.health.burn")
START_S: Final = 60.0
"""What a process may take beside its burn-in: to start, to open the driver, to translate code."""
END_S: Final = 5.0
LOOK_S: Final = 0.2
REPORT_BYTES_MAX: Final = 4_096
_UNTESTED: Final = (DEVICE_UNAVAILABLE, OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class BurnInGpu:
    """A GPU to burn in: its place in the inventory, and how many processes compute on it."""

    place: int
    uuid: str
    processes: int | None = 0


@dataclass(slots=True)
class BurnIn:
    """Burns GPUs in; ``command`` is what is started for each, with a UUID, seconds and bytes.

    ``busy`` tells how many processes compute on each now.
    """

    seconds: int
    memory_bytes: int
    command: Sequence[str] = COMMAND
    start_s: float = START_S
    busy: Callable[[Sequence[str]], dict[str, int | None]] | None = None

    def run(self, gpus: Sequence[BurnInGpu], stop: threading.Event) -> tuple[HealthFinding, ...]:
        """What is wrong with these GPUs."""
        found: list[HealthFinding] = []
        for gpu in gpus if self.seconds else ():
            if stop.is_set():
                break
            if not self._is_idle(gpu):
                found.append(_finding(gpu, HealthLevel.WARN, code=DEVICE_UNAVAILABLE))
                continue
            finding = judge_burn(gpu, self._burn(gpu.uuid, stop))
            found += [] if finding is None else [finding]
        return tuple(found)

    def _is_idle(self, gpu: BurnInGpu) -> bool:
        if gpu.processes != 0 or self.busy is None:
            return gpu.processes == 0
        return self.busy([gpu.uuid]).get(gpu.uuid) == 0

    def _burn(self, uuid: str, stop: threading.Event) -> BurnReport:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("CUDA_")},
            "CUDA_VISIBLE_DEVICES": uuid,
            "CUDA_CACHE_DISABLE": "1",
        }
        asked = [*self.command, uuid, str(self.seconds), str(self.memory_bytes)]
        try:
            child = subprocess.Popen(
                asked,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:  # it could not even be begun: that is no machine without CUDA
            return BurnReport(BurnState.REFUSED, call="process", code=UNKNOWN)
        looks = int((self.start_s + self.seconds) / LOOK_S) + 1
        for _ in range(looks):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_S)
                return _report(child)
            if stop.is_set():
                break
        return _ended(child)


def judge_burn(gpu: BurnInGpu, report: BurnReport) -> HealthFinding | None:
    """What a report says of a GPU; nothing if all is well, or it could not be tested."""
    match report.state:
        case BurnState.NO_LIBRARY:
            return None
        case BurnState.NOT_FOUND:
            return _finding(gpu, HealthLevel.FAIL, code=NO_DEVICE)
        case BurnState.REFUSED:
            level = HealthLevel.WARN if report.code in _UNTESTED else HealthLevel.FAIL
            return _finding(gpu, level, code=report.code)
        case BurnState.DONE:
            if report.wrong == 0:
                return None
            return _finding(gpu, HealthLevel.FAIL, value=report.wrong)


def _finding(gpu: BurnInGpu, level: HealthLevel, *, value: int = 1, code: int = 0) -> HealthFinding:
    value = min(value, NUMBER_MAX)
    return HealthFinding(HealthCheck.BURN_IN, level, gpu.place, value, 0, code)


def _report(child: subprocess.Popen[bytes]) -> BurnReport:
    """What a process said; one that says nothing of use has met something unknown."""
    assert child.stdout is not None
    with child.stdout as pipe:
        text = pipe.read(REPORT_BYTES_MAX)
    try:
        return report_of(json.loads(text))
    except (ValueError, TypeError, KeyError):
        return BurnReport(BurnState.REFUSED, call="process", code=UNKNOWN)


def report_of(plain: Mapping[str, Any]) -> BurnReport:
    """A report as it was written; an error if it is none."""
    state = BurnState(plain["state"])
    numbers = {name: plain[name] for name in ("wrong", "launches", "memory_bytes", "code")}
    if any(type(value) is not int or not 0 <= value <= 2**63 for value in numbers.values()):
        raise ValueError(f"not the numbers of a report: {numbers}")
    return BurnReport(state, call=str(plain["call"])[:64], **numbers)


def _ended(child: subprocess.Popen[bytes]) -> BurnReport:
    """End a process that takes too long; it may be stuck in the driver for good."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(END_S)
    if child.stdout is not None:
        child.stdout.close()
    return BurnReport(BurnState.REFUSED, call="process", code=LAUNCH_TIMEOUT)

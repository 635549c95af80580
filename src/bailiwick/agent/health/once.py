"""One look at this machine, for whoever stands in front of it: no server, nothing remembered."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bailiwick.agent.health.burn_in import BurnIn
from bailiwick.agent.health.cuda import DEVICE_UNAVAILABLE
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.watching import Findings, GpuWatch, HealthWatch
from bailiwick.agent.machine.health import DiskProbe, NvmlHealth
from bailiwick.agent.words import SourceState

HEALTH_SCHEMA: Final = "bailiwick.agent.health/1"


@dataclass(frozen=True, slots=True)
class HealthLook:
    """What was found, and of how much."""

    state: SourceState
    """How asking for GPUs went."""
    gpus: int
    burnt: int
    """GPUs that computed for a while; those in use and divided ones did not."""
    findings: Findings

    def plain(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        found = [asdict(each) for each in self.findings]
        told = {"gpus": self.gpus, "burnt": self.burnt, "findings": found}
        return {"schema": HEALTH_SCHEMA, "state": self.state.value, **told}


def look_once(
    block_path: Path,
    limits: HealthLimits,
    *,
    burn_in: bool = False,
    gpus: GpuWatch | None = None,
    burner: BurnIn | None = None,
) -> HealthLook:
    """Look at the machine, and with ``burn_in`` have its idle GPUs compute first."""
    source = gpus or NvmlHealth()
    watch = HealthWatch(
        source,
        DiskProbe(block_path).read,
        lambda: None,
        lambda: time.monotonic_ns() // 1_000_000,
        lambda _: None,
        limits=limits,
    )
    try:
        watch.look()
        found: Findings = ()
        burnt = 0
        if burn_in:
            memory = limits.burn_memory_mib << 20
            burner = burner or BurnIn(limits.burn_in_s, memory, busy=source.busy)
            asked = watch.to_burn_in()
            found = burner.run(asked, threading.Event())
            left = sum(each.code == DEVICE_UNAVAILABLE for each in found)
            burnt = len(asked) - left if burner.seconds else 0
        found = tuple(sorted((*found, *watch.look()), key=lambda each: each.order))
        return HealthLook(watch.state, watch.gpu_count, burnt, found)
    finally:
        watch.let_go()

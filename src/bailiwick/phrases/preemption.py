"""Whom a request would evict, or why it may evict nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.phrases.amounts import gpus, plural
from bailiwick.scheduler.preemption import Impossible, Obstacle, Preemptable

OBSTACLES: Final[Mapping[Obstacle, str]] = {
    Obstacle.HARDWARE: "are other hardware",
    Obstacle.NOT_ELIGIBLE: "are closed to it",
    Obstacle.PROTECTED: "hold guaranteed work",
    Obstacle.PRIORITY: "hold work just as urgent",
    Obstacle.MIN_RUN_TIME: "hold work that only just started",
    Obstacle.CASCADE_DEPTH: "hold work that already evicted others",
    Obstacle.GANG_SIZE: "do not add up to the whole gang",
}


def phrase_victims(result: Preemptable | Impossible) -> str:
    """Whom the request would evict, or why it may not."""
    if isinstance(result, Preemptable):
        owners = ", ".join(sorted({v.lease.tenant for v in result.victims}))
        leases = plural(len(result.victims), "lease")
        return f"would evict {leases} of {owners}, {gpus(result.freed.gpu_milli)} in all"
    parts = [f"{count} {OBSTACLES[word]} ({word})" for word, count in result.nodes.items()]
    return f"impossible: {result.reason}; " + ", ".join(parts)

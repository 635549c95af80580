"""What a request is for, in one line."""

from __future__ import annotations

from bailiwick.phrases.amounts import milli
from bailiwick.scheduler.request import PlacementRequest


def asks(request: PlacementRequest) -> str:
    """What a request is for, as short as can be.

    >>> from bailiwick import PlacementRequest, TenantId
    >>> asks(PlacementRequest(tenant=TenantId("a"), gpu_count=4, cpu_cores=8, gang_size=2))
    '2 × 4 GPU, 8 cores'
    """
    parts = []
    if request.device_count:
        family = "" if request.generation is None else f" {request.generation}"
        parts.append(f"{milli(request.gpu_milli_total)} GPU{family}")
    if request.cpu_milli:
        cores = milli(request.cpu_milli)
        parts.append(f"{cores} core" if cores == "1" else f"{cores} cores")
    if not parts:
        parts.append("memory only" if request.mem_bytes else "block storage only")
    gang = f"{request.gang_size} × " if request.gang_size > 1 else ""
    return gang + ", ".join(parts)

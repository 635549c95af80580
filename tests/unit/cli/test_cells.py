"""How requests to all cells are told on the command line."""

from __future__ import annotations

from typing import Any

from bailiwick.cli.commands.cell import spell_asked
from bailiwick.wire.cells import GlobalShown

REQUEST: dict[str, Any] = {
    "global_id": 7,
    "tenant": "lab",
    "project": None,
    "status": "waiting",
    "cell": None,
    "leases": [],
    "asked_ms": 1,
    "cpu_milli": 2_000,
    "mem_bytes": 2**30,
    "gpu_count": 4,
    "gpu_milli": 1_000,
    "gang_size": 1,
    "ttl_ms": 3_600_000,
    "priority": "normal",
    "lease_class": "standard",
    "waits_for": None,
}


def asked(**more: Any) -> str:
    return spell_asked(GlobalShown.model_validate({**REQUEST, **more}))


def test_a_request_tells_what_each_member_is_to_have_and_how_many_there_are() -> None:
    assert asked() == "4 GPUs, 2 cores, 1 GiB of memory"
    assert asked(gang_size=2) == "2 x 4 GPUs, 2 cores, 1 GiB of memory"
    assert asked(gang_size=3, gpu_count=0, mem_bytes=0) == "3 x 2 cores"

"""A machine drawn as a tree: where it is, what it is made of, and who holds what of it."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from bailiwick.cli.trees.node_tree import tree_of
from bailiwick.wire.work import NodeTree

NODE: dict[str, Any] = {
    "node": "gpu-1",
    "mode": "accepting",
    "quarantined": False,
    "takes_leases": True,
    "liveness": "alive",
    "last_seen_ms": 1,
    "attestation": "unattested",
    "attested_ms": None,
    "claims": {},
    "resources": {"cpu_milli": 16_000, "mem_bytes": 2**39},
    "gpus": [],
    "labels": [],
}
LEASE: dict[str, Any] = {
    "lease_id": 7,
    "tenant": "acme",
    "project": "vision",
    "node": "gpu-1",
    "resources": {"cpu_milli": 6_500},
    "devices": [],
    "priority": "normal",
    "lease_class": "standard",
    "state": "active",
    "generation": 1,
    "granted_ms": 1,
    "expires_ms": 2,
    "gang": None,
}
CACHES = [{"cores_milli": 8_000, "numa": 0}, {"cores_milli": 8_000, "numa": 1}]


def drawn(node: dict[str, Any], *leases: dict[str, Any], width: int = 120) -> list[str]:
    """The lines of the tree."""
    told = NodeTree.model_validate({"node": {**NODE, **node}, "leases": list(leases)})
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as shown:
        console.print(tree_of(told))
    return [line.rstrip() for line in shown.get().splitlines()]


def test_caches_and_gpus_hang_at_their_memory_node_with_who_holds_them() -> None:
    gpus = [{"generation": "nvidia_hopper", "model": "H100", "fabric": f} for f in ("a", "")]
    node = {
        "gpus": gpus,
        "labels": ["rack=r12", "region=eu"],
        "topology": {"caches": CACHES, "gpu_numa": [1, None]},
    }
    cores = [{"cache": 0, "cores_milli": 4_000}, {"cache": 1, "cores_milli": 1_000}]
    lost = {**LEASE, "lease_id": 9, "project": None, "resources": {"cpu_milli": 2_000}}
    assert drawn(node, {**LEASE, "cores": cores, "devices": [0]}, lost) == [
        "region eu",
        "└── segment ? (not said)",
        "    └── rack r12",
        "        └── gpu-1: 16 cores, 512 GiB",
        "            ├── memory node 0",
        "            │   └── cache 0: 4 of 8 cores held",
        "            │       └── lease-7 of acme/vision: 4 cores",
        "            ├── memory node 1",
        "            │   ├── cache 1: 1 of 8 cores held",
        "            │   │   └── lease-7 of acme/vision: 1 core",
        "            │   └── GPU 0: H100, fabric a",
        "            │       └── lease-7 of acme/vision",
        "            ├── memory node not known",
        "            │   └── GPU 1: H100, no fabric",
        "            └── lease-9 of acme: 2 cores, not known where",
    ]


def test_a_machine_that_tells_nothing_is_one_cache_that_all_share() -> None:
    lines = drawn({}, LEASE)
    assert lines[-2].endswith("one cache, as far as is known: 6.5 of 16 cores held")
    assert lines[-1].endswith("lease-7 of acme/vision: 6.5 cores")


def test_a_narrow_screen_folds_and_loses_nothing() -> None:
    lines = drawn({"topology": {"caches": CACHES}}, LEASE, width=36)
    assert all(len(line) <= 36 for line in lines)
    assert "not known where" in " ".join(" ".join(lines).replace("│", " ").split())


def test_what_a_machine_says_of_itself_steers_no_terminal() -> None:
    gpus = [{"generation": "other", "model": "[red]\x1b[2J", "fabric": "[/]"}]
    (line,) = [line for line in drawn({"gpus": gpus}) if "GPU 0" in line]
    assert line.endswith(r"GPU 0: [red]\x1b[2J, fabric [/]")

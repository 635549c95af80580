"""Small machines as the kernel tells them: texts by path, made by hand in the kernel's formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bailiwick.agent.machine.files import RecordedFiles

NODE = "sys/devices/system/node"
CPU = "sys/devices/system/cpu"
PCI = "sys/bus/pci/devices"


def cache(cpu: int, *, shared: str, number: int) -> dict[str, str]:
    """The caches of one CPU: its own L1 and L2, and the L3 that it shares."""
    folder = f"{CPU}/cpu{cpu}/cache"
    own = f"{cpu}\n"
    levels = (
        ("index0", "Data", "1", "32K", own, cpu),
        ("index1", "Instruction", "1", "32K", own, cpu),
        ("index2", "Unified", "2", "1024K", own, cpu),
        ("index3", "Unified", "3", "32768K", f"{shared}\n", number),
    )
    texts = {f"{folder}/uevent": ""}
    for name, kind, level, size, cpus, one in levels:
        texts[f"{folder}/{name}/type"] = f"{kind}\n"
        texts[f"{folder}/{name}/level"] = f"{level}\n"
        texts[f"{folder}/{name}/size"] = f"{size}\n"
        texts[f"{folder}/{name}/shared_cpu_list"] = cpus
        texts[f"{folder}/{name}/id"] = f"{one}\n"
    return texts


def meminfo(node: int, kib: int) -> str:
    """A memory node's ``meminfo``, with the lines that stand around the one that counts."""
    return (
        f"Node {node} MemTotal:       {kib} kB\nNode {node} MemFree:        {kib // 2} kB\n"
        f"Node {node} HugePages_Total:     0\n"
    )


def two_sockets() -> dict[str, str]:
    """Eight CPUs on two sockets, two L3 on each, a GPU beside each; no control group."""
    texts = {
        f"{CPU}/online": "0-7\n",
        f"{NODE}/online": "0-1\n",
        f"{NODE}/node0/cpulist": "0-3\n",
        f"{NODE}/node0/meminfo": meminfo(0, 1_048_576),
        f"{NODE}/node0/distance": "10 32\n",
        f"{NODE}/node1/cpulist": "4-7\n",
        f"{NODE}/node1/meminfo": meminfo(1, 2_097_152),
        f"{NODE}/node1/distance": "32 10\n",
        f"{PCI}/0000:10:00.0/numa_node": "0\n",
        f"{PCI}/0000:11:00.0/numa_node": "1\n",
        "proc/self/cgroup": "0::/\n",
    }
    for cpu in range(8):
        first = cpu - cpu % 2
        texts |= cache(cpu, shared=f"{first}-{first + 1}", number=cpu // 2)
    return texts


def files_of(texts: Mapping[str, Any]) -> RecordedFiles:
    """The texts as files in memory, with the folders that they stand in."""
    folders: dict[str, set[str]] = {}
    for path in texts:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folders.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    return RecordedFiles(texts, {path: sorted(names) for path, names in folders.items()})


def write_tree(root: Path, texts: Mapping[str, str]) -> Path:
    """The texts as real files under a folder."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def host(**other: Any) -> dict[str, Any]:
    """The numbers of a small machine, with some of them replaced."""
    return {
        "name": "node-1",
        "system": "Linux",
        "kernel": "6.1.0",
        "arch": "x86_64",
        "cpus": 8,
        "cpus_allowed": [0, 1, 2, 3, 4, 5, 6, 7],
        "mem_bytes": 4 * 2**30,
        "block_path": "/",
        "block_free_bytes": 10**11,
    } | other

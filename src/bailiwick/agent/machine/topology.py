"""Which CPUs share a memory node or a cache, and which memory node a GPU hangs on, from sysfs.

Rules:

- A cache domain is the set of CPUs under one last-level cache (L3 where there is one).
- No CPU is in two memory nodes, nor in two cache domains; a machine that says so is malformed.
- A GPU whose bridge names no node (``-1``) belongs to the only one, if there is only one.
- What the kernel does not tell is empty and named as absent; what is malformed is left out whole.

>>> from bailiwick.agent.machine.files import RecordedFiles
>>> read_topology(RecordedFiles({"sys/devices/system/cpu/online": "0-1"}, {})).cpus_online
(0, 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bailiwick.agent.machine.files import MachineFiles
from bailiwick.agent.machine.parse import (
    CPUS_MAX,
    parse_cpus,
    parse_integer,
    parse_memory,
    parse_size,
)
from bailiwick.agent.words import SourceState, Unreadable

NODES_MAX = 1024
LEVELS_MAX = 8
_CPU_ROOT = "sys/devices/system/cpu"
_NODE_ROOT = "sys/devices/system/node"
_NODE = re.compile(r"node([0-9]{1,4})\Z", re.ASCII)
_INDEX = re.compile(r"index([0-9]{1,2})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class NumaNode:
    """One memory node: its CPUs (none where it is memory only), its size, how far the others are.

    ``distances`` are the kernel's, in the order of the nodes; 10 is the node itself.
    """

    index: int
    cpus: tuple[int, ...]
    mem_bytes: int
    distances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineCache:
    """One last-level cache with the CPUs that share it; ``kernel_id`` if the kernel gives one."""

    level: int
    kernel_id: int | None
    size_bytes: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topology:
    """How the machine's CPUs and memory hang together."""

    cpus_online: tuple[int, ...]
    numa_nodes: tuple[NumaNode, ...]
    cache_domains: tuple[MachineCache, ...]
    numa: SourceState
    cache: SourceState


def read_topology(files: MachineFiles) -> Topology:
    """The memory nodes and cache domains that the kernel tells."""
    try:
        online = parse_cpus(f"{_CPU_ROOT}/online", files.text(f"{_CPU_ROOT}/online") or "")
    except Unreadable:
        online = ()
    try:
        nodes = _numa_nodes(files)
        numa = SourceState.READ if nodes else SourceState.ABSENT
    except Unreadable:
        nodes, numa = (), SourceState.MALFORMED
    try:
        domains = _cache_domains(files, online)
        cache = SourceState.READ if domains else SourceState.ABSENT
    except Unreadable:
        domains, cache = (), SourceState.MALFORMED
    return Topology(online, nodes, domains, numa=numa, cache=cache)


def _numa_nodes(files: MachineFiles) -> tuple[NumaNode, ...]:
    matches = (_NODE.match(name) for name in files.names(_NODE_ROOT))
    indices = sorted({int(match[1]) for match in matches if match})
    if len(indices) > NODES_MAX:
        raise Unreadable(_NODE_ROOT, len(indices), f"at most {NODES_MAX} nodes")
    nodes = tuple(_numa_node(files, index, len(indices)) for index in indices)
    _check_apart(_NODE_ROOT, (node.cpus for node in nodes))
    return nodes


def _numa_node(files: MachineFiles, index: int, count: int) -> NumaNode:
    folder = f"{_NODE_ROOT}/node{index}"
    cpus = parse_cpus(f"{folder}/cpulist", _needed(files, f"{folder}/cpulist"))
    memory = files.text(f"{folder}/meminfo")
    distances = (files.text(f"{folder}/distance") or "").split()
    if len(distances) not in (0, count):
        raise Unreadable(f"{folder}/distance", distances, f"{count} numbers")
    return NumaNode(
        index,
        cpus,
        0 if memory is None else parse_memory(f"{folder}/meminfo", memory),
        tuple(parse_integer(f"{folder}/distance", d, low=1, high=255) for d in distances),
    )


def _cache_domains(files: MachineFiles, online: tuple[int, ...]) -> tuple[MachineCache, ...]:
    domains: list[MachineCache] = []
    seen: set[int] = set()
    for cpu in online:
        if cpu in seen:
            continue  # a domain that was found already names it
        domain = _last_level(files, cpu)
        if domain is None:
            continue
        domains.append(domain)
        seen.update(domain.cpus)
    _check_apart(f"{_CPU_ROOT}/cpu*/cache", (domain.cpus for domain in domains))
    return tuple(domains)


def _last_level(files: MachineFiles, cpu: int) -> MachineCache | None:
    """The highest cache that holds data, as this CPU sees it."""
    folder = f"{_CPU_ROOT}/cpu{cpu}/cache"
    best: tuple[int, str] = (0, "")
    for name in files.names(folder):
        if not _INDEX.match(name):
            continue
        where = f"{folder}/{name}"
        if (files.text(f"{where}/type") or "").strip() == "Instruction":
            continue
        level = parse_integer(
            f"{where}/level", _needed(files, f"{where}/level"), low=1, high=LEVELS_MAX
        )
        best = max(best, (level, where))
    level, where = best
    if not level:
        return None
    cpus = parse_cpus(f"{where}/shared_cpu_list", _needed(files, f"{where}/shared_cpu_list"))
    if cpu not in cpus:
        raise Unreadable(f"{where}/shared_cpu_list", cpus, f"a list with CPU {cpu} in it")
    number, size = files.text(f"{where}/id"), files.text(f"{where}/size")
    return MachineCache(
        level,
        None if number is None else parse_integer(f"{where}/id", number, low=0, high=2**32 - 1),
        0 if size is None else parse_size(f"{where}/size", size),
        cpus,
    )


def memory_groups(topology: Topology) -> dict[int | None, int]:
    """Each memory node, by the lowest that caches join it to: itself, on nearly all machines."""
    group: dict[int | None, int] = {node.index: node.index for node in topology.numa_nodes}
    node_of = {cpu: node.index for node in topology.numa_nodes for cpu in node.cpus}
    for cache in topology.cache_domains:
        spanned = {group[node_of[cpu]] for cpu in cache.cpus if cpu in node_of}
        for index, joined in group.items():
            if joined in spanned:
                group[index] = min(spanned)
    return group


def read_gpu_node(files: MachineFiles, bus_id: str, *, topology: Topology) -> int | None:
    """The memory node of the PCI device at this address; ``None`` if nobody says."""
    path = f"sys/bus/pci/devices/{bus_id}/numa_node"
    text = files.text(path)
    if text is None:
        return None
    index = parse_integer(path, text, low=-1, high=NODES_MAX - 1)
    known = [node.index for node in topology.numa_nodes]
    if index == -1:
        return known[0] if len(known) == 1 else None
    if known and index not in known:
        raise Unreadable(path, text, "a memory node of this machine")
    return index


def _needed(files: MachineFiles, path: str) -> str:
    text = files.text(path)
    if text is None:
        raise Unreadable(path, None, "a file that can be read")
    return text


def _check_apart(field: str, groups: Iterable[tuple[int, ...]]) -> None:
    seen: set[int] = set()
    for cpus in groups:
        if not seen.isdisjoint(cpus) or len(cpus) > CPUS_MAX:
            raise Unreadable(field, cpus, "each CPU in one place only")
        seen.update(cpus)

"""``bailiwick node show NODE --topology``: where a machine is, and how it hangs together.

Rules:

- From the widest domain to the narrowest: region, segment, rack, the node, its memory nodes, its
  caches with their cores, and its GPUs with their fabrics.
- What is held is told by the leases that the reader may see, and no others.
- What a machine does not tell is said to be not known, since it then counts as shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiwick.cli.shared.screen import make_console, owner, printable
from bailiwick.fleet.topology import PLACES, UNNAMED, place_of
from bailiwick.phrases.amounts import milli, size

if TYPE_CHECKING:
    from rich.tree import Tree

    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.fleet import Node
    from bailiwick.wire.work import Lease, NodeTree


def show_topology(ask: Ask, found: Node) -> None:
    """The node as a tree, with the leases on it that the reader may see."""
    from bailiwick.wire.actions.leases import LEASE_LIST
    from bailiwick.wire.work import NodeTree

    leases = ask.client.pages(LEASE_LIST, query={"node": found.node}).items
    tree = NodeTree(node=found, leases=leases)
    ask.printer.thing(tree, name=found.node, draw=lambda: make_console().print(tree_of(tree)))


def tree_of(told: NodeTree) -> Tree:
    """The tree that is drawn."""
    from rich.tree import Tree

    node, root, at = told.node, None, None
    labels = dict(label.split("=", 1) for label in node.labels)
    for kind in reversed(PLACES):
        place = place_of(kind, labels)
        text = _plain(f"{kind.value} {place}" + (" (not said)" if place == UNNAMED else ""))
        at = Tree(text) if at is None else at.add(text)
        root = root or at
    assert root is not None, "there are kinds of places"
    assert at is not None, "there are kinds of places"
    cores, mem = _cores(node.resources.cpu_milli), size(node.resources.mem_bytes)
    host = at.add(f"[bold]{_plain(node.node)}[/bold]: {cores}, {mem}")
    for numa, here in _by_memory_node(told).items():
        branch = host.add("memory node not known" if numa is None else f"memory node {numa}")
        for text, holders in here:
            leaf = branch.add(_plain(text))
            for holder in holders:
                leaf.add(_plain(holder))
    for lease in told.leases if len(node.topology.caches) > 1 else ():
        if lease.cores is None and lease.resources.cpu_milli:
            held = _cores(lease.resources.cpu_milli)
            host.add(_plain(f"{_name(lease)}: {held}, not known where"))
    return root


Rows = list[tuple[str, list[str]]]


def _by_memory_node(told: NodeTree) -> dict[int | None, Rows]:
    """Caches, then GPUs, each with who holds of it, under the memory node that they are at."""
    found: dict[int | None, Rows] = {}
    topology = told.node.topology
    caches = [(cache.cores_milli, cache.numa) for cache in topology.caches]
    whole = [(told.node.resources.cpu_milli, None)]
    for index, (cores_milli, numa) in enumerate(caches or whole):
        shares = [(each, _under(each, index, is_only=len(caches) < 2)) for each in told.leases]
        held = [(each, share) for each, share in shares if share]
        used = milli(sum(share for _, share in held))
        name = f"cache {index}" if caches else "one cache, as far as is known"
        text = f"{name}: {used} of {_cores(cores_milli)} held"
        holders = [f"{_name(each)}: {_cores(share)}" for each, share in held]
        found.setdefault(numa, []).append((text, holders))
    for index, gpu in enumerate(told.node.gpus):
        numa = topology.gpu_numa[index] if index < len(topology.gpu_numa) else None
        fabric = f"fabric {gpu.fabric}" if gpu.fabric else "no fabric"
        text = f"GPU {index}: {gpu.model or gpu.generation.value}, {fabric}"
        holders = [_name(each) for each in told.leases if index in each.devices]
        found.setdefault(numa, []).append((text, holders))
    numbered = sorted(numa for numa in found if numa is not None)
    return {numa: found[numa] for numa in [*numbered, None] if numa in found}


def _under(lease: Lease, cache: int, *, is_only: bool) -> int:
    """The milli-cores of a lease under one cache; all of them where there is no other."""
    if is_only:
        return lease.resources.cpu_milli
    return sum(share.cores_milli for share in lease.cores or () if share.cache == cache)


def _cores(cores_milli: int) -> str:
    return f"{milli(cores_milli)} core{'' if cores_milli == 1000 else 's'}"


def _plain(text: str) -> str:
    """Text from a record: it neither steers the terminal nor the drawing."""
    from rich.markup import escape

    return escape(printable(text))


def _name(lease: Lease) -> str:
    return f"lease-{lease.lease_id} of {owner(lease.tenant, lease.project)}"

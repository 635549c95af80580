"""Victims for a gang: the cheapest leases whose end makes room for all members at once.

Members are equal, so nodes are independent of each other but for gangs that run on several of them.
Rules:

- For each node the cheapest ways to make room there are worked out (:mod:`.node_ways`), and of
  all nodes the cheapest choice of them is taken (:mod:`.supply`).
- A gang on several nodes is at first charged in parts, each where it would make room: no choice
  costs less than that. Where a choice uses only some of its parts, the search branches: the gang
  goes, or it stays (:mod:`.gang_search`).
- With up to ``NODES_MAX`` suitable nodes the answer is the cheapest, unless many gangs on several
  nodes, or many different leases on one, end the search early (:mod:`.gang_search`). On larger
  fleets the nodes that are cheapest for one member are looked at. ``bound`` is proven in any case:
  no choice costs less.
- Nothing changes, and no clock is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bailiwick.scheduler.handles import Prepared, Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.victim_cost import BlockedNodes, VictimTerms
from bailiwick.scheduler.victims.gang_search import GangSearch, GangVictims, Rooms
from bailiwick.scheduler.victims.node_ways import NodeFree, fitting, slots_in
from bailiwick.scheduler.victims.supply import copies
from bailiwick.scheduler.victims.units import Judge

NODES_MAX = 256
"""Suitable nodes on which the answer is the cheapest there is."""

NODES_LOOKED = 512
"""Nodes of a larger fleet that are looked at."""


def find_gang_victims(
    ledger: CapacityLedger, ready: Prepared, *, terms: VictimTerms
) -> GangVictims | None:
    """The cheapest set found for all members of the prepared request, or ``None``."""
    shape, request = Shape.of(ready.request), ready.request
    rooms = {entry.handle: (entry, room) for entry, room in _rooms(ledger, ready, shape)}
    fits = {handle: _members(shape, room) for handle, (_, room) in rooms.items()}
    missing = request.gang_size - sum(fits.values())
    if missing <= 0:
        return GangVictims((), 0, 0)
    judge = Judge(ledger, request, terms=terms)
    if len(rooms) <= NODES_MAX:
        return GangSearch(ledger, shape, judge=judge, rooms=rooms).answer(missing)
    return _on_large_fleet(ledger, ready, terms, rooms=rooms, fits=fits)


def _on_large_fleet(
    ledger: CapacityLedger,
    ready: Prepared,
    terms: VictimTerms,
    *,
    rooms: Rooms,
    fits: Mapping[int, int],
) -> GangVictims | None:
    """The answer on the most promising nodes; what the others could give is bounded."""
    shape, request = Shape.of(ready.request), ready.request
    judge = Judge(ledger, request, terms=terms)
    near = _cheapest_nodes(ledger, ready, terms, full=[h for h, n in fits.items() if not n])
    # Beyond those near, a node without gangs on which nobody fits costs no less than they do.
    gangs = {ledger.fields(i).node for members in ledger.gangs.values() for i in members}
    other = dict.fromkeys(h for h, members in fits.items() if members or h in gangs)
    wanted = tuple(dict.fromkeys(near.handles) | other)
    looked = wanted[: max(NODES_LOOKED, request.gang_size)]
    search = GangSearch(ledger, shape, judge=judge, rooms={h: rooms[h] for h in looked})
    if near.last_cost is not None:
        most = max(_members_empty(shape, entry) for entry, _ in rooms.values())
        rest = range(min(len(rooms) - len(looked), request.gang_size))
        search.beyond = tuple(copies(near.last_cost, (most,), units=rest))
    found = search.answer(request.gang_size - sum(fits.values()))
    if found is None or looked == wanted:
        return found
    return GangVictims(found.lease_ids, found.cost, 0)  # not all that had to be were looked at


def _rooms(
    ledger: CapacityLedger, ready: Prepared, shape: Shape
) -> Iterator[tuple[NodeEntry, NodeFree]]:
    """Every suitable node, and what is free there."""
    mask = ledger.mask_of(ready)
    for entry in ledger.entries.values():
        handle, serving = entry.handle, ledger.serving(entry, shape)
        if not entry.takes_leases or len(serving) < shape.device_count:
            continue
        if mask is None or mask[handle >> 3] >> (handle & 7) & 1:
            _, _, cpu, mem, block, devices, _ = ledger.engine.node(handle)
            free = tuple((index, devices[index]) for index in serving)
            yield entry, NodeFree((cpu, mem, block), free if shape.device_count else ())


def _members(shape: Shape, room: NodeFree) -> int:
    slots = sum(slots_in(shape, free) for _, free in room.devices)
    return fitting(shape, room.amounts, slots=slots)


def _members_empty(shape: Shape, entry: NodeEntry) -> int:
    """How many members the machine would hold if it were empty."""
    has = entry.capacity
    slots = sum(slots_in(shape, 1000) for _ in has.gpus)
    return fitting(shape, (has.cpu_milli, has.mem_bytes, has.block_bytes), slots=slots)


@dataclass(frozen=True, slots=True)
class _Near:
    """Nodes on which one member is cheapest to be seated, and what any other node costs at least.

    That is ``None`` if on no other a member can be seated.
    """

    handles: tuple[int, ...]
    last_cost: int | None


def _cheapest_nodes(
    ledger: CapacityLedger, ready: Prepared, terms: VictimTerms, *, full: Sequence[int]
) -> _Near:
    """Of a large fleet, the nodes to look at: the engine finds the cheapest one by one."""
    open_nodes = ledger.node_set()
    for handle in full:
        open_nodes.add(handle)
    found: list[int] = []
    last, size = 0, ready.request.gang_size
    try:
        for _ in range(max(size, min(NODES_MAX, 2 * size + 16))):
            plan = ledger.search_victims(ready, terms, mask=open_nodes.bits)
            if isinstance(plan, BlockedNodes):
                return _Near(tuple(found), None)
            last = plan.cost if plan.exact else 0
            found.append(plan.node)
            open_nodes.discard(plan.node)
    finally:
        ledger.node_sets.remove(open_nodes)
    return _Near(tuple(found), last)

"""Whether it is the asker's own leases that hold the room it lacks: then others need not go.

Rules:

- Only leases of the very scope that asks are looked at (at most the last :data:`OWN_MAX`), and only
  where the request could run; whose the others are is nobody's to learn here.
- Own leases are named only if ending them would clear the obstacle that is told. As with any
  advice, that does not promise that nothing stands behind it.
- Asking changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from bailiwick.kernel.state import State
from bailiwick.scheduler.decision import Denied, Fragmented, NotEnoughFree
from bailiwick.scheduler.explain import Remedy
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.quota_policy import DIMENSIONS
from bailiwick.scheduler.quota_rows import ROW_WIDTH, USED
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.words import RESOURCE_KINDS, Dimension

OWN_MAX = 64
"""Leases of the asker that are looked at."""


class _Own(NamedTuple):
    """One lease of the asker: what of it would serve the request, were it free."""

    lease_id: int
    node: int
    devices: int
    amounts: tuple[int, int, int, int]


def name_own(state: State, request: PlacementRequest, *, blocker: Denied, remedy: Remedy) -> Remedy:
    """The advice, with the asker's own leases in the place of others where those would do."""
    if remedy.word is not RemedyWord.WAIT_OR_PREEMPT or not _holds_any(state, request):
        return remedy
    match blocker.detail:
        case NotEnoughFree(resource=resource, free=free, requested=requested):
            kind = RESOURCE_KINDS.index(resource)
            chosen = _covering(_own(state, request), kind, requested - free)
        case Fragmented() if request.gang_size == 1:
            chosen = _on_one_node(state, request)
        case _:
            return remedy
    if not chosen:
        return remedy
    numbers = tuple(sorted(each.lease_id for each in chosen))
    return replace(remedy, word=RemedyWord.FREE_OWN_LEASES, leases=numbers)


def _holds_any(state: State, request: PlacementRequest) -> bool:
    row = state.quotas.row_for(request)
    count = USED + DIMENSIONS.index(Dimension.LEASE_COUNT)
    return bool(state.quotas.buffer[row * ROW_WIDTH + count])


def _own(state: State, request: PlacementRequest) -> list[_Own]:
    """The asker's active leases where the request could run, the newest first."""
    ledger, shape = state.ledger, Shape.of(request)
    mask = ledger.handles.accounts_of(request)
    found: list[tuple[int, _Own]] = []
    for handle in ledger.engine.leases_of(mask, OWN_MAX):
        fields = ledger.fields(handle)
        entry = ledger.by_handle[fields.node]
        is_active = REVOKE_STATES[fields.state] is RevokeState.ACTIVE
        if entry is None or not is_active or not entry.takes_leases:
            continue
        serving = sum(1 << i for i in ledger.serving(entry, shape))
        if not entry.has_labels(request.labels) or (shape.device_count and not serving):
            continue
        cpu, mem, block, _ = ledger.resources_of(fields.shape).as_tuple()
        milli = ledger.handles.shapes[fields.shape].device_milli
        gpu = (fields.devices & serving).bit_count() * milli
        own = _Own(state.ids[handle], fields.node, fields.devices, (cpu, mem, block, gpu))
        found.append((fields.granted_ms, own))
    found.sort(key=lambda row: (-row[0], -row[1].lease_id))
    return [own for _, own in found]


def _covering(own: Iterable[_Own], kind: int, short: int) -> list[_Own]:
    """Leases that give back so much of a resource, none of them more than is needed."""
    chosen: list[_Own] = []
    for each in own:
        if short > 0 and each.amounts[kind]:
            chosen.append(each)
            short -= each.amounts[kind]
    if short > 0:
        return []
    for each in list(chosen):
        if short + each.amounts[kind] <= 0:
            chosen.remove(each)
            short += each.amounts[kind]
    return chosen


def _on_one_node(state: State, request: PlacementRequest) -> list[_Own]:
    """The fewest leases, newest first, that make room on some node for the one member."""
    nodes: dict[int, list[_Own]] = {}
    for each in _own(state, request):
        nodes.setdefault(each.node, []).append(each)
    found: list[list[_Own]] = []
    for handle, own in nodes.items():
        for count in range(1, len(own) + 1):
            if _fits(state, request, node=handle, gone=own[:count]):
                found.append(own[:count])
                break
    return min(found, key=len, default=[])


def _fits(state: State, request: PlacementRequest, *, node: int, gone: list[_Own]) -> bool:
    ledger, shape = state.ledger, Shape.of(request)
    entry = ledger.by_handle[node]
    assert entry is not None, "a lease is on a node that departed"
    _, _, cpu, mem, block, devices, _ = ledger.engine.node(node)
    wanted = (shape.cpu_milli, shape.mem_bytes, shape.block_bytes)
    for kind, (have, need) in enumerate(zip((cpu, mem, block), wanted, strict=True)):
        if have + sum(each.amounts[kind] for each in gone) < need:
            return False
    shares = list(devices)
    for each in gone:
        milli = ledger.handles.shapes[state.fields(each.lease_id).shape].device_milli
        for index in range(len(shares)):
            shares[index] += milli * (each.devices >> index & 1)
    usable = sum(shares[i] >= shape.device_milli for i in ledger.serving(entry, shape))
    return usable >= shape.device_count

"""The fleet as columns: nodes, and who holds which of their GPUs, words as places in a table.

Rules:

- Leases without a GPU are not drawn, only counted. What is drawn is in the order of names and of
  numbers, so every replica draws the same.
- Whoever may read every lease and request is shown all. Everybody else is shown his own leases,
  and of each GPU what he could be given of it now: of others neither a name nor a number.
- One pass over the engine's own columns. No lease becomes an object.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from bailiwick.kernel import State
from bailiwick.kernel.isolation.room import RoomOn
from bailiwick.kernel.owner import Owner
from bailiwick.scheduler.engine.protocol import LeaseFields
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.vocab.transitions import REVOKE_STATES, NodeMode, RevokeState
from bailiwick.vocab.words import LEASE_CLASSES, AttestationState

_ACTIVE: Final = REVOKE_STATES.index(RevokeState.ACTIVE)
_MODES: Final = {mode: at for at, mode in enumerate(NodeMode)}
_ATTESTATIONS: Final = {state: at for at, state in enumerate(AttestationState)}
_COLUMN: Final = {name: at for at, name in enumerate(LeaseFields._fields)}

Plain = dict[str, Any]


class PartSight(NamedTuple):
    """What a viewer may see beside the machines themselves."""

    owns: Callable[[Owner], bool]
    """Whose leases are shown."""
    room: RoomOn
    """What the viewer could be given on a machine."""


class _Hold(NamedTuple):
    """A lease with a GPU: its place in the columns."""

    lease_id: int
    node: int
    devices: int
    milli: int
    owner: Owner
    lease_class: int
    ending: int


def draw(state: State, now_ms: int, *, sight: PartSight | None) -> Plain:
    """The fleet as whoever has this sight may see it; all of it without."""
    entries = sorted(state.ledger.entries.values(), key=lambda entry: entry.id)
    places = {entry.handle: at for at, entry in enumerate(entries)}
    holds = _holds(state, places, owns=None if sight is None else sight.owns)
    tenants = sorted({str(hold.owner.tenant) for hold in holds})
    kinds, kind = _kinds(entries)
    trust = state.trust
    nodes = {
        "node": [str(entry.id) for entry in entries],
        "kind": kind,
        "mode": [_MODES[entry.mode] for entry in entries],
        "quarantined": [int(entry.quarantined) for entry in entries],
        "takes_leases": [int(entry.takes_leases) for entry in entries],
        "attestation": [_ATTESTATIONS[trust.state_of(entry.id, now_ms)] for entry in entries],
    }
    if sight is not None:
        nodes["free_milli"] = [list(sight.room(entry).devices_milli) for entry in entries]
    return {
        "whole": sight is None,
        "leases": len(state.leases) if sight is None else None,
        "waiting": len(state.line.entries) if sight is None else None,
        "tenants": tenants,
        "kinds": kinds,
        "modes": [mode.value for mode in NodeMode],
        "attestations": [each.value for each in AttestationState],
        "lease_classes": [each.value for each in LEASE_CLASSES],
        "nodes": nodes,
        "held": _told(holds, tenants),
    }


def _told(holds: list[_Hold], tenants: list[str]) -> Plain:
    number = {tenant: at for at, tenant in enumerate(tenants)}
    return {
        "lease_id": [hold.lease_id for hold in holds],
        "node": [hold.node for hold in holds],
        "devices": [hold.devices for hold in holds],
        "milli": [hold.milli for hold in holds],
        "tenant": [number[str(hold.owner.tenant)] for hold in holds],
        "lease_class": [hold.lease_class for hold in holds],
        "ending": [hold.ending for hold in holds],
    }


def _kinds(entries: list[NodeEntry]) -> tuple[list[list[str]], list[int]]:
    """The distinct rows of GPUs that machines have, and which of them each machine has."""
    rows: dict[tuple[str, ...], int] = {}
    known: dict[int, int] = {}
    kind = []
    for entry in entries:
        place = known.get(entry.machine_class)
        if place is None:
            row = tuple(gpu.generation.value for gpu in entry.capacity.gpus)
            place = known[entry.machine_class] = rows.setdefault(row, len(rows))
        kind.append(place)
    return [list(row) for row in rows], kind


def _holds(
    state: State, places: dict[int, int], *, owns: Callable[[Owner], bool] | None
) -> list[_Hold]:
    """The leases with a GPU that are shown, by their numbers."""
    count, handles = len(state.leases), state.ledger.handles
    table = array("q")
    table.frombytes(state.ledger.engine.dump(array("q", state.leases.values())))
    columns = [
        table[_COLUMN[name] * count : (_COLUMN[name] + 1) * count]
        for name in ("node", "devices", "shape", "account", "lease_class", "state")
    ]
    seen: dict[Owner, bool] = {}
    found = []
    for lease_id, node, devices, shape, account, lease_class, phase in zip(
        state.leases, *columns, strict=True
    ):
        if not devices:
            continue
        fenced = state.fenced.get(lease_id)
        if fenced is None:
            charged = handles.accounts[account]
            owner = Owner(charged.tenant, charged.project)
        else:
            owner = fenced
        if owner not in seen:
            seen[owner] = owns is None or owns(owner)
        if not seen[owner]:
            continue
        milli = handles.shapes[shape].device_milli
        ending = int(phase != _ACTIVE)
        found.append(_Hold(lease_id, places[node], devices, milli, owner, lease_class, ending))
    return sorted(found)

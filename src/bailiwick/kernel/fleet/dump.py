"""Nodes, quotas, settings and the epoch in a snapshot."""

from __future__ import annotations

from typing import Any

from bailiwick.kernel.fleet import notes
from bailiwick.kernel.fleet.events import QuotaChanged, SettingsChanged
from bailiwick.kernel.fleet.labels import use_labels
from bailiwick.kernel.fleet.spelling import inventory_body, inventory_from
from bailiwick.kernel.owner import FLEET, Owner
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.spelling import labels_body, labels_from
from bailiwick.kernel.state import State
from bailiwick.scheduler.handles import DeviceKind
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration


def dump(state: State) -> Plain:
    """The fleet and its rules as plain lists."""
    handles = state.ledger.handles
    # Left out where there are none, as before there were any.
    given = {node: labels_body(state.node_labels[node]) for node in sorted(state.node_labels)}
    noted = state.notes.dump()
    more = ({"node_labels": given} if given else {}) | ({"node_notes": noted} if noted else {})
    return more | {
        "epoch": state.epoch,
        "settings": SettingsChanged(state.settings).body(),
        "nodes": _nodes(state),
        "vacant": state.ledger.vacant,
        "kinds": [
            [k.generation.value, k.model, k.vram_bytes, int(k.partitionable)] for k in handles.kinds
        ],
        "classes": [[*c[:3], list(c[3]), list(c[4])] for c in handles.classes],
        "cursor": state.ledger.engine.cursor(),
        "draining": list(state.draining),
        "quotas": _quota_rows(state),
        "burst_clock_ms": state.quotas.clock_ms,
    }


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; every node is open until the leases are there."""
    state.epoch = plain["epoch"]
    state.use_settings(SettingsChanged.read(plain["settings"], FLEET).settings)
    _load_nodes(state, plain)
    for node, labels in plain.get("node_labels", {}).items():
        state.node_labels[node] = labels_from(labels)
        use_labels(state, node)
    state.notes.load(plain.get("node_notes", {}))
    for tenant, project, body, _ in plain["quotas"]:
        quota = QuotaChanged.read(body, Owner(tenant, project)).quota
        state.quotas.set_quota(tenant, quota, project=project)


def settle(state: State, plain: Plain) -> None:
    """What leases changed when they were put back: modes, and burst credit."""
    _close_nodes(state, plain)
    table, bursts = state.quotas.table, state.quotas.bursts
    for tenant, project, _, settled in plain["quotas"]:
        if settled:
            row, (level, settled_ms) = table.find(QuotaScope.of(tenant, project)), settled
            bursts.restore(row, level, settled_ms=settled_ms)
    bursts.clock_ms = plain["burst_clock_ms"]


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Burst credit is as it was when time was right last; a note stands as long as it would."""
    notes.repair(plain.get("node_notes", {}), clock)
    plain["burst_clock_ms"] = clock.past(plain["burst_clock_ms"])
    for row in plain["quotas"]:
        if row[3] is not None:
            row[3][1] = clock.past(row[3][1])


def _nodes(state: State) -> list[list[Any]]:
    return [
        [e.handle, str(e.id), e.mode.value, int(e.quarantined), inventory_body(e.capacity)]
        for e in state.ledger.entries.values()
    ]


def _load_nodes(state: State, plain: Plain) -> None:
    handles = state.ledger.handles
    for generation, model, vram_bytes, partitionable in plain["kinds"]:
        word = HardwareGeneration(generation)
        handles.add_kind(DeviceKind(word, model, vram_bytes, bool(partitionable)))
    for cpu, mem, block, kinds, *fabrics in plain["classes"]:  # an older one tells no fabrics
        handles.add_class((cpu, mem, block, bytes(kinds), bytes(fabrics[0]) if fabrics else b""))
    rows = {row[0]: (row[1], inventory_from(row[4])) for row in plain["nodes"]}
    state.ledger.restore_nodes(rows, vacant=plain["vacant"])


def _close_nodes(state: State, plain: Plain) -> None:
    """Modes and quarantine, once the leases are in: a closed node would take none."""
    ledger = state.ledger
    for _, name, mode, quarantined, _ in plain["nodes"]:
        ledger.restore_mode(name, NodeMode(mode), quarantined=bool(quarantined))
    ledger.engine.cursor(plain["cursor"])
    state.draining = dict.fromkeys(plain["draining"])


def _quota_rows(state: State) -> list[list[Any]]:
    """What was set for each scope, and where its burst credit stands."""
    rows = []
    for scope, quota, burst in state.quotas.settings():
        owner = Owner(str(scope.tenant), None if scope.project is None else str(scope.project))
        level = None if burst is None else [burst.level, burst.settled_ms]
        rows.append([owner.tenant, owner.project, QuotaChanged(owner, quota).body(), level])
    return rows

"""The whole state as bytes, and back: a cache of the fold, whose digest the journal can vouch for.

Rules:

- Equal states give equal bytes, whatever way they came to be: everything is written in an order
  that follows from the journal, and no cache or handle of this process is written at all.
- Reading never trusts: bytes whose SHA-256 is not the one expected are refused, and a snapshot of
  another format is too.
- Leases are 15 columns of 64-bit integers, one column after the other; the rest is one line of
  JSON before them.
"""

from __future__ import annotations

import json
import sys
from array import array
from hashlib import sha256
from typing import Any

from bailiwick.journal.record import encode_json
from bailiwick.kernel.answers import Remembered
from bailiwick.kernel.arrivals import shape_from, shape_row
from bailiwick.kernel.codec import decode_answer, encode_answer
from bailiwick.kernel.events import Owner, QuotaChanged, SettingsChanged
from bailiwick.kernel.iam_rules import dump_directory, load_directory
from bailiwick.kernel.money_rules import dump_money, load_money
from bailiwick.kernel.request_body import (
    denial_body,
    denial_from,
    inventory_body,
    inventory_from,
    request_body,
    request_from,
)
from bailiwick.kernel.spending import Leaving
from bailiwick.kernel.state import Claim, State
from bailiwick.kernel.trust_rules import gate
from bailiwick.kernel.usage import Running
from bailiwick.scheduler.engine.protocol import DEPTH_SHIFT, FLAG_PINNED, NEVER
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import OPERATOR_ACCOUNT, ChargedAccount, DeviceKind
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.errors import Damaged
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import AccountingTag, ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason

FORMAT = "bailiwick-state/v3"
WIDTH = 15
"""Columns of the table of leases: their numbers, then the engine's fourteen fields."""

_NODE, _ACCOUNT, _SHAPE = 1, 2, 3


def encode(state: State) -> bytes:
    """The state as bytes."""
    rows, shapes, accounts = _lease_table(state)
    header = {
        "format": FORMAT,
        "size": state.size,
        "clock_ms": state.clock_ms,
        "epoch": state.epoch,
        "lease_serial": state.lease_serial,
        "gang_serial": state.gang_serial,
        "leases": len(state.leases),
        "settings": SettingsChanged(state.settings).body(),
        "nodes": _nodes(state),
        "vacant": state.ledger.vacant,
        "kinds": [
            [k.generation.value, k.model, k.vram_bytes, int(k.partitionable)]
            for k in state.ledger.handles.kinds
        ],
        "classes": [[*c[:3], list(c[3])] for c in state.ledger.handles.classes],
        "cursor": state.ledger.engine.cursor(),
        "draining": list(state.draining),
        "shapes": shapes,
        "accounts": accounts,
        "revoking": sorted([state.ids[h], r.value] for h, r in state.ledger.revoking.items()),
        "fenced": [[i, o.tenant, o.project] for i, o in sorted(state.fenced.items())],
        "quotas": _quota_rows(state),
        "burst_clock_ms": state.quotas.clock_ms,
        "shares": state.shares.dump(),
        "running": sorted(
            [list(scope), r.rate, str(r.pending), r.since_ms, r.charged_ms]
            for scope, r in state.shares.running.items()
        ),
        "arrivals": state.arrivals.dump(),
        "line": state.line.dump(),
        "waiting": [_waiting(state, entry) for entry in state.line.entries.values()],
        "claims": [
            [i, list(c.victims), list(c.nodes), c.depth] for i, c in sorted(state.claims.items())
        ],
        "answers": [
            [*name, kept.at_ms, kept.command, encode_answer(kept.answer)]
            for name, kept in state.answers.entries.items()
        ],
        "directory": dump_directory(state.directory),
        "leaving": [[i, *times] for i, times in sorted(state.leaving.items())],
        "money": dump_money(state),
        "trust": state.trust.dump(),
    }
    return encode_json(header).encode() + b"\n" + rows


def digest_of(state: State) -> str:
    """SHA-256 over the state's bytes: equal for equal states."""
    return sha256(encode(state)).hexdigest()


def decode(data: bytes, digest: str, *, engine: str = "auto") -> State:
    """The state that these bytes are, if they are the ones that were digested."""
    if sha256(data).hexdigest() != digest:
        raise Damaged("snapshot", f"{len(data)} bytes", "its digest is another")
    end = data.index(b"\n")
    header: dict[str, Any] = json.loads(data[:end])
    if header.get("format") != FORMAT:
        raise Damaged("snapshot", "format", f"{header.get('format')!r} is not {FORMAT!r}")
    rows = _columns(memoryview(data)[end + 1 :], header["leases"])
    state = State(SettingsChanged.read(header["settings"], Owner()).settings, engine=engine)
    for name in ("size", "clock_ms", "epoch", "lease_serial", "gang_serial"):
        setattr(state, name, header[name])
    _load_nodes(state, header)
    for tenant, project, body, _ in header["quotas"]:
        quota = QuotaChanged.read(body, Owner(tenant, project)).quota
        state.quotas.set_quota(tenant, quota, project=project)
    _load_leases(state, header, rows)
    _close_nodes(state, header)
    _load_line(state, header)
    state.arrivals.load(header["arrivals"], state.ledger)
    state.directory = load_directory(header["directory"])
    bursts = [(QuotaScope.of(t, p), *level) for t, p, _, level in header["quotas"] if level]
    state.quotas.restore_bursts(bursts, clock_ms=header["burst_clock_ms"])
    state.leaving = {i: Leaving(*times) for i, *times in header["leaving"]}
    load_money(state, header["money"])
    _load_trust(state, header["trust"])
    return state


# -- nodes -----------------------------------------------------------------------------------


def _nodes(state: State) -> list[list[Any]]:
    return [
        [e.handle, str(e.id), e.mode.value, int(e.quarantined), inventory_body(e.capacity)]
        for e in state.ledger.entries.values()
    ]


def _load_nodes(state: State, header: dict[str, Any]) -> None:
    handles = state.ledger.handles
    for generation, model, vram_bytes, partitionable in header["kinds"]:
        word = HardwareGeneration(generation)
        handles.add_kind(DeviceKind(word, model, vram_bytes, bool(partitionable)))
    for cpu, mem, block, kinds in header["classes"]:
        handles.add_class((cpu, mem, block, bytes(kinds)))
    rows = {row[0]: (row[1], inventory_from(row[4])) for row in header["nodes"]}
    state.ledger.restore_nodes(rows, vacant=header["vacant"])


def _close_nodes(state: State, header: dict[str, Any]) -> None:
    """Modes and quarantine, once the leases are in: a closed node would take none."""
    ledger = state.ledger
    for _, name, mode, quarantined, _ in header["nodes"]:
        ledger.restore_mode(name, NodeMode(mode), quarantined=bool(quarantined))
    ledger.engine.cursor(header["cursor"])
    state.draining = dict.fromkeys(header["draining"])


def _load_trust(state: State, dumped: dict[str, Any]) -> None:
    """What is known of trust; who is gated by it follows."""
    for name in state.ledger.entries:
        state.trust.join(name)
    state.trust.load(dumped)
    for name in state.ledger.entries:
        gate(state, name)


# -- quotas ----------------------------------------------------------------------------------


def _quota_rows(state: State) -> list[list[Any]]:
    """What was set for each scope, and where its burst credit stands."""
    rows = []
    for scope, quota, burst in state.quotas.settings():
        owner = Owner(str(scope.tenant), _text(scope.project))
        level = None if burst is None else [burst.level, burst.settled_ms]
        rows.append([owner.tenant, owner.project, QuotaChanged(owner, quota).body(), level])
    return rows


# -- leases ----------------------------------------------------------------------------------


def _lease_table(state: State) -> tuple[bytes, list[Any], list[Any]]:
    """The table of leases, and the shapes and accounts its columns point into.

    Shapes and accounts are numbered in the order in which leases first name them, and nodes in the
    order of registration, so that no number depends on this process.
    """
    count = len(state.leases)
    table = array("q", state.leases)
    table.frombytes(state.ledger.engine.dump(array("q", state.leases.values())))
    found: list[dict[int, int]] = []
    for column in (_ACCOUNT, _SHAPE):
        handles = dict.fromkeys(table[column * count : (column + 1) * count])
        found.append({handle: number for number, handle in enumerate(handles)})
    nodes = {e.handle: n for n, e in enumerate(state.ledger.entries.values())}
    for column, numbers in ((_NODE, nodes), (_ACCOUNT, found[0]), (_SHAPE, found[1])):
        part = slice(column * count, (column + 1) * count)
        table[part] = array("q", map(numbers.__getitem__, table[part]))
    if sys.byteorder == "big":
        table.byteswap()
    names = state.ledger.handles
    return (
        table.tobytes(),
        [shape_row(names.shapes[handle]) for handle in found[1]],
        [_account_row(names.accounts.get(handle)) for handle in found[0]],
    )


def _columns(data: memoryview, count: int) -> list[array[int]]:
    if len(data) != 8 * WIDTH * count:
        raise Damaged("snapshot", "leases", f"{len(data)} bytes for {count} leases")
    table = array("q")
    table.frombytes(data)
    if sys.byteorder == "big":
        table.byteswap()
    return [table[column * count : (column + 1) * count] for column in range(WIDTH)]


def _account_row(account: ChargedAccount | None) -> list[Any] | None:
    if account is None:
        return None  # the operator's own, for what is fenced
    return [str(account.tenant), _text(account.project), _text(account.tag)]


def _text(name: str | None) -> str | None:
    return None if name is None else str(name)


def _load_leases(state: State, header: dict[str, Any], rows: list[array[int]]) -> None:
    ledger, take = state.ledger, state.ledger.engine.take
    update = ledger.engine.update_lease
    nodes = [entry.handle for entry in ledger.entries.values()]
    shapes = [ledger.handles.intern_shape(shape_from(row)) for row in header["shapes"]]
    accounts = [_load_account(state, row) for row in header["accounts"]]
    ledger.sync_quota()
    gangs: dict[int, list[int]] = {}
    for (number, node, account, shape, gang, devices, priority, lease_class, phase, flags, depth,
         generation, granted, expires, checkpoint) in zip(*rows, strict=True):  # fmt: skip
        traits = priority | lease_class << 4 | flags << 8 | depth << DEPTH_SHIFT
        handle = take(
            nodes[node], shapes[shape], accounts[account], traits, granted, expires, gang, devices
        )
        if handle < 0:
            raise Damaged("snapshot", f"lease {number}", "it does not fit on its node")
        if phase or generation != 1 or checkpoint != NEVER or flags:
            update(handle, phase, flags, generation, expires, checkpoint)
        state.leases[number] = handle
        state.ids[handle] = number
        if gang >= 0 and not flags & FLAG_PINNED:
            gangs.setdefault(gang, []).append(handle)
    ledger.gangs = gangs
    for number, reason in header["revoking"]:
        ledger.revoking[state.leases[number]] = PreemptionReason(reason)
    state.fenced = {i: Owner(tenant, project) for i, tenant, project in header["fenced"]}


def _load_account(state: State, row: list[Any] | None) -> int:
    if row is None:
        return OPERATOR_ACCOUNT
    tenant, project, tag = row
    account = ChargedAccount(
        TenantId(tenant),
        None if project is None else ProjectId(project),
        None if tag is None else AccountingTag(tag),
    )
    return state.ledger.handles.intern_account(account, state.quotas.row_of(tenant, project))


# -- the line, the shares, the answers -------------------------------------------------------


def _waiting(state: State, entry: QueueEntry) -> list[Any]:
    denied, r = state.blocked[entry.id], entry.request
    why = None if denied is None else denial_body(denied)
    return [entry.id, entry.submitted_ms, str(r.tenant), _text(r.project), request_body(r), why]


def _load_line(state: State, header: dict[str, Any]) -> None:
    entries = []
    for entry_id, submitted_ms, tenant, project, body, why in header["waiting"]:
        entries.append(
            QueueEntry(entry_id, request_from(body, tenant, project=project), submitted_ms)
        )
        state.blocked[entry_id] = None if why is None else denial_from(why)
    state.line.load(header["line"], entries)
    state.claims = {
        i: Claim(tuple(victims), tuple(nodes), depth)
        for i, victims, nodes, depth in header["claims"]
    }
    state.claimed.put(state.claims)
    state.shares.load(header["shares"])
    state.shares.running = {
        tuple(scope): Running(rate, int(pending), since_ms, charged_ms)
        for scope, rate, pending, since_ms, charged_ms in header["running"]
    }
    for actor, key, at_ms, command, row in header["answers"]:
        state.answers.put((actor, key), Remembered(at_ms, command, decode_answer(row)))

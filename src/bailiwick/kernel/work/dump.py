"""Leases, the line, shares and arrivals in a snapshot.

Leases are 15 columns of 64-bit integers, one column after the other: ``rows``, which are bytes. The
rest is plain lists.
"""

from __future__ import annotations

import sys
from array import array
from typing import Any

from bailiwick.kernel.guards import Claim
from bailiwick.kernel.money.spending import Restored
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.spelling import (
    denial_body,
    denial_from,
    labels_body,
    labels_from,
    read_cores,
    request_body,
    request_from,
    spell_cores,
)
from bailiwick.kernel.state import State
from bailiwick.kernel.work.arrivals import shape_from, shape_row
from bailiwick.kernel.work.usage import RunningWeight
from bailiwick.scheduler.engine.protocol import DEPTH_SHIFT, FLAG_PINNED, NEVER
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.handles import OPERATOR_ACCOUNT, ChargedAccount
from bailiwick.scheduler.room_holds import Seat
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import Damaged
from bailiwick.vocab.values import AccountingTag, NodeId, ProjectId, TenantId
from bailiwick.vocab.words import PreemptionReason

WIDTH = 15
"""Columns of the table of leases: their numbers, then the engine's fourteen fields."""

_NODE, _ACCOUNT, _SHAPE = 1, 2, 3
_GRANTED, _EXPIRES, _CHECKPOINT = 12, 13, 14


def dump(state: State) -> Plain:
    """Leases and requests, in an order that follows from the journal."""
    rows, shapes, accounts = _lease_table(state)
    return {
        "lease_serial": state.lease_serial,
        "gang_serial": state.gang_serial,
        "leases": len(state.leases),
        "rows": rows,
        "shapes": shapes,
        "accounts": accounts,
        "revoking": sorted([state.ids[h], r.value] for h, r in state.ledger.revoking.items()),
        "job_labels": [[i, labels_body(of)] for i, of in sorted(state.job_labels.items())],
        "cores": [[i, spell_cores(cores)] for i, cores in state.cores.all()],
        "fenced": [[i, o.tenant, o.project] for i, o in sorted(state.fenced.items())],
        "shares": state.shares.dump(),
        "running": sorted(
            [list(scope), r.rate, str(r.pending), r.since_ms, r.charged_ms]
            for scope, r in state.shares.running.items()
        ),
        "arrivals": state.arrivals.dump(),
        "line": state.line.dump(),
        "waiting": [_waiting(state, entry) for entry in state.line.entries.values()],
        "claims": [
            [i, list(c.victims), _seats(state, i, c), c.depth] for i, c in state.claims.items()
        ],
        "terms": sorted([i, until_ms] for i, until_ms in state.terms.items()),
        "restored": sorted(
            [i, each.since_ms, [list(span) for span in each.earlier]]
            for i, each in state.restored.items()
        ),
    }


def _seats(state: State, entry_id: int, claim: Claim) -> list[Any]:
    """The places of a claim that stands; one that is broken keeps none."""
    if entry_id not in state.ledger.holds:
        return []
    return [[str(seat.node), seat.devices] for seat in claim.seats]


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; the nodes are there already, and open."""
    state.lease_serial, state.gang_serial = plain["lease_serial"], plain["gang_serial"]
    _load_leases(state, plain)
    _load_line(state, plain)
    state.arrivals.load(plain["arrivals"], state.ledger)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Leases keep the time they had left; all that was counted is as of the repaired time."""
    _repair_leases(plain, clock)
    for account in plain["shares"]["accounts"]:
        half_life_ms = plain["settings"]["half_life_ms"]
        account[2] = min(account[2], clock.after_ms // half_life_ms)
        account[3] = clock.past(account[3])
    for row in plain["running"]:
        row[3:] = [clock.past(at_ms) for at_ms in row[3:]]
    for row in (*plain["line"]["short"], *plain["line"]["favoured"], *plain["waiting"]):
        row[1] = clock.past(row[1])
    for row in (*plain["terms"], *plain["line"]["promises"], *plain["line"]["barred"]):
        row[1] = clock.end(row[1])
    for row in plain["restored"]:
        row[1] = clock.past(row[1])
        row[2] = [[clock.past(at_ms) for at_ms in span] for span in row[2]]


def _repair_leases(plain: Plain, clock: ClockRepair) -> None:
    columns = _columns(plain)
    changes = ((_GRANTED, clock.past), (_EXPIRES, clock.end), (_CHECKPOINT, clock.past))
    for number, change in changes:
        columns[number] = array("q", map(change, columns[number]))
    table = array("q")
    for column in columns:
        table.extend(column)
    if sys.byteorder == "big":
        table.byteswap()
    plain["rows"] = table.tobytes()


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


def _columns(plain: Plain) -> list[array[int]]:
    data, count = plain["rows"], plain["leases"]
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


def _load_leases(state: State, plain: Plain) -> None:
    ledger, take = state.ledger, state.ledger.engine.take
    update = ledger.engine.update_lease
    nodes = [entry.handle for entry in ledger.entries.values()]
    shapes = [ledger.handles.intern_shape(shape_from(row)) for row in plain["shapes"]]
    accounts = [_load_account(state, row) for row in plain["accounts"]]
    ledger.sync_quota()
    gangs: dict[int, list[int]] = {}
    rows = _columns(plain)
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
    for number, reason in plain["revoking"]:
        ledger.revoking[state.leases[number]] = PreemptionReason(reason)
    state.job_labels = {i: labels_from(told) for i, told in plain["job_labels"]}
    for number, told in plain.get("cores", ()):
        if (cores := read_cores(told)) is not None:
            state.cores.take(number, state.fields(number).node, cores=cores)
    state.fenced = {i: Owner(tenant, project) for i, tenant, project in plain["fenced"]}
    state.terms = dict(plain.get("terms", ()))
    state.restored = {
        i: Restored(since_ms, tuple((low, high) for low, high in earlier))
        for i, since_ms, earlier in plain.get("restored", ())
    }


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


def _waiting(state: State, entry: QueueEntry) -> list[Any]:
    denied, r = state.blocked[entry.id], entry.request
    why = None if denied is None else denial_body(denied)
    return [entry.id, entry.submitted_ms, str(r.tenant), _text(r.project), request_body(r), why]


def _load_line(state: State, plain: Plain) -> None:
    entries = []
    for entry_id, submitted_ms, tenant, project, body, why in plain["waiting"]:
        entries.append(
            QueueEntry(entry_id, request_from(body, tenant, project=project), submitted_ms)
        )
        state.blocked[entry_id] = None if why is None else denial_from(why)
        if why is None:
            state.untold[entry_id] = None
    state.line.load(plain["line"], entries)
    for entry in entries:
        state.count_waiting(entry.request, 1)
    bursts = state.quotas.bursts.memory()  # settled already, whatever is kept here
    for entry_id, victims, seats, depth in plain["claims"]:
        places = tuple(Seat(NodeId(node), devices) for node, devices in seats)
        gone = [state.leases[i] for i in victims if i in state.leases]
        claim, now_ms = Claim(tuple(victims), places, depth), state.quotas.clock_ms
        state.guards.claim(state.entry(entry_id), claim, gone=gone, now_ms=now_ms)
    state.quotas.bursts.recall(bursts)
    state.shares.load(plain["shares"])
    state.shares.running = {
        tuple(scope): RunningWeight(rate, int(pending), since_ms, charged_ms)
        for scope, rate, pending, since_ms, charged_ms in plain["running"]
    }

"""Cells, requests to all of them, and the home, in a snapshot; left out where there are none."""

from __future__ import annotations

from typing import Any

from bailiwick.kernel.cells.book import CellHome, CellMember, GlobalRequest, Taking
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.spelling import request_body, request_from
from bailiwick.kernel.state import State
from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What is known of cells."""
    book = state.cells
    if book.is_empty:
        return {}
    plain: Plain = {
        "serial": book.serial,
        "epoch": book.epoch,
        "members": [
            [name, each.url, each.epoch, each.standing.value, each.next_number, each.heard]
            + [1] * each.lost
            for name, each in sorted(book.members.items())
        ],
        "requests": [_row_of(each) for _, each in sorted(book.requests.items())],
    }
    if book.home is not None:
        plain["home"] = _home_row(book.home)
    return {"cells": plain}


def _row_of(each: GlobalRequest) -> list[Any]:
    r, cell = each.request, [each.cell, each.sent, int(each.waits), each.withdrawn, each.seq]
    owner = [str(r.tenant), None if r.project is None else str(r.project)]
    told = [each.status.value, *cell, list(each.leases)]
    recalled = [] if each.recalled is None else [each.recalled]
    return [each.number, each.asked_ms, *owner, request_body(r), *told, *recalled]


def _home_row(home: CellHome) -> list[Any]:
    takings = [
        [number, each.number, each.status.value, each.seq, each.entry, list(each.leases)]
        for number, each in sorted(home.takings.items())
    ]
    letting_go = [] if home.letting_go is None else [home.letting_go]
    return [home.name, home.epoch, home.done, home.deciding, takings, *letting_go]


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; what cells have is charged again."""
    told = plain.get("cells")
    if told is None:
        return
    book = state.cells
    book.serial, book.epoch = told["serial"], told["epoch"]
    for name, url, epoch, standing, next_number, heard, *lost in told["members"]:
        numbers = next_number, heard, bool(lost)
        book.members[name] = CellMember(url, epoch, CellStanding(standing), *numbers)
    for row in told["requests"]:
        each = _request_of(row)
        book.put(each)
        if each.is_charged:
            state.quotas.record_alloc(each.request, now_ms=state.quotas.clock_ms)
    if "home" in told:
        name, epoch, done, deciding, takings, *letting_go = told["home"]
        book.home = CellHome(name, epoch, done, deciding=deciding)
        book.home.letting_go = letting_go[0] if letting_go else None
        for number, order, status, seq, entry, leases in sorted(takings, key=lambda row: row[3]):
            book.home.put(number, Taking(order, TakingStatus(status), seq, entry, tuple(leases)))


def _request_of(row: list[Any]) -> GlobalRequest:
    number, asked_ms, tenant, project, body, status, cell, sent, waits, withdrawn, *told = row
    seq, leases, *recalled = told
    request = request_from(body, tenant, project=project)
    where = cell, sent, bool(waits), withdrawn, *(recalled or [None]), seq, tuple(leases)
    return GlobalRequest(number, request, asked_ms, GlobalStatus(status), *where)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Nobody asked later than now."""
    for row in plain.get("cells", {}).get("requests", ()):
        row[1] = clock.past(row[1])

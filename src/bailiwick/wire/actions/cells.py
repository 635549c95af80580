"""Cells of this plane, requests to all of them, and what a home orders in its cell."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.cells import (
    AskedEverywhere,
    CellJoin,
    CellLeave,
    CellOffer,
    CellShown,
    GlobalShown,
    HomeLetter,
    HomeShown,
    LetterReply,
)
from bailiwick.wire.work import LeaseRequest

_P, _W = Permission, Where
CELLS = "/v1/cells"
_CELL, _REQUESTS, _HERE = CELLS + "/{cell}", "/v1/global/requests", "/v1/cell"

# fmt: off
CELL_LIST = Action(
    "cell.list", "List cells", "GET", CELLS,
    _P.CELL_READ, _W.FLEET, NOTHING, Page[CellShown])
CELL_READ = Action(
    "cell.read", "Read a cell", "GET", _CELL,
    _P.CELL_READ, _W.FLEET, NOTHING, CellShown)
CELL_JOIN = Action(
    "cell.join", "Join a cell", "POST", CELLS,
    _P.CELL_OPERATE, _W.FLEET, CellJoin, Done)
CELL_LEAVE = Action(
    "cell.leave", "Part with a cell", "POST", _CELL + "/leave",
    _P.CELL_OPERATE, _W.FLEET, CellLeave, Done)
GLOBAL_REQUEST_ASK = Action(
    "global_request.ask", "Ask for a lease in any cell", "POST", _REQUESTS,
    _P.QUEUE_SUBMIT, _W.BODY, LeaseRequest, AskedEverywhere, status=201)
GLOBAL_REQUEST_LIST = Action(
    "global_request.list", "List requests to all cells", "GET", _REQUESTS,
    _P.LEASE_READ, _W.ROWS, NOTHING, Page[GlobalShown])
GLOBAL_REQUEST_READ = Action(
    "global_request.read", "Read a request to all cells", "GET", _REQUESTS + "/{global_id}",
    _P.LEASE_READ, _W.ENTRY, NOTHING, GlobalShown)
GLOBAL_REQUEST_WITHDRAW = Action(
    "global_request.withdraw", "Withdraw a request to all cells", "DELETE",
    _REQUESTS + "/{global_id}",
    _P.LEASE_HOLD, _W.ENTRY, NOTHING, Done)
CELL_HOME_READ = Action(
    "cell_home.read", "Read whose cell this is", "GET", _HERE + "/home",
    _P.CELL_READ, _W.FLEET, NOTHING, HomeShown)
CELL_HOME_LEAVE = Action(
    "cell_home.leave", "Be nobody's cell any more", "DELETE", _HERE + "/home",
    _P.CELL_OPERATE, _W.FLEET, NOTHING, Done)
CELL_HOME_LETTER = Action(
    "cell_home.letter", "Order what a home wants of its cell", "POST", _HERE + "/letters",
    _P.CELL_HOME, _W.FLEET, HomeLetter, LetterReply)
CELL_HOME_OFFER = Action(
    "cell_home.offer", "Ask what a cell could do for a request", "POST", _HERE + "/offers",
    _P.CELL_HOME, _W.FLEET, LeaseRequest, CellOffer, is_question=True)
# fmt: on

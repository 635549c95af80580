"""``bailiwick cell``: planes of their own under one admission, and what is asked of all of them.

``list``, ``show``, ``join`` and ``leave`` are for a home's operators, ``ask``, ``requests`` and
``withdraw`` for people there. ``home`` and ``leave-home`` are for the operators of a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import RequestOptions, ask_of, wish_of
from bailiwick.cli.shared.output import Columns, Format, draw_details, emit
from bailiwick.cli.shared.screen import owner
from bailiwick.cli.shared.units import parse_id
from bailiwick.phrases.amounts import amount, plural, span
from bailiwick.phrases.times import moment

if TYPE_CHECKING:
    from bailiwick.wire.cells import CellShown, GlobalShown, HomeShown

app = noun("Cells: planes of their own under one admission.")

_CellName = Annotated[str, typer.Argument(metavar="CELL", help="Its name.")]
_RequestId = Annotated[str, typer.Argument(metavar="REQUEST", help="7 or request-7.")]


def _heard(found: CellShown) -> str:
    return "-" if found.heard_ms is None else moment(found.heard_ms)


_CELLS: Columns[CellShown] = Columns(
    ("cell", "standing", "epoch", "requests", "heard", "trouble*"),
    lambda c: (
        c.cell,
        c.standing.value,
        str(c.epoch),
        str(c.requests),
        _heard(c),
        c.trouble or "-",
    ),
    lambda c: c.cell,
    numbers=("epoch", "requests"),
    empty="this plane has no cell",
)


def spell_asked(found: GlobalShown) -> str:
    """What is asked for, of each member."""
    parts = []
    if found.gpu_count:
        parts.append(amount("gpu_milli", found.gpu_count * found.gpu_milli))
    for unit, value in (("cpu_milli", found.cpu_milli), ("mem_bytes", found.mem_bytes)):
        if value:
            parts.append(amount(unit, value))
    members = f"{found.gang_size} x " if found.gang_size > 1 else ""
    return members + ", ".join(parts)


def _leases(found: GlobalShown) -> str:
    return ", ".join(f"lease-{number}" for number in found.leases) or "-"


_REQUESTS: Columns[GlobalShown] = Columns(
    ("request", "owner", "status", "cell", "leases", "asks for*", "priority", "waits for"),
    lambda r: (
        f"request-{r.global_id}",
        owner(r.tenant, r.project),
        r.status.value,
        r.cell or "-",
        _leases(r),
        spell_asked(r),
        r.priority.value,
        "-" if r.waits_for is None else r.waits_for.value,
    ),
    lambda r: f"request-{r.global_id}",
    empty="no request to all cells that you may see",
)


@verb(app, "list", lists=True)
def list_cells(ask: Ask) -> None:
    """The cells of this plane, and how it stands with them.

    Example: bailiwick cell list
    """
    from bailiwick.wire.actions.cells import CELL_LIST

    ask.list(CELL_LIST, columns=_CELLS)


@verb(app, "show")
def show_cell(ask: Ask, cell: _CellName) -> None:
    """One cell: whether it is reached, and if not, why.

    Example: bailiwick cell show east
    """
    from bailiwick.wire.actions.cells import CELL_READ

    found = ask.client.send(CELL_READ, path={"cell": path_word("CELL", cell)})
    ask.printer.thing(found, name=found.cell, draw=lambda: _draw_cell(found))


def _draw_cell(found: CellShown) -> None:
    free = "not known"
    if found.free_gpu_milli is not None and found.free_cpu_milli is not None:
        gpus, cores = found.free_gpu_milli, found.free_cpu_milli
        free = f"{amount('gpu_milli', gpus)}, {amount('cpu_milli', cores)}"
    draw_details(
        "cell",
        found.cell,
        rows=[
            ("standing", found.standing.value),
            ("address", found.url),
            ("epoch", str(found.epoch)),
            ("requests", str(found.requests)),
            ("last heard", _heard(found)),
            ("free there", free),
            ("trouble", found.trouble or "-"),
        ],
    )


@verb(app, "join", changes=True)
def join_cell(
    ask: Ask,
    cell: _CellName,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="https://HOST:PORT of that plane.")],
) -> None:
    """Have another plane as a cell; it gets nothing before it was met.

    The server needs a key for this URL: bailiwick up --cell-keys.

    Example: bailiwick cell join east https://east.example:7077
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.cells import CELL_JOIN
    from bailiwick.wire.cells import CellJoin

    body = make_body(CellJoin, cell=cell, url=url)
    ask.change(CELL_JOIN, body=body, told=f"cell {cell} has joined")


@verb(app, "leave", changes=True)
def leave_cell(
    ask: Ask,
    cell: _CellName,
    *,
    lost: Annotated[
        bool,
        typer.Option("--lost", help="It is gone, and nothing runs there: what it had is over."),
    ] = False,
) -> None:
    """Part with a cell that has no requests; or give it up as lost, with all that it has.

    Example: bailiwick cell leave east --lost -y
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.cells import CELL_LEAVE, CELL_READ
    from bailiwick.wire.cells import CellLeave

    path = {"cell": path_word("CELL", cell)}
    question = f"Part with {cell}?"
    if lost:
        inside = plural(ask.client.send(CELL_READ, path=path).requests, "request")
        question = f"Give up {cell} with {inside}? Whatever still runs there is forgotten here."
    ask.confirm(question)
    told = f"cell {cell} is given up as lost" if lost else f"cell {cell} has left"
    ask.change(CELL_LEAVE, path=path, body=make_body(CellLeave, lost=lost), told=told)


@app.command("ask")
@with_options(RequestOptions, without=("no_wait", "scheduler_type"))
def ask_everywhere(options: RequestOptions) -> None:
    """Ask for a lease in whichever cell has room; one cell gets it.

    Example: bailiwick cell ask --gpus 8 --ttl 4h
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.tools.job_files.words import body_of
    from bailiwick.wire.actions.cells import GLOBAL_REQUEST_ASK
    from bailiwick.wire.work import LeaseRequest

    ask = ask_of(options, dry_run=options.dry_run)
    body = make_body(LeaseRequest, **body_of(wish_of(options, ask, defaults=False), is_job=False))
    found = ask.client.send(GLOBAL_REQUEST_ASK, body=body, dry_run=options.dry_run)
    if ask.output in (Format.JSON, Format.YAML):
        ask.printer.document(found)
    elif found.global_id is None:
        emit("it would be asked (dry run: nothing was changed)")
    else:
        name = f"request-{found.global_id}"
        told = f"{name} is asked of all cells; when it is over, bailiwick trace says why: "
        emit(name if ask.output is Format.NAME else f"{told}global-{found.global_id}")


@verb(app, "requests", lists=True)
def list_requests(ask: Ask) -> None:
    """The requests to all cells that you may see: where each is, and its leases there.

    Example: bailiwick cell requests
    """
    from bailiwick.wire.actions.cells import GLOBAL_REQUEST_LIST

    ask.list(GLOBAL_REQUEST_LIST, columns=_REQUESTS)


@verb(app, "request")
def show_request(ask: Ask, request: _RequestId) -> None:
    """One request to all cells.

    Example: bailiwick cell request request-7
    """
    from bailiwick.wire.actions.cells import GLOBAL_REQUEST_READ

    found = ask.client.send(GLOBAL_REQUEST_READ, path={"global_id": parse_id("request", request)})
    name = f"request-{found.global_id}"
    ask.printer.thing(found, name=name, draw=lambda: _draw_request(found))


def _draw_request(found: GlobalShown) -> None:
    draw_details(
        "request",
        f"request-{found.global_id}",
        rows=[
            ("owner", owner(found.tenant, found.project)),
            ("status", found.status.value),
            ("cell", found.cell or "-"),
            ("leases there", _leases(found)),
            ("asks for", spell_asked(found)),
            ("priority", found.priority.value),
            ("class", found.lease_class.value),
            ("term", span(found.ttl_ms)),
            ("asked", moment(found.asked_ms)),
            ("waits for", "-" if found.waits_for is None else found.waits_for.value),
        ],
    )


@verb(app, "withdraw", changes=True)
def withdraw_request(ask: Ask, request: _RequestId) -> None:
    """Take a request back: it leaves the line, or its leases end in its cell.

    Example: bailiwick cell withdraw request-7
    """
    from bailiwick.wire.actions.cells import GLOBAL_REQUEST_WITHDRAW

    number = parse_id("request", request)
    path = {"global_id": number}
    ask.change(GLOBAL_REQUEST_WITHDRAW, path=path, told=f"request-{number} is taken back")


@verb(app, "home")
def show_home(ask: Ask) -> None:
    """In a cell: whose it is, and how much of that plane's it has.

    Example: bailiwick cell home
    """
    from bailiwick.wire.actions.cells import CELL_HOME_READ

    found = ask.client.send(CELL_HOME_READ)
    ask.printer.thing(found, name=found.home, draw=lambda: _draw_home(found))


def _draw_home(found: HomeShown) -> None:
    draw_details(
        "home",
        found.home,
        rows=[
            ("epoch", str(found.epoch)),
            ("orders done", str(found.done)),
            ("requests here", str(found.held)),
        ],
    )


@verb(app, "leave-home", changes=True)
def leave_home(ask: Ask) -> None:
    """In a cell: be nobody's any more; only while nothing of its home's is there.

    Its home must part with it as well, or it meets it again.

    Example: bailiwick cell leave-home -y
    """
    from bailiwick.wire.actions.cells import CELL_HOME_LEAVE

    ask.confirm("Be nobody's cell any more?")
    ask.change(CELL_HOME_LEAVE, told="this plane is nobody's cell")

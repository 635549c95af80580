"""Cells: what one admission over a hundred of them takes, beside the decision of a single one.

Twice: in a program that has all the ledgers (:class:`Federation`), and between planes, where each
cell decides for itself. There the cells that are asked are asked at once, so what counts is one
cell's offer, the home's own work (whom to ask, whom to choose, sealing the order, writing the
letter) and the cell's decision when it takes it; two round trips stand between them, where one cell
alone has one.
"""

from __future__ import annotations

from collections.abc import Callable

from bailiwick import (
    AdmissionController,
    CapacityLedger,
    Federation,
    GpuDevice,
    HardwareGeneration,
    NodeCapacity,
    Placed,
    PlacementRequest,
    Quota,
    QuotaManager,
    ResourceLimit,
    TenantId,
)
from bailiwick.kernel import Envelope, Kernel, RegisterNode, SetQuota, Submit
from bailiwick.kernel.cells import link
from bailiwick.kernel.cells.book import CellBook, GlobalRequest
from bailiwick.kernel.cells.commands import AskGlobally, JoinCell, MeetHome, ReachCell, SendGlobal
from bailiwick.kernel.cells.offers import ChosenCell, asked_first, choose_cell, offer
from bailiwick.kernel.people.commands import CreateTenant
from bailiwick.reconcile.cells.placement import LOOKED_AT
from bailiwick.reconcile.cells.turns import Turns
from bailiwick.scheduler.rights.ceilings import OPEN
from bench.measure import Rate, rate, say
from bench.report import Section, Table

CELLS, NODES, TIMES = 100, 1_000, 4_000
CELLS_QUICK, TIMES_QUICK = 20, 500
LINES, LINES_QUICK = (100, 100_000), (100, 10_000)
BAR = 2.0
GPU = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30)
NODE = NodeCapacity(cpu_cores=64, mem_bytes=10**12, gpus=[GPU] * 8)
ASK = PlacementRequest(tenant=TenantId("lab"), cpu_cores=1, gpu_count=1, ttl_ms=3_600_000)
HOME = "campus"
WIDE = Quota(
    limits=(ResourceLimit.gpu_count(10**6), ResourceLimit.cpu_cores(10**6)),
    ceiling=OPEN,  # all that is to be sent waits at once
)


def ledger_of(nodes: int) -> AdmissionController:
    """One cell of that many machines, empty."""
    ledger = CapacityLedger()
    for number in range(nodes):
        ledger.register_node(f"n{number}", NODE)
    return AdmissionController(ledger)


def library_rates(cells: int, times: int) -> dict[str, Rate]:
    """Admissions into one cell, and into many under one admission; each is given back again."""
    say(f"cells: {cells} ledgers of {NODES:,} nodes")
    single, fleet = ledger_of(NODES), Federation(quotas=QuotaManager())
    single.ledger.attach_quotas(QuotaManager())
    for number in range(cells):
        fleet.add_cell(f"cell-{number}", ledger_of(NODES))

    def admit_one(_: int) -> None:
        found = single.admit(ASK, now_ms=1)
        single.ledger.release(found.leases[0].id, now_ms=1)  # type: ignore[union-attr]

    def admit_fleet(_: int) -> None:
        found = fleet.admit(ASK, now_ms=1)
        assert isinstance(found, Placed)
        fleet.cell(found.cell).admission.ledger.release(found.decision.leases[0].id, now_ms=1)

    turns = list(range(times))
    return {
        "one": rate(admit_one, turns, block=200),
        "fleet": rate(admit_fleet, turns, block=200),
    }


def plane_rates(cells: int, times: int) -> dict[str, Rate]:
    """The kernel's decisions: of one plane alone, and in the three parts of a global one."""
    say(f"cells: a home of {cells} cells, and a cell of {NODES:,} nodes")
    alone, cell, home = Kernel(simulated=True), Kernel(simulated=True), Kernel(simulated=True)
    for kernel in (alone, cell, home):
        kernel.execute(Envelope(SetQuota("lab", WIDE)), 1)
    for kernel in (alone, cell):
        for number in range(NODES):
            kernel.execute(Envelope(RegisterNode(f"n{number}", NODE)), 1)
    cell.execute(Envelope(CreateTenant("lab")), 1)
    epoch = 0
    for number in reversed(range(cells)):  # the cell that all is sent to is met last
        home.execute(Envelope(JoinCell(f"cell-{number}", f"https://cell-{number}.example")), 1)
        epoch = link.meeting(home.state, f"cell-{number}", home=HOME).epoch
        home.execute(Envelope(ReachCell(f"cell-{number}", epoch, 0)), 1)
    cell.execute(Envelope(MeetHome(HOME, epoch)), 1)
    for _ in range(times):
        home.execute(Envelope(AskGlobally(ASK)), 1)
    free = {f"cell-{number}": (8_000 * NODES - number, 0) for number in range(cells)}

    def decide(_: int) -> None:
        alone.execute(Envelope(Submit(ASK)), 1)

    def give_offer(_: int) -> None:
        offer(cell.state, ASK, now_ms=1)

    mail: list[link.CellLetter] = []

    def send(turn: int) -> None:
        chosen = choose_cell(dict.fromkeys(asked_first(free), offered))
        assert isinstance(chosen, ChosenCell)
        home.execute(Envelope(SendGlobal(turn + 1, "cell-0")), 1)
        last = link.CellReply(epoch, 1, turn)  # as far as the cell will be when this comes
        mail.append(link.letter(home.state, "cell-0", home=HOME, last=last))

    def take(turn: int) -> None:
        for command in link.commands_of(mail[turn]):
            cell.execute(Envelope(command), 1)

    offered = offer(cell.state, ASK, now_ms=1)
    turns = list(range(times))
    parts: dict[str, Callable[[int], None]] = {
        "decide": decide,
        "offer": give_offer,
        "send": send,
        "take": take,
    }
    return {name: rate(each, turns, block=200) for name, each in parts.items()}


def look_rates(lines: list[int], times: int) -> list[Rate]:
    """Looks at lines of that many: one is new, and all others were told to wait."""
    found: list[Rate] = []
    for waiting in lines:
        say(f"cells: {waiting:,} wait in no cell")
        book, line = CellBook(), Turns()
        for number in range(waiting):
            book.put(GlobalRequest(number, ASK, 1))
        line.meet(line.news(book))
        for each in line.take(waiting, now_ms=1):
            line.put_off(each, 10**12)

        def look(turn: int, book: CellBook = book, line: Turns = line) -> None:
            number = 10**9 + turn
            book.put(GlobalRequest(number, ASK, 1))
            line.meet(line.news(book))
            (each,) = line.take(LOOKED_AT, now_ms=1)
            book.drop(number)
            line.forget(each)

        found.append(rate(look, list(range(times)), block=200))
    return found


def run(*, quick: bool = False) -> Section:
    """The section: both ways, each beside one cell's decision in the same run."""
    cells, times = (CELLS_QUICK, TIMES_QUICK) if quick else (CELLS, TIMES)
    section = Section("cells", "One admission over many cells")
    few, many = LINES_QUICK if quick else LINES
    short, long = look_rates([few, many], times)
    library, planes = library_rates(cells, times), plane_rates(cells, times)
    table = Table("microseconds of CPU", ["what", "quieter quartile", "times one decision"])
    rows = [
        ("library: one cell", library["one"], library["one"]),
        (f"library: {cells} cells", library["fleet"], library["one"]),
        ("plane: one decision", planes["decide"], planes["decide"]),
        ("plane: a cell's offer", planes["offer"], planes["decide"]),
        ("plane: home chooses and orders", planes["send"], planes["decide"]),
        ("plane: the cell takes it", planes["take"], planes["decide"]),
        (f"plane: a look where {few:,} wait", short, planes["decide"]),
        (f"plane: a look where {many:,} wait", long, planes["decide"]),
    ]
    for what, measured, beside in rows:
        micros, times_one = 1e6 / measured.quiet, beside.quiet / measured.quiet
        table.rows.append([what, f"{micros:,.1f}", f"{times_one:.2f}"])
    section.tables.append(table)
    one = 1 / planes["decide"].quiet
    whole = sum(1 / planes[name].quiet for name in ("offer", "send", "take"))
    section.data = {
        "library_ratio": library["one"].quiet / library["fleet"].quiet,
        "plane_ratio": whole / one,
        "look_ratio": short.quiet / long.quiet,
    }
    section.notes.append(
        f"{cells} cells of {NODES:,} nodes. Cells are asked at once, each by its own processor; a "
        "request to all of them takes two round trips (offers, order), one to a cell takes one. "
        f"All three parts are {whole / one:.2f} times one decision of CPU; with the round trips of "
        "real servers it is not measured here."
    )
    ratio = library["one"].quiet / library["fleet"].quiet
    section.bar_at_most("library: admission over all cells, beside one", ratio, BAR)
    looks = short.quiet / long.quiet
    what = f"plane: a look where {many:,} wait, beside {few:,}"
    section.bar_at_most(what, looks, BAR)
    return section

"""``bailiwick fleet``: what there is, and what of it is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.screen import make_console, print_table, table_of
from bailiwick.phrases.amounts import milli, money, size
from bailiwick.vocab.words import HardwareGeneration

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Node
    from bailiwick.wire.usage import Rates
    from bailiwick.wire.work import Lease

command = typer.Typer(add_completion=False)


@dataclass(slots=True)
class _Sum:
    """The devices of one generation, in milli-shares."""

    nodes: int = 0
    whole: int = 0
    closed: int = 0
    leased: int = 0


@verb(command, "fleet")
def fleet(ask: Ask) -> None:
    """What there is, by generation: devices, leased, free, closed, and the price of an hour.

    What others hold is counted only where you may see their leases.

    Example: bailiwick fleet
    """
    from bailiwick.wire.actions.leases import LEASE_LIST
    from bailiwick.wire.actions.nodes import NODE_LIST

    page = ask.client.pages(NODE_LIST)
    if ask.output is not Format.TABLE:
        ask.printer.rows(page, _columns())
        return
    leases = ask.client.pages(LEASE_LIST)
    _draw_fleet(page.items, leases.items, rates=_rates(ask))


def _columns() -> Any:
    from bailiwick.cli.commands.node import NODES

    return NODES


def _rates(ask: Ask) -> Rates | None:
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.rates import RATES_READ

    try:
        return ask.client.send(RATES_READ)
    except Refusal:  # a server without prices, or somebody who may not read them
        return None


def _draw_fleet(nodes: list[Node], leases: list[Lease], *, rates: Rates | None) -> None:
    sums: dict[HardwareGeneration, _Sum] = {}
    devices = {node.node: [gpu.generation for gpu in node.gpus] for node in nodes}
    for node in nodes:
        for generation in dict.fromkeys(devices[node.node]):
            found = sums.setdefault(generation, _Sum())
            count = devices[node.node].count(generation) * 1000
            found.nodes += 1
            found.whole += count
            found.closed += 0 if node.takes_leases else count
    for lease in leases:
        held = [devices.get(lease.node, [])[d : d + 1] for d in lease.devices]
        for generations in held:
            for generation in generations:
                sums[generation].leased += lease.resources.gpu_milli // len(lease.devices)
    console = make_console()
    if sums:
        rows = [_generation_row(word, sums[word], rates=rates) for word in sorted(sums)]
        headings = ("generation", "nodes", "gpus", "leased", "free", "closed", "an hour")
        print_table(console, table_of(headings, rows, numbers=headings[1:]))
    else:
        console.print("no GPUs in the fleet")
    open_nodes = [node for node in nodes if node.takes_leases]
    cores = milli(sum(node.resources.cpu_milli for node in open_nodes))
    memory = size(sum(node.resources.mem_bytes for node in open_nodes))
    quarantined = sum(node.quarantined for node in nodes)
    console.print(
        f"\nnodes: {len(nodes):,} in all, {len(open_nodes):,} take leases, {quarantined:,} are "
        f"quarantined; those that take leases have {cores} cores and {memory} of memory"
    )


def _generation_row(
    word: HardwareGeneration, found: _Sum, *, rates: Rates | None
) -> tuple[str, ...]:
    free = max(0, found.whole - found.leased - found.closed)
    price = "-" if rates is None else _price(word, rates)
    amounts = (found.whole, found.leased, free, found.closed)
    return (word.value, str(found.nodes), *(milli(each) for each in amounts), price)


def _price(word: HardwareGeneration, rates: Rates) -> str:
    price = rates.gpu_micros_per_hour.get(word)
    return "-" if price is None else f"{money(price)} {rates.currency}"

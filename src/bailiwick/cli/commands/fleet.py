"""``bailiwick fleet``: what there is, and what of it is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.screen import make_console, print_table, table_of
from bailiwick.phrases.amounts import milli, money, size
from bailiwick.vocab.words import Dimension, HardwareGeneration

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Node, QuotaState
    from bailiwick.wire.usage import Rates

command = typer.Typer(add_completion=False)


_MILLI: Final = 1_000


@dataclass(slots=True)
class _Sum:
    """The devices of one generation, in milli-shares."""

    nodes: int = 0
    whole: int = 0
    closed: int = 0
    free: int = 0


@verb(command, "fleet", scope="project")
def fleet(
    ask: Ask,
    *,
    drawn: Annotated[
        bool, typer.Option("--map", help="Every GPU as a letter, by the tenant that holds it.")
    ] = False,
) -> None:
    """What there is, by generation: devices, in use, free, closed, and the price of an hour.

    Free is what could be given to you now, whoever holds the rest. Where the quota of your tenant
    (or project) leaves less, "for you" says how much. Who may read every lease sees with --map
    which tenant holds each GPU; everybody else sees his own there.

    Example: bailiwick fleet --map
    """
    if drawn:
        _show_map(ask)
        return
    from bailiwick.wire.actions.nodes import NODE_LIST

    page = ask.client.pages(NODE_LIST)
    if ask.output is not Format.TABLE:
        ask.printer.rows(page, _columns())
        return
    _draw_fleet(page.items, quota=_quota(ask), rates=_rates(ask))


def _show_map(ask: Ask) -> None:
    from bailiwick.cli.trees.fleet_map import map_lines
    from bailiwick.wire.actions.nodes import FLEET_PICTURE

    found = ask.client.send(FLEET_PICTURE)

    def draw() -> None:
        for line in map_lines(found):
            typer.echo(line)

    ask.printer.thing(found, name="fleet", draw=draw)


def _columns() -> Any:
    from bailiwick.cli.nodes.drawing import NODES

    return NODES


def _rates(ask: Ask) -> Rates | None:
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.rates import RATES_READ

    try:
        return ask.client.send(RATES_READ)
    except Refusal:  # a server without prices, or somebody who may not read them
        return None


def _quota(ask: Ask) -> QuotaState | None:
    """What limits the tenant or project that is meant, if one is."""
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.tenants import PROJECT_QUOTA_READ, TENANT_QUOTA_READ

    if (ask.given.get("tenant") or ask.session.tenant) is None:
        return None
    place = {"tenant": ask.tenant}
    try:
        if ask.project is None:
            return ask.client.send(TENANT_QUOTA_READ, path=place)
        return ask.client.send(PROJECT_QUOTA_READ, path=place | {"project": ask.project})
    except Refusal:  # one who may not read it, or a default that is gone
        return None


def _draw_fleet(nodes: list[Node], *, quota: QuotaState | None, rates: Rates | None) -> None:
    sums: dict[HardwareGeneration, _Sum] = {}
    for node in nodes:
        for generation in dict.fromkeys(gpu.generation for gpu in node.gpus):
            sums.setdefault(generation, _Sum()).nodes += 1
        free = node.gpus_free_milli or [0] * len(node.gpus)
        for gpu, milli_free in zip(node.gpus, free, strict=True):
            found = sums[gpu.generation]
            found.whole += _MILLI
            found.free += milli_free
            found.closed += 0 if node.takes_leases else _MILLI
    console = make_console()
    if sums:
        limited = quota is not None and _is_limited(quota, sums)
        shown = quota if limited else None
        rows = [_row(word, sums[word], quota=shown, rates=rates) for word in sorted(sums)]
        more = ("for you",) if limited else ()
        headings = ("generation", "nodes", "gpus", "in use", "free", *more, "closed", "an hour")
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


def _row(
    word: HardwareGeneration, found: _Sum, *, quota: QuotaState | None, rates: Rates | None
) -> tuple[str, ...]:
    in_use = max(0, found.whole - found.free - found.closed)
    amounts = [found.whole, in_use, found.free]
    if quota is not None:
        amounts.append(min([found.free, *_left(quota, word)]))
    price = "-" if rates is None else _price(word, rates)
    return (
        word.value,
        str(found.nodes),
        *(milli(each) for each in amounts),
        milli(found.closed),
        price,
    )


def _is_limited(quota: QuotaState, sums: dict[HardwareGeneration, _Sum]) -> bool:
    """Whether the quota leaves less than what is free of any generation."""
    return any(left < found.free for word, found in sums.items() for left in _left(quota, word))


def _left(quota: QuotaState, word: HardwareGeneration) -> list[int]:
    """What the limits that count for a generation leave, in milli-shares."""
    rooms = (quota.dimensions.get(Dimension.GPU_COUNT), quota.generations.get(word))
    left = (room.left for room in rooms if room is not None)
    return [max(0, each) * _MILLI for each in left if each is not None]


def _price(word: HardwareGeneration, rates: Rates) -> str:
    price = rates.gpu_micros_per_hour.get(word)
    return "-" if price is None else f"{money(price)} {rates.currency}"

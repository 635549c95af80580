"""What a change would lead to, in a few lines: of a node's mode, of a quota, of a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from bailiwick.cli.shared.periods import spell_money
from bailiwick.cli.shared.quota_words import name_of
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.phrases.amounts import milli, plural, size
from bailiwick.phrases.states import BUDGETS
from bailiwick.phrases.times import moment
from bailiwick.vocab.words import Dimension

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Held
    from bailiwick.wire.foreseen import (
        AtOnce,
        BudgetSet,
        LimitChange,
        ModeConsequence,
        ModeSet,
        QuotaRebalanced,
        QuotaSet,
        TouchedOnes,
    )

UNTRIED = "what it would do at once is not known: the fleet is too large, or others are trying"


def draw_mode(done: ModeSet) -> None:
    """What a change of a node's mode would do."""
    found = done.consequence
    if found is not None:
        for line in _mode_lines(found):
            typer.echo(line)
        _draw_leaving(found)


def _mode_lines(found: ModeConsequence) -> Iterator[str]:
    if found.leaving and found.until_ms is not None:
        gangs = f", {plural(found.gangs, 'gang')} among them" if found.gangs else ""
        beside = f"; {found.elsewhere} of them on other nodes" if found.elsewhere else ""
        yield f"ends {plural(found.leaving, 'lease')} by {moment(found.until_ms)}{gangs}{beside}"
    else:
        yield "ends no lease"
    if found.staying:
        alone = "itself" if found.staying == 1 else "themselves"
        yield f"{plural(found.staying, 'lease')} there may end by {alone}"
    for each in found.room:
        now, after = milli(each.free_milli), milli(each.free_after_milli)
        yield f"free {each.generation.value} GPUs in the fleet: {now} now, {after} then"


def _draw_leaving(found: ModeConsequence) -> None:
    if not found.leases:
        return
    rows = [
        (
            "-" if each.lease_id is None else f"lease-{each.lease_id}",
            each.tenant,
            each.node,
            moment(each.until_ms),
        )
        for each in found.leases
    ]
    print_rows(make_console(), ("lease", "of", "on", "until"), rows=rows, title="Would be ended")
    more = found.leaving - len(found.leases)
    if more:
        typer.echo(f"and {more} more")


def draw_quota(done: QuotaSet) -> None:
    """What another quota would do."""
    found = done.consequence
    if found is None:
        return
    rows = [(name_of(word), *_limit(word, each)) for word, each in found.limits.items()]
    gpus = Dimension.GPU_COUNT
    rows += [(word.value, *_limit(gpus, each)) for word, each in found.gpu_limits.items()]
    heads = ("limit on", "now", "then", "used", "above")
    print_rows(make_console(), heads, rows=rows, title="Limits", numbers=heads[1:])
    if any(each.over for each in (*found.limits.values(), *found.gpu_limits.values())):
        typer.echo("what is above a limit goes on, but is not renewed")
    for line in at_once_lines(found.at_once):
        typer.echo(line)


def draw_rebalance(done: QuotaRebalanced) -> None:
    """Who would go to bring a tenant or project back inside its quota."""
    found = done.consequence
    if found is None:
        return
    gpus = {word.value: (Dimension.GPU_COUNT, each) for word, each in found.gpu_over.items()}
    rows = {name_of(word): (word, each) for word, each in found.over.items()} | gpus
    shown = [
        (name, _above(word, each.over), _above(word, each.over_after))
        for name, (word, each) in rows.items()
    ]
    heads = ("limit on", "above", "then")
    print_rows(make_console(), heads, rows=shown, title="Above the quota", numbers=heads[1:])
    ended = f"{plural(found.leaving, 'lease')} by {moment(found.until_ms)}"
    gangs = f", {plural(found.gangs, 'gang')} among them" if found.gangs else ""
    typer.echo(f"ends {ended}{gangs}, at a loss of {found.cost:,}")
    told = [
        (
            "-" if each.lease_id is None else f"lease-{each.lease_id}",
            owner(each.tenant, each.project),
            each.node,
            _held(each.held),
            f"{each.cost:,}",
            moment(each.until_ms),
        )
        for each in found.leases
    ]
    columns = ("lease", "of", "on", "holds", "loss", "until")
    print_rows(make_console(), columns, rows=told, title="Would be ended", numbers=("loss",))
    if found.leaving > len(told):
        typer.echo(f"and {found.leaving - len(told)} more")


def _above(word: Dimension, value: int) -> str:
    if word in (Dimension.CPU_MILLI, Dimension.GPU_COUNT):
        return milli(value)
    return f"{value:,}" if word is Dimension.LEASE_COUNT else size(value)


def _held(held: Held) -> str:
    cells = [f"{milli(held.cpu_milli)} cores", size(held.mem_bytes)]
    return ", ".join([*cells, f"{milli(held.gpu_milli)} GPUs"] if held.gpu_milli else cells)


def _limit(word: Dimension, each: LimitChange) -> tuple[str, ...]:
    def shown(value: int | None) -> str:
        if value is None:
            return "-"
        if word is Dimension.CPU_MILLI:
            return milli(value)
        sized = (Dimension.MEM_BYTES, Dimension.BLOCK_BYTES, Dimension.GPU_VRAM)
        return size(value) if word in sized else f"{value:,}"

    return shown(each.before), shown(each.after), shown(each.used), shown(each.over or None)


def draw_budget(done: BudgetSet) -> None:
    """What another budget would do."""
    found = done.consequence
    if found is None:
        return
    unit = found.currency
    if found.spent_micros is not None and found.projected_micros is not None:
        typer.echo(f"spent {spell_money(found.spent_micros)} {unit} of it so far")
        typer.echo(f"heading for {spell_money(found.projected_micros)} {unit} with what runs now")
    if found.state is not None:
        typer.echo(f"it would be {BUDGETS[found.state]}")
        end = found.used_up_ms
        told = "never, by what runs now" if end is None else f"by {moment(end)}, by what runs now"
        typer.echo(f"used up: {told}")
    for line in at_once_lines(found.at_once):
        typer.echo(line)


def at_once_lines(found: AtOnce | None) -> Iterator[str]:
    """What the scheduler would do as soon as it counts."""
    if found is None:
        yield UNTRIED
        return
    number = plural(found.starts.count, "waiting request") if found.starts.count else "no request"
    yield f"at once {number} would start"
    yield from _named(found.starts, "entry")
    if found.hopeless.count:
        yield f"for {plural(found.hopeless.count, 'waiting request')} waiting would help no more"
        yield from _named(found.hopeless, "entry")
    if found.ends.count:
        yield f"{plural(found.ends.count, 'lease')} would be ended"
        yield from _named(found.ends, "lease")
    if found.others_end:
        yield f"{plural(found.others_end, 'lease')} of others would be ended to make room"


def _named(found: TouchedOnes, noun: str) -> Iterator[str]:
    if found.first:
        more = found.count - len(found.first)
        names = " ".join(f"{noun}-{number}" for number in found.first)
        yield f"  {names}" + (f" and {more} more" if more else "")

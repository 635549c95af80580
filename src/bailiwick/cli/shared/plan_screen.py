"""What a dry run tells: the place, those who would have to go, and the price."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import typer

from bailiwick.cli.shared.phrases import moment, phrase_denial, phrase_estimate, phrase_price
from bailiwick.cli.shared.screen import make_console, print_rows

if TYPE_CHECKING:
    from bailiwick.wire.answers import Plan, Victim


def draw_plan(plan: Plan) -> None:
    """A plan for people."""
    from bailiwick.wire import answers as ans

    match plan:
        case ans.WouldGrant():
            typer.echo(f"would run at once on {_places(plan.nodes)}")
        case ans.WouldPreempt():
            count = len(plan.victims)
            leases = "1 lease has" if count == 1 else f"{count} leases have"
            typer.echo(
                f"would run on {_places(plan.nodes)} after {leases} to go, "
                f"by {moment(plan.until_ms)}"
            )
            _draw_victims(plan.victims)
        case ans.WouldQueue():
            why = "others are before it" if plan.denied is None else phrase_denial(plan.denied)
            typer.echo(f"would wait: {why}")
            typer.echo(f"may start: {phrase_estimate(plan.estimate)}")
        case ans.WouldRefuse():
            typer.echo(f"would be refused: {phrase_denial(plan.denied)}")
        case _:
            assert_never(plan)
    typer.echo(f"price: {phrase_price(plan.price)}")


def _draw_victims(victims: list[Victim]) -> None:
    rows = [
        (
            "-" if each.lease_id is None else f"lease-{each.lease_id}",
            each.tenant,
            each.priority.value,
            each.lease_class.value,
        )
        for each in victims
    ]
    print_rows(
        make_console(),
        ("lease", "tenant", "priority", "class"),
        rows=rows,
        title="Would have to go",
    )
    typer.echo("")


def _places(nodes: list[str]) -> str:
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node] = counts.get(node, 0) + 1
    return ", ".join(f"{node} ({n} members)" if n > 1 else node for node, n in counts.items())

"""Options that a booking and a series have alike, and whose they are."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.apps.arguments import place_of
from bailiwick.cli.maintenance.options import DryRunOption, OutputOption
from bailiwick.cli.shared.ask import Ask, path_word
from bailiwick.cli.shared.completions import (
    complete_generations,
    complete_nodes,
    complete_projects,
    complete_tenants,
)
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.session import load_session
from bailiwick.phrases.amounts import plural, span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_generation, parse_span

if TYPE_CHECKING:
    from bailiwick.wire.bookings import BookingWish


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BookingOptions:
    """What is kept, and for whom."""

    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", min=1, help="So many whole nodes.")
    ] = None
    gpus: Annotated[
        int | None,
        typer.Option("--gpus", metavar="N", min=1, help="So many GPUs, summed over whole nodes."),
    ] = None
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node", metavar="NODE", help="By name; repeat it.", autocompletion=complete_nodes
        ),
    ] = None
    generation: Annotated[
        str | None,
        typer.Option(
            "--generation", help="nvidia_hopper, ...", autocompletion=complete_generations
        ),
    ] = None
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", metavar="KEY=VALUE", help="Only nodes that have it."),
    ] = None
    wait: Annotated[
        str | None,
        typer.Option(
            "--wait",
            metavar="SPAN",
            help="A node that is not used for so long is given back; 0s: never. "
            "Else as the settings say.",
        ),
    ] = None
    text: Annotated[str, typer.Option("--text", help="What for; your tenant may read it.")] = ""
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
    ] = None
    project: Annotated[
        str | None,
        typer.Option("--project", help="For which project.", autocompletion=complete_projects),
    ] = None
    dry_run: DryRunOption = False
    output: OutputOption = Format.TABLE

    @property
    def ask(self) -> Ask:
        """The command as the other ones have it."""
        given = {"tenant": self.tenant, "project": self.project}
        return Ask(load_session(), output=self.output, dry_run=self.dry_run, given=given)

    @property
    def wish(self) -> dict[str, Any]:
        """What is kept, as the wire has it."""
        ways = {"--nodes": self.nodes, "--gpus": self.gpus, "--node": self.node}
        typed = [way for way, value in ways.items() if value]
        if len(typed) != 1:
            expected = "exactly one of --nodes N, --gpus N and --node NAME"
            raise InvalidValue("what is booked", ", ".join(typed) or None, expected)
        typed_kind = self.generation
        generation = None if typed_kind is None else parse_generation("--generation", typed_kind)
        return {
            "nodes": self.node or [],
            "count": self.nodes or 0,
            "gpus": self.gpus or 0,
            "generation": generation,
            "labels": self.label or [],
            "wait_ms": None if self.wait is None else parse_span("--wait", self.wait),
            "text": self.text,
        }


def path_of(ask: Ask, **named: str) -> dict[str, str | int]:
    """The project that is meant, the session's included, and what is named in it."""
    words = {place: path_word(place.upper(), name) for place, name in named.items()}
    return {**place_of(ask), **words}


def query_of(ask: Ask) -> dict[str, str]:
    """The tenant, if one was typed."""
    typed = ask.given.get("tenant")
    return {} if typed is None else {"tenant": path_word("--tenant", typed)}


def spell_wish(wish: BookingWish) -> str:
    """What was asked for, in a few words."""
    if wish.nodes:
        return ", ".join(wish.nodes)
    what = plural(wish.count, "node") if wish.count else plural(wish.gpus, "GPU")
    narrower = [] if wish.generation is None else [wish.generation.value]
    return " ".join((what, *narrower, *wish.labels))


def spell_wait(wait_ms: int | None) -> str:
    """After how long a node that is not used is given back."""
    if wait_ms is None:
        return "as the settings say"
    return f"after {span(wait_ms)} without use" if wait_ms else "never"

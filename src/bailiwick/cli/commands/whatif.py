"""The command ``bailiwick whatif``: a journal decided again with something changed.

Rules:

- Nothing is written, and nothing of a journal that does not verify is used (exit code 3).
- The answer begins with whether the unchanged replay is the journal over again, and ends with what
  was assumed. The difference is always between the two replays.
- The same journal and options print the same bytes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.progress import SCREEN
from bailiwick.tools.record_source import MOMENTS, open_source

if TYPE_CHECKING:
    pass

command = typer.Typer(add_completion=False)

HELP = (
    "What if one thing had been different: a journal decided again.\n\n"
    "bailiwick whatif --journal DIR --set strategy=best_fit --set quota.physics.gpu_count=16\n\n"
    "Replays the journal twice through the kernel, as it was and with the change, and compares "
    "who was admitted, who waited and how long, who was evicted, how full the fleet was and what "
    "each tenant used. An unknown name after --set lists what can be set. Nothing is written."
)
_PRICE = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?")


@dataclasses.dataclass(frozen=True, slots=True)
class WhatifOptions:
    """What ``whatif`` can be told."""

    journal: Annotated[
        str,
        typer.Option(
            "--journal", "-j", metavar="JOURNAL", help="A file, a directory or an address."
        ),
    ]
    change: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="What is different; may be repeated."),
    ]
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help=f"Begin there: {MOMENTS}.")
    ] = None
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End there; else at the end.")
    ] = None
    price: Annotated[
        str | None, typer.Option("--price", metavar="AMOUNT", help="What a GPU costs an hour.")
    ] = None
    tick_ms: Annotated[
        int | None,
        typer.Option(
            "--tick-ms",
            min=1,
            max=86_400_000,
            help="How often time was looked at; else as the journal's ticks tell.",
        ),
    ] = None
    output: OutputOption = Output.TABLE


@command.command(help=HELP)
@with_options(WhatifOptions)
def whatif(options: WhatifOptions) -> None:
    """Compare a journal with what it might have been."""
    from bailiwick.cli.offline import whatif_screen as screen
    from bailiwick.tools.whatif import read_history
    from bailiwick.whatif.changes import Changes, KnownNames, parse_change
    from bailiwick.whatif.compare import compare

    price = _price(options.price)
    period = (options.begin, options.end)
    with open_source(options.journal, SCREEN) as source:
        history, begin = read_history(source, period, tick_ms=options.tick_ms)
    known = KnownNames.of(history, begin())
    changes = Changes(parse_change(text, known) for text in options.change)
    span_ms = max(history.end_ms - history.start_ms, 1)
    with SCREEN.progress("deciding again", 2 * span_ms) as step:
        report = compare(history, begin, changes=changes, watch=_watch(history.start_ms, step))
    asked = screen.WhatIfWish(source.name, tuple(options.change), price)
    if options.output is Output.JSON:
        import json

        typer.echo(json.dumps(screen.tell(report, asked), indent=2))
        return
    from bailiwick.cli.shared.screen import make_console

    screen.show(make_console(), report, asked=asked)


def _watch(start_ms: int, step: Callable[[int], None]) -> Callable[[int], None]:
    """Progress over two replays of the same time."""
    done, last = 0, start_ms

    def watch(at_ms: int) -> None:
        nonlocal done, last
        if at_ms < last:
            done, last = done + last - start_ms, start_ms
        if at_ms > last:
            last = at_ms
            step(done + at_ms - start_ms)

    return watch


def _price(text: str | None) -> int | None:
    """A price in millionths, from decimal text; no float comes near it."""
    from bailiwick import InvalidValue

    if text is None:
        return None
    found = _PRICE.fullmatch(text)
    if found is None:
        raise InvalidValue("--price", text, "an amount for a GPU and hour, as 2.50")
    return int(found[1]) * 10**6 + int((found[2] or "").ljust(6, "0"))

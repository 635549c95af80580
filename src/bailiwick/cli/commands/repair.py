"""``bailiwick repair``: what is set right on a store while its servers are stopped.

Rules:

- A repair is sealed in the journal, with who did it and why; nothing is ever changed or removed.
- It asks before it writes, and ``--dry-run`` only says what it would do.
"""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.commands.history import StoreOption

app = typer.Typer(
    help="Set right, on a store without a server, what no server can.", no_args_is_help=True
)
_HERE = "bailiwick-data"


@app.callback()
def repair() -> None:
    """Set right, on a store without a server, what no server can."""


@app.command(
    help="Set a journal's clock to the time that it is.\n\n"
    "Example: bailiwick repair clock --why 'a year ahead on Monday' --dry-run\n\n"
    "For a journal that was written while a server's clock was wrong (its time is in the future), "
    "or after an outage longer than the setting outage_ms. Stop every server first. What ended "
    "has ended; leases, tokens and evidence that are left keep the time that they had left."
)
def clock(
    *,
    why: Annotated[
        str, typer.Option("--why", metavar="REASON", help="Why, in a sentence; it is sealed.")
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="What time it is (UTC); else this machine's."),
    ] = None,
    store: StoreOption = _HERE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Set the clock of the journal in a store."""
    import getpass

    from bailiwick.phrases.times import told_time
    from bailiwick.runtime.runner import SystemClock
    from bailiwick.store import open_store
    from bailiwick.tools.clock_repair import AskedRepair, repair_clock
    from bailiwick.tools.record_source import parse_clock

    after_ms = SystemClock().now_ms() if to is None else parse_clock(to)
    if not (dry_run or yes):
        typer.confirm(
            f"Set the journal's clock to {told_time(after_ms)} UTC, for good?", abort=True
        )
    asked = AskedRepair(after_ms, getpass.getuser(), why, dry_run)
    with open_store(store) as opened:
        found = repair_clock(opened, asked, warn=lambda text: typer.echo(text, err=True))
    was, now = told_time(found.before_ms), told_time(found.after_ms)
    if found.seq is None:
        typer.echo(f"the clock would go from {was} to {now} UTC (dry run: nothing was changed)")
        return
    typer.echo(f"the clock went from {was} to {now} UTC, by record {found.seq}")
    typer.echo(f"{found.leases} leases are left; what ended has ended", err=True)

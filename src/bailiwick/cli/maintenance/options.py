"""Options of commands with more of them than a function may have."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.session import load_session

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask back.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Decide the same, change nothing, and tell what follows.")
]
OutputOption = Annotated[
    Format, typer.Option("--output", "-o", help="A table for people, or the wire model.")
]


def ask_as(output: Format, *, yes: bool = False, dry_run: bool = False) -> Ask:
    """The command as the other ones have it."""
    return Ask(load_session(), output=output, yes=yes, dry_run=dry_run)

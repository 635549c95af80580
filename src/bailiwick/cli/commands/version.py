"""``bailiwick version``: which Bailiwick this is, and which engine decides."""

from __future__ import annotations

import typer

command = typer.Typer(add_completion=False)


@command.command()
def version() -> None:
    """Which Bailiwick this is, and which engine decides.

    Example: bailiwick version
    """
    from importlib.metadata import version as version_of

    from bailiwick import CapacityLedger

    pure = type(CapacityLedger().engine).__name__ == "PureEngine"
    typer.echo(f"bailiwick {version_of('bailiwick')} ({'pure' if pure else 'compiled'} engine)")

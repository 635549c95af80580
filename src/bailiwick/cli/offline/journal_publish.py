"""``bailiwick journal publish``: a database's journal as signed, provable files.

``journal prove`` and ``check-proof`` work on what it writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bailiwick.cli.shared.progress import NowAndThen


def publish(
    store: Annotated[
        str, typer.Argument(metavar="STORE", help="A data directory or a postgresql:// address.")
    ],
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where the files go; made if missing.")
    ],
    *,
    key: Annotated[
        Path,
        typer.Option("--key", metavar="FILE", help="The signing key; made (mode 600) if missing."),
    ],
    name: Annotated[
        str, typer.Option("--name", help="The log's name, as its key and checkpoints say it.")
    ] = "bailiwick.example/fleet",
) -> None:
    """Publish what was decided since the last time, and sign where it ends."""
    from bailiwick.tools.publishing import publish as publish_log

    tell = NowAndThen()
    done = publish_log(
        store,
        directory,
        key=key,
        name=name,
        step=lambda there, size: tell(f"published {there:,} of {size:,} records"),
    )
    typer.echo(f"{directory}: {done.more:,} records more, {done.size:,} in all")
    typer.echo(f"root {done.root.hex()}")

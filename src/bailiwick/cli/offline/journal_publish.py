"""``bailiwick journal publish``: a database's journal as signed, provable files.

Rules:

- The directory becomes a public transparency log of the same records: JSON Lines, tiles, and a
  checkpoint signed with the key. ``journal prove`` and ``check-proof`` work on it.
- Every line is verified against what was published before. A database whose history is another
  one than was published is refused with code 3, and nothing is written.
"""

from __future__ import annotations

import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.progress import PROGRESS_AFTER_S

if TYPE_CHECKING:
    from bailiwick.store import JournalWriter
    from bailiwick.store.sql_store import SqlStore

_BATCH = 5_000


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
    from bailiwick.cli.offline.record_source import end_damaged
    from bailiwick.store import JournalDamaged, JournalWriter, load_or_create_key, open_store

    signer = load_or_create_key(key, name)
    try:
        with open_store(store, read_only=True) as source, JournalWriter(directory, signer) as log:
            before, size = log.size, source.size()
            if size < before:
                end_damaged(store, f"{size:,} records, but {before:,} were published already")
            last = source.read(before - 1, 1)[0][:-1] if before else b""
            if before and sha256(last).hexdigest() != log.committed.hash:
                end_damaged(store, f"record {before - 1} is not the one that was published")
            _copy(source, log, size=size)
            typer.echo(f"{directory}: {log.size - before:,} records more, {log.size:,} in all")
            typer.echo(f"root {log.committed.root.hex()}")
    except JournalDamaged as error:
        end_damaged(store, str(error))


def _copy(source: SqlStore, log: JournalWriter, *, size: int) -> None:
    begin = told = time.monotonic()
    while log.size < size:  # bounded: the size was read once, and every round reads on
        log.adopt(source.read(log.size, min(_BATCH, size - log.size)))
        now = time.monotonic()
        if now - begin > PROGRESS_AFTER_S and now - told > 1:
            told = now
            typer.echo(f"published {log.size:,} of {size:,} records", err=True)
    log.checkpoint()

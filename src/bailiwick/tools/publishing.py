"""A database's journal as signed, provable files.

Rules:

- The directory becomes a public transparency log of the same records: JSON Lines, tiles, and a
  checkpoint signed with the key.
- Every line is verified against what was published before. A database whose history is another
  one than was published is refused, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bailiwick.store import JournalDamaged, JournalWriter, load_or_create_key, open_store
from bailiwick.store.sql_store import SqlStore
from bailiwick.tools.errors import NotAsSealed

_BATCH = 5_000


class Published(NamedTuple):
    """What a publication came to."""

    more: int
    size: int
    root: bytes


def publish(
    store: str, directory: Path, *, key: Path, name: str, step: Callable[[int, int], None]
) -> Published:
    """Publish what was decided since the last time, and sign where it ends."""
    signer = load_or_create_key(key, name)
    try:
        with open_store(store, read_only=True) as source, JournalWriter(directory, signer) as log:
            before, size = log.size, source.size()
            if size < before:
                raise NotAsSealed(store, f"{size:,} records, but {before:,} were published already")
            last = source.read(before - 1, 1)[0][:-1] if before else b""
            if before and sha256(last).hexdigest() != log.committed.hash:
                raise NotAsSealed(store, f"record {before - 1} is not the one that was published")
            _copy(source, log, size=size, step=step)
            return Published(log.size - before, log.size, log.committed.root)
    except JournalDamaged as error:
        raise NotAsSealed(store, str(error)) from error


def _copy(
    source: SqlStore, log: JournalWriter, *, size: int, step: Callable[[int, int], None]
) -> None:
    while log.size < size:  # bounded: the size was read once, and every round reads on
        log.adopt(source.read(log.size, min(_BATCH, size - log.size)))
        step(log.size, size)
    log.checkpoint()

"""Snapshots as rows: compressed in parts, seen only when whole, the last three kept.

Rules:

- Parts are written first, under a name nobody knows; the row that names them comes last. So a
  reader sees a snapshot with all its parts or not at all, even if each step is committed alone.
- A part is at most 4 MiB before compression, which bounds how long one step takes.
- Loading checks sizes and nothing more: whoever uses a snapshot verifies its digest. One that has
  lost a part is ``None``, as if it were gone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias
from uuid import uuid4

from sqlalchemy import Connection, Executable, delete, func, insert, select

from bailiwick.ports import StoredSnapshot
from bailiwick.store.tables import snapshot as header
from bailiwick.store.tables import snapshot_chunk as chunk
from bailiwick.vocab.errors import Unavailable

KEPT = 3
PART_BYTES = 4 << 20

Step: TypeAlias = Callable[[Connection], None]


def saving_steps(snapshot: StoredSnapshot) -> Iterator[Step]:
    """What to do, in order. Each step is done before the next is asked for."""
    upload = uuid4().hex
    view = memoryview(snapshot.data)
    parts = -(-len(view) // PART_BYTES)
    for part in range(parts):
        raw = view[part * PART_BYTES : (part + 1) * PART_BYTES]
        data = zlib.compress(raw, level=1)
        yield partial(_execute, insert(chunk).values(upload=upload, part=part, data=data))
    yield partial(_publish, snapshot, upload=upload, parts=parts)
    stale: list[tuple[str, int]] = []
    yield partial(_find_nameless, stale)
    # One by one: a hundred megabytes at once would hold up whoever else wants to write.
    for name, part in stale:
        this = (chunk.c.upload == name) & (chunk.c.part == part)
        yield partial(_execute, delete(chunk).where(this))


def sizes(connection: Connection) -> list[int]:
    """Sizes of the snapshots that are kept, newest first."""
    return list(connection.scalars(select(header.c.size).order_by(header.c.size.desc())))


def load(connection: Connection, size: int) -> StoredSnapshot | None:
    """The snapshot of that size; ``None`` if there is none, or not all of it."""
    row = connection.execute(select(header).where(header.c.size == size)).one_or_none()
    if row is None:
        return None
    query = select(chunk.c.data).where(chunk.c.upload == row.upload).order_by(chunk.c.part)
    try:
        data = b"".join(zlib.decompress(part) for part in connection.scalars(query))
    except zlib.error:
        return None
    if len(data) != row.bytes:
        return None
    return StoredSnapshot(size, row.anchor, row.digest, data)


def _execute(statement: Executable, connection: Connection) -> None:
    connection.execute(statement)


def _publish(snapshot: StoredSnapshot, connection: Connection, *, upload: str, parts: int) -> None:
    """Name the parts, in the place of an older snapshot of this size; forget all but the last."""
    mine = select(func.count()).select_from(chunk).where(chunk.c.upload == upload)
    if connection.scalar(mine) != parts:
        # Another that saved at the same time took our parts for left-overs.
        raise Unavailable(f"snapshot {snapshot.size}", "another was saved meanwhile")
    connection.execute(delete(header).where(header.c.size == snapshot.size))
    connection.execute(
        insert(header).values(
            size=snapshot.size,
            anchor=snapshot.anchor,
            digest=snapshot.digest,
            bytes=len(snapshot.data),
            parts=parts,
            upload=upload,
        )
    )
    for size in sizes(connection)[KEPT:]:
        connection.execute(delete(header).where(header.c.size == size))


def _find_nameless(found: list[tuple[str, int]], connection: Connection) -> None:
    """Parts that no snapshot names: those just forgotten, and those a crash has left."""
    named = select(header.c.upload)
    query = select(chunk.c.upload, chunk.c.part).where(chunk.c.upload.not_in(named))
    found.extend((row.upload, row.part) for row in connection.execute(query))

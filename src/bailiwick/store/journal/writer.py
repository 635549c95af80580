"""The one writer of a journal: group commit, checkpoints, and coming back after a crash.

Rules:

- One writer at a time: it holds the lock file for as long as it lives.
- ``append`` seals into memory; ``commit`` writes the batch with one write and one ``fdatasync``
  (on macOS ``F_FULLFSYNC``, the only one that empties the drive's own cache there). Nobody is
  answered before that. A write that fails takes the batch back and ends the writer.
- A checkpoint follows this order: records, tiles, anchor, signature; records and anchor are
  durable before the signature is made. INVARIANT: no size is ever signed with two roots, because
  the anchor names the root before it is signed, and a journal that no longer has that root is
  refused on opening.
- On opening, everything is verified. Only a torn tail is repaired: bytes after the last newline
  (or lines with NUL bytes at the end, which a file system leaves where data did not arrive), and
  only beyond the anchor: no commit that holds them was ever answered. All else is refused.
- Tiles are derived, and not synced: all of them are compared on opening, and laid out again from
  the journal when one does not fit. Only a full tile serves when its partial ones are gone.

>>> from tempfile import mkdtemp
>>> from bailiwick.journal import Context, RecordKind, SeedSigner
>>> signer = SeedSigner("log.example/fleet", bytes(range(32)))
>>> who = Context("scheduler", "req-7", tenant="acme")
>>> with JournalWriter(Path(mkdtemp()), signer) as journal:
...     sealed = journal.append(
...         RecordKind.LEASE_RENEWED, who, at_ms=5000,
...         body={"lease_id": 4, "generation": 2, "expires_ms": 9000},
...     )
...     journal.commit()
1
"""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from bailiwick.journal import (
    GENESIS,
    Anchor,
    Chain,
    Checkpoint,
    Context,
    RecordKind,
    RefusedCheckpoint,
    Sealed,
    Signer,
    TileFile,
    TileWriter,
    Verified,
    VerifierKey,
    leaf_hash,
    sign_checkpoint,
    verify_lines,
)
from bailiwick.store.journal.files import (
    JournalDamaged,
    JournalDirectory,
    KnownCheckpoint,
    TileWatch,
    read_known,
    read_lines,
    replace_file,
    sync_directory,
)
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.values import check_integer

CHECKPOINT_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Recovery:
    """What opening found: how many records, and what had to be repaired."""

    size: int
    torn_bytes: int = 0
    tiles_rebuilt: bool = False


class JournalWriter:
    """Appends to the journal in a directory. Not for two threads at once."""

    def __init__(
        self, directory: Path, signer: Signer, *, checkpoint_every: int = CHECKPOINT_EVERY
    ) -> None:
        self._every = check_integer("checkpoint_every", checkpoint_every, low=1, high=10**6)
        self._signer = signer
        self._places = JournalDirectory(Path(directory))
        self._batch: list[Sealed] = []
        self._full: list[str] = []
        self._tiles = TileWriter()
        self._committed = GENESIS
        self._signed_size = 0
        self._usable = False
        self._places.root.mkdir(parents=True, exist_ok=True)
        self._lock = _take_lock(self._places)
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def size(self) -> int:
        """How many records were sealed, the uncommitted among them."""
        return self._chain.size

    @property
    def committed(self) -> Anchor:
        """Where the durable part of the journal ends."""
        return self._committed

    @property
    def signed_size(self) -> int:
        """How many records the checkpoint covers."""
        return self._signed_size

    @property
    def recovery(self) -> Recovery:
        """What opening found."""
        return self._recovery

    def append(
        self, kind: RecordKind, context: Context, *, at_ms: int, body: Mapping[str, object]
    ) -> Sealed:
        """Seal the next record of the batch; it is not durable before :meth:`commit`."""
        self._check_usable()
        sealed = self._chain.seal(kind, context, at_ms=at_ms, body=body)
        self._batch.append(sealed)
        return sealed

    def discard(self) -> None:
        """Forget what was appended since the last commit."""
        self._batch = []
        self._chain = Chain(self._committed)

    def adopt(self, lines: Sequence[bytes]) -> int:
        """Take over lines that another writer sealed, if they continue this very chain.

        They are verified, made durable and laid out like our own; how many records there are then.
        """
        self._check_usable()
        if self._batch:
            raise Conflict("journal", str(self._places.root), "has records of its own to commit")
        verdict = verify_lines(lines, self._committed)
        if not isinstance(verdict, Verified):
            raise JournalDamaged(self._places.root, verdict)
        self._write(b"".join(lines))
        self._chain, self._committed = Chain(verdict.anchor), verdict.anchor
        self._usable = False  # until their tiles are laid out too
        self._lay_out((line[:-1], leaf_hash(line[:-1])) for line in lines)
        self._usable = True
        if self._committed.size - self._signed_size >= self._every:
            self.checkpoint()
        return self._committed.size

    def commit(self) -> int:
        """Make the batch durable; the number of records in the journal then."""
        self._check_usable()
        if self._batch:
            self._write(b"".join([sealed.line for sealed in self._batch]))
            self._committed = self._chain.anchor()
            batch, self._batch = self._batch, []
            self._usable = False  # until their tiles are laid out too
            self._lay_out((sealed.canonical, sealed.leaf) for sealed in batch)
            self._usable = True
        if self._committed.size - self._signed_size >= self._every:
            self.checkpoint()
        return self._committed.size

    def checkpoint(self) -> None:
        """Publish what was committed: tiles, then the anchor, then the signed checkpoint."""
        self._check_usable()
        anchor = self._committed
        if anchor.size == self._signed_size and self._places.checkpoint.exists():
            return
        self._usable = False  # until all of it is in place
        _write_tiles(self._places, self._tiles.partial())
        replace_file(self._places.anchor, f"{anchor}\n".encode("ascii"))
        signed = Checkpoint(self._signer.name, anchor.size, anchor.root)
        note = sign_checkpoint(signed, self._signer)
        # After a crash the one before it may be back, which is as good: the anchor stands.
        replace_file(self._places.checkpoint, note, keep_name=False)
        for path in self._full:  # the partial ones before it serve nobody any more
            shutil.rmtree(self._places.root / f"{path}.p", ignore_errors=True)
        self._full = []
        self._signed_size = anchor.size
        self._usable = True

    def close(self) -> None:
        """Commit, publish a checkpoint, and let go of the journal."""
        if self._lock < 0:
            return
        try:
            if self._usable:
                self.commit()
                self.checkpoint()
        finally:
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def _check_usable(self) -> None:
        if not self._usable:
            raise Conflict(
                "journal", str(self._places.root), "closed, or a write failed", hint="open it again"
            )

    def _let_go(self) -> None:
        self._usable = False
        os.close(self._file)
        os.close(self._lock)
        self._lock = -1

    def _write(self, data: bytes) -> None:
        try:
            _write_whole(self._file, data)
            _sync(self._file)
        except OSError:
            # Whether it arrived is unknown: nobody was answered, so it is taken back.
            self._usable = False
            with suppress(OSError):
                os.ftruncate(self._file, self._length)
            raise
        self._length += len(data)

    def _lay_out(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        for entry, leaf in entries:
            files = self._tiles.append(entry, leaf=leaf)
            if files:
                _write_tiles(self._places, files)
                self._full += [file.path for file in files]

    def _open(self) -> None:
        places = self._places
        vkey = VerifierKey.of(self._signer)
        known = read_known(places, vkey)
        if isinstance(known, RefusedCheckpoint):
            raise JournalDamaged(places.root, known)
        anchor, self._recovery = _recover(places, known)
        self._file = os.open(places.journal, os.O_WRONLY | os.O_APPEND)
        self._length = os.fstat(self._file).st_size
        self._chain, self._committed = Chain(anchor), anchor
        self._signed_size = known.signed_size
        resumed = 0 if self._recovery.tiles_rebuilt else known.signed_size
        self._tiles = TileWriter(resumed, read=places.read)
        lines = islice(read_lines(places.journal), resumed, None)
        self._lay_out((line[:-1], leaf_hash(line[:-1])) for line in lines)
        replace_file(places.vkey, f"{vkey}\n".encode())
        self._usable = True


def _take_lock(places: JournalDirectory) -> int:
    handle = os.open(places.lock, os.O_RDWR | os.O_CREAT, 0o640)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Conflict("journal", str(places.root), "another writer holds it") from None
    return handle


def _whole_bytes(path: Path) -> int:
    """Where the last line that can be a record ends: after it stands a torn tail, or nothing."""
    if not path.exists() or not path.stat().st_size:
        return 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.rfind(b"\n") + 1
        start = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        while end and data.find(b"\0", start, end) >= 0:
            end, start = start, data.rfind(b"\n", 0, max(start - 1, 0)) + 1
        return end


def _lines_below(path: Path, end: int) -> Iterator[bytes]:
    left = end
    for line in read_lines(path) if left else ():
        yield line
        left -= len(line)
        if left <= 0:
            return


def _recover(places: JournalDirectory, known: KnownCheckpoint) -> tuple[Anchor, Recovery]:
    """Verify the journal, cut off a torn tail, and look whether the tiles fit."""
    whole = _whole_bytes(places.journal)
    watch = TileWatch(places, known.signed_size)
    lines = watch.through(_lines_below(places.journal, whole))
    verdict = verify_lines(lines, checkpoints=known.checkpoints)
    if not isinstance(verdict, Verified):
        raise JournalDamaged(places.root, verdict)
    is_new = not places.journal.exists()
    with places.journal.open("ab") as file:
        torn = file.tell() - whole
        file.truncate(whole)
        os.fsync(file.fileno())
    if is_new:
        sync_directory(places.root)
    return verdict.anchor, Recovery(verdict.anchor.size, torn, watch.differs is not None)


def _write_tiles(places: JournalDirectory, files: Iterable[TileFile]) -> None:
    for file in files:
        path = places.root / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)


def _sync(file: int) -> None:
    """Come back when what was written to the file is on the disk."""
    if sys.platform == "darwin":
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(file)


def _write_whole(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]

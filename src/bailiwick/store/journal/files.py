"""A journal as files: where each lies, how it is read, and whether the whole is as sealed.

A journal is a directory: ``journal.jsonl`` (one canonical record a line, the truth), ``tile/``
and ``checkpoint`` (C2SP tlog-tiles, derived from it), ``anchor`` (the last size that may have been
signed), ``vkey`` (the public key) and ``lock``.

Rules:

- Reading is streamed, and a line has a bound: memory is flat in the length of the log.
- A checkpoint counts only when its signature verifies. The key in the directory shows accidents;
  against whoever can write there, hand in a key that was kept elsewhere.
- Tiles must repeat the journal byte for byte up to the checkpoint.
- A file that must not be half written is written beside its place, synced, and renamed into it.

>>> describe(Truncated(seq=40, known_size=64))
'truncated at record 40: the log ends here, but 64 records were checkpointed'
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias, assert_never

from bailiwick.journal import (
    CHECKPOINT_PATH,
    RECORD_BYTES_MAX,
    Added,
    Anchor,
    Changed,
    Checkpoint,
    CheckpointMismatch,
    Malformed,
    NoteFault,
    RecordRefused,
    RefusedCheckpoint,
    Removed,
    Reordered,
    TileFile,
    TileWriter,
    TimeWentBack,
    Torn,
    Truncated,
    TrustedCheckpoint,
    Verification,
    Verified,
    VerifierKey,
    parse_anchor,
    parse_record,
    parse_vkey,
    verify_checkpoint,
    verify_lines,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound

LINE_BYTES_MAX = RECORD_BYTES_MAX + 1
SMALL_FILE_BYTES_MAX = 2**20


@dataclass(frozen=True, slots=True)
class TileDiffers:
    """A tile or bundle is missing or does not repeat the journal; it starts with ``seq``."""

    seq: int
    path: str
    is_missing: bool


Verdict: TypeAlias = Verification | RefusedCheckpoint | TileDiffers
"""What a journal on disk turned out to be; all but :class:`Verified` is damage."""


class JournalDamaged(Conflict):
    """The journal is not what was sealed. Nothing was written; ``finding`` says where and what."""

    def __init__(self, path: Path, finding: Verdict) -> None:
        super().__init__("journal", str(path), describe(finding))
        self.finding = finding


@dataclass(frozen=True, slots=True)
class JournalDirectory:
    """The places in one journal's directory."""

    root: Path

    @property
    def journal(self) -> Path:
        """The records, one a line."""
        return self.root / "journal.jsonl"

    @property
    def checkpoint(self) -> Path:
        """The last signed checkpoint."""
        return self.root / CHECKPOINT_PATH

    @property
    def anchor(self) -> Path:
        """The last size, with its root, that may have been signed."""
        return self.root / "anchor"

    @property
    def vkey(self) -> Path:
        """The public key of the log."""
        return self.root / "vkey"

    @property
    def lock(self) -> Path:
        """Held by the one writer."""
        return self.root / "lock"

    def read(self, path: str) -> bytes | None:
        """The bytes of a tile or checkpoint, or None."""
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None


def read_lines(path: Path, *, start: int = 0) -> Iterator[bytes]:
    """The lines of a file from a byte on, each with its newline.

    A line that is longer than any record comes cut, with its newline if it had one: it is refused
    as too long by whoever parses it, and costs no memory.
    """
    with path.open("rb") as file:
        file.seek(start)
        read = file.readline
        while line := read(LINE_BYTES_MAX + 1):
            yield line if len(line) <= LINE_BYTES_MAX else line.rstrip(b"\n") + _skip(file, line)


def _skip(file: BinaryIO, line: bytes) -> bytes:
    """Pass over the rest of a line that is too long; its newline, if it has one."""
    while line and not line.endswith(b"\n"):
        line = file.readline(LINE_BYTES_MAX)
    return line[-1:]


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, data: bytes, *, keep_name: bool = True) -> None:
    """Put the file in place whole, or leave what was there.

    Without ``keep_name`` a crash may bring back the file before it; that saves one sync.
    """
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    if keep_name:
        sync_directory(path.parent)


def read_small(path: Path) -> bytes:
    """A file that has no business to be large."""
    with path.open("rb") as file:
        data = file.read(SMALL_FILE_BYTES_MAX + 1)
    if len(data) > SMALL_FILE_BYTES_MAX:
        raise InvalidValue(path.name, len(data), f"at most {SMALL_FILE_BYTES_MAX} bytes")
    return data


def read_anchor(path: Path) -> Anchor:
    """The anchor that was kept in a file."""
    try:
        text = read_small(path).decode("ascii")
    except FileNotFoundError:
        raise NotFound("anchor", str(path)) from None
    except UnicodeDecodeError:
        raise InvalidValue("anchor", str(path), "a line of text") from None
    return parse_anchor(text.removesuffix("\n"))


def verify_file(
    lines: Iterable[bytes], anchor: Anchor | None = None, *, checkpoints: Iterable[Checkpoint] = ()
) -> Verification:
    """Verify a whole log, or one that goes on where the anchor ends.

    Of a whole log, the anchor says what its first records must be.
    """
    rest = iter(lines)
    first = next(rest, None)
    known = list(checkpoints)

    def whole() -> Iterator[bytes]:
        if first is not None:
            yield first
        yield from rest

    if anchor is None:
        return verify_lines(whole(), checkpoints=known)
    if anchor.size and first is not None and _number_of(first) == anchor.size:
        later = [one for one in known if one.size >= anchor.size]
        return verify_lines(whole(), anchor, checkpoints=later)
    signed_size = max((one.size for one in known), default=0)
    known.append(Checkpoint("anchor", anchor.size, anchor.root))
    verdict = verify_lines(whole(), checkpoints=known)
    # An anchor says as much as a checkpoint, but is no signature.
    return replace(verdict, signed_size=signed_size) if isinstance(verdict, Verified) else verdict


def _number_of(line: bytes) -> int | None:
    try:
        return parse_record(line.removesuffix(b"\n")).seq
    except RecordRefused:
        return None


@dataclass(frozen=True, slots=True)
class KnownCheckpoint:
    """What a directory says it once was: its signed checkpoint, and its anchor."""

    signed: Checkpoint | None = None
    anchor: Anchor | None = None

    @property
    def signed_size(self) -> int:
        """How many records the checkpoint covers."""
        return 0 if self.signed is None else self.signed.size

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """Both, as something to compare the log with."""
        known = [] if self.signed is None else [self.signed]
        if self.anchor is not None:
            known.append(Checkpoint("anchor", self.anchor.size, self.anchor.root))
        return known


def read_known(
    places: JournalDirectory, key: VerifierKey | None
) -> KnownCheckpoint | RefusedCheckpoint:
    """The signed checkpoint and the anchor of a directory, or why they are not to be trusted."""
    signed, anchor = None, None
    note = places.read(CHECKPOINT_PATH)
    try:
        if key is None and places.vkey.exists():
            key = parse_vkey(read_small(places.vkey).decode("utf-8", "replace").strip())
    except InvalidValue:
        return RefusedCheckpoint(NoteFault.MALFORMED, "vkey")
    if note is not None:
        verdict = verify_checkpoint(note, [] if key is None else [key])
        if not isinstance(verdict, TrustedCheckpoint):
            return verdict
        signed = verdict.checkpoint
    try:
        anchor = read_anchor(places.anchor) if places.anchor.exists() else None
    except InvalidValue:
        return RefusedCheckpoint(NoteFault.MALFORMED, "anchor")
    return KnownCheckpoint(signed, anchor)


def verify_directory(
    places: JournalDirectory,
    lines: Iterable[bytes],
    *,
    key: VerifierKey | None = None,
    anchor: Anchor | None = None,
) -> Verdict:
    """Verify the journal (its lines are handed in) against checkpoint, anchors and tiles."""
    known = read_known(places, key)
    if isinstance(known, RefusedCheckpoint):
        return known
    watch = TileWatch(places, known.signed_size)
    verdict = verify_file(watch.through(lines), anchor, checkpoints=known.checkpoints)
    if not isinstance(verdict, Verified):
        return verdict
    if watch.differs is not None:
        return watch.differs
    return replace(verdict, signed_size=known.signed_size)


class TileWatch:
    """Lays out tiles again as lines go by, and compares them with those on disk."""

    def __init__(self, places: JournalDirectory, size: int) -> None:
        self._places = places
        self._size = size
        self._writer = TileWriter()
        self.differs: TileDiffers | None = None

    def through(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines; what differs is kept for afterwards."""
        for line in lines:
            if self._writer.size < self._size and self.differs is None:
                self._compare(line)
            yield line

    def _compare(self, line: bytes) -> None:
        seq = self._writer.size
        files = self._writer.append(line[:-1][:RECORD_BYTES_MAX])
        if self._writer.size == self._size:
            files += self._writer.partial()
        for file in files:
            data = self._read(file)
            if data != file.data and self.differs is None:
                level = file.path.split("/")[1].replace("entries", "0")
                self.differs = TileDiffers(
                    seq - seq % 256 ** (int(level) + 1), file.path, data is None
                )

    def _read(self, file: TileFile) -> bytes | None:
        data = self._places.read(file.path)
        full, is_partial, _ = file.path.partition(".p/")
        if data is None and is_partial:
            data = self._places.read(full)
            return None if data is None else data[: len(file.data)]
        return data


def describe(verdict: Verdict) -> str:
    """The verdict as a sentence: where, and what."""
    match verdict:
        case Verified(count=count, signed_size=signed):
            return f"{count} records are as sealed, {signed} of them under a signed checkpoint"
        case Malformed(seq=seq, fault=fault):
            return f"malformed at record {seq}: the line there is no canonical record ({fault})"
        case Changed(seq=seq):
            return f"changed at record {seq}: it is not the record that was sealed there"
        case Removed(seq=seq, found=found, count=count):
            return f"removed at record {seq}: {count} missing, the next one is number {found}"
        case Added(seq=seq, found=found):
            name = "a line that is no record" if found is None else f"one that says {found}"
            return f"added at record {seq}: {name} was not sealed there"
        case Reordered(seq=seq, found=found):
            return f"reordered at record {seq}: record {found} stands in its place"
        case Truncated(seq=seq, known_size=known):
            return (
                f"truncated at record {seq}: the log ends here, but {known} records "
                "were checkpointed"
            )
        case Torn(seq=seq, length_bytes=length):
            return (
                f"torn at record {seq}: the last line breaks off after {length} bytes, as a crash "
                f"leaves it; the {seq} records before it are as sealed, and a writer cuts it off"
            )
        case TimeWentBack(seq=seq, at_ms=at_ms, before_ms=before):
            return f"time went back at record {seq}: {at_ms} after {before}"
        case CheckpointMismatch(seq=seq, size=size):
            return (
                f"checkpoint mismatch from record {seq} on: the first {size} records are not "
                "those of the checkpoint or anchor"
            )
        case RefusedCheckpoint(reason=reason, detail=detail):
            return f"the checkpoint is not to be trusted: {reason} ({detail})"
        case TileDiffers(seq=seq, path=path, is_missing=missing):
            what = "is missing" if missing else "differs from the journal"
            return f"{path} {what} (records from {seq} on)"
        case _:
            assert_never(verdict)

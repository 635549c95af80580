"""Artifacts that were fetched, kept by digest.

Rules:

- What lies under a digest is, to the last byte, what the digest says: it gets there by a rename,
  after it was hashed and written through. Half of it lies beside, and is nobody's to read.
- Half of a blob stays when a fetch ends early, and the next goes on from there. It is hashed again
  from its start: nothing of it is believed.
- One fetch of a digest at a time.
- There is room for ``bytes_max``. Who needs more makes room: what was not used for longest goes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from bailiwick.apps.manifest import check_digest
from bailiwick.apps.signatures import WHOLE_BYTES_MAX, Signed
from bailiwick.vocab.apps import VerificationReason
from bailiwick.vocab.errors import LimitReached, Unavailable, VerificationFailed

STORE_BYTES_MAX: Final = 256 << 30
_PIECE: Final = 1 << 20
_HALF: Final = ".part"


@dataclass(slots=True)
class IncomingBytes:
    """Bytes on their way in; what was there of them already is counted."""

    digest: str
    size_max: int
    file: IO[bytes]
    size: int = 0
    seen: Any = field(default_factory=hashlib.sha256)

    def write(self, piece: bytes) -> int:
        """Take one more piece, unless it would be too much."""
        self.size += len(piece)
        if self.size > self.size_max:
            raise VerificationFailed(self.digest, VerificationReason.TOO_LARGE)
        self.seen.update(piece)
        return self.file.write(piece)

    @property
    def is_whole(self) -> bool:
        """Whether it is, by now, what its digest says."""
        return f"sha256:{self.seen.hexdigest()}" == self.digest

    def restart(self) -> None:
        """Forget what was there."""
        self.file.seek(0)
        self.file.truncate()
        self.size, self.seen = 0, hashlib.sha256()


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """The folder in which they are."""

    folder: Path
    bytes_max: int = STORE_BYTES_MAX

    def path(self, digest: str) -> Path:
        """Where something lies, if it is here."""
        return self.folder / check_digest("digest", digest).removeprefix("sha256:")

    def has(self, digest: str) -> bool:
        """Whether it is here."""
        return self.path(digest).is_file()

    def read(self, digest: str, *, size_max: int) -> bytes:
        """A small one, as a whole."""
        with self.path(digest).open("rb") as file:
            data = file.read(size_max + 1)
        if len(data) > size_max:
            raise VerificationFailed(digest, VerificationReason.TOO_LARGE)
        return data

    def touch(self, digest: str) -> None:
        """It was used just now."""
        with suppress(OSError):
            os.utime(self.path(digest))

    def judge(self, digest: str) -> Signed | None:
        """What signatures speak of, read anew; nothing (and it goes) if a disk changed it."""
        sha, blake = hashlib.sha256(), hashlib.blake2b()
        path, whole = self.path(digest), b""
        with path.open("rb") as file:
            is_small = os.fstat(file.fileno()).st_size <= WHOLE_BYTES_MAX
            while piece := file.read(_PIECE):  # bounded by the file
                sha.update(piece)
                blake.update(piece)
                whole += piece if is_small else b""
        if f"sha256:{sha.hexdigest()}" != digest:
            path.unlink(missing_ok=True)
            return None
        return Signed(sha.hexdigest(), blake.digest(), whole if is_small else None)

    @contextmanager
    def drafting(self, digest: str, *, size_max: int) -> Iterator[IncomingBytes]:
        """Write something; it is here when the block ends, if it is what its digest says."""
        path = self.path(digest)
        half = path.with_name(path.name + _HALF)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with half.open("a+b") as file:
                _lock(file, digest)
                draft = IncomingBytes(digest, size_max, file)
                _take_up(draft)
                yield draft
                self._keep(draft, half, path=path)
        except VerificationFailed:
            half.unlink(missing_ok=True)
            raise
        except OSError as error:
            raise Unavailable("the store of artifacts", error.strerror) from None

    def _keep(self, draft: IncomingBytes, half: Path, *, path: Path) -> None:
        if not draft.is_whole:
            raise VerificationFailed(draft.digest, VerificationReason.DIGEST_DIFFERS)
        draft.file.flush()
        os.fsync(draft.file.fileno())
        self._make_room(draft.size)
        half.chmod(0o400)
        half.rename(path)

    def _make_room(self, size: int) -> None:
        """Let go of what was not used for longest, until this fits."""
        if size > self.bytes_max:
            raise LimitReached("bytes of artifacts that are kept", self.bytes_max)
        about = [
            (each.stat(), each)
            for each in self.folder.iterdir()
            if each.is_file() and not each.name.endswith(_HALF)
        ]
        total = sum(stat.st_size for stat, _ in about)
        for stat, each in sorted(about, key=lambda row: row[0].st_mtime_ns):
            if total + size <= self.bytes_max:
                return
            each.unlink(missing_ok=True)
            total -= stat.st_size


def _lock(file: IO[bytes], digest: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Unavailable(f"artifact {digest}", "it is being fetched already") from None


def _take_up(draft: IncomingBytes) -> None:
    """Go on from what is there of it, after it was hashed."""
    draft.file.seek(0)
    while piece := draft.file.read(_PIECE):  # bounded by the file, and by what it may be
        draft.seen.update(piece)
        draft.size += len(piece)
        if draft.size > draft.size_max:
            draft.restart()
            return

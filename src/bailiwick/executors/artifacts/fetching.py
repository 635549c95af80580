"""Artifacts brought here and judged: every byte by its digest, and who signed it.

Rules:

- An artifact is good if all of it is what its digests say and, where its source names keys, one of
  them signed it. Everything else is ``VerificationFailed`` with one word that says why.
- For a tenant's source only addresses that anybody could ask are asked (``guarded``), no folder is
  read, and none of this server's own names and passwords is used: a tenant that names a registry
  must not reach what others may read there.
- Nothing takes longer than its time. What was fetched by then is kept, and the next try goes on.
- So many fetches at a time, and no more.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.apps.signatures import SignedBy, find_signer
from bailiwick.executors.artifacts.guarded import (
    AddressForbidden,
    Deadline,
    Network,
    guarded_transport,
    is_public,
)
from bailiwick.executors.artifacts.sources import FolderBlobs, Registry, Source, WebBlobs
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.executors.images.registry import Credentials, load_credentials
from bailiwick.vocab.apps import ArtifactKind, SourceTier
from bailiwick.vocab.artifacts import VerificationReason
from bailiwick.vocab.errors import Unavailable, VerificationFailed

ARTIFACT_BYTES_MAX: Final = 64 << 30
FETCH_S_MAX: Final = 240.0
AT_ONCE_MAX: Final = 4


class Fetched(NamedTuple):
    """An artifact that is here: all its parts, itself first, and how many bytes they are."""

    parts: tuple[str, ...]
    size_bytes: int


class Verified(NamedTuple):
    """What was found of an artifact: why it is good, and by which key."""

    fetched: Fetched
    reason: VerificationReason
    key: str | None


@dataclass(slots=True)
class Fetcher:
    """Fetches and judges; from any thread."""

    store: ArtifactStore
    credentials: Path | None = None
    """Names and passwords for registries, as container tools keep them; for the platform's own."""
    networks: tuple[Network, ...] = ()
    """Private networks in which tenants may have sources."""
    bytes_max: int = ARTIFACT_BYTES_MAX
    seconds_max: float = FETCH_S_MAX
    _free: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE_MAX))

    def fetch(self, artifact: Artifact, source: ArtifactSource) -> Fetched:
        """Bring it here, whole and as its digest says."""
        with _Turn(self._free):
            return self._fetch(artifact.digest, self._open(source))

    def verify(self, artifact: Artifact, source: ArtifactSource) -> Verified:
        """Bring it here, read all of it again, and find who signed it."""
        with _Turn(self._free):
            opened = self._open(source)
            fetched = self._fetch(artifact.digest, opened)
            if not all(self.store.judge(each) for each in fetched.parts):
                fetched = self._fetch(artifact.digest, opened)  # a disk lost it: once more
            signed = self.store.judge(artifact.digest)
            if signed is None:
                raise VerificationFailed(artifact.digest, VerificationReason.DIGEST_DIFFERS)
            if not source.keys:
                return Verified(fetched, VerificationReason.DIGEST_MATCHES, None)
            texts = opened.signatures(artifact.digest)
            found = find_signer(texts, signed, keys=source.keys)
            if not isinstance(found, SignedBy):
                raise VerificationFailed(artifact.digest, found)
            return Verified(fetched, VerificationReason.SIGNATURE_VALID, found.key)

    def _fetch(self, digest: str, opened: Source) -> Fetched:
        parts = opened.fetch(digest, self.store, size_max=self.bytes_max)
        for each in parts:
            self.store.touch(each)
        return Fetched(parts, sum(self.store.path(each).stat().st_size for each in parts))

    def _open(self, source: ArtifactSource) -> Source:
        is_ours = source.tier is SourceTier.PLATFORM
        deadline = Deadline.after(self.seconds_max)
        if is_ours:
            transport = guarded_transport(deadline)
        else:
            transport = guarded_transport(deadline, partial(is_public, networks=self.networks))
        if source.kind is ArtifactKind.OCI:
            who = self._credentials(source.address) if is_ours else None
            return Registry(source.address, transport, credentials=who)
        if source.address.startswith("file:"):
            if not is_ours:
                raise AddressForbidden()
            return FolderBlobs(source.address)
        return WebBlobs(source.address, transport)

    def _credentials(self, address: str) -> Credentials | None:
        if self.credentials is None or not self.credentials.exists():
            return None
        return load_credentials(self.credentials, address.partition("/")[0])


class _Turn:
    """One of the fetches that may go on at a time."""

    def __init__(self, free: threading.Semaphore) -> None:
        self._free = free

    def __enter__(self) -> None:
        if not self._free.acquire(blocking=False):
            raise Unavailable("fetching", f"{AT_ONCE_MAX} artifacts are being fetched already")

    def __exit__(self, *error: object) -> None:
        self._free.release()

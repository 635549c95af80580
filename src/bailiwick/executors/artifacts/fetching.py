"""Artifacts brought here and judged: every byte by its digest, and who signed it.

Rules:

- An artifact is good if all of it is what its digests say and, where its source names keys, one of
  them signed it. Everything else is ``VerificationFailed`` with one word that says why.
- For a tenant's source only addresses that anybody could ask are asked (``guarded``), no folder is
  read, and none of this server's own names and passwords is used: a tenant that names a registry
  must not reach what others may read there.
- Nothing takes longer than its time. What was fetched by then is kept, and the next try goes on.
- So many fetches at a time, and no more. One that takes long goes on while whoever asked comes back
  for it, and who asks for the same joins it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from bailiwick.apps.addresses import Network, are_allowed
from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.apps.signatures import SignedBy, find_signer
from bailiwick.executors.artifacts.guarded import (
    AddressForbidden,
    Deadline,
    guarded_transport,
)
from bailiwick.executors.artifacts.sources import ArtifactOrigin, FolderBlobs, Registry, WebBlobs
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.executors.images.registry import Credentials, load_credentials
from bailiwick.vocab.apps import ArtifactKind, SourceTier, VerificationReason
from bailiwick.vocab.errors import Unavailable, VerificationFailed

T = TypeVar("T")

ARTIFACT_BYTES_MAX: Final = 64 << 30
FETCH_S_MAX: Final = 3_600.0
AT_ONCE_MAX: Final = 4


class Fetched(NamedTuple):
    """An artifact that is here: all its parts, itself first, and how many bytes they are."""

    parts: tuple[str, ...]
    size_bytes: int


class VerifiedArtifact(NamedTuple):
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
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _going: dict[Hashable, Future[Any]] = field(default_factory=dict)
    _hands: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(AT_ONCE_MAX, "artifacts")
    )

    def begin(
        self,
        work: Callable[[Artifact, ArtifactSource], T],
        artifact: Artifact,
        *,
        of: ArtifactSource,
    ) -> Future[T]:
        """Have :meth:`fetch` or :meth:`verify` done; who asks while it is, gets the same answer."""
        key = (work.__name__, artifact.digest, of)
        with self._lock:
            known = self._going.get(key)
            if known is None:
                if sum(not each.done() for each in self._going.values()) >= AT_ONCE_MAX:
                    why = f"{AT_ONCE_MAX} artifacts are being fetched already"
                    raise Unavailable("fetching", why)
                known = self._going[key] = self._hands.submit(work, artifact, of)
            return known

    def take(self, done: Future[Any]) -> None:
        """Its answer was told: who asks from now on has it done anew."""
        with self._lock:
            self._going = {key: each for key, each in self._going.items() if each is not done}

    def close(self) -> None:
        """Begin nothing any more."""
        self._hands.shutdown(wait=False, cancel_futures=True)

    def fetch(self, artifact: Artifact, source: ArtifactSource) -> Fetched:
        """Bring it here, whole and as its digest says."""
        return self._fetch(artifact.digest, self._open(source))

    def verify(self, artifact: Artifact, source: ArtifactSource) -> VerifiedArtifact:
        """Bring it here, read all of it again, and find who signed it."""
        opened = self._open(source)
        fetched = self._fetch(artifact.digest, opened)
        lost = [each for each in fetched.parts if self.store.judge(each) is None]
        if lost:
            fetched = self._fetch(artifact.digest, opened)  # a disk lost some of it: once more
        signed = self.store.judge(artifact.digest)
        if signed is None:
            raise VerificationFailed(artifact.digest, VerificationReason.DIGEST_DIFFERS)
        if not source.keys:
            return VerifiedArtifact(fetched, VerificationReason.DIGEST_MATCHES, None)
        texts = opened.signatures(artifact.digest)
        found = find_signer(texts, signed, keys=source.keys)
        if not isinstance(found, SignedBy):
            raise VerificationFailed(artifact.digest, found)
        return VerifiedArtifact(fetched, VerificationReason.SIGNATURE_VALID, found.key)

    def _fetch(self, digest: str, opened: ArtifactOrigin) -> Fetched:
        parts = opened.fetch(digest, self.store, size_max=self.bytes_max)
        for each in parts:
            self.store.touch(each)
        return Fetched(parts, sum(self.store.path(each).stat().st_size for each in parts))

    def _open(self, source: ArtifactSource) -> ArtifactOrigin:
        is_ours = source.tier is SourceTier.PLATFORM
        deadline = Deadline.after(self.seconds_max)
        if is_ours:
            transport = guarded_transport(deadline)
        else:
            transport = guarded_transport(deadline, partial(are_allowed, networks=self.networks))
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

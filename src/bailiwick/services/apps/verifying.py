"""Artifacts fetched and verified: brought here by digest, and their trust sealed with the reason.

Rules:

- Only what is registered is fetched, from the source that counts where it is registered.
- What the bytes say is sealed: verified with the reason and the key, or failed with the reason; and
  a failure is refused to whoever asked, too. A source that cannot be reached says nothing, and
  changes nothing.
- What is revoked is not looked at again.
- What takes long goes on without whoever asked: he is told so, and asks again for what came of it.
- A dry run asks no source.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.executors.artifacts.fetching import Fetched, Fetcher
from bailiwick.iam import Scope
from bailiwick.kernel.apps.commands import ChangeArtifact
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.vocab.apps import ArtifactTrust, VerificationReason
from bailiwick.vocab.errors import Conflict, NotFound, VerificationFailed

PATIENCE_S = 20.0
"""How long one who asks is kept waiting."""
_NOTHING = Fetched((), 0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StillFetching:
    """It goes on; ask again."""


class TrustVerdict(NamedTuple):
    """What is known of an artifact now."""

    fetched: Fetched
    trust: ArtifactTrust
    reason: VerificationReason | None
    key: str | None


async def fetch_artifact(
    caller: Caller, scope: Scope, *, digest: str, fetcher: Deferred[Fetcher]
) -> Fetched | StillFetching:
    """Bring an artifact here, whole; nothing is said of its trust."""
    caller.require(scope)
    artifact, source = await caller.lookup(lambda view: find(view, scope, digest=digest))
    if caller.dry_run:
        return _NOTHING
    hands = fetcher()
    return await awaited(hands, hands.begin(hands.fetch, artifact, of=source))


async def awaited(fetcher: Fetcher, going: Future[T]) -> T | StillFetching:
    """What came of it, if that takes no longer than somebody can be kept waiting."""
    waiting = asyncio.wrap_future(going)
    waiting.add_done_callback(lambda over: over.cancelled() or over.exception())
    await asyncio.wait([waiting], timeout=PATIENCE_S)
    if not waiting.done():
        return StillFetching()
    fetcher.take(going)
    return waiting.result()


async def verify_artifact(
    caller: Caller, scope: Scope, *, digest: str, fetcher: Deferred[Fetcher]
) -> TrustVerdict | StillFetching:
    """Bring an artifact here, find out who signed it, and seal what was found."""
    caller.require(scope)
    artifact, source = await caller.lookup(lambda view: find(view, scope, digest=digest))
    if artifact.trust is ArtifactTrust.REVOKED:
        raise Conflict("artifact", digest, "is revoked, for good")
    if caller.dry_run:
        return TrustVerdict(_NOTHING, artifact.trust, None, artifact.key)
    hands = fetcher()
    try:
        found = await awaited(hands, hands.begin(hands.verify, artifact, of=source))
    except VerificationFailed as error:
        if artifact.trust is not ArtifactTrust.FAILED_VERIFICATION:
            why = VerificationReason(error.reason)
            await caller.change(_sealed(scope, artifact, why, key=None))
        raise
    if isinstance(found, StillFetching):
        return found
    if artifact.trust is not ArtifactTrust.VERIFIED or found.key != artifact.key:
        await caller.change(_sealed(scope, artifact, found.reason, key=found.key))
    return TrustVerdict(found.fetched, ArtifactTrust.VERIFIED, found.reason, found.key)


def find(view: View, scope: Scope, *, digest: str) -> tuple[Artifact, ArtifactSource]:
    """What is registered at exactly this scope, and where it comes from."""
    book = view.state.apps
    artifact = book.artifacts.get((scope, digest))
    if artifact is None:
        raise NotFound("artifact", digest)
    source = book.source(artifact.source, scope)
    if source is None or not source.is_allowed:
        raise NotFound("artifact source", artifact.source, hint="artifact sources lists them")
    if source.kind is not artifact.kind:
        raise Conflict("artifact source", source.name, f"holds {source.kind} artifacts")
    return artifact, source


def _sealed(
    scope: Scope, artifact: Artifact, reason: VerificationReason, *, key: str | None
) -> ChangeArtifact:
    trust = ArtifactTrust.VERIFIED if reason.is_good else ArtifactTrust.FAILED_VERIFICATION
    return ChangeArtifact(
        artifact.digest, scope.tenant, scope.project, trust=trust, reason=reason, key=key
    )

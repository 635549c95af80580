"""Routes for artifacts: where they come from, what is known of them, whether they may be used."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path, Query
from fastapi.responses import FileResponse, Response

from bailiwick.apps.manifest import DIGEST
from bailiwick.client.connection import CREDENTIAL_HEADER
from bailiwick.iam import Scope
from bailiwick.kernel.apps.commands import ChangeArtifact, RegisterArtifact, SetArtifactSource
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import (
    IfMatch,
    Limit,
    PathName,
    RowCursor,
    revision_of,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps import artifacts, pulling, verifying
from bailiwick.wire import apps as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

_DIGEST = f"^{DIGEST.pattern}$"
PathDigest = Annotated[str, Path(pattern=_DIGEST)]
PartDigest = Annotated[str | None, Query(pattern=_DIGEST, description="A part of it.")]
Credential = Annotated[
    str,
    Header(
        alias=CREDENTIAL_HEADER,
        max_length=pulling.CREDENTIAL_CHARS_MAX,
        description="What gives leave to pull.",
    ),
]


@answers("artifact_source.list")
async def list_sources(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.ArtifactSource]:
    """Everybody's sources, and those of tenants that the caller may see."""
    found = await artifacts.page_sources(asked, after=cursor, limit=limit)
    return spell_page(found, _source)


@answers("artifact_source.set")
async def set_source(asked: Changing, body: wire.ArtifactSourceChange) -> Done:
    """Set where artifacts may come from; without a tenant it is everybody's.

    An address has no user or password in it. Keys are public ones, as minisign prints them.
    """

    def command() -> SetArtifactSource:
        told = (body.kind, body.address, tuple(body.keys), body.is_allowed, body.tenant)
        return SetArtifactSource(body.source, *told)

    return spell_done(await artifacts.set_source(asked, body.tenant, command=command))


@answers("artifact.list")
async def list_artifacts(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.Artifact]:
    """Everybody's artifacts, and those of scopes that the caller may see."""
    found = await artifacts.page_artifacts(asked, after=cursor, limit=limit)
    return spell_page(found, _artifact)


@answers("artifact.register")
async def register_artifact(asked: Changing, body: wire.NewArtifact) -> Done:
    """Name bytes by their digest; they are used once they are verified."""

    def command() -> RegisterArtifact:
        told = (body.kind, body.source, body.tenant, body.project)
        return RegisterArtifact(body.digest, *told)

    scope = Scope.of(body.tenant, body.project)
    return spell_done(await artifacts.register(asked, scope, command=command))


@answers("artifact.change")
async def change_artifact(
    asked: Changing, body: wire.ArtifactChange, *, if_match: IfMatch = None
) -> Done:
    """Change an artifact's life, trust or channel; each change is sealed with what was before."""

    def command() -> ChangeArtifact:
        place = (body.digest, body.tenant, body.project)
        words = (body.lifecycle, body.trust, body.channel)
        return ChangeArtifact(*place, *words, revision_of(if_match))

    scope = Scope.of(body.tenant, body.project)
    return spell_done(await artifacts.change_artifact(asked, scope, command=command))


@answers("artifact.resolve")
async def resolve_artifacts(asked: Here, body: wire.ArtifactQuestion) -> wire.ArtifactResolutions:
    """Whether each artifact of a version may be used there, with everything that was asked."""
    scope = Scope.of(body.tenant, body.project)
    found = await artifacts.resolve_artifacts(asked, scope, app=body.app, version=body.version)
    return wire.ArtifactResolutions(
        app=body.app,
        version=body.version,
        is_usable=all(each.is_usable for each in found),
        artifacts=[_resolution(each) for each in found],
    )


@answers("artifact.fetch")
async def fetch_artifact(asked: Changing, body: wire.ArtifactPlace) -> wire.ArtifactFetched:
    """Fetch an artifact to the server; it is kept if all of it is what its digests say.

    Other bytes are refused (`verification_failed`) and never kept. Nothing is said of its trust.
    What takes long goes on: `is_done` is false then; ask again.
    """
    scope = Scope.of(body.tenant, body.project)
    found = await verifying.fetch_artifact(
        asked, scope, digest=body.digest, fetcher=lambda: asked.fetcher
    )
    if isinstance(found, verifying.StillFetching):
        return wire.ArtifactFetched(digest=body.digest, is_done=False)
    size, parts = found.size_bytes, list(found.parts)
    return wire.ArtifactFetched(digest=body.digest, is_done=True, size_bytes=size, parts=parts)


@answers("artifact.verify")
async def verify_artifact(asked: Changing, body: wire.ArtifactPlace) -> wire.ArtifactVerdict:
    """Fetch an artifact, and seal whether it is verified, with the reason and the key.

    Where its source names keys, one of them must have signed it. What fails is sealed as
    `failed_verification` and answered with `verification_failed`. What takes long goes on:
    `is_done` is false then; ask again.
    """
    scope = Scope.of(body.tenant, body.project)
    found = await verifying.verify_artifact(
        asked, scope, digest=body.digest, fetcher=lambda: asked.fetcher
    )
    if isinstance(found, verifying.StillFetching):
        return wire.ArtifactVerdict(digest=body.digest, is_done=False)
    return wire.ArtifactVerdict(
        digest=body.digest,
        is_done=True,
        size_bytes=found.fetched.size_bytes,
        parts=list(found.fetched.parts),
        trust=found.trust,
        reason=found.reason,
        key=found.key,
    )


@answers("artifact.let_pull")
async def let_pull(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.NewPullCredential
) -> wire.PullCredential:
    """Let somebody pull an artifact of an instance for minutes, while an operation goes on.

    The credential is shown this once. It is of use to its audience alone, for this digest.
    """
    wish = pulling.PullWish(
        instance_id=body.instance_id,
        operation_id=body.operation_id,
        digest=body.digest,
        audience=body.audience,
        ttl_s=body.ttl_s,
    )
    scope = Scope.of(tenant, project)
    made = await pulling.issue_credential(asked, scope, wish=wish, key=_pull_key(asked))
    held = made.held
    return wire.PullCredential(
        credential_id=held.credential_id,
        credential=made.text,
        digest=held.digest,
        audience=held.audience,
        instance_id=held.instance_id,
        operation_id=held.operation_id,
        expires_ms=held.expires_ms,
    )


@answers("artifact.pull")
async def pull_artifact(
    asked: Here, digest: PathDigest, *, part: PartDigest = None, credential: Credential = ""
) -> Response:
    """The bytes of an artifact, or of a part of it (of an image: a layer), for a credential.

    Whoever shows it must be its audience. Everything is asked again: that it has not run out, its
    operation goes on, and the artifact may still be used there.
    """
    wanted = pulling.PullAsked(digest, part, credential)
    found = await pulling.pull(asked, wanted, fetcher=lambda: asked.fetcher, key=_pull_key(asked))
    return FileResponse(found.path, media_type="application/octet-stream")


def _pull_key(asked: Asked) -> bytes:
    return asked.house.door.authority.key_for(b"artifact credentials")


# -- spelling --------------------------------------------------------------------------------


def _source(found: artifacts.SourceRow) -> wire.ArtifactSource:
    source = found.source
    return wire.ArtifactSource(
        source=source.name,
        tenant=found.tenant,
        tier=source.tier,
        kind=source.kind,
        address=source.address,
        keys=list(source.keys),
        is_allowed=source.is_allowed,
    )


def _artifact(found: artifacts.ArtifactRow) -> wire.Artifact:
    artifact = found.artifact
    return wire.Artifact(
        digest=artifact.digest,
        tenant=found.scope.tenant,
        project=found.scope.project,
        kind=artifact.kind,
        source=artifact.source,
        lifecycle=artifact.lifecycle,
        trust=artifact.trust,
        channel=artifact.channel,
        revision=artifact.revision,
    )


def _resolution(row: artifacts.ResolvedRow) -> wire.ArtifactResolution:
    found = row.found
    steps = [
        wire.ArtifactStep(asked=each.asked, holds=each.holds, found=each.found)
        for each in found.steps
    ]
    return wire.ArtifactResolution(
        name=row.name,
        digest=found.digest,
        is_usable=row.is_usable,
        reason=None if row.is_usable else found.steps[-1].asked,
        steps=steps,
    )

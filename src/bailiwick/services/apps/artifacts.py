"""Artifacts and where they come from: registered by digest, promoted, and judged before use.

Rules:

- The platform's sources and artifacts are everybody's to see; a tenant's are its own.
- Where a source names keys, nobody says by hand that something from there is verified.
- Whether an artifact may be used is found with everything that was asked on the way.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.apps.artifacts import Artifact, ArtifactSource, Resolution, Unusable, resolve
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.commands import ChangeArtifact, RegisterArtifact, SetArtifactSource
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.apps import ArtifactTrust
from bailiwick.vocab.errors import Conflict, NotFound


class SourceRow(NamedTuple):
    """A source, and whose it is."""

    tenant: str | None
    source: ArtifactSource


class ArtifactRow(NamedTuple):
    """An artifact, and at which scope it is registered."""

    scope: Scope
    artifact: Artifact


class ResolvedRow(NamedTuple):
    """One artifact of a version, and whether it may be used."""

    name: str
    found: Resolution

    @property
    def is_usable(self) -> bool:
        """Whether it may."""
        return not isinstance(self.found, Unusable)


async def page_sources(caller: Caller, *, after: str | None, limit: int) -> Rows[SourceRow]:
    """Everybody's sources, and those of tenants that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[SourceRow]:
        rows = (
            SourceRow(scope.tenant, source)
            for (scope, _), source in view.state.apps.sources.items()
            if scope == FLEET or caller.may_within(scope)
        )
        return page_of(rows, after=after, limit=limit, key=source_key)

    return await caller.read(read)


def source_key(row: SourceRow) -> str:
    """What sources are listed by, and their pages turned."""
    return f"{row.source.name}@{row.tenant or ''}"


async def set_source(
    caller: Caller, tenant: str | None, *, command: Deferred[SetArtifactSource]
) -> Done:
    """Say where artifacts may come from."""
    caller.require(Scope.of(tenant))
    return await caller.change(command())


async def page_artifacts(caller: Caller, *, after: str | None, limit: int) -> Rows[ArtifactRow]:
    """Everybody's artifacts, and those of scopes that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[ArtifactRow]:
        rows = (
            ArtifactRow(scope, artifact)
            for (scope, _), artifact in view.state.apps.artifacts.items()
            if scope == FLEET or caller.may(scope)
        )
        return page_of(rows, after=after, limit=limit, key=artifact_key)

    return await caller.read(read)


def artifact_key(row: ArtifactRow) -> str:
    """What artifacts are listed by, and their pages turned: the digits say which they are."""
    digits = row.artifact.digest.removeprefix("sha256:")
    return f"{digits}@{'/'.join(filter(None, row.scope))}"


async def register(caller: Caller, scope: Scope, *, command: Deferred[RegisterArtifact]) -> Done:
    """Name bytes that apps of a scope may be made of."""
    caller.require(scope)
    return await caller.change(command())


async def change_artifact(
    caller: Caller, scope: Scope, *, command: Deferred[ChangeArtifact]
) -> Done:
    """Change an artifact's life, trust or channel; who signed it nobody says by hand."""
    caller.require(scope)
    wanted = command()
    if wanted.trust is ArtifactTrust.VERIFIED:
        await caller.lookup(lambda view: _check_unkeyed(view, scope, wanted.digest))
    return await caller.change(wanted)


def _check_unkeyed(view: View, scope: Scope, digest: str) -> None:
    found = view.state.apps.artifacts.get((scope, digest))
    source = None if found is None else view.state.apps.source(found.source, scope)
    if source is not None and source.keys:
        hint = "bailiwick artifact verify finds out who signed it"
        raise Conflict("artifact", digest, "its source names keys", hint=hint)


async def resolve_artifacts(
    caller: Caller, scope: Scope, *, app: str, version: str
) -> list[ResolvedRow]:
    """Whether what a version is made of may be used at a scope, one by one."""
    caller.require(scope)

    def read(view: View) -> list[ResolvedRow]:
        book = view.state.apps
        found = book.versions_at(app, scope).get(version)
        if found is None:
            raise NotFound("version", f"{app} {version}")
        manifest, policy = found.manifest, book.policy(app, scope)
        return [
            ResolvedRow(
                name,
                resolve(
                    ref,
                    book.artifact(ref.digest, scope),
                    source=book.source(ref.source, scope),
                    policy=policy,
                ),
            )
            for name, ref in sorted(manifest.artifacts.items())
        ]

    return await caller.lookup(read)

"""``bailiwick artifact``: what apps are made of, where it comes from, and whether it is trusted."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.app_entitlement import FleetOption, place_of
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.scopes import RevisionOption
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.phrases.amounts import size
from bailiwick.vocab.apps import (
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    VerificationReason,
)
from bailiwick.vocab.errors import InvalidValue, Unavailable

if TYPE_CHECKING:
    from bailiwick.client.http_client import Places
    from bailiwick.wire.apps import (
        Artifact,
        ArtifactFetched,
        ArtifactResolutions,
        ArtifactSource,
    )

app = noun("What apps are made of, by digest: where it comes from, and whether it is trusted.")

_Digest = Annotated[str, typer.Argument(metavar="DIGEST", help="sha256: and 64 digits.")]
_KindOption = Annotated[ArtifactKind, typer.Option("--kind", help="How it is stored.")]

_ASKED_MAX = 200
F = TypeVar("F", bound="ArtifactFetched")

_ARTIFACTS: Columns[Artifact] = Columns(
    ("digest*", "where", "kind", "source", "life", "trust", "channel", "revision"),
    lambda a: (
        *(a.digest, _where(a.tenant, a.project), a.kind, a.source),
        *(a.lifecycle, a.trust, a.channel, str(a.revision)),
    ),
    lambda a: a.digest,
    numbers=("revision",),
    empty="no artifact that you may see",
)
_SOURCES: Columns[ArtifactSource] = Columns(
    ("source", "whose", "kind", "address*", "keys", "used"),
    lambda s: (
        *(s.source, s.tenant or "everybody's", s.kind, s.address),
        *(str(len(s.keys)), "yes" if s.is_allowed else "no"),
    ),
    lambda s: s.source,
    numbers=("keys",),
    empty="no source that you may see",
)


def _where(tenant: str | None, project: str | None) -> str:
    return "fleet" if tenant is None else owner(tenant, project)


@verb(app, "list", lists=True)
def list_artifacts(ask: Ask) -> None:
    """The artifacts that you may see.

    Example: bailiwick artifact list
    """
    from bailiwick.wire.actions.apps import ARTIFACT_LIST

    ask.list(ARTIFACT_LIST, columns=_ARTIFACTS)


@verb(app, "register", changes=True, scope="project")
def register_artifact(
    ask: Ask,
    digest: _Digest,
    *,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Where it comes from.")],
    kind: _KindOption = ArtifactKind.OCI,
    fleet: FleetOption = False,
) -> None:
    """Name bytes by their digest; they are used once they are verified.

    Example: bailiwick artifact register sha256:9f86... --source main --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_REGISTER
    from bailiwick.wire.apps import NewArtifact

    place = place_of(ask, fleet=fleet)
    body = make_body(NewArtifact, digest=digest, kind=kind, source=source, **place)
    ask.change(ARTIFACT_REGISTER, body=body, told=f"{digest} is registered, and not verified yet")


@verb(app, "change", changes=True, scope="project")
def change_artifact(
    ask: Ask,
    digest: _Digest,
    *,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORD=VALUE...", help="trust=verified, lifecycle=promoted, channel=test."
        ),
    ],
    fleet: FleetOption = False,
    if_revision: RevisionOption = None,
) -> None:
    """Promote, deprecate or retire an artifact, or say whether it is trusted.

    Example: bailiwick artifact change sha256:9f86... trust=verified channel=test --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_CHANGE
    from bailiwick.wire.apps import ArtifactChange

    given = dict(_changed(each) for each in words)
    for word in (ArtifactTrust.REVOKED, ArtifactLifecycle.RETIRED):
        if word in given.values():
            ask.confirm(f"Say that {digest} is {word.value}? That cannot be taken back.")
    body = make_body(ArtifactChange, digest=digest, **place_of(ask, fleet=fleet), **given)
    etag = None if if_revision is None else f'"{if_revision}"'
    told = f"{digest} is {', '.join(given.values())}"
    ask.change(ARTIFACT_CHANGE, body=body, etag=etag, told=told)


_CHANGES: dict[str, type[StrEnum]] = {
    "lifecycle": ArtifactLifecycle,
    "trust": ArtifactTrust,
    "channel": Channel,
}


def _changed(text: str) -> tuple[str, StrEnum]:
    word, _, value = text.partition("=")
    if word not in _CHANGES:
        raise InvalidValue("WORD", text, "lifecycle=, trust= or channel=")
    if value not in list(_CHANGES[word]):
        raise InvalidValue(word, value, "one of " + ", ".join(_CHANGES[word]))
    return word, _CHANGES[word](value)


def _done(send: Callable[[], F]) -> F:
    """The answer, once the server has all of it; each one comes after 20 seconds at most."""
    for _ in range(_ASKED_MAX):
        found = send()
        if found.is_done:
            return found
        typer.echo("the server is still fetching it", err=True)
    raise Unavailable("the artifact", "the server has been fetching it for an hour")


@verb(app, "verify", changes=True, scope="project")
def verify_artifact(ask: Ask, digest: _Digest, *, fleet: FleetOption = False) -> None:
    """Fetch an artifact, check it, and seal whether it is trusted and why.

    Every byte is held against its digest; where the source names keys, one of them must have
    signed it. Ends with 3 if it fails.

    Example: bailiwick artifact verify sha256:9f86... --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_VERIFY
    from bailiwick.wire.apps import ArtifactPlace

    body = make_body(ArtifactPlace, digest=digest, **place_of(ask, fleet=fleet))
    found = _done(lambda: ask.client.send(ARTIFACT_VERIFY, body=body, dry_run=ask.dry_run))
    trust = "-" if found.trust is None else found.trust.value
    rows = [
        ("trust", trust),
        ("because", "-" if found.reason is None else found.reason.value),
        ("signed by", found.key or "-"),
        ("size", size(found.size_bytes)),
        ("parts", str(len(found.parts))),
    ]
    draw = partial(draw_details, "artifact", digest, rows=rows)
    ask.printer.thing(found, name=trust, draw=draw)


@verb(app, "fetch", changes=True, scope="project")
def fetch_artifact(ask: Ask, digest: _Digest, *, fleet: FleetOption = False) -> None:
    """Fetch an artifact to the server; nothing is said of its trust.

    Example: bailiwick artifact fetch sha256:9f86... --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_FETCH
    from bailiwick.wire.apps import ArtifactPlace

    body = make_body(ArtifactPlace, digest=digest, **place_of(ask, fleet=fleet))
    found = _done(lambda: ask.client.send(ARTIFACT_FETCH, body=body, dry_run=ask.dry_run))
    rows = [("size", size(found.size_bytes)), ("parts", str(len(found.parts)))]
    draw = partial(draw_details, "artifact", digest, rows=rows)
    ask.printer.thing(found, name=digest, draw=draw)


@verb(app, "let-pull", changes=True, scope="project")
def let_pull(
    ask: Ask,
    digest: _Digest,
    *,
    instance: Annotated[int, typer.Option("--instance", metavar="ID", min=1, help="Whose it is.")],
    operation: Annotated[
        int, typer.Option("--operation", metavar="ID", min=1, help="It ends with that.")
    ],
    audience: Annotated[
        str | None, typer.Option("--audience", metavar="WHO", help="Who may use it; else you.")
    ] = None,
    seconds: Annotated[
        int, typer.Option("--seconds", min=1, max=900, help="How long it is good.")
    ] = 300,
) -> None:
    """Make a credential to pull an artifact of an instance; it is shown this once.

    Example: bailiwick artifact let-pull sha256:9f86... --instance 3 --operation 7 --audience bot
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_LET_PULL
    from bailiwick.wire.apps import NewPullCredential

    body = make_body(
        NewPullCredential,
        instance_id=instance,
        operation_id=operation,
        digest=digest,
        audience=audience,
        ttl_s=seconds,
    )
    if ask.project is None:
        raise InvalidValue("--project", None, "the project of the instance")
    path: Places = {"tenant": ask.tenant, "project": ask.project}
    found = ask.client.send(ARTIFACT_LET_PULL, path=path, body=body, dry_run=ask.dry_run)
    ask.printer.thing(found, name=found.credential, draw=lambda: typer.echo(found.credential))


@verb(app, "pull")
def pull_artifact(
    ask: Ask,
    digest: _Digest,
    *,
    credential: Annotated[
        typer.FileText, typer.Option("--credential", metavar="FILE", help="Holds it; - for stdin.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="Where the bytes go.")],
    part: Annotated[
        str | None, typer.Option("--part", metavar="DIGEST", help="A part of it: a layer.")
    ] = None,
) -> None:
    """Pull an artifact from the server with a credential; it is there once its digest is right.

    Example: bailiwick artifact pull sha256:9f86... --credential - --to service.bin
    """
    from hashlib import sha256

    from bailiwick.vocab.errors import VerificationFailed
    from bailiwick.wire.actions.apps import ARTIFACT_PULL

    wanted, seen = part or digest, sha256()
    shown = credential.read(512).strip()
    half = to.with_name(to.name + ".part")
    pieces = ask.client.download(
        ARTIFACT_PULL, path={"digest": digest}, query={"part": part}, shown=shown
    )
    try:
        with half.open("wb") as file:
            for piece in pieces:
                seen.update(piece)
                file.write(piece)
        if f"sha256:{seen.hexdigest()}" != wanted:
            raise VerificationFailed(wanted, VerificationReason.DIGEST_DIFFERS.value)
        half.replace(to)
    except OSError as error:
        raise InvalidValue("--to", str(to), f"a file we can write ({error.strerror})") from None
    finally:
        half.unlink(missing_ok=True)
    typer.echo(f"{wanted} is in {to}")


@verb(app, "resolve", scope="project")
def resolve_artifacts(
    ask: Ask,
    name: Annotated[str, typer.Argument(metavar="APP", help="hello, or lab.hello.")],
    *,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Such as 1.2.0.")],
) -> None:
    """Whether what a version is made of may be used at a project, and why not.

    Example: bailiwick artifact resolve hello 1.2.0 --tenant lab --project vision
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_RESOLVE
    from bailiwick.wire.apps import ArtifactQuestion

    place = place_of(ask, fleet=False)
    body = make_body(ArtifactQuestion, app=name, version=version, **place)
    found = ask.client.send(ARTIFACT_RESOLVE, body=body)
    told = "usable" if found.is_usable else "not usable"
    ask.printer.thing(found, name=told, draw=lambda: _draw_resolutions(found))
    if not found.is_usable:
        raise typer.Exit(ExitCode.DENIED)


def _draw_resolutions(found: ArtifactResolutions) -> None:
    rows = [
        (each.name, step.asked.value, "passed" if step.holds else "refused", step.found)
        for each in found.artifacts
        for step in each.steps
    ]
    told = "may be used" if found.is_usable else "may not be used"
    headings = ("artifact", "asked", "", "found*")
    print_rows(make_console(), headings, rows=rows, title=f"{found.app} {found.version} {told}")


@verb(app, "sources", lists=True)
def list_sources(ask: Ask) -> None:
    """Where artifacts may come from.

    Example: bailiwick artifact sources
    """
    from bailiwick.wire.actions.apps import ARTIFACT_SOURCE_LIST

    ask.list(ARTIFACT_SOURCE_LIST, columns=_SOURCES)


@verb(app, "source-set", changes=True, scope="tenant")
def set_source(
    ask: Ask,
    source: Annotated[str, typer.Argument(metavar="NAME", help="What manifests call it.")],
    *,
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="registry.example/apps, or https://... of blobs."),
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="RW...|sigstore:...",
            help="A public key of minisign, or for Sigstore bundles; repeatable.",
        ),
    ] = None,
    allowed: Annotated[
        bool, typer.Option("--allow/--forbid", help="Whether artifacts may come from there.")
    ] = True,
    fleet: FleetOption = False,
) -> None:
    """Say where artifacts may come from: for everybody, or for a tenant.

    Example: bailiwick artifact source-set main registry.example/apps --fleet
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import ARTIFACT_SOURCE_SET
    from bailiwick.wire.apps import ArtifactSourceChange

    body = make_body(
        ArtifactSourceChange,
        source=source,
        tenant=None if fleet else ask.tenant,
        kind=ArtifactKind.BLOB if "://" in address else ArtifactKind.OCI,
        address=address,
        keys=key or [],
        is_allowed=allowed,
    )
    told = f"artifacts may {'' if allowed else 'no longer '}come from {source}"
    ask.change(ARTIFACT_SOURCE_SET, body=body, told=told)

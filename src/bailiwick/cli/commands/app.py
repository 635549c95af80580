"""``bailiwick app``: apps that were published, version by version.

Rules:

- A manifest is read here first, so that a mistake is told with its line before anything is sent;
  the server reads it again.
- ``lint`` and ``diff`` of two files need no server.
- Who may use an app is in :mod:`.app_entitlement`; what runs, in :mod:`bailiwick.cli.apps`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.apps.calling import add_call_verb
from bailiwick.cli.apps.checking import add_check_verb, draw_check
from bailiwick.cli.apps.instances import app as instance
from bailiwick.cli.apps.members import app as member
from bailiwick.cli.apps.opening import add_open_verb
from bailiwick.cli.commands.app_entitlement import app as entitlement
from bailiwick.cli.offline.policy_files import read_bytes
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, draw_details, emit
from bailiwick.cli.shared.scopes import RevisionOption
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.times import moment
from bailiwick.vocab.apps import AppLifecycle, AppVisibility
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.apps.manifest import Manifest
    from bailiwick.wire.apps import App, AppVersion, AppVersionDetail

app = noun("Apps that were published, version by version, and who may use them how.")
app.add_typer(entitlement, name="entitlement")
app.add_typer(instance, name="instance")
app.add_typer(member, name="member")
add_check_verb(app)
add_call_verb(app)
add_open_verb(app)

ManifestFile = Annotated[
    Path, typer.Argument(metavar="MANIFEST", help="The manifest (YAML or JSON); - reads stdin.")
]
AppName = Annotated[
    str, typer.Argument(metavar="APP", help="hello, or lab.hello for one of the tenant lab.")
]
VersionArgument = Annotated[str, typer.Argument(metavar="VERSION", help="Such as 1.2.0.")]
VersionOption = Annotated[
    str | None, typer.Option("--version", metavar="VERSION", help="Of this version alone.")
]
PlatformOption = Annotated[
    bool, typer.Option("--platform", help="For the platform, and not for a tenant.")
]

_APPS: Columns[App] = Columns(
    ("app", "title*", "newest", "versions", "life", "seen by"),
    lambda a: (a.app, a.title, a.newest or "-", str(a.versions), a.lifecycle, _seen_by(a)),
    lambda a: a.app,
    numbers=("versions",),
    empty="no app that you may see",
)
_VERSIONS: Columns[AppVersion] = Columns(
    ("version", "life", "host", "published", "checked", "digest*"),
    lambda v: (
        *(v.version, v.lifecycle, _host(v), moment(v.published_ms)),
        *(_checked(v), v.digest),
    ),
    lambda v: v.version,
    empty="no version that you may see",
)


def _seen_by(found: App) -> str:
    if found.visibility is AppVisibility.PUBLIC:
        return "everybody"
    return found.tenant or "the fleet"


def _host(found: AppVersion) -> str:
    if not found.host_asked:
        return "-"
    return "granted" if found.host_granted else "asked"


def _checked(found: AppVersion) -> str:
    if found.check is None:
        return "-"
    return found.check.verdict.replace("_", " ")


@verb(app, "list", lists=True)
def list_apps(ask: Ask) -> None:
    """The apps that you may see.

    Example: bailiwick app list
    """
    from bailiwick.wire.actions.apps import APP_LIST

    ask.list(APP_LIST, columns=_APPS)


@verb(app, "show")
def show_app(ask: Ask, name: AppName, *, version: VersionOption = None) -> None:
    """One app, or one version of it with its manifest.

    Example: bailiwick app show hello --version 1.2.0
    """
    from bailiwick.wire.actions.apps import APP_READ

    if version is not None:
        detail = _read_version(ask, name, version=version)
        ask.printer.thing(detail, name=detail.digest, draw=lambda: _draw_version(detail))
        return
    found = ask.client.send(APP_READ, path={"app": name})
    rows = [
        ("title", found.title),
        ("newest version", found.newest or "-"),
        ("versions", str(found.versions)),
        ("life", found.lifecycle.value),
        ("seen by", _seen_by(found)),
        ("revision", str(found.revision)),
    ]
    ask.printer.thing(found, name=found.app, draw=lambda: draw_details("app", name, rows=rows))


def _read_version(ask: Ask, name: str, *, version: str) -> AppVersionDetail:
    from bailiwick.wire.actions.apps import APP_VERSION_READ

    return ask.client.send(APP_VERSION_READ, path={"app": name, "version": version})


def _draw_version(found: AppVersionDetail) -> None:
    from bailiwick.apps.reading import read_canonical

    manifest = read_canonical(found.manifest)
    rows = [
        ("life", found.lifecycle.value),
        ("published", moment(found.published_ms)),
        ("digest", found.digest),
        ("host", _host(found)),
        ("modes", ", ".join(manifest.operating_modes)),
        ("needs", ", ".join(manifest.permissions) or "-"),
        ("upgrades", ", ".join(f"{start} to {end}" for start, end in manifest.upgrades) or "-"),
        ("checked", _checked(found) + _checked_when(found)),
    ]
    draw_details("version", f"{found.app} {found.version}", rows=rows)
    told = [
        (name, _count(role.count), ", ".join(f"{k} {v}" for k, v in role.shape.plain().items()))
        for name, role in manifest.roles.items()
    ]
    print_rows(make_console(), ("role", "members", "each holds*"), rows=told)
    if found.check is not None:
        draw_check(found.check)


def _checked_when(found: AppVersion) -> str:
    return "" if found.check is None else f" on {moment(found.check.checked_ms)}"


def _count(count: tuple[int, int]) -> str:
    return str(count[0]) if count[0] == count[1] else f"{count[0]} to {count[1]}"


@verb(app, "versions", lists=True)
def list_versions(ask: Ask, name: AppName) -> None:
    """The versions of an app.

    Example: bailiwick app versions hello
    """
    from bailiwick.wire.actions.apps import APP_VERSION_LIST

    ask.list(APP_VERSION_LIST, columns=_VERSIONS, path={"app": name})


@verb(app, "publish", changes=True, scope="tenant")
def publish_app(
    ask: Ask,
    manifest: ManifestFile,
    *,
    platform: PlatformOption = False,
    public: Annotated[bool, typer.Option("--public", help="Everybody sees the app.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Only you see the version yet.")] = False,
) -> None:
    """Publish a version of an app; it stays what it is.

    Example: bailiwick app publish manifest.yaml --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import APP_PUBLISH
    from bailiwick.wire.apps import NewApp

    text, found = _load(manifest)
    tenant = None if platform else ask.tenant
    visibility = AppVisibility.PUBLIC if public else AppVisibility.PRIVATE
    body = make_body(NewApp, document=text, tenant=tenant, visibility=visibility, is_draft=draft)
    name = found.app if tenant is None else f"{tenant}.{found.app}"
    told = f"{name} {found.version} is {'a draft' if draft else 'published'}: {found.digest}"
    ask.change(APP_PUBLISH, body=body, told=told)


@verb(app, "change", changes=True)
def change_app(
    ask: Ask,
    name: AppName,
    *,
    version: VersionOption = None,
    lifecycle: Annotated[
        AppLifecycle | None, typer.Option("--life", help="How far it is to have come.")
    ] = None,
    visibility: Annotated[
        AppVisibility | None, typer.Option("--visibility", help="Who is to see it.")
    ] = None,
    if_revision: RevisionOption = None,
) -> None:
    """Publish a draft, deprecate or retire an app or a version, show or hide an app.

    Example: bailiwick app change hello --version 1.1.0 --life deprecated
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import APP_CHANGE, APP_VERSION_CHANGE
    from bailiwick.wire.apps import AppChange, AppVersionChange

    if lifecycle is AppLifecycle.RETIRED:
        ask.confirm(f"Retire {name} {version or ''}? That cannot be taken back.")
    if version is not None:
        if lifecycle is None or visibility is not None or if_revision is not None:
            raise InvalidValue("--version", version, "--life, and nothing else, beside it")
        life = make_body(AppVersionChange, lifecycle=lifecycle)
        path = {"app": name, "version": version}
        told = f"{name} {version} is {lifecycle.value}"
        ask.change(APP_VERSION_CHANGE, path=path, body=life, told=told)
        return
    if lifecycle is None and visibility is None:
        raise InvalidValue("options", None, "--life or --visibility")
    body = make_body(AppChange, lifecycle=lifecycle, visibility=visibility)
    etag = None if if_revision is None else f'"{if_revision}"'
    ask.change(APP_CHANGE, path={"app": name}, body=body, etag=etag, told=f"{name} is changed")


@verb(app, "grant-host", changes=True)
def grant_host(
    ask: Ask,
    name: AppName,
    *,
    version: VersionArgument,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take it back.")] = False,
) -> None:
    """Let members of a version do more on their nodes than a sandbox lets them.

    Example: bailiwick app grant-host hello 1.2.0
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.apps import APP_VERSION_GRANT
    from bailiwick.wire.apps import HostGrant

    if not withdraw:
        ask.confirm(f"Let every member of {name} {version} act on its node's host?")
    body = make_body(HostGrant, is_granted=not withdraw)
    told = f"{name} {version} has {'no longer ' if withdraw else ''}the host"
    path = {"app": name, "version": version}
    ask.change(APP_VERSION_GRANT, path=path, body=body, told=told)


@verb(app, "diff")
def diff_versions(
    ask: Ask,
    name: AppName,
    *,
    before: Annotated[str, typer.Argument(metavar="VERSION", help="The older one.")],
    after: Annotated[str, typer.Argument(metavar="VERSION", help="The newer one.")],
) -> None:
    """What is different between two versions of an app.

    Example: bailiwick app diff hello 1.1.0 1.2.0
    """
    from bailiwick.apps.diff import changes
    from bailiwick.apps.reading import read_canonical
    from bailiwick.wire.apps import ManifestChange, ManifestDiff

    old, new = (
        read_canonical(_read_version(ask, name, version=version).manifest).plain()
        for version in (before, after)
    )
    told = [
        ManifestChange(place=each.place, before=each.before, after=each.after)
        for each in changes(old, new)
    ]
    found = ManifestDiff(app=name, before=before, after=after, changes=told)
    rows = [(each.place, each.before or "-", each.after or "-") for each in told]
    ask.printer.thing(
        found,
        name=f"{len(told)} differences",
        draw=lambda: print_rows(make_console(), ("where*", before, after), rows=rows),
    )


@app.command(
    "lint",
    help="What is wrong with a manifest, with line and column, and what may not be meant.\n\n"
    "bailiwick app lint manifest.yaml\n\n"
    "Needs no server. Ends with 2 if it could not be published, with 0 if there is only advice.",
)
def lint(manifest: ManifestFile) -> None:
    """Lint a manifest."""
    from bailiwick.apps.lint import lint_manifest

    text, found = _load(manifest)
    for advice in lint_manifest(text):
        emit(f"{manifest}: {advice.told}")
    emit(f"{found.app} {found.version} can be published: {found.digest}")


def _load(path: Path) -> tuple[str, Manifest]:
    """A manifest's file; what is wrong with it is told, and the command ends."""
    from bailiwick.apps.reading import FILE_BYTES_MAX, ManifestRefused, load_manifest

    try:
        text = read_bytes("MANIFEST", path, most=FILE_BYTES_MAX).decode("utf-8")
        return text, load_manifest(text)
    except UnicodeDecodeError:
        raise InvalidValue("MANIFEST", str(path), "text in UTF-8") from None
    except ManifestRefused as refused:
        for problem in refused.problems:
            typer.echo(f"{path}: {problem.told}", err=True)
        raise typer.Exit(ExitCode.USAGE) from None

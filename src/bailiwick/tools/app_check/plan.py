"""What is to be checked: which version, from and to which it can be upgraded, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.reading import read_canonical
from bailiwick.client import Client
from bailiwick.vocab.apps import AppLifecycle
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.actions.apps import APP_VERSION_LIST, APP_VERSION_READ

TIMEOUT_S: Final = 300.0
FAILURE_S: Final = 60.0
"""How long a failure that is provoked may take to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWish:
    """What somebody wants checked, as he says it."""

    app: str
    version: str
    tenant: str
    project: str
    operator: tuple[str, ...] = ()
    """The command that begins the operator; empty: none is begun."""
    token_file: str | None = None
    """The operator's own token; else an account is made."""
    other: tuple[str, str] | None = None
    """A project of another tenant, with an instance in it."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S

    def __post_init__(self) -> None:
        if self.other is not None and self.other[0] == self.tenant:
            raise InvalidValue("--other", "/".join(self.other), "a project of another tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlan(CheckWish):
    """The same, with what the catalog says."""

    manifest: Manifest
    digest: str
    start: str
    """The version in which the instance begins."""
    target: str | None
    """The one to which it is upgraded; one of the two is the one in question."""

    @property
    def name(self) -> str:
        """What the check calls its instances."""
        return f"check-{self.manifest.app}"


def find_path(
    version: str, paths: Iterable[tuple[str, str]], *, usable: set[str]
) -> tuple[str, str]:
    """Along which upgrade a version is tried: one to it, else one from it, else none.

    >>> paths = [("2.0.0", "3.0.0"), ("1.0.0", "2.0.0")]
    >>> find_path("2.0.0", paths, usable={"1.0.0", "2.0.0", "3.0.0"})
    ('1.0.0', '2.0.0')
    >>> find_path("2.0.0", [("1.0.0", "2.0.0")], usable={"2.0.0"})
    ('2.0.0', '')
    """
    known = [each for each in paths if set(each) <= usable]
    into = [each for each in known if each[1] == version]
    out_of = [each for each in known if each[0] == version]
    return (into or out_of or [(version, "")])[0]


def make_plan(client: Client, wish: CheckWish) -> CheckPlan:
    """The plan for a wish, by what the catalog has."""
    path: dict[str, str | int] = {"app": wish.app, "version": wish.version}
    found = client.send(APP_VERSION_READ, path=path)
    manifest = read_canonical(found.manifest)
    rows = client.pages(APP_VERSION_LIST, path={"app": wish.app}).items
    usable = {row.version for row in rows if row.lifecycle is not AppLifecycle.RETIRED}
    start, target = find_path(wish.version, manifest.upgrades, usable=usable)
    if not target:
        paths = [path for row in rows for path in _upgrades(client, wish.app, row.version)]
        start, target = find_path(wish.version, paths, usable=usable)
    wanted = {name: getattr(wish, name) for name in CheckWish.__dataclass_fields__}
    return CheckPlan(
        **wanted, manifest=manifest, digest=found.digest, start=start, target=target or None
    )


def _upgrades(client: Client, app: str, version: str) -> tuple[tuple[str, str], ...]:
    found = client.send(APP_VERSION_READ, path={"app": app, "version": version})
    return read_canonical(found.manifest).upgrades

"""``bailiwick app`` and ``bailiwick artifact`` as people type them, over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.app_manifests import DIGEST, HELLO
from tests.support.http_house import http_house
from tests.support.http_server import Served

__all__ = ["cli"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        found = Served(house.app, house.token)
        found.open()
        try:
            yield found
        finally:
            found.close()


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "manifest.yaml"
    file.write_text(HELLO)
    return file


def test_an_app_is_linted_published_allowed_and_explained(
    served: Served, cli: Cli, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "hello 1.2.0 can be published: sha256:" in done(cli("app", "lint", str(manifest)))
    be(served, "fleet_admin", monkeypatch)
    dry = done(cli("app", "publish", str(manifest), "--platform", "--public", "--dry-run"))
    assert "nothing was changed" in dry
    assert "hello 1.2.0" in done(cli("app", "publish", str(manifest), "--platform", "--public"))
    one_line(cli("app", "publish", str(manifest), "--platform"), 3, "exists already")
    older = manifest.with_name("older.yaml")
    older.write_text(
        HELLO.replace("version: 1.2.0", "version: 1.1.0")
        .replace("upgrades: [{from: 1.1.0, to: 1.2.0}]\n", "")
        .replace("cpus: 1", "cpus: 2")
    )
    done(cli("app", "publish", str(older), "--platform"))
    assert "roles.controller.shape.cpus" in done(cli("app", "diff", "hello", "1.1.0", "1.2.0"))
    assert "nvidia_hopper" in done(cli("app", "show", "hello", "--version", "1.2.0"))
    assert "1.1.0" in done(cli("app", "versions", "hello"))

    line = ("app", "entitlement", "set", "hello")
    done(cli(*line, "regions=east,west", "--fleet"))
    be(served, "tenant_admin@lab", monkeypatch)
    refused = cli(*line, "--tenant", "lab", "regions=north")
    one_line(refused, 3, "regions: 'north' is more than the line of fleet allows")
    done(cli(*line, "--tenant", "lab", "regions=east", "instances_max=2"))
    told = json.loads(
        done(cli("app", "entitlement", "explain", "hello", "--project", "p", "-o", "json"))
    )
    assert told["is_enabled"]
    limit = next(each for each in told["lines"] if each["what"] == "instances_max")
    assert (limit["values"], limit["sources"]) == (["2"], ["lab"])
    assert "hello" in done(cli("app", "entitlement", "show"))
    one_line(cli(*line, "--tenant", "lab", "colour=red"), 2, "regions")
    one_line(cli("app", "grant-host", "lab.hello", "1.0.0", "-y"), 3, "host_privilege")


def test_mistakes_are_told_with_their_lines_and_nothing_is_sent(cli: Cli, manifest: Path) -> None:
    manifest.write_text(HELLO.replace("kind: oci", "kind: tarball").replace("cpus", "cpos"))
    for words in (("lint",), ("publish",)):
        ended = cli("app", *words, str(manifest))
        assert (ended.code, ended.out) == (2, "")
        assert "line 12, column 13: no word 'cpos'; did you mean cpus?" in ended.err
        assert "line 22, column 13: kind: expected one of oci, blob" in ended.err


def test_an_artifact_is_verified_promoted_and_resolved(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, "tenant_admin@lab", monkeypatch)
    resolve = ("artifact", "resolve", "lab.hello", "1.0.0")
    before = cli(*resolve)
    assert (before.code, "not_verified" in before.out) == (3, True)
    one_line(cli("artifact", "change", DIGEST, "channel=test"), 3, "only verified")
    done(cli("artifact", "change", DIGEST, "trust=verified", "channel=test"))
    assert "may be used" in done(cli(*resolve))
    assert "verified" in done(cli("artifact", "list"))
    other = "sha256:" + "0" * 64
    done(cli("artifact", "source-set", "own", "own.example/apps"))
    assert "own.example/apps" in done(cli("artifact", "sources"))
    done(cli("artifact", "register", other, "--source", "own"))
    one_line(cli("artifact", "register", "service:latest", "--source", "own"), 2, "digest")

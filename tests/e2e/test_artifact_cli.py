"""Artifacts that are fetched, verified and pulled, and roles of one's own, as people type them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick.apps.manifest import ArtifactRef
from bailiwick.kernel.apps.commands import PublishApp, SetEntitlement
from bailiwick.kernel.apps.instance_commands import RequestInstance
from bailiwick.vocab.apps import ArtifactKind, Privilege
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.app_manifests import HOST_ROLE, hello
from tests.support.http_house import HttpHouse, http_house
from tests.support.http_server import Served
from tests.support.signing import MinisignSigner

__all__ = ["cli"]
DATA = b"a small program\n"
DIGEST = f"sha256:{hashlib.sha256(DATA).hexdigest()}"
House = tuple[Served, HttpHouse]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        found = Served(house.app, house.token)
        found.open()
        try:
            yield found, house
        finally:
            found.close()


def test_an_artifact_is_fetched_verified_and_pulled(
    both: House, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, house = both
    signer, at = MinisignSigner(), tmp_path / "apps/sha256" / DIGEST.removeprefix("sha256:")
    at.parent.mkdir(parents=True)
    at.write_bytes(b"another program\n")
    be(served, "fleet_admin", monkeypatch)
    address = f"file://{tmp_path}/apps"
    done(cli("artifact", "source-set", "files", address, "--key", signer.public, "--fleet"))
    be(served, "tenant_admin@lab", monkeypatch)
    done(cli("artifact", "register", DIGEST, "--kind", "blob", "--source", "files"))
    one_line(cli("artifact", "verify", DIGEST), 3, "digest_differs")
    at.write_bytes(DATA)
    assert "parts" in done(cli("artifact", "fetch", DIGEST))
    one_line(cli("artifact", "verify", DIGEST), 3, "not_signed")
    one_line(cli("artifact", "change", DIGEST, "trust=verified"), 3, "names keys")
    at.with_name(at.name + ".minisig").write_text(signer.sign(DATA))
    told = done(cli("artifact", "verify", DIGEST))
    assert "signature_valid" in told
    assert signer.public in told

    artifacts = {"service": ArtifactRef(ArtifactKind.BLOB, DIGEST, "files")}
    role = replace(HOST_ROLE, privileges=Privilege.SANDBOX)
    manifest = hello(app="mine", roles={"worker": role}, artifacts=artifacts)
    house.do(PublishApp(manifest.canonical, "lab"))
    house.do(SetEntitlement("lab.mine", True, tenant="lab"))
    own = {"tenant": "lab", "project": "p"}
    house.do(RequestInstance(**own, name="mine", app="lab.mine", version="1.0.0"))
    let = ("artifact", "let-pull", DIGEST, "--instance", "1", "--operation", "1", "--project", "p")
    credential = tmp_path / "credential"
    credential.write_text(done(cli(*let)))
    pull = ("artifact", "pull", DIGEST, "--credential", str(credential), "--to")
    done(cli(*pull, str(tmp_path / "service")))
    assert (tmp_path / "service").read_bytes() == DATA
    be(served, "project_admin@lab", monkeypatch)
    one_line(cli(*pull, str(tmp_path / "stolen")), 3, "wrong_audience")
    assert not list(tmp_path.glob("stolen*"))


def test_a_role_is_put_together_given_and_deleted(
    both: House, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(both[0], "tenant_admin@lab", monkeypatch)
    keys = ("scheduler.queue.read", "scheduler.queue.cancel")
    done(cli("role", "set", "triage", *keys))
    assert "triage" in done(cli("role", "list"))
    assert all(key in done(cli("role", "show", "triage")) for key in keys)
    assert "triage" in done(cli("member", "set", "eve", "triage", "--project", "p"))
    one_line(cli("role", "delete", "triage", "-y"), 3, "in use")
    done(cli("member", "remove", "eve", "--project", "p", "-y"))
    done(cli("role", "delete", "triage", "-y"))
    one_line(
        cli("role", "set", "wide", "scheduler.settings.set"),
        2,
        "a key that a role of the project may hold",
    )
    one_line(cli("role", "set", "wide", "no.such.key"), 2, "a permission key")
    one_line(cli("role", "show", "triage"), 3, "no role")

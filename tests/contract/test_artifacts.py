"""Artifacts over HTTP: fetched and verified from real places, and what failed is sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.apps.manifest import ArtifactRef
from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.commands import ChangeArtifact, PublishApp, SetEntitlement
from bailiwick.kernel.apps.instance_commands import (
    BeginOperation,
    FinishOperation,
    RequestInstance,
)
from bailiwick.kernel.people.commands import SetMember
from bailiwick.vocab.apps import ArtifactKind, ArtifactTrust, Privilege
from tests.support.app_manifests import HOST_ROLE, SERVICE_DIGEST, hello
from tests.support.http_house import HttpHouse, http_house, make_parts
from tests.support.signing import MinisignSigner
from tests.support.waiting import until

ADMIN, OWNER, OTHER = "fleet_admin", "tenant_admin@lab", "tenant_admin@rival"
DATA = b"some program\n"
DIGEST = f"sha256:{hashlib.sha256(DATA).hexdigest()}"
SIGNER = MinisignSigner()


class Shop:
    """A house whose server fetches, and a folder that is the platform's source ``files``."""

    def __init__(self, house: HttpHouse, folder: Path, fetcher: Fetcher) -> None:
        self.house, self.folder, self.fetcher = house, folder, fetcher
        (folder / "sha256").mkdir(parents=True)

    def put(self, data: bytes, *, digest: str = DIGEST, end: str = "") -> None:
        (self.folder / "sha256" / (digest.removeprefix("sha256:") + end)).write_bytes(data)

    def set_source(self, *keys: str, who: str = ADMIN, **more: Any) -> Any:
        body = {"source": "files", "kind": "blob", "address": f"file://{self.folder}"}
        return self.house.ask(who, "PUT", "/v1/artifact-sources", json=body | {"keys": keys} | more)

    def register(self, **more: Any) -> None:
        body = {"digest": DIGEST, "kind": "blob", "source": "files", "tenant": "lab"} | more
        made = self.house.ask(ADMIN, "POST", "/v1/artifacts", json=body)
        assert made.status_code == 200, made.text

    def ask(self, verb: str, who: str = OWNER, *, query: str = "", **more: Any) -> Any:
        body = {"digest": DIGEST, "tenant": "lab"} | more
        return self.house.ask(who, "POST", f"/v1/artifacts/{verb}{query}", json=body)

    def trust(self) -> str:
        rows = self.house.ask(OWNER, "GET", "/v1/artifacts").json()["items"]
        return str(next(row["trust"] for row in rows if row["digest"] == DIGEST))

    def sealed(self) -> list[tuple[str, ...]]:
        rows = [r for r in self.house.records("artifact_changed") if r["change"] == "trust"]
        rows = [row for row in rows if DIGEST.endswith(row["digest"])]
        return [(row["trust"], row.get("reason", ""), row.get("key", "")) for row in rows]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    fetcher = Fetcher(ArtifactStore(tmp_path / "kept"), seconds_max=60.0)
    with http_house(tmp_path / "house", parts=make_parts(fetcher=fetcher)) as house:
        shop = Shop(house, tmp_path / "files", fetcher)
        assert shop.set_source().status_code == 200
        shop.register()
        shop.put(DATA)
        yield shop
    fetcher.close()


def test_what_is_as_its_digest_says_is_verified_where_no_key_is_named(shop: Shop) -> None:
    assert shop.ask("fetch").json()["parts"] == [DIGEST]
    assert shop.trust() == "unverified"
    found = shop.ask("verify").json()
    assert (found["trust"], found["reason"], found["is_done"]) == (
        "verified",
        "digest_matches",
        True,
    )
    assert shop.sealed() == [("verified", "digest_matches", "")]
    assert shop.ask("verify").status_code == 200  # nothing new, and nothing more is sealed
    assert len(shop.sealed()) == 1


def test_other_bytes_are_a_typed_refusal_and_sealed_as_failed(shop: Shop) -> None:
    shop.put(b"some other program\n")
    for verb in ("fetch", "verify"):
        refused = shop.ask(verb)
        assert (refused.status_code, refused.json()["code"]) == (409, "verification_failed")
        assert refused.json()["details"] == {"digest": DIGEST, "reason": "digest_differs"}
    assert shop.sealed() == [("failed_verification", "digest_differs", "")]
    shop.put(DATA)
    assert shop.ask("verify").json()["trust"] == "verified"


def test_where_keys_are_named_nothing_counts_but_their_signature(shop: Shop) -> None:
    assert shop.ask("verify").json()["trust"] == "verified"
    shop.set_source(SIGNER.public)
    # Verified before there was a key, it is not trusted under one.
    by_hand = {"digest": DIGEST, "tenant": "lab", "trust": "verified"}
    refused = shop.house.ask(OWNER, "PATCH", "/v1/artifacts", json=by_hand)
    assert refused.status_code == 409
    assert "names keys" in refused.json()["message"]
    assert shop.ask("verify").json()["details"]["reason"] == "not_signed"
    shop.put(SIGNER.sign(b"another").encode(), end=".minisig")
    assert shop.ask("verify").json()["details"]["reason"] == "signature_invalid"
    shop.put(SIGNER.sign(DATA).encode(), end=".minisig")
    found = shop.ask("verify").json()
    assert (found["reason"], found["key"]) == ("signature_valid", SIGNER.public)
    assert shop.sealed()[-1] == ("verified", "signature_valid", SIGNER.public)


def test_a_key_that_is_named_no_more_is_believed_no_more(shop: Shop) -> None:
    shop.set_source(SIGNER.public)
    shop.put(SIGNER.sign(DATA).encode(), end=".minisig")
    assert shop.ask("verify").status_code == 200
    other = MinisignSigner(key_id=b"another!")
    shop.set_source(other.public)
    state = shop.house.runner.read(lambda view: view.state.apps)
    artifact = next(a for (_, digest), a in state.artifacts.items() if digest == DIGEST)
    source = next(s for (_, name), s in state.sources.items() if name == "files")
    assert not artifact.is_trusted_by(source)
    assert shop.ask("verify").json()["details"]["reason"] == "key_unknown"
    shop.put(other.sign(DATA).encode(), end=".minisig")
    assert shop.ask("verify").json()["key"] == other.public


def test_a_source_that_is_not_there_changes_nothing(shop: Shop) -> None:
    (shop.folder / "sha256" / DIGEST.removeprefix("sha256:")).unlink()
    assert shop.ask("verify").status_code == 404
    assert shop.sealed() == []


def test_what_is_revoked_stays_so(shop: Shop) -> None:
    body = {"digest": DIGEST, "tenant": "lab", "trust": "revoked"}
    shop.house.ask(OWNER, "PATCH", "/v1/artifacts", json=body)
    assert shop.ask("verify").status_code == 409
    assert shop.trust() == "revoked"


def test_a_tenant_reads_no_folder_of_the_server(shop: Shop) -> None:
    """Not even whether a file is there: one of its own making, under a digest that it knows."""
    shop.set_source(who=OWNER, tenant="lab")
    shop.register(digest=(other := f"sha256:{hashlib.sha256(b'x').hexdigest()}"))
    shop.put(b"x", digest=other)
    answers = [shop.ask("fetch", digest=each) for each in (other, DIGEST)]
    assert [each.status_code for each in answers] == [422, 422]
    assert answers[0].json()["message"] == answers[1].json()["message"]
    assert str(shop.folder) not in answers[0].text


def test_another_tenant_learns_nothing_and_fetches_nothing(shop: Shop) -> None:
    for verb in ("fetch", "verify"):
        assert shop.ask(verb, OTHER).status_code == 404
        assert shop.ask(verb, "project_admin@lab").status_code == 403
    assert not shop.fetcher.store.has(DIGEST)


def test_a_dry_run_asks_no_source(shop: Shop) -> None:
    assert shop.ask("verify", query="?dry_run=true").json()["trust"] == "unverified"
    assert not shop.fetcher.store.has(DIGEST)


def test_who_asks_for_what_takes_long_is_told_to_ask_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiwick.services.apps.verifying.PATIENCE_S", 0.0)
    found = shop.ask("fetch").json()
    assert found["is_done"] in (False, True)
    monkeypatch.undo()
    assert shop.ask("fetch").json()["is_done"]


# -- credentials -------------------------------------------------------------------------------

BOT = "bot-lab"


class Yard:
    """A shop whose tenant runs an instance made of what is in the folder; with its operator."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.house = shop, shop.house
        assert shop.ask("verify").status_code == 200
        artifacts = {"service": ArtifactRef(ArtifactKind.BLOB, DIGEST, "files")}
        role = replace(HOST_ROLE, privileges=Privilege.SANDBOX)
        manifest = hello(app="mine", roles={"worker": role}, artifacts=artifacts)
        own = {"tenant": "lab", "project": "p"}
        self.house.do(PublishApp(manifest.canonical, "lab"))
        self.house.do(SetEntitlement("lab.mine", True, tenant="lab"))
        self.house.do(RequestInstance(**own, name="mine", app="lab.mine", version="1.0.0"))
        self.house.do(SetMember(BOT, Role.PROJECT_ADMIN, "lab", "p"))
        self.own = {**own, "instance_id": 1}
        self.house.do(BeginOperation(**self.own, key="t", title="pull"))
        self.operation = self.house.runner.read(
            lambda view: view.state.apps.instances.operation_serial
        )
        self.bot = self.house.token(BOT, kind=PrincipalKind.SERVICE_ACCOUNT)

    def issue(self, who: str | None = None, **changes: Any) -> Any:
        body = {"instance_id": 1, "operation_id": self.operation, "digest": DIGEST} | changes
        path = changes.pop("path", "/v1/tenants/lab/projects/p/pull-credentials")
        body.pop("path", None)
        if who is not None:
            return self.house.ask(who, "POST", path, json=body)
        return self.house.client.post(path, json=body, headers=self.bearer())

    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.bot}"}

    def pull(self, shown: str, *, who: str | None = None, digest: str = DIGEST, **more: Any) -> Any:
        headers = {"Artifact-Credential": shown}
        path = f"/v1/artifacts/{digest}/content"
        if who is not None:
            return self.house.ask(who, "GET", path, headers=headers, **more)
        return self.house.client.get(path, headers=headers | self.bearer(), **more)

    def why(self, shown: str, **more: Any) -> str:
        refused = self.pull(shown, **more)
        assert refused.status_code == 403, refused.text
        return str(refused.json()["details"]["reason"])


@pytest.fixture
def yard(shop: Shop) -> Yard:
    return Yard(shop)


def test_bytes_are_handed_out_against_a_credential(yard: Yard) -> None:
    made = yard.issue().json()
    assert (made["audience"], made["digest"]) == (BOT, DIGEST)
    found = yard.pull(made["credential"])
    assert (found.status_code, found.content) == (200, DATA)
    assert yard.pull(made["credential"]).content == DATA  # as often as it takes, while it is good
    # The server lost its copy: it is fetched again, and held against its digest again.
    yard.shop.fetcher.store.path(DIGEST).unlink()
    assert yard.pull(made["credential"]).content == DATA


def test_a_credential_is_good_for_nobody_and_nothing_else(yard: Yard) -> None:
    shown = yard.issue().json()["credential"]
    for who in (ADMIN, OWNER, "project_admin@lab", OTHER):
        assert yard.why(shown, who=who) == "pull_wrong_audience"
    assert yard.why(shown, digest=SERVICE_DIGEST) == "pull_wrong_digest"
    assert (
        yard.house.client.get(
            f"/v1/artifacts/{DIGEST}/content", headers={"Artifact-Credential": shown}
        ).status_code
        == 401
    )
    part = {"params": {"part": SERVICE_DIGEST}}
    assert yard.pull(shown, **part).status_code == 404


def test_a_credential_that_we_did_not_make_is_unknown(yard: Yard) -> None:
    shown = yard.issue().json()["credential"]
    head, name, seal = shown.split(".")
    other = yard.issue(audience="somebody").json()["credential"].split(".")
    changed = seal[:-2] + ("A" if seal[-2] != "A" else "B") + seal[-1]
    for bad in (
        "",
        "no",
        f"{head}.{name}.",
        f"{head}.{name}.{changed}",
        f"{head}.{other[1]}.{seal}",
        f"{head}.{name}.{other[2]}",
        f"{head}.none.{seal}",
        shown + ".",
    ):
        assert yard.why(bad) == "pull_unknown_credential", bad


def test_a_credential_ends_with_its_operation_and_with_the_trust(yard: Yard) -> None:
    shown = yard.issue(ttl_s=900).json()["credential"]
    yard.house.do(ChangeArtifact(DIGEST, "lab", trust=ArtifactTrust.FAILED_VERIFICATION))
    assert yard.why(shown) == "pull_not_usable"
    assert yard.issue().json()["details"]["reason"] == "artifact_unusable"
    assert yard.shop.ask("verify").status_code == 200
    assert yard.pull(shown).status_code == 200
    yard.house.do(FinishOperation(**yard.own, operation_id=yard.operation, succeeded=True))
    assert yard.why(shown) == "pull_operation_ended"
    assert yard.issue().status_code == 409


def test_a_credential_runs_out(yard: Yard) -> None:
    shown = yard.issue(ttl_s=1).json()["credential"]
    until(lambda: yard.pull(shown).status_code == 403, "it has run out")
    assert yard.why(shown) == "pull_expired"
    assert yard.issue(ttl_s=901).status_code == 422


def test_who_may_not_change_instances_there_gets_no_credential(yard: Yard) -> None:
    assert yard.issue("project_viewer@lab").status_code == 403
    assert yard.issue(OTHER).status_code == 404
    elsewhere = "/v1/tenants/rival/projects/p/pull-credentials"
    assert yard.issue(path=elsewhere).status_code == 404
    # An instance of another project is not there, for who may change instances in his own.
    assert yard.issue("tenant_admin@rival", path=elsewhere).status_code == 404
    assert yard.issue(digest=SERVICE_DIGEST).status_code == 404


def test_nothing_secret_is_in_the_journal_or_in_a_log(
    yard: Yard, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown = yard.issue().json()["credential"]
    assert yard.pull(shown).status_code == 200
    assert yard.why(shown, who=OWNER) == "pull_wrong_audience"
    seal = shown.split(".")[2]
    (sealed,) = yard.house.records("artifact_credential_issued")
    assert (sealed["audience"], sealed["operation_id"]) == (BOT, yard.operation)
    store = yard.house.runner.replica.store
    lines = yard.house.runner.read(lambda view: store.read(0, view.state.size))
    assert not any(seal.encode() in line for line in lines)
    printed = capfd.readouterr()
    assert seal not in printed.out + printed.err
    kept = [each.read_bytes() for each in (tmp_path / "house").rglob("*") if each.is_file()]
    assert kept
    assert not any(seal.encode() in each for each in kept)

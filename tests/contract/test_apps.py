"""Apps over HTTP: published, seen by whom they are for, allowed by people, of what is trusted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.people.commands import SetMember
from tests.support.app_manifests import DIGEST, HELLO, hello
from tests.support.http_house import HttpHouse, http_house

APPS, LINES, ARTIFACTS = "/v1/apps", "/v1/entitlements", "/v1/artifacts"
ADMIN, OWNER, VIEWER = "fleet_admin", "tenant_admin@lab", "project_viewer@lab"


@pytest.fixture
def house(tmp_path: Any) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as house:
        yield house


def publish(house: HttpHouse, who: str, document: str, **more: Any) -> Any:
    return house.ask(who, "POST", APPS, json={"document": document, **more})


def names(house: HttpHouse, who: str) -> list[str]:
    return [row["app"] for row in house.ask(who, "GET", APPS).json()["items"]]


def line(house: HttpHouse, who: str, **fields: Any) -> Any:
    headers = fields.pop("headers", {})
    body = {"app": "hello", "is_enabled": True} | fields
    return house.ask(who, "PUT", LINES, json=body, headers=headers)


# -- catalog -----------------------------------------------------------------------------------


def test_a_manifest_is_published_and_read_back_with_its_digest(house: HttpHouse) -> None:
    assert publish(house, ADMIN, HELLO, visibility="public").status_code == 200
    found = house.ask(VIEWER, "GET", f"{APPS}/hello").json()
    assert (found["title"], found["newest"], found["tenant"]) == ("Says hello", "1.2.0", None)
    told = house.ask(VIEWER, "GET", f"{APPS}/hello/versions/1.2.0").json()
    from bailiwick.apps.reading import read_canonical

    assert read_canonical(told["manifest"]).digest == told["digest"]
    (sealed,) = [each for each in house.records("app_published") if each["app"] == "hello"]
    assert "sha256:" + sealed["digest"] == told["digest"]


def test_a_mistake_in_a_manifest_is_told_with_line_and_column(house: HttpHouse) -> None:
    bad = publish(house, ADMIN, HELLO.replace("kind: oci", "kind: tarball"))
    assert bad.status_code == 422
    assert "line 22, column 13" in bad.json()["message"]
    assert "app_published" not in bad.text


def test_a_version_exists_once_and_a_tag_is_no_artifact(house: HttpHouse) -> None:
    publish(house, ADMIN, HELLO)
    again = publish(house, ADMIN, HELLO)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    tagged = publish(house, ADMIN, HELLO.replace(DIGEST, "service:latest"))
    assert (tagged.status_code, tagged.json()["code"]) == (422, "invalid_value")


def test_a_private_app_and_a_draft_are_for_their_makers_alone(house: HttpHouse) -> None:
    publish(house, ADMIN, HELLO)
    assert names(house, ADMIN) == ["hello", "lab.hello", "rival.hello"]
    assert names(house, VIEWER) == ["lab.hello"]
    assert house.ask(VIEWER, "GET", f"{APPS}/hello").status_code == 404
    change = {"visibility": "public"}
    assert house.ask(ADMIN, "PATCH", f"{APPS}/hello", json=change).status_code == 200
    assert names(house, VIEWER) == ["hello", "lab.hello"]
    draft = HELLO.replace("version: 1.2.0", "version: 2.0.0").replace("to: 1.2.0", "to: 2.0.0")
    assert publish(house, ADMIN, draft, is_draft=True).status_code == 200
    versions = f"{APPS}/hello/versions"
    assert len(house.ask(ADMIN, "GET", versions).json()["items"]) == 2
    assert len(house.ask(VIEWER, "GET", versions).json()["items"]) == 1
    assert house.ask(VIEWER, "GET", f"{versions}/2.0.0").status_code == 404
    question = {"app": "hello", "tenant": "lab", "project": "p"}
    for version in ("2.0.0", "3.0.0"):  # a draft, and one that was never there
        body = question | {"version": version}
        assert house.ask(VIEWER, "POST", f"{ARTIFACTS}/resolve", json=body).status_code == 404


def test_a_tenant_publishes_for_itself_and_the_fleet_for_everybody(house: HttpHouse) -> None:
    document = hello(app="own").canonical
    assert publish(house, OWNER, document, tenant="lab").status_code == 200
    public = publish(house, OWNER, hello(app="more").canonical, tenant="lab", visibility="public")
    assert (public.status_code, public.json()["details"]["reason"]) == (403, "public_needs_fleet")
    change = {"visibility": "public"}
    assert house.ask(OWNER, "PATCH", f"{APPS}/lab.own", json=change).status_code == 403
    assert house.ask(ADMIN, "PATCH", f"{APPS}/lab.own", json=change).status_code == 200
    assert "lab.own" in names(house, "tenant_admin@rival")
    foreign = house.ask("tenant_admin@rival", "PATCH", f"{APPS}/lab.own", json=change)
    assert foreign.status_code == 404
    assert publish(house, OWNER, document).status_code == 403


def test_an_old_revision_of_an_app_changes_nothing(house: HttpHouse) -> None:
    etag = house.ask(OWNER, "GET", f"{APPS}/lab.hello").headers["etag"]
    body, headers = {"lifecycle": "deprecated"}, {"If-Match": etag}
    path = f"{APPS}/lab.hello"
    assert house.ask(OWNER, "PATCH", path, json=body, headers=headers).status_code == 200
    body = {"lifecycle": "retired"}
    assert house.ask(OWNER, "PATCH", path, json=body, headers=headers).status_code == 412


def test_the_host_is_granted_by_people_of_the_fleet_alone(house: HttpHouse) -> None:
    path, body = f"{APPS}/lab.hello/versions/1.0.0/host", {"is_granted": True}
    assert house.ask(OWNER, "PUT", path, json=body).status_code == 403
    house.plain("create_account", account="robot")
    house.do(SetMember("robot", Role.FLEET_ADMIN))
    assert _as_robot(house, "robot", "PUT", path, body).status_code == 403
    assert house.ask(ADMIN, "PUT", path, json=body).status_code == 200
    question = {"app": "lab.hello", "tenant": "lab"}
    told = house.ask(VIEWER, "POST", f"{LINES}/explain", json=question | {"project": "p"}).json()
    assert told["host_granted"] == ["1.0.0"]


# -- entitlements ------------------------------------------------------------------------------


def _as_robot(house: HttpHouse, name: str, method: str, path: str, body: Any) -> Any:
    token = house.token(name, kind=PrincipalKind.SERVICE_ACCOUNT)
    headers = {"Authorization": f"Bearer {token}"}
    return house.client.request(method, path, json=body, headers=headers)


def test_a_service_account_is_refused_typed_and_sealed(house: HttpHouse) -> None:
    publish(house, ADMIN, HELLO, visibility="public")
    house.do(SetMember("bot-lab", Role.TENANT_ADMIN, "lab"))
    body = {"app": "hello", "tenant": "lab", "is_enabled": True}
    refused = _as_robot(house, "bot-lab", "PUT", LINES, body)
    assert refused.status_code == 403
    assert refused.json()["details"] == {"reason": "service_account_refused"}
    sealed = house.records("access_refused")[-1]
    assert (sealed["reason"], sealed["principal"]) == ("service_account_refused", "bot-lab")
    assert not house.records("app_entitlement_set")
    assert line(house, OWNER, tenant="lab").status_code == 200


def test_what_counts_is_explained_line_by_line(house: HttpHouse) -> None:
    publish(house, ADMIN, HELLO, visibility="public")
    line(house, ADMIN, overlay={"regions": ["east", "west"], "deny_versions": ["1.1.0"]})
    line(house, OWNER, tenant="lab", overlay={"regions": ["east"], "instances_max": 2})
    line(house, OWNER, tenant="lab", project="p", overlay={"instances_max": 1})
    question = {"app": "hello", "tenant": "lab", "project": "p"}
    told = house.ask(VIEWER, "POST", f"{LINES}/explain", json=question).json()
    assert told["is_enabled"]
    lines = {(each["rule"], each["what"]): each for each in told["lines"]}
    assert lines["allow", "regions"]["values"] == ["east"]
    assert lines["allow", "regions"]["sources"] == ["fleet", "lab"]
    assert lines["deny", "versions"]["sources"] == ["fleet"]
    assert lines["limit", "instances_max"] == {
        "rule": "limit",
        "what": "instances_max",
        "values": ["1"],
        "sources": ["lab/p"],
    }
    assert lines["allow", "skus"]["sources"] == ["default"]


def test_a_line_that_broadens_is_refused_with_the_line_it_breaks(house: HttpHouse) -> None:
    publish(house, ADMIN, HELLO, visibility="public")
    line(house, ADMIN, overlay={"regions": ["east"]})
    refused = line(house, OWNER, tenant="lab", overlay={"regions": ["east", "west"]})
    assert refused.status_code == 409
    assert refused.json()["code"] == "overlay_broadens"
    assert refused.json()["details"] == {"what": "regions", "value": "west", "source": "fleet"}


def test_an_older_line_is_not_replaced(house: HttpHouse) -> None:
    none, first = {"If-Match": '"0"'}, {"If-Match": '"1"'}
    own = {"app": "lab.hello", "tenant": "lab"}
    assert line(house, OWNER, **own, headers=none).status_code == 200
    assert line(house, OWNER, **own, headers=none).status_code == 412
    assert line(house, OWNER, **own, headers=first).status_code == 200
    (row,) = house.ask(OWNER, "GET", LINES).json()["items"]
    assert (row["app"], row["revision"]) == ("lab.hello", 2)


def test_a_private_app_of_another_cannot_be_allowed_to_oneself(house: HttpHouse) -> None:
    foreign = line(house, OWNER, app="rival.hello", tenant="lab")
    nowhere = line(house, OWNER, app="rival.nothing", tenant="lab")
    assert foreign.status_code == nowhere.status_code == 404
    assert foreign.json()["message"].replace("hello", "nothing") == nowhere.json()["message"]


# -- artifacts ---------------------------------------------------------------------------------


def change(house: HttpHouse, **fields: Any) -> Any:
    body = {"digest": DIGEST, "tenant": "lab"} | fields
    return house.ask(OWNER, "PATCH", ARTIFACTS, json=body)


def resolve(house: HttpHouse) -> Any:
    body = {"app": "lab.hello", "version": "1.0.0", "tenant": "lab", "project": "p"}
    return house.ask(VIEWER, "POST", f"{ARTIFACTS}/resolve", json=body).json()


def test_an_artifact_is_used_once_it_is_verified_and_never_after_it_was_revoked(
    house: HttpHouse,
) -> None:
    assert resolve(house)["artifacts"][0]["reason"] == "not_verified"
    assert change(house, channel="test").status_code == 409
    assert change(house, trust="verified", channel="test").status_code == 200
    assert resolve(house)["is_usable"]
    line(house, OWNER, app="lab.hello", tenant="lab", overlay={"channels": ["prod"]})
    told = resolve(house)["artifacts"][0]
    assert (told["reason"], told["steps"][-1]["found"]) == ("channel_not_allowed", "lab")
    assert change(house, trust="revoked").status_code == 200
    assert change(house, trust="verified").json()["code"] == "illegal_transition"
    changes = [(row["change"], row.get("before")) for row in house.records("artifact_changed")]
    assert changes[-3:] == [("trust", "unverified"), ("channel", "dev"), ("trust", "verified")]


def test_an_address_with_a_password_is_refused_and_nowhere_repeated(house: HttpHouse) -> None:
    body = {"source": "own", "kind": "blob", "tenant": "lab"}
    address = "https://me:hunter2@store.example/x"
    refused = house.ask(OWNER, "PUT", "/v1/artifact-sources", json=body | {"address": address})
    assert refused.status_code == 422
    assert "hunter2" not in refused.text
    assert not [row for row in house.records("artifact_source_set") if row["source"] == "own"]


def test_everybody_sees_the_platforms_sources_and_nobody_anothers(house: HttpHouse) -> None:
    body = {"source": "own", "kind": "oci", "address": "own.example", "tenant": "lab"}
    assert house.ask(OWNER, "PUT", "/v1/artifact-sources", json=body).status_code == 200
    for who, seen in ((VIEWER, ["main", "own"]), ("project_viewer@rival", ["main"])):
        rows = house.ask(who, "GET", "/v1/artifact-sources").json()["items"]
        assert [row["source"] for row in rows] == seen
    everybodys = body | {"tenant": None}
    assert house.ask(OWNER, "PUT", "/v1/artifact-sources", json=everybodys).status_code == 403

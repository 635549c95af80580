"""How the API behaves: conventions, logins, tokens, refusals, and what a follower says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission, PrincipalKind
from bailiwick.server.http.app import AppTerms
from bailiwick.server.http.edge import Bounds
from bailiwick.services import authority as auth
from bailiwick.vocab.errors import NotLeader
from tests.support.http_house import HttpHouse, http_house

LEASE = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# -- conventions -----------------------------------------------------------------------------


def test_a_stale_change_is_refused_and_changes_nothing(house: HttpHouse) -> None:
    path = "/v1/tenants/lab"
    etag = house.ask("fleet_admin", "GET", path).headers["etag"]
    change = {"json": {"display_name": "The Lab"}, "headers": {"If-Match": etag}}
    assert house.ask("fleet_admin", "PATCH", path, **change).status_code == 200
    again = house.ask(
        "fleet_admin", "PATCH", path, json={"is_open": False}, headers={"If-Match": etag}
    )
    assert again.status_code == 412
    assert again.json()["code"] == "stale"
    assert again.json()["details"] == {"held": 1, "current": 2}
    assert house.ask("fleet_admin", "GET", path).json()["is_open"]


def test_a_release_that_is_repeated_with_its_key_gives_the_first_answer(house: HttpHouse) -> None:
    key = {"Idempotency-Key": "gone-1"}
    first = house.ask("project_member@lab", "DELETE", "/v1/leases/1", headers=key)
    assert first.status_code == 200
    again = house.ask("project_member@lab", "DELETE", "/v1/leases/1", headers=key)
    assert (again.status_code, again.json()) == (200, first.json())
    # The lease is gone: under another key, of another, or for another command it is not there.
    other = {"Idempotency-Key": "gone-2"}
    assert house.ask("project_member@lab", "DELETE", "/v1/leases/1", headers=other).status_code == (
        404
    )
    assert house.ask("project_admin@lab", "DELETE", "/v1/leases/1", headers=key).status_code == 404
    renew = house.ask(
        "project_member@lab", "POST", "/v1/leases/1/renew", json={"ttl_ms": 5}, headers=key
    )
    assert renew.status_code == 404


def test_a_key_gives_the_first_answer_again_to_the_same_caller_only(house: HttpHouse) -> None:
    house.plain("release", lease_id=1)
    key = {"Idempotency-Key": "once-1"}
    first = house.ask("project_member@lab", "POST", "/v1/leases", json=LEASE, headers=key)
    assert first.status_code in (201, 202)
    again = house.ask("project_member@lab", "POST", "/v1/leases", json=LEASE, headers=key)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    other = house.ask("project_admin@lab", "POST", "/v1/leases", json=LEASE, headers=key)
    assert other.json() != first.json()
    clash = {**LEASE, "gang_size": 2}
    with_other = house.ask("project_member@lab", "POST", "/v1/leases", json=clash, headers=key)
    assert with_other.status_code == 409


def test_a_lease_lives_through_the_api(house: HttpHouse) -> None:
    for entry_id in (1, 2):
        house.plain("cancel", entry_id=entry_id)
    me = "project_member@lab"
    plan = house.ask(me, "POST", "/v1/leases?dry_run=true", json=LEASE)
    assert (plan.status_code, plan.json()["plan"], plan.json()["nodes"]) == (200, "grant", ["n1"])
    granted = house.ask(me, "POST", "/v1/leases", json=LEASE)
    assert granted.status_code == 201
    (lease_id,) = granted.json()["lease_ids"]
    path = f"/v1/leases/{lease_id}"
    assert house.ask(me, "GET", path).json()["generation"] == 1
    renewal = {"ttl_ms": 60_000, "generation": 1}
    assert house.ask(me, "POST", f"{path}/renew", json=renewal).status_code == 200
    assert house.ask(me, "POST", f"{path}/renew", json=renewal).status_code == 412
    assert house.ask(me, "POST", f"{path}/checkpoint").status_code == 200
    assert house.ask(me, "DELETE", path).json()["answer"] == "done"
    assert house.ask(me, "GET", path).status_code == 404


def test_a_refused_request_says_why_in_the_decision(house: HttpHouse) -> None:
    huge = {**LEASE, "resources": {"cpu_milli": 10**6}}
    response = house.ask("project_member@lab", "POST", "/v1/leases", json=huge)
    assert response.status_code == 409
    problem = response.json()
    assert problem["code"] == "refused"
    assert problem["decision"]["denied"]["detail"] == "larger_than_any_node"


def test_an_entry_tells_its_place_and_what_is_in_its_way(house: HttpHouse) -> None:
    (entry,) = house.ask("project_viewer@lab", "GET", "/v1/queue").json()["items"]
    assert entry["entry_id"] == 1
    assert entry["position"] in (1, 2)  # fair shares decide between the two tenants
    assert entry["blockers"][0]["detail"] == "not_enough_free"
    assert entry["estimate"]["basis"] in ("reservation", "expiry", "beyond_horizon")
    assert house.ask("project_viewer@lab", "DELETE", "/v1/queue/1").status_code == 403
    assert house.ask("project_member@lab", "DELETE", "/v1/queue/1").status_code == 200


def test_pages_go_on_where_the_last_ended(house: HttpHouse) -> None:
    path: str | None = "/v1/tenants?limit=1"
    found = []
    while path is not None:
        page = house.ask("fleet_admin", "GET", path).json()
        found += [row["tenant"] for row in page["items"]]
        path = None if page["next"] is None else f"/v1/tenants?limit=1&cursor={page['next']}"
    assert found == ["lab", "rival"]


def test_a_tenants_records_are_its_own_and_name_nobody_else(house: HttpHouse) -> None:
    path = "/v1/tenants/lab/records?limit=3"
    rows: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = house.ask("tenant_auditor@lab", "GET", path + cursor).json()
        rows += page["items"]
        cursor = None if page["next"] is None else f"&cursor={page['next']}"
    assert {row["tenant"] for row in rows} == {"lab"}
    assert "rival" not in str(rows)
    assert [row["seq"] for row in rows] == sorted({row["seq"] for row in rows})


def test_a_quota_that_was_set_is_read_back(house: HttpHouse) -> None:
    path, whole = "/v1/tenants/lab/quota", "/v1/tenants/rival/quota"
    default = house.ask("tenant_admin@lab", "GET", path).json()
    assert default["is_default"] is True
    ceiling = default["ceiling"]
    quota = {
        "limits": {"cpu_milli": 70_000},
        "gpu_limits": {"nvidia_hopper": 2},
        "burst": {
            "dimension": "cpu_milli",
            "capacity": 1000,
            "refill_per_s": 1,
            "ceiling": 10,
        },
    }
    narrow = {
        "priority_max": "normal",
        "lease_classes": ["spot"],
        "term_max_ms": 60_000,
        "waiting_max": 3,
    }
    assert house.ask("tenant_admin@lab", "PUT", path, json=quota).status_code == 403
    assert house.ask("fleet_admin", "PUT", path, json=quota).status_code == 200
    found = house.ask("project_viewer@lab", "GET", "/v1/tenants/lab/projects/p/quota")
    assert found.status_code == 200
    read = house.ask("tenant_admin@lab", "GET", path).json()
    assert read["quota"] == quota | {"ceiling": None}
    assert (read["is_default"], read["ceiling"]) == (False, ceiling)
    assert read["dimensions"]["cpu_milli"] == {"limit": 70_000, "used": 1_000, "left": 69_000}
    asked = quota | {"ceiling": narrow}
    assert house.ask("fleet_admin", "PUT", whole, json=asked).status_code == 200
    read = house.ask("tenant_admin@rival", "GET", whole).json()
    assert (read["quota"], read["ceiling"]) == (asked, narrow)


# -- the edge --------------------------------------------------------------------------------


def test_a_correlation_id_is_kept_or_made(house: HttpHouse) -> None:
    given = house.client.get("/v1/tenants", headers={"X-Correlation-Id": "mine-7"})
    assert given.json()["correlation_id"] == given.headers["x-correlation-id"] == "mine-7"
    made = house.client.get("/v1/tenants", headers={"X-Correlation-Id": "bad id\t"})
    assert made.json()["correlation_id"] == made.headers["x-correlation-id"] != "bad id\t"


def test_a_body_is_bounded_whether_announced_or_not(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 100

    with http_house(tmp_path, AppTerms(bounds=Bounds(body_bytes=1000))) as house:
        headers = {**bearer(house.token("fleet_admin")), "Content-Type": "application/json"}
        for content in (b"x" * 1001, pieces()):
            found = house.client.post("/v1/tenants", content=content, headers=headers)
            assert found.status_code == 413
            assert found.json()["code"] == "too_large"


def test_malformed_json_is_400_and_unknown_paths_and_parameters_are_told(house: HttpHouse) -> None:
    headers = {**bearer(house.token("fleet_admin")), "Content-Type": "application/json"}
    found = house.client.post("/v1/tenants", content=b"{", headers=headers)
    assert (found.status_code, found.json()["code"]) == (400, "malformed")
    assert house.client.get("/v1/nothing").json()["code"] == "not_found"
    assert house.client.put("/healthz").json()["code"] == "method_not_allowed"
    assert house.ask("fleet_admin", "GET", "/v1/tenants?limt=3").status_code == 422


def test_a_follower_says_where_the_leader_is(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(house.token("fleet_admin"))

    def refuse(ticket: Any) -> None:
        ticket.settle(None, NotLeader("10.0.0.7:7077"))

    monkeypatch.setattr(house.runner.replica, "submit", refuse)
    found = house.client.post("/v1/tenants", json={"tenant": "new"}, headers=headers)
    assert found.status_code == 503
    assert found.json()["code"] == "not_leader"
    assert found.json()["retryable"]
    assert found.json()["details"] == {"leader": "10.0.0.7:7077"}
    assert house.client.get("/v1/tenants", headers=headers).status_code == 200


# -- logins and tokens -----------------------------------------------------------------------


def test_a_login_code_works_once_and_opens_nothing_else(house: HttpHouse) -> None:
    code = house.token("tenant_admin@lab", terms=auth.Terms(single_use=True))
    assert house.client.get("/v1/tenants", headers=bearer(code)).status_code == 401
    session = house.client.post("/v1/login", json={"code": code})
    assert session.status_code == 200
    assert session.headers["cache-control"] == "no-store"
    token = session.json()["token"]
    assert house.client.get("/v1/tenants", headers=bearer(token)).status_code == 200
    assert house.client.post("/v1/login", json={"code": code}).status_code == 401
    assert house.client.post("/v1/login", json={"code": token}).status_code == 401


def test_a_token_is_shown_once_and_can_be_revoked(house: HttpHouse) -> None:
    body = {"principal": "bot-lab", "kind": "service_account", "keys": ["scheduler.queue.read"]}
    made = house.ask("tenant_admin@lab", "POST", "/v1/tokens", json=body)
    assert made.status_code == 201
    listed = house.ask("tenant_admin@lab", "GET", "/v1/tokens")
    assert made.json()["token_id"] in listed.text
    assert "digest" not in listed.text
    assert made.json()["token"] not in listed.text
    path = f"/v1/tokens/{made.json()['token_id']}"
    assert house.ask("tenant_admin@rival", "DELETE", path).status_code == 404
    assert house.ask("tenant_admin@lab", "DELETE", path).status_code == 200
    gone = house.client.get("/v1/queue", headers=bearer(made.json()["token"]))
    assert gone.status_code == 401


@pytest.mark.parametrize("principal", ["fleet_admin", "tenant_admin@rival", "nobody"])
def test_nobody_makes_a_token_for_whom_he_does_not_govern(house: HttpHouse, principal: str) -> None:
    made = house.ask("tenant_admin@lab", "POST", "/v1/tokens", json={"principal": principal})
    assert made.status_code == 404
    assert made.json()["message"] == "no such thing, or it is not yours to see"


def test_a_project_admin_makes_no_token_for_the_tenants_admin(house: HttpHouse) -> None:
    body = {"principal": "tenant_admin@lab"}
    assert house.ask("project_admin@lab", "POST", "/v1/tokens", json=body).status_code == 404


def test_a_narrowed_token_makes_none_that_carries_more(house: HttpHouse) -> None:
    narrow = house.token("tenant_admin@lab", terms=auth.Terms(keys=(Permission.TOKEN_ISSUE,)))
    body = {"principal": "tenant_admin@lab"}
    wide = house.client.post("/v1/tokens", json=body, headers=bearer(narrow))
    assert wide.status_code == 403
    same = {**body, "keys": ["iam.token.issue"]}
    assert house.client.post("/v1/tokens", json=same, headers=bearer(narrow)).status_code == 201


def test_a_disabled_account_is_out_at_once(house: HttpHouse) -> None:
    token = house.token("bot-lab", kind=PrincipalKind.SERVICE_ACCOUNT)
    assert house.client.get("/v1/nodes", headers=bearer(token)).status_code == 403
    path = "/v1/service-accounts/bot-lab"
    change = {"is_enabled": False}
    assert house.ask("tenant_admin@lab", "PATCH", path, json=change).status_code == 200
    assert house.client.get("/v1/nodes", headers=bearer(token)).status_code == 401


def test_guessing_is_bounded_and_does_not_flood_the_journal(tmp_path: Path) -> None:
    terms = AppTerms(
        guesses=auth.Allowance(burst=5, per_minute=1), notes=auth.Allowance(burst=3, per_minute=1)
    )
    with http_house(tmp_path, terms) as house:
        found = [house.client.get("/v1/tenants", headers=bearer("x")) for _ in range(12)]
        assert [each.status_code for each in found] == [401] * 5 + [429] * 7
        assert found[-1].json()["retryable"]
        sealed = house.records("access_refused")
        assert [row["reason"] for row in sealed] == ["malformed_token"] * 3

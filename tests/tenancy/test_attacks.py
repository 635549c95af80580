"""What a tenant's own admin or member tried against others, once with success."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import FLEET, OWN_NAMES, PrincipalKind, Role
from bailiwick.kernel.people import commands as cmd
from bailiwick.reconcile import demo_cell, departures, job_actions, metering, this_node
from bailiwick.reconcile.apps import loop
from bailiwick.reconcile.cells import placement
from bailiwick.reconcile.timetables.series import SeriesTimes
from bailiwick.reconcile.timetables.windows import WindowTimes
from bailiwick.runtime import replica
from bailiwick.server.http import door
from bailiwick.server.http.app import AppTerms
from bailiwick.services import authority as auth
from bailiwick.services import plans
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.waiting import WAIT_S

BOSS = f"tenant_admin@{OWN}"
ME = f"project_member@{OWN}"
MEMBERS = f"/v1/tenants/{OWN}/members"
ACCOUNTS = "/v1/service-accounts"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


# -- names -----------------------------------------------------------------------------------


def test_the_server_acts_under_names_that_nobody_else_can_have(house: HttpHouse) -> None:
    actors = {replica.ACTOR, door.DOORKEEPER, job_actions.ACTOR, departures.ACTOR, this_node.ACTOR}
    actors |= {metering.ACTOR, demo_cell.ACTOR, loop.ACTOR, placement.ACTOR}
    actors |= {SeriesTimes.actor, WindowTimes.actor}
    assert {*actors, plans.ANOTHER} == OWN_NAMES
    for name in (*sorted(OWN_NAMES), "app:1"):
        member = {"member": name, "role": "tenant_auditor"}
        account = {"account": name, "tenant": OWN}
        assert house.ask(BOSS, "PUT", MEMBERS, json=member).status_code == 422
        assert house.ask(BOSS, "POST", ACCOUNTS, json=account).status_code == 422
        token = {"principal": name}
        assert house.ask("fleet_admin", "POST", "/v1/tokens", json=token).status_code == 422
        headers = {"Authorization": f"Bearer {house.token(name)}"}
        assert house.client.get("/v1/whoami", headers=headers).status_code == 401


@pytest.mark.parametrize("name", ["fleet_admin", "fleet_auditor"])
def test_no_account_takes_the_name_of_somebody_with_roles(house: HttpHouse, name: str) -> None:
    body = {"account": name, "tenant": OWN}
    assert house.ask(BOSS, "POST", ACCOUNTS, json=body).status_code == 409
    token = {"principal": name, "kind": "human"}
    assert house.ask("fleet_admin", "POST", "/v1/tokens", json=token).status_code == 201


def test_no_account_takes_a_name_that_somebody_is_logged_in_under(house: HttpHouse) -> None:
    house.token("carol")
    assert (
        house.ask(BOSS, "POST", ACCOUNTS, json={"account": "carol", "tenant": OWN}).status_code
        == 409
    )


def test_an_account_has_no_roles_beyond_its_scope_whoever_gives_them(house: HttpHouse) -> None:
    house.do(cmd.CreateAccount("small", OWN, "p"))
    theirs, own = f"bot-{FOREIGN}", f"bot-{OWN}"
    role = {"member": theirs, "role": "tenant_auditor"}
    refused = house.ask(BOSS, "PUT", MEMBERS, json=role)
    assert refused.status_code == 409
    assert FOREIGN not in refused.json()["message"].replace(theirs, "")
    over_the_fleet = {"member": own, "role": "fleet_admin"}
    asked = house.ask("fleet_admin", "PUT", "/v1/members", json=over_the_fleet)
    assert asked.status_code == 409
    too_wide = {"member": "small", "role": "tenant_auditor"}
    assert house.ask(BOSS, "PUT", MEMBERS, json=too_wide).status_code == 409
    within = {"member": own, "role": "project_member"}
    path = f"/v1/tenants/{OWN}/projects/p/members"
    assert house.ask(BOSS, "PUT", path, json=within).status_code == 200
    # Its own admin is still the one who revokes its tokens.
    house.token(theirs, kind=PrincipalKind.SERVICE_ACCOUNT)
    tokens = house.ask(f"tenant_admin@{FOREIGN}", "GET", "/v1/tokens?limit=500").json()["items"]
    token_id = next(each["token_id"] for each in tokens if each["principal"] == theirs)
    revoked = house.ask(f"tenant_admin@{FOREIGN}", "DELETE", f"/v1/tokens/{token_id}")
    assert revoked.status_code == 200


def test_a_role_from_before_that_rule_can_still_be_taken_away(house: HttpHouse) -> None:
    house.do(cmd.SetMember("old", Role.TENANT_AUDITOR, FOREIGN))
    planted = threading.Event()

    def plant(view: replica.View) -> None:
        """In the state that decides; no command leads there any more."""
        accounts = view.state.directory.accounts
        accounts["old"] = accounts[f"bot-{OWN}"]
        planted.set()

    house.runner.replica.read_soon(plant)
    assert planted.wait(WAIT_S)
    gone = {"member": "old", "role": None}
    path = f"/v1/tenants/{FOREIGN}/members"
    assert house.ask(f"tenant_admin@{FOREIGN}", "PUT", path, json=gone).status_code == 200


def test_a_tenant_makes_no_node_of_its_own(house: HttpHouse) -> None:
    member = {"member": "node:x", "role": "tenant_auditor"}
    assert house.ask(BOSS, "PUT", MEMBERS, json=member).status_code == 422
    token = {"principal": "node:x", "kind": "node"}
    assert house.ask(BOSS, "POST", "/v1/tokens", json=token).status_code == 404
    agent = {"member": "node:x", "role": "node_agent"}
    assert house.ask("fleet_admin", "PUT", "/v1/members", json=agent).status_code == 200


def test_a_node_does_not_draw_jobs_to_itself(house: HttpHouse) -> None:
    house.do(cmd.SetMember("node:x", Role.NODE_AGENT))
    headers = {"Authorization": f"Bearer {house.token('node:x', kind=PrincipalKind.NODE)}"}
    path = "/v1/nodes/x/inventory"
    body = {"resources": {"cpu_milli": 1000, "mem_bytes": 2**30}, "labels": ["executor=local"]}
    assert house.client.put(path, json=body, headers=headers).status_code == 422
    body["labels"] = ["rack=r1"]
    assert house.client.put(path, json=body, headers=headers).status_code == 200


# -- what is another's -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/leases/{}", "/v1/queue/{}"])
def test_a_known_key_does_not_tell_the_absent_from_anothers(house: HttpHouse, path: str) -> None:
    key = {"Idempotency-Key": "known-1"}
    assert house.ask(ME, "DELETE", path.format(1), headers=key).status_code == 200
    told = []
    for number in (2, 999):  # the rival's, and nobody's
        found = house.ask(ME, "DELETE", path.format(number), headers=key)
        told.append((found.status_code, found.json()["code"], found.json()["message"]))
    assert told[0] == told[1]
    assert told[0][0] == 404


def test_decisions_do_not_tell_who_wanted_the_room(house: HttpHouse) -> None:
    everything = {"resources": {"cpu_milli": 64_000}, "priority": "high"}
    body = {"tenant": FOREIGN, "project": "p", **everything}
    headers = {"X-Correlation-Id": "ours-alone"}
    rival = f"project_member@{FOREIGN}"
    assert house.ask(rival, "POST", "/v1/leases", json=body, headers=headers).status_code == 202
    path = f"/v1/tenants/{OWN}/decisions"
    seen = house.ask(ME, "GET", path)
    assert any(row["reason"] == "priority_preemption" for row in seen.json()["items"])
    assert "ours-alone" not in seen.text
    assert "ours-alone" in house.ask("fleet_admin", "GET", path).text


def test_what_a_token_is_known_by_is_in_no_trace(house: HttpHouse) -> None:
    headers = {"X-Correlation-Id": "a-new-token"}
    made = house.ask(BOSS, "POST", "/v1/tokens", json={"principal": ME}, headers=headers)
    assert made.status_code == 201
    seen = house.ask("fleet_auditor", "GET", "/v1/traces/a-new-token")
    assert "access_token_issued" in seen.text
    assert auth.digest_of(made.json()["token"]) not in seen.text


# -- the door --------------------------------------------------------------------------------


def test_who_shares_an_address_with_a_guesser_keeps_his_session(tmp_path: Path) -> None:
    terms = AppTerms(guesses=auth.Allowance(burst=3, per_minute=1))
    with http_house(tmp_path, terms) as house:
        known = {"Authorization": f"Bearer {house.token(ME)}"}
        new = {"Authorization": f"Bearer {house.token(ME)}"}
        assert house.client.get("/v1/whoami", headers=known).status_code == 200
        for _ in range(4):
            bad = house.client.get("/v1/whoami", headers={"Authorization": "Bearer x"})
        assert bad.status_code == 429
        assert house.client.get("/v1/whoami", headers=known).status_code == 200
        assert house.client.get("/v1/whoami", headers=new).status_code == 429
        assert house.client.post("/v1/login", json={"code": "x.y"}).status_code == 429


@pytest.mark.parametrize("more", [{"crit": None}, {"crit": 1}, {"b64": False, "crit": ["b64"]}])
def test_a_header_that_we_did_not_write_is_a_bad_token(
    house: HttpHouse, more: dict[str, object]
) -> None:
    _, payload, signature = house.token(ME).split(".")
    header = {"typ": "JWT", "alg": auth.ALGORITHM, **more}
    spelled = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    token = f"{spelled}.{payload}.{signature}"
    found = house.client.get("/v1/whoami", headers={"Authorization": f"Bearer {token}"})
    assert found.status_code == 401
    assert house.authority.vouched(token, now_ms=1) is None


# -- the port --------------------------------------------------------------------------------


def test_a_parameter_is_given_once_unless_it_is_a_list(house: HttpHouse) -> None:
    for query in ("limit=1&limit=2", "limit=1&limit=1", "limit=1&cursor=a&cursor=b"):
        found = house.ask(ME, "GET", f"/v1/nodes?{query}")
        assert (found.status_code, found.json()["code"]) == (422, "invalid_value")
    twice = house.ask(ME, "POST", "/v1/leases?dry_run=true&dry_run=false", json={})
    assert twice.status_code == 422
    kinds = "kinds=lease_released&kinds=node_registered,lease_renewed&follow=false"
    assert house.ask(BOSS, "GET", f"/v1/watch?{kinds}").status_code == 200


def test_a_slash_too_many_is_a_wrong_path_and_leads_nowhere(house: HttpHouse) -> None:
    headers = {"Host": "elsewhere.example"}
    found = house.client.get(f"/v1/tenants/{OWN}/", headers=headers, follow_redirects=False)
    assert (found.status_code, found.json()["code"]) == (404, "not_found")
    assert "location" not in found.headers


def test_the_fleet_is_no_place_for_a_tenants_account(house: HttpHouse) -> None:
    assert house.ask(BOSS, "POST", ACCOUNTS, json={"account": "x"}).status_code == 403
    accounts = house.runner.read(lambda view: list(view.state.directory.accounts.values()))
    assert FLEET not in {each.scope for each in accounts}


# -- tokens for others -----------------------------------------------------------------------


def ask_with(house: HttpHouse, token: str, method: str, path: str, **more: Any) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return house.client.request(method, path, headers=headers, **more).status_code


@pytest.mark.parametrize("single_use", [False, True])
def test_a_token_made_for_another_never_reaches_further_than_its_maker(
    house: HttpHouse, single_use: bool
) -> None:
    member = {"member": "carol", "role": "tenant_admin"}
    assert house.ask(BOSS, "PUT", MEMBERS, json=member).status_code == 200
    wanted = {"principal": "carol", "single_use": single_use}
    token = house.ask(BOSS, "POST", "/v1/tokens", json=wanted).json()["token"]
    if single_use:
        token = house.client.post("/v1/login", json={"code": token}).json()["token"]
    assert ask_with(house, token, "GET", f"/v1/tenants/{OWN}") == 200
    # What carol is trusted with later, elsewhere or by the fleet, is not the maker's.
    house.do(cmd.SetMember("carol", Role.TENANT_ADMIN, FOREIGN))
    house.do(cmd.SetMember("carol", Role.FLEET_ADMIN))
    assert ask_with(house, token, "GET", f"/v1/tenants/{FOREIGN}") == 404
    assert ask_with(house, token, "PUT", f"/v1/tenants/{OWN}/quota", json={"limits": {}}) == 403
    assert ask_with(house, token, "GET", f"/v1/tenants/{OWN}") == 200
    # Nor is it in what this token makes in its turn.
    headers = {"Authorization": f"Bearer {token}"}
    mine = {"principal": ME}
    made = house.client.post("/v1/tokens", json=mine, headers=headers).json()["token"]
    house.do(cmd.SetMember(ME, Role.TENANT_AUDITOR, FOREIGN))
    assert ask_with(house, made, "GET", f"/v1/tenants/{FOREIGN}") == 404
    assert ask_with(house, house.token("carol"), "GET", f"/v1/tenants/{FOREIGN}") == 200


def test_what_the_fleets_admin_makes_for_somebody_counts_wherever_he_has_a_role(
    house: HttpHouse,
) -> None:
    wanted = {"principal": BOSS}
    token = house.ask("fleet_admin", "POST", "/v1/tokens", json=wanted).json()["token"]
    house.do(cmd.SetMember(BOSS, Role.TENANT_AUDITOR, FOREIGN))
    assert ask_with(house, token, "GET", f"/v1/tenants/{FOREIGN}") == 200

"""Roles of one's own, and every way to get more by one than one was given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission, PrincipalKind, Role, ScopeLevel
from bailiwick.kernel.people import commands as cmd
from bailiwick.wire.actions.credentials import FEDERATION_EXCHANGE
from bailiwick.wire.credentials import ACCOUNT_KEY
from tests.support.http_house import HttpHouse, http_house

ADMIN, OWNER, OTHER = "fleet_admin", "tenant_admin@lab", "tenant_admin@rival"
P = Permission


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("roles")
    with http_house(folder) as house:
        yield house


def set_role(house: HttpHouse, who: str, name: str, *keys: Permission, **more: Any) -> Any:
    body = {"role": name, "tenant": "lab", "level": "project", "keys": list(keys)} | more
    return house.ask(who, "PUT", "/v1/roles", json=body)


def give(house: HttpHouse, who: str, member: str, role: str | None, *, at: str = "/p") -> Any:
    path = {"": "/v1/tenants/lab", "/p": "/v1/tenants/lab/projects/p", "fleet": "/v1"}[at]
    return house.ask(who, "PUT", f"{path}/members", json={"member": member, "role": role})


def delete(house: HttpHouse, who: str, name: str, tenant: str | None = "lab") -> Any:
    return house.ask(who, "POST", "/v1/roles/delete", json={"role": name, "tenant": tenant})


def held(house: HttpHouse, name: str, role: str, *keys: Permission, tenant: bool = False) -> None:
    """Somebody who has just these keys, by a role of the tenant's own."""
    level = ScopeLevel.TENANT if tenant else ScopeLevel.PROJECT
    house.do(cmd.SetRole(role, level, keys, "lab"))
    house.do(cmd.SetMember(name, None, "lab", None if tenant else "p", role))


def is_broadening(response: Any) -> bool:
    return (response.status_code, response.json()["details"].get("reason")) == (
        403,
        "role_broadens",
    )


def test_a_role_is_given_like_any_other_and_holds_just_its_keys(house: HttpHouse) -> None:
    assert set_role(house, OWNER, "triage", P.QUEUE_READ, P.MEMBER_READ).status_code == 200
    assert give(house, OWNER, "tim", "triage").status_code == 200
    members = house.ask(OWNER, "GET", "/v1/tenants/lab/projects/p/members").json()["items"]
    tim = next(each for each in members if each["member"] == "tim")
    assert (tim["role"], tim["is_offer"]) == ("triage", False)
    assert house.ask("tim", "GET", "/v1/tenants/lab/projects/p/members").status_code == 200
    denied = give(house, "tim", "tam", "triage")
    assert denied.json()["details"]["permission"] == "iam.member.manage"
    # What it holds changes for who has it, at once.
    assert set_role(house, OWNER, "triage", P.QUEUE_READ).status_code == 200
    assert house.ask("tim", "GET", "/v1/tenants/lab/projects/p/members").status_code == 403
    (made, changed) = [r for r in house.records("role_set") if r["role"] == "triage"]
    assert (made["change"], changed["change"]) == ("created", "changed")
    assert changed["before"] == ["scheduler.queue.read", "iam.member.read"]
    assert delete(house, OWNER, "triage").json()["code"] == "conflict"  # in use
    assert give(house, OWNER, "tim", None).status_code == 200
    assert delete(house, OWNER, "triage").status_code == 200


def test_what_is_no_role_is_a_typed_refusal(house: HttpHouse) -> None:
    keys = {"keys": ["scheduler.no.such"]}
    assert set_role(house, OWNER, "x", P.QUEUE_READ, **keys).status_code == 422
    assert set_role(house, OWNER, "tenant_admin", P.QUEUE_READ).status_code == 422
    assert set_role(house, OWNER, "x").status_code == 422
    assert set_role(house, OWNER, "x", P.QUEUE_READ, level="fleet").status_code == 422
    assert give(house, OWNER, "tim", "no-such-role").status_code == 404
    assert delete(house, OWNER, "no-such-role").status_code == 404


def test_a_fleets_key_is_in_no_tenants_role(house: HttpHouse) -> None:
    for key in (P.SETTINGS_SET, P.HOST_GRANT, P.QUOTA_SET, P.BREAK_GLASS, P.NODE_OPERATE):
        for who in (OWNER, ADMIN):
            assert set_role(house, who, "wide", key).status_code in (403, 422)
    # Nor in one of the fleet's that is given at a tenant; nor the key of nodes in any.
    assert set_role(house, ADMIN, "wide", P.QUOTA_SET, tenant=None).status_code == 422
    fleet = {"tenant": None, "level": "fleet"}
    assert set_role(house, ADMIN, "wide", P.NODE_REPORT, **fleet).status_code == 422


def test_nobody_defines_more_than_he_has(house: HttpHouse) -> None:
    held(house, "rolf", "role-maker", P.ROLE_MANAGE, P.MEMBER_READ, tenant=True)
    assert is_broadening(set_role(house, "rolf", "mine", P.ROLE_MANAGE, P.TOKEN_ISSUE))
    assert set_role(house, "rolf", "mine", P.MEMBER_READ).status_code == 200
    # Neither by widening the role that he has himself, nor by touching a wider one.
    wider = {"level": "tenant"}
    assert is_broadening(
        set_role(house, "rolf", "role-maker", P.ROLE_MANAGE, P.MEMBER_MANAGE, **wider)
    )
    assert set_role(house, OWNER, "wider", P.QUEUE_CANCEL).status_code == 200
    assert is_broadening(set_role(house, "rolf", "wider", P.MEMBER_READ))
    assert is_broadening(delete(house, "rolf", "wider"))
    sealed = [r for r in house.records("access_refused") if r["reason"] == "role_broadens"]
    assert {r["principal"] for r in sealed} >= {"rolf"}


def test_nobody_gives_or_takes_more_than_he_has(house: HttpHouse) -> None:
    held(house, "pia", "people", P.MEMBER_MANAGE, P.MEMBER_READ)
    for role in ("project_admin", "project_viewer"):
        assert is_broadening(give(house, "pia", "pia", role))
        assert is_broadening(give(house, "pia", "friend", role))
    assert give(house, "pia", "friend", "people").status_code == 200
    # Who has more keeps it: a people's manager does not lock the administrators out.
    assert is_broadening(give(house, "pia", "project_admin@lab", None))
    assert is_broadening(give(house, "pia", "project_admin@lab", "people"))
    assert give(house, "pia", "friend", None).status_code == 200
    # A role of the fleet's own that is wider than her is none that she gives.
    house.do(cmd.SetRole("fleetwide", ScopeLevel.PROJECT, (P.QUEUE_SUBMIT,)))
    assert is_broadening(give(house, "pia", "pia", "fleetwide"))
    assert give(house, OWNER, "friend", "fleetwide").status_code == 200


def test_a_token_for_another_carries_no_more_than_its_maker_has(house: HttpHouse) -> None:
    held(house, "tom", "tokens", P.TOKEN_ISSUE, P.QUEUE_READ)
    wish = {"principal": "project_admin@lab", "kind": "human", "ttl_s": 60}
    assert house.ask("tom", "POST", "/v1/tokens", json=wish).status_code == 404
    # An account without any role yet: what it gets later is not in a token made before.
    house.do(cmd.CreateAccount("later", "lab", "p"))
    wish = {"principal": "later", "kind": "service_account", "ttl_s": 600}
    made = house.ask("tom", "POST", "/v1/tokens", json=wish)
    assert made.status_code == 201, made.text
    house.do(cmd.SetMember("later", Role.PROJECT_ADMIN, "lab", "p"))
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    path = "/v1/tenants/lab/projects/p/members"
    assert house.client.get(path, headers=headers).status_code == 403
    full = house.token("later", kind=PrincipalKind.SERVICE_ACCOUNT)
    headers = {"Authorization": f"Bearer {full}"}
    assert house.client.get(path, headers=headers).status_code == 200


def test_what_somebody_gets_later_is_in_no_token_or_key_of_one_who_has_it_not(
    house: HttpHouse,
) -> None:
    admin, quota = "project_admin@lab", {"limits": {"gpu_count": 7}}
    path = "/v1/tenants/lab/projects/p/quota"
    house.do(cmd.SetMember("pia", Role.PROJECT_MEMBER, "lab", "p"))
    house.do(cmd.CreateAccount("robot", "lab", "p"))
    wish = {"principal": "pia", "kind": "human", "ttl_s": 600}
    token = house.ask(admin, "POST", "/v1/tokens", json=wish).json()["token"]
    by_owner = house.ask(OWNER, "POST", "/v1/tokens", json=wish).json()["token"]
    made = house.ask(admin, "POST", "/v1/service-accounts/robot/keys", json={}).json()["key"]
    house.do(cmd.SetRole("planner", ScopeLevel.PROJECT, (P.PROJECT_QUOTA_SET,), "lab"))
    for name in ("pia", "robot"):
        house.do(cmd.SetMember(name, None, "lab", "p", "planner"))
    body = {"subject_token": made, "subject_token_type": ACCOUNT_KEY, "account": "robot"}
    granted = house.client.post(FEDERATION_EXCHANGE.path, json=body).json()["access_token"]

    def sets(shown: str) -> int:
        headers = {"Authorization": f"Bearer {shown}"}
        return int(house.client.put(path, json=quota, headers=headers).status_code)

    assert house.ask(admin, "PUT", path, json=quota).status_code == 403
    assert (sets(token), sets(granted)) == (403, 403)
    assert sets(by_owner) == 200, "the tenant's administrator has it"


def test_nobody_withdraws_or_replaces_an_offer_of_more_than_he_has(house: HttpHouse) -> None:
    keys = (P.MEMBER_MANAGE, P.MEMBER_READ)
    held(house, "dora", "desk", *keys)
    house.do(cmd.SetMember("guest", Role.PROJECT_VIEWER, "rival", "p"))
    assert give(house, OWNER, "guest", "project_admin").json()["is_offer"] is True
    assert is_broadening(give(house, "dora", "guest", None))
    assert is_broadening(give(house, "dora", "guest", "desk"))
    assert give(house, OWNER, "guest", "desk").status_code == 200
    assert give(house, "dora", "guest", None).status_code == 200


def test_an_account_has_no_role_of_ones_own_beyond_its_scope(house: HttpHouse) -> None:
    house.do(cmd.SetRole("reads", ScopeLevel.PROJECT, (P.QUEUE_READ,), "lab"))
    house.do(cmd.CreateProject("lab", "other"))
    house.do(cmd.CreateAccount("bound", "lab", "other"))
    assert give(house, OWNER, "bound", "reads").status_code == 409


def test_a_role_is_given_at_its_level_and_where_it_is_known(house: HttpHouse) -> None:
    house.do(cmd.SetRole("one-level", ScopeLevel.PROJECT, (P.QUEUE_READ,), "lab"))
    assert give(house, OWNER, "lena", "one-level", at="").status_code == 422
    assert give(house, ADMIN, "lena", "one-level", at="fleet").status_code == 404
    path = "/v1/tenants/rival/projects/p/members"
    body = {"member": "lena", "role": "one-level"}
    assert house.ask(OTHER, "PUT", path, json=body).status_code == 404
    taken = set_role(house, OWNER, "one-level", P.QUEUE_READ, level="tenant")
    assert taken.json()["code"] == "conflict"


def test_a_tenants_roles_are_its_own(house: HttpHouse) -> None:
    house.do(cmd.SetRole("private", ScopeLevel.PROJECT, (P.QUEUE_READ,), "lab"))
    rows = house.ask(OTHER, "GET", "/v1/roles").json()["items"]
    assert not [row for row in rows if row["role"] == "private"]
    assert set_role(house, OTHER, "private", P.QUEUE_READ).status_code == 404
    assert delete(house, OTHER, "private").status_code == 404
    # The same name in another tenant is another role; the fleet's name is nobody's.
    assert set_role(house, OTHER, "private", P.QUEUE_READ, tenant="rival").status_code == 200
    assert set_role(house, ADMIN, "private", P.QUEUE_READ, tenant=None).status_code == 409
    assert set_role(house, ADMIN, "common", P.QUEUE_READ, tenant=None).status_code == 200
    assert set_role(house, OWNER, "common", P.QUEUE_READ).status_code == 409


def test_a_narrowed_token_defines_no_role_that_holds_more(house: HttpHouse) -> None:
    from bailiwick.services.authority import Terms

    token = house.token(OWNER, terms=Terms(keys=(P.ROLE_MANAGE,)))
    body = {"role": "n", "tenant": "lab", "level": "project", "keys": ["iam.token.issue"]}
    headers = {"Authorization": f"Bearer {token}"}
    assert is_broadening(house.client.put("/v1/roles", json=body, headers=headers))


def test_a_narrowed_token_hands_out_and_takes_away_no_role_that_holds_more(
    house: HttpHouse,
) -> None:
    from bailiwick.services.authority import Terms

    keys = (P.MEMBER_MANAGE, P.MEMBER_READ)
    house.do(cmd.SetRole("just-people", ScopeLevel.PROJECT, keys, "lab"))
    narrow = {"Authorization": f"Bearer {house.token(OWNER, terms=Terms(keys=keys))}"}
    path = "/v1/tenants/lab/projects/p/members"

    def give_by_token(role: str | None) -> Any:
        body = {"member": "nora", "role": role}
        return house.client.put(path, json=body, headers=narrow)

    assert is_broadening(give_by_token("project_admin"))
    assert give_by_token("just-people").status_code == 200
    assert give(house, OWNER, "nora", "project_admin").status_code == 200
    assert is_broadening(give_by_token(None))
    assert is_broadening(give_by_token("just-people"))

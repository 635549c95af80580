"""Homes and invitations: what others give somebody takes nothing from where he is at home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import FLEET, Permission, Role, Scope, ScopeLevel, home_of
from bailiwick.kernel.people import commands as cmd
from bailiwick.services import authority as auth
from tests.support.http_house import FOREIGN, OWN, HttpHouse, MovedClock, http_house

P = Permission

BOSS, RIVAL = f"tenant_admin@{OWN}", f"tenant_admin@{FOREIGN}"
RIVAL_OF_P = f"project_admin@{FOREIGN}"
HERE, THERE = f"/v1/tenants/{OWN}", f"/v1/tenants/{FOREIGN}"
PLACE = {"tenant": FOREIGN, "project": "p"}


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def house(tmp_path: Path, clock: MovedClock) -> Iterator[HttpHouse]:
    """With alice, of the first tenant's project."""
    with http_house(tmp_path, clock=clock) as made:
        give(made, BOSS, "alice", "project_member", f"{HERE}/projects/p")
        yield made


def give(house: HttpHouse, who: str, member: str, role: str | None, at: str) -> Any:
    found = house.ask(who, "PUT", f"{at}/members", json={"member": member, "role": role})
    assert found.status_code == 200, found.text
    return found.json()


def invite(house: HttpHouse, member: str = "alice", role: str = "project_viewer") -> Any:
    return give(house, RIVAL_OF_P, member, role, f"{THERE}/projects/p")


def answer(house: HttpHouse, word: str, who: str = "alice", **place: Any) -> int:
    body = PLACE | place
    return int(house.ask(who, "POST", f"/v1/invitations/{word}", json=body).status_code)


def reads(house: HttpHouse, who: str = "alice", tenant: str = FOREIGN) -> bool:
    found = house.ask(who, "GET", f"/v1/tenants/{tenant}/projects/p")
    return bool(found.status_code == 200)


def tokens_of(house: HttpHouse, who: str, name: str) -> list[str]:
    rows = house.ask(who, "GET", "/v1/tokens?limit=500").json()["items"]
    return [row["token_id"] for row in rows if row["principal"] == name]


def home(house: HttpHouse, name: str) -> Scope | None:
    return house.runner.read(lambda view: home_of(view.state.directory, name))


def looks_after(house: HttpHouse, who: str, name: str = "alice") -> bool:
    """Whether somebody makes and ends the tokens of another."""
    made = house.ask(who, "POST", "/v1/tokens", json={"principal": name})
    if made.status_code != 201:
        assert made.status_code == 404
        return False
    ended = house.ask(who, "DELETE", f"/v1/tokens/{made.json()['token_id']}")
    return bool(ended.status_code == 200)


# -- what must not be possible ---------------------------------------------------------------


def test_what_a_foreign_admin_gives_takes_nobody_from_his_home(house: HttpHouse) -> None:
    assert looks_after(house, BOSS)
    assert invite(house)["is_offer"] is True
    assert looks_after(house, BOSS)
    assert answer(house, "accept") == 200
    assert reads(house)
    assert looks_after(house, BOSS)
    assert looks_after(house, f"project_admin@{OWN}")
    assert not looks_after(house, RIVAL)
    assert home(house, "alice") == Scope(OWN)


def test_what_the_fleet_gives_takes_nobody_from_his_home_either(house: HttpHouse) -> None:
    told = give(house, "fleet_admin", "alice", "tenant_admin", THERE)
    assert told["is_offer"] is False
    assert reads(house), "the fleet's admin needs no acceptance"
    give(house, "fleet_admin", "alice", "fleet_auditor", "/v1")
    assert looks_after(house, BOSS)
    assert not looks_after(house, RIVAL)
    # What her home makes for her carries none of that.
    token = house.ask(BOSS, "POST", "/v1/tokens", json={"principal": "alice"}).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert house.client.get(f"{HERE}/projects/p", headers=headers).status_code == 200
    assert house.client.get(f"{THERE}/projects/p", headers=headers).status_code == 404
    assert house.client.get("/v1/settings", headers=headers).status_code == 403


def test_an_offer_counts_for_nothing_before_it_is_accepted(house: HttpHouse) -> None:
    invite(house, role="project_admin")
    assert not reads(house)
    (offered,) = house.ask("alice", "GET", "/v1/invitations").json()["items"]
    assert (offered["tenant"], offered["project"]) == (FOREIGN, "p")
    assert offered["role"] == "project_admin"
    roles = house.ask("alice", "GET", "/v1/whoami").json()["roles"]
    assert [(each["tenant"], each["role"]) for each in roles] == [(OWN, "project_member")]
    rows = house.ask(RIVAL, "GET", f"{THERE}/projects/p/members").json()["items"]
    row = next(each for each in rows if each["member"] == "alice")
    assert (row["is_offer"], row["home"]) == (True, "another")
    assert OWN not in str(row)


def test_nobody_keeps_a_name_from_its_home_by_inviting_it_first(house: HttpHouse) -> None:
    # Nobody knows "corp:bea" yet, nor "bob", whom the fleet let in and nobody gave a role.
    house.token("bob")
    for name in ("corp:bea", "bob"):
        assert invite(house, name)["is_offer"] is True
        assert not looks_after(house, RIVAL_OF_P, name)
    give(house, "fleet_admin", "bob", "project_member", f"{HERE}/projects/p")
    assert reads(house, "bob", OWN)
    assert not looks_after(house, RIVAL_OF_P, "bob")
    # One who is nobody's is made known by a role: whoever gives it first has him.
    assert give(house, BOSS, "cleo", "tenant_auditor", HERE)["is_offer"] is False
    assert invite(house, "cleo")["is_offer"] is True
    assert looks_after(house, BOSS, "cleo")
    # A name that the wrong tenant took is set right by the fleet.
    assert not looks_after(house, RIVAL, "cleo")
    moved = {"principal": "cleo", "tenant": FOREIGN}
    assert house.ask(BOSS, "PUT", "/v1/principals/home", json=moved).status_code == 403
    assert house.ask("fleet_admin", "PUT", "/v1/principals/home", json=moved).status_code == 200
    assert looks_after(house, RIVAL, "cleo")
    assert not looks_after(house, BOSS, "cleo")


def test_an_invitation_is_accepted_once_and_by_whom_it_is_for(house: HttpHouse) -> None:
    invite(house)
    assert answer(house, "accept", f"project_member@{OWN}") == 409
    assert answer(house, "accept", RIVAL) == 409
    assert answer(house, "accept") == 200
    assert answer(house, "accept") == 409
    assert answer(house, "leave") == 200
    assert not reads(house)
    assert answer(house, "accept") == 409, "what was accepted before is not open again"
    assert answer(house, "leave") == 409


def test_no_rights_are_kept_where_the_inviting_project_closed(house: HttpHouse) -> None:
    invite(house)
    house.plain("change_project", tenant=FOREIGN, project="p", is_open=False)
    assert answer(house, "accept") == 409
    house.plain("change_project", tenant=FOREIGN, project="p", is_open=True)
    assert answer(house, "accept") == 200
    assert reads(house)
    house.plain("change_project", tenant=FOREIGN, project="p", is_open=False)
    assert not reads(house)
    assert reads(house, f"project_member@{FOREIGN}"), "its own people still look"
    house.plain("change_tenant", tenant=FOREIGN, is_open=False)
    assert not reads(house)


def test_a_login_that_the_home_made_accepts_nothing_elsewhere(house: HttpHouse) -> None:
    invite(house)
    made = house.ask(BOSS, "POST", "/v1/tokens", json={"principal": "alice"}).json()["token"]
    headers = {"Authorization": f"Bearer {made}"}
    refused = house.client.post("/v1/invitations/accept", json=PLACE, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert "would not carry it" in refused.json()["message"]
    narrow = house.token("alice", terms=auth.Terms(keys=()))
    headers = {"Authorization": f"Bearer {narrow}"}
    refused = house.client.post("/v1/invitations/accept", json=PLACE, headers=headers)
    assert refused.status_code == 409


@pytest.mark.parametrize("maker", [BOSS, f"project_admin@{OWN}", None], ids=["home", "p", "cut"])
def test_a_login_that_others_made_or_narrowed_decides_nothing_elsewhere(
    house: HttpHouse, maker: str | None
) -> None:
    if maker is None:
        token = house.token("alice", terms=auth.Terms(keys=()))
    else:
        token = house.ask(maker, "POST", "/v1/tokens", json={"principal": "alice"}).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}

    def tried(word: str) -> int:
        path = f"/v1/invitations/{word}"
        return int(house.client.post(path, json=PLACE, headers=headers).status_code)

    invite(house)
    assert house.client.get("/v1/invitations", headers=headers).json()["items"] == []
    assert tried("decline") == 409
    assert answer(house, "accept") == 200, "it is still open"
    assert tried("leave") == 409
    assert reads(house)


def test_nobody_sets_the_home_of_one_who_has_more_than_he(house: HttpHouse) -> None:
    house.do(cmd.SetRole("helpdesk", ScopeLevel.FLEET, (P.MEMBER_MANAGE, P.MEMBER_READ)))
    house.do(cmd.SetMember("hal", None, None, None, "helpdesk"))
    for principal, status in (("fleet_admin", 403), ("alice", 403), ("somebody-new", 200)):
        body = {"principal": principal, "tenant": FOREIGN}
        assert house.ask("hal", "PUT", "/v1/principals/home", json=body).status_code == status
    refusals = [each for each in house.records("access_refused") if each["principal"] == "hal"]
    assert {each["reason"] for each in refusals} == {"role_broadens"}
    assert tokens_of(house, RIVAL, "fleet_admin") == []


def test_nobody_invites_to_more_than_he_has_himself(house: HttpHouse) -> None:
    body = {"member": "alice", "role": "tenant_admin"}
    refused = house.ask(RIVAL_OF_P, "PUT", f"{THERE}/members", json=body)
    assert refused.status_code == 403
    assert house.ask("alice", "GET", "/v1/invitations").json()["items"] == []


# -- how an invitation ends ------------------------------------------------------------------


def test_an_invitation_is_withdrawn_by_who_gave_it(house: HttpHouse) -> None:
    invite(house)
    assert give(house, RIVAL, "alice", None, f"{THERE}/projects/p")["is_offer"] is True
    assert answer(house, "accept") == 409
    invite(house)
    assert answer(house, "decline") == 200
    assert answer(house, "decline") == 409
    outcomes = [each["outcome"] for each in house.records("role_offer_ended")]
    assert outcomes == ["withdrawn", "declined"]


def test_an_invitation_runs_out(house: HttpHouse, clock: MovedClock) -> None:
    house.plain("offer_role", member="alice", role="project_viewer", ttl_ms=60_000, **PLACE)
    assert len(house.ask("alice", "GET", "/v1/invitations").json()["items"]) == 1
    clock.ahead_ms = 120_000
    assert house.ask("alice", "GET", "/v1/invitations").json()["items"] == []
    assert answer(house, "accept") == 409
    invite(house, role="project_member")
    assert answer(house, "accept") == 200


def test_a_role_at_home_is_not_given_up_by_oneself(house: HttpHouse) -> None:
    assert answer(house, "leave", tenant=OWN) == 409
    assert reads(house, tenant=OWN)


def test_one_who_has_a_role_there_can_get_another_without_being_asked(house: HttpHouse) -> None:
    invite(house)
    assert answer(house, "accept") == 200
    told = invite(house, role="project_member")
    assert told["is_offer"] is False
    assert looks_after(house, BOSS)


def test_a_tenant_offers_no_more_than_its_share(house: HttpHouse) -> None:
    for number in range(17):
        house.plain("create_project", tenant=FOREIGN, project=f"q{number}")
    made = [
        house.ask(
            RIVAL,
            "PUT",
            f"{THERE}/projects/q{number}/members",
            json={"member": "alice", "role": "project_viewer"},
        ).status_code
        for number in range(17)
    ]
    assert made == [200] * 16 + [409]


def test_homes_and_offers_outlive_a_snapshot(house: HttpHouse) -> None:
    from bailiwick.kernel import decode, digest_of, encode

    invite(house)
    give(house, "fleet_admin", "alice", "tenant_auditor", THERE)

    def copied(view: Any) -> Any:
        return decode(encode(view.state), digest_of(view.state)).directory

    directory = house.runner.read(copied)
    assert directory.homes == {"alice": Scope(OWN)}
    assert [*directory.offers] == [("alice", Scope(FOREIGN, "p"))]


# -- who is at home where --------------------------------------------------------------------


def test_a_home_follows_from_what_is_known_until_it_is_written_down(house: HttpHouse) -> None:
    assert home(house, f"bot-{OWN}") == Scope(OWN)
    assert home(house, "fleet_admin") == FLEET
    assert home(house, "node:n1") == FLEET
    assert home(house, "corp:ann") == FLEET
    assert home(house, "nobody") is None
    # In a journal from before there were homes: one with roles in two tenants is the fleet's.
    for tenant in (OWN, FOREIGN):
        house.do(cmd.SetMember("old", Role.TENANT_AUDITOR, tenant))
    assert home(house, "old") == FLEET
    assert not looks_after(house, BOSS, "old")
    moved = {"principal": "old", "tenant": OWN}
    assert house.ask("fleet_admin", "PUT", "/v1/principals/home", json=moved).status_code == 200
    assert looks_after(house, BOSS, "old")


def test_everybody_is_told_with_kind_and_home(house: HttpHouse) -> None:
    assert house.ask("alice", "GET", "/v1/whoami").json()["home"] == OWN
    assert house.ask("fleet_admin", "GET", "/v1/whoami").json()["home"] == "fleet"
    rows = house.ask(BOSS, "GET", f"{HERE}/projects/p/members").json()["items"]
    told = {row["member"]: (row["kind"], row["home"]) for row in rows}
    assert told["alice"] == ("human", OWN)

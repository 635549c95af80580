"""Roles of one's own: nobody ever has a key that nobody who had it gave him.

A naive reference keeps, beside the services' own rules, plain sets of (who, where, key): every
change is asked for by somebody over the real API, and whatever is done, a person's keys are those
of the naive sets, and a tenant's people have none that its administrator has not. All are at home
in the tenant: what a stranger is offered counts once he accepts it (tests/unit/kernel/test_homes).
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from bailiwick.iam import (
    FLEET,
    KEYS_OF,
    Allowed,
    Permission,
    Role,
    Scope,
    ScopeLevel,
    check_access,
)
from bailiwick.kernel.people.home_commands import SetHome
from tests.support.http_house import HttpHouse, http_house

PEOPLE = ("ann", "bo", "cy")
PLACES = (Scope("lab"), Scope("lab", "p"))
MADE = ("r1", "r2")
SOME = (
    *(Permission.QUEUE_READ, Permission.QUEUE_CANCEL, Permission.MEMBER_MANAGE),
    *(Permission.ROLE_MANAGE, Permission.TOKEN_ISSUE, Permission.INVOICE_READ),
    *(Permission.SETTINGS_SET, Permission.HOST_GRANT),  # the fleet's
)
ROUNDS = 120


class Naive:
    """Plain sets: what each role holds, and who has which role where."""

    def __init__(self) -> None:
        self.roles: dict[str, tuple[ScopeLevel, set[Permission]]] = {}
        self.held: dict[tuple[str, Scope], str] = {("tenant_admin@lab", Scope("lab")): ""}

    def keys(self, who: str, scope: Scope) -> set[Permission]:
        found = set[Permission]()
        for at in (scope, Scope(scope.tenant), FLEET):
            name = self.held.get((who, at))
            if name == "":
                found |= Role.TENANT_ADMIN.permissions
            elif name in list(Role):
                found |= Role(name).permissions
            elif name is not None:
                found |= self.roles[name][1]
        return found

    def may_set(self, who: str, name: str, level: ScopeLevel, keys: set[Permission]) -> bool:
        own = self.keys(who, Scope("lab"))
        known = self.roles.get(name)
        touched = keys | (known[1] if known else set())
        fits = keys <= KEYS_OF[level] and level is not ScopeLevel.FLEET
        same = known is None or (known[0] is level and known[1] != keys)
        return Permission.ROLE_MANAGE in own and touched <= own and fits and same

    def may_delete(self, who: str, name: str) -> bool:
        own = self.keys(who, Scope("lab"))
        known = self.roles.get(name)
        in_use = name in self.held.values()
        return known is not None and {Permission.ROLE_MANAGE, *known[1]} <= own and not in_use

    def may_give(self, who: str, member: str, scope: Scope, *, name: str | None) -> bool:
        own, before = self.keys(who, scope), self.held.get((member, scope))
        level = ScopeLevel.TENANT if scope.project is None else ScopeLevel.PROJECT
        if name == before or (name is not None and self._level(name) is not level):
            return False
        touched = self._holds(before) | self._holds(name)
        return Permission.MEMBER_MANAGE in own and touched <= own

    def _level(self, name: str) -> ScopeLevel | None:
        if name in list(Role):
            return Role(name).level
        return self.roles[name][0] if name in self.roles else None

    def _holds(self, name: str | None) -> set[Permission]:
        if name is None:
            return set()
        return set(Role(name).permissions) if name in list(Role) else self.roles[name][1]


def ask(house: HttpHouse, token: str, method: str, path: str, body: dict[str, Any]) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    found = house.client.request(method, path, json=body, headers=headers)
    assert found.status_code < 500, found.text
    return bool(found.status_code == 200)


@pytest.mark.parametrize("seed", range(3))
def test_safety_nobody_gets_a_key_that_its_giver_has_not(tmp_path: Path, seed: int) -> None:
    chance, naive = Random(seed), Naive()
    with http_house(tmp_path) as house:
        for who in PEOPLE:
            house.do(SetHome(who, "lab"))
        tokens = {who: house.token(who) for who in (*PEOPLE, "tenant_admin@lab")}
        given = 0
        for _ in range(ROUNDS):
            who = chance.choice([*PEOPLE, "tenant_admin@lab"])
            name = chance.choice(MADE)
            match chance.choice(["set", "give", "give", "delete"]):
                case "set":
                    keys = set(chance.sample(SOME, chance.randint(1, 4)))
                    level = chance.choice([ScopeLevel.TENANT, ScopeLevel.PROJECT])
                    may = naive.may_set(who, name, level, keys)
                    body = {"role": name, "tenant": "lab", "level": level.value}
                    body |= {"keys": [key.value for key in keys]}
                    assert ask(house, tokens[who], "PUT", "/v1/roles", body) is may
                    if may:
                        naive.roles[name] = level, keys
                case "delete":
                    may = naive.may_delete(who, name)
                    body = {"role": name, "tenant": "lab"}
                    assert ask(house, tokens[who], "POST", "/v1/roles/delete", body) is may
                    if may:
                        del naive.roles[name]
                case _:
                    member, scope = chance.choice(PEOPLE), chance.choice(PLACES)
                    fitting = ["project_member", "tenant_auditor", "tenant_admin", *MADE, None]
                    role = chance.choice(fitting)
                    may = naive.may_give(who, member, scope, name=role)
                    path = "/v1/tenants/lab" + ("/projects/p" if scope.project else "")
                    body = {"member": member, "role": role}
                    assert ask(house, tokens[who], "PUT", path + "/members", body) is may, body
                    given += may
                    if may:
                        naive.held.pop((member, scope), None)
                        if role is not None:
                            naive.held[member, scope] = role
            _compare(house, naive)
        assert given


def _compare(house: HttpHouse, naive: Naive) -> None:
    held = house.runner.read(lambda view: view.state.directory.roles)
    for who in PEOPLE:
        for scope in PLACES:
            roles = held.get(who, {})
            found = {
                key
                for key in Permission
                if isinstance(check_access(roles, key, scope=scope), Allowed)
            }
            assert found == naive.keys(who, scope)
            assert found <= Role.TENANT_ADMIN.permissions
            assert not any(isinstance(check_access(roles, k, scope=FLEET), Allowed) for k in SOME)

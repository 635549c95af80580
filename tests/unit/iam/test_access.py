"""Authority: default deny, scopes that reach down and never up, keys and never roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick import BailiwickError, Conflict, InvalidValue, NotFound
from bailiwick.iam import (
    FLEET,
    Allowed,
    Directory,
    Forbidden,
    Permission,
    Project,
    Role,
    Scope,
    ScopeLevel,
    Tenant,
    check_access,
)

LAB, OTHER = Scope("lab"), Scope("other")
VISION, SOUND = Scope("lab", "vision"), Scope("lab", "sound")
SCOPES = [FLEET, LAB, OTHER, VISION, SOUND]
TEN = [
    *(f"scheduler.{each}" for each in ("catalog.read", "instance.read", "instance.create")),
    *(f"scheduler.{each}" for each in ("instance.update", "instance.delete", "queue.submit")),
    *(f"scheduler.{each}" for each in ("queue.read", "queue.cancel", "node.read")),
    "scheduler.node.operate",
]


def test_the_ten_keys_of_the_platform_are_spelled_as_its_contract_says() -> None:
    assert [str(key) for key in Permission][:10] == TEN


def test_every_key_is_part_of_some_role_and_every_role_has_some_key() -> None:
    granted = set().union(*(role.permissions for role in Role))
    assert granted == set(Permission)
    assert all(role.permissions for role in Role)


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_without_a_role_nothing_is_allowed(permission: Permission, scope: Scope) -> None:
    assert check_access({}, permission, scope=scope) == Forbidden(permission, scope)


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_a_role_of_the_fleet_reaches_everywhere(scope: Scope) -> None:
    found = check_access({FLEET: Role.FLEET_OPERATOR}, Permission.NODE_OPERATE, scope=scope)
    assert found == Allowed(Role.FLEET_OPERATOR, FLEET)


def test_a_tenants_role_reaches_its_projects_and_nobody_elses() -> None:
    roles = {LAB: Role.TENANT_ADMIN}
    key = Permission.QUEUE_SUBMIT
    assert isinstance(check_access(roles, key, scope=LAB), Allowed)
    assert isinstance(check_access(roles, key, scope=VISION), Allowed)
    for foreign in (OTHER, Scope("other", "vision"), FLEET):
        assert check_access(roles, key, scope=foreign) == Forbidden(key, foreign)


def test_a_projects_role_reaches_neither_its_tenant_nor_the_project_beside_it() -> None:
    roles = {VISION: Role.PROJECT_ADMIN}
    assert isinstance(check_access(roles, Permission.QUEUE_SUBMIT, scope=VISION), Allowed)
    for foreign in (LAB, SOUND, OTHER, FLEET):
        assert isinstance(check_access(roles, Permission.QUEUE_SUBMIT, scope=foreign), Forbidden)


def test_a_token_with_fewer_keys_carries_no_more_than_those() -> None:
    keys = frozenset({Permission.QUEUE_READ, Permission.BREAK_GLASS})
    roles = {VISION: Role.PROJECT_MEMBER}
    read = check_access(roles, Permission.QUEUE_READ, scope=VISION, keys=keys)
    assert isinstance(read, Allowed)
    for key in (Permission.QUEUE_SUBMIT, Permission.BREAK_GLASS):
        assert isinstance(check_access(roles, key, scope=VISION, keys=keys), Forbidden)


@given(
    st.dictionaries(st.sampled_from(SCOPES), st.sampled_from(Role), max_size=3),
    st.sampled_from(Permission),
    st.sampled_from(SCOPES),
)
def test_access_is_a_role_with_the_key_at_a_scope_that_covers(
    roles: dict[Scope, Role], permission: Permission, scope: Scope
) -> None:
    naive = any(s.covers(scope) and permission in role.permissions for s, role in roles.items())
    assert isinstance(check_access(roles, permission, scope=scope), Allowed) == naive


def test_scopes_are_nested_and_named() -> None:
    assert [str(s) for s in VISION.around] == ["lab/vision", "lab", "fleet"]
    assert [s.level for s in (FLEET, LAB, VISION)] == list(ScopeLevel)
    with pytest.raises(InvalidValue):
        Scope.of(None, "vision")
    with pytest.raises(InvalidValue):
        Scope.of("lab", "no spaces")


@pytest.mark.parametrize(
    ("scope", "error"),
    [
        (Scope("nobody"), NotFound),
        (Scope("lab", "nothing"), NotFound),
        (Scope("gone"), Conflict),
        (Scope("lab", "old"), Conflict),
    ],
    ids=str,
)
def test_a_scope_that_is_missing_or_closed_is_refused(
    scope: Scope, error: type[BailiwickError]
) -> None:
    directory = Directory()
    directory.tenants = {"lab": Tenant("lab"), "gone": Tenant("gone", is_open=False)}
    directory.projects = {("lab", "old"): Project("lab", "old", is_open=False)}
    directory.check_scope(FLEET)
    directory.check_scope(LAB)
    with pytest.raises(error):
        directory.check_scope(scope)

"""A job's token is good for its one lease, and for nothing else: a test for each action.

The tokens here carry all keys of their principal: what holds is the lease alone.
"""

from __future__ import annotations

import pytest

from bailiwick.iam import Permission, Role
from bailiwick.services.authority import Terms
from bailiwick.wire.actions.action import Where
from bailiwick.wire.actions.table import ACTIONS
from tests.support.http_house import FOREIGN, OWN, person
from tests.tenancy.test_boundaries import KEYLESS, World, told, world

__all__ = ["world"]

MINE = [n for n, a in ACTIONS.items() if a.where is Where.LEASE]
OTHERS = [n for n, a in ACTIONS.items() if a.where not in (Where.LEASE, *KEYLESS)]
ADMIN, MEMBER = person(Role.FLEET_ADMIN), person(Role.PROJECT_MEMBER)
OWN_LEASE, FOREIGN_LEASE, NO_LEASE = 1, 2, 999


def bound(world: World, lease_id: int, who: str = ADMIN) -> str:
    """A token for one lease."""
    return world.house.token(who, terms=Terms(lease_id=lease_id))


@pytest.mark.parametrize("name", MINE)
def test_it_is_good_for_its_own_lease(world: World, name: str) -> None:
    found = world.ask(bound(world, OWN_LEASE), name, tenant=OWN, dry=True)
    assert found.status_code in (200, 201), found.text


@pytest.mark.parametrize("name", MINE)
def test_another_lease_is_as_if_it_were_not_there(world: World, name: str) -> None:
    found = world.ask(bound(world, OWN_LEASE), name, tenant=FOREIGN)
    assert found.status_code == 404, found.text
    assert found.json()["code"] == "not_found"


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_good_for_no_other_action(world: World, name: str) -> None:
    found = world.ask(bound(world, OWN_LEASE), name, tenant=OWN)
    assert found.status_code == 404, found.text
    assert told(found)["code"] == "not_found"


def test_it_watches_no_changes(world: World) -> None:
    """Behind it is a job, and nobody who looks at pages."""
    found = world.ask(bound(world, OWN_LEASE), "self.watch", tenant=OWN)
    assert found.status_code == 404, found.text


def test_it_ends_with_its_lease(world: World) -> None:
    headers = {"Authorization": f"Bearer {bound(world, NO_LEASE)}"}
    assert world.house.client.get("/v1/whoami", headers=headers).status_code == 401
    headers = {"Authorization": f"Bearer {bound(world, FOREIGN_LEASE)}"}
    assert world.house.client.get("/v1/whoami", headers=headers).status_code == 200


def test_it_gives_nothing_that_its_submitter_has_not(world: World) -> None:
    found = world.ask(bound(world, FOREIGN_LEASE, MEMBER), "lease.read", tenant=FOREIGN)
    assert found.status_code == 404
    narrow = Terms(lease_id=OWN_LEASE, keys=(Permission.LEASE_READ,))
    token = world.house.token(MEMBER, terms=narrow)
    assert world.ask(token, "lease.read", tenant=OWN).status_code == 200
    assert world.ask(token, "lease.renew", tenant=OWN).status_code == 403

"""Use cases over a kernel in this thread: what they ask for first, and what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from bailiwick.billing.rates import CardWithdrawn, RateCard
from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.iam import Role as Duty
from bailiwick.kernel import Command, Envelope, Kernel, SetRateCard, Settings, WithdrawRateCard
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.runtime.replica import Role
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.services import budgets, quotas, rates, server, tenants
from bailiwick.services.caller import AccessDenied, Caller, Hidden
from bailiwick.vocab.errors import InvalidValue, InvariantBroken, NotFound, Stale
from bailiwick.vocab.words import Dimension, HardwareGeneration, LeaseClass
from tests.support.kernel_gateway import KernelGateway, caller_of

T = TypeVar("T")
P = Permission
LAB, PROJECT = Scope("lab"), Scope("lab", "p")


@dataclass
class House:
    """A kernel with two tenants and a clock that stands still."""

    kernel: Kernel = field(default_factory=lambda: Kernel(simulated=True))
    role: Role = Role.LEADING

    def __post_init__(self) -> None:
        self.gateway = KernelGateway(self)
        for tenant in ("lab", "other"):
            self.do(CreateTenant(tenant), CreateProject(tenant, "p"))

    def now_ms(self) -> int:
        return 10**12

    def elapsed_ms(self) -> int:
        return 10**12

    def do(self, *commands: Command) -> None:
        for command in commands:
            self.kernel.execute(Envelope(command, "test", "test"), self.now_ms())

    def who(
        self, duty: Duty, key: Permission | None, *, scope: Scope = FLEET, dry_run: bool = False
    ) -> Caller:
        return caller_of(
            self.gateway, self, permission=key, role=duty, scope=scope, dry_run=dry_run
        )


@pytest.fixture
def house() -> House:
    return House()


def run(asked: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asked)


def faulty() -> Quota:
    """A burst above a limit that is not there."""
    return Quota(burst=BurstCredit(Dimension.GPU_COUNT, 1, 1, 1))


def few() -> Quota:
    return Quota((ResourceLimit(Dimension.CPU_MILLI, 5_000),))


def card(**changes: Any) -> RateCard:
    prices = dict.fromkeys(HardwareGeneration, 1_000)
    given: dict[str, Any] = {
        "name": "list",
        "currency": "credit",
        "gpu_micros_per_hour": prices,
        "core_micros_per_hour": 10,
        "mem_micros_per_gib_hour": 1,
        "block_micros_per_gib_hour": 1,
        "class_per_mille": dict.fromkeys(LeaseClass, 1_000),
    }
    return RateCard(**given | changes)


# -- what is asked for first -----------------------------------------------------------------


def test_nothing_is_told_before_a_permission_was_asked_for(house: House) -> None:
    caller = house.who(Duty.FLEET_ADMIN, P.QUOTA_READ)
    with pytest.raises(InvariantBroken):
        run(caller.read(lambda view: view.state.size))
    with pytest.raises(InvariantBroken):
        run(caller.change(CreateTenant("new")))
    with pytest.raises(InvariantBroken):
        run(caller.rehearse(CreateTenant("new")))
    with pytest.raises(InvariantBroken):
        run(caller.records(0, 1))
    assert not house.gateway.told


def test_what_needs_a_key_is_not_for_everybody_who_is_let_in(house: House) -> None:
    with pytest.raises(InvariantBroken):
        house.who(Duty.FLEET_ADMIN, P.QUOTA_READ).require_login()
    house.who(Duty.FLEET_ADMIN, None).require_login()


def test_who_may_not_is_not_told_what_is_wrong_with_his_request(house: House) -> None:
    stranger = house.who(Duty.TENANT_ADMIN, P.QUOTA_SET, scope=Scope("other"))
    with pytest.raises(AccessDenied) as hidden:
        run(quotas.set_quota(stranger, LAB, quota=faulty, seen=None))
    assert hidden.value.message is None
    assert str(hidden.value) == str(Hidden())
    member = house.who(Duty.PROJECT_VIEWER, P.QUOTA_SET, scope=PROJECT)
    with pytest.raises(AccessDenied, match="is needed at lab") as denied:
        run(quotas.set_quota(member, LAB, quota=faulty, seen=None))
    assert denied.value.refusal.scope == LAB
    with pytest.raises(InvalidValue, match="burst"):
        run(
            quotas.set_quota(house.who(Duty.FLEET_ADMIN, P.QUOTA_SET), LAB, quota=faulty, seen=None)
        )


# -- quotas and settings ---------------------------------------------------------------------


def test_a_quota_is_read_as_it_was_set(house: House) -> None:
    admin = house.who(Duty.FLEET_ADMIN, P.QUOTA_SET)
    done, outlook = run(quotas.set_quota(admin, LAB, quota=few, seen=None))
    assert (done.seq is not None, outlook) == (True, None)
    viewer = house.who(Duty.PROJECT_VIEWER, P.QUOTA_READ, scope=LAB)
    _, quota, is_default, ceiling, room, _ = run(quotas.read_quota(viewer, LAB))
    assert (quota, is_default) == (few(), False)
    assert ceiling == Settings().ceiling()
    assert room.dimensions[Dimension.CPU_MILLI].left == 5_000


def test_a_dry_run_sets_nothing(house: House) -> None:
    dry = house.who(Duty.FLEET_ADMIN, P.QUOTA_SET, dry_run=True)
    done, outlook = run(quotas.set_quota(dry, LAB, quota=few, seen=None))
    assert (done.seq, outlook is None) == (None, False)
    with pytest.raises(NotFound):
        run(quotas.set_quota(dry, Scope("nobody"), quota=few, seen=None))
    assert not house.gateway.told


def test_settings_are_replaced_only_as_they_were_seen(house: House) -> None:
    admin = house.who(Duty.FLEET_ADMIN, P.SETTINGS_SET)
    wanted = Settings(grace_ms=7)
    with pytest.raises(Stale):
        run(server.set_settings(admin, lambda: wanted, seen="0" * 64))
    run(server.set_settings(admin, lambda: wanted, seen=None))
    assert run(server.read_settings(house.who(Duty.FLEET_ADMIN, P.SETTINGS_READ))) == wanted


# -- prices ----------------------------------------------------------------------------------


def test_changes_of_prices_are_shown_to_those_whose_they_are(house: House) -> None:
    house.do(
        SetRateCard(card()),
        SetRateCard(card(name="own", tenant="lab")),
        SetRateCard(card(name="own", tenant="other")),
        WithdrawRateCard("lab", 0),
    )
    member = house.who(Duty.PROJECT_MEMBER, P.RATE_CARD_READ, scope=PROJECT)
    first, cursor = run(rates.page(member, after=0, limit=2))
    rest, end = run(rates.page(member, after=int(cursor or 0), limit=2))
    assert [row.change.tenant for row in (*first, *rest)] == [None, "lab", "lab"]
    assert isinstance(rest[-1].change, CardWithdrawn)
    assert end is None
    with pytest.raises(AccessDenied):
        run(rates.read(member, "other", at_ms=None))


def test_a_budget_that_nobody_set_is_not_there(house: House) -> None:
    reader = house.who(Duty.PROJECT_MEMBER, P.BUDGET_READ, scope=PROJECT)
    with pytest.raises(NotFound):
        run(budgets.read(reader, PROJECT))
    assert run(budgets.page(reader, "lab", after=None, limit=5)) == ([], None)


# -- tenants ---------------------------------------------------------------------------------


def test_a_list_has_the_rows_that_one_may_see(house: House) -> None:
    admin = house.who(Duty.TENANT_ADMIN, P.TENANT_READ, scope=LAB)
    rows, cursor = run(tenants.page_tenants(admin, after=None, limit=10))
    assert ([row.name for row in rows], cursor) == (["lab"], None)
    every = house.who(Duty.FLEET_ADMIN, P.TENANT_READ)
    rows, cursor = run(tenants.page_tenants(every, after=None, limit=1))
    assert ([row.name for row in rows], cursor) == (["lab"], "lab")


def test_nobody_gets_a_role_under_the_servers_own_name_nor_a_node_within_a_tenant(
    house: House,
) -> None:
    admin = house.who(Duty.FLEET_ADMIN, P.MEMBER_MANAGE)
    for member in ("kernel", "node:n1"):
        with pytest.raises(InvalidValue, match="member"):
            run(tenants.set_member(admin, LAB, member=member, role=Duty.TENANT_ADMIN))
    assert not house.gateway.told

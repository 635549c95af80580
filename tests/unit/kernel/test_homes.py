"""Homes hold whatever others do: many small histories, looked at after every command."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from bailiwick.iam import Directory, GivenBy, Role, Scope, home_of
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel import Command, Envelope, Kernel, State, decode, digest_of, encode
from bailiwick.kernel.people.commands import (
    ChangeProject,
    CreateAccount,
    CreateProject,
    CreateTenant,
    SetMember,
)
from bailiwick.kernel.people.home_commands import OFFER_MS_MAX, EndOffer, OfferRole, SetHome
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue

MEMBERS = ("ann", "bob", "cleo", "corp:dan")
TENANTS = ("t0", "t1", "t2")


class House:
    """A kernel with three tenants of one project each."""

    def __init__(self) -> None:
        self.kernel, self.now_ms = Kernel(State(), simulated=True), 1
        for tenant in TENANTS:
            self.do(CreateTenant(tenant))
            self.do(CreateProject(tenant, "p"))

    @property
    def directory(self) -> Directory:
        return self.kernel.state.directory

    def do(self, command: Command) -> None:
        self.kernel.execute(Envelope(command, "somebody", "c"), self.now_ms)

    def homes(self) -> dict[str, Scope | None]:
        return {member: home_of(self.directory, member) for member in MEMBERS}


@pytest.fixture
def house() -> House:
    return House()


def _any(chance: Random) -> Command:
    member, tenant = chance.choice(MEMBERS), chance.choice(TENANTS)
    given_by = chance.choice(list(GivenBy))
    return chance.choice(
        [
            SetMember(member, Role.PROJECT_VIEWER, tenant, "p", None, given_by),
            SetMember(member, Role.TENANT_AUDITOR, tenant, None, None, given_by),
            SetMember(member, Role.FLEET_AUDITOR, None, None, None, GivenBy.FLEET),
            SetMember(member, None, tenant, "p"),
            OfferRole(member, "project_viewer", tenant, chance.choice((10, 10**6)), "p"),
            *(EndOffer(member, outcome, tenant, "p") for outcome in OfferOutcome),
            ChangeProject(tenant, "p", is_open=chance.random() < 0.8),
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_home_moves_by_what_others_give_and_no_stranger_has_what_he_did_not_accept(
    seed: int,
) -> None:
    chance, house = Random(seed), House()
    for _ in range(250):
        house.now_ms += chance.choice((0, 1, 20, 10**5))
        command, homes = _any(chance), house.homes()
        before = {each: dict(house.directory.roles.get(each, {})) for each in MEMBERS}
        offers = dict(house.directory.offers)
        with suppress(BailiwickError):
            house.do(command)
        for member in MEMBERS:
            held = house.directory.roles.get(member, {})
            home, was = home_of(house.directory, member), homes[member]
            if was is not None and held:
                assert home == was, (member, command)
            new = [scope for scope in held if scope not in before[member]]
            for scope in new:
                is_fleets = isinstance(command, SetMember) and command.given_by is GivenBy.FLEET
                is_known = was is None or was.tenant == scope.tenant
                assert is_fleets or is_known or (member, scope) in offers, (member, command)
    state = house.kernel.state
    assert encode(decode(encode(state), digest_of(state))) == encode(state)


def test_a_tenants_giving_to_a_stranger_is_refused_by_the_kernel_itself(house: House) -> None:
    house.do(SetMember("ann", Role.TENANT_ADMIN, "t0", None, None, GivenBy.TENANT))
    with pytest.raises(Conflict, match="at home elsewhere"):
        house.do(SetMember("ann", Role.TENANT_AUDITOR, "t1", None, None, GivenBy.TENANT))
    assert house.directory.homes == {}
    house.do(SetMember("ann", Role.TENANT_AUDITOR, "t1", None, None, GivenBy.FLEET))
    assert house.directory.homes == {"ann": Scope("t0")}


def test_an_offer_makes_nobody_known(house: House) -> None:
    house.do(OfferRole("new", "tenant_auditor", "t1", 1_000))
    assert home_of(house.directory, "new") is None
    house.do(SetMember("new", Role.TENANT_ADMIN, "t0", None, None, GivenBy.TENANT))
    assert home_of(house.directory, "new") == Scope("t0")
    house.do(EndOffer("new", OfferOutcome.ACCEPTED, "t1"))
    assert home_of(house.directory, "new") == Scope("t0")


def test_no_account_is_invited_and_no_offer_is_for_the_fleet_or_for_ever(house: House) -> None:
    house.do(CreateAccount("bot", "t0"))
    with pytest.raises(Conflict, match="beyond its own scope"):
        house.do(OfferRole("bot", "tenant_auditor", "t1", 1_000))
    with pytest.raises(Conflict, match="its scope"):
        house.do(SetHome("bot", "t1"))
    for tenant, ttl_ms in (("t1", OFFER_MS_MAX + 1), ("t1", 0)):
        with pytest.raises(InvalidValue):
            OfferRole("ann", "tenant_auditor", tenant, ttl_ms)
    with pytest.raises(InvalidValue):
        house.do(OfferRole("ann", "project_viewer", "t1", 1_000))


def test_a_name_that_became_an_accounts_accepts_nothing(house: House) -> None:
    house.do(OfferRole("ci", "tenant_auditor", "t1", 1_000))
    house.do(CreateAccount("ci", "t0"))
    with pytest.raises(Conflict, match="beyond its own scope"):
        house.do(EndOffer("ci", OfferOutcome.ACCEPTED, "t1"))

"""Commands about where somebody is at home, and roles that strangers are offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.iam import Scope
from bailiwick.journal.fields import NAME, PRINCIPAL
from bailiwick.journal.words import OfferOutcome
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind

OFFER_MS_MAX: Final = 30 * 86_400_000
"""How long an offer may stand."""


@dataclass(frozen=True, slots=True)
class OfferRole:
    """Offer a role at a tenant or project to one who is at home elsewhere; again: another one."""

    member: str
    role: str
    tenant: str
    ttl_ms: int
    project: str | None = None

    def __post_init__(self) -> None:
        PRINCIPAL.check("member", self.member)
        NAME.check("role", self.role)
        Scope.of(self.tenant, self.project)
        if self.tenant is None:
            raise InvalidValue("tenant", None, "a tenant: roles over the fleet are not offered")
        check_integer("ttl_ms", self.ttl_ms, low=1, high=OFFER_MS_MAX)


@dataclass(frozen=True, slots=True)
class EndOffer:
    """An offered role is accepted or declined by who got it, or withdrawn by who gave it."""

    member: str
    outcome: OfferOutcome
    tenant: str
    project: str | None = None

    def __post_init__(self) -> None:
        PRINCIPAL.check("member", self.member)
        check_kind("outcome", self.outcome, OfferOutcome)
        Scope.of(self.tenant, self.project)


@dataclass(frozen=True, slots=True)
class SetHome:
    """Write down where a principal is at home: a tenant, or (without one) the fleet."""

    principal: str
    tenant: str | None = None

    def __post_init__(self) -> None:
        PRINCIPAL.check("principal", self.principal)
        Scope.of(self.tenant)


HomeCommand: TypeAlias = OfferRole | EndOffer | SetHome

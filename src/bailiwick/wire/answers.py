"""Decisions on the wire: answers, denials and plans, each a closed union told apart by one word.

Rules:

- A denial is one of :mod:`.denials`.
- An answer has ``answer``; what a dry run would have done has ``plan``, and what it would cost.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.trust import MintDenial
from bailiwick.vocab.words import (
    LeaseClass,
    Priority,
)
from bailiwick.wire.base import Model, UnderRules
from bailiwick.wire.denials import Denial
from bailiwick.wire.words import EstimateWord


class Granted(Model):
    """The request runs: its leases, and the node of each."""

    answer: Literal["granted"]
    lease_ids: list[int]
    nodes: list[str]
    expires_ms: int


class Queued(Model):
    """The request waits as this entry; ``denied`` is what stood first in its way."""

    answer: Literal["queued"]
    entry_id: int
    denied: Denial | None


class Refused(Model):
    """The request does not run and does not wait."""

    answer: Literal["refused"]
    denied: Denial


class Done(Model):
    """It took effect with record number ``seq``; ``null`` if it was a dry run or nothing to do."""

    answer: Literal["done"]
    seq: int | None


class TokenDenied(Model):
    """No token for the lease, and the one reason."""

    answer: Literal["token_denied"]
    reason: Annotated[MintDenial, Field(strict=False)]


Answer: TypeAlias = Annotated[Granted | Queued | Refused | Done, Field(discriminator="answer")]


class Price(Model):
    """What a request costs at the list prices of today; ``micros_total`` is for its whole term."""

    currency: str
    micros_per_hour: int
    micros_total: int
    is_upper_bound: bool
    """Whether it is not known which GPUs it gets: then the dearest that would do count."""


class Estimate(Model):
    """When an entry may start, by our best guess, and on what that rests."""

    starts_ms: int | None
    basis: EstimateWord


class Victim(Model):
    """A lease that would have to go; of another tenant neither its number nor a name is told."""

    lease_id: int | None
    tenant: str
    priority: Annotated[Priority, Field(strict=False)]
    lease_class: Annotated[LeaseClass, Field(strict=False)]


class WouldGrant(Model):
    """The request would run at once, each member on its node."""

    plan: Literal["grant"]
    nodes: list[str]
    price: Price


class WouldPreempt(Model):
    """The request would run once these have gone, for which they have time until then."""

    plan: Literal["preempt"]
    nodes: list[str]
    victims: list[Victim]
    until_ms: int
    loss_ratio_milli: int | None
    """How dear the victims are at most, in thousandths of the cheapest; null if not known."""
    price: Price


class WouldQueue(UnderRules):
    """The request would wait; ``denied`` is null if only those before it are in its way."""

    plan: Literal["queue"]
    denied: Denial | None
    estimate: Estimate
    price: Price


class WouldRefuse(UnderRules):
    """The request would neither run nor wait."""

    plan: Literal["refuse"]
    denied: Denial
    price: Price


Plan: TypeAlias = Annotated[
    WouldGrant | WouldPreempt | WouldQueue | WouldRefuse, Field(discriminator="plan")
]

"""Strategies for bills: accounts, cards, uses under one set of prices; and a naive rating of them.

The rating here goes use by use with fractions, looks cards up by reading all of them, and rounds
with the language's own ``round``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from bailiwick.billing.invoices import Invoice, InvoiceHead, InvoiceScope
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import (
    HOUR_MS,
    LIST_PRICES,
    CardWithdrawn,
    RateBook,
    RateCard,
    RateChange,
)
from bailiwick.metering.owners import Account, Stage
from bailiwick.metering.values import Use
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.apps import ControlPlaneScope, MemberPart, OperatingMode
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, ResourceKind

END_MS = 100
"""Periods of these tests lie between 0 and this; prices change within."""
TENANTS = ("acme", "globex")
HOPPER = HardwareGeneration.NVIDIA_HOPPER
GENERATIONS = (HOPPER, HardwareGeneration.AMD_MI300, HardwareGeneration.OTHER)
# Names that would be refused elsewhere: other sources than our journal may know them.
TAGS = (None, "train", "=1+1", "-2", "@x", "+y", "'q", 'a,"b"', "two\nlines", "ünïcode")

# As much as an invoice can say at the dearest of these prices.
USED_MAX = {
    ResourceKind.CPU_MILLI: 2**50,
    ResourceKind.GPU_MILLI: 2**50,
    ResourceKind.MEM_BYTES: 2**70,
    ResourceKind.BLOCK_BYTES: 2**70,
}

WORKER = MemberUse(
    9,
    "acme.hello",
    OperatingMode.TENANT_DEDICATED,
    ControlPlaneScope.PROJECT,
    "bare_metal",
    MemberPart.WORKLOAD,
)

prices = st.one_of(st.integers(0, 9), st.integers(0, 10**9))
mille = st.one_of(st.sampled_from([0, 333, 400, 1_000, 1_300]), st.integers(0, 3_000))
times = st.integers(1, END_MS - 1)

held = st.builds(
    Account,
    st.sampled_from(TENANTS),
    st.sampled_from([None, "p1", "p2"]),
    st.sampled_from(TAGS),
    st.sampled_from(LeaseClass),
    st.sampled_from([None, *GENERATIONS]),
    member=st.sampled_from([None, None, WORKER, WORKER._replace(instance_id=10)]),
)


@st.composite
def accounts(draw: Any) -> Account:
    account: Account = draw(held)
    stage = draw(st.sampled_from(Stage))
    if stage is Stage.HELD:
        return account
    reason = draw(st.one_of(st.none(), st.sampled_from(PreemptionReason)))
    return replace(account, stage=stage, reason=reason)


@st.composite
def cards(draw: Any) -> RateCard:
    tenant = draw(st.sampled_from([None, *TENANTS]))
    return RateCard(
        currency="credit",
        gpu_micros_per_hour={each: draw(prices) for each in GENERATIONS}
        | {each: 7 for each in HardwareGeneration if each not in GENERATIONS},
        core_micros_per_hour=draw(prices),
        mem_micros_per_gib_hour=draw(prices),
        block_micros_per_gib_hour=draw(prices),
        class_per_mille={each: draw(mille) for each in LeaseClass},
        effective_ms=draw(times),
        name=draw(st.sampled_from(["list", "ours"])),
        tenant=tenant,
    )


withdrawals = st.builds(CardWithdrawn, st.sampled_from(TENANTS), times, st.just("ours"))
changes = st.lists(st.one_of(cards(), cards(), withdrawals), max_size=4)


@st.composite
def uses(draw: Any, book: RateBook) -> list[Use]:
    """Uses whose windows cross no change of prices."""
    cuts = [0, *book.edges(0, END_MS), END_MS]
    # Few of them, so that several uses meet on one line.
    whose = draw(st.lists(accounts(), min_size=1, max_size=2))
    kinds = draw(st.lists(st.sampled_from(ResourceKind), min_size=1, max_size=2))
    found = []
    for _ in range(draw(st.integers(0, 8))):
        index = draw(st.integers(0, len(cuts) - 2))
        from_ms = draw(st.integers(cuts[index], cuts[index + 1] - 1))
        to_ms = draw(st.integers(from_ms + 1, cuts[index + 1]))
        kind = draw(st.sampled_from(kinds))
        used = draw(st.one_of(st.integers(0, 50), st.integers(0, USED_MAX[kind])))
        first = draw(st.integers(0, 500))
        last = draw(st.integers(first, 900))
        counted = draw(st.integers(1, 5))
        account = draw(st.sampled_from(whose))
        found.append(Use(account, kind, from_ms, to_ms, used, counted, first, last))
    return found


@st.composite
def rated(draw: Any) -> tuple[list[RateChange], list[Use]]:
    """Cards, in the order they were set, and uses under them."""
    found = draw(changes)
    return found, draw(uses(RateBook(found)))


# -- the naive rating ------------------------------------------------------------------------


def naive_card(book: Sequence[RateChange], tenant: str | None, at_ms: int) -> RateCard:
    """The card that holds: the last set of the latest effective, the tenant's own first."""

    def latest(whose: str | None) -> RateChange | None:
        found = None
        for each in book:
            if each.tenant != whose or each.effective_ms > at_ms:
                continue
            if found is None or each.effective_ms >= found.effective_ms:
                found = each
        return found

    own = latest(tenant) if tenant is not None else None
    if isinstance(own, RateCard):
        return own
    listed = latest(None)
    return listed if isinstance(listed, RateCard) else LIST_PRICES


def naive_is_charged(account: Account) -> bool:
    """The rules of the brief, written out once more."""
    own = {"budget_exhausted", "cost_cap_eviction", "burst_credit_exhausted"}
    if account.stage is Stage.HELD:
        return True
    if account.stage is Stage.TEARDOWN or account.reason is None:
        return False
    return account.reason.value in own or account.lease_class is LeaseClass.SPOT


def naive_price(card: RateCard, use: Use) -> Fraction:
    """What one unit of what the meter counts costs, in micros."""
    generation = use.account.generation or HardwareGeneration.OTHER
    by_kind = {
        ResourceKind.CPU_MILLI: Fraction(card.core_micros_per_hour, 1000),
        ResourceKind.GPU_MILLI: Fraction(card.gpu_micros_per_hour[generation], 1000),
        ResourceKind.MEM_BYTES: Fraction(card.mem_micros_per_gib_hour, GIB),
        ResourceKind.BLOCK_BYTES: Fraction(card.block_micros_per_gib_hour, GIB),
    }
    share = Fraction(card.class_per_mille[use.account.lease_class], 1000)
    return by_kind[use.kind] / HOUR_MS * share


def naive_cost(book: Sequence[RateChange], use: Use, *, tenant: str | None) -> Fraction:
    """What one use costs, exactly."""
    if not naive_is_charged(use.account):
        return Fraction(0)
    return naive_price(naive_card(book, tenant, use.from_ms), use) * use.used


# -- invoices --------------------------------------------------------------------------------


def head(invoice_id: str = "inv-1", *, tenant: str = "acme", **given: Any) -> InvoiceHead:
    """A head of the whole period."""
    fields: dict[str, Any] = {
        "from_ms": 0,
        "to_ms": END_MS,
        "currency": "credit",
        "journal_size": 1_000,
    }
    return InvoiceHead(invoice_id=invoice_id, tenant=tenant, **(fields | given))


def invoice(lines: Iterable[RatedLine], invoice_id: str = "inv-1", **given: Any) -> Invoice:
    """An invoice of those lines that are its own."""
    top = head(invoice_id, **given)
    return Invoice(top, tuple(line for line in lines if top.covers(line)))


scopes = st.one_of(
    st.just({"scope": InvoiceScope.TENANT}),
    st.sampled_from([None, "p1", "p2"]).map(
        lambda project: {"scope": InvoiceScope.PROJECT, "project": project}
    ),
)

"""Rating: worked examples, what splits a line, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.billing import rating
from bailiwick.billing.charges import ChargeCause
from bailiwick.billing.lines import FREE, Price, decimal_text, money_text, unit_of
from bailiwick.billing.rates import HOUR_MS, LIST_PRICES, CardWithdrawn, RateBook, RateCard
from bailiwick.billing.rating import rate
from bailiwick.metering.owners import Account, Stage
from bailiwick.metering.values import Use
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, ResourceKind

HOPPER = HardwareGeneration.NVIDIA_HOPPER
ACME = Account("acme", "p1", "train", LeaseClass.STANDARD, HOPPER)
GPU, MEM = ResourceKind.GPU_MILLI, ResourceKind.MEM_BYTES


def use(
    account: Account = ACME,
    kind: ResourceKind = GPU,
    *,
    amount: int = 1000,
    from_ms: int = 0,
    to_ms: int = HOUR_MS,
) -> Use:
    return Use(account, kind, from_ms, to_ms, amount * (to_ms - from_ms), 1, 1, 2)


def flat_card(**prices: int) -> RateCard:
    """A card with one price for GPUs of every generation."""
    gpu = dict.fromkeys(HardwareGeneration, prices.pop("gpu", 0))
    free = {
        "core_micros_per_hour": 0,
        "mem_micros_per_gib_hour": 0,
        "block_micros_per_gib_hour": 0,
    }
    return replace(LIST_PRICES, gpu_micros_per_hour=gpu, **(free | prices))


def test_two_minutes_of_a_gpu_are_120_gpu_seconds() -> None:
    (line,) = rate([use(to_ms=120_000)], RateBook())
    assert (line.quantity, unit_of(GPU).name) == ("120", "GPU-Seconds")
    assert line.used == 120 * 10**6


def test_an_hour_of_80_gib_is_288_000_gib_seconds() -> None:
    (line,) = rate([use(kind=MEM, amount=80 * GIB)], RateBook())
    assert (line.quantity, unit_of(MEM).name) == ("288000", "GiB-Seconds")


def test_a_gpu_hour_at_a_hundredth_a_second_is_36_units_or_36_cents() -> None:
    by_the_second = 10_000 * 3600  # 0.01 a second
    book = RateBook([replace(flat_card(gpu=by_the_second), effective_ms=1)])
    (line,) = rate([use(from_ms=1, to_ms=HOUR_MS + 1)], book)
    assert money_text(line.cost_micros) == "36.000000"
    assert decimal_text(line.cost_micros, 8) == "0.36"  # a hundred units are one dollar


def test_a_change_of_prices_gives_two_lines() -> None:
    half = HOUR_MS // 2
    dearer = replace(flat_card(gpu=4_800_000), effective_ms=half, name="dearer")
    uses = [use(to_ms=half), use(from_ms=half)]
    first, second = rate(uses, RateBook([dearer]))
    assert [(each.key.card.name, each.cost_micros) for each in (first, second)] == [
        ("dearer", 2_400_000),
        ("list", 1_200_000),
    ]
    assert (first.from_ms, first.to_ms, second.to_ms) == (half, HOUR_MS, half)


def test_a_window_across_a_change_of_prices_is_refused() -> None:
    book = RateBook([replace(LIST_PRICES, tenant="globex", effective_ms=500)])
    with pytest.raises(InvalidValue, match="an end by 500"):
        rate([use()], book)


def test_a_tenants_own_card_leaves_no_trace_on_the_lines_of_others() -> None:
    half = HOUR_MS // 2
    ours = replace(flat_card(gpu=1), tenant="globex", effective_ms=half, name="ours")
    whole = rate([use()], RateBook())
    assert rate([use(to_ms=half), use(from_ms=half)], RateBook([ours]))[0] == replace(
        whole[0], segments=2
    )


def test_a_tenants_own_card_is_rated_beside_what_the_list_would_have_asked() -> None:
    ours = replace(flat_card(gpu=1_000_000), tenant="acme", effective_ms=1, name="ours")
    gone = CardWithdrawn("acme", HOUR_MS + 1, "ours")
    book = RateBook([ours, gone])
    own, after = rate(
        [use(from_ms=1, to_ms=HOUR_MS + 1), use(from_ms=HOUR_MS + 1, to_ms=2 * HOUR_MS + 1)], book
    )[::-1]
    assert (own.key.card.tenant, own.cost_micros, own.list_cost_micros) == (
        "acme",
        1_000_000,
        2_400_000,
    )
    assert (after.key.card.tenant, after.cost_micros) == (None, 2_400_000)
    assert after.cost_micros == after.list_cost_micros


@pytest.mark.parametrize(
    ("stage", "reason", "lease_class", "cause", "is_charged"),
    [
        (Stage.HELD, None, LeaseClass.STANDARD, None, True),
        (
            Stage.GRACE,
            PreemptionReason.OPERATOR_DRAIN,
            LeaseClass.STANDARD,
            ChargeCause.PREEMPTED,
            False,
        ),
        (
            Stage.GRACE,
            PreemptionReason.BUDGET_EXHAUSTED,
            LeaseClass.STANDARD,
            ChargeCause.OWN_LIMIT,
            True,
        ),
        (
            Stage.GRACE,
            PreemptionReason.PRIORITY_PREEMPTION,
            LeaseClass.SPOT,
            ChargeCause.SPOT_EVICTED,
            True,
        ),
        (Stage.TEARDOWN, None, LeaseClass.STANDARD, ChargeCause.EXPIRED, False),
    ],
)
def test_a_line_says_its_stage_its_cause_and_whether_it_is_charged(
    stage: Stage,
    reason: PreemptionReason | None,
    *,
    lease_class: LeaseClass,
    cause: ChargeCause | None,
    is_charged: bool,
) -> None:
    account = replace(ACME, stage=stage, reason=reason, lease_class=lease_class)
    (line,) = rate([use(account)], RateBook())
    assert (line.key.stage, line.key.cause) == (stage, cause)
    assert line.quantity == "3600"
    assert (line.key.price != FREE) is line.key.is_charged is is_charged
    assert (line.cost_micros > 0) is is_charged


def test_gpus_of_no_known_generation_are_priced_as_other() -> None:
    account = replace(ACME, generation=None)
    gpu, cores = sorted(
        rate([use(account), use(account, ResourceKind.CPU_MILLI)], RateBook()),
        key=lambda line: line.cost_micros,
        reverse=True,
    )
    assert (gpu.key.generation, gpu.cost_micros) == (HardwareGeneration.OTHER, 500_000)
    assert (cores.key.generation, cores.cost_micros) == (None, 20_000)


def test_a_tie_goes_to_the_even_micro_once_for_a_line() -> None:
    book = RateBook([replace(flat_card(gpu=1), effective_ms=1)])
    half = use(amount=500, from_ms=1, to_ms=HOUR_MS + 1)
    assert [rate([half] * n, book)[0].cost_micros for n in (1, 2, 3, 5)] == [0, 1, 2, 2]


def test_what_used_nothing_has_no_line() -> None:
    assert rate([use(amount=0)], RateBook()) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        use()._replace(to_ms=0),
        use()._replace(from_ms=-1),
        use()._replace(used=-1),
    ],
)
def test_a_use_that_cannot_be_is_refused(wrong: Use) -> None:
    with pytest.raises(InvalidValue):
        rate([wrong], RateBook())


def test_more_lines_than_a_bill_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "LINES_MAX", 1)
    assert len(rate([use(), use()], RateBook())) == 1
    with pytest.raises(LimitReached, match="lines of a bill"):
        rate([use(), use(kind=MEM)], RateBook())


def test_amounts_are_told_exactly() -> None:
    assert unit_of(MEM).seconds(1) == "0.000000000000931322574615478515625"
    assert unit_of(GPU).seconds(-1_500_001) == "-1.500001"
    assert unit_of(GPU).hours(1_200 * 10**6) == "0.333333333333"
    assert Price(10**15, 1_333).text() == "1333000000"

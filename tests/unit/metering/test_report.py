"""A report adds up what was metered, in any grouping, and never claims what does not hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.owners import IDLE, UNAVAILABLE, Account, Stage, UnavailableCause
from bailiwick.metering.report import (
    ROW_WORDS,
    Finding,
    ReportFindingWord,
    ReportSpan,
    add_up,
    make_report,
)
from bailiwick.metering.values import Balance, Line
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind

GPU, CPU = ResourceKind.GPU_MILLI, ResourceKind.CPU_MILLI
HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
SPAN = ReportSpan(0, 1_000)

accounts = st.builds(
    Account,
    tenant=st.sampled_from(("lab", "uni")),
    project=st.sampled_from((None, "vision", "nlp")),
    tag=st.sampled_from((None, "exp-7")),
    lease_class=st.sampled_from(LeaseClass),
    generation=st.sampled_from((HOPPER, AMPERE)),
    stage=st.sampled_from(Stage),
)
payers = st.one_of(
    accounts, st.just(IDLE), st.sampled_from(UnavailableCause).map(UNAVAILABLE.__getitem__)
)


def balances_of(totals: dict[Line, int]) -> list[Balance]:
    """What the meter would say of the same sums."""
    owned: dict[tuple[ResourceKind, HardwareGeneration | None], int] = {}
    for line, used in totals.items():
        key = (line.kind, line.generation)
        owned[key] = owned.get(key, 0) + used
    return [Balance(*key, used, used) for key, used in owned.items()]


@st.composite
def sums(draw: st.DrawFn) -> dict[Line, int]:
    found: dict[Line, int] = {}
    for payer in draw(st.lists(payers, max_size=12)):
        generation = (
            payer.generation
            if isinstance(payer, Account)
            else draw(st.sampled_from((HOPPER, AMPERE)))
        )
        line = Line(GPU, generation, payer)
        found[line] = found.get(line, 0) + draw(st.integers(0, 10**12))
        if isinstance(payer, Account) and draw(st.booleans()):
            found[Line(CPU, None, payer)] = draw(st.integers(1, 10**12))
    return found


@given(sums(), st.lists(st.sampled_from(ROW_WORDS), unique=True))
def test_rows_sum_to_what_was_leased_however_they_are_put_together(
    totals: dict[Line, int], by: list[str]
) -> None:
    report = make_report(totals, balances_of(totals), span=SPAN)
    rows = add_up(report.rows, by)
    for kind in (GPU, CPU):
        leased = sum(each.leased for each in report.equations if each.kind is kind)
        assert sum(row.used.get(kind, 0) for row in rows) == leased
    keys = [tuple(getattr(row, word) for word in by) for row in rows]
    assert len(set(keys)) == len(keys)


@given(sums())
def test_every_sum_is_in_exactly_one_place_of_the_report(totals: dict[Line, int]) -> None:
    report = make_report(totals, balances_of(totals), span=SPAN)
    for each in report.equations:
        mine = {
            k: v
            for k, v in totals.items()
            if (k.kind, k.generation) == (each.kind, each.generation)
        }
        assert each.idle == sum(used for line, used in mine.items() if line.payer == IDLE)
        for cause in UnavailableCause:
            told = sum(u for line, u in mine.items() if line.payer == UNAVAILABLE[cause])
            assert each.unavailable.get(cause, 0) == told
        assert each.holds
        assert each.owned == sum(mine.values()) == each.capacity


def test_stages_of_one_account_are_one_row() -> None:
    held = Account("lab", None, None, LeaseClass.SPOT, HOPPER)
    grace = Account("lab", None, None, LeaseClass.SPOT, HOPPER, Stage.GRACE)
    totals = {Line(GPU, HOPPER, held): 3, Line(GPU, HOPPER, grace): 4}
    (row,) = make_report(totals, balances_of(totals), span=SPAN).rows
    assert row.used == {GPU: 7}


def test_sums_that_are_not_the_capacity_stop_the_report() -> None:
    totals = {Line(GPU, HOPPER, IDLE): 5}
    with pytest.raises(InvariantBroken, match="5 owned, 6 there"):
        make_report(totals, [Balance(GPU, HOPPER, 5, 6)], span=SPAN)


def test_capacity_that_nobody_owned_stops_the_report() -> None:
    with pytest.raises(InvariantBroken):
        make_report({}, [Balance(GPU, HOPPER, 6, 6)], span=SPAN)


def test_gpu_equations_come_first_by_generation() -> None:
    totals = {Line(CPU, None, IDLE): 1, Line(GPU, HOPPER, IDLE): 1, Line(GPU, AMPERE, IDLE): 1}
    report = make_report(totals, balances_of(totals), span=SPAN)
    found = [(each.kind, each.generation) for each in report.equations]
    assert found == [(GPU, AMPERE), (GPU, HOPPER), (CPU, None)]


def test_a_findings_gpu_time_is_its_length_times_its_gpus() -> None:
    finding = Finding(ReportFindingWord.CHARGED_PAST_END, "7", by_ms=8_936, gpus=2)
    assert finding.gpu_micro_seconds == 17_872_000

"""The stand-alone meter against a naive one that looks at every device at every instant."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.event_fold import EventMeter
from bailiwick.metering.events import (
    LeaseEnded,
    LeaseStarted,
    MeterEvent,
    NodeAppeared,
    NodeBack,
    NodeGone,
    NodeUnavailable,
)
from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.report import Finding, Report, ReportFindingWord
from bailiwick.vocab.words import EndCause, HardwareGeneration, ResourceKind

GPU = ResourceKind.GPU_MILLI
HOPPER = HardwareGeneration.NVIDIA_HOPPER
NODE = NodeAppeared("n1", (HOPPER, HOPPER))


def meter(*events: tuple[int, MeterEvent], to_ms: int) -> Report:
    found = EventMeter()
    for at_ms, event in events:
        found.add(at_ms, event)
    return found.report(to_ms)


def used(report: Report, tenant: str) -> int:
    return sum(row.used.get(GPU, 0) for row in report.rows if row.tenant == tenant)


def words(report: Report) -> list[tuple[ReportFindingWord, str]]:
    return [(each.word, each.subject) for each in report.findings]


# -- the naive meter -------------------------------------------------------------------------


@dataclass
class Naive:
    """Who holds each of two devices now, looked at once for every millisecond."""

    holder: dict[int, str] = field(default_factory=dict)
    tenant: dict[str, str] = field(default_factory=dict)
    cause: str = "idle"
    ticks: dict[str, int] = field(default_factory=dict)
    overlaps: int = 0

    def tick(self) -> None:
        for device in (0, 1):
            lease = self.holder.get(device)
            owner = self.cause if lease is None else self.tenant[lease]
            self.ticks[owner] = self.ticks.get(owner, 0) + 1

    def apply(self, event: MeterEvent) -> None:
        match event:
            case LeaseStarted(lease=lease, tenant=tenant, devices=devices):
                if lease in self.tenant:
                    return
                self.tenant[lease] = tenant
                if any(device in self.holder for device in devices):
                    self.overlaps += 1
                    return
                self.holder |= dict.fromkeys(devices, lease)
            case LeaseEnded(lease=lease):
                self.tenant.pop(lease, None)
                self.holder = {d: each for d, each in self.holder.items() if each != lease}
            case NodeUnavailable(cause=cause):
                self.cause = cause.value
            case NodeBack():
                self.cause = "idle"
            case _:
                raise AssertionError(event)


events = st.one_of(
    st.builds(
        LeaseStarted,
        lease=st.sampled_from("abcd"),
        node=st.just("n1"),
        tenant=st.sampled_from(("lab", "uni")),
        devices=st.sampled_from(((0,), (1,), (0, 1))),
    ),
    st.builds(LeaseEnded, lease=st.sampled_from("abcd")),
    st.builds(
        NodeUnavailable,
        node=st.just("n1"),
        cause=st.sampled_from((UnavailableCause.DRAINED, UnavailableCause.MAINTENANCE)),
    ),
    st.builds(NodeBack, node=st.just("n1")),
)


@given(st.lists(st.tuples(st.integers(0, 5), events), max_size=25))
def test_the_report_is_what_a_look_at_every_device_at_every_instant_gives(
    steps: list[tuple[int, MeterEvent]],
) -> None:
    naive, found, clock = Naive(), EventMeter(), 0
    found.add(0, NODE)
    for wait_ms, event in steps:
        for _ in range(wait_ms):
            naive.tick()
        clock += wait_ms
        naive.apply(event)
        found.add(clock, event)
    naive.tick()
    report = found.report(clock + 1)
    (equation,) = report.equations
    for tenant in ("lab", "uni"):
        assert used(report, tenant) == naive.ticks.get(tenant, 0) * 1000
    assert equation.idle == naive.ticks.get("idle", 0) * 1000
    causes = {cause.value: amount // 1000 for cause, amount in equation.unavailable.items()}
    expected = {cause: naive.ticks.get(cause, 0) for cause in ("drained", "maintenance")}
    assert causes == {cause: count for cause, count in expected.items() if count}
    assert equation.owned == equation.capacity == 2 * (clock + 1) * 1000
    overlaps = [each for each in report.findings if each.word is ReportFindingWord.OVERLAP]
    assert len(overlaps) == naive.overlaps
    assert all(each.others for each in overlaps)


# -- one thing at a time ---------------------------------------------------------------------


def test_two_leases_on_one_device_are_named_and_the_second_is_not_counted() -> None:
    first = LeaseStarted("job-1", "n1", "lab", devices=(0, 1))
    second = LeaseStarted("job-2", "n1", "uni", devices=(1,))
    report = meter((0, NODE), (10, first), (20, second), (30, LeaseEnded("job-2")), to_ms=100)
    assert used(report, "lab") == 2 * 90 * 1000
    assert used(report, "uni") == 0
    (finding,) = report.findings
    assert (finding.word, finding.subject, finding.others) == (
        ReportFindingWord.OVERLAP,
        "job-2",
        ("job-1",),
    )
    assert (finding.wanted, finding.found, finding.node, finding.at_ms) == (1, 0, "n1", 20)


def test_a_lease_charged_past_its_end_is_named_with_the_gpu_time_that_is_too_much() -> None:
    report = meter(
        (0, NODE),
        (1_000, LeaseStarted("job-1", "n1", "lab", devices=(0, 1))),
        (9_000, LeaseEnded("job-1", ended_ms=6_500)),
        to_ms=9_000,
    )
    assert used(report, "lab") == 2 * 8_000 * 1000
    (finding,) = report.findings
    assert finding == Finding(
        ReportFindingWord.CHARGED_PAST_END, "job-1", at_ms=9_000, by_ms=2_500, gpus=2, node="n1"
    )
    assert finding.gpu_micro_seconds == 5_000_000


def test_a_lost_node_is_departed_from_its_last_sign_on_and_its_leases_need_no_end() -> None:
    report = meter(
        (0, NODE),
        (10, LeaseStarted("job-1", "n1", "lab", devices=(0,))),
        (100, NodeGone("n1", last_seen_ms=70)),
        (110, LeaseEnded("job-1", EndCause.NODE_DEPARTED)),
        to_ms=200,
    )
    assert used(report, "lab") == 60 * 1000
    (equation,) = report.equations
    assert equation.unavailable == {UnavailableCause.DEPARTED: 2 * 30 * 1000}
    assert equation.capacity == 2 * 100 * 1000
    assert report.findings == ()


def test_a_loss_told_after_somebody_was_charged_for_that_time_is_named() -> None:
    report = meter(
        (0, NODE),
        (50, LeaseStarted("job-1", "n1", "lab", devices=(0,))),
        (100, NodeGone("n1", last_seen_ms=30)),
        to_ms=100,
    )
    assert (ReportFindingWord.CHARGED_PAST_END, "job-1") in words(report)


def test_a_quarantined_node_is_back_with_one_event() -> None:
    closed = NodeUnavailable("n1", UnavailableCause.QUARANTINED)
    report = meter((0, NODE), (10, closed), (30, NodeBack("n1")), to_ms=50)
    (equation,) = report.equations
    assert equation.unavailable == {UnavailableCause.QUARANTINED: 2 * 20 * 1000}
    assert equation.idle == 2 * 30 * 1000


def test_half_a_device_is_half_its_time() -> None:
    half = LeaseStarted("job-1", "n1", "lab", devices=(0,), resources={GPU: 500})
    other = LeaseStarted("job-2", "n1", "uni", devices=(0,), resources={GPU: 500})
    report = meter((0, NODE), (0, half), (0, other), to_ms=10)
    assert (used(report, "lab"), used(report, "uni")) == (5_000, 5_000)
    assert report.findings == ()


@pytest.mark.parametrize(
    ("event", "word", "subject"),
    [
        (LeaseEnded("ghost"), ReportFindingWord.UNKNOWN_LEASE, "ghost"),
        (LeaseStarted("job-1", "n9", "lab", devices=(0,)), ReportFindingWord.UNKNOWN_NODE, "job-1"),
        (NodeGone("n9"), ReportFindingWord.UNKNOWN_NODE, "n9"),
        (NodeBack("n9"), ReportFindingWord.UNKNOWN_NODE, "n9"),
        (NODE, ReportFindingWord.ALREADY_THERE, "n1"),
        (LeaseStarted("job-1", "n1", "lab", devices=(7,)), ReportFindingWord.OVERLAP, "job-1"),
        (
            LeaseStarted("held", "n1", "lab", devices=(1,)),
            ReportFindingWord.ALREADY_STARTED,
            "held",
        ),
    ],
)
def test_what_cannot_be_is_named_and_changes_no_sum(
    event: MeterEvent, word: ReportFindingWord, subject: str
) -> None:
    held = (0, LeaseStarted("held", "n1", "uni", devices=(0,)))
    report = meter((0, NODE), held, (5, event), to_ms=10)
    assert words(report) == [(word, subject)]
    assert used(report, "uni") == 10_000
    assert used(report, "lab") == 0
    assert report.equations[0].holds


def test_a_name_may_be_used_again_after_its_end() -> None:
    start = LeaseStarted("job-1", "n1", "lab", devices=(0,))
    report = meter((0, NODE), (0, start), (5, LeaseEnded("job-1")), (5, start), to_ms=10)
    assert used(report, "lab") == 10_000
    assert report.findings == ()

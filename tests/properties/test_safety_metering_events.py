"""What a file of events comes to depends on what happened, never on the names of who told it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.event_fold import EventMeter
from bailiwick.metering.event_log import EventLog
from bailiwick.metering.events import MeterEvent, Sent, parse_line
from bailiwick.metering.report import Report
from bailiwick.vocab.words import ResourceKind

GPU = ResourceKind.GPU_MILLI
DEVICES = 2
# Before and after every other name in any order that a name could be put into.
NAMES = ("0", "00", "Z", "a", "a.", "ctl", "z", "zz-9")

Told = tuple[int, dict[str, Any]]
"""When something happened, and what."""

NODE: Told = (0, {"kind": "node_appeared", "node": "n1", "gpus": ["nvidia_hopper"] * DEVICES})


def sent_by(source: str, told: Sequence[Told]) -> list[Sent]:
    """What a source sends, in its own order."""
    head = {"source": source, "epoch": 1}
    lines = [
        json.dumps(head | {"sequence": number, "at_ms": at_ms} | event).encode()
        for number, (at_ms, event) in enumerate(told)
    ]
    return [parse_line(line, line=number) for number, line in enumerate(lines, 1)]


def story_of(sources: dict[str, list[Told]]) -> tuple[list[MeterEvent], Report]:
    log, meter, story = EventLog(), EventMeter(), []
    for source, told in sources.items():
        for sent in sent_by(source, told):
            log.add(sent)
    for sent in log.story():
        meter.add(sent.at_ms, sent.event)
        story.append(sent.event)
    return story, meter.report(findings=log.findings)


# -- what fits is counted, whoever tells it --------------------------------------------------


@dataclass(frozen=True)
class Stay:
    """One lease on one device, from a time to a later one."""

    lease: str
    tenant: str
    device: int
    from_ms: int
    to_ms: int

    def start(self) -> Told:
        event = {"kind": "lease_started", "lease": self.lease, "node": "n1"}
        return self.from_ms, event | {"tenant": self.tenant, "devices": [self.device]}

    def end(self) -> Told:
        return self.to_ms, {"kind": "lease_ended", "lease": self.lease, "cause": "released"}


@st.composite
def stays(draw: st.DrawFn) -> list[Stay]:
    """Leases that never meet on a device; most begin where the one before ends."""
    found = []
    for device in range(DEVICES):
        clock = 0
        for _ in range(draw(st.integers(0, 5))):
            clock += draw(st.sampled_from([0, 0, 0, 1]))
            until = clock + draw(st.integers(1, 3))
            tenant = draw(st.sampled_from(["lab", "uni"]))
            found.append(Stay(f"job-{len(found)}", tenant, device, clock, until))
            clock = until
    return found


@st.composite
def handed_out(draw: st.DrawFn, told: Iterable[Told]) -> dict[str, list[Told]]:
    """Every event told by some source, each source in an order of its own within an instant."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    found: dict[str, list[Told]] = {name: [] for name in names}
    for each in draw(st.permutations(list(told))):
        found[draw(st.sampled_from(names))].append(each)
    # Nobody tells of a lease on a node before they tell of the node itself.
    return {
        name: sorted(rows, key=lambda row: (row[0], row is not NODE))
        for name, rows in found.items()
    }


@given(st.data())
def test_no_time_is_lost_whoever_tells_what_and_whatever_they_are_called(
    data: st.DataObject,
) -> None:
    leases = data.draw(stays())
    told = [NODE, *(row for each in leases for row in (each.start(), each.end()))]
    _, report = story_of(data.draw(handed_out(told)))
    assert report.findings == ()
    for tenant in ("lab", "uni"):
        used = sum(row.used.get(GPU, 0) for row in report.rows if row.tenant == tenant)
        held = sum(each.to_ms - each.from_ms for each in leases if each.tenant == tenant)
        assert used == 1000 * held


# -- whatever is told, names change nothing --------------------------------------------------

leases = st.sampled_from(["job-1", "job-2", "job-3"])
nodes = st.sampled_from(["n1", "n2"])
anything = st.one_of(
    st.builds(
        lambda lease, node, device: {
            "kind": "lease_started",
            "lease": lease,
            "node": node,
            "tenant": "lab",
            "devices": [device],
        },
        leases,
        nodes,
        st.integers(0, DEVICES - 1),
    ),
    st.builds(lambda lease: {"kind": "lease_ended", "lease": lease, "cause": "released"}, leases),
    st.builds(lambda node: NODE[1] | {"node": node}, nodes),
    st.builds(lambda node: {"kind": "node_unavailable", "node": node, "cause": "drained"}, nodes),
    st.builds(lambda node: {"kind": "node_back", "node": node}, nodes),
    st.builds(lambda node: {"kind": "node_gone", "node": node}, nodes),
)
tales = st.lists(
    st.lists(st.tuples(st.integers(0, 3), anything), max_size=6), min_size=2, max_size=3
)


@given(tales, st.permutations(NAMES), st.permutations(NAMES))
def test_other_names_for_the_sources_change_neither_the_story_nor_a_sum(
    tales: list[list[Told]], names: list[str], others: list[str]
) -> None:
    first, before = story_of(dict(zip(names, tales, strict=False)))
    second, after = story_of(dict(zip(others, tales, strict=False)))
    assert first == second
    assert before.rows == after.rows
    assert before.equations == after.equations
    assert _unnamed(before) == _unnamed(after)


def _unnamed(report: Report) -> list[str]:
    """Findings without the names of sources and the numbers of their lines."""
    found = (replace(each, line=0, subject=each.subject.split(" ")[-1]) for each in report.findings)
    return sorted(map(repr, found))


@given(tales)
def test_each_sources_order_holds_for_what_concerns_the_same_lease_or_node(
    tales: list[list[Told]],
) -> None:
    log = EventLog()
    sources = dict(zip(NAMES, tales, strict=False))
    for source, told in sources.items():
        for sent in sent_by(source, told):
            log.add(sent)
    story = list(log.story())
    for source in sources:
        for name in ("lease", "node"):
            _check_order([each for each in story if each.source == source], name)


def _check_order(own: list[Sent], name: str) -> None:
    for subject in {getattr(each.event, name, None) for each in own} - {None}:
        numbers = [each.sequence for each in own if getattr(each.event, name, None) == subject]
        assert numbers == sorted(numbers)

"""Lines of JSON become events, strictly; many sources become one story, whatever their order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering import event_log
from bailiwick.metering.event_log import EventLog
from bailiwick.metering.events import (
    LINE_BYTES_MAX,
    LeaseEnded,
    LeaseStarted,
    NodeAppeared,
    NodeBack,
    NodeGone,
    NodeUnavailable,
    Sent,
    parse_line,
)
from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.report import ReportFindingWord
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import EndCause, HardwareGeneration, LeaseClass, ResourceKind

BACK = {"kind": "node_back", "node": "n1"}


def line(fields: dict[str, Any], *, source: str = "s", epoch: int = 1, sequence: int = 0) -> bytes:
    name = {"source": source, "epoch": epoch, "sequence": sequence, "at_ms": 5}
    return json.dumps(name | fields).encode()


def parse(fields: dict[str, Any]) -> object:
    return parse_line(line(fields), line=3).event


START = {"kind": "lease_started", "lease": "j", "node": "n1", "tenant": "lab"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"kind": "node_appeared", "node": "n1", "gpus": ["nvidia_hopper"]},
            NodeAppeared("n1", (HardwareGeneration.NVIDIA_HOPPER,)),
        ),
        (
            {"kind": "node_appeared", "node": "n1", "resources": {"cpu_milli": 8000}},
            NodeAppeared("n1", (), {ResourceKind.CPU_MILLI: 8000}),
        ),
        (
            {"kind": "node_unavailable", "node": "n1", "cause": "drained"},
            NodeUnavailable("n1", UnavailableCause.DRAINED),
        ),
        (BACK, NodeBack("n1")),
        ({"kind": "node_gone", "node": "n1", "last_seen_ms": 3}, NodeGone("n1", 3)),
        (
            START | {"project": "p", "tag": "t", "class": "spot", "devices": [3, 1]},
            LeaseStarted("j", "n1", "lab", "p", "t", LeaseClass.SPOT, (1, 3)),
        ),
        (START, LeaseStarted("j", "n1", "lab")),
        (
            {"kind": "lease_ended", "lease": "j", "cause": "preempted", "ended_ms": 4},
            LeaseEnded("j", EndCause.PREEMPTED, 4),
        ),
    ],
)
def test_each_kind_of_event_is_told_by_its_own_fields(
    fields: dict[str, Any], expected: object
) -> None:
    assert parse(fields) == expected


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "lunch"}, "kind"),
        ({"kind": "node_back"}, "node"),
        (BACK | {"colour": "red"}, "colour"),
        (BACK | {"at_ms": True}, "at_ms"),
        (BACK | {"at_ms": -1}, "at_ms"),
        (BACK | {"at_ms": 1.5}, "number"),
        (BACK | {"at_ms": float("nan")}, "number"),
        (BACK | {"epoch": 0}, "epoch"),
        (BACK | {"sequence": "1"}, "sequence"),
        (BACK | {"source": "a b"}, "source"),
        (BACK | {"node": "n/1"}, "node"),
        ({"kind": "node_appeared", "node": "n1", "gpus": ["hopper"]}, "gpus"),
        ({"kind": "node_appeared", "node": "n1", "gpus": "nvidia_hopper"}, "gpus"),
        ({"kind": "node_appeared", "node": "n1", "resources": {"gpu_milli": 1}}, "gpu_milli"),
        ({"kind": "node_unavailable", "node": "n1", "cause": "departed"}, "cause"),
        (START | {"devices": [0, 0]}, "devices"),
        (START | {"devices": [1024]}, "devices"),
        (START | {"class": "gold"}, "class"),
        (START | {"lease": "a\nb"}, "lease"),
        (START | {"devices": [0], "resources": {"gpu_milli": 1001}}, "gpu_milli"),
        (START | {"devices": [0, 1, 2], "resources": {"gpu_milli": 1000}}, "gpu_milli"),
        (START | {"devices": [0], "resources": {"gpu_milli": 0}}, "gpu_milli"),
        (START | {"resources": {"gpu_milli": 500}}, "gpu_milli"),
        (START | {"resources": {"cpu_milli": -1}}, "cpu_milli"),
        ({"kind": "lease_ended", "lease": "j", "cause": "bored"}, "cause"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^line 3: .*{field}"):
        parse(fields)


@pytest.mark.parametrize("text", [b"", b"[]", b"7", b"{", b"\xff", b'{"a":1}{"b":2}', b"[" * 9_999])
def test_what_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidValue, match=r"^line 8: event: expected a JSON object"):
        parse_line(text, line=8)


def test_a_field_told_twice_is_refused() -> None:
    with pytest.raises(InvalidValue, match="line 1: node: expected each field once"):
        parse_line(line(BACK)[:-1] + b', "node": "n2"}', line=1)


def test_a_line_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(InvalidValue, match="at most 65536 bytes"):
        parse_line(b"{" * (LINE_BYTES_MAX + 1), line=1)


@given(st.binary(max_size=80))
def test_no_bytes_do_anything_but_parse_or_be_refused(text: bytes) -> None:
    with pytest.raises(InvalidValue):
        parse_line(text, line=1)


def test_spelling_is_no_difference_but_meaning_is() -> None:
    plain = parse_line(line(BACK), line=1)
    other = parse_line(json.dumps(dict(reversed(json.loads(line(BACK)).items()))).encode(), line=2)
    later = parse_line(line(BACK | {"at_ms": 6}), line=3)
    assert plain.payload == other.payload != later.payload


# -- many sources ----------------------------------------------------------------------------


def sent(source: str, sequence: int, at_ms: int, *, epoch: int = 1, number: int = 0) -> Sent:
    fields = BACK | {"at_ms": at_ms}
    return parse_line(
        line(fields, source=source, epoch=epoch, sequence=sequence), line=number or sequence + 1
    )


def told(log: EventLog) -> list[tuple[str, int, int]]:
    return [(each.source, each.sequence, each.at_ms) for each in log.story()]


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[Sent], list[Sent]]:
    """What the sources sent, and how it arrived: reordered and repeated, nothing lost."""
    whole: list[Sent] = []
    for source in ("a", "b", "c"):
        times = draw(st.lists(st.integers(0, 30), max_size=6))
        whole += [sent(source, number, at_ms) for number, at_ms in enumerate(times)]
    again = draw(st.lists(st.sampled_from(whole), max_size=6)) if whole else []
    return whole, draw(st.permutations([*whole, *again]))


@given(deliveries())
def test_reordered_and_repeated_events_tell_the_same_story(
    case: tuple[list[Sent], list[Sent]],
) -> None:
    whole, arrived = case
    log, plain = EventLog(), EventLog()
    for each in arrived:
        log.add(each)
    for each in whole:
        plain.add(each)
    story = told(log)
    assert story == told(plain)
    assert log.repeated == len(arrived) - len(whole)
    # Naive: each source by itself, its clock never going back; then everything by time.
    expected: list[tuple[int, str, int]] = []
    for source in ("a", "b", "c"):
        clock = 0
        for each in whole:
            if each.source == source:
                clock = max(clock, each.at_ms)
                expected.append((clock, source, each.sequence))
    assert sorted((at_ms, source, number) for source, number, at_ms in story) == sorted(expected)
    assert [at_ms for _, _, at_ms in story] == sorted(at_ms for at_ms, _, _ in expected)


def test_a_clock_that_goes_back_is_named_with_its_line_and_length() -> None:
    log = EventLog()
    log.add(sent("a", 0, 10))
    log.add(sent("a", 1, 4))
    assert told(log) == [("a", 0, 10), ("a", 1, 10)]
    (finding,) = log.findings
    assert (finding.word, finding.by_ms, finding.line) == (ReportFindingWord.TIME_WENT_BACK, 6, 2)


def test_the_same_number_with_another_meaning_is_a_conflict_and_the_first_counts() -> None:
    log = EventLog()
    log.add(sent("a", 0, 10))
    log.add(sent("a", 0, 11, number=9))
    assert told(log) == [("a", 0, 10)]
    assert [(each.word, each.line) for each in log.findings] == [(ReportFindingWord.CONFLICT, 9)]


def test_what_comes_after_a_gap_is_named_once_for_each_gap_and_never_counted() -> None:
    log = EventLog()
    for number in (0, 2, 3, 7):
        log.add(sent("a", number, number))
    assert told(log) == [("a", 0, 0)]
    found = [(each.word, each.subject, each.wanted) for each in log.findings]
    missing = ReportFindingWord.MISSING_EVENTS
    assert found == [(missing, "a 1:2", 1), (missing, "a 1:7", 6)]


def test_a_restarted_source_begins_a_new_numbering_and_its_old_life_is_fenced() -> None:
    log = EventLog()
    log.add(sent("a", 0, 1))
    log.add(sent("a", 0, 5, epoch=2))
    log.add(sent("a", 1, 3, epoch=1, number=7))
    assert told(log) == [("a", 0, 1), ("a", 0, 5)]
    assert [(each.word, each.line) for each in log.findings] == [(ReportFindingWord.FENCED, 7)]


def test_at_one_instant_what_frees_comes_before_what_takes_whoever_tells_it() -> None:
    log = EventLog()
    takes = START | {"at_ms": 5}
    frees = {"kind": "lease_ended", "lease": "i", "cause": "released", "at_ms": 5}
    log.add(parse_line(line(takes, source="a"), line=1))
    log.add(parse_line(line(frees, source="b"), line=2))
    assert [type(each.event) for each in log.story()] == [LeaseEnded, LeaseStarted]


def test_an_event_far_ahead_of_the_others_counts_once_they_have_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_log, "WAITING_MAX", 2)
    log = EventLog()
    for number in (4, 3, 2, 1, 0, 7):
        log.add(sent("a", number, number))
    assert [number for _, number, _ in told(log)] == [0, 1, 2, 3, 4]
    assert [(each.word, each.wanted) for each in log.findings] == [
        (ReportFindingWord.MISSING_EVENTS, 6)
    ]

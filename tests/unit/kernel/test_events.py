"""Events as records, commands as plain values: what is written is read back equal."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Chain, Context, RecordKind, parse_record
from bailiwick.journal.record import encode_json
from bailiwick.journal.words import Severity
from bailiwick.kernel import (
    Done,
    Granted,
    Queued,
    Refused,
    decode_answer,
    decode_command,
    encode_answer,
    encode_command,
)
from bailiwick.kernel.codec import COMMANDS as BY_WORD
from bailiwick.kernel.codec import _shape_of, command_digest
from bailiwick.kernel.commands import Command, Envelope, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.commands import Elect, RegisterNode
from bailiwick.kernel.people.commands import SetMember
from bailiwick.kernel.slice import word_of
from bailiwick.kernel.slices import EVENTS as BY_KIND
from bailiwick.kernel.slices import event_of
from bailiwick.kernel.work.commands import Evict, Renew, Submit
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.values import TERM_MAX_MS, NodeId
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason
from tests.unit.kernel import makers
from tests.unit.kernel.desk import Desk, ask

REQUEST = {"resources": {"cpu_milli": 1000}, "priority": "low", "lease_class": "spot"}


def same(value: object) -> object:
    """An event in a form that does not care in which order a quota names its limits."""
    quota = getattr(value, "quota", None)
    if not isinstance(quota, Quota):
        return value
    rows = sorted((r.dimension, r.limit) for r in quota.limits)
    table = sorted((g.generation, g.count) for g in quota.gpu_generations)
    owner = [getattr(value, name, None) for name in ("owner", "tenant", "project")]
    return owner, rows, table, quota.burst


# --- events -------------------------------------------------------------------------------------


def test_every_event_there_is_has_a_strategy_here() -> None:
    assert set(makers.EVENTS) == set(BY_KIND.values())


@pytest.mark.parametrize("kind", makers.EVENTS, ids=lambda k: k.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_an_event_is_sealed_and_read_back_equal(kind: type, data: st.DataObject) -> None:
    event = data.draw(makers.EVENTS[kind])
    context = Context("ann", "c-1", event.owner.tenant, event.owner.project)
    sealed = Chain().seal(event.kind, context, at_ms=7, body=event.body())
    record = parse_record(sealed.line[:-1])
    again = event_of(record)
    assert same(again) == same(event)
    assert encode_json(again.body()) == encode_json(event.body())


def test_every_kind_of_record_is_written_by_one_event_and_every_event_writes_one() -> None:
    """A kind that nobody writes would be a promise to whoever reads journals."""
    written = [event.kind for event in get_args(Event)]
    # An audit of placements writes these, into a journal of its own.
    audit = {RecordKind.ISOLATION_FINDING, RecordKind.ISOLATION_FINDING_CLOSED}
    assert sorted(written) == sorted(set(RecordKind) - audit)


def test_an_event_has_the_name_of_its_record() -> None:
    """One has another: its command is ``BreakGlass``."""
    other = {event.__name__ for event in get_args(Event) if word_of(event) != event.kind}
    assert other == {"GlassBroken"}


# --- extremes -----------------------------------------------------------------------------------

LONG = "n" * 63


@pytest.mark.parametrize("size", [1, 256, 257, 4096])
def test_a_gang_of_any_size_and_the_longest_names_can_be_sealed(size: int) -> None:
    d = Desk()
    gpus = tuple(
        GpuDevice(HardwareGeneration.OTHER, 2**40, "é" * 127, "\x01" * 127) for _ in "x" * 16
    )
    labels = {f"{i:02}" + "k" * 61: "v" * 63 for i in range(64)}
    for i in range(4):
        machine = NodeCapacity(1024, 2**50 - 1, 2**50 - 1, gpus=gpus, labels=labels)
        d.do(RegisterNode(f"{i}{LONG}"[:63], machine))
    models = ("é" * 127, *(f"{i:02}" + "\x01" * 125 for i in range(31)))
    request = ask(
        "t" * 63,
        project="p" * 63,
        tag="g" * 63,
        cpu_cores=1,
        gpu_milli=1,
        gpu_models=models,
        labels=labels,
        gang_size=size,
        ttl_ms=TERM_MAX_MS,
        deadline_ms=2**53 - 1,
    )
    answer = d.do(Submit(request), actor="a" * 128, correlation_id="c" * 128, key="k" * 128)
    assert isinstance(answer, Granted)
    assert len(set(answer.lease_ids)) == len(answer.nodes) == size
    assert len(d.told) == -(-size // 256)
    assert d.do(Submit(request), actor="a" * 128, key="k" * 128) == answer
    replayed = d.replayed().state
    assert replayed.answers.entries["a" * 128, "k" * 128].answer == answer


def test_a_denial_whose_numbers_no_record_could_tell_is_told_at_the_bound() -> None:
    d = Desk(nodes=[NodeCapacity(4, 2**50 - 1)] * 12)
    answer = d.do(Submit(ask(mem_bytes=2**50 - 1, gang_size=4096)))
    assert isinstance(answer, Queued)
    assert d.last[0].body["requested"] == 2**53 - 1
    assert d.tick() == []
    assert d.replayed().state.blocked[1].detail.requested == 2**53 - 1  # type: ignore[union-attr]


def test_more_models_than_the_record_of_a_lease_could_tell_are_refused_at_once() -> None:
    with pytest.raises(InvalidValue, match="gpu_models"):
        Submit(ask(gpu_milli=1, gpu_models=[f"m{i}" for i in range(33)]))
    with pytest.raises(InvalidValue, match="gpu_models"):
        Submit(ask(gpu_milli=1, gpu_models=["m" * 128]))


@pytest.mark.parametrize("name", ["mem_bytes", "block_bytes", "gpu_vram", "deadline_ms"])
def test_amounts_that_no_record_could_tell_are_refused_at_once(name: str) -> None:
    Submit(ask(cpu_cores=1, **{name: 2**53 - 1}))
    with pytest.raises(InvalidValue, match=name):
        Submit(ask(cpu_cores=1, **{name: 2**53}))


# --- commands -----------------------------------------------------------------------------------


def test_every_command_has_its_word_and_its_strategy() -> None:
    assert set(makers.COMMANDS) == set(BY_WORD.values()) == set(Command.__args__)
    assert {"submit", "report_teardown", "lift_quarantine", "set_quota"} < set(BY_WORD)


@pytest.mark.parametrize("kind", makers.COMMANDS, ids=lambda k: k.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_a_command_is_read_back_equal_and_has_one_digest(kind: type, data: st.DataObject) -> None:
    command = data.draw(makers.COMMANDS[kind])
    plain = json.loads(json.dumps(encode_command(command)))
    again = decode_command(plain)
    assert same(again) == same(command)
    assert command_digest(again) == command_digest(command)


@pytest.mark.parametrize("kind", makers.COMMANDS, ids=lambda k: k.__name__)
@settings(max_examples=15)
@given(data=st.data())
def test_an_unknown_or_a_missing_field_is_refused_by_name(kind: type, data: st.DataObject) -> None:
    plain = encode_command(data.draw(makers.COMMANDS[kind]))
    with pytest.raises(InvalidValue, match="sparkle"):
        decode_command({**plain, "sparkle": 1})
    optional = {each.name for each in fields(kind) if each.default is not MISSING}
    named = ("request", "lease_id", "entry_id", "node", "tenant", "member", "account", "token_id")
    needed = next((n for n in named if n in plain and n not in optional), "")
    if needed:
        less = {name: value for name, value in plain.items() if name != needed}
        with pytest.raises(InvalidValue, match=needed):
            decode_command(less)


@pytest.mark.parametrize(
    ("plain", "named"),
    [
        (7, "command: expected an object"),
        ({}, "command: expected one of"),
        ({"command": "dance"}, "command: expected one of"),
        ({"command": ["tick"]}, "command: expected one of"),
        ({"command": "tick", "limit": True}, "limit"),
        ({"command": "release", "lease_id": 0}, "lease_id"),
        ({"command": "release", "lease_id": "7"}, "lease_id"),
        ({"command": "release", "lease_id": 2**53}, "lease_id"),
        ({"command": "evict", "lease_ids": [], "reason": "operator_drain"}, "lease_ids"),
        ({"command": "evict", "lease_ids": [1], "reason": "because"}, "reason"),
        ({"command": "evict", "lease_ids": 7, "reason": "operator_drain"}, "lease_ids"),
        ({"command": "evict", "lease_ids": [1]}, "reason"),
        ({"command": "set_budget", "budget": {"limit_micros": 1, "from_ms": 0}}, "tenant"),
        ({"command": "evict", "lease_ids": [1] * 1025, "reason": "operator_drain"}, "lease_ids"),
        ({"command": "change_mode", "node": "n", "mode": "asleep"}, "mode"),
        ({"command": "quarantine", "node": "n", "reason": "no spaces"}, "reason"),
        ({"command": "submit", "tenant": "a", "request": [1]}, "request"),
        ({"command": "submit", "tenant": "a", "request": {**REQUEST, "gpu_cuont": 1}}, "gpu_cuont"),
        ({"command": "submit", "tenant": "a", "request": {**REQUEST, "tag": 7}}, "tag"),
        ({"command": "submit", "tenant": "a", "request": {**REQUEST, "labels": "a=b"}}, "labels"),
        ({"command": "submit", "tenant": "a b", "request": REQUEST}, "tenant"),
        ({"command": "submit", "tenant": "a", "wait": 1, "request": REQUEST}, "wait"),
        (
            {"command": "submit", "tenant": "a", "request": {**REQUEST, "resources": {"gas": 1}}},
            "gas",
        ),
        (
            {
                "command": "submit",
                "tenant": "a",
                "request": {**REQUEST, "resources": {"cpu_milli": 1, "gpu_milli": 5}},
            },
            "resources.gpu_milli",
        ),
        (
            {"command": "register_node", "node": "n", "inventory": {"resources": {}, "gpus": 1}},
            "gpus",
        ),
        (
            {
                "command": "register_node",
                "node": "n",
                "inventory": {"resources": {"cpu_milli": 10**400}},
            },
            "cpu_milli",
        ),
        ({"command": "set_quota", "tenant": "a", "quota": {"limits": {"luck": 1}}}, "luck"),
        (
            {"command": "set_quota", "tenant": "a", "quota": {"limits": {}, "burst_capacity": 1}},
            "quota",
        ),
        ({"command": "change_settings", "settings": {"strategy": "luck"}}, "strategy"),
        ({"command": "change_settings", "settings": {"strategy": "best_fit", "x": 1}}, "x"),
        ({"command": "elect", "epoch": 1, "leader": "a", "address": "x" * 256}, "address"),
    ],
)
def test_what_is_no_command_is_refused_with_the_name_of_what_is_wrong(
    plain: Any, named: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        decode_command(plain)
    assert named in str(caught.value)


@dataclass(frozen=True)
class Weigh:
    """A command that nobody could write down."""

    weight: float


@dataclass(frozen=True)
class Choose:
    """One whose field could be read in two ways."""

    weight: Severity | EvidenceKind | None


@pytest.mark.parametrize("kind", [Weigh, Choose])
def test_a_type_that_nobody_can_spell_is_found_when_the_codec_is_loaded(kind: type) -> None:
    with pytest.raises(InvariantBroken, match="weight"):
        _shape_of(kind)


def test_what_may_be_nothing_and_has_no_default_is_nothing_unless_it_is_said() -> None:
    command = SetMember("ann", None)
    assert encode_command(command) == {"command": "set_member", "member": "ann"}
    assert decode_command(encode_command(command)) == command


def test_a_command_is_checked_when_it_is_built() -> None:
    for build in (
        lambda: Renew(1, 0),
        lambda: Renew(1, 1, 0),
        lambda: Tick(1),
        lambda: Elect(0, "a"),
        lambda: Evict((), PreemptionReason.OPERATOR_DRAIN),
        lambda: Evict((1,), PreemptionReason.OPERATOR_DRAIN, -1),
        lambda: Envelope(Tick(), "no spaces"),
        lambda: Envelope(Tick(), key=""),
        lambda: Envelope(Tick(), correlation_id="é"),
    ):
        with pytest.raises(InvalidValue):
            build()


# --- answers ------------------------------------------------------------------------------------

node_ids = makers.names.map(NodeId)
answers = st.one_of(
    st.builds(Done, st.none() | makers.amounts),
    st.builds(Refused, makers.denials()),
    st.builds(Queued, makers.ids, st.none() | makers.denials()),
    st.builds(Granted, makers.lists, st.lists(node_ids, max_size=4).map(tuple), makers.times),
)


@given(answers)
def test_an_answer_is_read_back_equal(answer: Any) -> None:
    assert decode_answer(json.loads(json.dumps(encode_answer(answer)))) == answer


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"answer": "maybe"},
        {"answer": ["done"]},
        {"answer": "refused", "denied": {}},
        {"answer": "refused", "denied": None},
        {"answer": "queued", "entry_id": 4, "denied": {}},
        {"answer": "granted", "lease_ids": [1], "nodes": ["n"]},
        {"answer": "granted", "lease_ids": 7, "nodes": ["n"], "expires_ms": 9},
        {"answer": "granted", "lease_ids": [1], "nodes": "n", "expires_ms": 9},
        {"answer": "token_denied", "reason": "luck"},
    ],
)
def test_what_is_no_answer_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match="an answer of the kernel"):
        decode_answer(plain)

"""The table of bodies is closed, complete, and the same for writers and readers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bailiwick.journal import (
    Chain,
    Context,
    RecordFault,
    RecordKind,
    RecordRefused,
    parse_record,
)
from bailiwick.vocab.words import PreemptionReason
from tests.unit.journal.makers import bodies_of, contexts_of, make_record

PREEMPTION: dict[str, Any] = {
    "lease_id": 9,
    "reason": PreemptionReason.PRIORITY_PREEMPTION,
    "victim": "globex",
    "preemptor": "req-8",
    "freed": {"gpu_milli": 1000},
}
ACME = Context("scheduler", "req-7", "acme")


def fault_of(kind: RecordKind, body: object) -> RecordFault:
    with pytest.raises(RecordRefused) as caught:
        kind.check(body)
    return caught.value.fault


@pytest.mark.parametrize("kind", RecordKind)
def test_no_field_is_both_required_and_optional(kind: RecordKind) -> None:
    assert not set(kind.body.required) & set(kind.body.optional)


@pytest.mark.parametrize("kind", RecordKind)
def test_every_name_in_the_table_is_a_plain_ascii_word(kind: RecordKind) -> None:
    for name in (kind, *kind.body.required, *kind.body.optional):
        assert name.isascii()
        assert name.isidentifier()
        assert name == name.lower()


@pytest.mark.parametrize("kind", RecordKind)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_sealed_of_any_kind_is_read_back_equal(kind: RecordKind, data: Any) -> None:
    body, who = data.draw(bodies_of(kind)), data.draw(contexts_of(kind))
    sealed = Chain().seal(kind, who, at_ms=7, body=body)
    record = parse_record(sealed.canonical)
    plain = {
        name: tuple(value) if isinstance(value, list) else value for name, value in body.items()
    }
    assert dict(record.body) == plain
    assert record.context == who
    assert record.hash == sealed.hash


@pytest.mark.parametrize("kind", RecordKind)
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_unknown_or_missing_field_is_refused_on_write_too(kind: RecordKind, data: Any) -> None:
    body, who = data.draw(bodies_of(kind)), data.draw(contexts_of(kind))
    chain = Chain()
    for wrong in ({**body, "gift": 1}, *_each_removed(kind, body)):
        with pytest.raises(RecordRefused):
            chain.seal(kind, who, at_ms=7, body=wrong)
    assert chain.size == 0


def _each_removed(kind: RecordKind, body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in body.items() if name != left_out}
        for left_out in kind.body.required
    ]


@pytest.mark.parametrize("field", ["reason", "victim", "preemptor", "freed", "lease_id"])
def test_a_preemption_without_its_reason_and_parties_cannot_be_built(field: str) -> None:
    RecordKind.LEASE_PREEMPTED.check(PREEMPTION)
    body = {name: value for name, value in PREEMPTION.items() if name != field}
    assert fault_of(RecordKind.LEASE_PREEMPTED, body) is RecordFault.MISSING_FIELD
    with pytest.raises(RecordRefused):
        Chain().seal(RecordKind.LEASE_PREEMPTED, ACME, at_ms=1, body=body)
    with pytest.raises(RecordRefused):
        make_record(kind=RecordKind.LEASE_PREEMPTED, body=body)


@pytest.mark.parametrize("reason", ["other", "", "PRIORITY_PREEMPTION", None, 3])
def test_a_preemption_takes_only_the_nine_reasons(reason: object) -> None:
    body = PREEMPTION | {"reason": reason}
    assert fault_of(RecordKind.LEASE_PREEMPTED, body) is RecordFault.BAD_VALUE
    with pytest.raises(RecordRefused):
        Chain().seal(RecordKind.LEASE_PREEMPTED, ACME, at_ms=1, body=body)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": [1.0]}),
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": [True]}),
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": [[1]]}),
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": list(range(1025))}),
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": "12"}),
        (RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": {"0": 1}}),
        (RecordKind.QUOTA_CHANGED, {"limits": {"gpu_cuont": 1}}),
        (RecordKind.QUOTA_CHANGED, {"limits": {"gpu_count": -1}}),
        (RecordKind.QUOTA_CHANGED, {"limits": {"gpu_count": {}}}),
        (RecordKind.QUOTA_CHANGED, {"limits": {1: 1}}),
        (RecordKind.QUOTA_CHANGED, {"limits": []}),
        (RecordKind.FENCE_CLEARED, {"lease_id": 1, "node": "n", "note": "x" * 1025}),
        (RecordKind.FENCE_CLEARED, {"lease_id": 1, "node": "n", "note": "\ud800"}),
        (RecordKind.FENCE_CLEARED, {"lease_id": 1, "node": "n", "note": b"bytes"}),
        (RecordKind.FENCE_CLEARED, {"lease_id": 1, "node": "n\n"}),
        (RecordKind.FENCE_CLEARED, {"lease_id": 2**53, "node": "n"}),
        (RecordKind.POLICY_CHANGED, {"policy": "p", "digest": "0" * 63}),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_on_check_and_on_write(
    kind: RecordKind, body: dict[str, Any]
) -> None:
    assert fault_of(kind, body) is RecordFault.BAD_VALUE
    chain = Chain()
    with pytest.raises(RecordRefused):
        chain.seal(kind, ACME, at_ms=1, body=body)
    assert chain.size == 0


def test_a_body_that_json_cannot_say_is_refused_and_changes_nothing() -> None:
    chain = Chain()
    inside_itself: dict[str, Any] = {}
    inside_itself["limits"] = inside_itself
    for body in (inside_itself, {"limits": object()}, {"limits": float("nan")}, None, "x", 3):
        with pytest.raises(RecordRefused):
            chain.seal(RecordKind.QUOTA_CHANGED, ACME, at_ms=1, body=body)  # type: ignore[arg-type]
    assert chain.size == 0


def test_text_keeps_what_people_write() -> None:
    note = 'naïve "quotes" \\ tab\t newline\n 漢字 🛰 \u2028 \x7f \x00'
    body = {"lease_id": 1, "node": "n", "note": note}
    sealed = Chain().seal(RecordKind.FENCE_CLEARED, ACME, at_ms=1, body=body)
    assert sealed.record.body["note"] == note
    assert b"\n" not in sealed.canonical


def test_the_longest_text_and_numbers_are_taken() -> None:
    body = {"lease_id": 2**53 - 1, "node": "n" * 63, "note": "é" * 1024}
    assert Chain().seal(RecordKind.FENCE_CLEARED, ACME, at_ms=2**53 - 1, body=body).record

"""A record has one spelling, and nothing else is read as one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiwick.journal import (
    RECORD_BYTES_MAX,
    Context,
    RecordFault,
    RecordKind,
    RecordRefused,
    parse_record,
)
from tests.unit.journal.makers import LEASE_BODY, make_record

CANONICAL = (
    b'{"actor":"scheduler","at_ms":5000,"body":{"expires_ms":9000,"generation":2,"lease_id":4},'
    b'"correlation_id":"req-7","kind":"lease_renewed","prev_hash":"'
    + b"0" * 64
    + b'","project":null,"seq":0,"tenant":"acme"}'
)


def refusal_of(raw: bytes) -> RecordFault:
    with pytest.raises(RecordRefused) as caught:
        parse_record(raw)
    return caught.value.fault


def test_canonical_bytes_are_sorted_and_tight() -> None:
    assert make_record().canonical == CANONICAL


def test_hash_is_sha256_of_the_canonical_bytes() -> None:
    # sha256sum of the bytes above.
    import hashlib

    assert make_record().hash == hashlib.sha256(CANONICAL).hexdigest()


def test_the_hash_covers_the_hash_before() -> None:
    assert make_record().hash != make_record(prev_hash="1" * 64).hash


def test_parsing_gives_the_record_back() -> None:
    assert parse_record(CANONICAL) == make_record()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'"at_ms":5000', b'"at_ms":5000.0', RecordFault.NOT_AN_INTEGER),
        (b'"at_ms":5000', b'"at_ms":5e3', RecordFault.NOT_AN_INTEGER),
        (b'"at_ms":5000', b'"at_ms":NaN', RecordFault.NOT_AN_INTEGER),
        (b'"at_ms":5000', b'"at_ms":-Infinity', RecordFault.NOT_AN_INTEGER),
        (b'"at_ms":5000', b'"at_ms":' + b"9" * 5000, RecordFault.NOT_AN_INTEGER),
        (b'"at_ms":5000', b'"at_ms":9007199254740992', RecordFault.BAD_VALUE),
        (b'"at_ms":5000', b'"at_ms":-1', RecordFault.BAD_VALUE),
        (b'"at_ms":5000', b'"at_ms":true', RecordFault.BAD_VALUE),
        (b'"at_ms":5000', b'"at_ms":"5000"', RecordFault.BAD_VALUE),
        (b'"at_ms":5000', b'"at_ms":05000', RecordFault.NOT_JSON),
        (b'"at_ms":5000', b'"at_ms":-0', RecordFault.NOT_CANONICAL),
        (b'"at_ms":5000', b'"at_ms":5000,"at_ms":5000', RecordFault.DUPLICATE_KEY),
        (b'"lease_id":4', b'"lease_id":4,"lease_id":4', RecordFault.DUPLICATE_KEY),
        (b'"at_ms":5000', b'"at_ms": 5000', RecordFault.NOT_CANONICAL),
        (b'"acme"', b'"\\u0061cme"', RecordFault.NOT_CANONICAL),
        (b'"acme"}', b'"acme"} ', RecordFault.TRAILING_DATA),
        (b'"acme"}', b'"acme"}{}', RecordFault.TRAILING_DATA),
        (b'{"actor"', b' {"actor"', RecordFault.NOT_JSON),
        (b'{"actor"', b'\xef\xbb\xbf{"actor"', RecordFault.NOT_JSON),
        (b'"acme"', b'"\xff"', RecordFault.NOT_UTF8),
        (b'"acme"', b'"\xed\xa0\x80"', RecordFault.NOT_UTF8),
        (b'"acme"', b"null", RecordFault.MISSING_FIELD),
        (b'"acme"', b'""', RecordFault.BAD_VALUE),
        (b'"acme"', b'"a b"', RecordFault.BAD_VALUE),
        (b"lease_renewed", b"lease_borrowed", RecordFault.UNKNOWN_KIND),
        (b'"kind":"lease_renewed"', b'"kind":7', RecordFault.UNKNOWN_KIND),
        (b'"kind":"lease_renewed"', b'"kind":[]', RecordFault.UNKNOWN_KIND),
        (b',"kind":"lease_renewed"', b"", RecordFault.MISSING_FIELD),
        (b',"project"', b',"pace":1,"project"', RecordFault.UNKNOWN_FIELD),
        (b'"generation":2', b'"generation":2,"gift":1', RecordFault.UNKNOWN_FIELD),
        (b'"generation":2,', b"", RecordFault.MISSING_FIELD),
        (b"0" * 64, b"0" * 63, RecordFault.BAD_VALUE),
        (b"0" * 64, b"A" * 64, RecordFault.BAD_VALUE),
        (b'{"expires_ms":9000,"generation":2,"lease_id":4}', b"[]", RecordFault.BAD_VALUE),
        (b'{"expires_ms":9000,"generation":2,"lease_id":4}', b"null", RecordFault.BAD_VALUE),
    ],
)
def test_other_bytes_are_refused_by_name(old: bytes, new: bytes, fault: RecordFault) -> None:
    assert CANONICAL.count(old) == 1
    assert refusal_of(CANONICAL.replace(old, new)) is fault


@pytest.mark.parametrize("raw", [b"", b"null", b"7", b"[]", b"{", b"[" * 60_000, b'{"a":' * 9_000])
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    assert refusal_of(raw) is RecordFault.NOT_JSON


def test_keys_in_another_order_are_refused() -> None:
    values = json.loads(CANONICAL)
    backwards = json.dumps(dict(reversed(values.items())), separators=(",", ":")).encode()
    assert refusal_of(backwards) is RecordFault.NOT_CANONICAL


def test_a_record_longer_than_a_bundle_can_say_is_refused() -> None:
    assert refusal_of(b" " * (RECORD_BYTES_MAX + 1)) is RecordFault.TOO_LONG
    nodes = ["n" * 63] * 1024
    body = {
        "lease_ids": [1],
        "nodes": nodes,
        "resources": {},
        "priority": "low",
        "lease_class": "spot",
    }
    with pytest.raises(RecordRefused) as caught:
        make_record(kind=RecordKind.ADMISSION_APPROVED, body=body)
    assert caught.value.fault is RecordFault.TOO_LONG


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"seq": -1}, RecordFault.BAD_VALUE),
        ({"seq": True}, RecordFault.BAD_VALUE),
        ({"seq": 2**53}, RecordFault.BAD_VALUE),
        ({"at_ms": 1.5}, RecordFault.BAD_VALUE),
        ({"actor": 'x","tenant":"y'}, RecordFault.BAD_VALUE),
        ({"correlation_id": ""}, RecordFault.BAD_VALUE),
        ({"tenant": "x\n"}, RecordFault.BAD_VALUE),
        ({"tenant": None}, RecordFault.MISSING_FIELD),
        ({"tenant": None, "project": "p"}, RecordFault.MISSING_FIELD),
        ({"kind": "nonsense"}, RecordFault.UNKNOWN_KIND),
        ({"kind": RecordKind.PROJECT_CREATED, "body": {}}, RecordFault.MISSING_FIELD),
        ({"body": {**LEASE_BODY, "lease_id": 4.0}}, RecordFault.BAD_VALUE),
        ({"body": {**LEASE_BODY, "lease_id": None}}, RecordFault.BAD_VALUE),
        ({"body": {}}, RecordFault.MISSING_FIELD),
    ],
)
def test_a_wrong_value_cannot_be_made_into_a_record(
    changes: dict[str, Any], fault: RecordFault
) -> None:
    with pytest.raises(RecordRefused) as caught:
        make_record(**changes)
    assert caught.value.fault is fault


def test_a_record_cannot_be_changed_through_its_body() -> None:
    given = {"node": "n1", "lease_ids": [1, 2]}
    record = make_record(kind=RecordKind.NODE_DEPARTED, body=given)
    before = record.canonical
    given["lease_ids"].append(3)  # type: ignore[attr-defined]
    given["node"] = "n2"
    assert record.canonical == before
    with pytest.raises(TypeError):
        record.body["node"] = "n3"  # type: ignore[index]


def test_a_context_checks_itself() -> None:
    with pytest.raises(RecordRefused):
        Context("a b", "req")
    with pytest.raises(RecordRefused):
        Context("a", "req", None, "project-without-tenant")

"""A shape recognises canonical records and nothing that parsing would refuse."""

from __future__ import annotations

import pytest

from bailiwick.journal import Chain, Context, RecordKind, RecordRefused, parse_record
from bailiwick.journal.shapes import SHAPES, glance
from tests.unit.journal.makers import make_record

CLEARED = make_record(
    kind=RecordKind.FENCE_CLEARED, body={"lease_id": 4, "node": "n1", "note": "dusty"}
)
QUOTA = make_record(
    kind=RecordKind.QUOTA_CHANGED, body={"limits": {"cpu_milli": 1, "gpu_count": 2}}
)
TENANT = make_record(kind=RecordKind.TENANT_CREATED, body={"display_name": "Acme"})
DEPARTED = make_record(kind=RecordKind.NODE_DEPARTED, body={"lease_ids": [1, 2], "node": "n1"})
DENIED = make_record(
    kind=RecordKind.ADMISSION_DENIED,
    body={
        "detail": "hard_limit_exceeded",
        "reason": "waiting_for_quota",
        "resources": {},
        "priority": "low",
        "lease_class": "spot",
        "used": -3,
    },
)


@pytest.mark.parametrize("record", [CLEARED, QUOTA, TENANT, DEPARTED, DENIED])
def test_an_ordinary_record_is_recognised(record: object) -> None:
    assert glance(record.canonical) == record.link  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("raw", "old", "new"),
    [
        (QUOTA.canonical, b'{"cpu_milli":1', b'{,"cpu_milli":1'),
        (QUOTA.canonical, b'1,"gpu_count"', b'1,,"gpu_count"'),
        (QUOTA.canonical, b'1,"gpu_count"', b'1"gpu_count"'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":2,'),
        (QUOTA.canonical, b'"gpu_count":2', b'"cpu_milli":1'),
        (QUOTA.canonical, b'"gpu_count":2', b'"block_bytes":1'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":02'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":-0'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":-2'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":2.0'),
        (QUOTA.canonical, b'"gpu_count":2', b'"gpu_count":9007199254740992'),
        (DENIED.canonical, b'"used":-3', b'"used":-0'),
        (DENIED.canonical, b'"used":-3', b'"used":+3'),
        (TENANT.canonical, b'{"display_name"', b'{,"display_name"'),
        (TENANT.canonical, b'"Acme"', b'"Ac\xc3me"'),
        (TENANT.canonical, b'"Acme"', b'"\xed\xa0\x80"'),
        (TENANT.canonical, b'"Acme"', b'"\xc0\xaf"'),
        (TENANT.canonical, b'"Acme"', b'"Ac"me"'),
        (TENANT.canonical, b'"Acme"', b'"Ac\nme"'),
        (TENANT.canonical, b'"Acme"', b'"Ac\\me"'),
        (TENANT.canonical, b'"Acme"', b'"' + b"x" * 1025 + b'"'),
        (DEPARTED.canonical, b"[1,2]", b"[1,2,]"),
        (DEPARTED.canonical, b"[1,2]", b"[,1]"),
        (DEPARTED.canonical, b"[1,2]", b"[1,[2]]"),
        (DEPARTED.canonical, b'"tenant":"acme"', b'"tenant":""'),
        (DEPARTED.canonical, b'null,"seq":0,"tenant":"acme"', b'"p","seq":0,"tenant":null'),
        (CLEARED.canonical, b'"tenant":"acme"', b'"tenant":null'),
        (CLEARED.canonical, b"fence_cleared", b"fence_clearer"),
        (CLEARED.canonical, b'"tenant":"acme"}', b'"tenant":"acme"}\n'),
        (CLEARED.canonical, b'"node":"n1"', b'"node":"n1\n"'),
    ],
)
def test_what_parsing_refuses_no_shape_recognises(raw: bytes, old: bytes, new: bytes) -> None:
    assert raw.count(old) == 1
    wrong = raw.replace(old, new)
    with pytest.raises(RecordRefused):
        parse_record(wrong)
    assert glance(wrong) is None


def test_a_record_too_long_is_not_recognised_and_not_sealed() -> None:
    def body(count: int) -> dict[str, object]:
        return {"node": "n1", "resources": {}, "labels": ["k=" + "x" * 61] * count}

    chain, who = Chain(), Context("scheduler", "req-7")
    fits = chain.seal(RecordKind.NODE_REGISTERED, who, at_ms=1, body=body(980)).canonical
    assert glance(fits) is not None
    too_long = fits.replace(b'["', b'["' + b'k=y","' * 800)
    assert len(too_long) > 65_535
    assert glance(too_long) is None
    with pytest.raises(RecordRefused):
        chain.seal(RecordKind.NODE_REGISTERED, who, at_ms=1, body=body(1_000))
    assert chain.size == 1


def test_unknown_kinds_leave_nothing_behind() -> None:
    before = len(SHAPES)
    for number in range(100):
        assert glance(b'{"a":1,"kind":"nonsense_%d"}' % number) is None
    assert len(SHAPES) == before

"""Records as OCSF-shaped events, and the page of words made from the enums."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given

from bailiwick.journal import Record, RecordKind
from bailiwick.journal import words as journal_words
from bailiwick.journal.ocsf import OcsfClass
from bailiwick.store import ocsf_event, siem_page
from bailiwick.vocab import transitions
from bailiwick.vocab import words as vocab_words
from tests.unit.journal.makers import make_record, records

ROOT = Path(__file__).resolve().parents[3]
PREEMPTED = {
    "lease_id": 4,
    "reason": "policy_violation_recovery",
    "victim": "acme",
    "preemptor": "policy",
    "freed": {"gpu_milli": 1000},
}


@given(records())
def test_any_record_gives_an_event_that_json_can_say_and_that_agrees_with_itself(
    record: Record,
) -> None:
    event = ocsf_event(record)
    assert json.loads(json.dumps(event)) == event
    assert event["class_uid"] in tuple(OcsfClass)
    assert event["category_uid"] == event["class_uid"] // 1000
    assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"]
    assert event["time"] == record.at_ms
    assert event["metadata"]["uid"] == record.hash
    assert event["metadata"]["event_code"] == record.kind
    assert event["unmapped"]["body"] == json.loads(record.canonical)["body"]


def test_typed_words_go_through_unchanged() -> None:
    event = ocsf_event(make_record(kind=RecordKind.LEASE_PREEMPTED, body=PREEMPTED))
    assert event["status_detail"] == "policy_violation_recovery"
    assert event["severity_id"] == 3
    assert event["resources"] == [{"type": "lease", "uid": "4"}]
    assert event["metadata"]["tenant_uid"] == "acme"


@pytest.mark.parametrize(("change", "activity"), [("added", 1), ("removed", 2)])
def test_a_member_who_leaves_has_access_revoked(change: str, activity: int) -> None:
    body = {"member": "ann@acme", "change": change}
    event = ocsf_event(make_record(kind=RecordKind.MEMBER_CHANGED, body=body))
    assert (event["class_uid"], event["activity_id"]) == (3005, activity)


def test_severity_follows_the_finding_and_the_verdict() -> None:
    finding = {"finding": "x", "severity": "critical", "subject": "node/n1"}
    event = ocsf_event(make_record(kind=RecordKind.FINDING_REPORTED, body=finding))
    assert event["severity_id"] == 5
    verdict = {"node": "n1", "verdict": "untrusted", "reason": "pcr_policy"}
    verdict |= {"evidence_kind": "tpm2", "evidence": "ab" * 32}
    event = ocsf_event(make_record(kind=RecordKind.ATTESTATION_VERDICT, body=verdict))
    assert event["severity_id"] == 4


def test_the_page_of_words_is_the_one_in_the_manual() -> None:
    page = (ROOT / "docs" / "siem.md").read_text("utf-8")
    assert page == siem_page(), "stale: bailiwick journal words > docs/siem.md"


def test_the_page_has_every_word_of_every_enum() -> None:
    page = siem_page()
    for module in (vocab_words, transitions, journal_words):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum:
                assert all(f"`{word}`" in page for word in value), value.__name__

"""Records as CloudEvents: the type of each, its attributes, and what they are called."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.apps.webhooks import check_wish
from bailiwick.events.cloud import EventFacts, make_event, spell_time, subject_of
from bailiwick.events.types import EVENT_KINDS, is_wanted, type_of
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.kinds.apps import AppKinds
from bailiwick.journal.kinds.shared import SharedKinds
from bailiwick.vocab.apps import ArtifactLifecycle, ArtifactTrust, Channel
from bailiwick.vocab.errors import InvalidValue

BODY: dict[str, Any] = {"app": "lab.hello", "instance_id": 4, "phase": "running"}


def told(kind: RecordKind = RecordKind.APP_PUBLISHED, **more: Any) -> EventFacts:
    return EventFacts(7, 1_000, kind, "lab", "p", "ann", "c-1", more)


def test_every_kind_of_the_apps_slice_is_an_event() -> None:
    rows = [*vars(AppKinds).values(), *vars(SharedKinds).values()]
    kinds = {value.word for value in rows if hasattr(value, "word")}
    assert kinds
    assert kinds == {kind.value for kind in EVENT_KINDS}


def test_a_change_of_an_artifact_is_told_by_what_it_is_now() -> None:
    words = {
        "lifecycle": ArtifactLifecycle.PROMOTED.value,
        "trust": ArtifactTrust.REVOKED.value,
        "channel": Channel.PROD.value,
    }
    for change, word in (*words.items(), ("registered", "registered")):
        body = {**words, "change": change}
        assert type_of(RecordKind.ARTIFACT_CHANGED, body) == f"apps.artifact.{word}"


def test_an_attribute_has_small_letters_and_digits_only_and_data_has_the_long_names() -> None:
    event = make_event(told(**BODY, version="1.0.0"), journal="ab" * 8)
    assert all(re.fullmatch("[a-z0-9]{1,20}", name) for name in event)
    names = ("correlation_id", "org_id", "project_id", "app_slug", "app_instance_id")
    assert {name: event["data"][name] for name in names} == {
        name: event[name.replace("_", "")] for name in names
    }
    assert event["appinstanceid"] == "4"


def test_what_has_no_value_is_no_attribute() -> None:
    bare = told(source="main")._replace(tenant=None, project=None)
    event = make_event(bare._replace(kind=RecordKind.ARTIFACT_SOURCE_SET), journal="a")
    absent = {"orgid", "projectid", "appslug", "appinstanceid"}
    assert absent.isdisjoint(event)
    assert None not in event.values()


def test_nothing_that_a_record_says_takes_the_place_of_the_five_names() -> None:
    event = make_event(told(**BODY, org_id="rival", correlation_id="another"), journal="a")
    assert (event["data"]["org_id"], event["data"]["correlation_id"]) == ("lab", "c-1")


def test_a_time_without_a_four_digit_year_is_left_out() -> None:
    assert "time" not in make_event(told(**BODY)._replace(at_ms=2**53 - 1), journal="a")


@given(st.integers(0, 253_402_300_799_999))
def test_a_time_is_the_one_that_the_library_reads(at_ms: int) -> None:
    read = datetime.fromisoformat(spell_time(at_ms))
    assert read.tzinfo == UTC
    assert round(read.timestamp() * 1000) == at_ms


@pytest.mark.parametrize("wish", ["apps.*", "apps.instance.*", "apps.instance.running", "apps"])
def test_what_can_be_asked_for(wish: str) -> None:
    assert check_wish(wish) == wish


@pytest.mark.parametrize("wish", ["", "*", "apps.", "apps.*.x", "Apps.x", "apps.a.b.c", "apps.x*"])
def test_what_cannot_be_asked_for(wish: str) -> None:
    with pytest.raises(InvalidValue, match="type"):
        check_wish(wish)


def test_a_star_stands_for_whole_words_only() -> None:
    assert is_wanted("apps.instance.running", ("apps.member.*", "apps.instance.*"))
    assert not is_wanted("apps.instances.running", ("apps.instance.*",))
    assert not is_wanted("apps.instance.running", ("apps.instance",))


def test_a_subject_is_the_most_particular_thing() -> None:
    assert subject_of({"webhook": "w"}) == "webhooks/w"
    assert subject_of({"instance_id": 4, "operation_id": 2}) == "instances/4/operations/2"
    assert subject_of({"digest": "ab", "source": "main"}) == "artifacts/sha256:ab"
    assert subject_of({"source": "main"}) == "artifact-sources/main"

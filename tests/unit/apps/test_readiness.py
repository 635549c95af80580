"""Whether an app is ready: what evidence may say, what is read from records, and what follows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from bailiwick.apps.readiness.evidence import (
    BYTES_MAX,
    FOREIGN_ACTIONS,
    CheckEvidence,
    ForeignTry,
    OperatorKill,
    check_endpoint,
    read_evidence,
)
from bailiwick.apps.readiness.judge import OperatorStanding, judge
from bailiwick.apps.readiness.runbook import read_triage
from bailiwick.apps.readiness.timeline import PLATFORM, ToldRow, tell_facts
from bailiwick.phrases.readiness import CONDITIONS, VERDICTS, told
from bailiwick.reconcile.apps.loop import ACTOR
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.readiness import (
    ConditionState,
    LifecycleEvent,
    LifeStep,
    Readiness,
    ReadinessCondition,
)
from bailiwick.wire.actions.table import ACTIONS
from tests.support.readiness import (
    OTHER,
    TENANT,
    checked_manifest,
    evidences,
    good_evidence,
)

MANIFEST = checked_manifest()
GOOD = OperatorStanding(True, True)


def state(evidence: CheckEvidence, condition: str, standing: OperatorStanding = GOOD) -> str:
    found = judge(evidence, MANIFEST, standing=standing)
    (one,) = [each for each in found.findings if each.condition == condition]
    return f"{one.state} {one.reason}"


# -- what follows ----------------------------------------------------------------------------


def test_an_app_with_which_nothing_is_wrong_is_ready() -> None:
    found = judge(good_evidence(MANIFEST.digest), MANIFEST, standing=GOOD)
    assert found.verdict is Readiness.READY
    assert [each.condition for each in found.findings] == list(ReadinessCondition)


@pytest.mark.parametrize(
    ("changes", "condition", "expected"),
    [
        ({"connections": None}, "contracts_only", "not_tried not_watched"),
        ({"operator": None}, "service_account", "not_tried no_operator"),
        ({"strangers": 1}, "service_account", "not_met acted_as_others"),
        ({"acts": 0}, "service_account", "not_met operator_silent"),
        ({"foreign": ()}, "tenancy", "not_tried actions_not_tried"),
        ({"reached": ()}, "lifecycle_events", "not_met never_reached"),
        ({"heard": ()}, "lifecycle_events", "not_met not_heard"),
        ({"policy": None}, "artifact_policy", "not_tried policy_not_tried"),
        ({"steps": ()}, "survives_kill", "not_tried step_not_tried"),
        ({"runbook": None}, "runbook", "not_tried commands_not_tried"),
    ],
)
def test_each_condition_says_why_it_is_not_met(
    changes: dict[str, Any], condition: str, expected: str
) -> None:
    assert state(good_evidence(MANIFEST.digest, **changes), condition) == expected


def test_an_account_that_reaches_further_is_found_although_every_try_was_refused() -> None:
    good = good_evidence(MANIFEST.digest)
    wide, person = OperatorStanding(True, False), OperatorStanding(False, False)
    assert state(good, "tenancy", wide) == "not_met reaches_further"
    assert state(good, "service_account", person) == "not_met not_an_account"


def test_one_answer_at_another_tenant_is_enough() -> None:
    tries = tuple(ForeignTry(OTHER, each, 404) for each in FOREIGN_ACTIONS)
    tries += (ForeignTry(TENANT, "instance.read", 200),)
    assert state(good_evidence(MANIFEST.digest, foreign=tries), "tenancy") == "not_met let_in"


def naive(evidence: CheckEvidence) -> str:
    """The verdict, told over again in other words."""
    c, f = evidence.claims, evidence.facts
    bad = bool(c.connections and c.connections.others)
    bad |= c.operator is not None and (f.strangers > 0 or f.acts == 0)
    bad |= any(each.status not in (403, 404) for each in c.foreign)
    reached, heard = ({e.event.value for e in each} for each in (f.reached, c.heard))
    bad |= not {"requested", "running", "deleting", "deleted"} <= reached or not reached <= heard
    bad |= bool(c.policy and c.policy.source == "main" and c.policy.refusal != "artifact_unusable")
    steps = [
        each
        for each in f.steps
        if each.step == "delete"
        or (each.before != each.version and "1.0.0" in (each.before, each.version))
    ]
    bad |= any(each.kills and 0 in (each.seen_seq, each.ended_seq) for each in steps)
    bad |= bool(c.runbook and c.runbook.unknown)
    if bad:
        return "not_ready"
    whole = bool(c.connections and c.connections.looks) and c.operator is not None
    whole &= (
        len({each.action for each in c.foreign}) == len(FOREIGN_ACTIONS) and "failed" in reached
    )
    whole &= bool(c.policy and c.policy.source == "main") and c.runbook is not None
    whole &= {each.step.value for each in steps if each.kills} == {"upgrade", "rollback", "delete"}
    return "ready" if whole else "undecided"


@given(evidences(MANIFEST.digest))
def test_the_verdict_is_that_of_a_naive_reading(evidence: CheckEvidence) -> None:
    found = judge(evidence, MANIFEST, standing=GOOD)
    assert found.verdict.value == naive(evidence)
    assert all(told(each.reason, each.numbers) for each in found.findings)


def test_every_word_has_its_sentence() -> None:
    assert (set(CONDITIONS), set(VERDICTS)) == (set(ReadinessCondition), set(Readiness))
    assert ConditionState.MET in {ConditionState(each) for each in ("met", "not_met", "not_tried")}


# -- what evidence may say -------------------------------------------------------------------


@given(evidences(MANIFEST.digest))
def test_evidence_has_one_spelling(evidence: CheckEvidence) -> None:
    assert read_evidence(evidence.canonical) == evidence
    assert len(evidence.canonical) < BYTES_MAX
    spaced = json.dumps(json.loads(evidence.canonical), indent=1)
    with pytest.raises(InvalidValue):
        read_evidence(spaced)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("claims", "operator"), "a secret with spaces"),
        (("claims", "connections", "others"), ["token.example:443"]),
        (("claims", "connections", "others"), ["10.0.0.1:053"]),
        (("claims", "connections", "others"), ["10.0.0.1:5"] * 17),
        (("claims", "connections", "note"), "mk_secret"),
        (("claims", "policy", "refusal"), "mk_secret"),
        (("claims", "foreign"), [{"scope": "other_project", "action": "x.y", "status": 404}]),
        (("claims", "kills"), [{"step": "upgrade", "seq": -1}]),
        (("claims", "kills"), [{"step": "upgrade", "seq": 1}] * 9),
        (("claims", "note"), "mk_secret"),
        (("facts", "acts"), True),
        (("note",), "mk_secret"),
        (("version",), "latest"),
    ],
)
def test_evidence_has_no_place_for_anything_else(place: tuple[str, ...], value: Any) -> None:
    plain = json.loads(good_evidence(MANIFEST.digest).canonical)
    held = plain
    for each in place[:-1]:
        held = held[each]
    held[place[-1]] = value
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    with pytest.raises(InvalidValue) as refused:
        read_evidence(text)
    assert "secret" not in str(refused.value)


def test_an_endpoint_has_one_spelling() -> None:
    for good in ("127.0.0.1:80", "[::1]:65535"):
        assert check_endpoint(good) == good
    for bad in ("127.0.0.1", "::1:80", "[::1]:65536", "127.0.0.01:80", "host:80", "[0::1]:80"):
        with pytest.raises(InvalidValue):
            check_endpoint(bad)


def test_everything_that_can_be_asked_about_instances_is_tried_elsewhere() -> None:
    known = [name for name in ACTIONS if name.startswith("instance")]
    assert sorted(FOREIGN_ACTIONS) == sorted(known)


# -- what records say ------------------------------------------------------------------------


def move(seq: int, before: str, phase: str, *, actor: str = PLATFORM, seen: int = 1) -> ToldRow:
    body = {"before": before, "phase": phase, "generation": seen, "observed_generation": seen}
    return ToldRow(seq, "app_instance_moved", actor, body)


def life(*, reporter: str = "bot") -> list[ToldRow]:
    """An instance that is upgraded once, its operator being killed at record 5."""
    upgrade = {"change": "version", "version": "1.0.0", "generation": 2}
    return [
        ToldRow(1, "app_instance_requested", "ann", {"version": "0.9.0"}),
        move(2, "requested", "requested", actor=reporter),
        move(3, "provisioning", "running"),
        ToldRow(4, "app_instance_changed", "ann", upgrade),
        move(6, "updating", "updating", actor=reporter, seen=2),
        move(7, "updating", "running", seen=2),
    ]


KILL = OperatorKill(LifeStep.UPGRADE, 5)


def test_a_step_is_taken_up_by_a_report_after_the_kill_and_before_its_end() -> None:
    facts = tell_facts(life(), version="1.0.0", operator="bot", kills=[KILL])
    (step,) = facts.steps
    assert (step.kills, step.seen_seq, step.ended_seq, facts.acts) == (1, 6, 7, 2)
    assert {each.event: each.seq for each in facts.reached} == {
        LifecycleEvent.REQUESTED: 1,
        LifecycleEvent.RUNNING: 7,
    }


def test_what_ran_in_another_version_did_not_run_in_this_one() -> None:
    facts = tell_facts(life()[:3], version="1.0.0", operator="bot", kills=[])
    assert [each.event for each in facts.reached] == [LifecycleEvent.REQUESTED]


def test_a_report_under_another_name_is_a_strangers_and_takes_nothing_up() -> None:
    facts = tell_facts(life(reporter="ann"), version="1.0.0", operator="bot", kills=[KILL])
    assert (facts.acts, facts.strangers, facts.steps[0].seen_seq) == (0, 2, 0)


def test_a_kill_before_it_was_asked_or_after_its_end_does_not_count() -> None:
    kills = [OperatorKill(LifeStep.UPGRADE, seq) for seq in (3, 7)]
    facts = tell_facts(life(), version="1.0.0", operator="bot", kills=kills)
    assert facts.steps[0].kills == 0


def test_a_deletion_by_force_is_no_end() -> None:
    rows = [
        *life(),
        ToldRow(8, "app_instance_changed", "ann", {"change": "delete", "generation": 3}),
        move(9, "running", "deleting", actor="ann", seen=2),
    ]
    forced = move(10, "deleting", "deleted", seen=2)
    forced = forced._replace(body={**forced.body, "forced": 1})
    steps = tell_facts([*rows, forced], version="1.0.0", operator="bot", kills=[]).steps
    assert [each.ended_seq for each in steps] == [7, 0]


def test_the_platform_acts_under_the_name_by_which_it_is_known_here() -> None:
    assert PLATFORM == ACTOR


# -- the runbook -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Symptom\nx\n# Correlation id\n\n# Steps\n1. `bailiwick trace`\n", (2, 1, 1)),
        ("# Symptom\nx\n# Correlation id\ny\n# Steps\n1. Look at it.\n", (3, 1, 0)),
        ("# Symptom\n`bailiwick trace`\n# Correlation id\ny\n# Steps\n- z\n", (3, 1, 0)),
        ("# Symptom\nx\n# Correlation ID\ny\n## Steps\n1. `$ bailiwick job list`\n", (3, 1, 1)),
        ("", (0, 0, 0)),
    ],
)
def test_a_runbook_is_read_by_its_headings(text: str, expected: tuple[int, ...]) -> None:
    found = read_triage(text)
    assert (found.sections, found.steps, len(found.commands)) == expected

"""What a record means to whom, held against a naive reading of the same rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.iam import FLEET, Directory, Permission, Role, Scope, ScopeLevel, ServiceAccount
from bailiwick.kernel import ChangeMode, DepartNode, OpenNode, RegisterNode, ReportHealth
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.phrases.notices.texts import text_of, title_of
from bailiwick.services.notices.tidings import (
    RECIPIENTS_MAX,
    may_know,
    may_matter,
    passes_through,
    read_ended,
    read_line,
    recipients,
    vouched_roles,
)
from bailiwick.store.notices.endings import EndedWork
from bailiwick.store.notices.told import Tiding
from bailiwick.vocab.notices import KEY_OF, NoticeKind
from bailiwick.vocab.transitions import NodeMode
from tests.unit.kernel.desk import Desk, cores

JOURNAL = "3f9a"
SECRET = "hunter2"


def line(kind: str, body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "seq": 9,
        "at_ms": 5,
        "tenant": None,
        "project": None,
        "body": body,
        **more,
    }


def tell(kind: str, body: dict[str, Any], **more: Any) -> Tiding | None:
    return read_line(line(kind, body, **more), journal=JOURNAL, holder=lambda lease_id: "ann")


def warning(**more: Any) -> dict[str, Any]:
    told = {
        "lease_id": 7,
        "before": "revoke_warning",
        "after": "grace_running",
        "expires_ms": 300_005,
    }
    return {**told, "reason": "operator_drain", "preemptor": "rival-bob", **more}


def test_a_lease_that_must_go_is_its_owners_to_know_with_the_time_that_is_left() -> None:
    told = tell("lease_revoked", warning(), tenant="lab", project="p")
    assert told is not None
    assert (told.kind, told.owner) == (NoticeKind.PREEMPTION_ANNOUNCED, "ann")
    assert told.scope == Scope("lab", "p")
    assert dict(told.facts) == {"lease_id": 7, "reason": "operator_drain", "expires_ms": 300_005}


def test_whose_lease_stays_after_all_is_told_that_too_and_not_for_whom_it_had_to_go() -> None:
    body = {"lease_id": 7, "generation": 3, "expires_ms": 300_000, "preemptor": "rival-bob"}
    told = tell("lease_restored", body, tenant="lab", project="p")
    assert told is not None
    assert (told.kind, told.owner) == (NoticeKind.PREEMPTION_ANNOUNCED, "ann")
    assert dict(told.facts) == {"lease_id": 7, "expires_ms": 300_000, "stays": 1}
    assert title_of(told.kind, told.facts) == "Lease 7 stays after all"
    text = text_of(told.kind, told.facts, at_ms=5)
    assert "goes on for its old term, which ends at 1970-01-01 00:05:00 UTC." in text
    nobody = line("lease_restored", body)
    assert read_line(nobody, journal=JOURNAL, holder=lambda lease_id: None) is None


def test_whose_machine_failed_a_check_is_told_which() -> None:
    told = tell("lease_revoked", warning(preemptor="health", rule="ecc"), tenant="lab", project="p")
    assert told is not None
    assert (told.facts["preemptor"], told.facts["rule"]) == ("health", "ecc")
    text = text_of(told.kind, told.facts, at_ms=5)
    assert "the machine failed a check: ecc (memory errors that could not be corrected)." in text
    assert "operator" not in text


def test_who_gives_a_lease_back_is_not_told_that_it_goes() -> None:
    assert tell("lease_revoked", warning(released=1)) is None
    assert tell("lease_revoked", warning(after="revoke_warning")) is None


def test_a_lease_that_nobody_is_known_to_hold_is_told_to_nobody() -> None:
    record = line("lease_revoked", warning())
    assert read_line(record, journal=JOURNAL, holder=lambda lease_id: None) is None


def test_work_that_spends_a_budget_is_told_at_each_of_its_marks() -> None:
    """From the kernel's own records, not from ones that look like them."""
    desk = Desk(nodes=[cores(8)], grace_ms=500)
    desk.do(SetRateCard(replace(LIST_PRICES, core_micros_per_hour=3_600_000)))  # one a millisecond
    desk.do(SetBudget(Budget("lab", limit_micros=1_000, thresholds=(800, 900))))
    desk.at(2_000).lease(cpu_cores=1, ttl_ms=10**6)
    for at_ms in range(2_100, 3_300, 100):
        desk.tick(at_ms)
    lines = [sealed for sealed in desk.lines if may_matter(sealed)]
    read = [read_line(json.loads(each), journal=JOURNAL, holder=str) for each in lines]
    told = [each for each in read if each and each.kind is NoticeKind.BUDGET_REACHED]
    facts = [(each.facts["state"], each.facts["spent_micros"]) for each in told]
    assert facts == [("low_balance", 800), ("low_balance", 900), ("depleted", 1_000)]
    assert {each.scope for each in told} == {Scope("lab")}
    assert {each.facts["limit_micros"] for each in told} == {1_000}


def test_a_budget_that_got_more_room_is_told_to_nobody() -> None:
    """From the kernel's own records: fewer of its thresholds are passed than before."""
    desk = Desk(nodes=[cores(8)], grace_ms=500)
    desk.do(SetRateCard(replace(LIST_PRICES, core_micros_per_hour=3_600_000)))  # one a millisecond
    desk.do(SetBudget(Budget("lab", limit_micros=1_000, thresholds=(500, 800, 900))))
    desk.at(2_000).lease(cpu_cores=1, ttl_ms=10**6)
    desk.tick(2_950)
    told = len(desk.lines)
    for limit in (1_500, 1_150):  # 63 % are spent, and then 82 %
        desk.do(SetBudget(Budget("lab", limit_micros=limit, thresholds=(500, 800, 900))))
        desk.tick(desk.now_ms)
    records = [json.loads(each) for each in desk.lines[told:]]
    changed = [each for each in records if each["kind"] == "budget_state_changed"]
    assert [(r["body"]["crossed_before"], r["body"]["crossed"]) for r in changed] == [
        (3, 1),
        (1, 2),
    ]
    read = [read_line(each, journal=JOURNAL, holder=str) for each in changed]
    assert [None if each is None else each.facts["limit_micros"] for each in read] == [None, 1_150]


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        ("healthy", "low_balance", True),
        ("low_balance", "low_balance", True),
        ("low_balance", "auto_release_pending", True),
        ("healthy", "depleted", True),
        ("auto_release_pending", "depleted", False),
        ("depleted", "healthy", False),
        ("depleted", "low_balance", False),
    ],
)
def test_a_budget_is_told_when_it_gets_worse(before: str, after: str, is_told: bool) -> None:
    body = {"before": before, "after": after, "spent_micros": 8, "limit_micros": 10, "crossed": 1}
    assert (tell("budget_state_changed", body, tenant="lab") is not None) is is_told


def test_a_node_is_told_when_it_is_drained_and_when_it_is_lost() -> None:
    assert tell("node_mode_changed", {"node": "n1", "before": "x", "after": "draining"}) is None
    body = {"node": "n1", "before": "draining", "after": "drained", "note": SECRET}
    drained = tell("node_mode_changed", body)
    gone = tell("node_departed", {"node": "n1", "lease_ids": [1, 2], "leases_left": 3})
    closed = tell("node_quarantined", {"node": "n1", "reason": SECRET})
    assert drained is not None
    assert gone is not None
    assert closed is not None
    assert dict(drained.facts) == {"node": "n1"}
    assert gone.facts["leases"] == 5
    assert closed.facts == {"node": "n1", "cause": "quarantined"}


def told_of(desk: Desk) -> list[str]:
    """The nodes that people are told are drained, by the kernel's own records."""
    lines = [json.loads(sealed) for sealed in desk.lines]
    found = []
    for each, after in zip(lines, [*lines[1:], None], strict=True):
        read = read_line(each, journal=JOURNAL, holder=str)
        if read and read.kind is NoticeKind.NODE_DRAINED and not passes_through(each, after):
            found.append(str(read.facts["node"]))
    return found


def test_a_node_that_only_passes_through_drained_on_its_way_back_is_told_to_nobody() -> None:
    desk = Desk(nodes=[cores(4, gpus=1)] * 2)
    desk.do(ReportHealth("n1", (), can_test=True))
    desk.do(DepartNode("n1"))
    desk.do(RegisterNode("n1", cores(4, gpus=1)))  # it is tested before it takes work
    assert desk.state.ledger.entry("n1").mode is NodeMode.RETURNING
    assert told_of(desk) == []
    desk.do(ChangeMode("n2", NodeMode.DRAINING))
    desk.tick(desk.now_ms + 1)
    assert told_of(desk) == ["n2"]
    desk.at(desk.now_ms + 1).do(OpenNode("n2"))  # the very next record, and another's word
    assert told_of(desk) == ["n2"]


def test_notes_and_evidence_are_in_no_tiding_and_names_are_one_short_line() -> None:
    body = {"finding": "x" * 500, "severity": "high", "subject": "a\r\nBcc: b", "note": SECRET}
    found = tell("finding_reported", body)
    assert found is not None
    assert SECRET not in str(found)
    assert found.facts["subject"] == "a??Bcc: b"
    assert len(str(found.facts["finding"])) == 128


def test_a_job_is_told_to_its_submitter_without_what_it_ran() -> None:
    whose = "lab", "p", "train\n", "ann"
    job = EndedWork(NoticeKind.JOB_ENDED, 3, *whose, "failed", None, exit_code=2)
    told = read_ended(job, journal=JOURNAL, now_ms=11)
    assert (told.owner, told.at_ms, told.message) == ("ann", 11, "job_3f9a_3")
    assert dict(told.facts) == {"job_id": 3, "phase": "failed", "name": "train?", "exit_code": 2}


def test_a_glance_never_misses_a_record_that_somebody_is_told_of() -> None:
    kinds = ("lease_revoked", "budget_state_changed", "node_mode_changed", "node_departed")
    kinds += ("node_quarantined", "finding_reported", "isolation_violated")
    kinds += ("node_health_changed", "node_test_ended")
    for kind in kinds:
        assert may_matter(b'{"body":{"note":"x"},"kind":"%s","seq":1}' % kind.encode())
    assert not may_matter(b'{"body":{"x":"\\"kind\\":\\"node_departed\\""},"kind":"role_set"}')


# -- to whom, against a naive reference --------------------------------------------------------

NAMES = ("ann", "bob", "bot", "node:n1", "jobs", "app:7")
SCOPES = (FLEET, Scope("lab"), Scope("lab", "p"), Scope("rival"), Scope("rival", "p"))


@st.composite
def directories(draw: st.DrawFn) -> Directory:
    found = Directory()
    for name in NAMES:
        held = draw(st.lists(st.sampled_from(SCOPES), unique=True, max_size=3))
        levels = {s: [r for r in Role if r.level is s.level] for s in held}
        found.roles[name] = {s: draw(st.sampled_from(levels[s])) for s in held}
    found.accounts["bot"] = ServiceAccount("bot", Scope("lab"))
    return found


tidings = st.builds(
    lambda kind, scope, owner: Tiding(message="m", kind=kind, at_ms=0, scope=scope, owner=owner),
    st.sampled_from(tuple(KEY_OF)),
    st.sampled_from(SCOPES),
    st.none() | st.sampled_from((*NAMES, "stranger")),
)


def naive_rights(directory: Directory, name: str, scope: Scope) -> set[Permission]:
    return {
        key
        for held, role in directory.roles.get(name, {}).items()
        for key in role.permissions
        if held.tenant is None
        or (held.tenant == scope.tenant and held.project in (None, scope.project))
    }


def naive_recipients(tiding: Tiding, directory: Directory) -> set[str]:
    people = {name for name in ("ann", "bob") if directory.roles.get(name)}
    able = {n for n in people if KEY_OF[tiding.kind] in naive_rights(directory, n, tiding.scope)}
    if tiding.owner is not None:
        return able & {tiding.owner}
    if tiding.scope.tenant is None:
        return {n for n in able if Scope() in directory.roles[n]}
    inside = Directory(
        roles={n: {s: r for s, r in directory.roles[n].items() if s.tenant} for n in able}
    )
    rights = {n: naive_rights(inside, n, tiding.scope) for n in able}
    return {n for n in able if Permission.MEMBER_MANAGE in rights[n]}


@given(tidings, directories())
def test_who_is_told_is_who_a_naive_reading_names(tiding: Tiding, directory: Directory) -> None:
    found = recipients(tiding, directory)
    assert set(found) == naive_recipients(tiding, directory)
    assert list(found) == sorted(found)
    assert all(may_know(tiding, name, directory=directory) for name in found)


@given(directories(), st.sampled_from(tuple(KEY_OF)))
def test_nobody_is_told_of_a_tenant_where_he_has_nothing(
    directory: Directory, kind: NoticeKind
) -> None:
    tiding = Tiding(message="m", kind=kind, at_ms=0, scope=Scope("rival", "p"))
    for name in recipients(tiding, directory):
        assert any(held.covers(tiding.scope) for held in directory.roles[name])


def test_what_only_groups_gave_counts_while_their_provider_vouches_for_it() -> None:
    directory = Directory()
    directory.roles["campus:eve"] = {
        FLEET: Role.FLEET_OPERATOR,
        Scope("lab"): Role.TENANT_ADMIN,
    }
    directory.given["campus:eve"] = {FLEET: "campus"}
    drained = Tiding(message="m", kind=NoticeKind.NODE_DRAINED, at_ms=0, scope=FLEET)
    budget = Tiding(message="m", kind=NoticeKind.BUDGET_REACHED, at_ms=0, scope=Scope("lab"))
    for providers, is_told in ((("campus", "other"), True), (("other",), False), ((), False)):
        roles = vouched_roles("campus:eve", directory, providers=providers)
        for tiding, expected in ((drained, is_told), (budget, True)):
            found = may_know(tiding, "campus:eve", directory=directory, roles=roles)
            assert found is expected, (providers, tiding)
    assert vouched_roles("stranger", directory, providers=()) == {}


def test_so_many_are_told_of_one_thing_at_most() -> None:
    directory = Directory()
    for number in range(RECIPIENTS_MAX + 5):
        directory.roles[f"op-{number:03}"] = {FLEET: Role.FLEET_OPERATOR}
    assert Role.FLEET_OPERATOR.level is ScopeLevel.FLEET
    tiding = Tiding(message="m", kind=NoticeKind.NODE_DRAINED, at_ms=0, scope=FLEET)
    assert recipients(tiding, directory)[-1] == f"op-{RECIPIENTS_MAX - 1:03}"


def test_a_node_that_is_closed_for_its_health_is_told_with_the_gravest_findings() -> None:
    found = [f"xid/fail/{gpu}/1/0/79" for gpu in range(60)]
    told = tell("node_health_changed", {"node": "n1", "findings": found, "action": "drain"})
    assert told is not None
    assert (told.kind, told.facts["node"]) == (NoticeKind.NODE_DRAINED, "n1")
    assert str(told.facts["findings"]).startswith("xid/fail/0/1/0/79 xid/fail/1/")
    assert len(str(told.facts["findings"])) <= 128
    assert tell("node_health_changed", {"node": "n1", "findings": found}) is None


def test_a_node_that_did_not_pass_its_test_is_told_and_one_that_passed_is_not() -> None:
    body = {"node": "n1", "test_id": 4, "findings": ["ecc/fail/3/2/0/0"]}
    failed = tell("node_test_ended", {**body, "outcome": "failed"})
    late = tell("node_test_ended", {**body, "outcome": "timed_out", "findings": []})
    assert failed is not None
    assert late is not None
    assert {failed.kind, late.kind} == {NoticeKind.NODE_DRAINED}
    assert failed.facts == {"node": "n1", "action": "test_failed", "findings": "ecc/fail/3/2/0/0"}
    assert late.facts == {"node": "n1", "action": "test_timed_out", "findings": ""}
    for outcome in ("passed", "cancelled"):
        assert tell("node_test_ended", {**body, "outcome": outcome}) is None

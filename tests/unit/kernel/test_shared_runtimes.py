"""Shared runtimes in the kernel: what follows, what is refused, and what must be impossible."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.apps.overlays import Overlay
from bailiwick.apps.places import BY_ROOT
from bailiwick.apps.shared.submitting import SubmitAllowed, SubmitWish, may_submit
from bailiwick.apps.status import MemberPlan, plan_members
from bailiwick.executors.local.modes import JobMode
from bailiwick.fleet.node import JOB_MODE_LABEL, TRUSTED_JOBS, NodeCapacity
from bailiwick.kernel import RegisterNode, State, decode, digest_of, encode
from bailiwick.kernel.apps.commands import SetEntitlement
from bailiwick.kernel.apps.instance_commands import (
    ChangeInstance,
    ChangeMember,
    DeleteInstance,
    FinishDeletion,
    ForceDeletion,
    MoveMember,
)
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared import joining, policies, rules
from bailiwick.kernel.apps.shared.book import SharedBook
from bailiwick.kernel.apps.shared.dump import dump_shared, load_shared, repair_shared
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slices import apply, event_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.app_uses import INSTANCE_LABEL
from bailiwick.vocab.apps import InstancePhase, MemberAction, MemberPhase, PolicyAxis
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import (
    Conflict,
    InstanceRefused,
    InvalidValue,
    LimitReached,
    NotFound,
    SharedRuntimeRefused,
)
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ConsentSide,
    ContributionPhase,
    SharedRefusal,
    WorkerAction,
)
from tests.support.shared_house import OF, PROJECT, TENANT, SharedHouse, creation

READY, REMOVED, FAILED = MemberPhase.READY, MemberPhase.REMOVED, MemberPhase.FAILED
DRAIN, WITHDRAW = WorkerAction.DRAIN, WorkerAction.WITHDRAW
WHY = SharedRefusal
OWNER = {"tenant": "lab", "project": "vision", "instance_id": 1}


@pytest.fixture
def house() -> SharedHouse:
    return SharedHouse()


def refused(house: SharedHouse, command: Any) -> SharedRuntimeRefused:
    size = house.kernel.state.size
    with pytest.raises(SharedRuntimeRefused) as found:
        house.do(command)
    assert house.kernel.state.size == size
    return found.value


def consent(project: str, side: ConsentSide, by: str, **changes: Any) -> cmd.ConsentAttachment:
    return cmd.ConsentAttachment(**(OF | changes), project=project, side=side, by=by)


def give(project: str, component: str, role: str = "worker") -> cmd.ChangeContribution:
    about = {**OF, "project": project, "component_key": component, "key": "g", "role": role}
    return cmd.ChangeContribution(**about, action=WorkerAction.CONTRIBUTE)


def kinds(told: Any) -> list[str]:
    return [kind for kind, _ in told]


def can(house: SharedHouse, person: str, project: str, owner: str, **rest: Any) -> Any:
    now_ms = rest.get("now_ms", house.now_ms)
    wish = SubmitWish(person, project, owner, rest.get("queue", "day"))
    return may_submit(house.shared.facts, wish, now_ms=now_ms)


# -- making one ---------------------------------------------------------------------------------


def test_a_runtime_is_an_instance_of_its_owner_record_that_serves_the_tenant(
    house: SharedHouse,
) -> None:
    told = house.create(controller={"zone": "a"})
    assert kinds(told)[0] == "app_instance_requested"
    assert kinds(told)[-1] == "shared_runtime_created"
    sealed = told[-1][1]
    runtime, i = house.shared.runtime, house.instance()
    assert (i.project, i.scope.value, i.name) == ("vision", "tenant", "main")
    assert (runtime.instance_id, runtime.project, runtime.controller) == (
        1,
        "vision",
        {"zone": "a"},
    )
    assert (sealed["accepted_by"], sealed["billing_digest"]) == ("tina", runtime.billing_digest)
    assert "".join(sealed["billing_rule"]) == runtime.billing_rule
    assert house.records[runtime.seq - house.records[0].seq].kind == "shared_runtime_created"
    assert (house.records[-1].tenant, house.records[-1].project) == ("lab", None)


def test_nobody_makes_one_without_accepting_who_pays(house: SharedHouse) -> None:
    found = refused(house, creation())
    assert found.reason is WHY.BILLING_RULE_NOT_ACCEPTED
    digest = str(found.numbers["digest"])
    # What was accepted is of this very plan: one worker more is another rule.
    other = creation(accepted_digest=digest, counts={"worker": 2})
    assert refused(house, other).reason is WHY.BILLING_RULE_NOT_ACCEPTED
    slower = creation(accepted_digest=digest, withdraw_within_ms=7)
    assert refused(house, slower).reason is WHY.BILLING_RULE_NOT_ACCEPTED
    house.do(creation(accepted_digest=digest))
    assert house.shared.runtime.billing_digest == digest


def test_an_environment_has_one_of_an_app(house: SharedHouse) -> None:
    house.create()
    with pytest.raises(Conflict, match="exists already"):
        house.create()
    found = refused(house, house.accepted(runtime="other"))
    assert found.reason is WHY.ENVIRONMENT_TAKEN
    house.create(runtime="other", environment="test")
    assert [each.runtime.name for each in house.book.shared.of("lab")] == ["main", "other"]
    assert [*house.book.shared.of("firm")] == []


def test_what_an_instance_may_not_be_a_runtime_may_not(house: SharedHouse) -> None:
    with pytest.raises(NotFound, match="project"):
        house.do(creation(project="nobody"))
    with pytest.raises(NotFound, match="version"):
        house.create(version="9.0.0")
    with pytest.raises(InstanceRefused, match="count_out_of_range"):
        house.create(counts={"worker": 9})
    house.do(SetEntitlement("hello", False, Overlay(), "lab", "vision"))
    with pytest.raises(InstanceRefused, match="not_enabled"):
        house.create()
    assert not house.book.shared.held
    assert not house.book.instances.held


def test_runtimes_are_few(house: SharedHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RUNTIMES_MAX", 1)
    house.create()
    with pytest.raises(LimitReached):
        house.create(runtime="other", environment="test")


# -- consents -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [(TENANT, PROJECT), (PROJECT, TENANT)])
def test_both_sides_consent_in_either_order(
    house: SharedHouse, sides: tuple[ConsentSide, ConsentSide]
) -> None:
    house.create()
    house.do(consent("audio", sides[0], "ann"))
    assert house.shared.attachments["audio"].phase is AttachmentPhase.REQUESTED
    assert not house.shared.is_attached("audio")
    (told,) = house.do(consent("audio", sides[1], "bea"))
    assert told[1]["phase"] == "attached"
    assert {told[1]["allowed_by"], told[1]["accepted_by"]} == {"ann", "bea"}
    assert told[1]["allowed_by"] == ("ann" if sides[0] is TENANT else "bea")
    assert house.shared.is_attached("audio")
    assert (house.records[-1].tenant, house.records[-1].project) == ("lab", "audio")


@pytest.mark.parametrize("side", list(ConsentSide))
def test_no_project_is_attached_by_one_side_alone(house: SharedHouse, side: ConsentSide) -> None:
    house.create()
    house.do(consent("audio", side, "ann"))
    for person in ("ann", "bea"):
        with pytest.raises(Conflict, match="has this consent already"):
            house.do(consent("audio", side, person))
    other = PROJECT if side is TENANT else TENANT
    found = refused(house, consent("audio", other, "ann"))
    assert (found.reason, found.numbers["person"]) == (WHY.SAME_PERSON, "ann")
    assert not house.shared.is_attached("audio")


def test_a_project_is_attached_to_nothing_by_default(house: SharedHouse) -> None:
    house.create()
    assert not any(house.shared.is_attached(p) for p in ("vision", "audio", "text", "other"))
    assert refused(house, give("audio", "a-0")).reason is WHY.NOT_ATTACHED
    assert house.book.answering("hello", "lab", project="audio") is None
    house.attach("audio")
    assert house.book.answering("hello", "lab", project="audio") is house.instance()
    assert house.book.answering("hello", "lab", project="text") is None
    house.detach("audio")
    assert house.book.answering("hello", "lab", project="audio") is None


def test_another_tenants_project_has_no_part(house: SharedHouse) -> None:
    house.create()
    # A project is looked for in the runtime's tenant, and a runtime in that of who asks.
    with pytest.raises(NotFound, match="project"):
        house.do(consent("foreign", TENANT, "ann"))
    for command in (
        consent("vision", PROJECT, "mallory", tenant="firm"),
        cmd.ChangeContribution(
            tenant="firm",
            runtime="main",
            project="vision",
            action=WorkerAction.CONTRIBUTE,
            component_key="a-0",
            key="k",
            role="worker",
        ),
        cmd.SetSubmitPolicy(
            tenant="firm",
            runtime="main",
            project="vision",
            policy="p",
            queue="day",
            until_ms=9_000,
            grantee_person="mallory",
        ),
        cmd.DeleteSharedRuntime(tenant="firm", runtime="main"),
    ):
        with pytest.raises(NotFound, match="shared runtime"):
            house.do(command)


def test_consents_are_taken_back_by_either_side(house: SharedHouse) -> None:
    house.create()
    for side in ConsentSide:
        house.do(consent("audio", TENANT, "ann"))
        (told,) = house.detach("audio", side)
        assert (told[1]["before"], told[1]["phase"], told[1]["side"]) == (
            "requested",
            "detached",
            side.value,
        )
        with pytest.raises(NotFound, match="attachment"):
            house.detach("audio", side)
    # What was taken back does not count later.
    house.do(consent("audio", PROJECT, "bea"))
    assert not house.shared.is_attached("audio")


def test_attachments_are_few(house: SharedHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "ATTACHMENTS_MAX", 1)
    house.create()
    house.do(consent("audio", TENANT, "ann"))
    with pytest.raises(LimitReached):
        house.do(consent("text", TENANT, "ann"))


# -- workers ------------------------------------------------------------------------------------


def test_a_contributed_worker_is_beside_what_is_wanted(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    told = house.contribute("audio", "audio-0")
    assert kinds(told)[-2:] == ["shared_contribution_changed", "app_instance_moved"]
    member = house.held().component("audio-0")
    assert (member.source, member.role) == ("audio", "worker")
    assert dict(house.instance().wanted.counts) == {"controller": 1, "worker": 1}
    assert house.held().live("worker") == 0
    assert house.held().contributed("worker") == 1
    (given,) = house.shared.contributions.values()
    assert (given.project, given.phase) == ("audio", ContributionPhase.CONTRIBUTED)
    sealed = next(r for r in house.records if r.kind == "shared_contribution_changed")
    assert (sealed.project, sealed.seq) == ("audio", given.seq)
    # To scale what is reserved leaves it alone, and it fills no reserved place.
    house.do(ChangeInstance(**OWNER, counts={"worker": 0}))
    assert house.held().component("audio-0").is_live


def test_a_worker_comes_from_attached_projects_and_is_of_a_role_that_works(
    house: SharedHouse,
) -> None:
    house.create()
    house.do(consent("audio", TENANT, "ann"))
    assert refused(house, give("audio", "a-0")).reason is WHY.NOT_ATTACHED
    house.do(consent("audio", PROJECT, "bea"))
    found = refused(house, give("audio", "a-0", role="controller"))
    assert found.reason is WHY.ROLE_NOT_CONTRIBUTED
    with pytest.raises(NotFound, match="role"):
        house.do(give("audio", "a-0", role="nothing"))
    house.do(SetEntitlement("hello", False, Overlay(), "lab", "audio"))
    with pytest.raises(InstanceRefused, match="not_enabled"):
        house.do(give("audio", "a-0"))
    house.do(SetEntitlement("hello", True, Overlay(), "lab", "audio"))
    for number in range(4):
        house.contribute("audio", f"a-{number}")
    with pytest.raises(InstanceRefused, match="count_out_of_range"):
        house.contribute("audio", "a-4")


def test_the_lease_of_a_contributed_worker_is_its_sources_and_nobody_elses(
    house: SharedHouse,
) -> None:
    house.create()
    house.attach("audio")
    house.attach("text")
    house.contribute("audio", "audio-0")
    house.do(RegisterNode("n1", NodeCapacity(8, 10**6)))
    leases = {p: house.lease(p) for p in ("vision", "text", "audio")}
    number = house.held().components["audio-0"]
    for other in ("vision", "text"):
        with pytest.raises(NotFound, match="lease"):
            house.phase("audio-0", READY, lease_id=leases[other])
    house.phase("audio-0", READY, lease_id=leases["audio"])
    assert house.held().members[number].lease_id == leases["audio"]
    # Nor does what is reserved run at a project's cost.
    house.do(give_own(house, "controller", "controller-0"))
    with pytest.raises(NotFound, match="lease"):
        house.phase("controller-0", READY, lease_id=house.lease("audio"))


def give_own(house: SharedHouse, role: str, component: str) -> Any:
    about = {**OWNER, "component_key": component, "key": f"add-{component}"}
    return ChangeMember(**about, action=MemberAction.ADD, role=role)


def test_a_worker_is_replaced_at_its_own_projects_cost(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.contribute("audio", "audio-0")
    first = house.held().components["audio-0"]
    house.phase("audio-0", FAILED, reason="preempted")
    told = house.do(changed("audio-0", MemberAction.REPLACE))
    second = house.held().component("audio-0")
    assert (second.id > first, second.source) == (True, "audio")
    assert [each.member_id for each in house.shared.given_by("audio")] == [second.id]
    phases = [body["phase"] for kind, body in told if kind == "shared_contribution_changed"]
    assert phases == ["ended", "contributed"]


def changed(component: str, action: MemberAction) -> Any:
    about = {**OWNER, "component_key": component, "key": f"{action}-{component}"}
    return ChangeMember(**about, action=action)


def test_a_project_has_its_worker_back_within_the_time_agreed(house: SharedHouse) -> None:
    house.create(withdraw_within_ms=60_000)
    house.attach("audio")
    house.contribute("audio", "audio-0")
    house.phase("audio-0", READY)
    house.work(DRAIN, "audio", "audio-0", key="d")
    drained = house.held().component("audio-0")
    manifest = house.book.version("hello", "1.0.0").manifest
    assert drained.deadline_ms == house.now_ms + manifest.delete_within_ms
    assert not drained.forced
    house.work(WITHDRAW, "audio", "audio-0", key="w")
    member = house.held().component("audio-0")
    assert member.deadline_ms == min(drained.deadline_ms, house.now_ms + 60_000)
    house.work(WITHDRAW, "audio", "audio-0", key="w2", within_ms=0)
    member = house.held().component("audio-0")
    assert (member.deadline_ms, member.forced) == (house.now_ms, True)
    # A longer time than was agreed is not had, and none is given back.
    house.work(WITHDRAW, "audio", "audio-0", key="w3", within_ms=86_400_000)
    assert house.held().component("audio-0").deadline_ms == member.deadline_ms
    house.phase("audio-0", REMOVED)
    assert house.shared.given_by("audio") == []
    assert house.shared.is_attached("audio")


def test_what_a_worker_replaced_is_withdrawn_with_it(house: SharedHouse) -> None:
    house.create(withdraw_within_ms=5)
    house.attach("audio")
    house.contribute("audio", "audio-0")
    house.phase("audio-0", READY)
    house.do(changed("audio-0", MemberAction.REPLACE))
    assert len(house.shared.given_by("audio")) == 2
    house.work(WITHDRAW, "audio", "audio-0", key="w")
    deadlines = {each.deadline_ms for each in house.shared.given_by("audio")}
    assert deadlines == {house.now_ms + 5}


def test_a_project_touches_its_own_workers_alone(house: SharedHouse) -> None:
    house.create()
    for project in ("audio", "text"):
        house.attach(project)
    house.contribute("audio", "audio-0")
    house.add_own()
    for action in (DRAIN, WITHDRAW):
        for component in ("audio-0", "controller-0", "nothing"):
            with pytest.raises(NotFound, match="worker"):
                house.work(action, "text", component)
    with pytest.raises(Conflict, match="exists already"):
        house.contribute("text", "audio-0", key="other")
    # The key of one project is not that of another: nobody is told that what he asked for is done.
    with pytest.raises(Conflict, match="exists already"):
        house.contribute("text", "audio-0")


def test_a_worker_operation_happens_once_under_its_key(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.contribute("audio", "audio-0")
    assert house.contribute("audio", "audio-0") == []
    house.work(WITHDRAW, "audio", "audio-0", key="w")
    assert house.work(WITHDRAW, "audio", "audio-0", key="w") == []
    with pytest.raises(Conflict, match="was used for"):
        house.work(DRAIN, "audio", "audio-0", key="w")


# -- nodes that give root -------------------------------------------------------------------------


def test_a_node_whose_jobs_may_do_everything_has_no_part(house: SharedHouse) -> None:
    assert JobMode.TRUSTED.value == TRUSTED_JOBS
    open_node = NodeCapacity(8, 10**6, labels={JOB_MODE_LABEL: TRUSTED_JOBS})
    house.do(RegisterNode("n1", open_node))
    assert refused(house, house.accepted()).reason is WHY.NODES_GIVE_ROOT
    house.do(RegisterNode("n2", NodeCapacity(8, 10**6, labels={JOB_MODE_LABEL: "sandbox"})))
    found = refused(house, house.accepted(controller={"node-name": "n1"}))
    assert (found.reason, found.numbers["nodes"]) == (WHY.NODES_GIVE_ROOT, 1)
    house.create()
    house.attach("audio")
    house.contribute("audio", "audio-0")
    lease = house.lease("audio", **{INSTANCE_LABEL: "1"})
    assert house.kernel.state.node_of(lease) == "n2"
    guard = next(iter(house.kernel.state.guards.policies))
    request = PlacementRequest(
        tenant="lab", project="audio", cpu_cores=1, ttl_ms=9, job_labels={INSTANCE_LABEL: "1"}
    )
    assert guard.closed_by(request) == {BY_ROOT: 1}
    # What is not shared may run there; who gave nothing may not name the instance at all.
    assert house.kernel.state.node_of(house.lease("text")) in ("n1", "n2")
    stranger = PlacementRequest(
        tenant="lab", project="text", cpu_cores=1, ttl_ms=9, job_labels={INSTANCE_LABEL: "1"}
    )
    assert guard.closed_by(stranger) == {"app-instance": 2}


# -- the end of a part ----------------------------------------------------------------------------


@pytest.mark.parametrize("side", list(ConsentSide))
def test_who_is_detached_has_his_workers_back_first(house: SharedHouse, side: ConsentSide) -> None:
    house.create(withdraw_within_ms=60_000)
    for project in ("audio", "text"):
        house.attach(project)
    house.contribute("audio", "audio-0")
    house.contribute("audio", "audio-1")
    house.contribute("text", "text-0")
    house.phase("audio-1", FAILED, reason="lost")
    told = house.detach("audio", side)
    assert house.shared.attachments["audio"].phase is AttachmentPhase.DETACHING
    assert house.held().component("audio-0").deadline_ms == house.now_ms + 60_000
    assert "audio-1" not in house.held().components
    assert house.held().component("text-0").is_live
    assert ("shared_attachment_changed", "detaching") in {(k, b.get("phase")) for k, b in told}
    assert house.detach("audio", side) == []
    assert refused(house, give("audio", "audio-2")).reason is WHY.NOT_ATTACHED
    with pytest.raises(Conflict, match="is detaching"):
        house.do(consent("audio", TENANT, "ann"))
    told = house.phase("audio-0", REMOVED)
    assert kinds(told)[1:3] == ["shared_contribution_changed", "shared_attachment_changed"]
    assert "audio" not in house.shared.attachments
    assert house.shared.is_attached("text")


def test_a_part_without_workers_ends_at_once(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    told = house.detach("audio")
    assert [body["phase"] for _, body in told] == ["detaching", "detached"]
    house.attach("audio")
    assert house.shared.is_attached("audio")


# -- who may submit where -------------------------------------------------------------------------


def test_work_goes_to_ones_own_project_and_by_policy_to_another(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.attach("text")
    own = can(house, "pia", "audio", "audio")
    assert own == SubmitAllowed(house.shared.attachments["audio"].seq)
    assert can(house, "pia", "text", "audio").reason.value == "no_policy"
    house.policy(limits={"gpus": 4}, until_ms=house.now_ms + 100)
    policy = house.shared.policies["audio", "p"]
    told = can(house, "pia", "text", "audio")
    assert told == SubmitAllowed(policy.seq, "p", {"gpus": 4})
    assert house.records[-1].seq == policy.seq
    assert can(house, "pia", "text", "audio", queue="night").reason.value == "no_policy"
    assert can(house, "pia", "other", "audio").reason.value == "not_attached"
    assert can(house, "pia", "audio", "text").reason.value == "no_policy"
    assert can(house, "pia", "audio", "other").reason.value == "owner_not_attached"
    late = can(house, "pia", "text", "audio", now_ms=policy.until_ms)
    assert (late.reason.value, late.seq) == ("policy_ended", policy.seq)
    assert isinstance(can(house, "pia", "text", "audio", now_ms=policy.until_ms - 1), SubmitAllowed)
    house.do(cmd.EndSubmitPolicy(**OF, project="audio", policy="p"))
    assert can(house, "pia", "text", "audio").reason.value == "no_policy"


def test_a_policy_for_a_person_is_his_alone(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.attach("text")
    house.policy(grantee_project=None, grantee_person="pia")
    assert isinstance(can(house, "pia", "text", "audio"), SubmitAllowed)
    assert can(house, "ann", "text", "audio").reason.value == "no_policy"
    assert can(house, "pia", "other", "audio").reason.value == "not_attached"


@pytest.mark.parametrize("leaver", ["audio", "text"])
def test_after_a_detachment_nobody_submits_and_no_policy_comes_back(
    house: SharedHouse, leaver: str
) -> None:
    house.create()
    house.attach("audio")
    house.attach("text")
    house.policy()
    assert isinstance(can(house, "pia", "text", "audio"), SubmitAllowed)
    house.detach(leaver)
    word = "owner_not_attached" if leaver == "audio" else "not_attached"
    assert can(house, "pia", "text", "audio").reason.value == word
    assert can(house, "pia", leaver, leaver).reason.value == "not_attached"
    house.attach(leaver)
    assert can(house, "pia", "text", "audio").reason.value == "no_policy"


def test_policies_are_of_attached_projects_for_the_tenants_own(
    house: SharedHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.create()
    with pytest.raises(SharedRuntimeRefused, match="not_attached"):
        house.policy()
    house.attach("audio")
    with pytest.raises(NotFound, match="project"):
        house.policy(grantee_project="foreign")
    with pytest.raises(Conflict, match="own queues"):
        house.policy(grantee_project="audio")
    with pytest.raises(Conflict, match="would have ended"):
        house.policy(until_ms=house.now_ms)
    house.policy(until_ms=9_000)
    with pytest.raises(Conflict, match="like that already"):
        house.policy(until_ms=9_000)
    house.policy(until_ms=9_001)
    with pytest.raises(NotFound, match="policy"):
        house.do(cmd.EndSubmitPolicy(**OF, project="text", policy="p"))
    monkeypatch.setattr(policies, "POLICIES_MAX", 1)
    with pytest.raises(LimitReached):
        house.policy(name="q")


# -- credentials, the end -------------------------------------------------------------------------


def test_the_use_of_a_credential_is_sealed_and_never_the_credential(house: SharedHouse) -> None:
    house.create()
    use = cmd.NoteCredentialUse(**OF, credential="cluster-key", purpose="render", by="runtime:1")
    ((kind, body),) = house.do(use)
    assert kind == "shared_credential_used"
    assert body == {
        "runtime_id": 1,
        "runtime": "main",
        "credential": "cluster-key",
        "purpose": "render",
        "used_by": "runtime:1",
    }


def test_what_is_behind_a_runtime_is_not_deleted_by_itself(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    found = refused(house, DeleteInstance(**OWNER))
    assert (found.reason, found.numbers["attached"]) == (WHY.BACKS_A_RUNTIME, 1)
    with pytest.raises(NotFound, match="instance"):  # nor is another told that there is one
        house.do(DeleteInstance(tenant="lab", project="text", instance_id=1))


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_deletion_leaves_no_part_and_no_worker(house: SharedHouse, is_forced: bool) -> None:
    house.create()
    for project in ("audio", "text"):
        house.attach(project)
    house.do(consent("other", TENANT, "ann"))
    house.contribute("audio", "audio-0")
    house.policy()
    house.do(cmd.DeleteSharedRuntime(**OF))
    assert house.instance().phase is InstancePhase.DELETING
    assert set(house.shared.attachments) == {"audio"}
    assert house.shared.policies == {}
    assert refused(house, give("text", "t-0")).reason is WHY.RUNTIME_LEAVING
    assert refused(house, consent("text", TENANT, "x")).reason is WHY.RUNTIME_LEAVING
    assert can(house, "pia", "audio", "audio").reason.value == "runtime_leaving"
    assert house.do(cmd.DeleteSharedRuntime(**OF)) == []
    if is_forced:
        house.now_ms = 10**9
        told = house.do(ForceDeletion(**OWNER, reason="it hangs"))
    else:
        with pytest.raises(Conflict, match="members are left"):
            house.do(FinishDeletion(**OWNER))
        house.phase("audio-0", REMOVED)
        assert house.shared.attachments == {}
        told = house.do(FinishDeletion(**OWNER))
    assert kinds(told)[-1] == "shared_runtime_ended"
    assert (house.book.shared.held, house.book.shared.by_instance) == ({}, {})
    assert house.book.instances.held == {}
    house.create()
    assert house.shared.runtime.id == 2


# -- what lasts -----------------------------------------------------------------------------------


def busy(house: SharedHouse) -> None:
    house.create(controller={"zone": "a"})
    house.attach("audio")
    house.attach("text")
    house.do(consent("other", PROJECT, "bea"))
    house.contribute("audio", "audio-0")
    house.contribute("text", "text-0")
    house.work(DRAIN, "text", "text-0", key="d")
    house.policy(limits={"gpus": 2})
    house.policy(name="q", grantee_project=None, grantee_person="pia")


def test_records_and_snapshots_tell_the_same(house: SharedHouse) -> None:
    busy(house)
    state = house.kernel.state
    replayed = State()
    for record in house.records:
        apply(replayed, event_of(record), record.at_ms, course=record.correlation_id)
    assert replayed.apps.shared == state.apps.shared
    read = decode(encode(state), digest_of(state))
    assert digest_of(read) == digest_of(state)
    assert read.apps.shared == state.apps.shared
    assert read.apps.instances.held[1].members == state.apps.instances.held[1].members


def test_a_clock_that_was_set_back_takes_the_times_along(house: SharedHouse) -> None:
    busy(house)
    plain = dump_shared(house.book.shared)
    repair_shared(plain, ClockRepair(house.now_ms, house.now_ms - 5))
    book = SharedBook()
    load_shared(book, plain)
    before, after = house.shared, book.get("lab", "main")
    assert after.runtime.created_ms <= before.runtime.created_ms
    due = {each.component_key: each.deadline_ms for each in before.contributions.values()}
    for each in after.contributions.values():
        told = due[each.component_key]
        assert each.deadline_ms == (None if told is None else told - 5)
    # Until when others may come people said by the calendar.
    assert after.policies == before.policies


def test_ill_formed_commands_are_refused() -> None:
    about = {**OF, "project": "audio", "component_key": "a", "key": "k"}
    for fields in (
        {"action": WorkerAction.CONTRIBUTE},
        {"action": WITHDRAW, "role": "worker"},
        {"action": DRAIN, "within_ms": 5},
        {"action": WITHDRAW, "within_ms": -1},
    ):
        with pytest.raises(InvalidValue):
            cmd.ChangeContribution(**about, **fields)
    policy = {**OF, "project": "audio", "policy": "p", "queue": "day", "until_ms": 5}
    for fields in (
        {},
        {"grantee_project": "text", "grantee_person": "pia"},
        {"grantee_project": "text", "limits": {"x": -1}},
        {"grantee_project": "text", "limits": dict.fromkeys("abcdefghi", 1)},
    ):
        with pytest.raises(InvalidValue):
            cmd.SetSubmitPolicy(**policy, **fields)
    for fields in ({"controller": {"a b": "c"}}, {"withdraw_within_ms": -1}, {"by": ""}):
        with pytest.raises(InvalidValue):
            creation(**fields)


def test_the_lines_about_an_app_at_the_source_hold_for_its_workers(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.contribute("audio", "audio-0")
    house.do(RegisterNode("n1", NodeCapacity(8, 10**6, labels={"region": "east"})))
    house.do(RegisterNode("n2", NodeCapacity(8, 10**6, labels={"region": "west"})))
    narrow = Overlay(allow={PolicyAxis.REGIONS: ("west",)})
    house.do(SetEntitlement("hello", True, narrow, "lab", "audio"))
    assert house.kernel.state.node_of(house.lease("audio", **{INSTANCE_LABEL: "1"})) == "n2"
    held = house.held()
    assert held.is_held_by(Owner("lab", "audio"))
    assert not held.is_held_by(Owner("lab", "text"))
    assert not held.is_held_by(Owner("firm", "audio"))


def test_a_member_that_fails_by_itself_is_told_to_nobody_as_an_end(house: SharedHouse) -> None:
    house.create()
    house.attach("audio")
    house.contribute("audio", "audio-0")
    number = house.held().components["audio-0"]
    own = {**OWNER, "member_id": number}
    told = house.do(MoveMember(**own, phase=FAILED, reason="preempted"))
    assert "shared_contribution_changed" not in kinds(told)
    assert house.shared.given_by("audio")[0].phase is ContributionPhase.CONTRIBUTED


def test_contributed_members_are_renewed_apart_and_never_too_many(house: SharedHouse) -> None:
    house.create(counts={"worker": 0})
    house.attach("audio")
    house.add_own()
    house.phase("controller-0", READY)
    for number in range(2):
        house.contribute("audio", f"audio-{number}")
        house.phase(f"audio-{number}", READY)
    assert house.instance().phase is InstancePhase.RUNNING
    assert plan_members(house.held().facts) == MemberPlan()
    house.phase("audio-1", FAILED, reason="lost")
    assert plan_members(house.held().facts) == MemberPlan(renew=("audio-1",))
    assert house.instance().phase is InstancePhase.RUNNING
    house.do(changed("audio-1", MemberAction.REPLACE))
    assert plan_members(house.held().facts) == MemberPlan()
    house.do(ChangeInstance(**OWNER, version="1.1.0"))
    assert plan_members(house.held().facts) == MemberPlan(replace=("controller-0",))
    house.phase("audio-1", READY)
    assert plan_members(house.held().facts).renew == ("audio-0",)

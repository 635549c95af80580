"""What Slurm shall be for a shared runtime: rendered, left out, ended, and whose each job was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.operators.slurm.rendering import DBD_CONF, SLURM_CONF, SUBMIT_LUA
from bailiwick.operators.slurm.shared.attribution import (
    JobUnattributed,
    SacctRow,
    UnattributedReason,
    attribute,
    parse_row,
)
from bailiwick.operators.slurm.shared.books import AccountingBooks, Entry, books_of, difference
from bailiwick.operators.slurm.shared.books_reading import BooksPrinted, read_books
from bailiwick.operators.slurm.shared.limits import QueueLimits
from bailiwick.operators.slurm.shared.mapping import (
    Person,
    SharedMapping,
    SharedNode,
    SharedTerms,
    read_mapping,
)
from bailiwick.operators.slurm.shared.plans import (
    AwaitNone,
    Call,
    CallAgain,
    EndWorker,
    SendAway,
    plan_detach,
    plan_end_of_grant,
    plan_withdraw,
)
from bailiwick.operators.slurm.shared.settings import render_shared, settings
from bailiwick.operators.slurm.shared.shape import (
    LeftOut,
    QueueGrant,
    Unrenderable,
    plan_shape,
)
from bailiwick.operators.slurm.shared.submit_policy import GRANTS
from bailiwick.operators.slurm.wanted import Cluster, ClusterWish, Worker
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.shared import SharedRuntimeView, SubmitRight
from tests.support.paper_sacctmgr import PaperSacctmgr

TERMS = SharedTerms(kinds=("ampere", "hopper"))
ANN = Person("ann@lab", "ann", frozenset(("vision",)))
BO = Person("bo@lab", "bo", frozenset(("audio",)))
BOTH = frozenset(("vision", "audio"))
CLUSTER = Cluster(
    instance_id=7,
    account="core",
    user="slurm",
    address="10.0.0.1",
    host="n0",
    wish=ClusterWish(),
    workers=(Worker("worker-0", "10.0.0.2", host="n1", cpus=4, mem_mib=8_000),),
)


def right(**changed: object) -> SubmitRight:
    told = {
        "owner": "vision",
        "project": "audio",
        "person": None,
        "queue": "main",
        "policy": "day",
        "limits": {},
        "until_ms": 9_000_000,
        "seq": 5,
    }
    return SubmitRight.model_validate(told | changed)


def mapping(*rights: SubmitRight, nodes: tuple[SharedNode, ...] = ()) -> SharedMapping:
    return SharedMapping(BOTH, rights, nodes, (ANN, BO))


def view(**runtime: object) -> SharedRuntimeView:
    row = {
        **dict.fromkeys(("runtime", "tenant", "environment", "owner_project", "app"), "x"),
        **dict.fromkeys(("version", "billing_digest", "accepted_by"), "x"),
        **dict.fromkeys(("runtime_id", "instance_id", "created_ms", "seq"), 1),
        "phase": "running",
        "controller": {},
        "withdraw_within_ms": 0,
        "is_leaving": False,
        **runtime,
    }
    parts = [("vision", "attached"), ("audio", "requested"), ("video", "detaching")]
    workers = [("w1", "vision", "contributed"), ("w2", "vision", "ended")]
    return SharedRuntimeView.model_validate(
        {
            "runtime": row,
            "billing_rule": "",
            "attachments": [
                {"project": name, "phase": phase, "allowed_by": None, "accepted_by": None}
                | {"since_ms": 0, "seq": 1}
                for name, phase in parts
            ],
            "workers": [
                {"project": project, "component_key": key, "phase": phase, "role": "worker"}
                | {"member_id": 1, "lease_id": None, "deadline_ms": None, "since_ms": 0, "seq": 1}
                for key, project, phase in workers
            ],
            "submit_rights": [right().model_dump()],
        }
    )


# --- what counts of a runtime -------------------------------------------------------------------


def test_only_who_is_attached_has_a_part_and_whose_a_node_is_is_what_the_view_says() -> None:
    nodes = [SharedNode("w3", "audio"), SharedNode("w1"), SharedNode("w2")]
    found = read_mapping(view(), nodes=nodes, people=[ANN])
    assert found.attached == {"vision"}
    assert [(node.name, node.project) for node in found.nodes] == [("w1", "vision"), ("w3", None)]


def test_of_a_runtime_that_leaves_nobody_has_a_part() -> None:
    found = read_mapping(view(is_leaving=True), nodes=[], people=[ANN])
    assert (found.attached, found.rights) == (frozenset(), ())


# --- the shape ------------------------------------------------------------------------------


def test_a_guest_runs_in_his_own_account_in_the_queue_that_was_opened_to_him() -> None:
    shape = plan_shape(mapping(right(limits={"gpus-hopper": 2})), TERMS, now_ms=5)
    assert {*shape.grants} == {
        QueueGrant("ann", "vision", "vision", "own+vision", 0, "ann@lab"),
        QueueGrant("bo", "audio", "audio", "own+audio", 0, "bo@lab"),
        QueueGrant("bo", "audio", "vision", "guest+vision+day", 9_000, "bo@lab", "day"),
    }
    assert shape.next_change_ms == 9_000_000
    limits = {each.name: each.limits.tres for each in shape.qos}["guest+vision+day"]
    assert limits == {"gres/gpu": 2, "gres/gpu:ampere": 0, "gres/gpu:hopper": 2}


def test_a_policy_counts_before_its_end_and_never_at_it() -> None:
    assert len(plan_shape(mapping(right()), TERMS, now_ms=8_999_999).grants) == 3
    ended = plan_shape(mapping(right()), TERMS, now_ms=9_000_000)
    assert (len(ended.grants), ended.next_change_ms) == (2, None)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"queue": "night"}, Unrenderable.QUEUE_UNKNOWN),
        ({"limits": {"beds": 2}}, Unrenderable.LIMIT_UNKNOWN),
        ({"limits": {"gpus-volta": 2}}, Unrenderable.LIMIT_UNKNOWN),
        ({"policy": "Day"}, Unrenderable.ACCOUNT_NAME),
    ],
)
def test_a_policy_that_cannot_be_kept_opens_nothing_and_is_told(
    changed: dict[str, object], why: Unrenderable
) -> None:
    shape = plan_shape(mapping(right(**changed)), TERMS, now_ms=5)
    assert len(shape.grants) == 2
    assert [each.why for each in shape.left_out] == [why]


def test_a_project_or_a_user_that_is_slurms_own_is_left_out_and_the_rest_goes_on() -> None:
    people = (
        Person("eve@lab", "root", frozenset(("vision",))),
        Person("kim@lab", "twin", frozenset(("vision",))),
        Person("lea@lab", "twin", frozenset(("vision",))),
        ANN,
    )
    found = SharedMapping(frozenset(("root", "Vision", "vision")), (), (), people)
    shape = plan_shape(found, TERMS, now_ms=0)
    assert shape.accounts == ("vision",)
    assert [each.user for each in shape.grants] == ["ann"]
    assert {*shape.left_out} == {
        LeftOut("project", "root", Unrenderable.ACCOUNT_NAME),
        LeftOut("project", "Vision", Unrenderable.ACCOUNT_NAME),
        LeftOut("person", "eve@lab", Unrenderable.USER_NAME),
        LeftOut("person", "kim@lab", Unrenderable.USER_TAKEN),
        LeftOut("person", "lea@lab", Unrenderable.USER_TAKEN),
    }


def test_a_limit_of_a_project_that_is_not_understood_closes_its_queue() -> None:
    terms = replace(TERMS, own_limits={"vision": {"beds": 1}})
    shape = plan_shape(mapping(), terms, now_ms=0)
    assert [each.user for each in shape.grants] == ["bo"]
    assert {each.name: each.limits.submitted for each in shape.qos}["own+vision"] == 0


def test_who_may_not_meet_shares_no_fabric_and_is_no_guest_there() -> None:
    nodes = (
        SharedNode("w1", "vision", frozenset([("fabric", "x"), ("rack", "r1")])),
        SharedNode("w2", None, frozenset([("fabric", "x"), ("rack", "r1")])),
        SharedNode("w3", None, frozenset([("fabric", "y"), ("rack", "r1")])),
    )
    terms = replace(TERMS, reserved_for=BOTH, apart=frozenset((("fabric", BOTH),)))
    shape = plan_shape(mapping(right(), nodes=nodes), terms, now_ms=5)
    assert {each.name: each.nodes for each in shape.partitions} == {
        "audio": ("w3",),
        "vision": ("w1", "w2"),
    }
    assert LeftOut("policy", "vision/day", Unrenderable.MAY_NOT_MEET) in shape.left_out
    for nothing in (frozenset(), frozenset((("region", BOTH),))):
        apart = replace(terms, apart=nothing)
        together = plan_shape(mapping(right(), nodes=nodes), apart, now_ms=5)
        assert {each.nodes for each in together.partitions} == {("w2", "w3"), ("w1", "w2", "w3")}
    one_rack = replace(terms, apart=frozenset((("rack", BOTH),)))
    together = plan_shape(mapping(right(), nodes=nodes), one_rack, now_ms=5)
    assert {each.name: each.nodes for each in together.partitions if each.nodes} == {
        "vision": ("w1", "w2", "w3")
    }


# --- files ----------------------------------------------------------------------------------


def test_the_files_have_a_partition_for_each_project_and_none_in_common() -> None:
    nodes = (SharedNode("worker-0", "vision"),)
    shape = plan_shape(mapping(right(), nodes=nodes), TERMS, now_ms=5)
    files = render_shared(CLUSTER, shape, terms=TERMS)
    lines = files[SLURM_CONF].splitlines()
    partitions = [line for line in lines if line.startswith("PartitionName=")]
    assert partitions == [
        "PartitionName=audio Default=NO MaxTime=INFINITE AllowAccounts=audio "
        "AllowQos=own+audio DisableRootJobs=YES State=UP",
        "PartitionName=vision Nodes=worker-0 Default=NO MaxTime=INFINITE "
        "AllowAccounts=audio,vision AllowQos=guest+vision+day,own+vision "
        "DisableRootJobs=YES State=UP",
    ]
    keys = [line.partition("=")[0] for line in lines if not line.startswith(("Node", "Part"))]
    assert len(keys) == len({*keys}), "no key is said twice"
    for line in (
        "AccountingStorageEnforce=associations,limits,qos,safe,wckeys",
        "EnforcePartLimits=ALL",
        "JobSubmitPlugins=lua",
        "MCSPlugin=mcs/account",
        "MCSParameters=enforced,select,privatedata",
        "MinJobAge=60",
        "PrivateData=accounts,events,jobs,reservations,usage,users",
    ):
        assert line in lines
    assert "PrivateData=accounts," in files[DBD_CONF]
    assert files[GRANTS].splitlines()[-1] == "end 3"
    assert "pcall" in files[SUBMIT_LUA]


def test_tokens_are_only_those_that_the_platform_signs() -> None:
    assert "AuthAltTypes" not in settings(TERMS)
    found = settings(replace(TERMS, jwt_key="@STATE@/jwt.key"))
    assert found["AuthAltParameters"] == "jwt_key=@STATE@/jwt.key,disable_token_creation"


def test_nobody_has_the_daemons_own_user() -> None:
    terms = replace(TERMS, users_kept=frozenset())
    shape = plan_shape(mapping(), terms, now_ms=0)
    with pytest.raises(InvalidValue, match="nobody's own"):
        render_shared(replace(CLUSTER, user="ann"), shape, terms=terms)


@pytest.mark.parametrize(
    "changed",
    [
        {"queues": ()},
        {"queues": ("a b",)},
        {"queues": ("a", "a")},
        {"jwt_key": "x,y"},
        {"min_job_age_s": 0},
        {"apart": frozenset((("fabric", frozenset(("a",))),))},
    ],
    ids=str,
)
def test_no_choice_of_a_tenant_adds_a_word_to_a_file(changed: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        SharedTerms(**changed)  # type: ignore[arg-type]  # that is what is tried


# --- books ----------------------------------------------------------------------------------


def test_books_are_read_from_what_sacctmgr_prints() -> None:
    printed = BooksPrinted(
        "root|||normal||||\nroot|root||normal||||\nvision|||own+vision|0|0||\n"
        "vision|ann|vision|own+vision|||0|0\nvision|bo|vision|own+vision||||\n",
        "normal||||\nown+vision|cpu=4,mem=2G,gres/gpu=2|3|4|1-02:03:00\n",
        "root|root|Administrator\nann|vision|None\nbo|vision|Operator\n",
        "root|\nvision|ann,bo\naudio|\n",
    )
    found = read_books(printed)
    own = frozenset(("own+vision",))
    assert found.accounts == {"vision": Entry(own, is_closed=True)}
    assert found.associations == {
        ("ann", "vision", "vision"): Entry(own, is_closed=True),
        ("bo", "vision", "vision"): Entry(own),
    }
    tres = {"cpu": 4, "mem": 2_048, "gres/gpu": 2}
    assert found.qos == {"own+vision": QueueLimits(tres, 3, 4, 1_563)}
    assert found.coordinators == {("vision", "ann"), ("vision", "bo")}
    assert found.administrators == {"bo"}


@pytest.mark.parametrize("limits", ["own|cpu=4x|||", "own|cpu=4|many||", "own|||", "own||||soon"])
def test_books_that_are_not_understood_are_no_books(limits: str) -> None:
    with pytest.raises(InvalidValue):
        read_books(BooksPrinted("", limits, "", ""))


def test_what_is_to_go_is_closed_before_anything_is_opened_and_removed_last() -> None:
    before = books_of(plan_shape(mapping(right()), TERMS, now_ms=5))
    alone = SharedMapping(frozenset(("vision",)), (), (), (ANN, BO))
    after = books_of(plan_shape(alone, TERMS, now_ms=5))
    verbs = [words[2:4] for words in difference(before, after)]
    assert verbs == [
        ("modify", "account"),
        ("modify", "user"),
        ("modify", "user"),
        ("remove", "user"),
        ("remove", "account"),
        ("remove", "qos"),
        ("remove", "qos"),
    ]
    assert difference(AccountingBooks(), AccountingBooks()) == ()


def test_an_association_for_all_partitions_goes_first_and_what_is_wanted_comes_back() -> None:
    wanted = books_of(plan_shape(mapping(), TERMS, now_ms=5))
    wide = {**wanted.associations, ("ann", "vision", ""): Entry(frozenset(("normal",)))}
    paper = PaperSacctmgr(
        {**wanted.accounts}, {**wanted.qos}, wide, default_accounts={**wanted.default_accounts}
    )
    calls = difference(paper.books, wanted)
    for words in calls:
        paper.call(words)
    assert calls[0][2:] == ("remove", "user", "where", "name=ann")
    assert paper.books == wanted


# --- plans ----------------------------------------------------------------------------------


def test_a_part_ends_in_the_order_that_leaves_nothing() -> None:
    steps = plan_detach(
        "vision",
        partitions=["vision"],
        homes={"ann": "audio"},
        kill_wait_s=30,
        min_job_age_s=60,
    )
    shown = [step.words[0] for step in steps if isinstance(step, Call | AwaitNone | CallAgain)]
    programs = ["sacctmgr", "scancel", "scancel", "squeue", "squeue", "sacctmgr", "sacctmgr"]
    assert shown == [*programs, "scancel"]
    assert steps[0] == Call(
        (
            *("sacctmgr", "-iQ", "modify", "account", "where", "name=vision"),
            *("set", "GrpSubmitJobs=0", "GrpJobs=0"),
        )
    )
    waits = [step for step in steps if isinstance(step, AwaitNone)]
    assert all(step.within_s > 30 for step in waits), "as long as a job is given to end"
    assert isinstance(steps[-1], CallAgain)
    assert steps[-1].for_s == 60


def test_the_end_of_a_policy_is_the_end_for_one_person_in_one_queue() -> None:
    grant = QueueGrant("bo", "audio", "vision", "guest+vision+day", 9, "bo@lab", "day")
    steps = plan_end_of_grant(grant, kill_wait_s=30, min_job_age_s=60)
    for step in steps:
        assert isinstance(step, Call | AwaitNone | CallAgain)
        said = " ".join(step.words)
        assert all(word in said for word in ("bo", "audio", "vision")), said


def test_a_worker_goes_back_by_its_deadline() -> None:
    plan = plan_withdraw(
        "w1", deadline_ms=600_000, grace_ms=300_000, kill_wait_s=30, now_ms=100_000
    )
    assert [step.at_ms for step in plan] == [300_000, 570_000, 600_000]
    drain, away, end = (step.step for step in plan)
    assert isinstance(drain, Call)
    assert "state=drain" in drain.words
    assert (away, end) == (SendAway("w1"), EndWorker("w1"))
    late = plan_withdraw("w1", deadline_ms=600_000, grace_ms=0, kill_wait_s=30, now_ms=590_000)
    assert [step.at_ms for step in late] == [590_000, 590_000, 600_000]


# --- whose a job was ------------------------------------------------------------------------

MARK = "identity=ann@lab;project=vision;policy=-;user=ann"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (SacctRow("1", "ann", "vision", "vision", ""), UnattributedReason.NO_MARK),
        (SacctRow("1", "ann", "vision", "vision", "mine"), UnattributedReason.MARK_NOT_UNDERSTOOD),
        (
            SacctRow("1", "ann", "vision", "vision", f"{MARK};user=bo"),
            UnattributedReason.MARK_NOT_UNDERSTOOD,
        ),
        (SacctRow("1", "ann", "audio", "audio", MARK), UnattributedReason.OTHER_ACCOUNT),
        (SacctRow("1", "bo", "vision", "vision", MARK), UnattributedReason.OTHER_USER),
    ],
)
def test_a_job_that_is_nobodys_is_a_finding(row: SacctRow, why: UnattributedReason) -> None:
    assert attribute(row) == JobUnattributed("1", why, row.user, row.account)


def test_a_line_of_the_accounting_has_its_fields_whatever_the_last_holds() -> None:
    assert parse_row("1|ann|vision|vision|a|b").mark == "a|b"
    with pytest.raises(InvalidValue):
        parse_row("1|ann|vision")

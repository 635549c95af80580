"""The small world of a policy: shapes, subjects, faults, the text for Alloy, and its answer."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.answer import DEPTH_MAX, read_answer
from bailiwick.isolation.model.commands import CheckScope, parse_scope
from bailiwick.isolation.model.faults import every_fault, faults_shown, parse_fault
from bailiwick.isolation.model.history import (
    ModelHistory,
    ModelJob,
    ModelState,
    Phase,
    find_step,
    judge_state,
)
from bailiwick.isolation.model.picture import draw_history
from bailiwick.isolation.model.shape import (
    FleetShape,
    default_shape,
    make_sites,
    parse_shape,
    seats_of,
)
from bailiwick.isolation.model.story import tell_story
from bailiwick.isolation.model.world import SUBJECTS_MAX, ModelWorld, make_world
from bailiwick.isolation.trace import TraceStep, TraceWord
from bailiwick.tools.isolation.check import make_model
from bailiwick.vocab.errors import InvalidValue
from models.write import EXAMPLES, example_text


def world_of(*rules: str, shape: FleetShape | None = None) -> ModelWorld:
    return make_world(parse_policy("\n".join(rules)), shape=shape)


@pytest.mark.parametrize(
    "kinds",
    [*combinations(DomainKind, 1), *combinations(DomainKind, 2), tuple(DomainKind)],
    ids="+".join,
)
def test_a_default_shape_has_seats_that_share_each_kind_and_seats_that_do_not(
    kinds: tuple[DomainKind, ...],
) -> None:
    policy = parse_policy(f"never share {', '.join(kinds)} among tenants")
    seats = seats_of(make_sites(default_shape(policy)))
    for kind in kinds:
        met = {bool(one.domains[kind] & two.domains[kind]) for one, two in combinations(seats, 2)}
        assert met == {True, False}, kind


@pytest.mark.parametrize("kinds", [*combinations(DomainKind, 2)], ids="+".join)
def test_of_two_kinds_the_wider_is_shared_alone_somewhere(kinds: tuple[DomainKind, ...]) -> None:
    """A cache is always of one host; but a host is shared by work under two caches."""
    policy = parse_policy(f"never share {', '.join(kinds)} among tenants")
    seats = seats_of(make_sites(default_shape(policy)))
    narrow, wide = kinds
    assert any(
        one.domains[wide] & two.domains[wide] and not one.domains[narrow] & two.domains[narrow]
        for one, two in combinations(seats, 2)
    )


@pytest.mark.parametrize("text", ["hosts=0", "hosts=9", "towers=2", "hosts=two", "hosts=8,seats=8"])
def test_a_shape_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_shape(text)


@pytest.mark.parametrize("text", ["jobs=0", "jobs=7", "steps=99", "depth=2", "jobs=x"])
def test_a_scope_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_scope(text)


def test_subjects_are_one_of_each_class_and_somebody_whom_no_rule_names() -> None:
    world = world_of("never share host between tenant acme and label team=blue")
    told = {(each.tenant, *each.labels.values()) for each in world.subjects}
    assert told == {("acme",), ("outsider",), ("outsider", "blue"), ("acme", "blue")}


def test_of_every_tenant_there_are_two_whom_no_rule_names() -> None:
    world = world_of("never share host among tenants")
    assert len({each.tenant for each in world.subjects}) == 2


def test_classes_for_which_there_is_no_room_are_counted() -> None:
    rules = [f"dedicated host for tenant t{number}" for number in range(SUBJECTS_MAX + 4)]
    world = world_of(*rules)
    assert (len(world.subjects), world.left_out) == (SUBJECTS_MAX, 5)


@pytest.mark.parametrize(
    ("rules", "shown"),
    [
        (["dedicated host for tenant bank"], "forgets_host frees_early claim_uncounted"),
        # Who may not share a host shares no cache: a filter that forgets the cache does no harm.
        (
            ["dedicated host for tenant bank", "dedicated cache for tenant bank"],
            "forgets_host frees_early claim_uncounted",
        ),
        (
            ["dedicated host for tenant bank", "dedicated cache for tenant lab"],
            "forgets_cache forgets_host frees_early claim_uncounted",
        ),
        (["tenant bank only on nodes with zone=in"], "relabel_unnoticed"),
        (["keep host for tenant bank until scrubbed"], "residue_forgotten"),
        (
            ["at most 1 of tenant bank per rack"],
            "forgets_rack frees_early claim_uncounted gang_uncounted",
        ),
        (["at most 2 of tenant bank per rack"], "forgets_rack frees_early gang_uncounted"),
        (["at most 3 of tenant bank per rack"], ""),  # four would be needed to see it
    ],
)
def test_a_fault_is_looked_for_where_it_makes_a_difference(rules: list[str], shown: str) -> None:
    found = {fault.name for fault in faults_shown(world_of(*rules), jobs=3)}
    assert found == set(shown.split())


def test_faults_have_names_that_are_read_back() -> None:
    assert [parse_fault(fault.name) for fault in every_fault()] == [*every_fault()]
    assert parse_fault("forgets_nothing") is None


def test_every_command_says_what_is_expected_and_every_check_has_a_run_beside_it() -> None:
    model = make_model(world_of("vault: dedicated host for tenant bank"), CheckScope())
    assert all(f"expect {int(each.expects)}" in model.spelled[each.name] for each in model.commands)
    runs = [each.name for each in model.commands if not each.is_check]
    assert runs == ["busy", "bites_vault"]


def test_names_that_are_alike_in_alloy_stay_apart() -> None:
    world = world_of("a-b: dedicated host for tenant x-y", "a_b: dedicated host for tenant x_y")
    model = make_model(world, CheckScope())
    assert len(model.subjects) == len(world.subjects)
    assert {"bites_a_b", "bites_a_b_"} <= {each.name for each in model.commands}


@pytest.mark.parametrize("policy", sorted(EXAMPLES.glob("*.policy")), ids=lambda path: path.stem)
def test_the_committed_models_are_what_the_generator_writes(policy: object) -> None:
    from pathlib import Path

    assert isinstance(policy, Path)
    assert policy.with_suffix(".als").read_text() == example_text(policy), "python -m models.write"


# -- what comes back ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<alloy/>",
        b"<alloy><instance></alloy>",
        b'<!DOCTYPE a [<!ENTITY e "x">]><alloy><instance/></alloy>',
        b"<a>" * (DEPTH_MAX + 1) + b"</a>" * (DEPTH_MAX + 1),
    ],
)
def test_an_answer_that_is_not_one_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidValue):
        read_answer(raw)


def state(world: ModelWorld, *jobs: ModelJob) -> ModelState:
    labels = frozenset((site.node, "zone=in") for site in world.sites if "zone" in site.labels)
    return ModelState(jobs, labels=labels)


def running(*seats: str) -> ModelJob:
    return ModelJob(Phase.RUNNING, frozenset(seats))


def test_who_leaves_counts_until_it_is_gone() -> None:
    world = world_of("vault: dedicated host for tenant bank")
    bank, lab = world.subjects[0], world.subjects[1]
    leaving = ModelJob(Phase.LEAVING, frozenset({"n1.1"}))
    found = judge_state(world, (bank, lab), state=state(world, leaving, running("n1.2")))
    assert found == [Violation("vault", DomainKind.HOST, "n1", ("J1", "J2"))]


def test_who_claims_counts_but_not_against_those_who_leave_its_room() -> None:
    world = world_of("vault: dedicated host for tenant bank")
    bank, lab = world.subjects[0], world.subjects[1]
    claiming = ModelJob(Phase.CLAIMING, frozenset({"n1.1"}))
    leaving = ModelJob(Phase.LEAVING, frozenset({"n1.1"}))
    beside = state(world, claiming, leaving, running("n1.2"))
    assert [each.who for each in judge_state(world, (bank, lab, lab), state=beside)] == [
        ("J1", "J3")
    ]


def test_who_comes_into_a_domain_that_is_kept_disturbs_it_and_who_was_there_does_not() -> None:
    world = world_of("keep host for tenant bank until scrubbed")
    _, lab = world.subjects
    before = ModelState(
        (ModelJob(Phase.WAITING), running("n1.1")),
        residues=frozenset({("rule-1", DomainKind.HOST, "n1")}),
    )
    after = ModelState((running("n1.2"), running("n1.1")), residues=before.residues)
    found = judge_state(world, (lab, lab), state=after, before=before)
    assert [each.who for each in found] == [("J1",)]


def test_a_history_is_told_and_drawn() -> None:
    world = world_of("vault: dedicated host for tenant bank")
    bank, lab = world.subjects[0], world.subjects[1]
    states = (
        state(world, ModelJob(), running("n1.2")),
        state(world, ModelJob(Phase.WAITING), running("n1.2")),
        state(world, running("n1.1"), running("n1.2")),
    )
    steps = tuple(find_step(one, two) for one, two in pairwise(states))
    assert steps == (
        TraceStep(TraceWord.ARRIVE, "J1"),
        TraceStep(TraceWord.PLACE, "J1", ("n1.1",)),
    )
    broken = tuple(judge_state(world, (bank, lab), state=states[-1], before=states[-2]))
    history = ModelHistory((bank, lab), states, steps, broken)
    assert [*tell_story(history)] == [
        "   Before: J2 is running on n1.2.",
        " 1. bank's job J1 arrives.",
        " 2. J1 is placed on n1.1.",
        " => bank's J1 and outsider's J2 share host n1, which vault forbids",
    ]
    drawn = draw_history(world, history)
    assert drawn.startswith("<svg ")
    assert "share host n1, which vault forbids" in drawn
    assert "<script" not in drawn

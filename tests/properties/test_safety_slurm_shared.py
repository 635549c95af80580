"""A shared Slurm lets in whom the platform lets in, and nobody else; and gets there by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.apps.shared.submitting import (
    SubmitAllowed,
    SubmitFacts,
    SubmitPolicy,
    SubmitWish,
    may_submit,
)
from bailiwick.operators.slurm.shared.books import AccountingBooks, books_of, difference
from bailiwick.operators.slurm.shared.mapping import (
    Person,
    SharedMapping,
    SharedNode,
    SharedTerms,
)
from bailiwick.operators.slurm.shared.settings import partition_lines
from bailiwick.operators.slurm.shared.shape import SlurmShape, partition_of, plan_shape
from bailiwick.operators.slurm.shared.submit_policy import render_grants
from bailiwick.wire.shared import SubmitRight
from tests.support.paper_sacctmgr import PaperSacctmgr

PROJECTS, QUEUES = ["a", "b", "c"], ["day", "night"]
projects = st.sampled_from(PROJECTS)
identities = st.sampled_from(["ann@lab", "bo@lab"])
times = st.integers(0, 6)
limits = st.dictionaries(
    st.sampled_from(["gpus", "gpus-hopper", "jobs", "cpus"]), st.integers(0, 9)
)
grantees = projects.map(lambda p: {"grantee_project": p}) | identities.map(
    lambda who: {"grantee_person": who}
)
policies = st.lists(
    st.builds(
        lambda grantee, **told: SubmitPolicy(**told, **grantee),
        grantees,
        name=st.sampled_from("pqrs"),
        project=projects,
        queue=st.sampled_from(QUEUES),
        until_ms=times,
        limits=limits,
        seq=st.integers(100, 200),
    ),
    max_size=6,
    unique_by=lambda each: (each.project, each.name),
)
facts = st.builds(
    SubmitFacts, st.dictionaries(projects, st.integers(1, 99)), policies, st.booleans()
)
people = st.tuples(
    st.builds(Person, st.just("ann@lab"), st.just("ann"), st.frozensets(projects)),
    st.builds(Person, st.just("bo@lab"), st.just("bo"), st.frozensets(projects)),
)
kinds = st.sampled_from(["fabric", "rack"])
domains = st.frozensets(st.tuples(kinds, st.sampled_from("xyz")), max_size=3)
nodes = st.lists(
    st.builds(SharedNode, st.sampled_from(["n1", "n2", "n3", "n4"]), st.none() | projects, domains),
    max_size=4,
    unique_by=lambda node: node.name,
)
pairs = st.sampled_from([("a", "b"), ("b", "c"), ("a", "c")]).map(frozenset)
TERMS = SharedTerms(queues=tuple(QUEUES), kinds=("hopper", "ampere"))
apart_terms = st.builds(
    lambda apart, sharers: replace(TERMS, apart=apart, reserved_for=sharers),
    st.frozensets(st.tuples(kinds, pairs)),
    st.frozensets(projects),
)


def mapping_of(
    found: SubmitFacts, people: Iterable[Person], nodes: Iterable[SharedNode] = ()
) -> SharedMapping:
    """The runtime as its view has it; policies are there also if they have ended."""
    rights = [
        SubmitRight(
            owner=each.project,
            project=each.grantee_project,
            person=each.grantee_person,
            queue=each.queue,
            policy=each.name,
            limits=dict(each.limits),
            until_ms=each.until_ms,
            seq=each.seq,
        )
        for each in found.policies
    ]
    attached = frozenset() if found.is_leaving else frozenset(found.attached)
    return SharedMapping(attached, tuple(rights), tuple(nodes), tuple(people))


def lets_in(shape: SlurmShape, books: AccountingBooks, key: tuple[str, str, str]) -> bool:
    """As Slurm judges: by the partition's line, the association, and the file of grants."""
    user, account, partition = key
    lines = [
        dict(w.split("=", 1) for w in line.split()) for line in partition_lines(shape.partitions)
    ]
    named = [line for line in lines if line["PartitionName"] == partition]
    entry = books.associations.get(key)
    by_partition = [
        line
        for line in named
        if account in line["AllowAccounts"].split(",")
        and entry is not None
        and entry.qos <= {*line["AllowQos"].split(",")}
    ]
    granted = [line.split()[:3] for line in render_grants(shape.grants).splitlines()]
    is_there = entry is not None and not entry.is_closed and account in books.accounts
    by_wall = is_there and bool(by_partition)
    assert ([user, account, partition] in granted) == by_wall, "both walls say the same"
    return by_wall


@given(facts, people, times)
def test_slurm_lets_in_whom_the_platform_lets_in_and_nobody_else(
    found: SubmitFacts, people: tuple[Person, ...], now_ms: int
) -> None:
    shape = plan_shape(mapping_of(found, people), TERMS, now_ms=now_ms)
    books = books_of(shape)
    for person in people:
        for project in PROJECTS:
            for owner in PROJECTS:
                for queue in QUEUES:
                    wish = SubmitWish(person.identity, project, owner, queue)
                    told = may_submit(found, wish, now_ms=now_ms)
                    is_his = project in person.projects
                    expected = is_his and isinstance(told, SubmitAllowed)
                    where = partition_of(owner, queue, terms=TERMS)
                    key = person.user, project, where
                    assert lets_in(shape, books, key) == expected, wish


@given(facts, people, times)
def test_who_is_let_in_by_a_policy_has_the_limits_of_the_one_that_the_platform_names(
    found: SubmitFacts, people: tuple[Person, ...], now_ms: int
) -> None:
    shape = plan_shape(mapping_of(found, people), TERMS, now_ms=now_ms)
    owners = {each.name: each for each in shape.partitions}
    users = {person.user: person.identity for person in people}
    limits_of = {each.name: each.limits for each in shape.qos}
    for grant in shape.grants:
        owner = owners[grant.partition].project
        queue = next(q for q in QUEUES if partition_of(owner, q, terms=TERMS) == grant.partition)
        wish = SubmitWish(users[grant.user], grant.account, owner, queue)
        told = may_submit(found, wish, now_ms=now_ms)
        assert isinstance(told, SubmitAllowed)
        assert told.policy == grant.policy
        limits = limits_of[grant.qos]
        if "gpus-hopper" in told.limits:
            assert limits.tres["gres/gpu:hopper"] == told.limits["gpus-hopper"]
            assert limits.tres["gres/gpu:ampere"] == 0, "a kind that is not named"
            assert limits.tres["gres/gpu"] <= told.limits["gpus-hopper"], "what names no kind"
        assert limits.jobs == told.limits.get("jobs")


@given(facts, people, nodes, apart_terms)
def test_who_may_not_meet_is_never_in_one_domain(
    found: SubmitFacts, people: tuple[Person, ...], nodes: list[SharedNode], terms: SharedTerms
) -> None:
    mapping = mapping_of(found, people, nodes)
    shape = plan_shape(mapping, terms, now_ms=0)
    users = {name: {*part.accounts} for part in shape.partitions for name in part.nodes}
    for part in shape.partitions:
        for name in part.nodes:
            users[name] |= {*part.accounts}
    for one in nodes:
        for other in nodes:
            for kind, _ in one.domains & other.domains:
                for project in users.get(one.name, set()):
                    others = users.get(other.name, set()) - {project}
                    assert terms.may_meet(project, others, kind=kind)


@given(facts, people, nodes, apart_terms)
def test_a_node_serves_who_gave_it_or_whom_the_tenant_lets_have_it(
    found: SubmitFacts, people: tuple[Person, ...], nodes: list[SharedNode], terms: SharedTerms
) -> None:
    shape = plan_shape(mapping_of(found, people, nodes), terms, now_ms=0)
    known = {node.name: node for node in nodes}
    for part in shape.partitions:
        for name in part.nodes:
            owner = known[name].project
            assert owner == part.project or (owner is None and part.project in terms.reserved_for)


@given(facts, facts, people, people)
def test_the_changes_make_of_any_books_those_that_are_wanted_and_are_none_then(
    before: SubmitFacts, after: SubmitFacts, had: tuple[Person, ...], have: tuple[Person, ...]
) -> None:
    paper = PaperSacctmgr()
    for words in difference(
        AccountingBooks(), books_of(plan_shape(mapping_of(before, had), TERMS, now_ms=3))
    ):
        paper.call(words)
    for account in sorted(paper.accounts):
        paper.coordinators.add((account, "ann"))
    paper.administrators.add("bo")
    wanted = books_of(plan_shape(mapping_of(after, have), TERMS, now_ms=3))
    for words in difference(paper.books, wanted):
        paper.call(words)
    assert paper.books == wanted
    assert difference(paper.books, wanted) == ()


@given(facts, facts, people)
def test_while_the_changes_are_made_nobody_is_let_in_who_was_not_and_is_not_to_be(
    before: SubmitFacts, after: SubmitFacts, people: tuple[Person, ...]
) -> None:
    paper = PaperSacctmgr()
    first = books_of(plan_shape(mapping_of(before, people), TERMS, now_ms=3))
    for words in difference(AccountingBooks(), first):
        paper.call(words)
    wanted = books_of(plan_shape(mapping_of(after, people), TERMS, now_ms=3))
    is_adding = False
    for words in difference(paper.books, wanted):
        paper.call(words)
        is_adding |= words[2] == "add"
        open_now = {key for key, entry in paper.associations.items() if not entry.is_closed}
        assert open_now <= {*first.associations} | {*wanted.associations}
        if is_adding:
            assert open_now <= {*wanted.associations}, "what is to go is closed first"

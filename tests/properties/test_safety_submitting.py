"""Who may submit where, held against a reading of the rules that is as plain as can be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.apps.shared.submitting import (
    SubmitAllowed,
    SubmitDenied,
    SubmitFacts,
    SubmitPolicy,
    SubmitWish,
    may_submit,
)
from bailiwick.vocab.shared import SubmitDenial

projects = st.sampled_from(["a", "b", "c"])
people = st.sampled_from(["ann", "bo"])
queues = st.sampled_from(["day", "night"])
times = st.integers(0, 6)
grantees = projects.map(lambda p: {"grantee_project": p}) | people.map(
    lambda who: {"grantee_person": who}
)
policies = st.lists(
    st.builds(
        lambda grantee, **told: SubmitPolicy(**told, **grantee),
        grantees,
        name=st.sampled_from("pqrs"),
        project=projects,
        queue=queues,
        until_ms=times,
        seq=st.integers(100, 200),
    ),
    max_size=6,
)
facts = st.builds(
    SubmitFacts, st.dictionaries(projects, st.integers(1, 99)), policies, st.booleans()
)
wishes = st.builds(SubmitWish, people, projects, projects, queues)


def allows(policy: SubmitPolicy, wish: SubmitWish, now_ms: int) -> bool:
    names_him = wish.person == policy.grantee_person
    names_his = policy.grantee_person is None and wish.project == policy.grantee_project
    is_that_queue = policy.project == wish.owner and policy.queue == wish.queue
    return (names_him or names_his) and is_that_queue and now_ms < policy.until_ms


@given(facts, wishes, times)
def test_only_attachments_and_policies_in_force_let_anybody_in(
    found: SubmitFacts, wish: SubmitWish, now_ms: int
) -> None:
    policies = [*found.policies]
    in_force = [each for each in policies if allows(each, wish, now_ms)]
    is_in = not found.is_leaving and wish.project in found.attached
    is_own = wish.project == wish.owner
    expected = is_in and (is_own or (wish.owner in found.attached and bool(in_force)))
    told = may_submit(found, wish, now_ms=now_ms)
    assert isinstance(told, SubmitAllowed) is expected
    if isinstance(told, SubmitAllowed) and is_own:
        assert (told.seq, told.policy) == (found.attached[wish.project], None)
    elif isinstance(told, SubmitAllowed):
        assert (told.seq, told.policy) in {(each.seq, each.name) for each in in_force}


@given(facts, wishes, times)
def test_a_denial_names_what_stands_first_in_the_way(
    found: SubmitFacts, wish: SubmitWish, now_ms: int
) -> None:
    told = may_submit(found, wish, now_ms=now_ms)
    if isinstance(told, SubmitAllowed):
        return
    assert isinstance(told, SubmitDenied)
    ended = [each.seq for each in found.policies if allows(each, wish, -1)]
    in_order = {
        SubmitDenial.RUNTIME_LEAVING: found.is_leaving,
        SubmitDenial.NOT_ATTACHED: wish.project not in found.attached,
        SubmitDenial.OWNER_NOT_ATTACHED: wish.owner not in found.attached,
        SubmitDenial.POLICY_ENDED: bool(ended),
        SubmitDenial.NO_POLICY: True,
    }
    assert told.reason is next(word for word, is_so in in_order.items() if is_so)
    assert (told.seq in ended) is (told.reason is SubmitDenial.POLICY_ENDED)


@given(facts, wishes, times, times)
def test_time_only_takes_away(found: SubmitFacts, wish: SubmitWish, one: int, other: int) -> None:
    early, late = sorted((one, other))
    if isinstance(may_submit(found, wish, now_ms=late), SubmitAllowed):
        assert isinstance(may_submit(found, wish, now_ms=early), SubmitAllowed)

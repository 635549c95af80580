"""Whether it is the asker's own leases that hold the room it lacks."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick.kernel import Queued, Release, Submit, views
from bailiwick.kernel.work import plan
from bailiwick.scheduler.decision import Approved, Denied, NotEnoughFree
from bailiwick.scheduler.engine import has_compiled
from bailiwick.vocab.remedies import RemedyWord
from tests.unit.kernel.desk import Desk, ask, cores

ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]


@pytest.mark.parametrize("engine", ENGINES)
def test_who_holds_the_room_itself_is_not_told_to_wait_for_others(engine: str) -> None:
    """Seen: "wait until others free 2 cores", when nobody but the asker ran anything."""
    d = Desk(engine=engine, nodes=[cores(4)])
    first, second = d.lease(cpu_cores=2), d.lease(cpu_cores=2)
    answer = d.do(Submit(ask(cpu_cores=2)))
    assert isinstance(answer, Queued)
    told = views.waiting_entry(d.state, answer.entry_id, now_ms=d.now_ms)
    assert told.remedy.word is RemedyWord.FREE_OWN_LEASES
    assert told.remedy.leases == (second,)
    assert (told.remedy.amount, told.remedy.unit) == (2_000, "cpu_milli")
    explained = plan.explain(d.state, Submit(ask(cpu_cores=4)), now_ms=d.now_ms)
    assert explained.remedy.leases == (first, second)
    foreign = plan.explain(d.state, Submit(ask("rival", cpu_cores=2)), now_ms=d.now_ms)
    assert foreign.remedy.word is RemedyWord.WAIT_OR_PREEMPT
    assert foreign.remedy.leases == (), "whose the others are is nobody's to learn"


def test_the_leases_named_are_all_on_the_node_where_they_make_room() -> None:
    d = Desk(nodes=[cores(4), cores(4)])
    leases = [d.lease(cpu_cores=3), d.lease(cpu_cores=3)]
    explained = plan.explain(d.state, Submit(ask(cpu_cores=2)), now_ms=d.now_ms)
    assert explained.blocker is not None
    assert explained.blocker.reason.value == "fragmented"
    assert explained.remedy.word is RemedyWord.FREE_OWN_LEASES
    assert len(explained.remedy.leases) == 1
    assert set(explained.remedy.leases) < set(leases)


terms = st.fixed_dictionaries(
    {"cpu_cores": st.sampled_from([1, 2, 3]), "gpu_count": st.sampled_from([0, 0, 1, 2])}
)


@given(
    sizes=st.lists(st.sampled_from([2, 4, 6]), min_size=1, max_size=3),
    story=st.lists(st.tuples(st.sampled_from(["lab", "rival"]), terms), max_size=8),
    wish=terms,
)
def test_ending_the_leases_that_are_named_clears_what_was_told(
    sizes: list[int], story: list[tuple[str, dict[str, int]]], wish: dict[str, int]
) -> None:
    d = Desk(nodes=[cores(size, gpus=2) for size in sizes])
    owned: dict[str, list[int]] = {"lab": [], "rival": []}
    for tenant, each in story:
        request = ask(tenant, **each)
        if isinstance(d.state.admission.evaluate(request, now_ms=d.now_ms), Approved):
            owned[tenant].append(d.lease(tenant, **each))
    told = plan.explain(d.state, Submit(ask(**wish)), now_ms=d.now_ms)
    event(told.remedy.word.value)
    if told.blocker is None:
        return
    named = told.remedy.leases
    assert set(named) <= set(owned["lab"])
    gone = named or owned["lab"]
    for lease_id in gone:
        d.do(Release(lease_id))
    again = d.state.admission.evaluate(ask(**wish), now_ms=d.now_ms)
    lacked = told.blocker.detail
    is_same = isinstance(again, Denied) and type(again.detail) is type(lacked)
    if isinstance(lacked, NotEnoughFree) and isinstance(again, Denied):
        detail = again.detail
        is_same = isinstance(detail, NotEnoughFree) and detail.resource is lacked.resource
    if named:
        assert not is_same, "it was to be cleared"
    elif isinstance(lacked, NotEnoughFree) and gone:
        assert is_same, "to end them all would have done"

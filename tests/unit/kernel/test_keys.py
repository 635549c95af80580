"""Idempotency keys: the first answer again, for whom, for how long, on every replica."""

from __future__ import annotations

import pytest

from bailiwick.kernel import (
    Cancel,
    Done,
    Granted,
    Kernel,
    Quarantine,
    Queued,
    Refused,
    RegisterNode,
    Release,
    Submit,
    Tick,
    decode,
    digest_of,
    encode,
)
from bailiwick.vocab.errors import Conflict, NotFound
from tests.unit.kernel.desk import HIGH, Desk, ask, cores


def desk(**how: object) -> Desk:
    return Desk(nodes=[cores(8)], **how)


def remembered(kernel: Kernel) -> list[str]:
    return [key for _, key in kernel.state.answers.entries]


def test_the_same_key_gives_the_first_answer_and_writes_nothing() -> None:
    d = desk()
    first = d.do(Submit(ask()), key="k")
    digest = d.digest
    again = d.at(99_000).do(Submit(ask()), key="k")
    assert (again, d.told, d.digest) == (first, (), digest)
    assert len(d.state.leases) == 1


def test_without_a_key_the_same_command_counts_twice() -> None:
    d = desk()
    d.do(Submit(ask()))
    d.do(Submit(ask()))
    assert len(d.state.leases) == 2


def test_a_key_used_for_another_command_is_a_conflict() -> None:
    d = desk()
    d.do(Submit(ask()), key="k")
    said = d.refuses(Conflict, Submit(ask(cpu_cores=2)), key="k")
    assert "another command" in said
    d.refuses(Conflict, Submit(ask(), wait=False), key="k")
    d.refuses(Conflict, Release(1), key="k")


def test_another_actors_key_is_another_key() -> None:
    d = desk()
    one = d.do(Submit(ask()), key="k", actor="ann")
    two = d.do(Submit(ask()), key="k", actor="bob")
    assert one != two
    assert d.do(Submit(ask()), key="k", actor="ann") == one


def test_an_error_is_not_remembered() -> None:
    d = desk()
    d.refuses(NotFound, Release(1), key="k")
    d.do(Submit(ask()), key="k")
    assert isinstance(d.do(Submit(ask()), key="k"), Granted)


@pytest.mark.parametrize("sort", [Granted, Queued, Refused, Done])
def test_every_sort_of_answer_is_remembered_by_replays_and_snapshots(sort: type) -> None:
    d = desk()
    command = {
        Granted: Submit(ask()),
        Queued: Submit(ask(cpu_cores=8)),
        Refused: Submit(ask(cpu_cores=9)),
        Done: RegisterNode("n9", cores(1)),
    }[sort]
    d.lease()
    answer = d.do(command, key="k")
    assert isinstance(answer, sort)
    anchor = d.kernel.chain.anchor()
    again = Kernel(decode(encode(d.state), d.digest), anchor, simulated=True)
    others = [d.replayed(), again]
    for kernel in others:
        d.kernel = kernel
        assert (d.do(command, key="k"), d.told) == (answer, ())
        d.refuses(Conflict, Release(1), key="k")


def test_room_made_by_victims_is_answered_with_the_lease_not_with_their_end() -> None:
    d = desk(grace_ms=0)
    d.lease("slow", cpu_cores=8)
    command = Submit(ask("fast", cpu_cores=8, priority=HIGH))
    answer = d.do(command, key="k")
    assert isinstance(answer, Granted)
    assert [("key" in r.body) for r in d.last] == [False] * 4 + [True]
    assert d.replayed().state.answers.entries["operator", "k"].answer == answer


def test_a_claim_does_not_change_the_answer_that_the_request_waits() -> None:
    d = desk()
    d.lease("slow", cpu_cores=8)
    command = Submit(ask("fast", cpu_cores=8, priority=HIGH))
    answer = d.do(command, key="k")
    assert isinstance(answer, Queued)
    assert d.do(command, key="k") == answer


def test_a_tick_that_starts_others_is_answered_the_same_on_every_replica() -> None:
    d = desk()
    lease = d.lease(cpu_cores=8)
    d.wait(cpu_cores=2)
    d.do(Release(lease))
    answer = d.do(Tick(), key="k")
    assert answer == Done(len(d.lines) - 1)
    replayed = d.replayed()
    assert replayed.state.answers.entries["operator", "k"].answer == answer
    assert digest_of(replayed.state) == d.digest


def test_what_did_nothing_has_no_record_to_be_remembered_by() -> None:
    d = desk()
    assert d.do(Tick(), key="k") == Done(None)
    assert not d.state.answers.entries


def test_only_the_first_record_of_a_command_carries_the_key() -> None:
    d = desk()
    d.lease()
    d.lease()
    d.do(Quarantine("n1", "odd", 0), key="k")
    assert [("key" in r.body) for r in d.last] == [True] + [False] * 8


def test_the_parts_of_a_large_gang_are_one_answer_however_often_it_is_asked() -> None:
    d = Desk(nodes=[cores(600)])
    answer = d.do(Submit(ask(gang_size=600)), key="k")
    assert isinstance(answer, Granted)
    assert answer.lease_ids == tuple(range(1, 601))
    assert d.do(Submit(ask(gang_size=600)), key="k") == answer
    for state in (d.replayed().state, decode(encode(d.state), d.digest)):
        assert state.answers.entries["operator", "k"].answer == answer


def test_answers_are_forgotten_by_age_at_the_same_record_everywhere() -> None:
    d = desk(keys_ms=1_000)
    d.at(5_000).do(Submit(ask()), key="old")
    d.at(6_000).do(Submit(ask()), key="edge")
    assert remembered(d.kernel) == ["old", "edge"]
    d.at(6_001).do(Cancel(d.wait(cpu_cores=8)), key="new")
    assert remembered(d.kernel) == ["edge", "new"] == remembered(d.replayed())
    assert len(d.state.leases) == 2
    d.do(Submit(ask()), key="old")
    assert remembered(d.kernel)[-1] == "old"


def test_answers_are_forgotten_by_number_the_oldest_first() -> None:
    d = desk(keys_max=2)
    for key in "abc":
        d.do(Submit(ask()), key=key)
    assert remembered(d.kernel) == ["b", "c"] == remembered(d.replayed())
    d.do(Submit(ask()), key="b")
    assert remembered(d.kernel) == ["b", "c"]

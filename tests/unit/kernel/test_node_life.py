"""A node as operators know it: cordoned, opened again by every edge, and written about."""

from __future__ import annotations

import pytest

from bailiwick.journal import parse_record
from bailiwick.kernel import (
    ChangeMode,
    DepartNode,
    Done,
    EndNote,
    LiftQuarantine,
    NoteNode,
    OpenNode,
    Quarantine,
    Refused,
    RegisterNode,
    Release,
    Renew,
)
from bailiwick.kernel.fleet.notes import NOTES_MAX, NoteBook, OperatorNote
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.vocab.errors import (
    Conflict,
    IllegalTransition,
    InvalidValue,
    LimitReached,
    NotFound,
)
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import NOTE_CHARS_MAX, NOTE_TTL_MAX_MS
from tests.unit.kernel.desk import TTL_MS, Desk, cores

DAY_MS = 86_400_000


def one() -> Desk:
    return Desk(nodes=[cores(8)])


def mode(d: Desk, node: str = "n1") -> NodeMode:
    return d.state.ledger.entry(node).mode


def edges(d: Desk) -> list[tuple[str, str]]:
    """The modes that the last command told."""
    bodies = [parse_record(line[:-1]).body for line in d.told]
    return [(body["before"], body["after"]) for body in bodies]


# --- cordoned -----------------------------------------------------------------------------------


def test_a_cordoned_node_takes_no_new_work_and_evicts_nobody() -> None:
    d = one()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    assert d.kinds == ["node_mode_changed"]
    assert d.state.phase(lease) is RevokeState.ACTIVE
    assert isinstance(d.beside(), Refused)
    assert d.tick(2_000) == []
    assert lease in d.state.leases


def test_what_runs_on_a_cordoned_node_may_be_renewed_and_ends_by_itself() -> None:
    d = one()
    lease, other = d.lease(), d.lease()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    assert isinstance(d.do(Renew(lease, 2 * TTL_MS)), Done)
    d.tick(1_000 + TTL_MS)
    assert (lease in d.state.leases, other in d.state.leases) == (True, False)
    d.do(Release(lease))
    d.tick(2_000 + TTL_MS)
    assert mode(d) is NodeMode.CORDONED  # only a drain comes to an end


@pytest.mark.parametrize("closed", ["quarantined", "gated"])
def test_a_cordon_renews_nothing_where_the_node_is_not_trusted(closed: str) -> None:
    d = one()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    setattr(d.state.ledger.entry("n1"), closed, True)
    assert isinstance(d.do(Renew(lease, 2 * TTL_MS)), Refused)


def test_a_cordoned_node_can_be_drained_and_one_that_drains_is_not_cordoned() -> None:
    d = one()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    assert d.state.phase(lease) is not RevokeState.ACTIVE
    d.refuses(IllegalTransition, ChangeMode("n1", NodeMode.CORDONED))


def test_only_a_drain_can_be_told_to_evict_nobody() -> None:
    with pytest.raises(InvalidValue):
        ChangeMode("n1", NodeMode.CORDONED, evict=False)


# --- opened again -------------------------------------------------------------------------------

WAYS = {
    NodeMode.CORDONED: [("cordoned", "accepting")],
    NodeMode.DRAINING: [("draining", "accepting")],
    NodeMode.DRAINED: [("drained", "returning"), ("returning", "accepting")],
    NodeMode.MAINTENANCE: [("maintenance", "returning"), ("returning", "accepting")],
    NodeMode.RETURNING: [("returning", "accepting")],
}


def put(d: Desk, wanted: NodeMode) -> None:
    """Bring the node there by hand."""
    if wanted is NodeMode.CORDONED:
        d.do(ChangeMode("n1", wanted))
        return
    if wanted is NodeMode.DRAINING:
        d.lease()  # else it is drained at once
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    if wanted in (NodeMode.MAINTENANCE, NodeMode.RETURNING):
        d.do(ChangeMode("n1", wanted))


@pytest.mark.parametrize("start", WAYS)
def test_a_node_is_opened_by_every_edge_of_the_way_in_one_decision(start: NodeMode) -> None:
    d = one()
    put(d, start)
    assert mode(d) is start
    d.do(OpenNode("n1"))
    assert edges(d) == WAYS[start]
    assert mode(d) is NodeMode.ACCEPTING
    d.lease()


def test_who_was_told_to_go_still_goes_when_a_drain_is_called_off() -> None:
    d = one()
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    d.do(OpenNode("n1"))
    assert d.state.phase(lease) is not RevokeState.ACTIVE
    assert not d.state.draining


def test_a_node_that_is_open_or_fenced_is_not_opened() -> None:
    d = one()
    d.refuses(IllegalTransition, OpenNode("n1"))
    d.do(ChangeMode("n1", NodeMode.FENCE_LOST))
    assert "maintenance" in d.refuses(IllegalTransition, OpenNode("n1"))
    d.refuses(NotFound, OpenNode("n9"))


def test_a_quarantined_node_is_opened_only_when_it_is_trusted_again() -> None:
    d = one()
    d.do(ChangeMode("n1", NodeMode.CORDONED))
    d.do(Quarantine("n1", "odd"))
    assert "node lift" in d.refuses(Conflict, OpenNode("n1"))
    d.do(LiftQuarantine("n1"))
    d.do(OpenNode("n1"))
    assert mode(d) is NodeMode.ACCEPTING


# --- notes --------------------------------------------------------------------------------------


def note(d: Desk, text: str = "the fan is loud", *, ttl_ms: int = DAY_MS) -> int:
    answer = d.do(NoteNode("n1", text, "ann@fleet", ttl_ms))
    assert isinstance(answer, Done)
    assert answer.seq is not None
    return answer.seq


def texts(d: Desk, node: str = "n1") -> list[str]:
    return [each.text for each in d.state.notes.of(node).values()]


def test_a_note_has_an_author_and_an_end_and_its_number_is_its_records() -> None:
    d = one()
    number = note(d)
    assert d.kinds == ["node_noted"]
    held = d.state.notes.of("n1")[number]
    assert held == OperatorNote(number, "the fan is loud", "ann@fleet", 1_000, 1_000 + DAY_MS)


def test_a_note_expires_by_itself_and_not_before() -> None:
    d = one()
    note(d, "short", ttl_ms=500)
    note(d, "long", ttl_ms=5_000)
    assert d.tick(1_499) == []
    assert d.tick(1_500) == ["node_note_ended"]
    assert parse_record(d.told[0][:-1]).body["outcome"] == "expired"
    assert texts(d) == ["long"]


def test_a_tick_ends_no_more_notes_than_it_may_look_at() -> None:
    d = one()
    for _ in range(5):
        note(d, ttl_ms=1)
    assert len(d.tick(2_000, limit=2)) == 2
    assert len(d.tick(2_000, limit=2)) == 2
    assert len(d.tick(2_000, limit=2)) == 1


def test_anybody_who_operates_nodes_ends_a_note_and_only_once() -> None:
    d = one()
    first, second = note(d, "one"), note(d, "two")
    d.do(EndNote("n1", first))
    assert parse_record(d.told[0][:-1]).body["outcome"] == "ended"
    assert texts(d) == ["two"]
    d.refuses(NotFound, EndNote("n1", first))
    d.refuses(NotFound, EndNote("n2", second))
    assert d.tick(1_000 + DAY_MS) == ["node_note_ended"]  # of the other, and that once


def test_notes_outlive_the_machine_until_they_expire_and_can_be_ended_without_it() -> None:
    d = one()
    first = note(d, "disk was swapped")
    note(d, "ask ann")
    d.do(DepartNode("n1"))
    d.refuses(NotFound, NoteNode("n1", "too late", "ann", 1))
    d.do(EndNote("n1", first))
    d.do(RegisterNode("n1", cores(8)))
    assert texts(d) == ["ask ann"]
    d.do(DepartNode("n1"))
    assert d.tick(1_000 + DAY_MS) == ["node_note_ended"]
    assert len(d.state.notes) == 0


def test_a_node_has_only_so_many_notes() -> None:
    d = one()
    numbers = [note(d) for _ in range(NOTES_MAX)]
    d.refuses(LimitReached, NoteNode("n1", "one more", "ann", 1))
    d.do(EndNote("n1", numbers[3]))
    note(d)


@pytest.mark.parametrize("text", ["", " ", "two\nlines", "\x1b[2J", "x" * (NOTE_CHARS_MAX + 1)])
def test_a_note_is_one_printable_line(text: str) -> None:
    with pytest.raises(InvalidValue):
        NoteNode("n1", text, "ann", 1)


@pytest.mark.parametrize(("author", "ttl_ms"), [("", 1), ("a b", 1), ("ann", 0), ("ann", -1)])
def test_a_note_has_somebody_who_wrote_it_and_a_time(author: str, ttl_ms: int) -> None:
    with pytest.raises(InvalidValue):
        NoteNode("n1", "text", author, ttl_ms)
    with pytest.raises(InvalidValue):
        NoteNode("n1", "text", "ann", NOTE_TTL_MAX_MS + 1)


def test_a_snapshot_has_the_notes_and_without_any_it_is_as_before() -> None:
    d = one()
    assert b"node_notes" not in encode(d.state)
    number = note(d, "short", ttl_ms=500)
    note(d, "long")
    again = decode(encode(d.state), d.digest)
    assert again.notes.of("n1") == d.state.notes.of("n1")
    assert encode(again) == encode(d.state)
    assert again.notes.first_due(1_500) == ("n1", number)
    for each in list(d.state.notes.of("n1")):
        d.do(EndNote("n1", each))
    assert b"node_notes" not in encode(d.state)


def test_when_the_clock_is_set_back_a_note_stands_as_long_as_it_would_have() -> None:
    d = one().at(9_000)
    note(d, ttl_ms=300)
    d.kernel.repair_clock(5_000, actor="op", why="an odd clock")
    held = next(iter(d.state.notes.of("n1").values()))
    assert (held.since_ms, held.until_ms) == (5_000, 5_300)


def test_ending_notes_leaves_nothing_behind_that_grows() -> None:
    book = NoteBook()
    book.put("n1", OperatorNote(0, "stays", "ann", 0, 1))
    for number in range(1, 1_000):
        book.put("n1", OperatorNote(number, "goes", "ann", 0, 10**6))
        book.drop("n1", number)
    assert len(book._heap) < 100
    assert book.first_due(1) == ("n1", 0)

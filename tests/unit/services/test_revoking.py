"""The book of tokens that count no more, against a plain reading of all records."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.capability.revocation import KEEP_MS, Revocations
from bailiwick.services.revoking import RevocationBook, first_since

KINDS = (
    *("lease_renewed", "lease_released", "lease_revoked", "lease_restored", "node_departed"),
    "checkpoint_reported",
)
STAGES = ("revoke_warning", "grace_running", "forced_teardown", "expired")


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    steps = st.tuples(
        st.sampled_from(KINDS),
        st.integers(1, 6),
        st.one_of(st.integers(0, 5_000), st.integers(0, KEEP_MS)),
        st.sampled_from(STAGES),
        st.booleans(),
    )
    facts: list[dict[str, Any]] = []
    at_ms, generations = 0, dict.fromkeys(range(1, 7), 1)
    for kind, lease_id, step, after, is_old in draw(st.lists(steps, max_size=40)):
        at_ms += step
        body: dict[str, Any] = {"lease_id": lease_id}
        if kind == "lease_revoked":
            body["after"] = after
            body |= {} if is_old else {"generation": generations[lease_id]}
        if kind in ("lease_renewed", "lease_restored"):
            generations[lease_id] += 1
            body["generation"] = generations[lease_id]
        if kind == "node_departed":
            body = {"lease_ids": [lease_id, lease_id + 10]}
        facts.append({"seq": len(facts), "kind": kind, "at_ms": at_ms, "body": body})
    return facts


def naive(facts: list[dict[str, Any]], since_ms: int) -> dict[int, tuple[int, int | None]]:
    """By lease: when it was last revoked, and which generation counts."""
    found: dict[int, tuple[int, int | None]] = {}
    for fact in facts:
        body, at_ms = fact["body"], fact["at_ms"]
        if fact["kind"] != "checkpoint_reported":
            for lease_id in body.get("lease_ids", [body.get("lease_id")]):
                found[lease_id] = (at_ms, _least(fact["kind"], body))
    return {lease: row for lease, row in found.items() if row[0] >= since_ms}


def _least(kind: str, body: dict[str, Any]) -> int | None:
    """The least generation whose tokens count from this record on; ``None``: none does."""
    if kind in ("lease_renewed", "lease_restored"):
        return int(body["generation"])
    is_graced = body.get("after") in ("revoke_warning", "grace_running")
    return body["generation"] + 1 if is_graced and "generation" in body else None


def test_who_gets_his_place_back_has_tokens_again_but_not_those_of_before() -> None:
    book, known = RevocationBook(), Revocations()
    told: list[tuple[str, dict[str, Any]]] = [
        ("lease_revoked", {"after": "revoke_warning", "generation": 3}),
        ("lease_revoked", {"after": "grace_running", "generation": 3}),
        ("lease_restored", {"generation": 4}),
    ]
    for at_ms, (kind, body) in enumerate(told):
        book.follow({"kind": kind, "at_ms": at_ms, "body": {"lease_id": 7, **body}})
        for row in book.since(0):  # a node takes up every state of the book, and merges
            assert row.generation is not None
            known.renewed(row.lease_id, generation=row.generation, at_ms=row.at_ms)
        assert known.refuses(7, generation=3, ids=())
        assert not known.refuses(7, generation=4, ids=())
    book.follow({"kind": "lease_expired", "at_ms": 9, "body": {"lease_id": 7}})
    assert [row.generation for row in book.since(0)] == [None]


@given(histories(), st.integers(0, KEEP_MS))
def test_nothing_recent_is_left_out(facts: list[dict[str, Any]], back_ms: int) -> None:
    book = RevocationBook()
    for fact in facts:
        book.follow(fact)
    now_ms = facts[-1]["at_ms"] if facts else 0
    since_ms = max(0, now_ms - back_ms)
    assert book.complete_from_ms <= since_ms
    told = {row.lease_id: (row.at_ms, row.generation) for row in book.since(since_ms)}
    assert told == naive(facts, since_ms)


@given(histories(), st.integers(1, 4))
def test_a_full_book_says_from_when_on_it_is_complete(
    facts: list[dict[str, Any]], leases_max: int
) -> None:
    book = RevocationBook(leases_max=leases_max)
    for fact in facts:
        book.follow(fact)
    rows = book.since(book.complete_from_ms)
    assert len(rows) <= leases_max
    told = {row.lease_id: (row.at_ms, row.generation) for row in rows}
    assert told == naive(facts, book.complete_from_ms)


@given(st.lists(st.integers(0, 50), max_size=60).map(sorted), st.integers(0, 51))
def test_the_first_record_of_a_time_is_found_by_halving(times: list[int], since_ms: int) -> None:
    lines = [json.dumps({"at_ms": at_ms}).encode() for at_ms in times]
    asked: list[int] = []

    def read(first: int, limit: int) -> list[bytes]:
        asked.append(first)
        return lines[first : first + limit]

    found = first_since(read, len(lines), since_ms=since_ms)
    assert found == sum(at_ms < since_ms for at_ms in times)
    assert len(asked) <= len(lines).bit_length()


def test_a_book_that_begins_late_knows_nothing_of_before() -> None:
    book = RevocationBook()
    book.begin(1_000)
    assert (book.complete_from_ms, book.since(0)) == (1_000, [])


def test_an_entry_is_kept_as_long_as_a_token_may_live_and_no_longer() -> None:
    book = RevocationBook()
    for at_ms, lease_id in ((1, 1), (1 + KEEP_MS, 2)):
        book.follow({"kind": "lease_expired", "at_ms": at_ms, "body": {"lease_id": lease_id}})
    assert [row.lease_id for row in book.since(0)] == [1, 2]
    book.follow({"kind": "checkpoint_reported", "at_ms": 2 + KEEP_MS, "body": {"lease_id": 3}})
    assert [row.lease_id for row in book.since(0)] == [2]
    assert book.complete_from_ms == 2

"""Sealing numbers, links and times records; an anchor resumes it."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.journal import (
    GENESIS,
    GENESIS_HASH,
    Anchor,
    Chain,
    Context,
    RecordKind,
    RecordRefused,
    leaf_hash,
    parse_anchor,
)
from bailiwick.vocab.errors import InvalidValue
from tests.unit.journal.makers import LEASE_BODY, make_log, seal_one

WHO = Context("scheduler", "req-7", "acme")


def test_each_record_names_the_one_before() -> None:
    chain = Chain()
    before = GENESIS_HASH
    for number in range(5):
        sealed = chain.seal(RecordKind.LEASE_RENEWED, WHO, at_ms=number, body=LEASE_BODY)
        assert (sealed.seq, sealed.record.seq) == (number, number)
        assert sealed.record.prev_hash == before
        assert sealed.hash == sealed.record.hash
        assert sealed.leaf == leaf_hash(sealed.canonical)
        before = sealed.hash


def test_time_may_stand_still_but_not_go_back() -> None:
    chain = Chain()
    chain.seal(RecordKind.LEASE_RENEWED, WHO, at_ms=7, body=LEASE_BODY)
    chain.seal(RecordKind.LEASE_RENEWED, WHO, at_ms=7, body=LEASE_BODY)
    with pytest.raises(InvalidValue, match="at_ms"):
        chain.seal(RecordKind.LEASE_RENEWED, WHO, at_ms=6, body=LEASE_BODY)
    assert chain.size == 2


def test_a_refused_record_leaves_the_chain_as_it_was() -> None:
    chain, _ = make_log(3)
    before = chain.anchor()
    with pytest.raises(RecordRefused):
        chain.seal(RecordKind.LEASE_RENEWED, WHO, at_ms=9_999, body={})
    with pytest.raises(RecordRefused):
        chain.seal(RecordKind.LEASE_RENEWED, Context("a", "r"), at_ms=9_999, body=LEASE_BODY)
    with pytest.raises(InvalidValue):
        chain.seal("lease_renewed", WHO, at_ms=9_999, body=LEASE_BODY)  # type: ignore[arg-type]
    nobody: Any = None
    with pytest.raises(InvalidValue):
        chain.seal(RecordKind.LEASE_RENEWED, nobody, at_ms=9_999, body=LEASE_BODY)
    assert chain.anchor() == before


def test_a_chain_resumed_from_its_anchor_seals_the_same_bytes() -> None:
    whole, lines = make_log(21)
    for cut in range(21):
        first, _ = make_log(cut)
        resumed = Chain(parse_anchor(str(first.anchor())))
        tail = [seal_one(resumed, number) for number in range(cut, 21)]
        assert tail == lines[cut:]
        assert resumed.anchor() == whole.anchor()
        assert resumed.root() == whole.root()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " " + str(GENESIS),
        str(GENESIS) + "\n",
        str(GENESIS) + " ",
        str(GENESIS).replace(" 0 0 ", " 00 0 "),
        str(GENESIS).replace(" 0 0 ", " 0 1 "),
        str(GENESIS).replace(" 0 0 ", " 1 0 "),
        str(GENESIS).replace(" 0 0 ", " -0 0 "),
        str(GENESIS).replace(" 0 0 ", " ٠ 0 "),
        str(GENESIS).replace("v1", "v2"),
        str(GENESIS).replace("0" * 64, "1" * 64),
        str(GENESIS).replace("0" * 64, "0" * 63),
        str(make_log(3)[0].anchor()).rsplit(" ", 1)[0],
        str(make_log(3)[0].anchor()).upper(),
        str(make_log(3)[0].anchor()) + " " + "0" * 64,
        f"bailiwick-anchor/v1 9007199254740992 0 {'0' * 64}",
    ],
)
def test_an_anchor_has_one_spelling(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_anchor(text)


def test_an_anchor_comes_back_from_its_text() -> None:
    for count in (0, 1, 2, 7, 300):
        anchor = make_log(count)[0].anchor()
        assert parse_anchor(str(anchor)) == anchor


def test_an_anchor_with_the_wrong_number_of_hashes_is_refused() -> None:
    with pytest.raises(InvalidValue):
        Anchor(3, 0, "1" * 64, (bytes(32),))

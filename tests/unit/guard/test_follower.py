"""What a guard knows is as fresh as the server has it, and ends when the server falls silent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bailiwick.capability import Accepted, Operation, Refused, TokenFault, Use
from bailiwick.capability.revocation import KEEP_MS, SKEW_MS_MAX
from bailiwick.client import Unreachable
from bailiwick.guard import Follower, Guard
from bailiwick.guard.follower import OVERLAP_MS, STALE_MS_MAX
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire import trust as wire
from bailiwick.wire.actions.action import Action
from bailiwick.wire.actions.trust import CAPABILITY_KEYS
from tests.support.lease_tokens import READ, kit
from tests.support.waiting import WAIT_S

BISCUIT = kit("biscuit")


class House:
    """A server's side of the two questions, and a clock that both sides read."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.ahead_ms = 0  # of the clock of whoever asks
        self.complete_from_ms = 0
        self.leases: list[tuple[int, int | None, int]] = []
        self.is_up = True
        self.asked: list[int] = []
        self.is_closed = False
        self._turn = threading.Condition()

    def send(self, action: Action[None, Any], *, query: dict[str, Any] | None = None) -> Any:
        if not self.is_up:
            self._asked(-1)
            raise Unreachable("https://server", "down", correlation_id="c")
        if action is CAPABILITY_KEYS:
            return wire.CapabilityKeys.model_validate(BISCUIT.ring.told())
        since_ms = (query or {})["since"]
        revoked = wire.Revoked(
            leases=[row for row in self.leases if row[2] >= since_ms],
            ids=[],
        )
        self._asked(since_ms)
        return wire.Revocations(
            now_ms=self.now_ms + self.ahead_ms,
            complete_from_ms=self.complete_from_ms,
            revoked=revoked,
        )

    def close(self) -> None:
        self.is_closed = True

    def _asked(self, since_ms: int) -> None:
        with self._turn:
            self.asked.append(since_ms)
            self._turn.notify_all()

    def wait_for_next(self, rounds: int = 2) -> None:
        """Until it was asked so often again: the first may have been under way already."""
        with self._turn:
            wanted = len(self.asked) + rounds
            assert self._turn.wait_for(lambda: len(self.asked) >= wanted, WAIT_S)


@contextmanager
def following(house: House) -> Iterator[tuple[Follower, Guard]]:
    client: Any = house
    follower = Follower(client, now_ms=lambda: house.now_ms, refresh_s=0.001)
    try:
        yield follower, Guard("node-1", follower.known, now_ms=lambda: house.now_ms)
    finally:
        follower.close()


def token(house: House, **changed: Any) -> str:
    return BISCUIT.mint(expires_ms=house.now_ms + 300_000, **changed)


def test_the_first_answer_is_there_before_the_guard_is() -> None:
    house = House()
    house.leases = [(7, None, house.now_ms)]
    with following(house) as (_, guard):
        assert guard.check(token(house), READ) == Refused(TokenFault.REVOKED)
        assert isinstance(guard.check(token(house, lease_id=8), READ), Accepted)
    assert house.is_closed


def test_a_server_that_is_not_there_is_noticed_at_once() -> None:
    house = House()
    house.is_up = False
    with pytest.raises(Unreachable):
        Follower(house)  # type: ignore[arg-type]


def test_news_arrives_and_old_news_stays() -> None:
    house = House()
    house.leases = [(7, 4, house.now_ms)]
    with following(house) as (_, guard):
        house.now_ms += 2 * OVERLAP_MS
        house.leases = [(8, None, house.now_ms)]
        house.wait_for_next()
        for lease_id in (7, 8):
            found = guard.check(token(house, lease_id=lease_id), READ)
            assert found == Refused(TokenFault.REVOKED)
        assert isinstance(guard.check(token(house, generation=4), READ), Accepted)
        assert max(house.asked) == house.now_ms - OVERLAP_MS


def test_entries_that_can_have_no_token_left_are_forgotten() -> None:
    house = House()
    house.leases = [(7, None, house.now_ms)]
    with following(house) as (follower, _):
        house.leases = []
        house.now_ms += KEEP_MS + 1
        house.wait_for_next()
        assert len(follower.known().revoked) == 0


def test_a_silent_server_is_believed_for_a_minute_and_no_longer() -> None:
    house = House()
    with following(house) as (_, guard):
        house.is_up = False
        house.wait_for_next()
        good = token(house)
        house.now_ms += STALE_MS_MAX - 1
        assert isinstance(guard.check(good, READ), Accepted)
        house.now_ms += 1
        found = guard.check(good, READ)
        assert getattr(found, "status", None) == 503
        house.is_up = True
        house.wait_for_next()
        assert isinstance(guard.check(good, READ), Accepted)


def test_a_list_with_a_gap_does_not_count() -> None:
    house = House()
    house.complete_from_ms = house.now_ms - KEEP_MS + 1
    with pytest.raises(Unavailable):
        Follower(house)  # type: ignore[arg-type]
    house.complete_from_ms -= 1
    with following(house) as (follower, _):
        until_ms = follower.known().until_ms
        house.now_ms += 1_000
        house.complete_from_ms = house.now_ms  # it lost what we have heard already but a second
        house.wait_for_next()
        assert follower.known().until_ms == until_ms
        house.complete_from_ms = house.now_ms - 1_000 - OVERLAP_MS
        house.wait_for_next()
        assert follower.known().until_ms == until_ms + 1_000  # type: ignore[operator]


def test_a_replica_whose_clock_is_ahead_hides_no_revocation_that_another_dates() -> None:
    house = House()
    house.ahead_ms = SKEW_MS_MAX
    with following(house) as (_, guard):
        house.leases = [(7, None, house.now_ms)]
        house.wait_for_next()
        assert guard.check(token(house), READ) == Refused(TokenFault.REVOKED)


@pytest.mark.parametrize("sign", [1, -1])
def test_clocks_that_are_more_than_a_minute_apart_are_told_and_nothing_is_believed(
    sign: int,
) -> None:
    house = House()
    client: Any = house
    house.ahead_ms = sign * (SKEW_MS_MAX + 1)
    with pytest.raises(Unavailable, match="60 s apart"):
        Follower(client, now_ms=lambda: house.now_ms)
    house.ahead_ms -= sign
    with following(house) as (follower, _):
        until_ms = follower.known().until_ms
        house.ahead_ms += sign
        house.now_ms += 1
        house.wait_for_next()
        assert follower.known().until_ms == until_ms


def test_the_use_decides_with_what_is_known() -> None:
    house = House()
    with following(house) as (_, guard):
        found = guard.check(token(house), Use(Operation.GPU_SUBMIT))
        assert found == Refused(TokenFault.OPERATION_NOT_ALLOWED)

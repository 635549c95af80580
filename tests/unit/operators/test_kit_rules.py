"""The parts of the operator kit that decide: held against naive references, in any order."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.kit.backoff import FIRST_S, MOST_S, wait_s
from bailiwick.operators.kit.election import (
    Election,
    LeaderClaim,
    Take,
    Wait,
    claim_in,
    notes_in,
    spell_notes,
    with_claim,
)
from bailiwick.operators.kit.resync import plan_resync
from bailiwick.operators.kit.secrets import SECRET_BYTES_MAX, SecretFile
from bailiwick.operators.kit.work_queue import WorkQueue
from bailiwick.vocab.errors import InvalidValue

KEYS = st.integers(1, 4)
TIMES = st.integers(0, 20).map(float)


# -- the queue -------------------------------------------------------------------------------


@dataclass
class NaiveQueue:
    """The same by a list that is looked through each time."""

    waiting: list[tuple[int, float, int]] = field(default_factory=list)
    taken: dict[int, tuple[bool, float | None]] = field(default_factory=dict)
    """By key: whether it is gone, and what was asked for meanwhile."""
    serial: int = 0

    def add(self, key: int, due: float) -> None:
        if key in self.taken:
            gone, asked = self.taken[key]
            self.taken[key] = gone, due if asked is None else min(asked, due)
            return
        if any(k == key and d <= due for k, d, _ in self.waiting):
            return
        self.waiting = [each for each in self.waiting if each[0] != key]
        self.serial += 1
        self.waiting.append((key, due, self.serial))

    def take(self, now: float) -> int | None:
        due = [each for each in self.waiting if each[1] <= now]
        if not due:
            return None
        first = min(due, key=lambda each: (each[1], each[2]))
        self.waiting.remove(first)
        self.taken[first[0]] = False, None
        return first[0]

    def put_back(self, key: int, due: float | None) -> None:
        gone, asked = self.taken.pop(key)
        for time in (None if gone else due, asked):
            if time is not None:
                self.add(key, time)

    def forget(self, key: int) -> None:
        self.waiting = [each for each in self.waiting if each[0] != key]
        if key in self.taken:
            self.taken[key] = True, None


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), KEYS, TIMES),
        st.tuples(st.just("take"), TIMES),
        st.tuples(st.just("back"), KEYS, st.none() | TIMES),
        st.tuples(st.just("forget"), KEYS),
    ),
    max_size=40,
)


@given(steps=STEPS)
def test_the_queue_is_what_a_plain_list_would_be(steps: list[tuple[object, ...]]) -> None:
    queue, naive = WorkQueue(), NaiveQueue()
    for step in steps:
        match step:
            case ("add", int(key), float(due)):
                queue.add(key, due=due)
                naive.add(key, due)
            case ("take", float(now)):
                found = queue.take(now)
                assert found == naive.take(now)
                assert found is None or found in queue.taken
            case ("back", int(key), due) if key in naive.taken:
                assert due is None or isinstance(due, float)
                queue.put_back(key, due=due)
                naive.put_back(key, due)
            case ("forget", int(key)):
                queue.forget(key)
                naive.forget(key)
            case _:
                pass
        assert queue.taken == naive.taken.keys()
        assert len(queue) == len(naive.waiting)
        assert queue.next_due == min((due for _, due, _ in naive.waiting), default=None)


def test_what_is_heard_while_a_worker_has_it_is_looked_at_again() -> None:
    queue = WorkQueue()
    queue.add(1, due=0.0)
    assert queue.take(0.0) == 1
    queue.add(1, due=1.0)
    assert queue.take(9.0) is None, "it is with a worker"
    queue.put_back(1)
    assert queue.take(1.0) == 1


@given(failures=st.integers(0, 10**6), chance=st.floats(0, 1))
def test_a_pause_grows_is_bounded_and_is_spread(failures: int, chance: float) -> None:
    found = wait_s(failures, chance=chance)
    assert FIRST_S / 2 <= found <= MOST_S
    assert found <= wait_s(failures + 1, chance=chance)


def test_failures_in_a_row_are_counted_until_it_goes_well() -> None:
    queue = WorkQueue()
    assert [queue.count_failure(1) for _ in range(3)] == [1, 2, 3]
    queue.forgive(1)
    assert queue.count_failure(1) == 1


ROWS = st.dictionaries(KEYS, st.sampled_from("abc"))


@given(known=ROWS, listed=ROWS)
def test_a_resync_puts_each_key_in_its_place(known: dict[int, str], listed: dict[int, str]) -> None:
    found = plan_resync(known, listed)
    for key in range(1, 5):
        if key not in listed:
            assert (key in found.gone) is (key in known)
            assert key not in (*found.changed, *found.same)
        else:
            assert (key in found.same) is (known.get(key) == listed[key])
            assert (key in found.changed) is not (key in found.same)


# -- who leads -------------------------------------------------------------------------------


@dataclass
class Replica:
    """One that reads the claim, and writes it after a while; it may be paused between."""

    name: str
    ahead: float
    """What its clock is ahead of the true time."""
    election: Election
    rate: float = 1.0
    """How fast its clock runs."""
    read: tuple[int, LeaderClaim | None] | None = None
    sent: float = 0.0

    def clock(self, now: float) -> float:
        """What it takes the time for."""
        return self.ahead + self.rate * now


TERM = 6.0


@given(
    moves=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.booleans()), max_size=80),
    aheads=st.tuples(*[st.integers(-1000, 1000)] * 3),
    rates=st.tuples(*[st.sampled_from((0.85, 1.0, 1.15))] * 3),
)
def test_never_two_lead_at_once_however_they_are_delayed_and_whatever_their_clocks_say(
    moves: list[tuple[int, int, bool]], aheads: tuple[int, ...], rates: tuple[float, ...]
) -> None:
    replicas = [
        Replica(f"r{n}", float(ahead), Election(f"r{n}", TERM), rate)
        for n, (ahead, rate) in enumerate(zip(aheads, rates, strict=True))
    ]
    now, revision, claim = 0.0, 0, None
    for number, passes, gives_back in moves:
        now += passes
        each = replicas[number]
        if each.read is None:
            step = each.election.look(1, claim, now=each.clock(now))
            if isinstance(step, Take):
                each.read, each.sent = (revision, step.claim), each.clock(now)
        else:  # what it sent arrives now
            (seen, wish), each.read = each.read, None
            if seen == revision:
                revision, claim = revision + 1, wish
                assert wish is not None
                each.election.won(1, wish, sent=each.sent)
            if gives_back and claim is not None and claim.holder == each.name:
                each.election.lost()
                revision, claim = revision + 1, LeaderClaim("", claim.count + 1)
        leading = [r.name for r in replicas if r.election.leads(r.clock(now))]
        assert len(leading) <= 1


def test_a_claim_is_taken_when_it_is_free_stays_as_it_is_or_was_given_back() -> None:
    one, two = Election("one", TERM), Election("two", TERM)
    first = one.look(7, None, now=0.0)
    assert first == Take(LeaderClaim("one", 1))
    one.won(7, LeaderClaim("one", 1), sent=0.0)
    assert one.leads(3.9)
    assert not one.leads(4.0)
    assert two.look(7, LeaderClaim("one", 1), now=1.0) == Wait()
    assert two.look(7, LeaderClaim("one", 2), now=6.9) == Wait(), "it was renewed"
    assert two.look(7, LeaderClaim("one", 2), now=12.8) == Wait()
    assert two.look(7, LeaderClaim("one", 2), now=12.9) == Take(LeaderClaim("two", 3))
    assert two.look(7, LeaderClaim("", 3), now=13.0) == Take(LeaderClaim("two", 4)), (
        "it was given back"
    )
    assert two.look(8, None, now=14.0) == Wait(), "another lock: somebody may still lead"
    assert two.look(8, None, now=20.0) == Take(LeaderClaim("two", 1))
    assert one.look(7, None, now=20.0) == Wait(), "a claim that is gone was not given back"


@given(metadata=st.text(max_size=30), holder=st.text(max_size=8), count=st.integers(0, 9))
def test_a_claim_leaves_other_notes_as_they_are(metadata: str, holder: str, count: int) -> None:
    claim = LeaderClaim(holder, count)
    found = with_claim(metadata, claim)
    assert claim_in(found) == claim
    rest = {name: value for name, value in notes_in(metadata).items() if name != "leader"}
    assert with_claim(found, None) == spell_notes(rest)


@pytest.mark.parametrize(
    "metadata", ["", "words", "[1]", '{"leader": 3}', '{"leader": {"holder": 1, "count": 2}}']
)
def test_what_is_no_claim_is_none(metadata: str) -> None:
    assert claim_in(metadata) is None


# -- secrets ---------------------------------------------------------------------------------


def test_a_secret_is_read_again_once_it_was_replaced(tmp_path: Path) -> None:
    secret = SecretFile(tmp_path / "token")
    secret.replace("one")
    assert secret.read() == "one"
    assert os.stat(secret.path).st_mode & 0o777 == 0o600
    SecretFile(secret.path).replace("two\n")
    assert secret.read() == "two"
    assert os.listdir(tmp_path) == ["token"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_secret_that_others_could_touch_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text("hush")
    path.chmod(mode)
    with pytest.raises(InvalidValue, match="only its owner") as told:
        SecretFile(path).read()
    assert "hush" not in str(told.value)


def test_no_secret_is_read_through_a_link_from_nothing_or_without_end(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    SecretFile(real).replace("hush")
    link.symlink_to(real)
    for path in (link, tmp_path / "none", tmp_path):
        with pytest.raises(InvalidValue):
            SecretFile(path).read()
    for text in ("", " \n", "x" * (SECRET_BYTES_MAX + 1)):
        SecretFile(real).replace(text)
        with pytest.raises(InvalidValue, match="bytes of text"):
            SecretFile(real).read()

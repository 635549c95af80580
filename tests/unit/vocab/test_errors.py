"""The error tree: each error is told as data, and its message stays readable."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from bailiwick.vocab import errors
from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.errors import (
    BailiwickError,
    CallUnanswered,
    ClockJumped,
    Conflict,
    Damaged,
    Deposed,
    ErrorCode,
    EvidenceContradicted,
    IllegalTransition,
    InstanceRefused,
    InvalidValue,
    InvariantBroken,
    LimitReached,
    NotFound,
    NotHonoured,
    NotLeader,
    OverlayBroadens,
    SharedRuntimeRefused,
    Stale,
    Unavailable,
    UnsupportedSchema,
    VerificationFailed,
)
from bailiwick.vocab.readiness import EvidenceFault
from bailiwick.vocab.shared import SharedRefusal

SAMPLES: list[BailiwickError] = [
    InvalidValue("mem_bytes", -1, "an integer from 0 to 9"),
    NotFound("node", "n1", hint="register it first"),
    Conflict("node", "n1", "is registered already"),
    IllegalTransition("node_mode", "accepting", "drained", ("draining", "fence_lost")),
    Stale("lease", 7, held=1, current=3),
    LimitReached("quota rows", 10),
    NotHonoured("gpu_share", "cluster", asked=500, step=1000),
    OverlayBroadens("regions", "west", source="fleet"),
    InstanceRefused(InstanceRefusal.INSTANCES_MAX, "hello", limit=3, held=3, source="lab"),
    SharedRuntimeRefused(SharedRefusal.NODES_GIVE_ROOT, "main", nodes=2),
    EvidenceContradicted(EvidenceFault.NOT_THAT_EVENT, "hello 1.0.0", seq=7),
    CallUnanswered(7, was_taken=True),
    VerificationFailed("sha256:ab", "no key of its source signed it"),
    Unavailable("the store", "disk full"),
    NotLeader("replica-2:7000"),
    Deposed(3, 4),
    ClockJumped(9_000, 5_000, 1_000),
    Damaged("snapshot", "record 7", "its digest is another"),
    UnsupportedSchema("9", "2"),
    InvariantBroken("the sum is off"),
]


class Unspeakable:
    """A value whose own repr fails."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


def concrete_errors() -> Iterator[type[BailiwickError]]:
    for _, value in inspect.getmembers(errors, inspect.isclass):
        if issubclass(value, BailiwickError) and value is not BailiwickError:
            yield value


def test_every_error_has_a_sample_here() -> None:
    assert {type(sample) for sample in SAMPLES} == set(concrete_errors())


def test_every_error_has_its_own_code_and_every_code_its_error() -> None:
    codes = [kind.code for kind in concrete_errors()]
    assert sorted(codes) == sorted(ErrorCode)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda e: type(e).__name__)
def test_every_error_can_be_caught_as_the_library_s_own(error: BailiwickError) -> None:
    with pytest.raises(BailiwickError):
        raise error


@pytest.mark.parametrize(("kind", "builtin"), [(InvalidValue, ValueError), (NotFound, LookupError)])
def test_an_error_is_also_the_builtin_a_caller_would_expect(kind: type, builtin: type) -> None:
    assert issubclass(kind, builtin)


def test_only_a_stale_read_and_a_store_that_may_come_back_are_worth_retrying() -> None:
    retryable = {kind for kind in concrete_errors() if kind.retryable}
    assert retryable == {Stale, Unavailable, NotLeader, Deposed, ClockJumped}


def test_an_invalid_value_carries_field_value_and_what_was_expected() -> None:
    error = InvalidValue("mem_bytes", -1, "an integer from 0 to 9")
    assert (error.field, error.value, error.expected) == ("mem_bytes", -1, "an integer from 0 to 9")
    assert str(error) == "mem_bytes: expected an integer from 0 to 9, got -1"


@pytest.mark.parametrize("value", ["x" * 10_000, 10**4000, list(range(10_000))], ids=range(3))
def test_a_long_value_is_cut_in_the_message_and_kept_whole_beside_it(value: object) -> None:
    error = InvalidValue("labels", value, "a name")
    assert len(str(error)) < 130
    assert str(error).endswith("...")
    assert error.value is value


@pytest.mark.parametrize("value", [10**5000, -(10**5000), Unspeakable()], ids=range(3))
def test_a_value_that_cannot_be_printed_does_not_hide_the_error(value: object) -> None:
    assert "cannot be shown" in str(InvalidValue("mem_bytes", value, "an integer"))
    assert "cannot be shown" in str(NotFound("lease", value))
    assert "cannot be shown" in str(Conflict("lease", value, "is held"))


def test_something_not_found_carries_what_was_sought_and_a_hint() -> None:
    error = NotFound("node", "n1", hint="register it first")
    assert (error.kind, error.name, error.hint) == ("node", "n1", "register it first")
    assert str(error) == "no node 'n1' (register it first)"


def test_a_conflict_carries_what_stands_in_the_way() -> None:
    error = Conflict("node", "n1", "is registered already")
    assert (error.kind, error.name, error.hint) == ("node", "n1", "")
    assert str(error) == "node 'n1': is registered already"


def test_an_illegal_transition_carries_where_it_was_and_where_it_could_have_gone() -> None:
    error = IllegalTransition("node_mode", "accepting", "drained", ("draining", "fence_lost"))
    assert (error.machine, error.current, error.wanted) == ("node_mode", "accepting", "drained")
    assert error.allowed == ("draining", "fence_lost")
    assert "from accepting: draining, fence_lost" in str(error)


def test_an_illegal_transition_from_the_end_says_that_it_is_the_end() -> None:
    assert "terminal" in str(IllegalTransition("revoke_state", "torndown", "active", ()))


def test_a_stale_caller_learns_both_generations() -> None:
    error = Stale("lease", 7, held=1, current=3)
    assert (error.held, error.current) == (1, 3)
    assert "generation 3" in str(error)


def test_a_reached_limit_names_itself_and_its_number() -> None:
    error = LimitReached("quota rows", 10)
    assert (error.what, error.limit) == ("quota rows", 10)

"""What lies between a caller and a program inside a job."""

from __future__ import annotations

import pytest

from bailiwick.services.jobs.channel import TYPED_BYTES_MAX, ExecChannel
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import ExecEnd, ExecOutcome


def test_what_is_typed_twice_is_there_once_and_a_gap_is_refused() -> None:
    channel = ExecChannel()
    assert channel.type(0, b"abc") == 3
    assert channel.type(1, b"bcd") == 4
    typed = channel.pull(0)
    assert typed is not None
    assert typed.data == b"abcd"
    with pytest.raises(InvalidValue, match="what is before is missing"):
        channel.type(5, b"f")


def test_a_full_queue_takes_what_there_is_room_for() -> None:
    channel = ExecChannel()
    assert channel.type(0, b"x" * (TYPED_BYTES_MAX + 1)) == TYPED_BYTES_MAX
    assert channel.type(TYPED_BYTES_MAX, b"x") == TYPED_BYTES_MAX
    channel.pull(TYPED_BYTES_MAX)
    assert channel.type(TYPED_BYTES_MAX, b"x") == TYPED_BYTES_MAX + 1


def test_who_types_to_a_program_that_is_over_does_not_wait_for_room() -> None:
    channel = ExecChannel()
    channel.type(0, b"x" * TYPED_BYTES_MAX)
    channel.finish(ExecOutcome(ExecEnd.EXITED, code=0))
    more = TYPED_BYTES_MAX + 1_000
    assert channel.type(TYPED_BYTES_MAX, b"y" * 1_000) == more
    assert channel.type(more, b"", is_closed=True) == more

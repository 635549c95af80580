"""What the kernel decided once it decides again: recorded histories, record by record.

Commands, answers, errors, records and the state's bytes were written down by an earlier kernel
(``tests/vectors/kernel/README.md``). Moving code must not change any of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.journal import parse_record
from bailiwick.journal.anchor import GENESIS
from bailiwick.kernel import Envelope, Kernel, State, decode, decode_command, encode, encode_command
from bailiwick.kernel.codec import command_digest
from bailiwick.kernel.slices import COMMANDS
from bailiwick.vocab.errors import BailiwickError
from tests.support import recorded_histories as recorded

NAMES = recorded.names()


class Again:
    """A history that is decided again."""

    def __init__(self, name: str, *, engine: str = "auto") -> None:
        self.told, self.whole, self.snapshot = recorded.read(name)
        self.kernel = Kernel(State(engine=engine), simulated=True)
        self.lines: list[bytes] = []
        for number, told in enumerate(self.told):
            assert self._decide(told) == told, f"command {number} of {name}"

    def _decide(self, told: dict[str, Any]) -> dict[str, Any]:
        command = decode_command(told["command"])
        envelope = Envelope(command, told["actor"], told["request"], told.get("key"))
        said = recorded.told_of(envelope, told["at_ms"])
        try:
            outcome = self.kernel.execute(envelope, told["at_ms"])
        except BailiwickError as error:
            return said | recorded.refused(error) | recorded.head(self.kernel)
        self.lines += outcome.lines
        return said | recorded.answered(outcome) | recorded.head(self.kernel)


@pytest.fixture(scope="module", params=NAMES)
def again(request: pytest.FixtureRequest) -> Again:
    return Again(request.param)


def test_there_are_as_many_recordings_as_the_readme_says() -> None:
    assert len(NAMES) == len(recorded.MAKERS) == 25
    told = [each for name in NAMES for each in recorded.read(name)[0]]
    assert len(told) > 2_500
    assert {each["command"]["command"] for each in told} == set(COMMANDS)


def test_every_command_is_decided_as_it_was(again: Again) -> None:
    assert recorded.whole(again.kernel) == again.whole


def test_the_state_is_written_byte_for_byte_and_read_back(again: Again) -> None:
    assert encode(again.kernel.state) == again.snapshot
    assert encode(decode(again.snapshot, again.whole["snapshot"])) == again.snapshot


def test_replaying_the_records_gives_the_same_bytes(again: Again) -> None:
    kernel = Kernel()
    kernel.follow([parse_record(line[:-1]) for line in again.lines], again.kernel.chain.anchor())
    assert encode(kernel.state) == again.snapshot
    assert again.kernel.chain.anchor() != GENESIS


def test_every_command_has_one_spelling_and_one_digest(again: Again) -> None:
    for told in again.told:
        command = decode_command(told["command"])
        assert encode_command(command) == told["command"]
        assert command_digest(decode_command(encode_command(command))) == command_digest(command)


def test_the_engine_in_python_decides_the_same() -> None:
    slow = Again("money-14", engine="pure")
    assert recorded.whole(slow.kernel) == slow.whole

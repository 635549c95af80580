"""Every command that does something shows how it is called, and what it shows can be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.cli.lazy import COMMANDS, load_command
from bailiwick.cli.main import app

assert app  # its import fills the list of commands

NOT_THERE = re.compile("does not exist")
"""An example may name a file that is not here."""


def leaves() -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that call it."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        if below is None or command.invoke_without_command:
            yield words, command
        for name, each in (below or {}).items():
            yield from walk(f"{words} {name}", each)

    for word in COMMANDS:
        yield from walk(word, load_command(word))


IN_A_TASK = {"GRAPH_ID": "7", "TASK_NAME": "train", "TASK_ATTEMPT": "1"}
"""What a graph's task finds in its environment, where its commands are typed."""

LEAVES = {words: command for words, command in leaves() if not command.hidden}


def example_of(words: str, command: Any) -> str:
    """The line of a command's help that can be typed; empty if there is none."""
    # Lines of one paragraph are one: a long example is folded.
    joined = re.sub(r"(?<!\n)\n(?!\n)", " ", command.help or "")
    found = re.search(rf"bailiwick {re.escape(words)}(?![-\w])[^\n);]*", joined)
    return "" if found is None else found.group()


@pytest.mark.parametrize("words", LEAVES)
def test_the_help_has_an_example_that_can_be_typed(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in IN_A_TASK.items():
        monkeypatch.setenv(name, value)
    command = LEAVES[words]
    example = example_of(words, command)
    assert example, f"the help of {words} shows no line that begins: bailiwick {words}"
    typed = shlex.split(example)[1 + len(words.split()) :]
    try:
        command.make_context(words, typed)
    except Exception as error:
        message = getattr(error, "message", str(error))
        assert NOT_THERE.search(message), f"{example}: {message}"

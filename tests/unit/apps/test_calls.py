"""Questions to apps, and their answers: text within bounds, with one spelling."""

from __future__ import annotations

import pytest

from bailiwick.apps import calls
from bailiwick.apps.calls import CallAnswer, CallQuestion
from bailiwick.vocab.errors import InvalidValue


def test_a_question_is_read_back_as_it_was_and_its_digest_is_of_all_of_it() -> None:
    asked = CallQuestion(("queue", "-o", "%i é\n"), "#!/bin/sh\n")
    assert CallQuestion.read(asked.canonical) == asked
    others = [CallQuestion(asked.argv), CallQuestion(asked.argv[:1], asked.stdin)]
    others.append(CallQuestion(("queue -o", "%i é\n"), asked.stdin))
    assert len({each.digest for each in [asked, *others]}) == 4


@pytest.mark.parametrize(
    ("argv", "stdin"),
    [
        ((), ""),
        (("",), ""),
        (("x",) * (calls.WORDS_MAX + 1), ""),
        (("x" * (calls.WORD_BYTES_MAX + 1),), ""),
        (("x", *("y" * calls.WORD_BYTES_MAX for _ in range(4))), ""),
        (("x\0",), ""),
        (("\ud800",), ""),
        (("x",), "\0"),
        (("x",), "é" * (calls.STDIN_BYTES_MAX // 2 + 1)),
    ],
)
def test_what_is_too_much_or_no_text_is_refused_and_not_shown(
    argv: tuple[str, ...], stdin: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        CallQuestion(argv, stdin)
    assert "xy" not in str(refused.value)


def test_the_most_that_can_be_asked_can_be_asked() -> None:
    CallQuestion(("x" * calls.WORD_BYTES_MAX,) * 4, "x" * calls.STDIN_BYTES_MAX)


@pytest.mark.parametrize("code", [-1, 256])
def test_an_answer_ends_as_a_program_does(code: int) -> None:
    with pytest.raises(InvalidValue):
        CallAnswer(code)


def test_an_answer_has_its_bound_too() -> None:
    CallAnswer(0, "x" * calls.OUTPUT_BYTES_MAX, "x" * calls.OUTPUT_BYTES_MAX)
    for out, err in (("é" * calls.OUTPUT_BYTES_MAX, ""), ("", "\0")):
        with pytest.raises(InvalidValue):
            CallAnswer(0, out, err)

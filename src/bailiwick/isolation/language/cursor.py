"""Going through the tokens of one statement: what comes next, and what should have.

Rules:

- A mistake that leaves no way on is told, and raises :class:`Stop`; one that does is only told.
- Every round of a list takes a token or stops, and so does what has told enough problems: nobody
  can make it work long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NoReturn, TypeVar

from bailiwick.isolation.language.text import PROBLEMS_MAX, PolicyProblem, Statement, nearest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_name

BECAUSE_MAX: Final = 400
"""Characters of a reason."""

T = TypeVar("T")


class Stop(Exception):
    """The rest of a statement cannot be read; its problem has been told."""


class TokenCursor:
    """A place in the tokens of one statement."""

    def __init__(self, statement: Statement, problems: list[PolicyProblem]) -> None:
        self._statement, self._problems = statement, problems
        self._tokens, self._at = statement.tokens, 0
        self._sources = {line.number: line.text for line in statement.lines}

    @property
    def line(self) -> int:
        """Where the statement begins."""
        return self._statement.lines[0].number

    @property
    def is_broken(self) -> bool:
        """Whether its lines have a problem that has been told already."""
        return self._statement.is_broken

    # -- tokens ------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        """The token that comes next, or so many behind it; empty behind the end."""
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def skip(self) -> None:
        """Go on behind what comes next."""
        self._at += 1

    def take(self, expected: str) -> str:
        """Whatever comes next."""
        if self._at >= len(self._tokens):
            self.stop(expected)
        self._at += 1
        return self._tokens[self._at - 1].text

    def word(self, word: str, expected: str = "") -> None:
        """Exactly this."""
        if self.peek() != word:
            self.stop_at_word((word,), expected or f"'{word}'")
        self._at += 1

    def choice(self, *words: str) -> str:
        """One of these."""
        if self.peek() not in words:
            self.stop_at_word(words, either([f"'{word}'" for word in words]))
        self._at += 1
        return self._tokens[self._at - 1].text

    def name_of(self, what: str) -> str:
        """A name as everywhere in the fleet."""
        text = self.take(what)
        if not is_name(text):
            self.stop_last(f"{what}: 1 to 63 letters, digits, '.', '_' or '-'")
        return text

    def value(
        self, read: Callable[[str], T | None], expected: str, *, near: Iterable[str] = ()
    ) -> T:
        """What ``read`` makes of the next token."""
        text = self.take(expected)
        found = read(text)
        if found is None:
            self.stop_last(expected, nearest(text, near))
        return found

    def quoted(self) -> str:
        """A text in quotes, without them."""
        expected = f'a reason in quotes: because "..." (at most {BECAUSE_MAX} characters)'
        text = self.take(expected)
        inner = re.sub(r"\\(.)", r"\1", text[1:-1])
        if not text.startswith('"') or not inner.strip() or len(inner) > BECAUSE_MAX:
            self.stop_last(expected)
        return inner

    def listed(self, read: Callable[[], T | None], *, most: int, joint: str = ",") -> list[T]:
        """One or more, each once; those that ``read`` makes nothing of are left out."""
        found: list[T] = []
        while True:  # bounded: every round takes a token or stops
            before = self._at
            each = read()
            if each in found:
                self._tell(before, "each once")
            elif len(found) == most:
                self._stop_at(before, f"at most {most} of them")
            elif each is not None:
                found.append(each)
            if self.peek() != joint:
                return found
            self._at += 1

    def end(self, or_else: str = "") -> None:
        """Nothing more."""
        if self._at < len(self._tokens):
            known = re.findall(r"'(\w+)'", or_else)
            more = f", or {or_else}" if or_else else ""
            self.stop_at_word(known, "the end of the statement" + more)

    # -- problems ----------------------------------------------------------------------------

    def tell_name(self, expected: str) -> None:
        """Something is wrong with the name of the rule."""
        self._tell(0, expected)

    def tell_last(self, expected: str, near: str = "") -> None:
        """Something is wrong with the last token that was read."""
        self._tell(self._at - 1, expected, near)

    def stop(self, expected: str, near: str = "") -> NoReturn:
        """What comes next is wrong."""
        self._stop_at(self._at, expected, near)

    def stop_last(self, expected: str, near: str = "") -> NoReturn:
        """What was read last is wrong."""
        self._stop_at(self._at - 1, expected, near)

    def stop_at_word(self, words: Iterable[str], expected: str) -> NoReturn:
        """What comes next is none of these words."""
        self.stop(expected, nearest(self.peek(), words))

    def _stop_at(self, at: int, expected: str, near: str = "") -> NoReturn:
        self._tell(at, expected, near)
        raise Stop

    def _tell(self, at: int, expected: str, near: str = "") -> None:
        if at < len(self._tokens):
            token = self._tokens[at]
            place, found = (token.line, token.column), token.text
        else:
            last = self._tokens[-1]
            place, found = (last.line, last.column + len(last.text)), ""
        source = self._sources[place[0]]
        self._problems.append(PolicyProblem(*place, found, expected, near, source))
        if len(self._problems) >= PROBLEMS_MAX:
            raise Stop


def is_name(text: str) -> bool:
    """Whether it is a name as everywhere in the fleet."""
    try:
        check_name("name", text)
    except InvalidValue:
        return False
    return True


def either(words: Iterable[str]) -> str:
    """The words, as they are said in a choice."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last

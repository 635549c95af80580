"""The values of an invoice's body, each checked as it is taken.

Rules:

- What is not there, of another type or out of bounds is refused under its name.

>>> BodyValues("line", {"used": "-12"}).digits("used")
-12
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

NUMBER_MAX: Final = 2**53 - 1
_TEXT_MAX: Final = 256
_DIGITS_MAX: Final = 60

W = TypeVar("W", bound=StrEnum)


class BodyValues:
    """The values of one object of a body, each checked as it is taken."""

    def __init__(self, what: str, body: object) -> None:
        if not isinstance(body, Mapping):
            raise InvalidValue(what, body, "an object")
        self.names: Mapping[str, Any] = body

    def is_(self, name: str, told: Mapping[str, Any]) -> bool:
        """Whether a name has the value that it should have."""
        return name in told and name in self.names and told[name] == self.names[name]

    def take(self, name: str) -> object:
        """Any value, which has to be there."""
        if name not in self.names:
            raise InvalidValue(name, None, "a value")
        return self.names[name]

    def number(self, name: str, *, low: int = 0) -> int:
        """A number within bounds."""
        return check_integer(name, self.take(name), low=low, high=NUMBER_MAX)

    def maybe_number(self, name: str) -> int | None:
        """A number within bounds, or null."""
        return None if self.take(name) is None else self.number(name)

    def digits(self, name: str) -> int:
        """A number that is written as its digits."""
        text = self.text(name)
        plain = text.removeprefix("-")
        if not (plain.isascii() and plain.isdigit() and len(plain) <= _DIGITS_MAX):
            raise InvalidValue(name, text, f"at most {_DIGITS_MAX} digits")
        return int(text)

    def text(self, name: str) -> str:
        """A text that is not empty."""
        value = self.take(name)
        if not isinstance(value, str) or not 0 < len(value) <= _TEXT_MAX:
            raise InvalidValue(name, value, f"a text of at most {_TEXT_MAX} characters")
        return value

    def maybe_text(self, name: str) -> str | None:
        """A text, or null."""
        return None if self.take(name) is None else self.text(name)

    def word(self, name: str, words: type[W]) -> W:
        """A word of a closed list."""
        text = self.text(name)
        try:
            return words(text)
        except ValueError:
            raise InvalidValue(name, text, "one of " + ", ".join(words)) from None

    def maybe_word(self, name: str, words: type[W]) -> W | None:
        """Such a word, or null."""
        return None if self.take(name) is None else self.word(name, words)

"""JSON from outside, read strictly: one value, whole numbers, each key once, of bounded size.

Rules:

- UTF-8 only. What has two readings has none here: a key that comes twice is refused, and so is
  whatever is not exact (fractions, exponents, ``NaN``, ``Infinity``).
- Nobody can make it work long: bytes, digits of a number and depth are bounded.
- Each refusal is a closed word, with what it is about. Who reads says it in his own words.

>>> StrictJson(bytes_max=100).read(b'{"a": [1, null]}')
{'a': [1, None]}
>>> StrictJson(bytes_max=100).read(b'{"a": 1, "a": 2}')
Traceback (most recent call last):
...
bailiwick.vocab.strict_json.JsonRefused: duplicate_key: 'a'
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Final, NoReturn

DEPTH_MAX: Final = 64
DIGITS_MAX: Final = 17
"""Enough for every number that all of JSON's readers read alike."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")


class JsonFault(StrEnum):
    """Why a text is refused."""

    TOO_LONG = "too_long"
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    TRAILING_DATA = "trailing_data"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    NOT_AN_INTEGER = "not_an_integer"


class JsonRefused(ValueError):
    """This is not what is read; ``value`` is what it is about, ``why`` what the parser said."""

    def __init__(self, fault: JsonFault, value: object, *, why: str = "", line: int = 1) -> None:
        super().__init__(f"{fault.value}: {value!r:.80}")
        self.fault, self.value, self.why, self.line = fault, value, why, line


class StrictJson:
    """A reader with its bounds. A bare one takes no space around the value."""

    def __init__(
        self, *, bytes_max: int, digits_max: int = DIGITS_MAX, is_bare: bool = False
    ) -> None:
        self._bytes_max, self._digits_max, self._is_bare = bytes_max, digits_max, is_bare
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_unique,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
            parse_int=self._integer,
        )

    def read(self, raw: bytes) -> object:
        """The value that these bytes spell."""
        if len(raw) > self._bytes_max:
            raise JsonRefused(JsonFault.TOO_LONG, len(raw), why=f"at most {self._bytes_max} bytes")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonRefused(JsonFault.NOT_UTF8, raw, why=str(error)) from None
        value, end = self._decode(text)
        if end != len(text):
            line = text.count("\n", 0, end) + 1
            raise JsonRefused(JsonFault.TRAILING_DATA, text[end:], why="Extra data", line=line)
        # So many can be deep only if so many are there: most texts are not looked at again.
        if raw.count(b"{") + raw.count(b"[") > DEPTH_MAX and _depth(value) > DEPTH_MAX:
            raise JsonRefused(JsonFault.TOO_DEEP, text[:80], why=f"deeper than {DEPTH_MAX}")
        return value

    def _decode(self, text: str) -> tuple[object, int]:
        try:
            value, end = self._decoder.raw_decode(text, 0 if self._is_bare else _after_space(text))
        except json.JSONDecodeError as error:
            found = JsonRefused(JsonFault.NOT_JSON, text[:80], why=error.msg, line=error.lineno)
            raise found from None
        except RecursionError:
            raise JsonRefused(JsonFault.TOO_DEEP, text[:80], why="too deep") from None
        return value, end if self._is_bare else _after_space(text, end)

    def _integer(self, text: str) -> int:
        # Bounded before it is converted: a long run of digits costs quadratic time.
        if len(text) > self._digits_max:
            _refuse_number(text)
        return int(text)


def _after_space(text: str, at: int = 0) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise JsonRefused(JsonFault.DUPLICATE_KEY, twice)
    return values


def _refuse_number(text: str) -> NoReturn:
    raise JsonRefused(JsonFault.NOT_AN_INTEGER, text)


def _depth(value: object) -> int:
    """How many objects and lists the deepest value stands in, itself included."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:  # bounded: it ends
        depth += 1
        level = [
            inner for each in level for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth

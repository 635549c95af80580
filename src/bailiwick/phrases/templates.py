"""Sentences with places for numbers: one text, filled in alike by every program that says it.

The command line fills them in here, a page does it in its own language; both are given the same
texts (``/v1/words``) and are tested on the same values, so they say the same.

Rules:

- ``{name}`` is a value as it is, ``{name:how}`` one that is spelled: ``count``, ``money``,
  ``span``, ``moment``, ``soon``, ``scope``, ``leases``, ``amount UNIT`` (``UNIT`` names the value
  that holds the unit), ``plural NOUN``. ``{a-b:how}`` is a less b, and never below zero.
- ``[name?text|otherwise]`` says ``text`` if that value is there (not null, not 0, not empty),
  ``[name=word?text|otherwise]`` if it is that word. Both may hold more of the same.
- A value that a text names and nobody gave is a mistake, never a hole in a sentence.

>>> fill("[left?{left:plural node} left|none left][who? for {who:scope}]", {"left": 2})
'2 nodes left'
>>> fill("{asked:amount unit} asked", {"asked": 2**30, "unit": "mem_bytes"})
'1 GiB of memory asked'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from bailiwick.phrases.amounts import amount, money, plural, span
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue

Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A value's place, and how it is spelled there."""

    name: str
    less: str | None
    how: str
    word: str
    """What ``how`` is told beside the value: the name of a unit's value, or a noun."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two texts, by a value."""

    name: str
    word: str | None
    text: Template
    otherwise: Template


Template: TypeAlias = tuple["str | Field | Choice", ...]

_FIELD: Final = re.compile(
    r"\{([a-z_]+)(?:-([a-z_]+))?(?::(count|money|span|moment|soon|scope|leases|amount|plural)"
    r"(?: ([A-Za-z_]+))?)?\}"
)
_GUARD: Final = re.compile(r"\[([a-z_]+)(?:=([a-z0-9_]+))?\?")
_PLAIN: Final = re.compile(r"[^{}\[\]|]+")


def fill(text: str, values: Values, *, now_ms: int | None = None) -> str:
    """The sentence for these values; moments are told from ``now_ms``, else from now."""
    return "".join(_told(parse_template(text), values, now_ms))


@lru_cache(maxsize=1024)
def parse_template(text: str) -> Template:
    """The parts of a text; one that is not spelled by the rules is refused."""
    found, end = _parse(text, 0, inner=False)
    if end != len(text):
        raise InvalidValue("template", text, f"nothing that begins at character {end}")
    return found


def names_in(parts: Template) -> frozenset[str]:
    """Every value that a text may ask for."""
    found: set[str] = set()
    for part in parts:
        match part:
            case Field():
                found |= {part.name} | ({part.less} if part.less else set())
                found |= {part.word} if part.how == "amount" else set()
            case Choice():
                found |= {part.name} | names_in(part.text) | names_in(part.otherwise)
            case _:
                pass
    return frozenset(found)


def _parse(text: str, at: int, *, inner: bool) -> tuple[Template, int]:
    parts: list[str | Field | Choice] = []
    while at < len(text):  # each turn takes at least one character
        if plain := _PLAIN.match(text, at):
            parts.append(plain[0])
            at = plain.end()
        elif field := _FIELD.match(text, at):
            name, less, how, word = field.groups(default="")
            parts.append(Field(name, less or None, how, word))
            at = field.end()
        elif guard := _GUARD.match(text, at):
            choice, at = _parse_choice(text, guard)
            parts.append(choice)
        elif inner and text[at] in "|]":
            break
        else:
            raise InvalidValue("template", text, f"something else at character {at}")
    return tuple(parts), at


def _parse_choice(text: str, guard: re.Match[str]) -> tuple[Choice, int]:
    said, at = _parse(text, guard.end(), inner=True)
    otherwise: Template = ()
    if text[at : at + 1] == "|":
        otherwise, at = _parse(text, at + 1, inner=True)
    if text[at : at + 1] != "]":
        raise InvalidValue("template", text, f"']' at character {at}")
    return Choice(guard[1], guard[2], said, otherwise), at + 1


def _told(parts: Template, values: Values, now_ms: int | None) -> Iterator[str]:
    for part in parts:
        match part:
            case str():
                yield part
            case Field():
                yield _spell(part, values, now_ms)
            case Choice():
                value = values.get(part.name)
                is_so = bool(value) if part.word is None else str(value) == part.word
                yield from _told(part.text if is_so else part.otherwise, values, now_ms)


def _spell(field: Field, values: Values, now_ms: int | None) -> str:
    value = values[field.name]
    if field.less is not None:
        value = max(0, value - values[field.less])
    match field.how:
        case "count":
            return f"{value:,}"
        case "money":
            return money(value)
        case "span":
            return span(value)
        case "moment":
            return moment(value, now_ms=now_ms)
        case "soon":
            return soon(value, now_ms=now_ms)
        case "scope":
            return "/".join(value)
        case "leases":
            return " ".join(f"lease-{number}" for number in value)
        case "amount":
            return amount(values[field.word], value)
        case "plural":
            return plural(value, field.word)
        case _:
            return str(value)


def soon(at_ms: int, *, now_ms: int | None = None) -> str:
    """A moment that is guessed."""
    from time import time

    now = int(time() * 1000) if now_ms is None else now_ms
    return "now" if at_ms <= now else f"about {moment(at_ms, now_ms=now)}"

r"""The types a field of a record's body can have, each a check and a shape.

Rules:

- ``check`` decides. It refuses with a :class:`RecordRefused` that names the field.
- ``shape`` is a regular expression over canonical bytes that accepts *only* what ``check`` would
  accept, written as RFC 8785 writes it. It may refuse more (an escape in a text, an integer of
  sixteen digits): what no shape accepts is checked the long way, so speed never decides.
- Integers lie within ±(2**53 - 1), which every JSON reader keeps exactly. A bool is no integer.
- A text is at most 1,024 characters, a list at most 1,024 items, a map has only known keys.

>>> AMOUNT.check("lease_id", 7)
>>> AMOUNT.check("lease_id", -7)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.journal.fields.RecordRefused: lease_id: expected an integer from 0 to ..., got -7
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Protocol, TypeAlias

from bailiwick.journal.words import RecordFault
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import ResourceKind

INTEGER_MAX = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly."""

TEXT_MAX = 1024
LIST_MAX = 1024

Scalar: TypeAlias = int | str
BodyValue: TypeAlias = Scalar | tuple[int, ...] | tuple[str, ...] | Mapping[str, int]
"""A value of a body once it is part of a record; a writer may give lists and dicts."""

NAME_SHAPE = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
PRINCIPAL_SHAPE = "[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}"
DIGEST_SHAPE = "[0-9a-f]{64}"
# Fifteen digits are always within bounds; sixteen are counted the long way.
AMOUNT_SHAPE = "(?:0|[1-9][0-9]{0,14})"
INTEGER_SHAPE = "(?:0|-?[1-9][0-9]{0,14})"
# Bytes of UTF-8 beyond ASCII pass here; whoever matches also checks that they decode.
TEXT_SHAPE = r'[^"\\\x00-\x1f]{0,1024}'
COMMA_UNLESS_FIRST = r"(?:(?<=\{)|(?<!\{),)"


class RecordRefused(InvalidValue):
    """Bytes or values that are no record, and which rule they break."""

    def __init__(self, fault: RecordFault, field: str, *, value: object, expected: str) -> None:
        super().__init__(field, value, expected)
        self.fault = fault


class FieldType(Protocol):
    """One type of field: what it accepts, and how that looks in canonical bytes."""

    def check(self, field: str, value: object) -> None:
        """Refuse a value that is not of this type."""

    @property
    def shape(self) -> str:
        """A regular expression that accepts nothing but canonical values of this type."""


def refuse_value(field: str, value: object, *, expected: str) -> RecordRefused:
    """The refusal of a value that is not of its type."""
    return RecordRefused(RecordFault.BAD_VALUE, field, value=value, expected=expected)


@cache
def words_of(enums: tuple[type[StrEnum], ...]) -> frozenset[str]:
    """The words of these enums together."""
    return frozenset(str(word) for enum in enums for word in enum)


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number, from ``low`` (0, or the negative bound) to 2**53 - 1."""

    signed: bool = False

    def check(self, field: str, value: object) -> None:
        """Refuse what is not an int within bounds."""
        low = -INTEGER_MAX if self.signed else 0
        if type(value) is not int or not low <= value <= INTEGER_MAX:
            raise refuse_value(field, value, expected=f"an integer from {low} to {INTEGER_MAX}")

    @property
    def shape(self) -> str:
        """Up to fifteen digits."""
        return INTEGER_SHAPE if self.signed else AMOUNT_SHAPE


@dataclass(frozen=True, slots=True)
class Words:
    """One word of the closed enums."""

    enums: tuple[type[StrEnum], ...]

    @property
    def words(self) -> frozenset[str]:
        """Every word that may stand here."""
        return words_of(self.enums)

    def check(self, field: str, value: object) -> None:
        """Refuse a word that none of the enums has."""
        if not isinstance(value, str) or value not in self.words:
            raise refuse_value(field, value, expected="one of " + ", ".join(sorted(self.words)))

    @property
    def shape(self) -> str:
        """The words, one or the other."""
        return '"(?:' + "|".join(sorted(self.words)) + ')"'


@cache
def _matcher(spelling: str) -> Callable[[str], re.Match[str] | None]:
    """Compiled when first needed, so that importing costs nothing."""
    return re.compile(spelling).fullmatch


@dataclass(frozen=True, slots=True)
class Spelled:
    """A string of a fixed spelling: a name, a principal, a digest."""

    spelling: str
    what: str

    def check(self, field: str, value: object) -> None:
        """Refuse a string of another spelling."""
        if not isinstance(value, str) or not _matcher(self.spelling)(value):
            raise refuse_value(field, value, expected=self.what)

    @property
    def shape(self) -> str:
        """The spelling needs no escapes."""
        return f'"{self.spelling}"'


@dataclass(frozen=True, slots=True)
class Text:
    """Prose for a person: any Unicode but lone surrogates, at most 1,024 characters."""

    def check(self, field: str, value: object) -> None:
        """Refuse what is too long or cannot be encoded."""
        if not isinstance(value, str) or len(value) > TEXT_MAX:
            raise refuse_value(field, value, expected=f"at most {TEXT_MAX} characters of text")
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise refuse_value(field, value, expected="text without lone surrogates")

    @property
    def shape(self) -> str:
        """Text that needs no escape."""
        return f'"{TEXT_SHAPE}"'


@dataclass(frozen=True, slots=True)
class ListOf:
    """Up to 1,024 items of one type."""

    item: FieldType

    def check(self, field: str, value: object) -> None:
        """Refuse what is no list, too long, or has a wrong item."""
        if not isinstance(value, list | tuple) or len(value) > LIST_MAX:
            raise refuse_value(field, value, expected=f"a list of at most {LIST_MAX} items")
        for item in value:
            self.item.check(field, item)

    @property
    def shape(self) -> str:
        """Items between brackets."""
        item = self.item.shape
        return rf"\[(?:{item}(?:,{item}){{0,{LIST_MAX - 1}}})?\]"


@dataclass(frozen=True, slots=True)
class Amounts:
    """A map from the words of one enum to amounts."""

    keys: type[StrEnum]

    def check(self, field: str, value: object) -> None:
        """Refuse an unknown key or an amount out of bounds."""
        if not isinstance(value, Mapping):
            raise refuse_value(field, value, expected=f"a map of {self.keys.__name__} to amounts")
        for key, amount in value.items():
            if not isinstance(key, str) or key not in words_of((self.keys,)):
                raise refuse_value(field, key, expected="one of " + ", ".join(self.keys))
            AMOUNT.check(f"{field}.{key}", amount)

    @property
    def shape(self) -> str:
        """Known keys, each at most once, in order."""
        return object_shape({str(key): (AMOUNT, False) for key in self.keys})


def object_shape(fields: Mapping[str, tuple[FieldType, bool]]) -> str:
    """The shape of an object with these fields; the flag says which of them are required."""
    parts = []
    comma_is_sure = False
    for name in sorted(fields):
        kind, required = fields[name]
        comma = "," if comma_is_sure else COMMA_UNLESS_FIRST
        part = f'{comma}"{name}":{kind.shape}'
        parts.append(part if required else f"(?:{part})?")
        comma_is_sure = comma_is_sure or required
    return r"\{" + "".join(parts) + r"\}"


AMOUNT = Integer()
SIGNED = Integer(signed=True)
NAME = Spelled(
    NAME_SHAPE, "1 to 63 letters, digits, '.', '_' or '-', starting with a letter or digit"
)
PRINCIPAL = Spelled(
    PRINCIPAL_SHAPE, "1 to 128 letters, digits or '._:@/+-', starting with a letter or digit"
)
DIGEST = Spelled(DIGEST_SHAPE, "64 lower-case hexadecimal digits")
TEXT = Text()
LABEL = Spelled(f"{NAME_SHAPE}={NAME_SHAPE}", "a name, '=' and a name")
INTEGERS = ListOf(AMOUNT)
NAMES = ListOf(NAME)
TEXTS = ListOf(TEXT)
LABELS = ListOf(LABEL)
RESOURCES = Amounts(ResourceKind)

"""The words of a document, and how the value of each is read.

A reader takes a word and its value and gives the fields that they are; what it cannot read it
refuses as :class:`InvalidValue`, and :func:`read_words` tells that with its place.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from bailiwick.documents.problems import DocumentProblem, Place, nearest_name
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_gpus

Fields = dict[str, Any]
Reader = Callable[[str, object], Fields]


def as_text(word: str, value: object) -> str:
    """The value as text, if it is one value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidValue(word, value, "one value")
    return repr(value) if isinstance(value, float) else str(value)


def one(field: str, parse: Callable[[str, str], object]) -> Reader:
    """A word whose text is parsed."""
    return lambda word, value: {field: parse(word, as_text(word, value))}


def plain(field: str) -> Reader:
    """A word whose text is taken as it is."""
    return one(field, lambda word, text: text)


def word_of(field: str, kind: type[Any]) -> Reader:
    """A word of a closed list."""

    def read(word: str, value: object) -> Fields:
        text, words = as_text(word, value), [each.value for each in kind]
        if text not in words:
            near = nearest_name(text, words)
            hint = f" (did you mean {near}?)" if near else ""
            raise InvalidValue(word, text, "one of " + ", ".join(words) + hint)
        return {field: kind(text)}

    return read


def flag(field: str) -> Reader:
    """True or false."""

    def read(word: str, value: object) -> Fields:
        if not isinstance(value, bool):
            raise InvalidValue(word, value, "true or false")
        return {field: value}

    return read


def number(field: str) -> Reader:
    """A whole number."""

    def read(word: str, value: object) -> Fields:
        if type(value) is not int:
            raise InvalidValue(word, value, "a whole number")
        return {field: value}

    return read


def as_list(word: str, value: object) -> list[Any]:
    """The value as a list; one value is a list of one."""
    return value if isinstance(value, list) else [value]


def texts(field: str) -> Reader:
    """A list of texts."""
    return lambda word, value: {field: tuple(as_text(word, each) for each in as_list(word, value))}


def pairs(field: str) -> Reader:
    """Names with values."""

    def read(word: str, value: object) -> Fields:
        if not isinstance(value, Mapping):
            raise InvalidValue(word, "(not shown)", "names with values")
        return {field: {as_text(word, name): as_text(word, each) for name, each in value.items()}}

    return read


def gpus(word: str, value: object) -> Fields:
    """Whole devices, or a share of one."""
    count, milli = parse_gpus(word, as_text(word, value).removesuffix(".0"))
    return {"gpu_count": count, "gpu_milli": milli}


def command(word: str, value: object) -> Fields:
    """A program and its arguments, as a list or as a shell would split them."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise InvalidValue(word, value, f"words that a shell could split ({error})") from None
    if not isinstance(value, list):
        raise InvalidValue(word, value, "a program and its arguments")
    return {word: tuple(as_text(word, each) for each in value)}


def read_words(
    place: Place,
    found: Mapping[Any, Any],
    *,
    words: Mapping[str, Reader | None],
    problems: list[DocumentProblem],
) -> Fields:
    """The fields of these words; those whose reader is none are read by others."""
    fields: Fields = {}
    for word, value in found.items():
        here = (*place, word)
        if word not in words:
            problems.append(DocumentProblem(here, f"no word {word!r}", nearest_name(word, words)))
            continue
        reader = words[word]
        if reader is None:
            continue
        try:
            fields |= reader(word, value)
        except InvalidValue as error:
            problems.append(DocumentProblem(here, str(error)))
    return fields

"""What an app's parameters may be: a strict part of JSON Schema 2020-12, and values under it.

Rules:

- Every schema taken here means what the standard says; words that are not known here are refused.
- No references, no regular expressions and no fractions: a schema is checked in one pass over the
  value, means the same for ever, and no value can make the check slow.
- At the top stands an object. A default fits the schema that it stands in.
- How deep schemas stand in each other, and how many there are, is bounded.

>>> schema = {"type": "object", "properties": {"workers": {"type": "integer", "minimum": 1}}}
>>> check_schema(schema)
[]
>>> [problem.told for problem in check_parameters(schema, {"workers": 0})]
['workers: 0 is less than 1']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import dumps
from typing import Any, Final

from bailiwick.documents.problems import DocumentProblem, Place, nearest_name

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DEPTH_MAX: Final = 8
SCHEMAS_MAX: Final = 500
INTEGER_MAX: Final = 2**53 - 1
TYPES: Final = ("object", "array", "string", "integer", "boolean")

Schema = Mapping[str, Any]


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= INTEGER_MAX


def _is_integer(value: object) -> bool:
    return type(value) is int and abs(value) <= INTEGER_MAX


def _is_names(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(each, str) for each in value)
        and len(set(value)) == len(value)
    )


def _is_words(value: object) -> bool:
    return isinstance(value, list) and 0 < len(value) <= 1_000


_KEYWORDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "$schema": (lambda value: value == DIALECT, f"nothing else than {DIALECT}"),
    "type": (lambda value: value in TYPES, "one of " + ", ".join(TYPES)),
    "title": (lambda value: isinstance(value, str), "a text"),
    "description": (lambda value: isinstance(value, str), "a text"),
    "default": (lambda value: True, ""),
    "enum": (_is_words, "a list of 1 to 1000 values"),
    "const": (lambda value: True, ""),
    "properties": (lambda value: isinstance(value, dict), "names, each with a schema"),
    "required": (_is_names, "a list of names, each once"),
    "additionalProperties": (lambda value: isinstance(value, bool), "true or false"),
    "items": (lambda value: isinstance(value, dict), "a schema"),
    "minItems": (_is_count, "a whole number"),
    "maxItems": (_is_count, "a whole number"),
    "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
    "minLength": (_is_count, "a whole number"),
    "maxLength": (_is_count, "a whole number"),
    "minimum": (_is_integer, "a whole number"),
    "maximum": (_is_integer, "a whole number"),
}
KEYWORDS: Final = tuple(_KEYWORDS)
"""Every word that a schema may use."""


def check_schema(schema: object) -> list[DocumentProblem]:
    """All that is wrong with the schema of parameters."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return [DocumentProblem((), "expected a schema of type: object")]
    problems, met = list[DocumentProblem](), 0
    waiting: list[tuple[Place, dict[str, Any]]] = [((), schema)]
    while waiting:  # bounded by SCHEMAS_MAX
        place, each = waiting.pop()
        met += 1
        if met > SCHEMAS_MAX:
            return [*problems, DocumentProblem((), f"more than {SCHEMAS_MAX} schemas in one")]
        if len([at for at in place if at in ("properties", "items")]) > DEPTH_MAX:
            return [*problems, DocumentProblem(place, f"deeper than {DEPTH_MAX} schemas")]
        problems += _check_one(place, each)
        inner = each.get("properties")
        if isinstance(inner, dict):
            waiting += _inner((*place, "properties"), inner, problems)
        if isinstance(each.get("items"), dict):
            waiting.append(((*place, "items"), each["items"]))
    if not problems:
        problems += _check_defaults(schema)
    return problems


def _inner(
    place: Place, found: dict[str, Any], problems: list[DocumentProblem]
) -> list[tuple[Place, dict[str, Any]]]:
    kept = []
    for name, schema in found.items():
        if isinstance(schema, dict):
            kept.append(((*place, name), schema))
        else:
            problems.append(DocumentProblem((*place, name), f"{name}: expected a schema"))
    return kept


def _check_one(place: Place, schema: dict[str, Any]) -> list[DocumentProblem]:
    problems = []
    for word, value in schema.items():
        known = _KEYWORDS.get(word)
        if known is None:
            text = f"{word} is not read here: see the words of parameters in the manual"
            problems.append(DocumentProblem((*place, word), text, nearest_name(word, _KEYWORDS)))
        elif not known[0](value):
            problems.append(DocumentProblem((*place, word), f"{word}: expected {known[1]}"))
        elif not _is_exact(value):
            problems.append(
                DocumentProblem((*place, word), f"{word}: only whole numbers are exact")
            )
    if "type" not in schema and not {"enum", "const"} & {*schema}:
        problems.append(DocumentProblem(place, "a schema says its type, its enum or its const"))
    return problems


def _is_exact(value: object) -> bool:
    """Whether all numbers inside are whole, and none is larger than all readers keep."""
    waiting = [value]
    while waiting:  # bounded: every round takes one out
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, float) or (type(each) is int and not _is_integer(each)):
            return False
        elif each is not None and not isinstance(each, str | int):
            return False  # YAML knows dates
    return True


def _check_defaults(schema: dict[str, Any]) -> list[DocumentProblem]:
    problems = list[DocumentProblem]()
    waiting: list[tuple[Place, dict[str, Any]]] = [((), schema)]
    while waiting:  # bounded: the schema was counted
        place, each = waiting.pop()
        if "default" in each:
            found = check_parameters(each, each["default"])
            here = (*place, "default")
            problems += [
                DocumentProblem(here, f"the default does not fit: {one.told}") for one in found
            ]
        waiting += [
            ((*place, "properties", name), inner)
            for name, inner in each.get("properties", {}).items()
        ]
        if "items" in each:
            waiting.append(((*place, "items"), each["items"]))
    return problems


# -- values ----------------------------------------------------------------------------------


def check_parameters(schema: Schema, value: object) -> list[DocumentProblem]:
    """All that is wrong with these values; the schema was checked before."""
    problems = list[DocumentProblem]()
    waiting: list[tuple[Place, Schema, object]] = [((), schema, value)]
    while waiting:  # bounded: each part of the value is met once
        place, each, found = waiting.pop()
        problems += [DocumentProblem(place, text) for text in _faults(each, found)]
        if isinstance(found, dict) and each.get("type") in ("object", None):
            waiting += [
                ((*place, name), inner, found[name])
                for name, inner in each.get("properties", {}).items()
                if name in found
            ]
            problems += _strangers(place, each, found)
        if isinstance(found, list) and "items" in each:
            waiting += [((*place, at), each["items"], one) for at, one in enumerate(found)]
    return sorted(problems, key=lambda each: tuple(map(str, each.place)))


def _strangers(place: Place, schema: Schema, found: dict[str, Any]) -> list[DocumentProblem]:
    known = schema.get("properties", {})
    if schema.get("additionalProperties", True):
        return []
    return [
        DocumentProblem((*place, name), f"no parameter {name!r}", nearest_name(name, known))
        for name in found
        if name not in known
    ]


def _faults(schema: Schema, value: object) -> list[str]:
    faults = []
    if "type" in schema and not _is_of(schema["type"], value):
        return [f"expected {schema['type']}"]
    if "enum" in schema and not any(is_same(value, each) for each in schema["enum"]):
        faults.append("expected one of " + ", ".join(map(str, schema["enum"][:20])))
    if "const" in schema and not is_same(value, schema["const"]):
        faults.append(f"expected {schema['const']}")
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        faults += [f"{name} is missing" for name in missing]
    elif isinstance(value, list):
        faults += _bounds(schema, "Items", len(value), what="items")
        if schema.get("uniqueItems") and _has_twins(value):
            faults.append("one value stands there twice")
    elif isinstance(value, str):
        faults += _bounds(schema, "Length", len(value), what="characters")
    elif type(value) is int:
        if value < schema.get("minimum", value):
            faults.append(f"{value} is less than {schema['minimum']}")
        if value > schema.get("maximum", value):
            faults.append(f"{value} is more than {schema['maximum']}")
    return faults


def _bounds(schema: Schema, word: str, count: int, *, what: str) -> list[str]:
    least, most = schema.get(f"min{word}", 0), schema.get(f"max{word}", count)
    if count < least:
        return [f"{count} {what}, at least {least}"]
    return [f"{count} {what}, at most {most}"] if count > most else []


def _is_of(kind: str, value: object) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "integer":
            return type(value) is int
        case _:
            return isinstance(value, bool)


def is_same(one: object, other: object) -> bool:
    """Whether two JSON values are equal: ``true`` is not 1."""
    pairs = [(one, other)]
    while pairs:  # bounded by the smaller value
        a, b = pairs.pop()
        if isinstance(a, bool) is not isinstance(b, bool):
            return False
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs += [(a[key], b[key]) for key in a]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif a != b:
            return False
    return True


def _has_twins(values: list[Any]) -> bool:
    # Each as text that tells true from 1 and 1 from "1": pairs would take quadratic time.
    return len({dumps(value, sort_keys=True) for value in values}) < len(values)

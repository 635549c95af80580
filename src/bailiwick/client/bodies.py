"""Bodies of requests, made from what a person typed; what does not fit names its field.

>>> from bailiwick.wire.people import NewTenant
>>> make_body(NewTenant, tenant="lab").tenant
'lab'
>>> make_body(NewTenant, tenant="a b")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: tenant: expected ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.base import Model
from bailiwick.wire.denials import Denial

M = TypeVar("M", bound=Model)


def make_body(kind: type[M], /, **values: Any) -> M:
    """The body; the first field that does not fit is refused with what is expected there."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or kind.__name__
        raise InvalidValue(where, first["input"], _expected(first["msg"])) from None


def problems_of(kind: type[Model], values: dict[str, Any]) -> list[tuple[tuple[Any, ...], str]]:
    """Everything that does not fit: where it is, and what is expected there."""
    try:
        kind.model_validate(values)
    except ValidationError as error:
        return [
            (tuple(each["loc"]), f"expected {_expected(each['msg'])}") for each in error.errors()
        ]
    return []


def _expected(message: str) -> str:
    """What is expected, from the sentence that says so."""
    for opening in ("Input should be ", "String should have ", "String should match "):
        if message.startswith(opening):
            return message.removeprefix(opening)
    return message


def denial_in(facts: Mapping[str, object]) -> Denial | None:
    """The obstacle that a record tells among its other facts, if it tells one."""
    union = get_args(Denial)[0]
    for kind in get_args(union):
        if get_args(kind.model_fields["detail"].annotation)[0] != facts.get("detail"):
            continue
        told = {name: facts[name] for name in kind.model_fields if name in facts}
        try:
            found: Denial = TypeAdapter(kind).validate_python(told)
        except ValidationError:
            return None
        return found
    return None

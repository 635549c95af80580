"""What is different between two versions of an app, place by place.

>>> [change.place for change in changes({"a": {"b": 1}, "c": [1]}, {"a": {"b": 2}, "c": [1, 2]})]
['a.b', 'c']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One place, with what stood there before and what stands there now; empty: nothing."""

    place: str
    before: str
    after: str


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Every difference; a list counts as one value."""
    before, after = _leaves(old), _leaves(new)
    return tuple(
        Change(place, before.get(place, ""), after.get(place, ""))
        for place in sorted({*before, *after})
        if before.get(place) != after.get(place)
    )


def _leaves(top: Mapping[str, Any]) -> dict[str, str]:
    found, waiting = dict[str, str](), list[tuple[str, Any]](top.items())
    while waiting:  # bounded: each value is met once
        place, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(f"{place}.{name}", each) for name, each in value.items()]
        else:
            text = dumps(value, sort_keys=True, ensure_ascii=False)
            found[place] = value if isinstance(value, str) else text
    return found

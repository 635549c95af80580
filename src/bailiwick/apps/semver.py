"""Versions of apps, spelled and ordered as Semantic Versioning 2.0 says.

Rules:

- A version is exact: no ranges, no ``v`` in front, no ``latest``.
- What stands behind ``+`` says how something was built; two versions that differ in nothing else
  would be one in order and two in name. So none is taken.

>>> sorted(["1.0.0", "1.0.0-rc.2", "0.9.1", "1.0.0-rc.11"], key=order)
['0.9.1', '1.0.0-rc.2', '1.0.0-rc.11', '1.0.0']
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue

VERSION_MAX: Final = 63
_NUMBER: Final = r"(?:0|[1-9][0-9]{0,8})"
_PART: Final = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PART}(?:\.{_PART})*))?")

Order: TypeAlias = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def check_version(field: str, value: object) -> str:
    """The value if it is an exact version."""
    if not isinstance(value, str) or len(value) > VERSION_MAX or not _VERSION.fullmatch(value):
        raise InvalidValue(field, value, "a version such as 1.2.0 or 2.0.0-rc.1")
    return value


def order(version: str) -> Order:
    """What to sort versions by."""
    found = _VERSION.fullmatch(check_version("version", version))
    assert found is not None  # it was just checked
    parts = tuple(
        (not each.isdecimal(), int(each) if each.isdecimal() else 0, each)
        for each in (found[4] or "").split(".")
        if each
    )
    return int(found[1]), int(found[2]), int(found[3]), found[4] is None, parts

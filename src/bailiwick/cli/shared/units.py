"""The numbers of things as people type them; amounts are read in :mod:`bailiwick.vocab.units`."""

from __future__ import annotations

import re

from bailiwick.vocab.errors import InvalidValue


def parse_id(kind: str, text: str) -> int:
    """The number of something, with or without its word.

    >>> parse_id("job", "job-7"), parse_id("job", "7")
    (7, 7)
    """
    found = re.fullmatch(rf"(?:{kind}-)?([1-9][0-9]{{0,15}})", text)
    if found is None:
        raise InvalidValue(kind.upper(), text, f"{kind}-7 or 7")
    return int(found[1])

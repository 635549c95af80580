"""Recognising a canonical record by its shape, without parsing it.

Rules:

- Canonical bytes have one order of keys and one spelling of values, and each kind has a closed
  body; so the records of one kind are a regular language (all but a few that the shape leaves
  out), and one match replaces parsing, checking and encoding again.
- Sound, not complete: what :func:`glance` recognises, :func:`bailiwick.journal.record.parse_record`
  accepts with the same values. What it does not recognise is parsed the long way.
- A shape is compiled when its kind is first met, so that importing costs nothing.

>>> glance(b'{"kind":"lease_renewed"}') is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from bailiwick.journal.fields import AMOUNT_SHAPE, DIGEST_SHAPE, NAME_SHAPE, PRINCIPAL_SHAPE
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import KindScope

RECORD_BYTES_MAX = 65_535
"""Longest record: what the 16-bit length in an entry bundle can say."""

KIND_KEY = b',"kind":"'
Matcher: TypeAlias = Callable[[bytes], re.Match[bytes] | None]
Link: TypeAlias = tuple[int, int, str]
"""``seq``, ``at_ms`` and ``prev_hash``: what places a record in its chain."""

_NAMED = f'"{NAME_SHAPE}"'
# In fleet scope a project needs a tenant: group 3 is set when a project was named.
_PROJECT = {
    KindScope.FLEET: f'(?:null|"({NAME_SHAPE})")',
    KindScope.TENANT: f"(?:null|{_NAMED})()",
    KindScope.PROJECT: f"{_NAMED}()",
}
_TENANT = {
    KindScope.FLEET: f"(?(3){_NAMED}|(?:null|{_NAMED}))",
    KindScope.TENANT: _NAMED,
    KindScope.PROJECT: _NAMED,
}


def _never(raw: bytes) -> re.Match[bytes] | None:
    del raw
    return None


class _Shapes(dict[bytes, Matcher]):
    """The matcher of each kind, made on first use; an unknown kind matches nothing."""

    def __missing__(self, kind: bytes) -> Matcher:
        if kind not in _KINDS:
            return _never
        self[kind] = matcher = re.compile(record_shape(_KINDS[kind]).encode("ascii")).fullmatch
        return matcher


_KINDS = {kind.value.encode("ascii"): kind for kind in RecordKind}
SHAPES = _Shapes()
_MATCHERS: dict[RecordKind, Matcher] = {}


def record_shape(kind: RecordKind) -> str:
    """The canonical bytes that a record of this kind can have, as a regular expression."""
    return (
        rf'\{{"actor":"{PRINCIPAL_SHAPE}","at_ms":({AMOUNT_SHAPE}),"body":{kind.body.shape},'
        rf'"correlation_id":"{PRINCIPAL_SHAPE}","kind":"{kind}","prev_hash":"({DIGEST_SHAPE})",'
        rf'"project":{_PROJECT[kind.scope]},"seq":({AMOUNT_SHAPE}),'
        rf'"tenant":{_TENANT[kind.scope]}\}}'
    )


def recognise(raw: bytes) -> re.Match[bytes] | None:
    """The match of the record's shape, if the bytes are surely a canonical record."""
    start = raw.rfind(KIND_KEY) + len(KIND_KEY)
    found = SHAPES[raw[start : raw.find(b'"', start)]](raw)
    if found is None or len(raw) > RECORD_BYTES_MAX or not (raw.isascii() or _is_utf8(raw)):
        return None
    return found


def is_recognised(kind: RecordKind, raw: bytes) -> bool:
    """The same question for one who knows the kind."""
    matches = _MATCHERS.get(kind)
    if matches is None:
        matches = _MATCHERS[kind] = SHAPES[kind.value.encode("ascii")]
    short = len(raw) <= RECORD_BYTES_MAX and (raw.isascii() or _is_utf8(raw))
    return short and matches(raw) is not None


def glance(raw: bytes) -> Link | None:
    """What places a record in its chain, if the bytes are surely a canonical record."""
    found = recognise(raw)
    if found is None:
        return None
    at_ms, prev_hash, seq = found.group(1, 2, 4)
    return int(seq), int(at_ms), prev_hash.decode("ascii")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

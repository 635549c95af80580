"""What a Biscuit may hold before anything is evaluated.

A bearer may add blocks, and what they say is run as a program. The library bounds the time between
the steps of that program and not within one: a block of 1.2 KB whose one check joins 60 facts four
times ran for 14 s under a limit of 1 ms. So a token is first read here, and what could cost more
than a glance is not run.

Rules:

- Added blocks have no rules. They hold few facts, and checks over at most two predicates with
  comparisons, ``contains``, ``starts_with``, ``ends_with``, and, or (strict) and not; no regular
  expression, closure, arithmetic or foreign function.
- Only field numbers and counts are read. Which names and values they bear does not matter here:
  a check can only refuse, and a fact of an added block is seen by no policy.
- The first block is the minter's own and is not looked into.
- Fields stand in their order, each number in as few bytes as it takes, and nothing unknown stands
  around the blocks; blocks that a third party signed are not taken.
- Every key in the chain is an Ed25519 key. The library takes P-256 as well, whose signatures anyone
  can rewrite without the key; a block's signature is its id, and a new id is not revoked.
- Bytes that are no such message are malformed; one that would cost too much is
  ``evaluation_limit``.

The field numbers are those of the Biscuit specification's ``schema.proto``.

>>> block = "0a00" "1204" "08001200" "1a00"
>>> inspect(bytes.fromhex("0807" "120a" + block + "2200"))
7
"""

from __future__ import annotations

from bailiwick.capability.claims import NARROWINGS_MAX
from bailiwick.vocab.trust import TokenFault

FACTS_MAX = 8
"""Facts of all added blocks."""

QUERIES_MAX = 64
"""Queries of all their checks."""

PREDICATES_MAX = 2
"""Predicates that one query joins: at most 15 ** 2 combinations are tried, of the facts above with
the rights of the first block."""

# Wire types, and the fields of each message that are looked at.
_VARINT, _BYTES = 0, 2
_KEY_ID, _AUTHORITY, _ADDED, _PROOF = 1, 2, 3, 4
_SIGNED = [1, 2, 3], [1, 2, 3, 5]
_KEY, _ED25519 = [1, 2], 0
_FACT, _RULE, _CHECK = 4, 5, 6
_QUERY = 1
_PREDICATE, _EXPRESSION = 2, 3
_STEP = 1
_VALUE, _UNARY, _BINARY = 1, 2, 3
_KIND = 1

_CHEAP = {
    _UNARY: frozenset((0, 1, 2)),  # not, parentheses, length
    # Four orders, equal, contains, starts and ends with; strict and, or; not equal, of any types.
    _BINARY: frozenset((0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 20, 21, 22)),
}

_VARINT_BYTES_MAX = 10


class ShapeError(Exception):
    """A token that is not run, and why."""

    def __init__(self, fault: TokenFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def inspect(raw: bytes) -> int | None:
    """The key id that the token states; :class:`ShapeError` if it must not be run."""
    fields = _fields(raw)
    numbers = [number for number, _ in fields]
    signed = [_signed(value) for number, value in fields if number in (_AUTHORITY, _ADDED)]
    count = len(signed) - 1
    if numbers not in ([_KEY_ID, *_one(count)], _one(count)):
        raise ShapeError(TokenFault.MALFORMED)
    _limit(count, NARROWINGS_MAX)
    if count:
        _inspect_blocks(signed[1:])
    stated = fields[0][1]
    return stated if numbers[0] == _KEY_ID and isinstance(stated, int) else None


def _one(added: int) -> list[int]:
    return [_AUTHORITY, *[_ADDED] * added, _PROOF]


def _signed(value: int | bytes) -> bytes:
    """The block in a signed block: content, next key, signature and perhaps a version."""
    fields = _fields(_message(value))
    if [number for number, _ in fields] not in _SIGNED:
        raise ShapeError(TokenFault.MALFORMED)
    key = _fields(_message(fields[1][1]))
    if [number for number, _ in key] != _KEY or key[0][1] != _ED25519:
        raise ShapeError(TokenFault.MALFORMED)
    return _message(fields[0][1])


def _inspect_blocks(blocks: list[bytes]) -> None:
    facts = 0
    queries: list[bytes] = []
    for block in blocks:
        for number, value in _fields(block):
            if number == _RULE:
                raise ShapeError(TokenFault.EVALUATION_LIMIT)
            facts += number == _FACT
            if number == _CHECK:
                queries += _parts(_message(value), _QUERY)
    _limit(facts, FACTS_MAX)
    _limit(len(queries), QUERIES_MAX)
    for query in queries:
        _limit(len(_parts(query, _PREDICATE)), PREDICATES_MAX)
        for expression in _parts(query, _EXPRESSION):
            for step in _parts(expression, _STEP):
                _inspect_step(step)


def _inspect_step(step: bytes) -> None:
    for number, value in _fields(step):
        if number == _VALUE:
            continue
        cheap = _CHEAP.get(number, frozenset())
        kinds = [kind for field, kind in _fields(_message(value)) if field == _KIND]
        if not kinds or not cheap.issuperset(kinds):
            raise ShapeError(TokenFault.EVALUATION_LIMIT)


def _limit(count: int, most: int) -> None:
    if count > most:
        raise ShapeError(TokenFault.EVALUATION_LIMIT)


def _parts(raw: bytes, number: int) -> list[bytes]:
    """The messages in that field."""
    return [_message(value) for field, value in _fields(raw) if field == number]


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ShapeError(TokenFault.MALFORMED)
    return value


def _fields(raw: bytes) -> list[tuple[int, int | bytes]]:
    """Each field's number and value, in the order they stand."""
    found: list[tuple[int, int | bytes]] = []
    at, end = 0, len(raw)
    while at < end:
        tag, at = _varint(raw, at)
        value, at = _varint(raw, at)
        if tag & 7 == _BYTES and at + value <= end:
            found.append((tag >> 3, raw[at : at + value]))
            at += value
        elif tag & 7 == _VARINT:
            found.append((tag >> 3, value))
        else:
            raise ShapeError(TokenFault.MALFORMED)
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    if at < len(raw) and raw[at] < 0x80:  # most have one byte
        return raw[at], at + 1
    value = 0
    for shift, byte in enumerate(raw[at : at + _VARINT_BYTES_MAX]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80 and (byte or not shift):  # in as few bytes as it takes
            return value, at + shift + 1
    raise ShapeError(TokenFault.MALFORMED)

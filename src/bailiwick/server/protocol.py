"""The line protocol: what one line may ask, and how an answer or an error is spelled.

Rules:

- One JSON object a line, in UTF-8. Strict: no name twice, no unknown field, no ``NaN``.
- Whoever shows no token, or a wrong one, learns nothing but that somebody listens (``ping``).
- Commands that only the kernel gives itself (``tick``, ``elect``) are refused from outside, and so
  is the kernel's own name as an actor.
- An error is ``code``, ``message``, ``retryable`` and ``hint``. What went wrong inside is not told.

>>> parse_line(b'{"id": 1, "read": "ping"}')
{'id': 1, 'read': 'ping'}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import Elect, Envelope, Tick, decode_command
from bailiwick.services.replica import ACTOR
from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvalidValue, InvariantBroken

Plain = dict[str, Any]

ID_CHARACTERS_MAX = 128

_COMMAND_FIELDS = frozenset(
    ("id", "token", "actor", "correlation_id", "key", "command", "forwarded")
)


class PortCode(StrEnum):
    """Why the port itself refuses; every other code is an ``ErrorCode``."""

    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"


class PortRefusal(Exception):
    """The port does not let a request through."""

    def __init__(self, code: PortCode, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


def parse_line(line: bytes) -> Plain:
    """The object on a line; anything else is refused."""
    try:
        plain = json.loads(
            line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except RecursionError:
        raise InvalidValue("line", "...", "JSON that is less deeply nested") from None
    except InvalidValue:
        raise
    except ValueError as error:
        raise InvalidValue("line", "...", f"one JSON object ({error})") from None
    if not isinstance(plain, dict):
        raise InvalidValue("line", plain, "one JSON object")
    return plain


def spell_line(plain: Plain) -> bytes:
    """The object as a line."""
    return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def id_of(plain: Plain) -> int | str:
    """The request's own number or name, which its answer bears."""
    found = plain.get("id")
    if isinstance(found, str) and len(found) <= ID_CHARACTERS_MAX:
        return found
    if type(found) is int and abs(found) <= INTEGER_MAX:
        return found
    raise InvalidValue("id", found, f"an integer, or at most {ID_CHARACTERS_MAX} characters")


def envelope_of(plain: Plain) -> Envelope:
    """The command that a request brings, with who sends it and why."""
    check_fields(plain, _COMMAND_FIELDS)
    if not isinstance(plain.get("forwarded", False), bool):
        raise InvalidValue("forwarded", plain["forwarded"], "true or false")
    command = decode_command(plain.get("command"))
    if isinstance(command, Tick | Elect):
        word = type(command).__name__.lower()
        raise PortRefusal(PortCode.FORBIDDEN, f"{word} is a command the kernel gives itself")
    actor = plain.get("actor", "operator")
    if actor == ACTOR:
        raise PortRefusal(PortCode.FORBIDDEN, f"nobody but the kernel acts as {ACTOR!r}")
    return Envelope(command, actor, plain.get("correlation_id", "none"), plain.get("key"))


def check_fields(plain: Mapping[str, object], known: frozenset[str]) -> None:
    """Refuse a field that nobody reads."""
    for name in plain:
        if name not in known:
            raise InvalidValue("field", name, "one of " + ", ".join(sorted(known)))


def error_of(error: BaseException) -> Plain:
    """An error as the port tells it."""
    if isinstance(error, PortRefusal):
        return _told(error.code, str(error), retryable=False, hint=error.hint)
    if isinstance(error, BailiwickError) and not isinstance(error, InvariantBroken):
        message = str(error).removesuffix(f" ({error.hint})")
        return _told(error.code, message, retryable=error.retryable, hint=error.hint)
    hint = "the process says more on its stderr"
    return _told(ErrorCode.INVARIANT_BROKEN, "a fault of the server", retryable=False, hint=hint)


def _told(code: StrEnum, message: str, *, retryable: bool, hint: str) -> Plain:
    return {"code": code.value, "message": message, "retryable": retryable, "hint": hint}


def _unique(pairs: list[tuple[str, Any]]) -> Plain:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidValue("line", "...", "an object in which no name stands twice")
    return found


def _no_constant(word: str) -> object:
    raise InvalidValue("line", word, "numbers that JSON has")

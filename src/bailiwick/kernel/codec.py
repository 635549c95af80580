"""Commands and answers as plain JSON values, and back: what replicas and clients send each other.

Rules:

- The dataclasses' own types say how a field is spelled: a closed word as its word, a tuple as a
  list, a value of :mod:`bailiwick.kernel.nested` as an object, all else as it is. What is ``None``
  is left out of a command, and told in an answer.
- Strict both ways: an unknown command, a missing or an unknown field is refused with its name.
- One command has one spelling, so its digest tells whether two commands are the same.
- How a class is spelled is worked out once, when this module is loaded: a type that nobody can
  spell is found there.

>>> from bailiwick.kernel.work.commands import Release
>>> encode_command(Release(7))
{'command': 'release', 'lease_id': 7}
>>> decode_command({'command': 'release', 'lease_id': 7})
Release(lease_id=7)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from hashlib import sha256
from types import NoneType
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from bailiwick.journal.record import encode_json
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.commands import Command
from bailiwick.kernel.nested import NESTED
from bailiwick.kernel.owner import FLEET, Owner
from bailiwick.kernel.slice import word_of
from bailiwick.kernel.slices import COMMANDS
from bailiwick.kernel.spelling import denial_body, denial_from
from bailiwick.scheduler.decision import Denied
from bailiwick.vocab.errors import InvalidValue, InvariantBroken

Plain = dict[str, Any]
Encode: TypeAlias = Callable[[Any], Any]
Decode: TypeAlias = Callable[[Any, Owner], Any]
"""A plain value, and whose the command is, as the value of a field."""

ANSWERS: Mapping[str, type[Any]] = {word_of(kind): kind for kind in get_args(Answer)}
"""Every answer by its word."""


def command_digest(command: Command) -> str:
    """SHA-256 over the command's one spelling."""
    return sha256(encode_json(encode_command(command)).encode()).hexdigest()


def encode_command(command: Command) -> Plain:
    """The command as plain values."""
    shape = _SHAPES[type(command)]
    plain: Plain = {"command": shape.word}
    for name, spelled, encode, _ in shape.parts:
        value = getattr(command, name)
        if value is not None:
            plain[spelled] = value if encode is None else encode(value)
    if shape.owned is not None:
        owned = getattr(command, shape.owned)
        plain["tenant"] = str(owned.tenant)
        if owned.project is not None:
            plain["project"] = str(owned.project)
    return plain


def decode_command(plain: object) -> Command:
    """The command that these values are; anything else is refused."""
    if not isinstance(plain, Mapping):
        raise InvalidValue("command", plain, "an object")
    word = plain.get("command")
    kind = COMMANDS.get(word) if isinstance(word, str) else None
    if kind is None:
        raise InvalidValue("command", word, "one of " + ", ".join(sorted(COMMANDS)))
    shape = _SHAPES[kind]
    for name in plain:
        if name not in shape.known and name != "command":
            raise InvalidValue("field", name, "one of " + ", ".join(shape.known))
    try:
        command: Command = shape.decode(plain)
    except InvalidValue:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidValue(str(word), plain, f"the fields of {word} ({error})") from error
    return command


def encode_answer(answer: Answer) -> Plain:
    """The answer as plain values."""
    shape = _SHAPES[type(answer)]
    plain: Plain = {"answer": shape.word}
    for name, spelled, encode, _ in shape.parts:
        value = getattr(answer, name)
        plain[spelled] = value if value is None or encode is None else encode(value)
    return plain


def decode_answer(plain: Mapping[str, Any]) -> Answer:
    """The answer that these values are."""
    try:
        answer: Answer = _SHAPES[ANSWERS[plain["answer"]]].decode(plain)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidValue("answer", plain, "an answer of the kernel") from error
    return answer


# -- how a class is spelled ------------------------------------------------------------------


class _Part(NamedTuple):
    """One field: its name, what that is on paper, and how a value is spelled and read."""

    name: str
    spelled: str
    encode: Encode | None
    decode: Decode | None


@dataclass(frozen=True, slots=True)
class _Shape:
    """One class of commands or answers."""

    kind: type[Any]
    word: str
    parts: tuple[_Part, ...]
    known: tuple[str, ...]
    needed: frozenset[str]
    """The fields that must be said: without a default, and never ``None``."""
    open: tuple[str, ...]
    """Those without a default that may be ``None``, and are if they are not said."""
    owned: str | None
    """The field whose value says whose it is: that is spelled beside it."""

    def decode(self, plain: Mapping[str, Any]) -> Any:
        """The command or answer that these values are."""
        owner = FLEET
        if self.owned is not None:
            owner = Owner(plain["tenant"], plain.get("project"))
        values: Plain = dict.fromkeys(self.open)
        for name, spelled, _, decode in self.parts:
            value = plain.get(spelled)
            if value is not None:
                values[name] = value if decode is None else decode(value, owner)
            elif name in self.needed:
                raise InvalidValue(spelled, None, "a value")
            elif spelled in plain:
                values[name] = None
        return self.kind(**values)


def _shape_of(kind: type[Any]) -> _Shape:
    hints = get_type_hints(kind)
    parts, needed, may_be_none, owned = [], set[str](), set[str](), None
    for each in fields(kind):
        name, hint = each.name, hints[each.name]
        bare = [of for of in get_args(hint) if of is not NoneType]
        is_optional = len(bare) < len(get_args(hint))
        if each.default is MISSING and each.default_factory is MISSING:
            (may_be_none if is_optional else needed).add(name)
        of = bare[0] if is_optional and len(bare) == 1 else hint
        nested = NESTED.get(of)
        if nested is not None and nested.is_owned:
            owned = name
        parts.append(_Part(name, name if nested is None else nested.name, *_coders(name, of)))
    beside = () if owned is None else ("tenant", "project")
    known = (*beside, *(part.spelled for part in parts))
    return _Shape(
        kind, word_of(kind), tuple(parts), known, frozenset(needed), tuple(may_be_none), owned
    )


def _coders(name: str, hint: Any) -> tuple[Encode | None, Decode | None]:
    """How a value of this type is spelled and read; ``None``: as it is."""
    if hint in (int, str, bool):
        return None, None
    if hint in NESTED:
        return NESTED[hint].encode, NESTED[hint].read
    if hint is Denied:
        return denial_body, _denial
    if get_origin(hint) is tuple and get_args(hint)[1:] == (Ellipsis,):
        return _list(name, get_args(hint)[0])
    if get_origin(hint) is Mapping:
        return dict, None
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _word, lambda value, _: _read_word(name, value, hint)
    raise InvariantBroken(f"{name}: no way to spell a {hint}")


def _list(name: str, hint: Any) -> tuple[Encode, Decode]:
    encode, decode = _coders(name, hint)
    if hint is str:
        encode = str  # a checked name is a string of its own

    def spell(items: tuple[Any, ...]) -> list[Any]:
        return list(items) if encode is None else [encode(item) for item in items]

    def read(items: object, owner: Owner) -> tuple[Any, ...]:
        if not isinstance(items, list | tuple):
            raise InvalidValue(name, items, "a list")
        return tuple(items) if decode is None else tuple(decode(item, owner) for item in items)

    return spell, read


def _word(value: StrEnum) -> str:
    return value.value


def _read_word(name: str, value: object, words: type[StrEnum]) -> StrEnum:
    try:
        return words(str(value))
    except ValueError:
        raise InvalidValue(name, value, "one of " + ", ".join(words)) from None


def _denial(value: Mapping[str, Any], owner: Owner) -> Denied:
    del owner
    denied = denial_from(value)
    if denied is None:
        raise InvalidValue("denied", value, "the words of a denial")
    return denied


_SHAPES: Mapping[type, _Shape] = {
    kind: _shape_of(kind) for kind in (*COMMANDS.values(), *ANSWERS.values())
}

"""Reading one section of an operator's policy: every fault names the field and the fix.

Rules:

- A field that nobody reads is a fault: a misspelled rule must not be a rule left out.
- Values come from JSON; sizes are bounded.

>>> section = Section("tpm2", {"max_age_s": 300, "pcr": {}})
>>> section.integer("max_age_s", low=1, high=86_400)
300
>>> section.done()
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: tpm2: expected only max_age_s, got 'pcr'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

ITEMS_MAX = 256
TEXT_MAX = 16 * 1024


class Section:
    """A map of the policy and where it stands in it."""

    def __init__(self, where: str, body: object) -> None:
        if not isinstance(body, Mapping):
            raise InvalidValue(where, body, "a map")
        self.where, self._body, self._read = where, body, dict[str, None]()

    def has(self, name: str) -> bool:
        """Whether the field is there; asking counts as reading."""
        self._read[name] = None
        return name in self._body

    def integer(self, name: str, *, low: int, high: int, default: int | None = None) -> int:
        """A whole number within the bounds."""
        value = self._value(name, default)
        return check_integer(self._at(name), value, low=low, high=high)

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise InvalidValue(self._at(name), value, "true or false")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """A text of bounded length."""
        return self._text(self._at(name), self._value(name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; none if the field is left out."""
        return tuple(
            self._text(f"{self._at(name)}[{i}]", each) for i, each in enumerate(self._list(name))
        )

    def integers(self, name: str, *, low: int, high: int) -> tuple[int, ...]:
        """A list of whole numbers within the bounds; none if the field is left out."""
        return tuple(
            check_integer(f"{self._at(name)}[{i}]", each, low=low, high=high)
            for i, each in enumerate(self._list(name))
        )

    def digests(self, name: str, *lengths: int) -> frozenset[bytes]:
        """A list of digests in hexadecimal; ``lengths`` in bytes are the allowed ones."""
        where = self._at(name)
        found = (
            hex_bytes(f"{where}[{i}]", each, *lengths) for i, each in enumerate(self._list(name))
        )
        return frozenset(found)

    def section(self, name: str) -> Section:
        """A map within this one; an empty one if the field is left out."""
        return Section(self._at(name), self._value(name, {}))

    def sections(self, name: str) -> tuple[Section, ...]:
        """A list of maps; none if the field is left out."""
        return tuple(
            Section(f"{self._at(name)}[{i}]", each) for i, each in enumerate(self._list(name))
        )

    def names(self) -> tuple[str, ...]:
        """All fields, for maps with keys of the operator's own; each must still be read."""
        if len(self._body) > ITEMS_MAX:
            raise InvalidValue(self.where, len(self._body), f"at most {ITEMS_MAX} fields")
        for name in self._body:
            self._text(f"{self.where} key", name)
        return tuple(self._body)

    def done(self) -> None:
        """Refuse what nobody read."""
        for name in self._body:
            if name not in self._read:
                known = ", ".join(sorted(self._read)) or "nothing"
                raise InvalidValue(self.where, name, f"only {known}")

    def _at(self, name: str) -> str:
        return f"{self.where}.{name}"

    def _value(self, name: str, default: object) -> Any:
        self._read[name] = None
        value = self._body.get(name, default)
        if value is None:
            raise InvalidValue(self._at(name), "nothing", "a value")
        return value

    def _list(self, name: str) -> list[object]:
        value = self._value(name, [])
        if not isinstance(value, list | tuple) or len(value) > ITEMS_MAX:
            raise InvalidValue(self._at(name), value, f"a list of at most {ITEMS_MAX}")
        return list(value)

    @staticmethod
    def _text(where: str, value: object) -> str:
        if not isinstance(value, str) or len(value) > TEXT_MAX:
            raise InvalidValue(where, value, f"a text of at most {TEXT_MAX} characters")
        return value


def hex_bytes(where: str, value: object, *lengths: int) -> bytes:
    """Bytes from lower-case hexadecimal, of one of these lengths if any are given."""
    told = " or ".join(str(each) for each in lengths) or "some"
    fault = InvalidValue(where, value, f"{told} bytes in hexadecimal")
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise fault
    try:
        raw = bytes.fromhex(value)
    except ValueError:
        raise fault from None
    if raw.hex() != value or (lengths and len(raw) not in lengths):
        raise fault
    return raw

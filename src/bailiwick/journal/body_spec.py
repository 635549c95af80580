"""The fields that one kind of body holds, as a check and as a shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bailiwick.journal.fields import FieldType, RecordRefused, object_shape, refuse_value
from bailiwick.journal.words import RecordFault

Fields = Mapping[str, FieldType]


@dataclass(frozen=True, slots=True)
class BodySpec:
    """The fields of one kind of body."""

    required: Fields
    optional: Fields = field(default_factory=dict)

    @property
    def shape(self) -> str:
        """The canonical bytes such a body can have, as a regular expression."""
        fields = {name: (kind, True) for name, kind in self.required.items()}
        fields |= {name: (kind, False) for name, kind in self.optional.items()}
        return object_shape(fields)

    def check(self, kind: str, body: object) -> None:
        """Refuse a body with an unknown, a missing or an ill-typed field."""
        if not isinstance(body, Mapping):
            raise refuse_value(kind, body, expected="a map")
        for name, value in body.items():
            known = self.required.get(name) or self.optional.get(name)
            if known is None:
                raise _no_such(kind, name, self)
            known.check(f"{kind}.{name}", value)
        for name in self.required:
            if name not in body:
                raise RecordRefused(
                    RecordFault.MISSING_FIELD, f"{kind}.{name}", value=_NOTHING, expected="a value"
                )


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()


def _no_such(kind: str, name: object, spec: BodySpec) -> RecordRefused:
    known = ", ".join(sorted({*spec.required, *spec.optional})) or "no field at all"
    return RecordRefused(
        RecordFault.UNKNOWN_FIELD, f"{kind} field", value=name, expected=f"one of {known}"
    )

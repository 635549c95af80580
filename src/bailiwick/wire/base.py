"""What every model of the contract shares: strictness, one integer, and the spelling of names.

Rules:

- A model is strict and refuses fields it does not know. Words are enums or literals, read from
  their one spelling.
- There is one integer: a JSON number without a fraction (``8`` and ``8.0``, never ``"8"`` or
  ``true``), within bounds that stand in the schema too.

>>> Numbered(id=8.0).id
8
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

INTEGER_MAX: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly."""

T = TypeVar("T")


def _whole(value: object) -> object:
    """An integral float as the integer that it is; all else is judged as it stands."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, slots=True)
class Within:
    """The one integer, within bounds that the schema tells too."""

    low: int
    high: int

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        whole = core_schema.int_schema(strict=True, ge=self.low, le=self.high)
        return core_schema.no_info_before_validator_function(_whole, whole)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


Amount = Annotated[int, Within(0, INTEGER_MAX)]
Number = Annotated[int, Within(1, INTEGER_MAX)]
TermMs = Annotated[int, Within(1, 2**52)]
GraceMs = Annotated[int, Within(0, 2**52)]

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
PRINCIPAL_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}$"
LABEL_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}=[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
PrincipalName = Annotated[str, Field(pattern=PRINCIPAL_PATTERN)]
Label = Annotated[str, Field(pattern=LABEL_PATTERN)]
DisplayName = Annotated[str, Field(max_length=200)]


class Model(BaseModel):
    """A strict model."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Page(Model, Generic[T]):
    """Some of a list; ``next`` is the cursor of what follows, if anything does."""

    items: list[T]
    next: str | None = None


class Numbered(Model):
    """Something with a number."""

    id: Number


class ClosingRule(Model):
    """A rule of the isolation policy, and how many nodes it closes to a request now."""

    rule: str
    nodes: int


class UnderRules(Model):
    """Something about a request that rules of the isolation policy may keep from nodes."""

    rules: list[ClosingRule] = Field(default_factory=list)
    """The rules of the isolation policy that close nodes to it; the most nodes first."""
    rules_more: int = 0
    """How many rules besides close some."""

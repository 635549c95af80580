"""What people are told, as values: a tiding, and the letter that brings it to one of them.

Rules:

- A tiding has plain facts, never a sentence: who reads it later has it in the words of then.
- A letter tells of one thing or of several that were read at one look, and keeps its message: in
  every try it is the same letter, also if its reader may not know some of it any more.
- Facts are small: a few short names and numbers. No command line, environment, note or secret is
  one (the maker of tidings names each).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sqlalchemy import Row

from bailiwick.iam import Scope
from bailiwick.vocab.apps import DeliveryFault, DeliveryState
from bailiwick.vocab.errors import Damaged
from bailiwick.vocab.notices import NoticeChannel, NoticeKind

Facts: TypeAlias = Mapping[str, str | int]

FACT_CHARS_MAX: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiding:
    """Something that people should know; ``message`` names it once and for all."""

    message: str
    kind: NoticeKind
    at_ms: int
    scope: Scope
    """Where it happened, and where its readers need the key of its kind."""
    facts: Facts = field(default_factory=dict)
    owner: str | None = None
    """Whose own it is; without one it is for who looks after the place. Not kept in rows."""

    def columns(self, principal: str) -> dict[str, Any]:
        """As rows have it."""
        return {
            "principal": principal,
            "message": self.message,
            "kind": self.kind.value,
            "at_ms": self.at_ms,
            "tenant": self.scope.tenant,
            "project": self.scope.project,
            "facts": json.dumps(dict(self.facts), sort_keys=True),
        }


@dataclass(frozen=True, slots=True)
class ToldBudget:
    """How far people were told of a budget."""

    terms: str = ""
    """What it was set to; empty while no record was read that says so."""
    level: int = 0
    """How many of its thresholds, and one more for its limit."""


NOTHING_TOLD: Final = ToldBudget()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeLetter:
    """Tidings on their way to one person, by one way."""

    letter_id: int
    principal: str
    channel: NoticeChannel
    message: str
    """That of the first it was written for."""
    tidings: tuple[Tiding, ...]
    withheld: int = 0
    """How many more there were, of which no letter tells."""
    state: DeliveryState = DeliveryState.RETRYING
    tries: int = 0
    tried_ms: int | None = None
    status: int | None = None
    fault: DeliveryFault | None = None
    next_try_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """A tiding in somebody's inbox."""

    notice_id: int
    tiding: Tiding
    read_ms: int | None = None


def tiding_of(row: Row[Any]) -> Tiding:
    """What a row tells."""
    try:
        return Tiding(
            message=row.message,
            kind=NoticeKind(row.kind),
            at_ms=row.at_ms,
            scope=Scope(row.tenant, row.project),
            facts=json.loads(row.facts),
        )
    except ValueError as error:
        raise Damaged("notices", str(row.message), error) from error


def letter_of(row: Row[Any]) -> NoticeLetter:
    """The letter in a row."""
    return NoticeLetter(
        letter_id=row.letter_id,
        principal=row.principal,
        channel=NoticeChannel(row.channel),
        message=row.message,
        tidings=(tiding_of(row), *_rest_of(row)),
        withheld=row.withheld,
        state=DeliveryState(row.state),
        tries=row.tries,
        tried_ms=row.tried_ms,
        status=row.status,
        fault=None if row.fault is None else DeliveryFault(row.fault),
        next_try_ms=row.next_try_ms,
    )


def spell_rest(tidings: Sequence[Tiding]) -> str | None:
    """All that a letter tells beyond the first, as its row has it."""
    if not tidings:
        return None
    return json.dumps([_spelled(each) for each in tidings])


def _spelled(tiding: Tiding) -> dict[str, Any]:
    return {
        "message": tiding.message,
        "kind": tiding.kind.value,
        "at_ms": tiding.at_ms,
        "scope": [tiding.scope.tenant, tiding.scope.project],
        "facts": dict(tiding.facts),
    }


def _rest_of(row: Row[Any]) -> list[Tiding]:
    try:
        return [
            Tiding(
                message=told["message"],
                kind=NoticeKind(told["kind"]),
                at_ms=told["at_ms"],
                scope=Scope(*told["scope"]),
                facts=told["facts"],
            )
            for told in json.loads(row.rest or "[]")
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged("notices", str(row.message), error) from error

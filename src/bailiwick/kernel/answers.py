"""What a command is answered with, and the memory that gives a repeated command the same answer.

Rules:

- A refusal is an answer, not an error; an error (not found, conflict, stale) changed nothing.
- Answers are made from events alone, so a replica that only replays gives the same ones.
- Remembered answers are bounded in number and age. Age is the journal's time, so that every
  replica forgets the same ones at the same record.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from bailiwick.scheduler.decision import Denied
from bailiwick.vocab.trust import MintDenial, Operation
from bailiwick.vocab.words import PendingReason


@dataclass(frozen=True, slots=True)
class Granted:
    """The request runs: its leases, and the node of each."""

    lease_ids: tuple[int, ...]
    nodes: tuple[str, ...]
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Queued:
    """The request waits as this entry; ``denied`` is what stood first in its way."""

    entry_id: int
    denied: Denied | None

    @property
    def reason(self) -> PendingReason:
        """Why it waits."""
        return PendingReason.NOT_YET_LOOKED_AT if self.denied is None else self.denied.reason


@dataclass(frozen=True, slots=True)
class Refused:
    """The request does not run and does not wait."""

    denied: Denied


@dataclass(frozen=True, slots=True)
class Done:
    """The command took effect with record number ``seq``, or (``None``) there was nothing to do."""

    seq: int | None


@dataclass(frozen=True, slots=True)
class TokenGranted:
    """A token may be minted, with exactly this in it."""

    token_id: str
    tenant: str
    project: str | None
    lease_id: int
    generation: int
    node: str
    """The audience: who is to accept it."""
    operations: tuple[Operation, ...]
    expires_ms: int


@dataclass(frozen=True, slots=True)
class TokenDenied:
    """No token may be minted. A lease of somebody else's is told as one that is not there."""

    reason: MintDenial


Answer: TypeAlias = Granted | Queued | Refused | Done | TokenGranted | TokenDenied


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer that was given, to which command, and when."""

    at_ms: int
    command: str
    answer: Answer


class AnswerBook:
    """Answers by actor and key, oldest first."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: OrderedDict[tuple[str, str], Remembered] = OrderedDict()

    def get(self, actor: str, key: str) -> Remembered | None:
        """The answer that was given under this key."""
        return self.entries.get((actor, key))

    def put(self, name: tuple[str, str], entry: Remembered) -> None:
        """Remember an answer; the parts of a large gang's answer are put together."""
        known = self.entries.get(name)
        answer = entry.answer
        if known is not None and isinstance(known.answer, Granted) and isinstance(answer, Granted):
            answer = Granted(
                known.answer.lease_ids + answer.lease_ids,
                known.answer.nodes + answer.nodes,
                answer.expires_ms,
            )
        self.entries[name] = Remembered(entry.at_ms, entry.command, answer)

    def repair(self, past: Callable[[int], int]) -> None:
        """Answers were given when a repaired clock says so."""
        for name, entry in self.entries.items():
            self.entries[name] = replace(entry, at_ms=past(entry.at_ms))

    def forget(self, before_ms: int, *, keep_max: int) -> None:
        """Drop what is older, and the oldest beyond so many."""
        while self.entries:  # bounded: every round drops one
            oldest = next(iter(self.entries.values()))
            if oldest.at_ms >= before_ms and len(self.entries) <= keep_max:
                return
            self.entries.popitem(last=False)

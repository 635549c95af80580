"""Which of several replicas of an operator acts: one holds a claim, which it renews; others wait.

The claim stands in the metadata of the app's oldest instance in the project, and is changed with
``If-Match``: of two who write at once, one succeeds.

Rules:

- A claim is a holder and a number that each renewal makes one more. No time is in it, so no two
  clocks are ever compared.
- The holder leads until two thirds of the term after it *sent* its last renewal. Another takes the
  claim once it has *seen* it unchanged for a whole term. So the one has ended before the other
  begins, as long as their clocks run equally fast within a third.
- Who followed one lock and finds another (the instance of the first was deleted) waits a term too.
- A holder that ends in good order gives the claim back: it has no holder then, and the next need
  not wait. A claim that is gone without that is waited for, as one that does not change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

CLAIM: Final = "leader"
"""Its name among the notes in an instance's metadata."""
TEXT: Final = "text"
_LEADS: Final = 2 / 3


@dataclass(frozen=True, slots=True)
class LeaderClaim:
    """Who leads, and how often it said so."""

    holder: str
    count: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Another leads, or may still think so."""


@dataclass(frozen=True, slots=True)
class Take:
    """Write this claim, if nothing was written since."""

    claim: LeaderClaim


Step: TypeAlias = Wait | Take


class Election:
    """What one replica knows of who leads."""

    def __init__(self, holder: str, term_s: float) -> None:
        self._holder, self._term_s = holder, term_s
        self._seen: tuple[int, LeaderClaim | None] | None = None
        self._free_at = 0.0
        """From when on the claim may be taken, if it stays as it was seen."""
        self._leads_until = float("-inf")

    def look(self, lock: int, claim: LeaderClaim | None, *, now: float) -> Step:
        """What to do about a claim that was just read, at the lock of that number."""
        if self._seen != (lock, claim):
            is_first = self._seen is None and claim is None
            is_other_lock = self._seen is not None and self._seen[0] != lock
            is_given_back = claim is not None and not claim.holder
            is_free = is_first or (is_given_back and not is_other_lock)
            self._seen = lock, claim
            self._free_at = now if is_free else now + self._term_s
        is_own = claim is not None and claim.holder == self._holder
        if not is_own and now < self._free_at:
            return Wait()
        return Take(LeaderClaim(self._holder, 1 if claim is None else claim.count + 1))

    def won(self, lock: int, claim: LeaderClaim, *, sent: float) -> None:
        """A claim of ours was written; it was sent then."""
        self._seen, self._free_at = (lock, claim), sent + self._term_s
        self._leads_until = sent + self._term_s * _LEADS

    def lost(self) -> None:
        """Somebody else was quicker, or there is nothing to lead."""
        self._leads_until = float("-inf")

    def leads(self, now: float) -> bool:
        """Whether this replica may act."""
        return now < self._leads_until


def notes_in(metadata: str) -> dict[str, object]:
    """The notes in an instance's metadata; what is no JSON object is one note, its text."""
    try:
        found = json.loads(metadata) if metadata else {}
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {TEXT: metadata}


def spell_notes(notes: dict[str, object]) -> str:
    """Notes as metadata."""
    return json.dumps(notes, separators=(",", ":"), sort_keys=True) if notes else ""


def claim_in(metadata: str) -> LeaderClaim | None:
    """The claim in an instance's metadata, if there is one."""
    found = notes_in(metadata).get(CLAIM)
    if not isinstance(found, dict):
        return None
    holder, count = found.get("holder"), found.get("count")
    if not isinstance(holder, str) or type(count) is not int:
        return None
    return LeaderClaim(holder, count)


def with_claim(metadata: str, claim: LeaderClaim | None) -> str:
    """Metadata with this claim in it, and everything else as it was."""
    notes = notes_in(metadata)
    notes.pop(CLAIM, None)
    if claim is not None:
        notes[CLAIM] = {"holder": claim.holder, "count": claim.count}
    return spell_notes(notes)

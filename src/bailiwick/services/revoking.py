"""Which lease tokens count no more, for whoever checks them without asking: a short, recent book.

Rules:

- A renewal ends the tokens of older generations; a lease that is over, or is being torn down, has
  none. One that is warned has none of its generation: if it gets its place back, it has the next.
- No token outlives 300 s, so what is older than that (and a minute for clocks that differ) needs no
  entry. The book is so as small as the recent past, and bounded beyond that.
- It follows the journal's own records. After a restart it begins far enough back to be whole.
- It says from when on it is complete. Whoever needs more than that believes nothing older.

>>> book = RevocationBook()
>>> book.follow(
...     {"kind": "lease_renewed", "at_ms": 5, "body": {"lease_id": 1, "generation": 3}}
... )
>>> book.since(0)
[Revoked(at_ms=5, lease_id=1, generation=3)]
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from bailiwick.capability.revocation import KEEP_MS
from bailiwick.journal.kinds import RecordKind
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import check_integer

LEASES_MAX: Final = 100_000

_ENDED: Final = frozenset(
    {
        RecordKind.LEASE_RELEASED,
        RecordKind.LEASE_EXPIRED,
        RecordKind.LEASE_PREEMPTED,
        RecordKind.LEASE_FENCED,
    }
)
_RENEWED: Final = (RecordKind.LEASE_RENEWED, RecordKind.LEASE_RESTORED)
_IN_GRACE: Final = (RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)


@dataclass(frozen=True, slots=True)
class Revoked:
    """Tokens of the lease below this generation count no more; ``None`` for all of them."""

    at_ms: int
    lease_id: int
    generation: int | None


class RevocationBook:
    """The recent past of leases; one thread follows, any may ask."""

    def __init__(self, *, leases_max: int = LEASES_MAX) -> None:
        self._leases_max = check_integer("leases_max", leases_max, low=1, high=10**7)
        self._lock = threading.Lock()
        self._rows: OrderedDict[int, Revoked] = OrderedDict()
        self._complete_from_ms = 0

    @property
    def complete_from_ms(self) -> int:
        """From when on nothing is left out."""
        return self._complete_from_ms

    def follow(self, fact: Mapping[str, Any]) -> None:
        """One more record is durable."""
        at_ms = int(fact["at_ms"])
        with self._lock:
            for lease_id, generation in _read(fact):
                self._rows.pop(lease_id, None)  # to its end, so that the oldest stays first
                self._rows[lease_id] = Revoked(at_ms, lease_id, generation)
            self._forget(at_ms)

    def since(self, since_ms: int) -> list[Revoked]:
        """What was revoked from then on, oldest first."""
        with self._lock:
            newest = takewhile(lambda row: row.at_ms >= since_ms, reversed(self._rows.values()))
            return list(newest)[::-1]

    def begin(self, at_ms: int) -> None:
        """The records that follow begin there: of what is before, nothing is known."""
        with self._lock:
            self._complete_from_ms = max(self._complete_from_ms, at_ms)

    def _forget(self, now_ms: int) -> None:
        while self._rows:  # bounded: every round drops one
            oldest = next(iter(self._rows.values()))
            is_many = len(self._rows) > self._leases_max
            if oldest.at_ms >= now_ms - KEEP_MS and not is_many:
                return
            self._rows.popitem(last=False)
            self._complete_from_ms = max(self._complete_from_ms, oldest.at_ms + 1)


def first_since(read: Callable[[int, int], Sequence[bytes]], size: int, *, since_ms: int) -> int:
    """The number of the first of ``size`` records that is not older; they are in order of time."""
    low, high = 0, size
    while low < high:  # bounded: every round halves what is left
        middle = (low + high) // 2
        lines = read(middle, 1)
        if lines and int(json.loads(lines[0])["at_ms"]) < since_ms:
            low = middle + 1
        else:
            high = middle
    return low


def _read(fact: Mapping[str, Any]) -> Iterable[tuple[int, int | None]]:
    kind, body = fact["kind"], fact["body"]
    if kind in _RENEWED:
        return [(body["lease_id"], body["generation"])]
    if kind == RecordKind.LEASE_REVOKED:
        generation = body.get("generation") if body["after"] in _IN_GRACE else None
        return [(body["lease_id"], None if generation is None else generation + 1)]
    if kind in _ENDED:
        return [(body["lease_id"], None)]
    if kind == RecordKind.NODE_DEPARTED:
        return [(lease_id, None) for lease_id in body.get("lease_ids", ())]
    return []

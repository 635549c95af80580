"""Tokens that count no more before they end: whose lease was renewed, is over, or that were named.

Rules:

- Of a renewed lease only tokens of its newest generation count; of a lease that is over, none. To
  free a lease takes no token, so a lease can always be given back.
- A token is named by its id, or by the id of one of its Biscuit blocks; every token narrowed from
  it bears those ids too and falls with it.
- Merging takes the stricter of two. It may be done in any order, and twice.
- No token outlives 300 s. An entry older than that, and a minute for clocks that differ, has
  nothing left to refuse and may be dropped.
- One instance is for one thread; to share it, :meth:`Revocations.copy` it and swap.

>>> revoked = Revocations()
>>> revoked.renewed(7, generation=2, at_ms=1_000)
>>> revoked.refuses(7, generation=1, ids=()), revoked.refuses(7, generation=2, ids=())
(True, False)
>>> revoked.drop_old(now_ms=1_000 + KEEP_MS + 1), len(revoked)
(1, 0)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from bailiwick.capability.claims import TOKEN_TTL_MS_MAX
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.values import AMOUNT_MAX, check_amount, check_integer

SKEW_MS_MAX = 60_000
"""By how much the clocks of those who mint, revoke and verify may differ."""

KEEP_MS = TOKEN_TTL_MS_MAX + SKEW_MS_MAX
ENTRIES_MAX = 1_000_000
_OVER = AMOUNT_MAX
"""No lease reaches this generation."""
_ID_CHARS_MAX = 160


class Revocations:
    """What was revoked, and when that became known."""

    __slots__ = ("_ids", "_leases")

    def __init__(self) -> None:
        self._leases: dict[int, tuple[int, int]] = {}  # the lowest generation that counts, when
        self._ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._leases) + len(self._ids)

    def refuses(self, lease_id: int, *, generation: int, ids: Iterable[str]) -> bool:
        """Whether a token of this lease and generation, with these ids, counts no more."""
        floor = self._leases.get(lease_id)
        if floor is not None and generation < floor[0]:
            return True
        return bool(self._ids) and any(each in self._ids for each in ids)

    def renewed(self, lease_id: int, *, generation: int, at_ms: int) -> None:
        """Tokens of earlier generations count no more."""
        check_amount("lease_id", lease_id)
        check_integer("generation", generation, low=0, high=_OVER)
        at_ms = check_amount("at_ms", at_ms)
        lowest, known_ms = self._leases.get(lease_id, (0, 0))
        self._room(lease_id in self._leases)
        self._leases[lease_id] = (max(lowest, generation), max(known_ms, at_ms))

    def ended(self, lease_id: int, *, at_ms: int) -> None:
        """No token of this lease counts any more."""
        self.renewed(lease_id, generation=_OVER, at_ms=at_ms)

    def revoke(self, token_id: str, *, at_ms: int) -> None:
        """Neither this token nor any narrowed from it counts any more."""
        if not isinstance(token_id, str) or not 1 <= len(token_id) <= _ID_CHARS_MAX:
            raise InvalidValue("token_id", token_id, f"1 to {_ID_CHARS_MAX} characters")
        self._room(token_id in self._ids)
        self._ids[token_id] = max(self._ids.get(token_id, 0), check_amount("at_ms", at_ms))

    def drop_old(self, *, now_ms: int) -> int:
        """Forget what can have no token left; how many entries that were."""
        before, oldest_ms = len(self), now_ms - KEEP_MS
        self._leases = {key: each for key, each in self._leases.items() if each[1] >= oldest_ms}
        self._ids = {key: at_ms for key, at_ms in self._ids.items() if at_ms >= oldest_ms}
        return before - len(self)

    def merge(self, other: Revocations) -> None:
        """Also refuse what the other one refuses."""
        for lease_id, (lowest, at_ms) in other._leases.items():
            self.renewed(lease_id, generation=lowest, at_ms=at_ms)
        for token_id, at_ms in other._ids.items():
            self.revoke(token_id, at_ms=at_ms)

    def copy(self) -> Revocations:
        """The same, to change or to hand out."""
        made = Revocations()
        made._leases, made._ids = dict(self._leases), dict(self._ids)
        return made

    def told(self, *, since_ms: int = 0) -> dict[str, object]:
        """The entries from then on, for JSON: leases as [id, lowest generation or null, when]."""
        leases = [
            [lease_id, None if lowest == _OVER else lowest, at_ms]
            for lease_id, (lowest, at_ms) in sorted(self._leases.items())
            if at_ms >= since_ms
        ]
        ids = [[each, at_ms] for each, at_ms in sorted(self._ids.items()) if at_ms >= since_ms]
        return {"leases": leases, "ids": ids}

    @classmethod
    def read(cls, body: object) -> Self:
        """What :meth:`told` told; anything else is refused."""
        if not isinstance(body, Mapping) or set(body) != {"leases", "ids"}:
            raise InvalidValue("revocations", body, "a map of leases and ids")
        made = cls()
        for row in _rows("leases", body["leases"], width=3):
            lowest = _OVER if row[1] is None else row[1]
            made.renewed(row[0], generation=lowest, at_ms=row[2])
        for row in _rows("ids", body["ids"], width=2):
            made.revoke(row[0], at_ms=row[1])
        return made

    def _room(self, is_known: bool) -> None:
        if not is_known and len(self) >= ENTRIES_MAX:
            raise LimitReached("revocations", ENTRIES_MAX)


def _rows(where: str, rows: object, *, width: int) -> list[list[Any]]:
    if not isinstance(rows, list) or len(rows) > ENTRIES_MAX:
        raise InvalidValue(where, type(rows).__name__, f"a list of at most {ENTRIES_MAX}")
    for row in rows:
        if not isinstance(row, list) or len(row) != width:
            raise InvalidValue(where, row, f"rows of {width}")
    return rows

"""Where each watcher is, told so that nobody can count with it; and what each record makes old.

Rules:

- A place is the number of a record, sealed for one principal: whoever is told two of them learns
  nothing of how much others did between. The key is this process's own; a place of another process
  (a server that was started anew) is unknown, and whoever shows it is told that all may be old.
- A record is read once for all watchers, and what a whole block of them makes old is summed up
  once: who looks after a while looks at blocks. A bounded number of both is kept.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bailiwick.iam import Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import parse_record
from bailiwick.services.changes.effort import Effort
from bailiwick.services.changes.nouns import NOUNS_OF, ChangeNoun

KEPT_MAX: Final = 8_192
BLOCK: Final = 256
"""Records that are summed up together."""
BLOCKS_MAX: Final = 64
_SIZE: Final = 8


class MadeOld(NamedTuple):
    """What one record makes old, and where."""

    scope: Scope
    nouns: frozenset[ChangeNoun]
    revoked: str | None
    """The token that it ended."""


@dataclass(slots=True)
class BlockOld:
    """What some records together make old, and the tokens that they ended."""

    old: dict[Scope, set[ChangeNoun]] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)

    def add(self, change: MadeOld) -> None:
        """One record more."""
        self.old.setdefault(change.scope, set()).update(change.nouns)
        if change.revoked is not None:
            self.revoked.add(change.revoked)


@dataclass(slots=True)
class ChangeBook:
    """What all watchers of changes share; to be used from one event loop."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    effort: Effort = field(default_factory=Effort)
    _read: OrderedDict[int, MadeOld] = field(default_factory=OrderedDict, init=False)
    _blocks: OrderedDict[int, BlockOld] = field(default_factory=OrderedDict, init=False)

    def change(self, seq: int, line: bytes) -> MadeOld:
        """What the record of this number makes old."""
        found = self._read.get(seq)
        if found is None:
            record = parse_record(line.rstrip(b"\n"))
            is_end = record.kind is RecordKind.ACCESS_TOKEN_REVOKED
            found = MadeOld(
                Scope(record.tenant, record.project),
                NOUNS_OF[record.kind],
                str(record.body["token_id"]) if is_end else None,
            )
            self._read[seq] = found
            if len(self._read) > KEPT_MAX:
                self._read.popitem(last=False)
        return found

    def block(self, first: int) -> BlockOld | None:
        """What the whole block that begins with this record makes old, if it was summed up."""
        return self._blocks.get(first)

    def sum_up(self, first: int, lines: Sequence[bytes]) -> BlockOld:
        """What these records make old; kept, if they are a whole block.

        >>> ChangeBook().sum_up(0, []).old
        {}
        """
        found = BlockOld()
        for seq, line in enumerate(lines, first):
            found.add(self.change(seq, line))
        if first % BLOCK == 0 and len(lines) == BLOCK:
            self._blocks[first] = found
            if len(self._blocks) > BLOCKS_MAX:
                self._blocks.popitem(last=False)
        return found

    def place(self, number: int, name: str) -> str:
        """The place after so many records, as this principal may know it."""
        raw = number.to_bytes(_SIZE, "big")
        tag = self._mix(b"tag", name.encode() + b"\0" + raw)
        return (tag + _xor(raw, self._mix(b"pad", tag))).hex()

    def number(self, place: str, name: str) -> int | None:
        """After how many records a place is; none if it is not one of this process, or of theirs.

        >>> book = ChangeBook()
        >>> book.number(book.place(7, "ann"), "ann"), book.number(book.place(7, "ann"), "bob")
        (7, None)
        """
        raw = bytes.fromhex(place)
        tag, sealed = raw[:_SIZE], raw[_SIZE:]
        number = int.from_bytes(_xor(sealed, self._mix(b"pad", tag)), "big")
        return number if hmac.compare_digest(self.place(number, name), place) else None

    def _mix(self, purpose: bytes, value: bytes) -> bytes:
        return hmac.digest(self.key, purpose + b"\0" + value, "sha256")[:_SIZE]


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))

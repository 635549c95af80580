"""An anchor: how far a log was verified, in one line that a consumer keeps.

Rules:

- It holds the number of records, the time and hash of the last one, and the right edge of the
  tree, so that verification resumes with nothing else in hand and memory stays flat.
- Its text form is strict: one spelling for each anchor, and whatever else is refused.

>>> str(GENESIS)
'bailiwick-anchor/v1 0 0 0000000000000000000000000000000000000000000000000000000000000000'
>>> parse_anchor(str(GENESIS)) == GENESIS
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bailiwick.journal.fields import AMOUNT, DIGEST, DIGEST_SHAPE, INTEGER_MAX
from bailiwick.journal.merkle import Frontier, fold_right
from bailiwick.journal.record import GENESIS_HASH
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

_FORMAT = "bailiwick-anchor/v1"
_TEXT = re.compile(
    rf"{_FORMAT} (0|[1-9][0-9]{{0,15}}) (0|[1-9][0-9]{{0,15}}) ({DIGEST_SHAPE})"
    rf"((?: {DIGEST_SHAPE}){{0,53}})"
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The end of what was verified: the next record is number ``size`` and names ``hash``."""

    size: int
    at_ms: int
    hash: str
    frontier: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=0, high=INTEGER_MAX)
        AMOUNT.check("at_ms", self.at_ms)
        DIGEST.check("hash", self.hash)
        Frontier(self.size, self.frontier)
        if self.size == 0 and (self.at_ms, self.hash) != (0, GENESIS_HASH):
            raise InvalidValue("anchor", self.hash, "zeros before the first record")

    @property
    def root(self) -> bytes:
        """The root of the tree over everything up to here."""
        return fold_right(self.frontier)

    def __str__(self) -> str:
        edge = "".join(f" {value.hex()}" for value in self.frontier)
        return f"{_FORMAT} {self.size} {self.at_ms} {self.hash}{edge}"


def parse_anchor(text: str) -> Anchor:
    """The anchor that this text is; surrounding white space is not part of one."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InvalidValue("anchor", text, f"{_FORMAT!r}, size, time, hash and tree edge")
    edge = tuple(bytes.fromhex(value) for value in found[4].split())
    return Anchor(int(found[1]), int(found[2]), found[3], edge)


GENESIS = Anchor(0, 0, GENESIS_HASH)
"""Where every log begins."""

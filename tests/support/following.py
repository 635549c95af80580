"""A journal that a test grows, and folds that follow it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bailiwick.runtime.feed import DurableLines, Feed
from bailiwick.runtime.follower import EachRecord, Follower
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.vocab.errors import Unavailable


def line(seq: int, kind: str = "node_departed") -> bytes:
    """A line that looks like a record."""
    fact = {
        "seq": seq,
        "at_ms": 10**12 * 2,
        "kind": kind,
        "tenant": None,
        "project": None,
        "correlation_id": f"c-{seq}",
        "body": {"node": "n1"},
    }
    return json.dumps(fact).encode() + b"\n"


class GrownJournal:
    """A journal and its feed; the store can be away for a while."""

    def __init__(self, kept_max: int = 5) -> None:
        self.feed = Feed(kept_max=kept_max)
        self.durable = DurableLines(self.feed, self.read)
        self.lines: list[bytes] = []
        self.away = 0

    def grow(self, count: int, *, told: bool = True) -> None:
        """So many records more; told with their lines, or only that they are there."""
        first = len(self.lines)
        new = [line(first + n) for n in range(count)]
        self.lines += new
        if told:
            self.feed.publish(first, new)
        else:
            self.feed.publish(len(self.lines))

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """What the store has."""
        if self.away:
            self.away -= 1
            raise Unavailable("the store", "it is away")
        return self.lines[first : first + limit]


def telemetry_follows(telemetry: Telemetry, lines: DurableLines) -> Follower[EachRecord]:
    """Have telemetry follow, as a server does."""
    fold = EachRecord(telemetry.follow, begin=telemetry.begin)
    follower = Follower(fold, lines, name="telemetry")
    telemetry.catch_up = follower.catch_up
    return follower

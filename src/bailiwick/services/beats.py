"""When each node was last heard of, kept in memory; who has been silent for too long.

Rules:

- How long somebody has been silent is told by a clock that never goes back; what is recorded of it
  is the time of day. A time of day that jumps makes nobody late.
- Only a node that was heard here can be missed: one that never beat may have nobody to beat for it.
- Silence counts only while somebody looked. Whoever was not asked for longer than one beat (it was
  stopped, or did not lead) begins to listen anew, and every node has a whole time-out again.

The planning itself is in :mod:`bailiwick.fleet.liveness`.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from bailiwick.fleet.liveness import (
    DEFAULT_RULE,
    Departed,
    HeartbeatRule,
    Liveness,
    check_liveness,
    plan_departures,
)
from bailiwick.ports import Clock
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.values import check_integer, check_name

NODES_MAX = 1_000_000


class Beats:
    """The last beat of every node that was heard; from any thread."""

    def __init__(
        self, clock: Clock, *, rule: HeartbeatRule = DEFAULT_RULE, nodes_max: int = NODES_MAX
    ) -> None:
        self.rule = rule
        self._clock = clock
        self._nodes_max = check_integer("nodes_max", nodes_max, low=1, high=NODES_MAX)
        self._lock = threading.Lock()
        # By node: on the clock that never goes back, and at what time of day.
        self._heard: dict[str, tuple[int, int]] = {}
        self._since = self._looked = clock.elapsed_ms()

    def now_ms(self) -> int:
        """The time of day, by the clock that beats are kept with."""
        return self._clock.now_ms()

    def beat(self, node: str) -> None:
        """The node lives."""
        check_name("node", node)
        with self._lock:
            if node not in self._heard and len(self._heard) >= self._nodes_max:
                raise LimitReached("nodes that beat", self._nodes_max)
            self._heard[node] = self._clock.elapsed_ms(), self._clock.now_ms()

    def expect(self, node: str, *, last_seen_ms: int) -> None:
        """The node should be heard from now on; one that was heard already stays as it is.

        ``last_seen_ms`` is the last proof of life that there is, if it never comes.
        """
        check_name("node", node)
        with self._lock:
            if len(self._heard) < self._nodes_max:
                self._heard.setdefault(node, (self._clock.elapsed_ms(), last_seen_ms))

    def forget(self, node: str) -> None:
        """The node is gone; until it beats again it is not missed."""
        with self._lock:
            self._heard.pop(node, None)

    def listen_anew(self) -> None:
        """Nobody's silence so far counts."""
        with self._lock:
            self._since = self._looked = self._clock.elapsed_ms()

    def standing(self, node: str) -> Liveness | None:
        """How the node stands; nothing if it was never heard here."""
        with self._lock:
            heard, since = self._heard.get(node), self._since
        if heard is None:
            return None
        elapsed = self._clock.elapsed_ms()
        (found,) = check_liveness(
            {node: heard[0]}, elapsed, listening_since_ms=since, rule=self.rule
        )
        return replace(found, last_seen_ms=heard[1])

    def depart(self, elapsed_ms: int) -> tuple[Departed, ...]:
        """Who is to be recorded as departed now, the longest silent first."""
        with self._lock:
            if elapsed_ms - self._looked > self.rule.beat_ms:
                self._since = elapsed_ms
            self._looked = elapsed_ms
            heard, since = dict(self._heard), self._since
        on_clock = {node: elapsed for node, (elapsed, _) in heard.items()}
        gone = plan_departures(on_clock, elapsed_ms, listening_since_ms=since, rule=self.rule)
        return tuple(replace(each, last_seen_ms=heard[each.node][1]) for each in gone)

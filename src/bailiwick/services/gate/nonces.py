"""Nonces that nodes prove themselves with: handed out by the leader, used once, soon too old.

Rules:

- A nonce is one node's. Another node's, one that was used, and one that is too old are all the
  same: not its nonce.
- A node has one at a time. A new one takes the place of the old; what is kept is bounded by the
  nodes there are, and by ``nodes_max`` beyond that.
- Kept in memory alone. After a restart, or under another leader, whoever was asked is asked again.
- Age is told by a clock that never goes back. Comparing takes the same time, however much is right.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest

from bailiwick.attestation.evidence import NONCE_BYTES
from bailiwick.ports import Clock
from bailiwick.vocab.values import check_integer, check_name

NODES_MAX = 1_000_000
Randomness = Callable[[int], bytes]
"""So many bytes that nobody can guess."""


@dataclass(frozen=True, slots=True)
class Nonce:
    """What a node is asked with, and for how long from now it may answer."""

    value: bytes
    left_ms: int


@dataclass(frozen=True, slots=True)
class _Kept:
    value: bytes
    since_ms: int
    life_ms: int

    def left_ms(self, elapsed_ms: int) -> int:
        return self.since_ms + self.life_ms - elapsed_ms


class Nonces:
    """The nonces that wait for an answer; from any thread."""

    def __init__(self, clock: Clock, randomness: Randomness, *, nodes_max: int = NODES_MAX) -> None:
        self._clock, self._randomness = clock, randomness
        self._nodes_max = check_integer("nodes_max", nodes_max, low=1, high=NODES_MAX)
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def issue(self, node: str, *, life_ms: int) -> Nonce:
        """A new nonce for the node, in place of any that it has."""
        check_name("node", node)
        kept = _Kept(self._randomness(NONCE_BYTES), self._clock.elapsed_ms(), life_ms)
        with self._lock:
            self._kept[node] = kept
            self._kept.move_to_end(node)
            if len(self._kept) > self._nodes_max:
                self._kept.popitem(last=False)  # who waited longest is asked again
        return Nonce(kept.value, life_ms)

    def remind(self, node: str, *, life_ms: int) -> Nonce:
        """The nonce that the node has, if half its life is left; else a new one.

        A node that is at work on its answer is not told another nonce at every beat.
        """
        with self._lock:
            kept = self._kept.get(node)
        left_ms = 0 if kept is None else kept.left_ms(self._clock.elapsed_ms())
        if kept is None or 2 * left_ms < kept.life_ms:
            return self.issue(node, life_ms=life_ms)
        return Nonce(kept.value, left_ms)

    def is_own(self, node: str, value: bytes) -> bool:
        """Whether this is the nonce that the node should answer now."""
        with self._lock:
            return self._is_own(node, value)

    def spend(self, node: str, value: bytes) -> bool:
        """Whether it was the node's nonce; from now on it is not. A wrong guess spends nothing."""
        with self._lock:
            is_own = self._is_own(node, value)
            if is_own:
                del self._kept[node]
            return is_own

    def _is_own(self, node: str, value: bytes) -> bool:
        kept = self._kept.get(node)
        if kept is None:
            return False
        is_same = compare_digest(kept.value, value)
        return is_same and kept.left_ms(self._clock.elapsed_ms()) > 0

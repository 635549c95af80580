"""Who is told what happens in a ledger, and may object to a longer stay: a policy, handed in.

Rules:

- A watcher joins before the first lease, so that it knows of all: what a lease was asked for as
  (the labels of its job) is told once, when it begins.
- A lease that is fenced has not ended. Members of a gang are told of when all of them have a place.
- What is tried and given back, as asking does, is never told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import Conflict


class LedgerWatcher(Protocol):
    """Somebody who must know what runs where."""

    def node_joined(self, entry: NodeEntry) -> None:
        """A node is there."""

    def node_left(self, entry: NodeEntry) -> None:
        """A node is gone; its leases ended before."""

    def began(self, request: PlacementRequest, lease_ids: Sequence[int]) -> None:
        """These leases were granted for the request."""

    def ended(self, lease_id: int, *, now_ms: int) -> None:
        """What a lease held is free."""

    def stay_breaks(self, lease_id: int, *, ttl_ms: int, now_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is for so long from now."""


class LedgerWatchers:
    """All who watch one ledger."""

    def __init__(self) -> None:
        self.all: tuple[LedgerWatcher, ...] = ()

    def add(self, watcher: LedgerWatcher) -> None:
        """One more, who has been told of every node."""
        self.all = (*self.all, watcher)

    def joined(self, entry: NodeEntry) -> None:
        """A node is there."""
        for each in self.all:
            each.node_joined(entry)

    def left(self, entry: NodeEntry) -> None:
        """A node is gone."""
        for each in self.all:
            each.node_left(entry)

    def began(self, request: PlacementRequest, lease_ids: Sequence[int]) -> None:
        """Leases were granted."""
        for each in self.all:
            each.began(request, lease_ids)

    def ended(self, lease_id: int, now_ms: int) -> None:
        """A lease is over."""
        for each in self.all:
            each.ended(lease_id, now_ms=now_ms)

    def check_stay(self, lease_id: int, *, ttl_ms: int, now_ms: int) -> None:
        """An error if the lease may not stay where it is for so long from now."""
        for each in self.all:
            rule = each.stay_breaks(lease_id, ttl_ms=ttl_ms, now_ms=now_ms)
            if rule is not None:
                why = f"may not stay for {ttl_ms} ms by the rule {rule}"
                raise Conflict("lease", lease_id, why, hint="ask for a shorter term")

"""Whom a look at what others hold above their quota could not help, and when it is looked again.

Rules:

- Requests that ask for the same, for the same owner, get the same answer: one is asked. What a
  term forbids, it forbids a longer one, too; a shorter one is asked for itself.
- Who could not be helped is let be for :data:`PAUSE_MS`, then for twice as long each time, up to
  :data:`PAUSE_MAX_MS`. All are asked anew once somebody is above his quota by more than before.
- This is remembered by who leads, and by nobody else: whoever leads next begins with asking all. It
  is about when somebody is asked, and never about the answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.excess import Excess

PAUSE_MS: Final = 2_000
PAUSE_MAX_MS: Final = 64_000
ASKS_MAX: Final = 4_096
"""Ways of asking that are remembered; beyond that all are asked anew."""


def ask_of(request: PlacementRequest) -> Hashable:
    """The same for all requests that get the same answer, but for their terms."""
    labels, jobs = frozenset(request.labels.items()), frozenset(request.job_labels.items())
    whose = request.tenant, request.project, request.tag, request.preemptible_on_budget
    rank = request.priority, request.lease_class
    return Shape.of(request), request.gang_size, labels, jobs, *whose, *rank


@dataclass(frozen=True, slots=True)
class _Failure:
    ttl_ms: int
    """The shortest term that was of no use."""
    pause_ms: int
    next_ms: int


class HelpTries:
    """What is remembered of those who could not be helped."""

    def __init__(self) -> None:
        self._failed: dict[Hashable, _Failure] = {}
        self._above: dict[QuotaScope, tuple[int, ...]] = {}

    def look(self, excesses: Iterable[Excess]) -> None:
        """These are above their quotas now."""
        now = {each.scope: each.amounts for each in excesses}
        for scope, amounts in now.items():
            before = self._above.get(scope)
            if before is None or any(a > b for a, b in zip(amounts, before, strict=True)):
                self._failed.clear()
        self._above = now

    def may_ask(self, ask: Hashable, *, ttl_ms: int, now_ms: int) -> bool:
        """Whether it is time to look for this request."""
        failed = self._failed.get(ask)
        return failed is None or ttl_ms < failed.ttl_ms or now_ms >= failed.next_ms

    def note_failure(self, ask: Hashable, *, ttl_ms: int, now_ms: int) -> None:
        """Nothing could be done for such a request."""
        failed = self._failed.pop(ask, None)
        if failed is None or ttl_ms < failed.ttl_ms:
            pause_ms = PAUSE_MS
        else:
            pause_ms = min(2 * failed.pause_ms, PAUSE_MAX_MS)
        if len(self._failed) >= ASKS_MAX:
            self._failed.clear()
        self._failed[ask] = _Failure(ttl_ms, pause_ms, now_ms + pause_ms)

    def note_help(self, ask: Hashable) -> None:
        """Room is being made for such a request: the next one is looked at, too."""
        self._failed.pop(ask, None)

"""The port over rows: an order, a warning, an end are written down, and an agent makes them so.

Rules:

- Nothing here waits for a machine longer than a moment. Whoever runs jobs looks again.
- An end that no agent confirms is not known for as long as patience lasts (``Unavailable``: try
  again), and then not clean: the kernel fences.
- What a job used is told by the agent that counts it, over its own way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bailiwick.executors.node.agents import check_order
from bailiwick.executors.node.work import Wish, WorkRow, WorkStore, spell_spec
from bailiwick.executors.port import (
    Adopted,
    Exited,
    JobOrdered,
    JobSpec,
    JobStatus,
    JobUsage,
    Lost,
    LostReason,
    OutputPart,
    Starting,
    Unstarted,
)
from bailiwick.vocab.errors import Conflict, NotFound, Unavailable
from bailiwick.vocab.values import check_amount

PATIENCE_MS = 60_000
"""How long an end may be unconfirmed before it counts as one that is not clean."""
WAIT_S, LOOK_S = 0.5, 0.02


class NodeExecutor:
    """Runs the jobs of one node through its agent; calls may come from any thread."""

    def __init__(
        self,
        store: WorkStore,
        node: str,
        *,
        now_ms: Callable[[], int],
        wake: Callable[[], None] = lambda: None,
        wait_s: float = WAIT_S,
    ) -> None:
        self._store, self._node = store, node
        self._now_ms, self._wake, self._wait_s = now_ms, wake, wait_s

    def start(self, spec: JobSpec) -> JobOrdered:
        """Order the job; the agent starts it, once. One that it cannot run is refused."""
        check_order(spec, self._store.agents([self._node]).get(self._node), node=self._node)
        self._store.order(self._node, spec.lease_id, spec=spell_spec(spec), now_ms=self._now_ms())
        self._wake()
        return JobOrdered(spec.lease_id)

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Have the job told that it must be gone by then."""
        check_amount("until_ms", until_ms)
        self._get(lease_id)
        self._store.warn(lease_id, until_ms)
        self._wake()

    def call_off(self, lease_id: int) -> None:
        """Have the warning taken back."""
        self._get(lease_id)
        self._store.warn(lease_id, None)
        self._wake()

    def tear_down(self, lease_id: int) -> bool:
        """Have the job ended; whether its agent says that nothing of it is left."""
        row = self._get(lease_id)
        if row.wish is Wish.RUN and not _is_cleared(row):
            self._store.wish(lease_id, Wish.END, now_ms=self._now_ms())
            self._wake()
        end = time.monotonic() + self._wait_s
        while True:  # bounded by the end
            row = self._get(lease_id)
            if row.seen is not None and row.seen.is_cleared is not None:
                return row.seen.is_cleared
            if time.monotonic() > end:
                break
            time.sleep(LOOK_S)
        if self._now_ms() - row.wished_ms >= PATIENCE_MS:
            return False
        raise Unavailable(f"the agent of {self._node}", f"lease {lease_id} is not ended yet")

    def status(self, lease_id: int) -> JobStatus:
        """What the agent last saw."""
        return status_of(self._get(lease_id))

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs of the node that are kept."""
        rows = self._store.find(self.leases())
        return tuple(Adopted(row.lease_id, status_of(row)) for row in rows)

    def leases(self) -> tuple[int, ...]:
        """The leases of the node of which anything is kept."""
        return tuple(self._store.of_node(self._node))

    def usage(self, lease_id: int) -> JobUsage | None:
        """Nothing: the agent counts, and tells it by itself."""
        self._get(lease_id)
        return None

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Nowhere on this machine."""
        self._get(lease_id)
        return ()

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """A piece of what has come of the output so far."""
        check_amount("offset", offset)
        check_amount("limit", limit)
        self._get(lease_id)
        return self._store.read_output(lease_id, offset, limit=limit, since_ms=since_ms)

    def forget(self, lease_id: int) -> None:
        """Have all removed that is kept of a job that has ended."""
        row = self._get(lease_id)
        if not _is_over(row):
            raise Conflict("job of lease", lease_id, "has not ended", hint="tear it down first")
        self._store.wish(lease_id, Wish.FORGET, now_ms=self._now_ms())
        self._wake()

    def _get(self, lease_id: int) -> WorkRow:
        row = self._store.get(lease_id)
        if row is None or row.node != self._node or row.wish is Wish.FORGET:
            raise NotFound("job of lease", lease_id)
        return row


def statuses_of(store: WorkStore, leases: Mapping[int, str]) -> dict[int, JobStatus | None]:
    """What is known of the jobs of these leases, each on its node; ``None`` of what is not kept."""
    found: dict[int, JobStatus | None] = dict.fromkeys(leases)
    for row in store.find(list(leases)):
        if row.node == leases[row.lease_id] and row.wish is not Wish.FORGET:
            found[row.lease_id] = status_of(row)
    return found


def status_of(row: WorkRow) -> JobStatus:
    """What is known of a job."""
    return Starting() if row.seen is None else row.seen.status


def _is_cleared(row: WorkRow) -> bool:
    return row.seen is not None and row.seen.is_cleared is True


def _is_over(row: WorkRow) -> bool:
    match status_of(row):
        case Unstarted() | Exited(is_emptied=True):
            return True
        case Lost(LostReason.NEVER_STARTED | LostReason.OTHER_BOOT):
            return True
        case _:
            return _is_cleared(row)

"""Work of nodes: agents ask what is to be so, and tell what they saw and what jobs printed.

Rules:

- Only the node itself is told and heard, by its own token: what is to run holds its submitter's
  secrets, and whoever may report for other machines has no need of them.
- A node that departed is served all the same: what is to end there must be told.
- An answer is held back until something changed. Where the change was made it wakes whoever waits;
  elsewhere the rows are looked at now and then.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from bailiwick.executors.clusters import ClusterHands
from bailiwick.executors.node.agents import AgentWord
from bailiwick.executors.node.executor import NodeExecutor, statuses_of
from bailiwick.executors.node.work import Seen, WorkRow
from bailiwick.executors.port import Executor, JobStatus
from bailiwick.iam import PrincipalKind
from bailiwick.ports import Clock
from bailiwick.runtime.replica import View
from bailiwick.runtime.waiting import await_set
from bailiwick.services.caller import Caller, Deferred
from bailiwick.store.work_rows import WorkBook
from bailiwick.vocab.transitions import RevokeState

LOOK_S = 0.5
"""How often the rows are looked at for an agent that waits."""
LASTING = (RevokeState.ACTIVE, RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)
"""The states of a lease in which its job may run."""
WAITERS_MAX = 4
"""Answers that are held back for one node at a time: its agent wants one."""


class NodeDesk:
    """The work of all nodes, and who waits for a change of it; from any thread."""

    def __init__(
        self, book: WorkBook, *, clock: Clock, clusters: Sequence[ClusterHands] = ()
    ) -> None:
        self.book, self._clock, self._clusters = book, clock, clusters
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Callable[[], None]]] = {}

    def executor_of(self, node: str) -> Executor:
        """What runs the jobs of that node: the cluster that it is of, or else its agent."""
        for cluster in self._clusters:
            if cluster.has(node):
                return cluster.executor
        now_ms = self._clock.now_ms
        return NodeExecutor(self.book, node, now_ms=now_ms, wake=lambda: self.wake(node))

    def statuses_of(self, leases: Mapping[int, str]) -> dict[int, JobStatus | None]:
        """What agents last saw of leases, each on its node; clusters' are not told here."""
        ours = {
            lease_id: node
            for lease_id, node in leases.items()
            if not any(cluster.has(node) for cluster in self._clusters)
        }
        return statuses_of(self.book, ours) if ours else {}

    def wake(self, node: str) -> None:
        """Something is to be otherwise on that node."""
        with self._lock:
            waiting = tuple(self._waiting.get(node, ()))
        for wake in waiting:
            wake()

    @contextmanager
    def listening(self, node: str, wake: Callable[[], None]) -> Iterator[bool]:
        """Have ``wake`` called whenever something changes there; whether there was room for it."""
        with self._lock:
            waiting = self._waiting.setdefault(node, [])
            has_room = len(waiting) < WAITERS_MAX
            if has_room:
                waiting.append(wake)
        try:
            yield has_room
        finally:
            with self._lock:
                if has_room:
                    waiting.remove(wake)
                if not waiting:
                    self._waiting.pop(node, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkWish:
    """What an agent asks: what changed after a version, and how long it waits for that."""

    node: str
    life: int
    after: int
    wait_s: int
    says: AgentWord = field(default_factory=AgentWord)
    """What it says of itself."""


@dataclass(frozen=True, slots=True)
class NodeWork:
    """What changed for a node, up to a version; and how long its leases last yet."""

    version: int
    rows: list[WorkRow]
    terms: dict[int, int]


@dataclass(frozen=True, slots=True)
class PrintedPart:
    """Some of what a job printed."""

    lease_id: int
    offset: int
    data: bytes
    is_truncated: bool


async def read_work(
    caller: Caller, desk: NodeDesk, *, wish: WorkWish, ending: asyncio.Event | None
) -> NodeWork:
    """What changed for a node; the answer is held back until something has."""
    require_self(caller, wish.node)
    await asyncio.to_thread(desk.book.enter, wish.node, wish.life, says=wish.says)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    until = loop.time() + wish.wait_s

    def wake() -> None:
        loop.call_soon_threadsafe(changed.set)

    with desk.listening(wish.node, wake) as may_wait:
        while True:  # bounded by ``wait_s``, and by the server's own ending
            changed.clear()
            found = await asyncio.to_thread(desk.book.due, wish.node, after=wish.after)
            left_s = until - loop.time()
            is_ending = ending is not None and ending.is_set()
            # A version below the agent's: its rows were restored from a copy, and it asks anew.
            is_other = found[1] or found[0] < wish.after
            if is_other or left_s <= 0 or is_ending or not may_wait:
                terms = await caller.read(lambda view: _terms(view, wish.node))
                return NodeWork(*found, terms)
            await await_set(changed, min(LOOK_S, left_s))


def _terms(view: View, node: str) -> dict[int, int]:
    """How long the leases of a node last yet that nobody ends; of one that departed, none."""
    state = view.state
    if node not in state.ledger:
        return {}
    lasting = [i for i in state.leases_on(node) if state.phase(i) in LASTING]
    return {i: max(state.fields(i).expires_ms - view.now_ms, 0) for i in lasting}


async def observe(
    caller: Caller, desk: NodeDesk, *, node: str, life: int, seen: Deferred[list[Seen]]
) -> None:
    """Keep what a node's agent saw of its jobs."""
    require_self(caller, node)
    told = seen()
    if caller.dry_run:
        return
    await asyncio.to_thread(desk.book.enter, node, life)
    await asyncio.to_thread(desk.book.observe, node, told)


async def take_output(
    caller: Caller, desk: NodeDesk, *, node: str, life: int, parts: Deferred[list[PrintedPart]]
) -> dict[int, int | None]:
    """Keep what jobs of a node printed; where each goes on."""
    require_self(caller, node)
    told = parts()
    if caller.dry_run:
        return {}

    now_ms = caller.clock.now_ms()

    def keep() -> dict[int, int | None]:
        desk.book.enter(node, life)
        return {
            each.lease_id: desk.book.append_output(
                node,
                each.lease_id,
                offset=each.offset,
                data=each.data,
                is_truncated=each.is_truncated,
                at_ms=now_ms,
            )
            for each in told
        }

    return await asyncio.to_thread(keep)


def require_self(caller: Caller, node: str) -> None:
    """Go on only if it is the node itself that asks."""
    caller.require_node(node)
    if caller.principal.kind is not PrincipalKind.NODE:
        raise caller.refuse("only the node itself is told what runs there", reason="foreign_node")

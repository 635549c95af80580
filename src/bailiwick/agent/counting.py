"""The agent's counting: what leases use on this machine, told until it is acknowledged.

Rules:

- It looks at what runs, and executes nothing. A lease is known by the mark in its processes'
  environment; of processes that this user may not look at, nothing is told.
- At every beat all leases that have a process are told, each with its sums so far. Peaks of memory
  are those that were seen.
- Numbered in an epoch of its own for each life of the agent, and sent again until acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bailiwick.agent.machine.accounting import GpuTally, GpuTime, NvmlAccounting
from bailiwick.agent.machine.counters import Counted, Machine, count_leases
from bailiwick.agent.outbox import Outbox
from bailiwick.agent.words import SourceState, Unreadable

NVML_AGAIN_MS: Final = 300_000
"""After so long a driver that did not answer is asked again."""
SENDS_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class LeaseCount:
    """All that was counted for one lease so far."""

    lease_id: int
    at_ms: int
    from_ms: int
    cpu_ms: int
    mem_peak_bytes: int | None
    gpus: tuple[GpuTime, ...]


class CounterServer(Protocol):
    """What counting wants of a server."""

    def count(
        self, node: str, epoch: int, *, events: Sequence[tuple[int, LeaseCount]]
    ) -> tuple[int, int]:
        """Tell counters; the epoch that counts, and how far it is kept."""


class LeaseCounting:
    """Counts for every lease that has a process here."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        say: Callable[[str], None],
        *,
        machine: Machine | None = None,
        accounting: NvmlAccounting | None = None,
    ) -> None:
        self._now_ms, self._say = now_ms, say
        self._machine = machine or Machine()
        self._accounting = accounting or NvmlAccounting()
        self._gpus = GpuTally()
        self._outbox: Outbox[LeaseCount] = Outbox(now_ms())
        self._peaks: dict[int, int] = {}
        self._ask_gpus_ms = 0
        self._gpus_off: tuple[int, ...] = ()

    def turn(self, node: str, server: CounterServer) -> None:
        """Look once, and tell what is not told yet."""
        try:
            self._look()
            self._send(node, server)
        except (Unreadable, OSError) as error:
            self._say(f"what leases use cannot be counted now: {error}")

    def _look(self) -> None:
        now_ms = self._now_ms()
        found = count_leases(self._machine, now_ms=now_ms)
        for lease_id in self._peaks.keys() - found.keys():
            del self._peaks[lease_id]
            self._gpus.forget(lease_id)
        for lease_id, counted in found.items():
            self._look_at_gpus(lease_id, counted, now_ms=now_ms)
            self._peaks[lease_id] = max(self._peaks.get(lease_id, 0), counted.mem_bytes or 0)
            self._outbox.add(
                LeaseCount(
                    lease_id,
                    now_ms,
                    min(counted.from_ms, now_ms),
                    counted.cpu_ms,
                    None if counted.mem_bytes is None else self._peaks[lease_id],
                    self._gpus.of(lease_id),
                )
            )

    def _look_at_gpus(self, lease_id: int, counted: Counted, *, now_ms: int) -> None:
        if now_ms < self._ask_gpus_ms:
            return
        found = self._accounting.read({*counted.pids, *self._gpus.pids(lease_id)})
        if found.state is not SourceState.READ:
            self._ask_gpus_ms = now_ms + NVML_AGAIN_MS
        if found.off != self._gpus_off:
            self._gpus_off = found.off
            shown = ", ".join(map(str, found.off)) or "none"
            self._say(f"GPUs on which GPU time is not counted (accounting is off): {shown}")
        self._gpus.note(lease_id, found.rows, now_ms=now_ms)

    def _send(self, node: str, server: CounterServer) -> None:
        outbox = self._outbox
        for _ in range(SENDS_MAX):
            batch = outbox.batch()
            if not batch:
                return
            epoch, acknowledged = server.count(node, outbox.epoch, events=batch)
            outbox.settle(epoch=epoch, acknowledged=acknowledged)
            if outbox.batch() == batch:  # nothing was taken: again at the next beat
                return

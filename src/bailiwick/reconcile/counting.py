"""What this machine counts for its own jobs, sampled while they run and told to the server.

Rules:

- Every job of which the executor keeps anything is looked at: one that runs through the kernel's
  counters, one that is over through what was written down. So one that ran while nobody looked is
  told too.
- A running job is told of at once and then now and then; one that is over, once in each life of
  this process. Sums are sums: it does not matter what was missed in between.
- It goes the way of every source: numbered, kept with its position, then acknowledged.
- Counting must never stop a job: what cannot be read of one is said, and left out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from bailiwick.agent.machine.accounting import GpuTally, NvmlAccounting
from bailiwick.agent.machine.counters import (
    Counted,
    Machine,
    ProcessTime,
    count_processes,
    descendants,
)
from bailiwick.agent.outbox import Outbox
from bailiwick.agent.words import SourceState
from bailiwick.executors.port import Executor, UsedByProcesses, UsedInAll
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.ports import Clock
from bailiwick.store.counter_rows import CounterBook, CounterEvent
from bailiwick.vocab.errors import Damaged, InvalidValue, NotFound

EVERY_S: Final = 2.0
TELL_MS: Final = 10_000
"""How often a job that runs is told of."""
NVML_AGAIN_MS: Final = 300_000
"""After so long a driver that did not answer is asked again."""


class JobCounting:
    """Counts for the jobs of one executor."""

    def __init__(
        self,
        book: CounterBook,
        node: str,
        executor: Executor,
        *,
        clock: Clock,
        say: Callable[[str], None],
        accounting: NvmlAccounting | None = None,
    ) -> None:
        self._book, self._node, self._executor = book, node, executor
        self._clock, self._say = clock, say
        self._machine = Machine()
        self._accounting = accounting or NvmlAccounting()
        self._gpus = GpuTally()
        self._outbox: Outbox[Counter] = Outbox(clock.now_ms())
        self._peaks: dict[int, int] = {}
        self._told_ms: dict[int, int] = {}
        self._over: set[int] = set()
        self._ask_gpus_ms = 0
        self._gpus_off: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "counting"

    def run(self, stop: threading.Event) -> None:
        """Look every now and then, until told to stop."""
        while not stop.wait(EVERY_S):
            self.once()

    def once(self) -> int:
        """Look at every job, and tell what is due; how many counters are kept now."""
        now_ms = self._clock.now_ms()
        leases = self._executor.leases()
        self._over &= set(leases)
        table: dict[int, ProcessTime] | None = None
        for lease_id in leases:
            if lease_id in self._over:
                continue
            found: Counter | None
            try:
                match self._executor.usage(lease_id):
                    case UsedInAll() as counts:
                        found = self._ended(lease_id, counts)
                    case UsedByProcesses() as root:
                        table = self._machine.processes() if table is None else table
                        found = self._running(lease_id, root, table=table, now_ms=now_ms)
                    case None:
                        continue
            except NotFound:
                continue  # it was forgotten meanwhile
            except (Damaged, InvalidValue, OSError) as error:
                self._say(f"what lease {lease_id} uses cannot be counted: {error}")
                continue
            if found is not None:
                self._tell(found, now_ms)
        return self._send()

    def _ended(self, lease_id: int, counts: UsedInAll) -> Counter:
        """All that was counted for a job of which nothing is left."""
        if counts.mem_peak_bytes is not None:
            self._note_peak(lease_id, counts.mem_peak_bytes)
        self._look_at_gpus(lease_id, (), now_ms=self._clock.now_ms())
        # Not before what was told last: a clock that went back must not keep it from being over.
        at_ms = max(counts.emptied_ms, self._told_ms.get(lease_id, 0))
        return Counter(
            lease_id,
            self._node,
            at_ms,
            counts.began_ms,
            to_ms=counts.emptied_ms,
            cpu_ms=counts.cpu_ms,
            mem_peak_bytes=self._peaks.get(lease_id),
            gpus=self._gpu_counts(lease_id),
        )

    def _running(
        self, lease_id: int, root: UsedByProcesses, *, table: dict[int, ProcessTime], now_ms: int
    ) -> Counter | None:
        above = table.get(root.pid)
        if above is None or above.start_ticks != root.start_ticks:
            return None  # of another boot, or it was killed: nobody counts for this job any more
        members = descendants(table, above.pid)
        if not members:
            return None  # it is about to write down how it ended
        counted = count_processes(
            self._machine,
            members,
            lease_id=lease_id,
            now_ms=now_ms,
            waited_ms=above.waited_ms,
        )
        return self._counter(lease_id, counted, now_ms=now_ms)

    def _counter(self, lease_id: int, counted: Counted, *, now_ms: int) -> Counter:
        if counted.mem_bytes is not None:
            self._note_peak(lease_id, counted.mem_bytes)
        self._look_at_gpus(lease_id, counted.pids, now_ms=now_ms)
        return Counter(
            lease_id,
            self._node,
            now_ms,
            min(counted.from_ms, now_ms),
            cpu_ms=counted.cpu_ms,
            mem_peak_bytes=self._peaks.get(lease_id),
            gpus=self._gpu_counts(lease_id),
        )

    def _note_peak(self, lease_id: int, mem_bytes: int) -> None:
        self._peaks[lease_id] = max(self._peaks.get(lease_id, 0), mem_bytes)

    def _look_at_gpus(self, lease_id: int, pids: tuple[int, ...], *, now_ms: int) -> None:
        wanted = {*pids, *self._gpus.pids(lease_id)}
        if not wanted or now_ms < self._ask_gpus_ms:
            return
        found = self._accounting.read(wanted)
        if found.state is not SourceState.READ:
            self._ask_gpus_ms = now_ms + NVML_AGAIN_MS
        if found.off != self._gpus_off:
            self._gpus_off = found.off
            shown = ", ".join(map(str, found.off)) or "none"
            self._say(f"GPUs on which GPU time is not counted (accounting is off): {shown}")
        self._gpus.note(lease_id, found.rows, now_ms=now_ms)

    def _gpu_counts(self, lease_id: int) -> tuple[GpuCount, ...]:
        return tuple(
            GpuCount(each.index, each.active_ms, each.busy_ms, each.until_ms)
            for each in self._gpus.of(lease_id)
        )

    def _tell(self, counter: Counter, now_ms: int) -> None:
        lease_id, is_over = counter.lease_id, counter.to_ms is not None
        last_ms = self._told_ms.get(lease_id)
        if not is_over and last_ms is not None and 0 <= now_ms - last_ms < TELL_MS:
            return
        if not self._outbox.add(counter):
            return
        self._told_ms[lease_id] = now_ms
        if is_over:
            self._over.add(lease_id)
            self._peaks.pop(lease_id, None)
            self._told_ms.pop(lease_id, None)
            self._gpus.forget(lease_id)

    def _send(self) -> int:
        kept = 0
        while batch := self._outbox.batch():  # bounded: each round settles, or it is the last
            epoch = self._outbox.epoch
            events = [CounterEvent(epoch, number, counter) for number, counter in batch]
            receipt = self._book.take(self._node, events, now_ms=self._clock.now_ms())
            if receipt.epoch > epoch:
                self._begin_again(receipt.epoch)
                break
            before = batch[0][0]
            self._outbox.settle(epoch=receipt.epoch, acknowledged=receipt.acknowledged)
            if receipt.acknowledged <= before:
                break
            kept += receipt.acknowledged - before
        return kept

    def _begin_again(self, epoch: int) -> None:
        """An earlier life had a newer epoch (the clock went back): all is told once more."""
        self._outbox.settle(epoch=epoch, acknowledged=0)
        self._over.clear()
        self._told_ms.clear()

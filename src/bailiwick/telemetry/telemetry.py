"""All of it in one place: what a server process opens, attaches to its journal, and closes.

Rules:

- It can always be left out: who has none serves the same answers.
- Opening never fails for what it is made of; a folder that cannot be written is the one exception.
- Counters follow the journal from where it ends at the start; the index of records goes on
  from where it was, at most ``BACKLOG_MAX`` records behind.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from bailiwick.ports import JournalStore, Leader, StoredSnapshot, StoredStamp
from bailiwick.telemetry.local_table import LocalTable, TableLimits
from bailiwick.telemetry.logs import configure_logs
from bailiwick.telemetry.metrics import Gauges, Metrics
from bailiwick.telemetry.origins import Origins
from bailiwick.telemetry.rows import FoundRows, RecordRow
from bailiwick.telemetry.spans import Spans

FILE: Final = "telemetry.db"
BACKLOG_MAX: Final = 50_000
SETTLE_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTerms:
    """How the log is written; without these, logging is left as it is."""

    stream: TextIO | None = None
    level: int = logging.INFO
    pretty: bool | None = None


class Telemetry:
    """Logs, spans, metrics and the local table of one process."""

    def __init__(self, table: LocalTable, spans: Spans, *, handler: logging.Handler | None) -> None:
        self.table, self.spans, self.metrics = table, spans, Metrics()
        self.origins = Origins()
        self._handler = handler
        self.catch_up: Callable[[float], bool] = lambda wait_s: True
        """Whether all that is durable now was followed, within the time."""
        self._counted_from = 0
        self._told = 0

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        otlp: str | None = None,
        name: str = "one",
        logs: LogTerms | None = None,
        limits: TableLimits | None = None,
    ) -> Telemetry:
        """Begin, with the table in this folder."""
        table = LocalTable(folder / FILE, limits=limits)
        handler = None
        if logs is not None:
            handler = configure_logs(
                logs.stream, keep=table.put, level=logs.level, pretty=logs.pretty
            )
        return cls(table, Spans(table, otlp=otlp, name=name), handler=handler)

    def begin(self, size: int) -> int:
        """Where to follow a journal of this size from."""
        self._counted_from = size
        return min(size, max(self.table.last_seq + 1, size - BACKLOG_MAX))

    def follow(self, fact: Mapping[str, Any]) -> None:
        """One more record is durable."""
        self._index(fact)
        self.origins.follow(fact)
        if fact["seq"] >= self._counted_from:
            self.metrics.follow(fact)

    def watch_store(self, store: JournalStore) -> JournalStore:
        """The same store, with its commits timed."""
        return WatchedStore(store, self.metrics)

    def find(self, correlation_id: str) -> FoundRows:
        """All that is kept under a correlation id; it blocks for a moment."""
        self.catch_up(SETTLE_S)
        self.table.flush(SETTLE_S)
        return self.table.find(correlation_id)

    def expose(self, gauges: Gauges) -> bytes:
        """All metrics, as Prometheus reads them."""
        dropped = self.table.dropped
        self.metrics.count("bailiwick_telemetry_dropped_total", by=dropped - self._told)
        self._told = dropped
        return self.metrics.expose(gauges)

    def close(self) -> None:
        """Write and send what is left, and stop."""
        self.spans.close()
        self.table.close()
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)

    def _index(self, fact: Mapping[str, Any]) -> None:
        self.table.put(
            RecordRow(
                fact["correlation_id"],
                fact["seq"],
                fact["at_ms"],
                fact["kind"],
                fact["tenant"],
                fact["project"],
            )
        )


class WatchedStore:
    """A store whose commits are timed and whose failures are counted; all else is as it was.

    So are failovers: somebody leads when a replica is refused the lead, or commits, which a leader
    does all the time. From then to the first commit of the next leader may have been nobody.
    """

    def __init__(self, store: JournalStore, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._led_at: float | None = None
        self._takes_over = False

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep these records, and see how long that takes."""
        begun = time.perf_counter()
        try:
            self._store.append(epoch, first, lines, stamp=stamp)
        except BaseException:
            self._metrics.count("bailiwick_journal_append_failures_total")
            raise
        if self._takes_over and self._led_at is not None:
            self._metrics.observe("bailiwick_failover_seconds", time.perf_counter() - self._led_at)
        self._takes_over, self._led_at = False, begun
        if lines:
            self._metrics.observe("bailiwick_journal_append_seconds", time.perf_counter() - begun)
            self._metrics.observe("bailiwick_journal_append_records", len(lines))

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer."""
        asked = time.perf_counter()
        found = self._store.lead(name, address)
        self._takes_over = found is not None
        if found is None:
            self._led_at = asked
        return found

    def leader(self) -> Leader | None:
        """The last leader that was made."""
        return self._store.leader()

    def resign(self) -> None:
        """Let another lead."""
        self._store.resign()

    def clock_ms(self) -> int | None:
        """What time it is there."""
        return self._store.clock_ms()

    def size(self) -> int:
        """How many records there are."""
        return self._store.size()

    def read(self, first: int, limit: int) -> list[bytes]:
        """Lines from number ``first`` on."""
        return self._store.read(first, limit)

    def last_stamp(self, size: int) -> StoredStamp | None:
        """The newest stamp up to there."""
        return self._store.last_stamp(size)

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep this snapshot."""
        self._store.save_snapshot(snapshot)

    def snapshots(self) -> list[int]:
        """Sizes of the snapshots that are kept."""
        return self._store.snapshots()

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """That snapshot, or ``None``."""
        return self._store.load_snapshot(size)

    def close(self) -> None:
        """Let go of everything."""
        self._store.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)  # what a store has beyond the port (its history)

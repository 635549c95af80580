"""What the journal attributes to leases is compared with what was counted, and findings are sealed.

Rules:

- Only a leader compares. What was counted since the last time is compared at once, leases that run
  are looked at again now and then, and one that is over for good is settled.
- A finding is sealed once, by what it is about: lease, node and kind of difference. The journal
  itself tells what is sealed; the key of the command covers the moment before it is there. So a
  crash at any point seals it once.
- What a node says of leases that are not its own is one finding a day, however much it says: nobody
  can fill the journal that way. The same holds for one that contradicts itself.
- One call compares a bounded number; what could not be sealed is tried again the next time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bailiwick.journal.words import Severity
from bailiwick.kernel import Envelope, ReportFinding
from bailiwick.metering.counters import spell_counter
from bailiwick.metering.reconcile import (
    USUAL,
    Attributed,
    QuotaEvasion,
    Tolerance,
    UsageFinding,
    attribute,
    check_usage,
)
from bailiwick.metering.usage_words import FOREIGN, spell_finding, subject_of
from bailiwick.ports import Clock
from bailiwick.runtime.replica import Role
from bailiwick.runtime.runner import Runner
from bailiwick.store.counter_rows import ConflictRow, CounterBook, CounterRow
from bailiwick.store.finding_rows import FindingBook
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.errors import Conflict

ACTOR: Final = "usage-check"
CONFLICT: Final = "counter_conflict"
EVERY_S: Final = 2.0
AGAIN_MS: Final = 30_000
"""How often a lease that is not settled is looked at though nothing new was counted."""
SETTLE_MS: Final = 3_600_000
"""So long after its end a lease is settled, even if nobody said that its work is over."""
ROWS_MAX: Final = 200
DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageBooks:
    """What is compared, and what is known to be sealed."""

    counters: CounterBook
    meter: MeterBook
    findings: FindingBook


class UsageCheck:
    """The duty: ``once`` compares what is due and seals what differs."""

    name = "usage-check"

    def __init__(
        self, runner: Runner, books: UsageBooks, *, clock: Clock, tolerance: Tolerance = USUAL
    ) -> None:
        self._runner, self._books, self._clock = runner, books, clock
        self._tolerance = tolerance

    def run(self, stop: threading.Event) -> None:
        """Compare every now and then, until told to stop."""
        while not stop.wait(EVERY_S):
            self.once()

    def once(self) -> int:
        """Compare what is due; how many findings were sealed."""
        if self._runner.replica.role is not Role.LEADING:
            return 0
        counters, now_ms = self._books.counters, self._clock.now_ms()
        sealed = 0
        for conflict in counters.conflicts(ROWS_MAX):
            sealed += self._seal([seal_conflict(conflict)])
            counters.settle_conflict(conflict)
        rows = counters.due(now_ms=now_ms, again_ms=AGAIN_MS, limit=ROWS_MAX)
        if not rows:
            return sealed
        lease_ids = [row.counter.lease_id for row in rows]
        held = attribute(*self._books.meter.of_leases(lease_ids, now_ms))
        for row in rows:
            attributed = held.get(row.counter.lease_id)
            found = check_usage(attributed, row.counter, tolerance=self._tolerance)
            day = row.taken_ms // DAY_MS
            sealed += self._seal([seal_usage(each, attributed, day=day) for each in found])
            counters.note(row, now_ms=now_ms, is_settled=_is_settled(row, attributed, now_ms))
        return sealed

    def _seal(self, commands: Iterable[ReportFinding]) -> int:
        wanted = {(each.finding, each.subject): each for each in commands}
        if not wanted:
            return 0
        self._books.findings.advance()
        known = self._books.findings.known(wanted)
        for pair in sorted(wanted.keys() - known):
            key = "finding-" + sha256("\0".join(pair).encode()).hexdigest()
            with suppress(Conflict):  # it is sealed meanwhile, with the numbers of then
                self._runner.execute(Envelope(wanted[pair], ACTOR, key[:40], key))
        return len(wanted.keys() - known)


def _is_settled(row: CounterRow, attributed: Attributed | None, now_ms: int) -> bool:
    """Whether nothing new can come of comparing it again."""
    if attributed is None:
        return True
    if not attributed.is_over:
        return False
    return row.counter.to_ms is not None or now_ms - attributed.to_ms > SETTLE_MS


# -- as records ------------------------------------------------------------------------------


def seal_usage(finding: UsageFinding, attributed: Attributed | None, *, day: int) -> ReportFinding:
    """The command that seals a finding, with its numbers in the note."""
    counter = finding.counter
    if finding.what in FOREIGN:
        attributed = None  # whoever's lease it is has nothing to do with that
    is_evasion = isinstance(finding, QuotaEvasion)
    return ReportFinding(
        finding.word.value,
        Severity.HIGH if is_evasion else Severity.MEDIUM,
        subject_of(finding, day=day),
        sha256(spell_counter(counter)).hexdigest(),
        spell_finding(finding),
        None if attributed is None else attributed.tenant,
        None if attributed is None else attributed.project,
    )


def seal_conflict(row: ConflictRow) -> ReportFinding:
    """The command that seals that a source contradicted itself."""
    note = (
        f"event {row.sequence} of epoch {row.epoch} was sent with two contents; the first stands "
        f"({row.known[:16]}), the other does not count ({row.offered[:16]})"
    )
    subject = f"node:{row.source}/{row.day}"
    return ReportFinding(CONFLICT, Severity.MEDIUM, subject, row.offered, note)

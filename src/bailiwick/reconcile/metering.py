"""The meter is kept beside the journal, and what does not fit in it is sealed.

Rules:

- Only a leader keeps. What is not kept when it stops is folded again by the next.
- A finding is sealed before the records that it was found in are kept; a crash in between finds it
  again, and the same key seals it once.
"""

from __future__ import annotations

import threading

from bailiwick.journal.words import Severity
from bailiwick.kernel import Envelope, ReportFinding
from bailiwick.metering import MeterFinding
from bailiwick.runtime.runner import Runner
from bailiwick.store.meter_rows import MeterBook

ACTOR = "meter"
EVERY_S = 5.0


class KeepMeter:
    """The duty: every now and then, keep what was metered."""

    name = "meter"

    def __init__(self, runner: Runner, book: MeterBook, *, every_s: float = EVERY_S) -> None:
        self._runner, self._book, self._every_s = runner, book, every_s

    def run(self, stop: threading.Event) -> None:
        """Keep until told to stop, and once more then."""
        while not stop.wait(self._every_s):
            self.once()

    def once(self) -> int:
        """Seal what does not fit and keep the rest; how many records were kept."""
        for finding in self._book.findings():
            self._seal(finding)
        return self._book.keep()[0]

    def _seal(self, finding: MeterFinding) -> None:
        note = (
            f"record {finding.seq}: late by {finding.late_ms} ms, wanted {finding.wanted}, "
            f"found {finding.found}"
        )
        command = ReportFinding(finding.word.value, Severity.MEDIUM, finding.subject, note=note)
        key = f"meter-{finding.seq}-{finding.word.value}-{finding.subject}"[:128]
        self._runner.execute(Envelope(command, ACTOR, f"meter-{finding.seq}", key))

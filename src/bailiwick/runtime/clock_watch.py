"""Whether a replica may lead by its machine's clock: who is asked, how often, and what is said.

Rules:

- The timer is asked every time. The store's clock, if it has one, every ``COMPARE_MS``, and before
  a clock is found to be none to lead by. A wall clock that agrees with the store's is believed,
  whatever the timer says: somebody set it right, and whoever waits for a leader waits no longer.
  So is one that was behind the journal, and has come to where the journal is.
- What a follower tells is heard by whoever it passes a request on to.
- Who does not lead also compares with the journal: what would be a longer outage than
  ``outage_ms`` is taken for a wrong clock. ``bailiwick repair clock`` is the way past that.
- What is wrong is said once, and so is that it is right again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from bailiwick.kernel import State
from bailiwick.ports import JournalStore
from bailiwick.runtime.steady_clock import Against, Agreement, Agrees, Disagrees, SteadyClock
from bailiwick.vocab.errors import ClockJumped

COMPARE_MS = 5_000


class ClockWatch:
    """Compares one replica's clock with the others."""

    def __init__(self, clock: SteadyClock, store: JournalStore, name: str) -> None:
        self._clock, self._store, self._name = clock, store, name
        self._compared = -(2**62)
        self.agreement: Agreement = Agrees()
        """How the clock stood to the others when it was last looked at."""

    @property
    def error(self) -> ClockJumped | None:
        """What those are told who ask a replica that may not lead."""
        found = self.agreement
        if isinstance(found, Agrees) or not found.forbids_leading:
            return None
        return ClockJumped(found.wall_ms, found.other_ms, found.most_ms)

    def may_lead(self, state: State, *, leads: bool, warn: Callable[[str], None]) -> bool:
        """Whether the clock is one to lead by."""
        self._clock.drift_ms = state.settings.clock_drift_ms
        self._clock.go_on_from(state.clock_ms)
        found = self._compare()
        if not leads and (isinstance(found, Agrees) or not found.forbids_leading):
            found = self._against_journal(state) or found
        self._tell(found, warn)
        self.agreement = found
        return self.error is None

    def _compare(self) -> Agreement:
        clock = self._clock
        is_due = clock.elapsed_ms() - self._compared >= COMPARE_MS
        if is_due:
            self._ask_store()
        found = clock.agreement()
        if isinstance(found, Agrees) or not found.forbids_leading:
            return found
        clock.believe_journal()
        if not is_due:
            self._ask_store()
        return clock.agreement()

    def _ask_store(self) -> None:
        clock = self._clock
        self._compared = asked_ms = clock.elapsed_ms()
        told_ms = self._store.clock_ms()
        if told_ms is not None:
            clock.hear(Against.STORE, told_ms, asked_ms=asked_ms)
            if abs(clock.wall_ms() - told_ms) <= clock.drift_ms:
                clock.believe_wall()

    def _against_journal(self, state: State) -> Disagrees | None:
        """The time since the journal was last written, if that was too long for an outage."""
        clock, most_ms, last_ms = self._clock, state.settings.outage_ms, state.clock_ms
        if last_ms and clock.now_ms() - last_ms > most_ms >= clock.wall_ms() - last_ms:
            clock.believe_wall()  # it was wrong when it was last believed, and was set right
        if not last_ms or clock.now_ms() - last_ms <= most_ms:
            return None
        return Disagrees(Against.JOURNAL, clock.now_ms(), last_ms, most_ms)

    def _tell(self, found: Agreement, warn: Callable[[str], None]) -> None:
        before = self.agreement
        match found:
            case Agrees():
                if isinstance(before, Disagrees):
                    warn(f"the clock of {self._name} agrees with the others again")
            case Disagrees():
                if isinstance(before, Disagrees) and before.against is found.against:
                    return
                where = "ahead of" if found.by_ms > 0 else "behind"
                then = ": it does not lead" if found.forbids_leading else ""
                by_ms, against = abs(found.by_ms), found.against
                warn(f"the clock of {self._name} is {by_ms} ms {where} the {against}{then}")
            case _:
                assert_never(found)

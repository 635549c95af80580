"""Nodes that fell silent are recorded as departed, so that what they held is placed again.

Rules:

- Only a leader judges. A replica that follows listens anew, so that nobody is gone merely because
  the leader changed.
- What is recorded is the last proof of life, by the actor ``liveness``. A node that is heard again
  reports itself and joins anew.
- One call records a bounded number; what could not be recorded is tried again the next time.
"""

from __future__ import annotations

import threading

from bailiwick.fleet.node import HEARTBEAT_LABEL
from bailiwick.kernel import DepartNode, Envelope
from bailiwick.runtime.replica import Role, View
from bailiwick.runtime.runner import Runner
from bailiwick.services.beats import Beats
from bailiwick.vocab.errors import Deposed, NotFound, NotLeader, Unavailable
from bailiwick.vocab.values import check_integer

ACTOR = "liveness"
DEPARTURES_MAX = 100
"""Departures that one call records."""


class Departures:
    """The loop's body: ``once`` is to be called more often than a node beats."""

    def __init__(self, runner: Runner, beats: Beats, *, most: int = DEPARTURES_MAX) -> None:
        self._runner, self._beats = runner, beats
        self._every_s = beats.rule.beat_ms / 10_000
        self._most = check_integer("most", most, low=1, high=10**6)

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "departures"

    def run(self, stop: threading.Event) -> None:
        """Look every now and then, until told to stop."""
        self.expect_reporters()
        while not stop.wait(self._every_s):
            self.once()

    def expect_reporters(self) -> None:
        """Have every node that reports by itself be missed if it is not heard from now on.

        Else one that died while nobody led would stay for ever. Of such a one the last proof of
        life is the last thing that was written before.
        """

        def reporters(view: View) -> list[str]:
            entries = view.state.ledger.entries.values()
            return [str(e.id) for e in entries if HEARTBEAT_LABEL in e.capacity.labels]

        before_ms = self._runner.replica.before_ms
        for node in self._runner.read(reporters):
            self._beats.expect(node, last_seen_ms=before_ms)

    def once(self) -> tuple[str, ...]:
        """Record who is gone; the nodes that were."""
        replica, beats = self._runner.replica, self._beats
        if replica.role is not Role.LEADING:
            beats.listen_anew()
            return ()
        gone = []
        for each in beats.depart(replica.clock.elapsed_ms())[: self._most]:
            command = DepartNode(each.node, each.last_seen_ms)
            try:
                self._runner.execute(Envelope(command, ACTOR, f"silent-{each.node}"))
            except NotFound:
                pass  # it left in another way
            except (NotLeader, Deposed, Unavailable):
                break
            else:
                gone.append(each.node)
            beats.forget(each.node)
        return tuple(gone)

"""Tests the machine when it is told to: every check, and a burn-in of each GPU.

Rules:

- An order comes with the answer to a heartbeat, as long as it is wanted. It is carried out once,
  beside the heartbeats; what it found is told until that was heard.
- What the driver reported before a test does not count in it: who repaired the machine knows it.
- A test that is not wanted any more is stopped, and the next one begins anew.
- A burn-in that breaks off, or cannot begin, fails the test: nobody may take it for one that found
  nothing.
- The burn-in comes first, then a look at everything: what it brought to light is seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from bailiwick.agent.dividing import NotWanted
from bailiwick.agent.health.burn_in import BurnIn, BurnInGpu
from bailiwick.agent.health.cuda import UNKNOWN
from bailiwick.agent.health.watching import (
    Findings,
    HealthServer,
    HealthWatch,
    TooSoon,
    spell_finding,
)
from bailiwick.vocab.health import FINDINGS_MAX, HealthCheck, HealthFinding, HealthLevel

STOP_S = 2.0
_BROKEN = HealthFinding(HealthCheck.BURN_IN, HealthLevel.FAIL, value=1, code=UNKNOWN)


class BurnInThread:
    """A burn-in that goes on beside the heartbeats."""

    def __init__(
        self, burn_in: BurnIn, gpus: tuple[BurnInGpu, ...], *, say: Callable[[str], None]
    ) -> None:
        self._stop, self._say = threading.Event(), say
        self._found: Findings = (_BROKEN,)  # until it has come to its end
        self._thread = threading.Thread(
            target=self._run, args=(burn_in, gpus), name="burn-in", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:  # no room for one more thread: it is not begun
            say(f"the burn-in cannot begin: {error}")

    def _run(self, burn_in: BurnIn, gpus: tuple[BurnInGpu, ...]) -> None:
        try:
            self._found = burn_in.run(gpus, self._stop)
        except Exception as error:  # whatever it was: what broke off has proven nothing
            self._say(f"the burn-in broke off: {error}")

    def poll(self) -> Findings | None:
        """What it found, once it is over."""
        return None if self._thread.is_alive() else self._found

    def stop(self) -> None:
        """End it soon."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_S)


@dataclass(slots=True)
class _Test:
    """One order: since when it is carried out, and what was found."""

    test_id: int
    began_ms: int
    burning: BurnInThread
    found: Findings | None = None
    took_ms: int = 0
    is_over: bool = False


@dataclass(slots=True)
class NodeTesting:
    """Tests one machine."""

    watch: HealthWatch
    burn_in: BurnIn
    now_ms: Callable[[], int]
    say: Callable[[str], None]
    _test: _Test | None = field(default=None)

    def turn(self, node: str, server: HealthServer, *, test_id: int | None) -> None:
        """Begin what was ordered, or tell what it found; stop what nobody wants any more."""
        test = self._test
        if test is not None and test.test_id != test_id:
            test.burning.stop()
            test = self._test = None
        if test_id is None:
            return
        if test is None:
            test = self._test = self._begin(test_id)
        burnt = test.burning.poll()
        if burnt is None or test.is_over:
            return
        if test.found is None:
            told = sorted((*burnt, *self.watch.look()), key=lambda each: each.order)
            test.found = tuple(told[:FINDINGS_MAX])
            test.took_ms = max(0, self.now_ms() - test.began_ms)
        self._tell(node, server, test)

    def _begin(self, test_id: int) -> _Test:
        self.say(f"the machine is tested (test {test_id})")
        self.watch.look()  # also takes what the driver still kept of before
        self.watch.forget_xids()
        gpus = self.watch.to_burn_in()
        return _Test(test_id, self.now_ms(), BurnInThread(self.burn_in, gpus, say=self.say))

    def _tell(self, node: str, server: HealthServer, test: _Test) -> None:
        found = test.found or ()
        try:
            server.tell_tested(node, test.test_id, findings=found, took_ms=test.took_ms)
        except TooSoon:
            return
        except NotWanted as error:
            self.say(f"nobody wants to know what the test found: {error}")
        else:
            for each in found:
                self.say(spell_finding(each))
            fails = sum(each.level is HealthLevel.FAIL for each in found)
            self.say(f"the test is over: {fails} failed" if fails else "the test is passed")
        test.is_over = True


@dataclass(slots=True)
class MachineHealth:
    """What a heartbeat has to do with health: watching, and tests."""

    watch: HealthWatch
    testing: NodeTesting

    def turn(self, node: str, server: HealthServer, *, test_id: int | None) -> None:
        """Test what is ordered, and tell what has changed."""
        self.testing.turn(node, server, test_id=test_id)
        self.watch.turn(node, server)

    def reported(self, *, missing: int) -> None:
        """The machine was reported anew: the server may know nothing of its health.

        Its node is known with so many GPUs that were not found for that.
        """
        self.watch.tell_again(missing=missing)

    def let_go(self) -> None:
        """Hold no GPU open."""
        self.watch.let_go()


@dataclass(slots=True)
class NoHealth:
    """What a heartbeat has to do with health where nobody looks: that no test is owed is told."""

    say: Callable[[str], None]
    _is_told: bool = False

    def turn(self, node: str, server: HealthServer, *, test_id: int | None) -> None:
        """Say that the machine cannot be tested, once after each report of it."""
        del test_id
        if self._is_told:
            return
        try:
            server.tell_health(node, (), can_test=False)
        except TooSoon:
            return
        except NotWanted as error:
            self.say(f"the server does not want to know that nobody looks: {error}")
        self._is_told = True

    def reported(self, *, missing: int) -> None:
        """The machine was reported anew: the server may know nothing."""
        del missing
        self._is_told = False

    def let_go(self) -> None:
        """Nothing is held open."""

"""Looks at the machine now and then, and tells the server what is wrong with it when that changes.

Rules:

- The whole of what is wrong is told, once: at the start, after each report of the machine, and when
  a finding comes, goes or changes its level. Numbers that only move are not told again.
- A server that does not want to know (an older one) is asked again only after the next report; one
  that has heard enough for now, with the next beat.
- Whoever has to change the GPUs has the watch let go of them first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bailiwick.agent.dividing import NotWanted
from bailiwick.agent.health.burn_in import BurnInGpu
from bailiwick.agent.health.judge import HealthMemory, HealthReadings, judge_health
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.words import SourceState
from bailiwick.vocab.health import HealthFinding

Findings = tuple[HealthFinding, ...]


class TooSoon(Exception):
    """The server has heard enough of this machine for now: it is told again later."""


class HealthServer(Protocol):
    """What watching and testing want of a server."""

    def tell_health(self, node: str, findings: Findings, *, can_test: bool) -> None:
        """Say all that is wrong. Raises ``Away``, ``NotWanted`` or ``TooSoon``."""

    def tell_tested(self, node: str, test_id: int, *, findings: Findings, took_ms: int) -> None:
        """Say what a test found. Raises ``Away``, ``NotWanted`` or ``TooSoon``."""


class GpuWatch(Protocol):
    """The GPUs, as far as their health goes."""

    def read(self) -> Mapping[str, Any]:
        """How they are."""

    def busy(self, uuids: Sequence[str]) -> dict[str, int | None]:
        """How many processes compute on each."""

    def close(self) -> None:
        """Let go of them."""


@dataclass(slots=True)
class HealthWatch:
    """Watches one machine; ``now_ms`` is a clock that never goes back."""

    gpus: GpuWatch
    disks: Callable[[], Sequence[Mapping[str, Any]]]
    clock: Callable[[], Mapping[str, Any] | None]
    now_ms: Callable[[], int]
    say: Callable[[str], None]
    limits: HealthLimits = field(default_factory=HealthLimits)
    jobs: Callable[[], int | None] = lambda: None
    """Of how many jobs something is on this machine, if anybody can say."""
    can_test: bool = True
    """Whether it stays long enough to be tested."""
    _missing: int = 0
    """GPUs that the node is known with, and that the machine was not reported with."""
    _memory: HealthMemory = field(default_factory=HealthMemory)
    _read: Mapping[str, Any] = field(default_factory=dict)
    _found: Findings = ()
    _looked_ms: int | None = None
    _told: frozenset[object] | None = None

    def turn(self, node: str, server: HealthServer) -> None:
        """Look, if it is time, and tell what has changed."""
        now = self.now_ms()
        if self._looked_ms is None or now - self._looked_ms >= self.limits.look_every_ms:
            self.look()
        mark = frozenset((each.check, each.level, each.gpu, each.code) for each in self._found)
        if mark == self._told:
            return
        try:
            server.tell_health(node, self._found, can_test=self.can_test)
        except TooSoon:
            return
        except NotWanted as error:
            self.say(f"the server does not want to know how the machine is: {error}")
        else:
            for line in map(spell_finding, self._found):
                self.say(line)
            if self._told and not self._found:
                self.say("nothing is wrong with the machine any more")
        self._told = mark

    def look(self) -> Findings:
        """What is wrong now."""
        self._looked_ms = self.now_ms()
        self._read = self.gpus.read()
        jobs = self.jobs()  # before the disks: of one that goes meanwhile nothing is blamed on them
        told = self.disks(), self.clock(), self._looked_ms
        readings = HealthReadings(self._read, *told, jobs, self._missing)
        self._found, self._memory = judge_health(readings, self.limits, memory=self._memory)
        return self._found

    @property
    def state(self) -> SourceState:
        """How asking for GPUs went."""
        return SourceState(self._read.get("state", SourceState.ABSENT.value))

    @property
    def gpu_count(self) -> int:
        """How many GPUs the driver counts."""
        return len(self._read.get("devices") or ())

    def tell_again(self, *, missing: int) -> None:
        """The server may have forgotten: what is wrong is told with the next turn.

        It knows the node with so many GPUs that are not there; if those are others than before, it
        is looked at once.
        """
        if missing != self._missing:
            self._missing, self._looked_ms = missing, None
        self._told = None

    def forget_xids(self) -> None:
        """What was reported so far does not count any more: the machine is tested."""
        self._memory = self._memory.forget_xids()

    def to_burn_in(self) -> tuple[BurnInGpu, ...]:
        """The GPUs that can be burnt in: those that answer, and are whole."""
        places, listed = self._memory.places, self._read.get("devices") or ()
        divided = {device.get("uuid") for device in listed if (device.get("mig") or [0])[0] == 1}
        answering = {device.get("uuid") for device in listed} - divided
        busy = self.gpus.busy([uuid for uuid in places if uuid in answering])
        return tuple(
            BurnInGpu(place, uuid, busy[uuid])
            for place, uuid in enumerate(places)
            if uuid in answering
        )

    def let_go(self) -> None:
        """Hold no GPU open; the next look begins anew."""
        self.gpus.close()


def spell_finding(found: HealthFinding) -> str:
    """A finding in a line for the machine's own log.

    >>> from bailiwick.vocab.health import HealthCheck, HealthLevel
    >>> spell_finding(HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, 3, 2, 0))
    'health: fail: ecc on GPU 3: memory errors that could not be corrected (2, at most 0)'
    """
    where = "" if found.gpu is None else f" on GPU {found.gpu}"
    code = f", code {found.code}" if found.code else ""
    numbers = f"{found.value}, at most {found.limit}{code}"
    what = f"{found.check.value}{where}: {found.check.human_summary()}"
    return f"health: {found.level.value}: {what} ({numbers})"

"""The agent's loop: report what the machine has, then say again and again that it lives.

Rules:

- It reports, beats, counts, proves itself and tells what is wrong with it; it executes nothing, and
  learns nothing from the server but how often to, how far it was heard, which nonce to answer, into
  what to divide its GPUs while nobody uses them, and when to test itself.
- A server that is away is tried again after a pause that doubles up to a bound; once it is back the
  inventory is reported anew, because it may have forgotten the node.
- A report that is not taken (the machine has changed) is told, and the node goes on as it is known.
  GPUs that it is known with and that are not there are for its health to tell: no agent's memory
  outlives a restart, and the node's inventory does. Until they are back it is looked for them.
- Whoever calls hands in the server, the waiting and the reading, so a test needs no time at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bailiwick.agent.attestation import NodeAttestation, TrustServer
from bailiwick.agent.counting import CounterServer, LeaseCounting
from bailiwick.agent.dividing import GpuDividing, GpuOrder, MigServer
from bailiwick.agent.health.testing import MachineHealth, NoHealth
from bailiwick.agent.health.watching import HealthServer
from bailiwick.fleet.inventory import is_same_machine
from bailiwick.fleet.node import NodeCapacity

BEAT_MS: Final = 10_000
BEAT_MS_LEAST, BEAT_MS_MOST = 1_000, 60_000
PAUSE_S_LEAST, PAUSE_S_MOST = 1.0, 60.0
REREAD_BEATS: Final = 60
"""After so many beats the inventory is read again."""


class Away(Exception):
    """The server cannot be reached now, or cannot answer now."""


class NotTaken(Exception):
    """The report is refused for good: the node is known with another inventory.

    ``gpus`` are the models that it is known with, in their order, if that is told.
    """

    def __init__(self, message: str, gpus: tuple[str, ...] | None = None) -> None:
        super().__init__(message)
        self.gpus = gpus


class NotKnown(Exception):
    """The server does not know the node (any more)."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A beat was heard: the milliseconds to the next, and what the node is to answer, if at all."""

    beat_ms: int
    nonce: bytes | None = None
    order: GpuOrder | None = None
    """What is to be made of its GPUs, if anything is."""
    test_id: int | None = None
    """The test that it is to carry out, if any."""


class Server(CounterServer, TrustServer, MigServer, HealthServer, Protocol):
    """What the loop wants of a server."""

    def report(self, node: str, capacity: NodeCapacity) -> None:
        """Have the machine be a node. Raises ``Away`` or ``NotTaken``."""

    def beat(self, node: str) -> Heard:
        """Say that it lives. Raises ``Away`` or ``NotKnown``."""


@dataclass(slots=True)
class Beating:
    """One machine's loop; ``wait`` sleeps and says whether to stop, ``say`` tells an operator."""

    node: str
    server: Server
    read: Callable[[], NodeCapacity]
    wait: Callable[[float], bool]
    say: Callable[[str], None]
    counting: LeaseCounting | None = None
    """Counts what leases use, after each beat."""
    attesting: NodeAttestation | None = None
    """Proves which machine this is, when it is asked."""
    dividing: GpuDividing | None = None
    """Divides its GPUs, when it is told to."""
    health: MachineHealth | NoHealth | None = None
    """Looks what is wrong with it, and tests it when it is told to."""
    _reported: NodeCapacity | None = None
    _known: Sequence[str] = ()
    """The models of the GPUs that the node is known with, in their order."""
    _missing: int = 0
    """How many of them were not found for the last report."""
    _beats: int = 0
    _pause_s: float = 0.0

    def run(self) -> None:
        """Go on until ``wait`` says to stop."""
        while not self.wait(self._turn()):  # until told to stop
            pass

    def run_once(self) -> bool:
        """One report and one beat; whether it was heard."""
        self._turn()
        if self._reported is None and not self._pause_s:  # known no more: once again, with a report
            self._turn()
        return self._beats > 0

    def _turn(self) -> float:
        """One report (where needed) and one beat; the seconds until the next."""
        try:
            self._report()
            heard = self.server.beat(self.node)
            self._divide(heard)
            if self.health is not None and heard.order is None:
                self.health.turn(self.node, self.server, test_id=heard.test_id)
            if self.attesting is not None:
                self.attesting.turn(self.node, self.server, asked=heard.nonce)
            if self.counting is not None:
                self.counting.turn(self.node, self.server)
        except Away as error:
            return self._away(error)
        except NotKnown:
            self.say(f"the server does not know {self.node}: it is reported again")
            self._reported = None
            return PAUSE_S_LEAST
        if self._pause_s:
            self.say("the server is back")
            self._pause_s = 0.0
        self._beats += 1
        return min(max(heard.beat_ms, BEAT_MS_LEAST), BEAT_MS_MOST) / 1000

    def _divide(self, heard: Heard) -> None:
        if self.dividing is None:
            return
        if self.health is not None and heard.order is not None:
            self.health.let_go()  # a driver changes nothing on a GPU that somebody holds open
        became = self.dividing.turn(self.node, self.server, order=heard.order, known=self._known)
        if became is not None:
            self._is_known(became, models_of(became))

    def _report(self) -> None:
        is_due = self._missing or self._beats % REREAD_BEATS == 0
        if self._reported is not None and not is_due:
            return
        found = self.read()
        if self._reported is not None and is_same_machine(found, self._reported):
            return
        known = None
        try:
            self.server.report(self.node, found)
            self.say(f"{self.node} is reported: {spell(found)}")
        except NotTaken as error:
            self.say(f"{self.node} stays as it is known: {error}")
            known = error.gpus
        self._is_known(found, models_of(found) if known is None else known)

    def _is_known(self, found: NodeCapacity, models: Sequence[str]) -> None:
        """The machine is like this, and its node is known with these GPUs."""
        self._reported, self._known = found, models
        self._missing = count_missing(models, found)
        if self.health is not None:
            self.health.reported(missing=self._missing)

    def _away(self, error: Away) -> float:
        if not self._pause_s:
            self.say(f"the server is away, it is tried again: {error}")
        self._pause_s = min(max(2 * self._pause_s, PAUSE_S_LEAST), PAUSE_S_MOST)
        self._reported = None
        return self._pause_s


def models_of(machine: NodeCapacity) -> tuple[str, ...]:
    """The models of a machine's GPUs, in their order."""
    return tuple(gpu.model for gpu in machine.gpus)


def count_missing(known: Sequence[str], found: NodeCapacity) -> int:
    """How many GPUs of these models a machine lacks; one that is known without its model is any.

    >>> from bailiwick.fleet.node import GpuDevice
    >>> machine = NodeCapacity(8, 2**34, gpus=[GpuDevice.named("NVIDIA H100")] * 3)
    >>> [count_missing(known, machine) for known in (["NVIDIA H100"] * 4, ["NVIDIA H100"] * 2)]
    [1, 0]
    >>> count_missing(["NVIDIA H200", "", ""], machine)
    1
    """
    others = Counter(model for model in known if model) - Counter(models_of(found))
    return max(others.total(), len(known) - len(found.gpus))


def spell(found: NodeCapacity) -> str:
    """A machine in a few words."""
    gpus = len(found.gpus)
    return f"{found.cpu_milli / 1000:g} cores, {found.mem_bytes >> 30} GiB, {gpus} GPUs"

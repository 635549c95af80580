"""A kernel with a clock and a memory of its lines, for tests: commands in, answers out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Record, parse_record
from bailiwick.kernel import (
    Answer,
    ChangeSettings,
    Command,
    Envelope,
    Granted,
    Kernel,
    Queued,
    Refused,
    RegisterNode,
    State,
    Submit,
    Tick,
    digest_of,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import HardwareGeneration, Priority
from tests.support.wide_open import wide_settings

HOPPER = HardwareGeneration.NVIDIA_HOPPER
TTL_MS = 10_000


def ask(tenant: str = "lab", **terms: Any) -> PlacementRequest:
    """A request for one core for ten seconds, unless told otherwise."""
    if not {"cpu_cores", "mem_bytes", "gpu_count", "gpu_milli"} & terms.keys():
        terms["cpu_cores"] = 1
    return PlacementRequest(**{"tenant": tenant, "ttl_ms": TTL_MS, **terms})


def cores(count: int, *, gpus: int = 0, **more: Any) -> NodeCapacity:
    """A machine of so many cores and GPUs."""
    return NodeCapacity(count, 10**6, gpus=(GpuDevice(HOPPER),) * gpus, **more)


class Desk:
    """One kernel, what it was told, and the lines it sealed."""

    def __init__(self, *, engine: str = "auto", nodes: Iterable[NodeCapacity] = (), **how: Any):
        self.kernel = Kernel(State(engine=engine), simulated=True)
        self.lines: list[bytes] = []
        self.told: tuple[bytes, ...] = ()
        self.now_ms = 1_000
        self.do(ChangeSettings(wide_settings(**how)))
        for number, capacity in enumerate(nodes, 1):
            self.do(RegisterNode(f"n{number}", capacity))

    @property
    def state(self) -> State:
        """The kernel's state."""
        return self.kernel.state

    @property
    def digest(self) -> str:
        """The state's digest."""
        return digest_of(self.kernel.state)

    def do(self, command: Command, **envelope: Any) -> Answer:
        """Have a command decided now."""
        outcome = self.kernel.execute(Envelope(command, **envelope), self.now_ms)
        self.told = outcome.lines
        self.lines.extend(outcome.lines)
        return outcome.answer

    def at(self, now_ms: int) -> Desk:
        """The same desk at another time."""
        self.now_ms = now_ms
        return self

    def tick(self, now_ms: int | None = None, *, limit: int = 1_000) -> list[str]:
        """Let time pass; the kinds of record that follow."""
        if now_ms is not None:
            self.now_ms = now_ms
        self.do(Tick(limit))
        return self.kinds

    def lease(self, tenant: str = "lab", **terms: Any) -> int:
        """A lease that starts at once."""
        answer = self.do(Submit(ask(tenant, **terms)))
        assert isinstance(answer, Granted), answer
        return answer.lease_ids[0]

    def gang(self, size: int, tenant: str = "lab", **terms: Any) -> tuple[int, ...]:
        """The leases of a gang that starts at once."""
        answer = self.do(Submit(ask(tenant, gang_size=size, **terms)))
        assert isinstance(answer, Granted), answer
        return answer.lease_ids

    def wait(self, tenant: str = "lab", **terms: Any) -> int:
        """An entry that has to wait."""
        answer = self.do(Submit(ask(tenant, **terms)))
        assert isinstance(answer, Queued), answer
        return answer.entry_id

    def beside(self, tenant: str = "lab", **terms: Any) -> Granted | Refused:
        """What a request that will not wait is answered."""
        answer = self.do(Submit(ask(tenant, **terms), wait=False))
        assert isinstance(answer, Granted | Refused), answer
        return answer

    def refuses(self, error: type[BailiwickError], command: Command, **envelope: Any) -> str:
        """The command raises this error and changes nothing; what the error says."""
        before, size = self.digest, self.kernel.chain.size
        with pytest.raises(error) as caught:
            self.do(command, **envelope)
        assert type(caught.value) is error
        assert self.digest == before
        assert self.kernel.chain.size == size == len(self.lines)
        return str(caught.value)

    @property
    def records(self) -> list[Record]:
        """Every record so far."""
        return [parse_record(line[:-1]) for line in self.lines]

    @property
    def last(self) -> list[Record]:
        """The records of the last command."""
        return [parse_record(line[:-1]) for line in self.told]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the last command's records."""
        return [str(record.kind) for record in self.last]

    def of_kind(self, kind: str) -> list[Record]:
        """Every record of one kind."""
        return [record for record in self.records if record.kind == kind]

    def replayed(self, *, engine: str = "auto") -> Kernel:
        """Another kernel that only reads the lines."""
        kernel = Kernel(State(engine=engine), simulated=True)
        kernel.follow(self.records, self.kernel.chain.anchor())
        return kernel

    def free_cores(self, node: str = "n1") -> int:
        """Cores that nobody holds."""
        return self.state.ledger.node(node).free.cpu_milli // 1000

    def phase(self, lease_id: int) -> str:
        """How far the lease's end has come."""
        return str(self.state.phase(lease_id))


HIGH, CRITICAL, LOW = Priority.HIGH, Priority.CRITICAL, Priority.LOW


def started(d: Desk) -> list[int | None]:
    """The entries whose leases began in the last command."""
    return [r.body.get("entry_id") for r in d.last if r.kind == "admission_approved"]

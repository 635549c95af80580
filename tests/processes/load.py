"""Callers that never stop: each a thread with keys, and a list of what it was told.

What is in ``told`` was acknowledged, so it must be in the journal for ever. A call that fails for
good in a way it may (a lease that has ended) is told as its code.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.processes.caller import CallFailed, HttpCaller
from tests.support.waiting import WAIT_S

CPU, MEM = 8_000, 64 << 30
NODES = 6
GENERATION = "nvidia_hopper"
ACTOR = "admin"
"""Whose session all of them use."""


def node_command(name: str) -> dict[str, Any]:
    """A small machine with two devices."""
    gpus = 2
    inventory = {
        "resources": {"cpu_milli": CPU, "mem_bytes": MEM, "gpu_milli": 1000 * gpus},
        "gpu_generations": [GENERATION] * gpus,
        "gpu_vram_bytes": [80 << 30] * gpus,
        "gpu_models": ["H100"] * gpus,
        "gpu_fabrics": [""] * gpus,
        "gpu_partitionable": [1] * gpus,
    }
    return {"command": "register_node", "node": name, "inventory": inventory}


def submit_command(chance: random.Random, tenant: str = "lab") -> dict[str, Any]:
    """A request for a little of a node; some want a part of a device, some end by themselves."""
    resources = {"cpu_milli": chance.randint(1, 4) * 500, "mem_bytes": chance.randint(1, 8) << 30}
    request: dict[str, Any] = {"priority": "normal", "lease_class": "standard"}
    if chance.random() < 0.4:
        milli = chance.choice((250, 500, 1000))
        resources["gpu_milli"] = milli
        request |= {"gpu_count": 1} if milli == 1000 else {"gpu_milli": milli}
    if chance.random() < 0.3:
        request["ttl_ms"] = chance.choice((100, 400, 1500))
    request["resources"] = resources
    return {
        "command": "submit",
        "tenant": tenant,
        "wait": chance.random() < 0.7,
        "request": request,
    }


@dataclass
class Told:
    """One call that came back."""

    actor: str
    key: str
    command: dict[str, Any]
    answer: dict[str, Any] = field(default_factory=dict)
    error: str = ""


class Caller(threading.Thread):
    """One thread of load."""

    def __init__(self, addresses: Sequence[str], token: str, *, name: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self._chance = random.Random(seed)
        self._client = HttpCaller(addresses, token, attempt_s=10)
        self._held: list[int] = []
        self._stopping = threading.Event()
        self._number = 0
        self.told: list[Told] = []
        self.fault: BaseException | None = None

    def stop(self) -> None:
        """Ask nothing new; the call under way is finished first."""
        self._stopping.set()

    def run(self) -> None:
        """Call until stopped."""
        try:
            while not self._stopping.is_set():
                self._once()
        except BaseException as error:
            self.fault = error
        finally:
            self._client.close()

    def _once(self) -> None:
        self._number += 1
        told = Told(ACTOR, f"{self.name}-{self._number}", self._command())
        try:
            told.answer = self._client.call(told.command, key=told.key)
        except CallFailed as error:
            if error.retryable and error.code != "stale":
                raise  # nobody answered at all
            told.error = error.code
        self._held.extend(told.answer.get("lease_ids", ()))
        if len(self._held) > 12:
            del self._held[: len(self._held) - 12]
        self.told.append(told)

    def _command(self) -> dict[str, Any]:
        what = self._chance.random()
        if self._held and what < 0.4:
            lease_id = self._held.pop(self._chance.randrange(len(self._held)))
            return {"command": "release", "lease_id": lease_id}
        if self._held and what < 0.55:
            lease_id = self._chance.choice(self._held)
            return {"command": "renew", "lease_id": lease_id, "ttl_ms": 3_600_000}
        return submit_command(self._chance)


class Load:
    """Several callers; ``with`` it."""

    def __init__(
        self, addresses: Sequence[str], token: str, *, seed: int, callers: int = 4
    ) -> None:
        self._addresses, self._token = list(addresses), token
        chance = random.Random(seed)
        self._callers = []
        for number in range(callers):
            order = chance.sample(self._addresses, len(self._addresses))
            name, grain = f"caller-{number}", seed * 100 + number
            self._callers.append(Caller(order, token, name=name, seed=grain))

    @property
    def told(self) -> list[Told]:
        """Everything acknowledged so far."""
        return [told for caller in self._callers for told in list(caller.told)]

    def has_more_than(self, count: int) -> bool:
        """Whether more than so many calls came back by now."""
        return len(self.told) > count

    def __enter__(self) -> Load:
        with HttpCaller(self._addresses, self._token) as client:
            for number in range(NODES):
                name = f"node-{number}"
                client.call(node_command(name), key=name)
        for caller in self._callers:
            caller.start()
        return self

    def __exit__(self, *raised: object) -> None:
        for caller in self._callers:
            caller.stop()
        for caller in self._callers:
            caller.join(2 * WAIT_S)
            assert not caller.is_alive(), f"{caller.name} still waits for an answer"

    def check(self) -> None:
        """Nobody met what should never be met."""
        for caller in self._callers:
            if caller.fault is not None:
                raise caller.fault
        odd = {t.error for t in self.told} - {"", "not_found", "conflict", "illegal_transition"}
        assert not odd, odd

"""A gateway to a kernel in this very thread, and callers of services over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from bailiwick.iam import FLEET, Permission, PrincipalKind, Scope
from bailiwick.iam import Role as Duty
from bailiwick.kernel import Answer, Command, Envelope, Kernel
from bailiwick.kernel.events import Event
from bailiwick.kernel.slices import decide
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import Role, View
from bailiwick.runtime.state_copy import copy_of
from bailiwick.services.authority import Principal
from bailiwick.services.caller import Caller

T = TypeVar("T")


class Behind(Clock, Protocol):
    """A kernel and the time it is there."""

    kernel: Kernel

    @property
    def role(self) -> Role:
        """What the replica is."""


class KernelGateway(Gateway):
    """Answers at once; every command is kept."""

    def __init__(self, behind: Behind) -> None:
        self._behind = behind
        self.told: list[Command] = []

    @property
    def role(self) -> Role:
        """What the replica is."""
        return self._behind.role

    @property
    def view(self) -> View:
        """The state now."""
        return View(self._behind.kernel.state, self._behind.now_ms(), 0, self.role)

    async def execute(self, envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        """The answer of the kernel."""
        self.told.append(envelope.command)
        return self._behind.kernel.execute(envelope, self._behind.now_ms()).answer

    async def read(self, read: Callable[[View], T]) -> T:
        """What ``read`` makes of the state."""
        return read(self.view)

    async def lookup(self, find: Callable[[View], T]) -> T:
        """What ``find`` makes of the state."""
        return find(self.view)

    async def copied(self, use: Callable[[bytes, int], T]) -> T:
        """What ``use`` makes of a copy of the state."""
        return use(copy_of(self.view.state), self._behind.now_ms())

    async def rehearse(self, command: Command) -> Event | None:
        """What would happen first."""
        state = self._behind.kernel.state
        return next(iter(decide(state, command, self._behind.now_ms())), None)


def caller_of(
    gateway: Gateway,
    clock: Clock,
    *,
    permission: Permission | None,
    role: Duty,
    scope: Scope = FLEET,
    dry_run: bool = False,
) -> Caller:
    """Somebody who has this role there and asks for something that needs this key."""
    who = Principal("somebody", PrincipalKind.HUMAN, "token", {scope: role})
    return Caller(
        action="test.ask",
        asks_for=permission,
        principal=who,
        gateway=gateway,
        clock=clock,
        ids=lambda: "id",
        correlation_id="test",
        dry_run=dry_run,
    )

"""What the kernel can be told to do: one closed union, each member checked when it is built.

Rules:

- A command carries values only. Who sends it, in the course of what, and under which idempotency
  key stands on its :class:`Envelope`.
- A slice's commands stand in its own ``commands.py``. ``Tick`` is nobody's: time passes for all of
  them, and only when somebody says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.journal.fields import PRINCIPAL
from bailiwick.journal.record import Context
from bailiwick.kernel.apps.commands import AppCommand
from bailiwick.kernel.bookings.commands import BookingCommand
from bailiwick.kernel.cells.commands import CellCommand
from bailiwick.kernel.fleet.commands import FleetCommand
from bailiwick.kernel.health.commands import HealthCommand
from bailiwick.kernel.isolation.commands import IsolationCommand
from bailiwick.kernel.maintenance.commands import MaintenanceCommand
from bailiwick.kernel.mig.commands import MigCommand
from bailiwick.kernel.money.commands import MoneyCommand
from bailiwick.kernel.people.commands import PeopleCommand
from bailiwick.kernel.trust.commands import TrustCommand
from bailiwick.kernel.work.commands import WorkCommand
from bailiwick.vocab.values import check_integer


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: do what is due, looking at no more than ``limit`` leases and entries."""

    limit: int = 1_000

    def __post_init__(self) -> None:
        check_integer("limit", self.limit, low=2, high=10**6)


Command: TypeAlias = (
    WorkCommand
    | FleetCommand
    | MoneyCommand
    | TrustCommand
    | PeopleCommand
    | IsolationCommand
    | AppCommand
    | CellCommand
    | MaintenanceCommand
    | MigCommand
    | BookingCommand
    | HealthCommand
    | Tick
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A command with who sends it, in the course of what, and the key that makes it safe to repeat.

    The same key from the same actor gives the first answer again and does nothing.
    """

    command: Command
    actor: str = "operator"
    correlation_id: str = "none"
    key: str | None = field(default=None)

    cause: Context = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Checks both names.
        object.__setattr__(self, "cause", Context(self.actor, self.correlation_id))
        if self.key is not None:
            PRINCIPAL.check("key", self.key)

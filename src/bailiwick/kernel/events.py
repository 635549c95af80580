"""What can happen: the closed union of the kernel's events, each one kind of journal record.

Rules:

- An event holds all that applying it takes; nothing is decided again when it is read back.
- ``body`` is what the record says, ``read`` makes an equal event from it. The owner (tenant and
  project) stands on the record, not in the body.
- Nothing here knows time or order: the record has both.
- A slice's events stand in its own ``events.py``.
"""

from __future__ import annotations

from typing import TypeAlias

from bailiwick.kernel.apps.events import AppEvent
from bailiwick.kernel.bookings.events import BookingEvent
from bailiwick.kernel.cells.events import CellEvent
from bailiwick.kernel.fleet.events import FleetEvent
from bailiwick.kernel.health.events import HealthEvent
from bailiwick.kernel.isolation.events import IsolationEvent
from bailiwick.kernel.maintenance.events import MaintenanceEvent
from bailiwick.kernel.mig.events import MigEvent
from bailiwick.kernel.money.events import MoneyEvent
from bailiwick.kernel.people.events import PeopleEvent
from bailiwick.kernel.trust.events import TrustEvent
from bailiwick.kernel.work.events import WorkEvent
from bailiwick.kernel.work.execs.events import ExecEvent
from bailiwick.kernel.work.graph_events import GraphEvent

Event: TypeAlias = (
    WorkEvent
    | FleetEvent
    | MoneyEvent
    | TrustEvent
    | PeopleEvent
    | IsolationEvent
    | AppEvent
    | CellEvent
    | GraphEvent
    | ExecEvent
    | MaintenanceEvent
    | MigEvent
    | BookingEvent
    | HealthEvent
)

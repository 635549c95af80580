"""The state: everything the journal's records add up to.

Rules:

- Only :mod:`.apply` changes it. Deciding and looking read it; caches inside (prepared requests,
  the engine's indexes) may grow by reading, and no digest ever sees them.
- A lease has a number of its own, given once and never again. The ledger's handle for it is
  internal: handles are reused and may differ from one replica to the next.
- Lookups by lease number, by handle and by entry take constant time.
"""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.iam import Directory
from bailiwick.kernel.answers import AnswerBook
from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.bookings.book import BookingBook
from bailiwick.kernel.cells.book import CellBook
from bailiwick.kernel.fleet.notes import NoteBook
from bailiwick.kernel.fleet.tries import HelpTries
from bailiwick.kernel.guards import Claim, GuardedAdmission, Guards
from bailiwick.kernel.health.book import HealthBook
from bailiwick.kernel.isolation.book import IsolationBook
from bailiwick.kernel.maintenance.book import MaintenanceBook
from bailiwick.kernel.mig.book import MigBook
from bailiwick.kernel.money.book import Issued
from bailiwick.kernel.money.spending import Leaving, Restored, Spending
from bailiwick.kernel.money.times import RecordTimes
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.story.book import CourseBook
from bailiwick.kernel.trust.book import TrustBook
from bailiwick.kernel.work.arrivals import ArrivalBook
from bailiwick.kernel.work.usage import RunningShares
from bailiwick.scheduler.core_book import CoreBook
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.engine.protocol import FLAG_RELEASED, LeaseFields
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.preemption import PreemptionManager
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import Turn
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.values import NodeId


class State:
    """The kernel's state; see the module's rules for who may change it."""

    def __init__(self, settings: Settings | None = None, *, engine: str = "auto") -> None:
        self.size = 0
        self.clock_ms = 0
        self.epoch = 0
        self.lease_serial = 0
        self.gang_serial = 0
        self.engine_name = engine
        self.settings = settings or Settings()
        self.quotas = QuotaManager()
        self.ledger = CapacityLedger(quotas=self.quotas, engine=engine)
        self.cores = CoreBook(self.ledger)
        self.arrivals = ArrivalBook()
        self.arrivals.learn(self.ledger)
        self.shares = RunningShares(self.settings.half_life_ms)
        self.line = FairQueue(self.shares, self.settings.line_rules())
        self.blocked: dict[int, Denied | None] = {}
        self.untold: dict[int, None] = {}
        """Who waits and has not been told why, oldest first; it follows from ``blocked``."""
        self.waiting: dict[tuple[str, str | None], int] = {}
        """How many wait of each tenant, and of each project; it follows from the line."""
        self.guards = Guards(self.ledger, self.settings)
        self.leases: dict[int, int] = {}
        self.ids: dict[int, int] = {}
        self.job_labels: dict[int, Mapping[str, str]] = {}
        """What the leases' work is labelled, of those where somebody said."""
        self.fenced: dict[int, Owner] = {}
        self.leaving: dict[int, Leaving] = {}
        self.terms: dict[int, int] = {}
        """Until when leases ran that now make room for a claim."""
        self.restored: dict[int, Restored] = {}
        """Leases that were to go once, and stayed."""
        self.draining: dict[str, None] = {}
        self.node_labels: dict[str, Mapping[str, str]] = {}
        """What operators say of nodes; kept when a machine is gone, for when it comes back."""
        self.notes = NoteBook()
        self.spending = Spending()
        self.invoices: dict[str, Issued] = {}
        self.billed: dict[str, list[Issued]] = {}
        """What was issued for each tenant; it follows from the invoices."""
        self.times = RecordTimes()
        """When records were written: which prefix holds a period."""
        self.answers = AnswerBook()
        self.courses = CourseBook()
        self.directory = Directory()
        self.trust = TrustBook()
        self.isolation = IsolationBook()
        self.apps = AppBook()
        self.cells = CellBook()
        self.maintenance = MaintenanceBook()
        self.mig = MigBook()
        self.bookings = BookingBook()
        self.health = HealthBook()
        self.help_tries = HelpTries()
        self.use_settings(self.settings)

    def use_settings(self, settings: Settings) -> None:
        """Work by these settings from now on."""
        self.settings = settings
        self.shares.half_life_ms = settings.half_life_ms
        self.guards.use_settings(settings)
        self.quotas.burst_min_run_ms = settings.burst_min_run_ms
        self.quotas.use_default(settings.default_quota())
        self.preemption = PreemptionManager(settings.preemption())
        self.line.rules = settings.line_rules()
        self.spending.wake_all()

    def take_over(self, other: State) -> None:
        """Be what the other is, for whoever has this one; the other is not used any more."""
        self.__dict__ = other.__dict__

    @property
    def admission(self) -> GuardedAdmission:
        """What anybody may have that has no claim."""
        return self.guards.admission

    @property
    def claims(self) -> dict[int, Claim]:
        """The room that is being made, by the entry for which it is."""
        return self.guards.claims

    def count_waiting(self, request: PlacementRequest, sign: int) -> None:
        """One more of its owner's requests waits, or (-1) one less."""
        tenant = str(request.tenant)
        projects = {None, None if request.project is None else str(request.project)}
        for scope in ((tenant, project) for project in projects):
            self.waiting[scope] = self.waiting.get(scope, 0) + sign
            if not self.waiting[scope]:
                del self.waiting[scope]

    def note_open(self, node: str) -> None:
        """Whether a node takes leases may be otherwise now."""
        is_open = node in self.ledger and self.ledger.entry(node).takes_leases
        self.bookings.note_open(node, is_open, at_ms=self.clock_ms)

    # -- looking -----------------------------------------------------------------------------

    def handle(self, lease_id: int) -> int:
        """The ledger's handle of a lease; an unknown or ended one is an error."""
        handle = self.leases.get(lease_id)
        if handle is None:
            raise NotFound("lease", lease_id, hint="it never existed or has ended")
        return handle

    def fields(self, lease_id: int) -> LeaseFields:
        """The engine's record of a lease."""
        return self.ledger.fields(self.handle(lease_id))

    def phase(self, lease_id: int) -> RevokeState:
        """How far the ending of a lease has come."""
        return REVOKE_STATES[self.fields(lease_id).state]

    def is_released(self, lease_id: int) -> bool:
        """Whether its holder gave the lease back, and only its teardown is waited for."""
        return bool(self.fields(lease_id).flags & FLAG_RELEASED)

    def owner_of(self, lease_id: int) -> Owner:
        """Whose the lease is; of a fenced one, whose it was."""
        if lease_id in self.fenced:
            return self.fenced[lease_id]
        account = self.ledger.handles.accounts[self.fields(lease_id).account]
        return Owner(account.tenant, account.project)

    def node_of(self, lease_id: int) -> NodeId:
        """The node a lease is on."""
        return self.ledger.node_of(self.handle(lease_id))

    def entry(self, entry_id: int) -> QueueEntry:
        """The waiting entry; one that started or was cancelled is an error."""
        return self.line.entry(entry_id)

    def turn(self, now_ms: int) -> Turn:
        """A look at the line, in which entries are asked one by one."""
        until_ms = now_ms + self.settings.horizon_ms
        return Turn(self.admission, self.line, now_ms=now_ms, until_ms=until_ms)

    def with_gangs(self, lease_ids: tuple[int, ...] | list[int]) -> list[int]:
        """The leases and every other member of their gangs, by lease number, each once."""
        handles = self.ledger.with_gangs(self.handle(lease_id) for lease_id in lease_ids)
        # By number, not by handle: a state that was read back has other handles.
        return sorted(self.ids[handle] for handle in handles)

    def leases_on(self, node: str) -> list[int]:
        """Numbers of the leases on a node, oldest first."""
        handles = self.ledger.engine.leases_on(self.ledger.entry(node).handle)
        return sorted(self.ids[handle] for handle in handles)

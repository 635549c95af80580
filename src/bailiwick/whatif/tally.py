"""Adds up what happened: who was admitted, refused, made to wait or evicted, and what it used.

Rules:

- The same counting serves a journal and a replay of it, so that their numbers can be compared.
- Sums are integers: milli-shares times milliseconds, and millionths of a currency unit. A price is
  applied once, to a sum, and rounded there, half up.
- A request has waited from the moment it was queued until it started, was cancelled, or the time
  looked at was over. One that was admitted at once has not waited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeDeparted, NodeRegistered
from bailiwick.kernel.state import State
from bailiwick.kernel.views import leases
from bailiwick.kernel.work import lease_events as le
from bailiwick.kernel.work.events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestCancelled,
    RequestQueued,
)

_HOUR_MS = 3_600_000


class Fate(StrEnum):
    """What became of a request."""

    STARTED = "started"
    WAITING = "waiting"
    REFUSED = "refused"
    CANCELLED = "cancelled"


class Ending(StrEnum):
    """How a started request's leases ended; of a gang, the last of them."""

    RUNNING = "running"
    RELEASED = "released"
    EXPIRED = "expired"
    EVICTED = "evicted"
    NODE_DEPARTED = "node_departed"
    FENCED = "fenced"


@dataclass(slots=True)
class RequestOutcome:
    """One request: its fate, when that came, the word for it, and how its leases ended."""

    asked_ms: int
    fate: Fate = Fate.WAITING
    at_ms: int | None = None
    word: str = ""
    ending: Ending = Ending.RUNNING
    ended_ms: int | None = None
    ended_word: str = ""

    @property
    def started_ms(self) -> int | None:
        """When it started, if it did."""
        return self.at_ms if self.fate is Fate.STARTED else None


@dataclass(frozen=True, slots=True)
class Waits:
    """How long requests stood in line: how many did, and the usual numbers, in milliseconds."""

    count: int = 0
    total_ms: int = 0
    p50_ms: int = 0
    p95_ms: int = 0
    max_ms: int = 0

    @classmethod
    def of(cls, times: Iterable[int]) -> Waits:
        """The numbers of these times; percentiles by nearest rank."""
        row = sorted(times)
        if not row:
            return cls()
        middle, late = (row[(len(row) * p + 99) // 100 - 1] for p in (50, 95))
        return cls(len(row), sum(row), middle, late, row[-1])

    @property
    def mean_ms(self) -> int:
        """The mean, rounded down."""
        return self.total_ms // self.count if self.count else 0


@dataclass(slots=True)
class TenantTally:
    """One tenant's part."""

    admitted: int = 0
    refused: int = 0
    evicted: int = 0
    waits: Waits = field(default_factory=Waits)
    gpu_milli_ms: int = 0
    cpu_milli_ms: int = 0

    def cost_micros(self, price_micros_per_hour: int) -> int:
        """What its GPUs cost, at so much for a whole GPU and hour."""
        return cost_of(self.gpu_milli_ms, price_micros_per_hour)


@dataclass(frozen=True, slots=True)
class Tally:
    """All of it."""

    admitted: int
    refused: Mapping[str, int]
    cancelled: Mapping[str, int]
    waits: Waits
    waiting: int
    """Still in line at the end."""
    evicted: Mapping[str, int]
    """Leases, by the reason."""
    expired: int
    released: int
    lost: int
    """Leases that went with their node."""
    fenced: int
    gpu_milli_ms: int
    cpu_milli_ms: int
    gpu_present_milli_ms: int
    cpu_present_milli_ms: int
    tenants: Mapping[str, TenantTally]
    outcomes: Mapping[int, RequestOutcome]
    """By the request's number in the history; of those that were asked or begun in this time."""

    @property
    def gpu_permille(self) -> int:
        """Leased of what was there, in thousandths."""
        present = self.gpu_present_milli_ms
        return self.gpu_milli_ms * 1000 // present if present else 0

    @property
    def cpu_permille(self) -> int:
        """Leased of what was there, in thousandths."""
        present = self.cpu_present_milli_ms
        return self.cpu_milli_ms * 1000 // present if present else 0


def cost_of(gpu_milli_ms: int, price_micros_per_hour: int) -> int:
    """What so much of GPUs costs, rounded half up.

    >>> cost_of(2_000 * 3_600_000, 2_500_000)
    5000000
    """
    hour = 1000 * _HOUR_MS
    return (2 * gpu_milli_ms * price_micros_per_hour + hour) // (2 * hour)


@dataclass(slots=True)
class _Lease:
    tenant: str
    since_ms: int
    gpu_milli: int
    cpu_milli: int
    work: int | None


class EventTally:
    """Counts events as they come; ``close`` gives the sum."""

    def __init__(self, state: State, start_ms: int, *, works: Mapping[int, int]) -> None:
        """Begin with what a state holds; ``works`` tells of each lease which request it serves."""
        self._now = start_ms
        self._leases: dict[int, _Lease] = {}
        self._nodes: dict[str, NodeCapacity] = {}
        self._gpu = self._cpu = self._gpu_there = self._cpu_there = 0
        self._queued: dict[int, tuple[int, str]] = {}
        self._entries: dict[int, int] = {}
        self._waits: list[tuple[str, int]] = []
        self._counts: dict[str, dict[str, int]] = {}
        self._tenants: dict[str, TenantTally] = {}
        self.outcomes: dict[int, RequestOutcome] = {}
        for name, entry in state.ledger.entries.items():
            self._present(name, entry.capacity, at_ms=start_ms, sign=1)
        for lease in leases(state):
            if lease.id not in state.fenced:
                held = lease.resources
                amounts = held.gpu_milli, held.cpu_milli
                work = works.get(lease.id)
                self._leases[lease.id] = _Lease(lease.tenant, start_ms, *amounts, work)
                if work is not None:
                    self.outcomes[work] = RequestOutcome(
                        lease.granted_ms, Fate.STARTED, lease.granted_ms
                    )

    def entry(self, entry_id: int, *, work: int, tenant: str, since_ms: int) -> None:
        """Somebody was in line already when counting began."""
        self._entries[entry_id] = work
        self._queued[entry_id] = since_ms, tenant
        self.outcomes[work] = RequestOutcome(since_ms)

    def note(self, at_ms: int, event: Event, *, work: int | None) -> None:
        """One more event; ``work`` is the request that it answers for the first time, if any."""
        self._now = at_ms
        match event:
            case NodeRegistered():
                self._present(event.node, event.capacity, at_ms=at_ms, sign=1)
            case NodeDeparted():
                last = at_ms if event.last_seen_ms is None else min(at_ms, event.last_seen_ms)
                for lease_id in event.lease_ids:
                    self._end(lease_id, last, Ending.NODE_DEPARTED)
                if not event.leases_left:
                    self._present(event.node, None, at_ms=at_ms, sign=-1)
            case AdmissionApproved() | AdmissionDenied() | RequestQueued():
                self._note_answer(at_ms, event, work)
            case RequestCancelled():
                self._bump("cancelled", event.cause)
                self._leave(event.entry_id, at_ms, Fate.CANCELLED, word=event.cause)
            case le.LeaseReleased():
                self._end(event.lease_id, at_ms, Ending.RELEASED)
            case le.LeaseExpired():
                self._end(event.lease_id, at_ms, Ending.EXPIRED)
            case le.LeasePreempted():
                self._end(event.lease_id, at_ms, Ending.EVICTED, word=event.reason)
            case le.LeaseFenced():
                self._end(event.lease_id, at_ms, Ending.FENCED, word=event.reason or "")
            case _:
                pass

    def close(self, end_ms: int) -> Tally:
        """The sums up to that time."""
        for lease in self._leases.values():
            self._charge(lease, end_ms)
        for name, capacity in list(self._nodes.items()):
            self._present(name, capacity, at_ms=end_ms, sign=-1)
        waits = self._waits + [(who, end_ms - since) for since, who in self._queued.values()]
        by_tenant: dict[str, list[int]] = {}
        for tenant, waited in waits:
            by_tenant.setdefault(tenant, []).append(waited)
        for tenant, times in by_tenant.items():
            self._tenant(tenant).waits = Waits.of(times)
        ends = self._counts.get("ended", {})
        return Tally(
            admitted=sum(t.admitted for t in self._tenants.values()),
            refused=self._words("refused"),
            cancelled=self._words("cancelled"),
            waits=Waits.of(waited for _, waited in waits),
            waiting=len(self._queued),
            evicted=self._words("evicted"),
            expired=ends.get(Ending.EXPIRED, 0),
            released=ends.get(Ending.RELEASED, 0),
            lost=ends.get(Ending.NODE_DEPARTED, 0),
            fenced=ends.get(Ending.FENCED, 0),
            gpu_milli_ms=self._gpu,
            cpu_milli_ms=self._cpu,
            gpu_present_milli_ms=self._gpu_there,
            cpu_present_milli_ms=self._cpu_there,
            tenants=dict(sorted(self._tenants.items())),
            outcomes=self.outcomes,
        )

    # -- requests --------------------------------------------------------------------------------

    def _note_answer(
        self,
        at_ms: int,
        event: AdmissionApproved | AdmissionDenied | RequestQueued,
        work: int | None,
    ) -> None:
        tenant = str(event.request.tenant)
        if work is not None:
            self.outcomes[work] = RequestOutcome(at_ms)
        if isinstance(event, AdmissionDenied):
            word = event.denied.detail.code.value
            self._bump("refused", word)
            self._tenant(tenant).refused += 1
            self._decide(work, at_ms, Fate.REFUSED, word=word)
        elif isinstance(event, RequestQueued):
            self._queued[event.entry_id] = at_ms, tenant
            if work is not None:
                self._entries[event.entry_id] = work
        else:
            self._note_grant(at_ms, event, work)

    def _note_grant(self, at_ms: int, event: AdmissionApproved, work: int | None) -> None:
        request = event.request
        tenant = str(request.tenant)
        if event.entry_id is not None:
            work = self._entries.get(event.entry_id)
        elif work is None and event.gang is not None:
            work = self._leases[event.lease_ids[0] - 1].work  # the gang's record before
        for lease_id in event.lease_ids:
            amounts = request.gpu_milli_total, request.cpu_milli
            self._leases[lease_id] = _Lease(tenant, at_ms, *amounts, work)
        if event.members_left:
            return
        self._tenant(tenant).admitted += 1
        if event.entry_id is None:
            self._decide(work, at_ms, Fate.STARTED)
        else:
            self._leave(event.entry_id, at_ms, Fate.STARTED)

    def _leave(self, entry_id: int, at_ms: int, fate: Fate, *, word: str = "") -> None:
        since, tenant = self._queued.pop(entry_id)
        self._waits.append((tenant, at_ms - since))
        self._decide(self._entries.pop(entry_id, None), at_ms, fate, word=word)

    def _decide(self, work: int | None, at_ms: int, fate: Fate, *, word: str = "") -> None:
        if work is not None:
            found = self.outcomes[work]
            found.fate, found.at_ms, found.word = fate, at_ms, word

    # -- what is held ----------------------------------------------------------------------------

    def _end(self, lease_id: int, at_ms: int, ending: Ending, *, word: str = "") -> None:
        lease = self._leases.pop(lease_id, None)
        if lease is None:
            return
        self._charge(lease, at_ms)
        self._bump("ended", ending)
        if ending is Ending.EVICTED:
            self._bump("evicted", word)
            self._tenant(lease.tenant).evicted += 1
        if lease.work is not None:
            found = self.outcomes[lease.work]
            found.ending, found.ended_ms, found.ended_word = ending, self._now, word

    def _charge(self, lease: _Lease, until_ms: int) -> None:
        lasted, tenant = max(until_ms - lease.since_ms, 0), self._tenant(lease.tenant)
        self._gpu += lease.gpu_milli * lasted
        self._cpu += lease.cpu_milli * lasted
        tenant.gpu_milli_ms += lease.gpu_milli * lasted
        tenant.cpu_milli_ms += lease.cpu_milli * lasted

    def _present(self, name: str, has: NodeCapacity | None, *, at_ms: int, sign: int) -> None:
        """A node came (its capacity counts from now on, so up to now it is taken off) or went."""
        if sign > 0 and has is not None:
            self._nodes[name] = has
        else:
            has = self._nodes.pop(name)
        self._gpu_there -= sign * has.gpu_milli * at_ms
        self._cpu_there -= sign * has.cpu_milli * at_ms

    def _tenant(self, name: str) -> TenantTally:
        return self._tenants.setdefault(name, TenantTally())

    def _bump(self, what: str, word: str) -> None:
        row = self._counts.setdefault(what, {})
        row[str(word)] = row.get(str(word), 0) + 1

    def _words(self, what: str) -> dict[str, int]:
        return dict(sorted(self._counts.get(what, {}).items()))

"""Which nodes could be booked, when, and what of a booking's nodes will not be there for it.

Rules:

- A node counts if nothing that is known reaches into the time: no lease of somebody else, by its
  term and what its teardown may take; no room that is being made for somebody; no window of
  maintenance, from when it closes the node on; no other booking. Nobody ever leaves for a booking.
- Looking costs the nodes, and of the leases those that reach beyond the booking's beginning.
- A lease of the owner itself may reach into its booking, and not beyond its end.
- A node that takes no leases counts only if a window of maintenance holds it: it comes back.
- A number of nodes, or of GPUs, is of nodes that have GPUs. One without is booked by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.commands import BookingAsk
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import labels_from
from bailiwick.kernel.state import State
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration

FOREVER_MS: Final = 2**62


class BarredSpan(NamedTuple):
    """Times at which a booking cannot begin: after the first, and before the second."""

    after_ms: int
    before_ms: int


class Candidate(NamedTuple):
    """A node that is suitable, if it is free."""

    node: str
    weight: int
    """What it counts for: its suitable GPUs, or one."""
    gpus: int
    barred: tuple[BarredSpan, ...]
    counter: Mapping[HardwareGeneration, int] = MappingProxyType({})
    """All its GPUs."""
    is_closed: bool = False
    """Whether a policy closes it to the owner for ever."""

    def is_free(self, starts_ms: int) -> bool:
        """Whether a booking can begin then."""
        return not any(after < starts_ms < before for after, before in self.barred)


def candidates(
    state: State,
    ask: BookingAsk,
    *,
    owner: Owner,
    during: tuple[int, int],
    without: Collection[str] = (),
) -> Iterator[Candidate]:
    """The nodes that could have what is asked for, each with the times at which it cannot.

    Of those times only what reaches beyond the beginning is told.
    """
    entries, labels = state.ledger.entries, labels_from(ask.labels)
    claimed = {seat.node for claim in state.claims.values() for seat in claim.seats}
    forbidden, gpus = _forbidden_to(state, owner), GpuCounts(ask)
    leases = _LeasesBeyond(state, owner=owner, during=during)
    for name in ask.nodes or entries:
        entry = state.ledger.entry(name)
        suitable, total, counter = gpus.of(entry)
        if not ask.nodes and not (suitable and entry.has_labels(labels)):
            continue
        node = str(name)
        if not comes_back(state, entry) or node in claimed:
            continue
        weight = suitable if ask.gpus else 1
        planned = _planned(state, node, length_ms=during[1] - during[0], without=without)
        barred = (*leases.on(entry), *planned)
        yield Candidate(node, weight, total, barred, counter, forbidden(entry))


class MachineGpus(NamedTuple):
    """The GPUs of a machine: those that were asked for, how many there are, and by generation."""

    suitable: int
    total: int
    counter: Mapping[HardwareGeneration, int]


class GpuCounts:
    """The GPUs of machines; those of one class are counted once."""

    def __init__(self, ask: BookingAsk) -> None:
        self._wanted, self._known = ask.generation, dict[int, MachineGpus]()

    def of(self, entry: NodeEntry) -> MachineGpus:
        """Those of one machine."""
        found = self._known.get(entry.machine_class)
        if found is None:
            counter = Counter(gpu.generation for gpu in entry.capacity.gpus)
            total = counter.total()
            suitable = total if self._wanted is None else counter[self._wanted]
            found = self._known[entry.machine_class] = MachineGpus(suitable, total, counter)
        return found


def _forbidden_to(state: State, owner: Owner) -> Callable[[NodeEntry], bool]:
    """Whether a policy closes a node for ever to work of this owner that has no labels."""
    tenant, project = TenantId(str(owner.tenant)), ProjectId(str(owner.project))
    asks = PlacementRequest(tenant=tenant, project=project, cpu_cores=1)
    found = (policy.nodes_ever(asks) for policy in state.guards.policies)
    opens = [nodes for nodes in found if nodes is not None]
    return lambda entry: any(entry.handle not in nodes for nodes in opens)


def still_wanted(state: State, booking: Booking) -> BookingAsk | None:
    """What a booking that has not begun lacks, since nodes of it will not be there for it.

    Nothing if it has all that it asked for. Nodes that were asked for by name have no others.
    """
    ask, lost = booking.ask, lost_nodes(state, booking)
    good = [state.ledger.entry(node) for node in booking.nodes if node not in lost]
    if ask.nodes or (ask.count and not lost):
        return None
    if ask.count:
        return replace(ask, count=len(lost))
    lacks = ask.gpus - sum(suitable_gpus(ask, each) for each in good)
    return replace(ask, gpus=lacks) if lacks > 0 else None


def lost_nodes(state: State, booking: Booking) -> tuple[str, ...]:
    """The nodes of a booking that are gone, take no work, or are maintained while it is on.

    So is a machine that came back without any GPU that was asked for.
    """
    return tuple(node for node in booking.nodes if not _serves(state, booking, node))


def _serves(state: State, booking: Booking, node: str) -> bool:
    if node not in state.ledger:
        return False
    entry, ask = state.ledger.entry(node), booking.ask
    if not comes_back(state, entry) or not (ask.nodes or suitable_gpus(ask, entry)):
        return False
    windows = state.maintenance.windows_of(node)
    return not any(booking.overlaps(each.closes_ms, each.ends_ms) for each in windows)


def suitable_gpus(ask: BookingAsk, entry: NodeEntry) -> int:
    """How many of its GPUs are of the generation that was asked for."""
    gpus = entry.capacity.gpus
    if ask.generation is None:
        return len(gpus)
    return sum(gpu.generation is ask.generation for gpu in gpus)


def comes_back(state: State, entry: NodeEntry) -> bool:
    """Whether the node takes leases, or will when the maintenance that holds it is over."""
    if entry.takes_leases:
        return True
    return entry.id in state.maintenance.held and not (entry.quarantined or entry.gated)


class _LeasesBeyond:
    """The leases that reach beyond the beginning of a booking: no others are looked at."""

    def __init__(self, state: State, *, owner: Owner, during: tuple[int, int]) -> None:
        self._state, self._owner = state, owner
        self._starts_ms, self._length_ms = during[0], during[1] - during[0]
        gone_ms = max(self._starts_ms - state.settings.teardown_ms, 0)
        gone = set(state.ledger.engine.expired(gone_ms, len(state.leases)))
        # Who is fenced, or may get its old term back, may last longer than it seems.
        lasting = (each for each in (*state.terms, *state.fenced) if each in state.leases)
        self._gone = gone - {state.leases[each] for each in lasting}

    def on(self, entry: NodeEntry) -> Iterator[BarredSpan]:
        """Until when leases are in the way on a node, if they are."""
        handles = self._state.ledger.engine.leases_on(entry.handle)
        left = [each for each in handles if each not in self._gone]
        if left:
            before_ms = max(self._in_the_way_until(each, entry) for each in left)
            if before_ms > self._starts_ms:
                yield BarredSpan(-1, before_ms)

    def _in_the_way_until(self, handle: int, entry: NodeEntry) -> int:
        state, lease_id = self._state, self._state.ids[handle]
        if lease_id in state.fenced:
            return FOREVER_MS
        fields = state.ledger.fields(handle)
        ends_ms = max(fields.expires_ms, state.terms.get(lease_id, 0))
        if state.settings.confirm_teardown or EXECUTOR_LABEL in entry.capacity.labels:
            ends_ms += state.settings.teardown_ms
        account = state.ledger.handles.accounts[fields.account]
        own = Owner(account.tenant, account.project) == self._owner
        return ends_ms - self._length_ms if own else ends_ms


def _planned(
    state: State, node: str, *, length_ms: int, without: Collection[str]
) -> Iterator[BarredSpan]:
    """When no booking of such a length can begin on a node for what is planned there."""
    for window in state.maintenance.windows_of(node):
        yield BarredSpan(window.closes_ms - length_ms, window.ends_ms)
    for booking in state.bookings.bookings_of(node):
        if booking.key not in without:
            yield BarredSpan(booking.starts_ms - length_ms, booking.ends_ms)

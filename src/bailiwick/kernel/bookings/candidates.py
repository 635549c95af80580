"""Which nodes could be booked, when, and what of a booking's nodes will not be there for it.

Rules:

- A node counts if nothing that is known reaches into the time: no lease of somebody else, by its
  term and what its teardown may take; no room that is being made for somebody; no window of
  maintenance, from when it closes the node on; no other booking. Nobody ever leaves for a booking.
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

from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.commands import BookingAsk
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import labels_from
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import is_confirmed
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
    state: State, ask: BookingAsk, *, owner: Owner, length_ms: int, without: Collection[str]
) -> Iterator[Candidate]:
    """The nodes that could have what is asked for, each with the times at which it cannot."""
    entries, labels = state.ledger.entries, labels_from(ask.labels)
    claimed = {seat.node for claim in state.claims.values() for seat in claim.seats}
    forbidden = _forbidden_to(state, owner)
    for name in ask.nodes or entries:
        entry = state.ledger.entry(name)
        suitable = suitable_gpus(ask, entry)
        if not ask.nodes and not (suitable and entry.has_labels(labels)):
            continue
        node = str(name)
        if not comes_back(state, entry) or node in claimed:
            continue
        weight = suitable if ask.gpus else 1
        spans = barred_by(state, node, owner=owner, length_ms=length_ms, without=without)
        barred = tuple(spans)
        counter = Counter(gpu.generation for gpu in entry.capacity.gpus)
        yield Candidate(node, weight, counter.total(), barred, counter, forbidden(entry))


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


def barred_by(
    state: State, node: str, *, owner: Owner, length_ms: int, without: Collection[str] = ()
) -> Iterator[BarredSpan]:
    """When no booking of such a length can begin on a node."""
    for lease_id in state.leases_on(node):
        ends_ms = _gone_by(state, lease_id)
        own = state.owner_of(lease_id) == owner and ends_ms < FOREVER_MS
        yield BarredSpan(-1, ends_ms - length_ms if own else ends_ms)
    for window in state.maintenance.windows_of(node):
        yield BarredSpan(window.closes_ms - length_ms, window.ends_ms)
    for booking in state.bookings.bookings_of(node):
        if booking.key in without:
            continue
        yield BarredSpan(booking.starts_ms - length_ms, booking.ends_ms)


def _gone_by(state: State, lease_id: int) -> int:
    """When a lease's room is free at the latest; one that may get its old term back has that."""
    if lease_id in state.fenced:
        return FOREVER_MS
    ends_ms = max(state.fields(lease_id).expires_ms, state.terms.get(lease_id, 0))
    return ends_ms + (state.settings.teardown_ms if is_confirmed(state, lease_id) else 0)

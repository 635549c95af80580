"""Room that victims leave, kept for the request they left it for, in programs without a kernel.

Rules:

- Room is kept from the moment the first victim is told to go until the request is admitted with it
  or gives it up: amounts and devices, and the quota of its owner (:mod:`..holds`). Everybody else
  is told that this is not free, and fits beside it.
- Nobody has to go for nothing: room is kept only where the request would be admitted once all its
  victims are gone, by the same checks, quota and headroom among them, and in spite of what they
  leave behind. Else nobody is evicted.
- Its owner is admitted wherever it fits first, and what was kept is then free for others.
- Room that cannot come about any more (teardown failed, a node is gone) is kept no longer: its
  owner is asked like anybody else, and has to find victims anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, VictimsLeaving
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.library.left_behind import taken_for_gone
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.room_holds import RoomHold, Seat
from bailiwick.vocab.errors import Conflict

if TYPE_CHECKING:
    from bailiwick.scheduler.admission import AdmissionController


@dataclass(frozen=True, slots=True)
class KeptRoom:
    """Room kept for one request: each member's place, who leaves, how deep the cascade is."""

    number: int
    request: PlacementRequest
    seats: tuple[Seat, ...]
    victims: tuple[int, ...]
    depth: int


def keep_room(
    admission: AdmissionController,
    request: PlacementRequest,
    *,
    victims: Sequence[int],
    depth: int,
    now_ms: int,
) -> KeptRoom:
    """Keep what these leases leave for the request; an error if that would not let it in."""
    ledger, gone = admission.ledger, tuple(admission.ledger.with_gangs(victims))
    left = taken_for_gone(admission.scorer.filters, gone)
    with ledger.holds.shadow(gone=gone, now_ms=now_ms), left:
        decision = admission.evaluate(request, now_ms=now_ms)
    if isinstance(decision, Denied):
        why = f"would not let the request in ({decision.reason})"
        raise Conflict("preemption", str(request.tenant), why, hint="find victims again")
    places = zip(decision.nodes, decision.devices, strict=True)
    seats = tuple(Seat(node, devices) for node, devices in places)
    number = ledger.keep(RoomHold(request, seats, gone), now_ms=now_ms)
    return KeptRoom(number, request, seats, gone, depth)


def ask_with(admission: AdmissionController, room: KeptRoom, *, now_ms: int) -> AdmissionDecision:
    """What the owner of kept room would be answered now; nothing changes."""
    ledger = admission.ledger
    if room.number not in ledger.holds:
        return admission.evaluate(room.request, now_ms=now_ms)
    with ledger.holds.shadow(lifted=[room.number], now_ms=now_ms):
        decision = admission.evaluate(room.request, now_ms=now_ms)
    if isinstance(decision, Approved):
        return decision
    leaving = [i for i in room.victims if _is_there(ledger, i)]
    if not leaving or not decision.reason.is_transient:
        return decision
    until_ms = max(ledger.fields(i).expires_ms for i in leaving)
    return Denied.because(VictimsLeaving(len(leaving), until_ms))


def _is_there(ledger: CapacityLedger, lease_id: int) -> bool:
    """Whether the lease has not ended yet; a fence is nobody's lease any more."""
    return ledger.engine.lease(lease_id) is not None and not ledger.is_pinned(lease_id)

"""Ending a lease that its holder did not give back: warning, grace, teardown, or a fence.

Rules:

- Every step is an edge of the revoke table; a reason is mandatory and stays with the walk.
- The grace window starts with the warning. A checkpoint report ends it early; when it runs out
  teardown is forced. With no grace window all steps happen at once.
- ``teardown`` is handed in and says whether the resources are really free. If it cannot, the
  resources are fenced: nobody pays for them, and no lease lands there until an operator calls
  ``clear_fence``. Teardown is not tried twice.
- One member of a gang takes the gang with it. The reason is kept by the ledger, so any revoker of
  the same ledger can finish a walk that another began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState, check_revoke_change
from bailiwick.vocab.values import check_amount, check_integer, check_kind
from bailiwick.vocab.words import EndCause, LeaseClass, PreemptionReason


def always_torn_down(lease: Lease) -> bool:
    """The teardown of a ledger that stands alone: giving the numbers back is all there is."""
    del lease
    return True


@dataclass(frozen=True, slots=True)
class RevokeTransition:
    """One step of one lease's walk."""

    lease_id: int
    before: RevokeState
    after: RevokeState
    at_ms: int
    reason: PreemptionReason | None


@dataclass(frozen=True, slots=True)
class Revocation:
    """What a call did: the steps in order, and the leases that ended."""

    steps: tuple[RevokeTransition, ...] = ()
    ended: tuple[EndedLease, ...] = ()


@dataclass(slots=True)
class _Walk:
    """Steps and ends collected during one call."""

    now_ms: int
    steps: list[RevokeTransition] = field(default_factory=list)
    ended: list[EndedLease] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    def told(self) -> Revocation:
        """What was done; if a teardown raised, that error, once every lease has been walked."""
        if self.failed:
            raise self.failed[0]
        return Revocation(tuple(self.steps), tuple(self.ended))


class LeaseRevoker:
    """Walks leases of one ledger to their end."""

    def __init__(
        self,
        ledger: CapacityLedger,
        *,
        grace_ms: int = 0,
        teardown: Callable[[Lease], bool] = always_torn_down,
    ) -> None:
        self.ledger = check_kind("ledger", ledger, CapacityLedger)
        self.grace_ms = check_integer("grace_ms", grace_ms, low=0, high=2**53)
        if not callable(teardown):
            raise InvalidValue("teardown", teardown, "a function of a lease")
        self.teardown = teardown

    def check(self, lease_id: int, reason: PreemptionReason, *, now_ms: int) -> list[int]:
        """The lease and its gang, if each may be ended now for this reason; else the error."""
        check_kind("reason", reason, PreemptionReason)
        self.ledger.check_time(now_ms)
        members = self.ledger.with_gangs([lease_id])
        for member in members:
            self._check_may_end(self.ledger.lease(member), reason)
        return members

    def revoke(
        self,
        lease_id: int,
        reason: PreemptionReason,
        *,
        now_ms: int,
        grace_ms: int | None = None,
    ) -> Revocation:
        """Begin to end a lease and its gang; ``grace_ms`` overrides the revoker's own."""
        members = self.check(lease_id, reason, now_ms=now_ms)
        grace = self.grace_ms if grace_ms is None else grace_ms
        check_integer("grace_ms", grace, low=0, high=2**53)
        walk = _Walk(now_ms)
        for member in members:
            self.ledger.revoking[member] = reason
            self._step(member, RevokeState.REVOKE_WARNING, walk)
            self._step(member, RevokeState.GRACE_RUNNING, walk, expires=now_ms + grace)
            if not grace:
                self._tear_down(member, RevokeState.FORCED_TEARDOWN, walk)
        return walk.told()

    def report_checkpoint(self, lease_id: int, *, now_ms: int) -> Revocation:
        """The holder saved its work during grace: the lease ends now instead of at the deadline."""
        self.ledger.check_time(now_ms)
        check_revoke_change(self.ledger.lease(lease_id).state, RevokeState.CHECKPOINT_REPORTED)
        self.ledger.report_checkpoint(lease_id, now_ms=now_ms)
        walk = _Walk(now_ms)
        self._tear_down(lease_id, RevokeState.CHECKPOINT_REPORTED, walk)
        return walk.told()

    def advance(self, now_ms: int, *, limit: int = 100_000) -> Revocation:
        """Do what is due: force teardown where grace is over, end leases whose term is over."""
        self.ledger.check_time(now_ms)
        check_integer("limit", limit, low=1, high=2**31 - 1)
        walk = _Walk(now_ms)
        due = [i for i in self.ledger.engine.expired(now_ms, limit) if not self.ledger.is_pinned(i)]
        for lease_id in self.ledger.with_gangs(due):
            state = self.ledger.lease(lease_id).state
            if state is RevokeState.GRACE_RUNNING:
                self._tear_down(lease_id, RevokeState.FORCED_TEARDOWN, walk)
            elif state is RevokeState.ACTIVE:
                self._tear_down(lease_id, RevokeState.EXPIRED, walk)
        return walk.told()

    def clear_fence(self, lease_id: int, *, now_ms: int) -> EndedLease:
        """An operator says the fenced resources are clean: they take leases again."""
        lease = self.ledger.lease(lease_id)
        check_amount("now_ms", now_ms)
        if not self.ledger.fields(lease_id).flags & FLAG_PINNED:
            raise Conflict("lease", lease_id, f"is {lease.state}, not fenced")
        return self.ledger.end(lease_id, EndCause.RELEASED, now_ms=now_ms)

    def reason_of(self, lease_id: int) -> PreemptionReason:
        """Why a lease is being revoked."""
        if lease_id not in self.ledger.revoking:
            raise NotFound("revocation", lease_id)
        return self.ledger.revoking[lease_id]

    @staticmethod
    def _check_may_end(lease: Lease, reason: PreemptionReason) -> None:
        check_revoke_change(lease.state, RevokeState.REVOKE_WARNING)
        if lease.lease_class is LeaseClass.GUARANTEED and reason.spares_guaranteed:
            raise Conflict("lease", lease.id, f"is guaranteed; {reason} may not end it")

    def _step(
        self, lease_id: int, after: RevokeState, walk: _Walk, *, expires: int | None = None
    ) -> None:
        fields = self.ledger.fields(lease_id)
        before = REVOKE_STATES[fields.state]
        check_revoke_change(before, after)
        until = fields.expires_ms if expires is None else min(fields.expires_ms, expires)
        state = REVOKE_STATES.index(after)
        self.ledger.change(lease_id, fields._replace(state=state, expires_ms=until))
        reason = self.ledger.revoking.get(lease_id)
        walk.steps.append(RevokeTransition(lease_id, before, after, walk.now_ms, reason))

    def _tear_down(self, lease_id: int, through: RevokeState, walk: _Walk) -> None:
        """From here to the end: torn down, failed closed, or fenced."""
        self._step(lease_id, through, walk)
        try:
            clean = self.teardown(self.ledger.lease(lease_id))
        except Exception as error:
            clean = False  # it has confirmed nothing, and the rest of a gang must still end
            walk.failed.append(error)
        self._finish(lease_id, through, walk, clean=clean)

    def _finish(self, lease_id: int, through: RevokeState, walk: _Walk, *, clean: bool) -> None:
        expired = through is RevokeState.EXPIRED
        last = RevokeState.FAILED_CLOSED if expired else RevokeState.TORNDOWN
        after = last if clean else RevokeState.FENCED
        check_revoke_change(through, after)
        reason = self.ledger.revoking.get(lease_id)
        walk.steps.append(RevokeTransition(lease_id, through, after, walk.now_ms, reason))
        cause = EndCause.EXPIRED if expired else EndCause.PREEMPTED
        end = self.ledger.end if clean else self.ledger.fence
        walk.ended.append(end(lease_id, cause, now_ms=walk.now_ms, reason=reason))

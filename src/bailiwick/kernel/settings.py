"""What an operator may set about the whole kernel; each change is one record.

Rules:

- Everything has a default that suits a small cluster, and every number is bounded.
- A change counts from its record on. It never judges again what was decided before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.scheduler.backfill.lanes import Aging
from bailiwick.scheduler.backfill.rules import RESERVATIONS_MAX, LineRules
from bailiwick.scheduler.placement import ScoreWeights
from bailiwick.scheduler.preemption import PreemptionConfig
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.scheduler.victims.headroom import ReservationHeadroom
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB, TERM_MAX_MS, WAITING_MAX, check_integer, check_kind
from bailiwick.vocab.words import PRIORITIES, Dimension, LeaseClass, Priority, Strategy

_SECOND, _HOUR, _DAY = 1_000, 3_600_000, 86_400_000
BOOKING_WAIT_MS = 15 * 60 * _SECOND
"""How long a booked node may be unused where nobody says otherwise."""
BOOKING_WAIT_MAX_MS = _HOUR
"""The longest that a tenant's own people may say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the kernel places, evicts, orders and remembers."""

    strategy: Strategy = Strategy.FRAGMENTATION_AWARE
    weights: tuple[int, int, int, int] | None = None
    """Of the weighted strategy, in thousandths: cpu, mem, gpu, block."""
    headroom: Resources = NOTHING
    headroom_priority: Priority = Priority.CRITICAL
    preempt_from: Priority = Priority.HIGH
    """The least priority that may evict others."""
    grace_ms: int = 30 * _SECOND
    untrusted_grace_ms: int = 5 * _SECOND
    """On a node whose evidence is bad; never longer than the usual grace."""
    confirm_teardown: bool = False
    """Whether an executor must report a teardown before what a lease held is free."""
    teardown_ms: int = 60 * _SECOND
    """How long that report may take before the resources are fenced."""
    min_run_ms: int = 0
    max_cascade_depth: int = 3
    fresh_checkpoint_ms: int = 60 * _SECOND
    half_life_ms: int = 7 * _DAY
    patience_ms: int = _DAY
    horizon_ms: int = 30 * _DAY
    queue_max: int = 100_000
    keys_ms: int = _DAY
    """How long the answer to an idempotency key is remembered, and how many are at most."""
    keys_max: int = 1_000_000
    clock_step_ms: int = _HOUR
    """The most that one command may move time forward."""
    outage_ms: int = 30 * _DAY
    """The most that a leader which begins may move time forward."""
    clock_drift_ms: int = 60 * _SECOND
    """How far a leader's clock may be from what it is compared with."""
    burst_min_run_ms: int = 60 * _SECOND
    """How long burst credit must last for a request that goes above a limit."""
    job_mem_bytes_per_core: int = GIB
    """Memory that a job gets for each core (at least for one) if it names none."""
    reservations_max: int = 4
    """For how many waiting requests room is kept at a time."""
    slips_max: int = 3
    """How often the start of a reserved request may move later, the last time being its loss."""
    aging_ms: int = _DAY
    """How long a request waits to stand one priority higher in the queue."""
    aging_max: int = 1
    aging_ceiling: Priority = Priority.HIGH
    """How high waiting raises a request, in priorities and at most."""

    priority_max: Priority = Priority.HIGH
    """The ceiling of a tenant that has none of its own: this, and the next three."""
    lease_classes: tuple[LeaseClass, ...] = (LeaseClass.STANDARD, LeaseClass.SPOT)
    term_max_ms: int = 7 * _DAY
    waiting_max: int = 1_000
    tenant_cpu_milli: int = 10_000_000
    """The limits of a tenant that has no quota of its own: this, and the next four.

    The largest number that can be told means that there is no limit.
    """
    tenant_mem_bytes: int = 64 << 40
    tenant_block_bytes: int = 256 << 40
    tenant_gpu_count: int = 256
    tenant_lease_count: int = 10_000
    offer_platform_managed: bool = False
    """Whether the platform runs control planes of apps for tenants."""
    rebalance_ms: int = 0
    """How long a request must have lacked capacity before those go who are above their quota.

    0: nobody ever goes for that but by command.
    """
    booking_wait_ms: int = BOOKING_WAIT_MS
    """How long a booked node may be unused before it is given back, where a booking does not say.

    0: to the end of the booking.
    """
    booking_wait_max_ms: int = BOOKING_WAIT_MAX_MS
    """The longest wait that who is not of the fleet may ask for; nothing is paid meanwhile."""
    health_drain_milli: int = 100
    """How many of a thousand nodes may be drained for their health at one time; 1 node at least."""
    test_wait_ms: int = 600 * _SECOND
    """How long a node's agent has to test its machine."""
    test_every_ms: int = 0
    """How long ago the last test of a node may be that has nothing to do; 0: it is not asked."""

    def __post_init__(self) -> None:
        check_kind("strategy", self.strategy, Strategy)
        check_kind("headroom", self.headroom, Resources)
        check_kind("headroom_priority", self.headroom_priority, Priority)
        check_kind("preempt_from", self.preempt_from, Priority)
        check_kind("aging_ceiling", self.aging_ceiling, Priority)
        check_kind("confirm_teardown", self.confirm_teardown, bool)
        check_kind("offer_platform_managed", self.offer_platform_managed, bool)
        for name, low in _LEAST.items():
            check_integer(name, getattr(self, name), low=low, high=_MOST.get(name, INTEGER_MAX))
        if (self.strategy is Strategy.WEIGHTED) != (self.weights is not None):
            raise InvalidValue("weights", self.weights, "four numbers with weighted, else none")
        self.score_weights()
        self.kept()
        self.preemption()
        self.ceiling()
        self.default_quota()

    def score_weights(self) -> ScoreWeights | None:
        """The weights as the scorer takes them."""
        if self.weights is None:
            return None
        if len(self.weights) != 4:
            raise InvalidValue("weights", self.weights, "four numbers: cpu, mem, gpu, block")
        return ScoreWeights(*(weight / 1000 for weight in self.weights))

    def kept(self) -> ReservationHeadroom:
        """The headroom as admission takes it."""
        return ReservationHeadroom(self.headroom, self.headroom_priority)

    def preemption(self) -> PreemptionConfig:
        """What protects running work from more urgent work."""
        return PreemptionConfig(self.min_run_ms, self.max_cascade_depth, self.fresh_checkpoint_ms)

    def line_rules(self) -> LineRules:
        """By what rules the line is kept."""
        return LineRules(
            patience_ms=self.patience_ms,
            reservations_max=self.reservations_max,
            slips_max=self.slips_max,
            aging=Aging(
                step_ms=self.aging_ms, steps_max=self.aging_max, ceiling=self.aging_ceiling
            ),
        )

    def ceiling(self) -> Ceiling:
        """What a tenant without a ceiling of its own may ask for."""
        terms = (self.priority_max, self.lease_classes, self.term_max_ms, self.waiting_max)
        return Ceiling(*terms)

    def default_quota(self) -> Quota:
        """What a tenant without a quota of its own may hold and ask for."""
        numbers = {kind: getattr(self, f"tenant_{kind}") for kind in _LIMITED}
        limits = (ResourceLimit(k, n) for k, n in numbers.items() if n < INTEGER_MAX)
        return Quota(tuple(limits), ceiling=self.ceiling())


_LIMITED = tuple(kind for kind in Dimension if kind is not Dimension.GPU_VRAM)
_LEAST = {
    **dict.fromkeys(("grace_ms", "min_run_ms", "max_cascade_depth", "fresh_checkpoint_ms"), 0),
    "untrusted_grace_ms": 0,
    **dict.fromkeys(("teardown_ms", "half_life_ms", "patience_ms", "horizon_ms"), 1),
    **dict.fromkeys(("queue_max", "keys_ms", "keys_max"), 1),
    **dict.fromkeys(("clock_step_ms", "outage_ms", "clock_drift_ms"), 1_000),
    "burst_min_run_ms": 0,
    "rebalance_ms": 0,
    "booking_wait_ms": 0,
    "booking_wait_max_ms": 1,
    "health_drain_milli": 1,
    "test_wait_ms": 10 * _SECOND,
    "test_every_ms": 0,
    "term_max_ms": 1,
    "waiting_max": 0,
    **dict.fromkeys((f"tenant_{kind}" for kind in _LIMITED), 0),
    "job_mem_bytes_per_core": 1,
    "aging_max": 0,
    **dict.fromkeys(("reservations_max", "slips_max", "aging_ms"), 1),
}
_MOST = {
    "max_cascade_depth": 255,
    "queue_max": 10**7,
    "keys_max": 10**7,
    "burst_min_run_ms": 2**52,
    "rebalance_ms": 2**52,
    **dict.fromkeys(("booking_wait_ms", "booking_wait_max_ms"), 31 * _DAY),
    "health_drain_milli": 1_000,
    "test_wait_ms": _DAY,
    "test_every_ms": 2**52,
    "term_max_ms": TERM_MAX_MS,
    "waiting_max": WAITING_MAX,
    "job_mem_bytes_per_core": 2**40,
    "reservations_max": RESERVATIONS_MAX,
    "aging_max": len(PRIORITIES) - 1,
    # Added to the time of a record they must stay a number that a record can tell.
    **dict.fromkeys(("grace_ms", "teardown_ms", "horizon_ms"), 2**52),
    "untrusted_grace_ms": 2**52,
}

LATER: Mapping[str, int] = {
    "rebalance_ms": 0,
    "booking_wait_ms": BOOKING_WAIT_MS,
    "booking_wait_max_ms": BOOKING_WAIT_MAX_MS,
    "health_drain_milli": 100,
    "test_wait_ms": 600 * _SECOND,
    "test_every_ms": 0,
}
"""Settings that came later, by what is meant where a record does not name them."""

NUMBERS: tuple[str, ...] = tuple(f.name for f in fields(Settings) if f.name in _LEAST)
"""The settings that are plain numbers."""

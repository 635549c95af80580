"""What an operator may set about the whole scheduler, on the wire; the ``ETag`` is its digest."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.values import TERM_MAX_MS, WAITING_MAX
from bailiwick.vocab.words import LeaseClass, Priority, Strategy
from bailiwick.wire.base import Amount, GraceMs, Model, Number, Within
from bailiwick.wire.fleet import Held

_Priority = Annotated[Priority, Field(strict=False)]
_LeaseClass = Annotated[LeaseClass, Field(strict=False)]
_Weight = Annotated[int, Within(0, 1_000)]
_Span = Annotated[int, Within(1_000, 2**53 - 1)]


class Settings(Model):
    """Everything that can be set; what is left out has its default."""

    strategy: Annotated[Strategy, Field(strict=False)] = Strategy.FRAGMENTATION_AWARE
    weights: Annotated[list[_Weight], Field(min_length=4, max_length=4)] | None = None
    """Of the weighted strategy, in thousandths: cpu, mem, gpu, block."""
    headroom: Held = Held()
    headroom_priority: _Priority = Priority.CRITICAL
    preempt_from: _Priority = Priority.HIGH
    grace_ms: GraceMs = 30_000
    untrusted_grace_ms: GraceMs = 5_000
    """On a node whose evidence is bad; never longer than the usual grace."""
    confirm_teardown: bool = False
    teardown_ms: Annotated[int, Within(1, 2**52)] = 60_000
    min_run_ms: Amount = 0
    max_cascade_depth: Annotated[int, Within(0, 255)] = 3
    fresh_checkpoint_ms: Amount = 60_000
    half_life_ms: Number = 604_800_000
    patience_ms: Number = 86_400_000
    horizon_ms: Annotated[int, Within(1, 2**52)] = 2_592_000_000
    queue_max: Annotated[int, Within(1, 10**7)] = 100_000
    keys_ms: Number = 86_400_000
    keys_max: Annotated[int, Within(1, 10**7)] = 1_000_000
    clock_step_ms: _Span = 3_600_000
    outage_ms: _Span = 2_592_000_000
    clock_drift_ms: _Span = 60_000
    burst_min_run_ms: Annotated[int, Within(0, 2**52)] = 60_000
    priority_max: _Priority = Priority.HIGH
    lease_classes: Annotated[list[_LeaseClass], Field(max_length=len(LeaseClass))] = Field(
        default_factory=lambda: [LeaseClass.STANDARD, LeaseClass.SPOT]
    )
    term_max_ms: Annotated[int, Within(1, TERM_MAX_MS)] = 604_800_000
    waiting_max: Annotated[int, Within(0, WAITING_MAX)] = 1_000
    tenant_cpu_milli: Amount = 10_000_000
    tenant_mem_bytes: Amount = 64 << 40
    tenant_block_bytes: Amount = 256 << 40
    tenant_gpu_count: Amount = 256
    tenant_lease_count: Amount = 10_000
    job_mem_bytes_per_core: Annotated[int, Within(1, 2**40)] = 2**30
    reservations_max: Annotated[int, Within(1, 64)] = 4
    slips_max: Number = 3
    aging_ms: Number = 86_400_000
    aging_max: Annotated[int, Within(0, 3)] = 1
    aging_ceiling: _Priority = Priority.HIGH
    offer_platform_managed: bool = False
    """Whether the platform runs control planes of apps for tenants."""
    rebalance_ms: Annotated[int, Within(0, 2**52)] = 0
    """How long a request must have lacked capacity before those go who are above their quota; 0
    for never."""
    booking_wait_ms: Annotated[int, Within(0, 31 * 86_400_000)] = 900_000
    """How long a booked node may be unused before it is given back, where a booking does not say;
    0 for to the end of the booking."""
    booking_wait_max_ms: Annotated[int, Within(1, 31 * 86_400_000)] = 3_600_000
    """The longest such wait that who is not of the fleet may ask for."""
    health_drain_milli: Annotated[int, Within(1, 1_000)] = 100
    test_wait_ms: Annotated[int, Within(10_000, 86_400_000)] = 600_000
    test_every_ms: Annotated[int, Within(0, 2**52)] = 0

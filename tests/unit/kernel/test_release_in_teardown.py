"""What an executor has not confirmed to be free, its holder cannot give back."""

from __future__ import annotations

import pytest

from bailiwick import Conflict, NodeCapacity, PlacementRequest, PreemptionReason, TenantId
from bailiwick.kernel import (
    ChangeSettings,
    Envelope,
    Evict,
    Kernel,
    RegisterNode,
    Release,
    ReportTeardown,
    Submit,
    digest_of,
)
from tests.support.wide_open import wide_settings


def test_a_lease_that_is_being_torn_down_is_not_given_back_by_its_holder() -> None:
    kernel = Kernel(simulated=True)
    for command in (
        ChangeSettings(wide_settings(confirm_teardown=True, grace_ms=0)),
        RegisterNode("n1", NodeCapacity(cpu_cores=4, mem_bytes=0)),
        Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=4)),
        Evict((1,), PreemptionReason.OPERATOR_DRAIN),
    ):
        kernel.execute(Envelope(command), 1_000)
    before = digest_of(kernel.state)
    with pytest.raises(Conflict, match="torn down"):
        kernel.execute(Envelope(Release(1)), 1_000)
    assert digest_of(kernel.state) == before
    kernel.execute(Envelope(ReportTeardown(1, clean=True)), 1_000)
    assert not kernel.state.leases

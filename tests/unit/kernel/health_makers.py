"""Findings on machines and their tests, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.health import commands as cmd
from bailiwick.kernel.health import events as ev
from bailiwick.vocab.health import (
    FINDINGS_MAX,
    NUMBER_MAX,
    HealthAction,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
    check_findings,
)
from tests.unit.journal.makers import names

numbers = st.integers(0, 2**50)
amounts = st.integers(0, NUMBER_MAX)
finding = st.builds(
    HealthFinding,
    st.sampled_from(HealthCheck),
    st.sampled_from(HealthLevel),
    st.none() | st.integers(0, 63),
    amounts,
    amounts,
    amounts,
)
findings = st.lists(
    finding, max_size=FINDINGS_MAX // 8, unique_by=lambda each: (each.check, each.gpu, each.code)
).map(lambda found: check_findings("findings", tuple(found)))
waits = st.integers(10_000, 86_400_000)

EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.NodeHealthChanged: st.builds(
        ev.NodeHealthChanged, names, findings, st.booleans(), st.sampled_from(HealthAction)
    ),
    ev.NodeTestBegun: st.builds(
        ev.NodeTestBegun, names, numbers, st.sampled_from(NodeTestCause), waits
    ),
    ev.NodeTestEnded: st.builds(
        ev.NodeTestEnded,
        names,
        numbers,
        st.sampled_from(NodeTestOutcome),
        findings,
        st.none() | st.integers(0, cmd.TOOK_MS_MAX),
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.ReportHealth: st.builds(cmd.ReportHealth, names, findings, st.booleans()),
    cmd.ReportTest: st.builds(
        cmd.ReportTest, names, numbers, findings, st.integers(0, cmd.TOOK_MS_MAX)
    ),
    cmd.BeginTest: st.builds(cmd.BeginTest, names),
}

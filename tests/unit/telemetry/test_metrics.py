"""Metrics follow the journal, and no label is ever anything but a closed word or a tenant."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bailiwick
from bailiwick.iam import Role
from bailiwick.journal.kinds import RecordKind
from bailiwick.runtime.replica import Role as ReplicaRole
from bailiwick.runtime.steady_clock import Against
from bailiwick.server.problems import STATUSES
from bailiwick.services.authority import RefusalWord
from bailiwick.services.logins.federation import FederationRefusal
from bailiwick.services.logins.words import LoginRefusal
from bailiwick.telemetry.catalog import (
    ACTION,
    CATALOG,
    LABELS,
    OTHER,
    TENANT,
    TENANTS_MAX,
    GpuUse,
    MetricKind,
)
from bailiwick.telemetry.metrics import Gauges, Metrics
from bailiwick.telemetry.signals import REFUSALS
from bailiwick.vocab.apps import PullFault
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason, QuotaViolation
from bailiwick.wire.actions.table import ACTIONS

SOURCES = Path(bailiwick.__file__).parent
MANUAL = Path(__file__).resolve().parents[3] / "docs" / "observability.md"


def fact(kind: str, body: Mapping[str, Any], tenant: str | None = "lab", seq: int = 0) -> Any:
    return {
        "seq": seq,
        "at_ms": 5,
        "kind": kind,
        "tenant": tenant,
        "project": None,
        "correlation_id": "c",
        "body": body,
    }


def preempted(reason: str, tenant: str = "lab") -> Any:
    body = {
        "lease_id": 77,
        "reason": reason,
        "victim": tenant,
        "preemptor": "rival",
        "freed": {"cpu_milli": 2000, "mem_bytes": 8},
    }
    return fact("lease_preempted", body, tenant)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


@pytest.mark.parametrize("reason", list(PreemptionReason))
def test_each_preemption_reason_has_its_own_channel(reason: PreemptionReason) -> None:
    metrics = Metrics()
    metrics.follow(preempted(reason))
    name = "bailiwick_preemptions_total"
    for other in PreemptionReason:
        expected = 1 if other is reason else 0
        assert value(metrics, name, tenant="lab", reason=other) == expected
    freed = "bailiwick_preemption_freed_resources_total"
    assert value(metrics, freed, reason=reason, resource="cpu_milli") == 2000


def test_decisions_are_counted_by_tenant_priority_and_outcome() -> None:
    metrics = Metrics()
    body = {"priority": "high", "reason": "waiting_for_quota", "detail": "hard_limit_exceeded"}
    body |= {"lease_ids": [], "lease_class": "spot"}
    for kind in ("admission_approved", "admission_denied", "request_queued", "request_queued"):
        metrics.follow(fact(kind, body))
    name = "bailiwick_admissions_total"
    told = {
        outcome: value(metrics, name, tenant="lab", priority="high", outcome=outcome)
        for outcome in ("approved", "denied", "queued")
    }
    assert told == {"approved": 1, "denied": 1, "queued": 2}
    denied = "bailiwick_quota_denials_total"
    word = QuotaViolation.HARD_LIMIT_EXCEEDED
    assert value(metrics, denied, tenant="lab", quota_violation=word) == 3


def test_every_lease_that_begins_is_counted_where_it_was_approved() -> None:
    metrics = Metrics()
    body = {"priority": "high", "lease_ids": [4, 5, 6], "lease_class": "spot"}
    metrics.follow(fact("admission_approved", body))
    name = "bailiwick_leases_granted_total"
    assert value(metrics, name, tenant="lab", lease_class="spot") == 3


def waits(metrics: Metrics) -> tuple[float | None, float | None]:
    name, held = "bailiwick_queue_wait_seconds", {"lease_class": "standard"}
    return value(metrics, f"{name}_count", **held), value(metrics, f"{name}_sum", **held)


def granted(at_ms: int, **more: Any) -> Any:
    body = {"lease_ids": [1], "lease_class": "standard", "priority": "normal", **more}
    return {**fact("admission_approved", body), "at_ms": at_ms}


def line(kind: str, at_ms: int, entry_id: int) -> Any:
    return {**fact(kind, {"entry_id": entry_id, "priority": "normal"}), "at_ms": at_ms}


def test_a_wait_is_measured_from_request_to_lease() -> None:
    metrics = Metrics()
    metrics.expose(Gauges(submitted_ms={}))
    metrics.follow(line("request_queued", 1_000, 7))
    metrics.follow(granted(41_000, entry_id=7))
    assert waits(metrics) == (1, 40)
    metrics.follow(granted(50_000))
    assert waits(metrics) == (2, 40), "nothing stood in the way"
    metrics.follow(line("request_queued", 60_000, 8))
    metrics.follow(line("request_cancelled", 61_000, 8))
    metrics.follow(granted(90_000, entry_id=8))
    assert waits(metrics) == (2, 40), "who left has not waited"
    assert metrics.submitted_ms == {}


def test_a_wait_that_began_before_the_process_is_measured_whole() -> None:
    metrics, gauges = Metrics(), Gauges(submitted_ms={3: 5_000})
    metrics.expose(Gauges())  # the kernel did not answer
    metrics.expose(gauges)
    metrics.follow(granted(25_000, entry_id=3, members_left=1))
    metrics.follow(granted(35_000, entry_id=3, members_left=0))
    assert waits(metrics) == (2, 50), "a gang begins when each member does"
    metrics.expose(gauges)
    metrics.follow(granted(99_000, entry_id=3))
    assert waits(metrics) == (2, 50), "what was read before is not taken up again"


def test_a_drain_is_counted_when_it_begins() -> None:
    metrics = Metrics()
    modes = ("accepting", "draining", "drained", "accepting")
    for before, after in pairwise(modes):
        body = {"node": "n1", "before": before, "after": after}
        metrics.follow(fact("node_mode_changed", body, tenant=None))
    assert value(metrics, "bailiwick_drains_total") == 1


def test_verdicts_are_counted_by_word_and_bad_ones_by_reason() -> None:
    metrics = Metrics()
    for verdict in ("trusted", "untrusted", "untrusted"):
        bad = {"reason": "pcr_policy"} if verdict == "untrusted" else {}
        body = {"node": "n1", "verdict": verdict, **bad}
        metrics.follow(fact("attestation_verdict", body, tenant=None))
    verdicts, reasons = "bailiwick_attestation_verdicts_total", "bailiwick_untrusted_verdicts_total"
    assert value(metrics, verdicts, attestation="untrusted") == 2
    assert value(metrics, verdicts, attestation="trusted") == 1
    assert value(metrics, reasons, untrusted_reason="pcr_policy") == 2


def test_a_gauge_that_is_gone_is_not_told_any_more() -> None:
    metrics, gauges = Metrics(), Gauges()
    gauges.put("bailiwick_nodes", 3, "accepting")
    metrics.expose(gauges)
    gauges = Gauges()
    gauges.put("bailiwick_nodes", 3, "draining")
    metrics.expose(gauges)
    assert value(metrics, "bailiwick_nodes", mode="accepting") is None
    assert value(metrics, "bailiwick_nodes", mode="draining") == 3


def test_a_state_that_cannot_be_read_is_not_told_as_it_was() -> None:
    metrics, gauges = Metrics(), Gauges()
    gauges.put("bailiwick_fenced_leases", 3)
    gauges.put("bailiwick_gpus", 8, "nvidia_hopper", "free")
    gauges.put("bailiwick_cells", 1, "cut_off")
    metrics.set("bailiwick_booking_series_unbooked", 2)
    metrics.expose(gauges)
    metrics.expose(Gauges())
    assert value(metrics, "bailiwick_gpus", generation="nvidia_hopper", gpu_use="free") is None
    assert value(metrics, "bailiwick_cells", standing="cut_off") is None
    assert math.isnan(value(metrics, "bailiwick_fenced_leases") or 0)
    assert value(metrics, "bailiwick_booking_series_unbooked") == 2, "it is the replica's own"
    metrics.expose(gauges)
    assert value(metrics, "bailiwick_fenced_leases") == 3


def test_counters_are_there_before_they_count() -> None:
    """Else the first event would be no increase, and an alert on one event would stay silent."""
    metrics = Metrics()
    assert value(metrics, "bailiwick_break_glass_total") == 0
    assert value(metrics, "bailiwick_refusals_total", refusal="bad_signature") == 0
    gauges = Gauges()
    gauges.put("bailiwick_tenant_usage", 1, "lab", "cpu_milli")
    metrics.expose(gauges)
    assert (
        value(metrics, "bailiwick_preemptions_total", tenant="lab", reason="quota_rebalance") == 0
    )


def test_what_tenants_beyond_the_bound_share_begins_at_zero() -> None:
    """Every counter with a tenant: nobody meets these tenants before their first event."""
    metrics = Metrics()
    told = {
        (metric.name + "_total", *sorted(sample.labels.items()))
        for metric in metrics.registry.collect()
        for sample in metric.samples
        if sample.labels.get(TENANT) == OTHER and sample.value == 0
    }
    for spec in CATALOG:
        if spec.kind is MetricKind.COUNTER and TENANT in spec.labels:
            rest = [label for label in spec.labels if label != TENANT]
            for words in product(*(LABELS[label] for label in rest)):
                labels = {TENANT: OTHER, **dict(zip(rest, words, strict=True))}
                assert (spec.name, *sorted(labels.items())) in told
    for number in range(TENANTS_MAX):
        metrics.word(TENANT, f"t{number}")
    name, labels = "bailiwick_preemptions_total", {TENANT: OTHER, "reason": "cost_cap_eviction"}
    assert value(metrics, name, **labels) == 0
    metrics.follow(preempted("cost_cap_eviction", "late"))
    assert value(metrics, name, **labels) == 1


def test_tenants_beyond_the_bound_share_a_label() -> None:
    metrics = Metrics()
    for number in range(TENANTS_MAX + 50):
        metrics.follow(preempted("quota_rebalance", f"t{number}"))
    name = "bailiwick_preemptions_total"
    assert value(metrics, name, tenant="t0", reason="quota_rebalance") == 1
    assert value(metrics, name, tenant=OTHER, reason="quota_rebalance") == 50
    assert value(metrics, name, tenant=f"t{TENANTS_MAX}", reason="quota_rebalance") is None


WILD = st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["lab", "low", "active"]))


@given(st.data())
def test_no_label_is_ever_another_word(data: st.DataObject) -> None:
    """Whatever is told to any metric, its labels are closed words and bounded tenants."""
    metrics = Metrics()
    metrics.actions |= ACTIONS.keys()
    spec = data.draw(st.sampled_from(CATALOG))
    words = [data.draw(WILD) for _ in spec.labels]
    match spec.kind:
        case MetricKind.COUNTER:
            metrics.count(spec.name, *words)
        case MetricKind.GAUGE:
            metrics.set(spec.name, 1, *words)
        case MetricKind.HISTOGRAM:
            metrics.observe(spec.name, 1, *words)
    tenants = {OTHER, *(word for word in words if word is not None)}
    check_labels(metrics, tenants)


def check_labels(metrics: Metrics, tenants: set[str]) -> None:
    for metric in metrics.registry.collect():
        for sample in metric.samples:
            for label, word in sample.labels.items():
                if label == TENANT:
                    assert word in tenants
                elif label == ACTION:
                    assert word in {*ACTIONS, OTHER}
                elif label != "le":
                    assert word in LABELS[label] | {OTHER}, (sample.name, label, word)


@given(st.lists(st.sampled_from(list(RecordKind)), max_size=20), st.dictionaries(WILD, WILD))
def test_a_record_of_any_kind_is_counted(kinds: list[RecordKind], more: Mapping[str, Any]) -> None:
    """Bodies are the kernel's own; whatever else stands in them makes no new series."""
    metrics = Metrics()
    body = {
        **more,
        "reason": "operator_drain",
        "lease_class": "spot",
        "node": "n-secret-1",
        "verdict": "trusted",
        "freed": {"cpu_milli": 1},
        "lease_id": 991_199,
        "lease_ids": [991_199],
        "after": "draining",
    }
    for kind in kinds:
        metrics.follow(fact(kind, body))
    check_labels(metrics, {"lab", OTHER})
    told = metrics.expose(Gauges()).decode()
    assert "n-secret-1" not in told
    assert "991199" not in told
    for kind in kinds:
        found = value(metrics, "bailiwick_journal_records_total", record_kind=kind)
        assert found == kinds.count(kind)


def test_names_say_their_unit_and_kind() -> None:
    for spec in CATALOG:
        assert re.fullmatch(r"bailiwick_[a-z_]+", spec.name)
        assert spec.name.endswith("_total") == (spec.kind is MetricKind.COUNTER), spec.name
        assert {*spec.labels} <= {*LABELS, TENANT, ACTION}, spec.name
        assert not {"lease_id", "node", "principal", "correlation_id"} & {*spec.labels}


def test_words_are_those_of_whoever_decides_them() -> None:
    spoken = re.compile(r"(?:refuse_hidden|Refusal)\(\s*\"(\w+)\"")
    rooms = [SOURCES / "services", SOURCES / "server" / "http"]
    files = [path for room in rooms for path in room.rglob("*.py")]
    said = {word for path in files for word in spoken.findall(path.read_text())}
    reasons = re.compile(r"\.refuse\([^)]*reason=\"(\w+)\"")
    said |= {word for path in files for word in reasons.findall(path.read_text())}
    said |= {f"pull_{fault.value}" for fault in PullFault} | {*LoginRefusal}
    said |= {*FederationRefusal}
    assert {*RefusalWord} | said == {*REFUSALS}
    assert {*ReplicaRole} == LABELS["role"]
    assert {*Against} == LABELS["against"]
    closed = {*NodeMode} - {NodeMode.ACCEPTING}
    held = {"leased", "claimed", "fenced"}
    assert {str(mode) for mode in closed} | held | {"free", "quarantined", "gated"} == {*GpuUse}
    assert {str(status) for status in STATUSES} == LABELS["status"]
    assert not {role.value for role in Role} & LABELS["role"]


def test_the_manual_tells_every_metric() -> None:
    """The table is written as ``row`` says; paste what this prints when it fails."""
    text = MANUAL.read_text()
    missing = [row(spec) for spec in CATALOG if row(spec) not in text]
    assert not missing, "\n".join(missing)
    told = set(re.findall(r"^\| `(bailiwick_\w+)`", text, flags=re.MULTILINE))
    assert told == {spec.name for spec in CATALOG}


def row(spec: Any) -> str:
    labels = ", ".join(spec.labels) or "-"
    return f"| `{spec.name}` | {spec.kind} | {spec.whose} | {labels} | {spec.says} |"

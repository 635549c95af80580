"""The Grafana dashboard, made from a list of panels: ``python ops/grafana/dashboard.py``.

Rules:

- A panel is a question with one or more queries; its description says how to read the answer.
- What the journal says is taken once for each fleet (`_fleet`), what a replica did is added up.
- Queries name only metrics and labels that there are; a test (tests/ops) holds each to the program.
- The file beside this one is what this writes, byte for byte; change the list, not the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("bailiwick.json")
SOURCE: Final = {"type": "prometheus", "uid": "${prometheus}"}
WIDTH: Final = 24
HEIGHT: Final = 8
RATE: Final = "[$__rate_interval]"


@dataclass(frozen=True, slots=True)
class Panel:
    """One question."""

    title: str
    says: str
    queries: tuple[tuple[str, str], ...]
    """Each with what its lines are called."""
    unit: str = "short"
    kind: str = "timeseries"
    columns: int = 8
    stacks: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Questions that belong together."""

    title: str
    panels: tuple[Panel, ...]


def _fleet(expr: str, *labels: str) -> str:
    """What the journal says: every replica of a fleet says the same, and fleets are added up."""
    last = f" by ({', '.join(labels)}) " if labels else ""
    one, each = ", ".join(("job", *labels)), ", ".join(("job", *labels, "instance"))
    return f"sum{last}(max by ({one}) (sum by ({each}) ({expr})))"


def _p99(name: str, more: str = "") -> str:
    return f"histogram_quantile(0.99, sum by (le) (rate({name}_bucket{more}{RATE})))"


_CLASSES: Final = _fleet("rate(bailiwick_queue_wait_seconds_bucket[1h])", "le", "lease_class")

ROWS: Final = (
    Row(
        "Now",
        (
            Panel(
                "Alerts that fire",
                "What Prometheus has found, by severity. Each has its section in docs/alerts.md.",
                (('sum by (severity) (ALERTS{alertstate="firing"})', "{{severity}}"),),
                kind="stat",
                columns=4,
            ),
            Panel(
                "Leading",
                "1 while some replica leads, for each fleet. 0: nothing can be changed there.",
                (("job:bailiwick_leading:max", "{{job}}"),),
                kind="stat",
                columns=4,
            ),
            Panel(
                "GPUs free",
                "What anybody could be given now, by generation.",
                ((_fleet('bailiwick_gpus{gpu_use="free"}', "generation"), "{{generation}}"),),
                kind="stat",
                columns=8,
            ),
            Panel(
                "Waiting",
                "Requests in the queue, and for how long the oldest waits.",
                (
                    (_fleet("bailiwick_waiting_requests"), "requests"),
                    ("max(max by (job) (bailiwick_waiting_oldest_seconds))", "oldest, seconds"),
                ),
                kind="stat",
                columns=8,
            ),
        ),
    ),
    Row(
        "The fleet",
        (
            Panel(
                "GPUs by what becomes of them",
                "Leased, free, or why nobody can have them. The whole is the fleet.",
                ((_fleet("bailiwick_gpus", "gpu_use"), "{{gpu_use}}"),),
                stacks=True,
            ),
            Panel(
                "GPUs leased, by generation",
                "As a part of all GPUs of that generation.",
                (
                    (
                        _fleet('bailiwick_gpus{gpu_use="leased"}', "generation")
                        + " / "
                        + _fleet("bailiwick_gpus", "generation"),
                        "{{generation}}",
                    ),
                ),
                unit="percentunit",
            ),
            Panel(
                "Nodes by mode",
                "What operators have said about them.",
                (
                    (_fleet("bailiwick_nodes", "mode"), "{{mode}}"),
                    (_fleet("bailiwick_quarantined_nodes"), "quarantined"),
                ),
                stacks=True,
            ),
        ),
    ),
    Row(
        "Tenants",
        (
            Panel(
                "GPUs held, by tenant",
                "Who has how much of the fleet.",
                ((_fleet("bailiwick_tenant_gpu_usage", "tenant"), "{{tenant}}"),),
                stacks=True,
            ),
            Panel(
                "Requests waiting, by tenant",
                "Whose work waits. bailiwick explain says for what.",
                ((_fleet("bailiwick_tenant_waiting_requests", "tenant"), "{{tenant}}"),),
                stacks=True,
            ),
            Panel(
                "Waiting, by first blocker",
                "What stands in the way of those who wait.",
                ((_fleet("bailiwick_waiting_requests", "pending_reason"), "{{pending_reason}}"),),
                stacks=True,
            ),
            Panel(
                "Decisions",
                "Requests a second, by what became of them.",
                ((_fleet(f"rate(bailiwick_admissions_total{RATE})", "outcome"), "{{outcome}}"),),
                unit="reqps",
            ),
            Panel(
                "Preemptions, by reason",
                "Leases that were ended early, in an hour. A reason that is a signal has an alert.",
                ((_fleet("increase(bailiwick_preemptions_total[1h])", "reason"), "{{reason}}"),),
                stacks=True,
            ),
            Panel(
                "Wait for a lease, 95 of 100",
                "From request to lease, by class, over an hour.",
                ((f"histogram_quantile(0.95, {_CLASSES})", "{{lease_class}}"),),
                unit="s",
            ),
        ),
    ),
    Row(
        "The server",
        (
            Panel(
                "Decisions: how long",
                "From asking the kernel to its durable answer, 99 of 100; and the commit alone.",
                (
                    (_p99("bailiwick_kernel_wait_seconds", '{wait="call"}'), "decision"),
                    (_p99("bailiwick_journal_append_seconds"), "commit"),
                ),
                unit="s",
            ),
            Panel(
                "Requests",
                "A second, by how they ended. What apps answered is not among them.",
                (
                    (
                        f"sum by (status_class) (rate(bailiwick_request_seconds_count{RATE}))",
                        "{{status_class}}",
                    ),
                ),
                unit="reqps",
            ),
            Panel(
                "Commands before the kernel",
                "A line that does not get shorter is the store, or too much at once.",
                (("max by (job) (bailiwick_kernel_queue_length)", "{{job}}"),),
            ),
        ),
    ),
    Row(
        "Security",
        (
            Panel(
                "Turned away",
                "Callers that were refused, in five minutes, as sealed.",
                (
                    (
                        _fleet("increase(bailiwick_refusals_total[5m])", "refusal") + " > 0",
                        "{{refusal}}",
                    ),
                ),
                stacks=True,
            ),
            Panel(
                "Nodes by attestation",
                "Where a policy asks for proof.",
                (
                    (
                        _fleet("bailiwick_attested_nodes", "attestation_state"),
                        "{{attestation_state}}",
                    ),
                ),
                stacks=True,
            ),
            Panel(
                "Rooms that are fenced",
                "Teardowns that nobody could confirm. Nobody gets what may still be in use.",
                ((_fleet("bailiwick_fenced_leases"), "leases"),),
            ),
        ),
    ),
)


def make_dashboard() -> dict[str, Any]:
    """What Grafana imports."""
    panels: list[dict[str, Any]] = []
    top = 0
    for row in ROWS:
        place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
        number = len(panels) + 1
        panels.append(
            {"id": number, "type": "row", "title": row.title, "gridPos": place, "panels": []}
        )
        top, left = top + 1, 0
        for panel in row.panels:
            if left + panel.columns > WIDTH:
                top, left = top + HEIGHT, 0
            place = {"x": left, "y": top, "w": panel.columns, "h": HEIGHT}
            panels.append(_spell(panel, len(panels) + 1, place=place))
            left += panel.columns
        top += HEIGHT
    source = {"name": "prometheus", "type": "datasource", "query": "prometheus", "label": "Source"}
    return {
        "uid": "bailiwick",
        "title": "Bailiwick",
        "tags": ["bailiwick"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source]},
        "panels": panels,
    }


def _spell(panel: Panel, number: int, *, place: dict[str, int]) -> dict[str, Any]:
    custom: dict[str, Any] = {}
    if panel.kind == "timeseries":
        custom = {"fillOpacity": 30 if panel.stacks else 5, "lineWidth": 1}
        custom["stacking"] = {"mode": "normal" if panel.stacks else "none"}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": custom}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": SOURCE, "expr": expr, "legendFormat": name}
            for at, (expr, name) in enumerate(panel.queries)
        ],
    }


def spell_dashboard() -> str:
    """The file."""
    return json.dumps(make_dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(spell_dashboard())

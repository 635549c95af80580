"""Several replicas, several fleets: no rule and no panel counts a fleet for each of its replicas.

What the journal says every replica says, and what a replica did itself no other counts. Which of
the two a metric is stands in the catalogue; here each expression is held to it twice: by how it is
written, and, for the rules, by what they say when twenty replicas tell what one told.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from ruamel.yaml import YAML

from bailiwick.telemetry.catalog import CATALOG, MetricKind, Whose
from ops.grafana.dashboard import ROWS
from tests.ops.test_alerts import ALL_CASES, FOLDER, OBJECTIVES, RULES, all_rules, load
from tests.support.tools import need

SPECS = {spec.name: spec for spec in CATALOG}
REPLICAS = 20
INSIDE = ("vector_selector", "expr", "lhs", "rhs", "args")


def spec_of(series: str) -> Any:
    """What the catalogue says of a series; nothing for one that is not ours."""
    return SPECS.get(series) or SPECS.get(re.sub(r"_(bucket|count|sum)$", "", series))


def walk(node: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, tuple[Any, ...]]]:
    """Every selector with the aggregations around it, the innermost first."""
    if isinstance(node, promql_parser.VectorSelector):
        return [(node, above)]
    around = (node, *above) if isinstance(node, promql_parser.AggregateExpr) else above
    found = []
    for name in INSIDE:
        inside = getattr(node, name, None)
        for each in inside if isinstance(inside, list) else [inside]:
            if each is not None and not isinstance(each, str):
                found += walk(each, around)
    return found


def kept_by(aggregation: Any) -> set[str]:
    modifier = aggregation.modifier
    if modifier is None:
        return set()
    assert str(modifier.type).endswith("By"), "say what is kept, not what is dropped"
    return {*modifier.labels}


def fault_of(expr: str) -> str | None:
    """What is wrong with how an expression puts replicas together."""
    for selector, above in walk(promql_parser.parse(expr)):
        spec = spec_of(selector.name)
        if spec is None:
            continue
        joins = next((each for each in above if "instance" not in kept_by(each)), None)
        word = None if joins is None else str(joins.op)
        if spec.whose is Whose.JOURNAL and (joins is None or word != "max"):
            return f"{spec.name} is of the journal, and is joined by {word}"
        if spec.whose is Whose.REPLICA and spec.kind is not MetricKind.GAUGE and word == "max":
            return f"{spec.name} is of each replica, and only the greatest is taken"
        if word == "max" and "job" not in kept_by(joins):
            return f"{spec.name} is taken of one fleet only"
    return None


@pytest.mark.parametrize(
    ("expr", "fault"),
    [
        ("sum(bailiwick_gpus)", "bailiwick_gpus is of the journal, and is joined by sum"),
        ("bailiwick_fenced_leases > 0", "bailiwick_fenced_leases is of the journal, and is"),
        ("max by (instance) (bailiwick_gpus)", "bailiwick_gpus is of the journal"),
        ("max(sum by (instance) (bailiwick_gpus))", "bailiwick_gpus is taken of one fleet only"),
        (
            "1 - sum by (job) (rate(bailiwick_queue_wait_seconds_bucket[1h]))",
            "bailiwick_queue_wait_seconds is of the journal, and is joined by sum",
        ),
        (
            "max by (job) (increase(bailiwick_request_errors_total[5m]))",
            "bailiwick_request_errors_total is of each replica",
        ),
        ("max by (job) (sum by (job, instance) (bailiwick_gpus))", None),
        ("sum(max by (job) (sum by (job, instance) (bailiwick_gpus)))", None),
        ("sum by (job) (increase(bailiwick_request_errors_total[5m]))", None),
        ("max by (job) (bailiwick_replica_role)", None),
        ("sum(up)", None),
    ],
)
def test_a_wrong_sum_is_seen(expr: str, fault: str | None) -> None:
    found = fault_of(expr)
    assert found == fault or (fault is not None and (found or "").startswith(fault))


def test_every_rule_puts_replicas_together_as_the_catalogue_says() -> None:
    for rule in all_rules():
        assert fault_of(rule["expr"]) is None, rule


def test_every_panel_puts_replicas_together_as_the_catalogue_says() -> None:
    for row in ROWS:
        for panel in row.panels:
            for expr, _ in panel.queries:
                plain = expr.replace("$__rate_interval", "5m")
                assert fault_of(plain) is None, panel.title


def test_a_rule_says_of_which_fleet_it_speaks() -> None:
    for rule in all_rules():
        for selector, above in walk(promql_parser.parse(rule["expr"])):
            if spec_of(selector.name) is not None:
                assert all("job" in kept_by(each) for each in above), rule["expr"]


def as_replicas_tell(series: dict[str, Any]) -> list[dict[str, Any]]:
    """What replica `a` tells of the journal, as many replicas tell it; all else as it was."""
    spec = spec_of(series["series"].split("{")[0])
    if spec is None or spec.whose is not Whose.JOURNAL:
        return [series]
    name = series["series"]
    if 'instance="a"' not in name:
        return [series]
    return [
        {**series, "series": name.replace('instance="a"', f'instance="r{n}"')}
        for n in range(REPLICAS)
    ]


def is_of_the_journal(case: dict[str, Any]) -> bool:
    return any(len(as_replicas_tell(each)) > 1 for each in case["input_series"])


OF_THE_JOURNAL = [path for path in ALL_CASES if any(map(is_of_the_journal, load(path)["tests"]))]


@pytest.mark.parametrize("path", OF_THE_JOURNAL, ids=lambda path: path.name)
def test_rules_say_the_same_however_many_replicas_there_are(path: Path, tmp_path: Path) -> None:
    need("promtool")
    told = load(path)
    told["tests"] = [case for case in told["tests"] if is_of_the_journal(case)]
    for case in told["tests"]:
        case["input_series"] = [
            each for series in case["input_series"] for each in as_replicas_tell(series)
        ]
    for rules in (RULES, OBJECTIVES):
        (tmp_path / rules.name).write_bytes((FOLDER / rules.name).read_bytes())
    YAML(typ="safe").dump(told, tmp_path / path.name)
    ran = subprocess.run(
        ["promtool", "test", "rules", str(tmp_path / path.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

"""The alert rules: they are well-formed, fire when they should, and name only what there is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from ruamel.yaml import YAML

from bailiwick.cli.shared.quota_words import parse_ceiling
from bailiwick.kernel.health import rules as rules_of_health
from bailiwick.kernel.settings import Settings
from bailiwick.telemetry.catalog import ACTION, CATALOG, LABELS, MetricKind
from bailiwick.telemetry.signals import (
    ATTESTATION_SIGNALS,
    PREEMPTION_SIGNALS,
    REFUSAL_SIGNALS,
    Signal,
)
from bailiwick.tools.isolation_audit import AUDIT_METRICS
from bailiwick.vocab.health import EVICTED_BY
from bailiwick.vocab.words import PreemptionReason, Priority
from bailiwick.wire.actions.table import ACTIONS
from tests.support.tools import need

FOLDER = Path(__file__).resolve().parents[2] / "ops" / "prometheus"
DOCS = FOLDER.parents[1] / "docs"
RULES, CASES = FOLDER / "alerts.yml", FOLDER / "alerts_test.yml"
OBJECTIVES = FOLDER / "objectives.yml"
ALL_CASES = (CASES, FOLDER / "objectives_test.yml", FOLDER / "failover_test.yml")
WORDS = {**LABELS, ACTION: frozenset(ACTIONS), "job": frozenset(("bailiwick.*",))}


@pytest.fixture(scope="session")
def promtool() -> None:
    """Prometheus' own judge of rules."""
    need("promtool")


def load(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def all_rules() -> list[dict[str, Any]]:
    """Alerts, and what is recorded for them."""
    groups = [group for path in (RULES, OBJECTIVES) for group in load(path)["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def rules() -> list[dict[str, Any]]:
    """The alerts."""
    return [rule for rule in all_rules() if "alert" in rule]


def cases() -> list[dict[str, Any]]:
    """What the rules are tried with."""
    return [case for path in ALL_CASES for case in load(path)["tests"]]


def selectors(node: Any) -> list[Any]:
    """Every selector inside an expression."""
    if isinstance(node, promql_parser.VectorSelector):
        return [node]
    found = []
    for name in ("vector_selector", "expr", "lhs", "rhs", "args"):
        inside = getattr(node, name, None)
        for each in inside if isinstance(inside, list) else [inside]:
            if each is not None and not isinstance(each, str):
                found += selectors(each)
    return found


def selected() -> list[tuple[dict[str, Any], Any]]:
    return [
        (rule, each)
        for rule in all_rules()
        for each in selectors(promql_parser.parse(rule["expr"]))
    ]


def series() -> dict[str, set[str]]:
    """Every series that there can be, with its labels."""
    found: dict[str, set[str]] = {"up": {"job", "instance"}}
    found |= {name: {"target", "rule"} for name, _ in AUDIT_METRICS}
    found |= {rule["record"]: {"job"} for rule in all_rules() if "record" in rule}
    for spec in CATALOG:
        labels = {*spec.labels, "job", "instance"}
        if spec.kind is MetricKind.HISTOGRAM:
            found[spec.name + "_bucket"] = labels | {"le"}
            found[spec.name + "_count"] = found[spec.name + "_sum"] = labels
        else:
            found[spec.name] = labels
    return found


def words_with_a_rule(label: str) -> set[str]:
    return {
        word
        for _, each in selected()
        for matcher in each.matchers.matchers
        if matcher.name == label and str(matcher.op) in ("MatchOp.Equal", "MatchOp.Re")
        for word in matcher.value.split("|")
    }


@pytest.mark.usefixtures("promtool")
@pytest.mark.parametrize("path", [RULES, OBJECTIVES, *ALL_CASES], ids=lambda path: path.name)
def test_promtool_agrees(path: Path) -> None:
    word = "test" if path in ALL_CASES else "check"
    ran = subprocess.run(
        ["promtool", word, "rules", str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.usefixtures("promtool")
def test_promtool_would_not_agree_with_a_rule_that_never_fires(tmp_path: Path) -> None:
    broken = RULES.read_text().replace('reason="cost_cap_eviction"}', 'reason="cost_cap"}')
    (tmp_path / RULES.name).write_text(broken)
    own = [case for case in load(CASES)["tests"] if "BailiwickCostCapEviction" in str(case)]
    YAML(typ="safe").dump({**load(CASES), "tests": own}, tmp_path / CASES.name)
    ran = subprocess.run(
        ["promtool", "test", "rules", str(tmp_path / CASES.name)],
        capture_output=True,
        check=False,
    )
    assert ran.returncode != 0


def test_selectors_are_found_wherever_they_stand() -> None:
    found = selectors(
        promql_parser.parse(
            "histogram_quantile(0.9, sum by (le) (rate(a[5m]))) > 1 or absent(b) "
            "and (max_over_time(c[1m]) > 2) unless -d"
        )
    )
    assert [each.name for each in found] == ["a", "b", "c", "d"]


def test_every_rule_names_metrics_and_labels_that_exist() -> None:
    known = series()
    for rule, each in selected():
        assert each.name in known, (rule["expr"], each.name)
        for matcher in each.matchers.matchers:
            assert matcher.name in known[each.name], (rule["expr"], matcher.name)
            words = {*matcher.value.split("|")}
            assert words <= WORDS.get(matcher.name, words), rule["expr"]


def test_every_preemption_reason_was_judged() -> None:
    assert PREEMPTION_SIGNALS.keys() == {*PreemptionReason}


def test_every_word_that_is_a_signal_has_a_rule() -> None:
    signals = {word for word, signal in PREEMPTION_SIGNALS.items() if signal != Signal.ORDINARY}
    assert words_with_a_rule("reason") == signals
    assert words_with_a_rule("refusal") == {*REFUSAL_SIGNALS}
    assert words_with_a_rule("attestation") == {*ATTESTATION_SIGNALS}


def test_a_rule_about_a_reason_says_the_reason_its_signal_and_why() -> None:
    found = {rule["labels"]["reason"]: rule for rule in rules() if "reason" in rule["labels"]}
    for word, signal in PREEMPTION_SIGNALS.items():
        if signal is Signal.ORDINARY:
            assert word not in found
            continue
        rule = found[word]
        assert rule["labels"]["signal"] == signal
        assert f'reason="{word}"' in rule["expr"]
        assert rule["annotations"]["why"]


def test_every_rule_is_labelled_and_told() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len({*names}) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["labels"]["signal"] in ("security", "misuse", "health")
        assert {"summary", "next"} <= rule["annotations"].keys(), rule["alert"]


def test_every_rule_has_a_case_that_fires_and_one_that_does_not() -> None:
    fires: dict[str, set[bool]] = {}
    for case in cases():
        for each in case["promql_expr_test"]:
            if each["expr"].startswith("ALERTS{"):
                for name in each["expr"].split('"')[1].split("|"):
                    fires.setdefault(name, set()).add(bool(each["exp_samples"]))
    assert fires == {rule["alert"]: {True, False} for rule in rules()}


def test_every_alert_is_in_the_manual() -> None:
    text = (DOCS / "observability.md").read_text()
    for rule in rules():
        assert f"| `{rule['alert']}` |" in text, rule["alert"]


def test_every_alert_has_its_section_and_leads_there() -> None:
    sections = re.split(r"^### ", (DOCS / "alerts.md").read_text(), flags=re.MULTILINE)[1:]
    told = dict(each.split("\n", 1) for each in sections)
    assert told.keys() == {rule["alert"] for rule in rules()}
    assert all(text.strip() for text in told.values())
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/alerts.md#{rule['alert'].lower()}"


def texts_about(name: str) -> tuple[str, str]:
    """What a rule says to look at, and its section of the page."""
    (rule,) = [each for each in rules() if each["alert"] == name]
    section = (DOCS / "alerts.md").read_text().partition(f"### {name}\n")[2]
    return rule["annotations"]["next"], section.partition("\n### ")[0]


def test_a_drain_that_nobody_ordered_is_told_from_one_that_somebody_did() -> None:
    """Nodes that fail a health check are drained for the reason of an operator's drain."""
    assert rules_of_health.REASON is PreemptionReason.OPERATOR_DRAIN
    for text in texts_about("BailiwickOperatorDrainBurst"):
        words = ("preemptor", EVICTED_BY, "node_health_changed", "operator", "node_mode_changed")
        places = [text.index(word) for word in words]
        assert places == sorted(places), "each with the record that leads on from it"


def test_who_preempts_too_much_is_stopped_by_what_is_his_own() -> None:
    """Not by a setting of the fleet: what both texts say to type is a ceiling of one tenant."""
    for text in texts_about("BailiwickPriorityPreemptionStorm"):
        (typed,) = re.findall(r"bailiwick (quota set (\w+)=(\w+)) --tenant TENANT", text)
        _, name, value = typed
        assert (name, parse_ceiling(name, value)) == ("priority_max", value)
        assert Priority(value).rank < Settings().preempt_from.rank


def test_every_objective_is_told_and_has_a_fast_and_a_slow_alert() -> None:
    found: dict[str, set[str]] = {}
    for rule in rules():
        if "objective" in rule["labels"]:
            found.setdefault(rule["labels"]["objective"], set()).add(rule["alert"][-8:])
    assert all(ends == {"BurnFast", "BurnSlow"} for ends in found.values())
    told = re.findall(r"^\| `(\w+)` \|", (DOCS / "slo.md").read_text(), flags=re.MULTILINE)
    assert {*told} == found.keys()


def test_slow_are_only_those_that_are_not_to_take_their_time() -> None:
    (found,) = [each for rule, each in selected() if rule.get("alert") == "BailiwickSlowRequests"]
    (left_out,) = [each for each in found.matchers.matchers if each.name == ACTION]
    assert str(left_out.op) == "MatchOp.NotRe"
    assert left_out.value.split("|") == sorted(n for n, each in ACTIONS.items() if each.lasts)


def test_a_bound_of_an_objective_is_a_bound_that_is_counted() -> None:
    buckets = {spec.name + "_bucket": spec.buckets for spec in CATALOG}
    for rule, each in selected():
        for matcher in each.matchers.matchers:
            if matcher.name == "le":
                assert float(matcher.value) in buckets[each.name], rule["alert"]
                assert matcher.value == str(float(matcher.value)), "as it is exposed"

"""The Grafana dashboard and the example stack: they name only what there is, and fit together."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx2
import promql_parser
import pytest
from ruamel.yaml import YAML

from bailiwick.cli.commands.up import UpOptions
from ops.grafana.dashboard import FILE, HEIGHT, ROWS, WIDTH, make_dashboard, spell_dashboard
from tests.ops.test_alerts import WORDS, selectors, series
from tests.processes.harness import Server, running
from tests.support.tools import need

OPS = Path(__file__).resolve().parents[2] / "ops"
STACK = OPS / "observability"
FILES = ("compose.yaml", "prometheus.yml", "collector.yaml", "loki.yaml", "tempo.yaml")


def load(name: str) -> Any:
    return YAML(typ="safe").load(STACK / name)


def test_the_file_is_what_the_list_of_panels_says() -> None:
    assert FILE.read_text() == spell_dashboard(), "run: python ops/grafana/dashboard.py"


def test_every_query_names_metrics_labels_and_words_that_exist() -> None:
    known = series() | {"ALERTS": {"alertstate", "severity"}}
    queries = [query for row in ROWS for panel in row.panels for query in panel.queries]
    for expr, legend in queries:
        tree = promql_parser.parse(expr.replace("$__rate_interval", "5m"))
        found = selectors(tree)
        assert found, expr
        labels = {*known[found[0].name]}
        assert {*re.findall(r"{{(\w+)}}", legend)} <= labels, expr
        for each in found:
            for matcher in each.matchers.matchers:
                assert matcher.name in known[each.name], expr
                words = {*matcher.value.split("|")}
                assert words <= WORDS.get(matcher.name, words), expr
        for grouped in re.findall(r"by \(([^)]*)\)", expr):
            assert {*grouped.replace(" ", "").split(",")} <= labels, expr


def test_no_two_panels_stand_in_the_same_place() -> None:
    taken: set[tuple[int, int]] = set()
    panels = make_dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= WIDTH
        assert place["h"] in (1, HEIGHT)
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_every_panel_says_how_to_read_it() -> None:
    titles = [panel.title for row in ROWS for panel in row.panels]
    assert len({*titles}) == len(titles)
    for row in ROWS:
        for panel in row.panels:
            assert panel.says.endswith("."), panel.title
            assert panel.queries, panel.title


def test_prometheus_takes_the_stacks_configuration(tmp_path: Path) -> None:
    need("promtool")
    (tmp_path / "prometheus.yml").write_bytes((STACK / "prometheus.yml").read_bytes())
    for name in load("prometheus.yml")["rule_files"]:
        (tmp_path / name).write_bytes((OPS / "prometheus" / name).read_bytes())
    ran = subprocess.run(
        ["promtool", "check", "config", str(tmp_path / "prometheus.yml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert load("prometheus.yml")["scrape_configs"][0]["job_name"] == "bailiwick"


def test_whatever_a_service_mounts_is_there() -> None:
    made_by_hand = {"./logs"}
    compose = load("compose.yaml")
    mounts = [each for service in compose["services"].values() for each in service["volumes"]]
    for mount in mounts:
        source = mount.split(":")[0]
        if source.startswith(".") and source not in made_by_hand:
            assert (STACK / source).is_file(), source
        elif not source.startswith("."):
            assert source in compose["volumes"], source


def on_loopback() -> set[str]:
    """The addresses of this machine at which the stack listens."""
    services = load("compose.yaml")["services"]
    ports = [each for service in services.values() for each in service.get("ports", ())]
    found = {each.rpartition(":")[0] for each in ports}
    told = [each for service in services.values() for each in service.get("command", ())]
    found |= {each.partition("=")[2] for each in told if each.startswith("--web.listen-address=")}
    grafana = services["grafana"]["environment"]
    return found | {f"{grafana['GF_SERVER_HTTP_ADDR']}:{grafana['GF_SERVER_HTTP_PORT']}"}


def test_all_of_the_stack_listens_on_loopback_only() -> None:
    assert on_loopback() == {f"127.0.0.1:{port}" for port in (3000, 3100, 3200, 4318, 9090)}


def test_a_service_that_names_loopback_is_on_the_machines_own_network() -> None:
    """In a network of its own that address is the container itself."""
    for name, service in load("compose.yaml")["services"].items():
        sources = [STACK / each.split(":")[0] for each in service["volumes"]]
        told = "".join(each.read_text() for each in sources if each.suffix in (".yml", ".yaml"))
        names_it = re.search(r"127\.0\.0\.1|localhost", told + str(service.get("command")))
        assert (service.get("network_mode") == "host") == bool(names_it), name
        assert "host.docker.internal" not in told
        assert not (names_it and "ports" in service), "it has no ports to publish"


def test_prometheus_asks_where_a_server_listens_that_is_started_as_the_page_says(
    tmp_path: Path,
) -> None:
    page = (OPS.parent / "docs" / "observability.md").read_text()
    (words,) = re.findall(r"^\$ bailiwick up (.+) 2>> logs/bailiwick\.log$", page, re.MULTILINE)
    (job,) = load("prometheus.yml")["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    assert not {"--host", "--port"} & {*words.split()}
    default = next(each.default for each in fields(UpOptions) if each.name == "port")
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"), *words.split())
    with running(server):
        listens, _, _ = server.address.rpartition(":")
        assert f"{listens}:{default}" == f"{job.get('scheme', 'http')}://{target}"
        assert "authorization" not in job
        told = httpx2.get(server.address + job.get("metrics_path", "/metrics"))
        assert (told.status_code, "bailiwick_nodes" in told.text) == (200, True)


@pytest.mark.parametrize("name", [*FILES, "grafana/datasources.yaml"])
def test_one_part_names_only_services_of_the_stack_and_their_ports(name: str) -> None:
    listens = {
        "prometheus": "9090",
        "loki": str(load("loki.yaml")["server"]["http_listen_port"]),
        "tempo": str(load("tempo.yaml")["server"]["http_listen_port"]),
    }
    otlp = load("tempo.yaml")["distributor"]["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    services = load("compose.yaml")["services"]
    near = {address.rpartition(":")[2] for address in on_loopback()}
    told = (STACK / name).read_text()
    assert {*re.findall(r"http://127\.0\.0\.1:(\d+)", told)} <= near
    for host, port in re.findall(r"http://([a-z]+):(\d+)", told):
        assert host in services
        assert port in (listens[host], otlp.split(":")[1] if host == "tempo" else None)


def test_every_pipeline_of_the_collector_is_made_of_parts_that_it_has() -> None:
    told = load("collector.yaml")
    for pipeline in told["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert {*pipeline[kind]} <= told[kind].keys()


def test_sources_lead_to_each_other_by_their_ids() -> None:
    sources = {each["uid"]: each for each in load("grafana/datasources.yaml")["datasources"]}
    assert {each["type"] for each in sources.values()} == {"prometheus", "loki", "tempo"}
    text = json.dumps(list(sources.values()))
    assert {*re.findall(r'"datasourceUid": "(\w+)"', text)} <= sources.keys()

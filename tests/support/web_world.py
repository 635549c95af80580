"""One of everything that has a page, made through the API; the same on every machine.

The nodes with GPUs have no agents: what is granted there stays granted, what waits waits. Jobs,
tasks and members run on the machine of the test and need next to nothing of it. So figures of the
fleet depend on no machine; only times differ, and the one node that is the machine itself.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.waiting import until
from tests.support.web_agents import WARM, agent_of
from tests.support.web_apps import add_app, manifest
from tests.support.web_campus import Call, Campus

ROUTER = Path(__file__).resolve().parents[2] / "web/src/app/router.tsx"
ROUTE = re.compile(r"""\bpage\(\s*"([^"]+)",""")
KINDS = (("nvidia_ampere", "A100", 80), ("nvidia_hopper", "H100", 80), ("nvidia_volta", "V100", 32))
DAY_MS = 86_400_000
GRAPH = """
tasks:
  prep: {command: [/bin/sh, -c, 'true'], cpus: 0.05, mem: 16MiB}
  work: {command: [/bin/sh, -c, 'true'], map: 12, after: [prep], cpus: 0.05, mem: 16MiB}
  last: {command: [/bin/sh, -c, 'true'], after: [work], cpus: 0.05, mem: 16MiB}
"""


def routes() -> list[str]:
    """The addresses of all pages within the frame, as the router has them."""
    return ROUTE.findall(ROUTER.read_text())


@dataclass(frozen=True, slots=True)
class World:
    """Where the one of each is."""

    campus: Campus
    paths: dict[str, str]
    """Of each route of the router, the address of a page that has something to show."""


def build_world(campus: Campus) -> World:
    """Two tenants, nodes with GPUs, work that runs and waits, an app in use, money spent."""
    _places(campus)
    _nodes(campus)
    stuck = _leases(campus)
    job, graph = _jobs(campus)
    instance = _apps(campus)
    _ahead(campus)
    invoice = _money(campus)
    lease = campus.ask("GET", "/v1/leases?limit=1")["items"][0]["lease_id"]
    rows = campus.ask("GET", "/v1/tenants/lab/records?limit=3")["items"]
    paths = {route: route for route in routes() if "$" not in route}
    paths |= {
        "/jobs/$id": f"/jobs/{job}",
        "/queue/$id": f"/queue/{stuck}",
        "/leases/$id": f"/leases/{lease}",
        "/nodes/$id": "/nodes/a100-00",
        "/maintenance/$window": "/maintenance/fans",
        "/tenants/$tenant/projects/$project/bookings/$booking": (
            "/tenants/lab/projects/vision/bookings/course"
        ),
        "/tenants/$tenant/projects/$project/booking-series/$series": (
            "/tenants/lab/projects/vision/booking-series/class"
        ),
        "/cells/$cell": "/cells/east",
        "/tenants/$tenant": "/tenants/lab",
        "/tenants/$tenant/projects/$project": "/tenants/lab/projects/vision",
        "/tenants/$tenant/records/$seq": f"/tenants/lab/records/{rows[-1]['seq']}",
        "/tenants/$tenant/invoices": "/tenants/lab/invoices",
        "/tenants/$tenant/invoices/$invoice": f"/tenants/lab/invoices/{invoice}",
        "/tenants/$tenant/share": "/tenants/lab/share",
        "/tenants/$tenant/runtimes/$runtime": "/tenants/lab/runtimes/dept",
        "/apps/$app": "/apps/hub",
        "/apps/$app/run": "/apps/hub/run",
        "/tenants/$tenant/projects/$project/instances/$id": (
            f"/tenants/lab/projects/vision/instances/{instance}"
        ),
        "/graphs/$id": f"/graphs/{graph}",
    }
    return World(campus, paths)


def end_world(world: World) -> None:
    """Its members are processes of this machine, which outlive a server: they end first."""
    ask = world.campus.ask
    ask("DELETE", f"/v1{world.paths['/tenants/$tenant/projects/$project/instances/$id']}")
    ask("DELETE", f"/v1{world.paths['/tenants/$tenant/runtimes/$runtime']}")
    going = {"waiting", "starting", "running", "ending"}

    def phases() -> set[str]:
        return {job["phase"] for job in ask("GET", "/v1/jobs?limit=100")["items"]}

    until(lambda: going.isdisjoint(phases()), "every process of it has ended")


def _places(campus: Campus) -> None:
    calls: list[Call] = []
    for tenant, projects in (("lab", ("vision", "audio", "it")), ("field", ("maps",))):
        calls.append(("POST", "/v1/tenants", {"tenant": tenant}))
        for project in projects:
            body = {"project": project, "display_name": f"The {project} group"}
            calls.append(("POST", f"/v1/tenants/{tenant}/projects", body))
    calls.append(("PUT", "/v1/tenants/field/quota", {"limits": {"gpu_count": 16}}))
    campus.ask_all(calls)


def _nodes(campus: Campus) -> None:
    calls: list[Call] = []
    for generation, model, gib in KINDS:
        gpu = {"generation": generation, "vram_bytes": gib * 2**30, "model": model}
        for number in range(8):
            node = {
                "node": f"{model.lower()}-{number:02}",
                "resources": {"cpu_milli": 64_000, "mem_bytes": 2**39},
                "gpus": [gpu] * 8,
                "labels": [f"rack=r{number % 4}"],
            }
            calls.append(("POST", "/v1/nodes", node))
    campus.ask_all(calls)


def _leases(campus: Campus) -> int:
    """Work of both; the last one of field waits for quota. Its number in the queue."""
    common = {"ttl_ms": 7_200_000, "resources": {"cpu_milli": 4_000, "mem_bytes": 2**34}}
    wishes: list[dict[str, Any]] = [
        *[{"tenant": "lab", "project": "vision", "gpu_count": 4, "tag": "train"}] * 9,
        *[{"tenant": "lab", "project": "audio", "gpu_count": 2, "lease_class": "spot"}] * 6,
        *[{"tenant": "field", "project": "maps", "gpu_count": 8, "priority": "high"}] * 3,
    ]
    campus.ask_all([("POST", "/v1/leases", {**common, **wish}) for wish in wishes])
    rows = until(lambda: campus.ask("GET", "/v1/queue")["items"], "the last one waits")
    return int(rows[0]["entry_id"])


def _ahead(campus: Campus) -> None:
    """A node that is warm, maintained and booked; a calendar, a series; a cell that is cut off."""
    agent_of(campus, "a100-00").tell_health(WARM)
    now_ms = int(time.time() * 1000)
    nodes = ["a100-00", "h100-07"]
    window = {"window": "fans", "nodes": nodes, "text": "new fans; the power stays on"}
    window |= {"starts_ms": now_ms + 20 * DAY_MS, "ends_ms": now_ms + 21 * DAY_MS}
    rule = "monthly on 1st sat at 06:00 for 4h in Europe/Berlin"
    calendar = {"rule": rule, "nodes": ["v100-07"], "ahead_days": 60, "text": "firmware"}
    booking = {"booking": "course", "nodes": nodes, "text": "the course of the autumn"}
    booking |= {"starts_ms": now_ms + 9 * DAY_MS, "ends_ms": now_ms + 10 * DAY_MS}
    series = {"rule": "weekly on tue at 09:00 for 2h in Europe/Berlin", "count": 1}
    series |= {"generation": "nvidia_volta", "ahead_days": 30}
    vision, maps = "/v1/tenants/lab/projects/vision", "/v1/tenants/field/projects/maps"
    asked = {"tenant": "lab", "project": "audio", "gpu_count": 4, "ttl_ms": 3_600_000}
    other = {**booking, "booking": "survey", "nodes": ["v100-00"], "text": ""}
    campus.ask_all(
        [
            ("POST", "/v1/maintenance/windows", window),
            ("PUT", "/v1/maintenance/calendars/firmware", calendar),
            ("POST", f"{vision}/bookings", booking),
            ("PUT", f"{vision}/booking-series/class", series),
            ("POST", f"{maps}/bookings", other),
            ("POST", "/v1/cells", {"cell": "east", "url": "http://127.0.0.1:9"}),
            ("POST", "/v1/global/requests", asked),
        ]
    )


def _jobs(campus: Campus) -> tuple[int, int]:
    """A job that has printed something, and a graph that is done."""
    wish = {
        "tenant": "lab",
        "project": "vision",
        "name": "hello",
        "command": ["/bin/sh", "-c", "echo one; echo two"],
        "resources": {"cpu_milli": 50, "mem_bytes": 2**25},
    }
    drawn = {"tenant": "lab", "project": "vision", "document": GRAPH}
    made, graph = campus.ask_all([("POST", "/v1/jobs", wish), ("POST", "/v1/graphs", drawn)])
    job, number = int(made["job_id"]), int(graph["graph_id"])
    until(
        lambda: campus.ask("GET", f"/v1/jobs/{job}")["phase"] == "succeeded",
        "the job has ended",
    )
    until(
        lambda: campus.ask("GET", f"/v1/graphs/{number}")["graph"]["phase"] == "succeeded",
        "the graph has ended",
    )
    return job, number


def _apps(campus: Campus) -> str:
    """An app, an instance of it, and a runtime that projects share; the instance's number."""
    add_app(campus, manifest(), tenant="lab")
    wish = {"name": "notebooks", "app": "hub", "version": "1.0.0", "counts": {"worker": 2}}
    made = campus.ask("POST", "/v1/tenants/lab/projects/vision/instances", wish)
    shared: dict[str, Any] = {
        "app": "hub",
        "version": "1.0.0",
        "runtime": "dept",
        "environment": "prod",
        "project": "it",
    }
    plan = campus.ask("POST", "/v1/tenants/lab/runtime-plans", shared)
    campus.ask("POST", "/v1/tenants/lab/runtimes", {**shared, "accepted_digest": plan["digest"]})
    return str(made["instance"]["instance_id"] if "instance" in made else made["instance_id"])


def _money(campus: Campus) -> str:
    """Something was used, and there is an invoice and a budget; the invoice's name."""

    def used() -> dict[str, Any] | None:
        found: dict[str, Any] = campus.ask("GET", "/v1/tenants/lab/usage")
        return found if found["total"]["cost_micros"] > 0 else None

    usage = until(used, "something was used")
    until(lambda: time.time() * 1000 > usage["to_ms"], "the period of an invoice is over")
    period = {"from_ms": usage["from_ms"], "to_ms": usage["to_ms"]}
    made = campus.ask("POST", "/v1/tenants/lab/invoices", period)
    campus.ask("PUT", "/v1/tenants/lab/budget", {"limit_micros": 500_000_000_000})
    return str(made["body"]["invoice_id"])

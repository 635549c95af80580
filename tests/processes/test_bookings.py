"""Bookings of a real server: each time of a series once, over a restart, and unused ones back."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from tests.processes.harness import Server, running
from tests.support.waiting import until

LAB = "/v1/tenants/lab/projects"
PLACE = f"{LAB}/course"


def ask(server: Server, method: str, path: str, body: object = None) -> dict[str, Any]:
    with server.client() as caller:
        return caller.ask(method, path, body, key=None if method == "GET" else uuid4().hex)


def bookings(server: Server, series: str | None) -> list[dict[str, Any]]:
    """Those of a series, or by hand, the earliest first."""
    rows = ask(server, "GET", "/v1/bookings?limit=500")["items"]
    return sorted((r for r in rows if r["series"] == series), key=lambda row: row["starts_ms"])


def set_series(server: Server, name: str, *, rule: str) -> None:
    wish = {"rule": rule, "count": 1, "ahead_days": 366}
    ask(server, "PUT", f"{PLACE}/booking-series/{name}", wish)


def test_a_series_is_booked_once_over_changes_of_clocks_and_a_restart(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server):
        gpus = [{"generation": "nvidia_hopper", "vram_bytes": 2**36}]
        node = {"node": "n1", "resources": {"cpu_milli": 8_000, "mem_bytes": 2**33}, "gpus": gpus}
        ask(server, "POST", "/v1/nodes", node)
        ask(server, "POST", LAB, {"project": "course"})
        set_series(server, "class", rule="weekly on tue at 09:00 for 2h in Europe/Berlin")
        server.kill9()
        server.start()
        first = until(
            lambda: found if len(found := bookings(server, "class")) >= 52 else None, "all of it"
        )
        local = [
            datetime.fromtimestamp(row["starts_ms"] / 1000, ZoneInfo("Europe/Berlin"))
            for row in first
        ]
        assert {(at.hour, at.minute, at.weekday()) for at in local} == {(9, 0, 1)}
        assert len({at.utcoffset() for at in local}) == 2, "clocks change within a year"
        assert len({at.date() for at in local}) == len(first)
        ask(server, "DELETE", f"{PLACE}/bookings/{first[1]['booking']}")
        day = datetime.now(UTC).date() + timedelta(days=2)
        set_series(server, "then", rule=f"once on {day} at 03:00 for 1h in UTC")
        server.kill9()
        server.start()
        until(lambda: bookings(server, "then"), "who leads next has looked at all series")
        assert bookings(server, "class") == [first[0], *first[2:]]


def test_what_is_booked_and_not_used_is_given_back(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(server):
        resources = {"cpu_milli": 8_000, "mem_bytes": 2**33}
        ask(server, "POST", "/v1/nodes", {"node": "n1", "resources": resources})
        ask(server, "POST", LAB, {"project": "course"})
        starts_ms = int(time.time() * 1000) + 8_000  # a busy machine asks late
        times = {"starts_ms": starts_ms, "ends_ms": starts_ms + 86_400_000}
        wish = {"booking": "idle", "nodes": ["n1"], "wait_ms": 500, **times}
        ask(server, "POST", f"{PLACE}/bookings", wish)
        assert [row["booking"] for row in bookings(server, None)] == ["idle"]
        until(lambda: not bookings(server, None), "it is given back long before its end")
        assert ask(server, "GET", "/v1/nodes/n1")["booked_ms"] is None

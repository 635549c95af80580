"""A real server that is a node counts what its jobs use: who takes more than granted is found out.

Where a control group holds jobs to their grant, nobody can take more, and nothing is to be found.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bailiwick.executors.local.limits import find_cgroup
from bailiwick.store import open_store
from bailiwick.store.tables import counters
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.support.waiting import until

TENANT = {"tenant": "main", "project": "default"}
MIB = 2**20
BURN = """
import time
until = time.process_time() + 3.0
while time.process_time() < until:
    pass
"""
HOARD = """
import os, sys, time
for _ in range(2):
    if not os.fork():
        break
kept = b"x" * (40 * 2**20)
while not os.path.exists({go!r}):
    time.sleep(0.1)
"""
"""Keeps what it took until it was seen."""


def submit(caller: HttpCaller, program: str, *, cpu_milli: int, mem_bytes: int) -> int:
    body = TENANT | {
        "command": [sys.executable, "-c", program],
        "resources": {"cpu_milli": cpu_milli, "mem_bytes": mem_bytes},
        "ttl_ms": 600_000,
    }
    job = caller.ask("POST", "/v1/jobs", body, key=f"{cpu_milli}-{mem_bytes}")
    return int(job["job_id"])


def ended(caller: HttpCaller, job_id: int) -> int:
    """The lease of a job, once that is over and its lease is gone."""
    path = f"/v1/jobs/{job_id}"

    def is_over() -> bool:
        return caller.ask("GET", path)["phase"] in ("succeeded", "failed")

    until(is_over, f"job {job_id} is over")
    found = caller.ask("GET", path)
    assert found["phase"] == "succeeded", found
    return int(found["lease_id"])


def records(caller: HttpCaller, kind: str) -> list[dict[str, Any]]:
    page = caller.ask("GET", "/v1/tenants/main/records?limit=500")
    return [row for row in page["items"] if row["kind"] == kind]


@pytest.mark.skipif(find_cgroup(None) is not None, reason="a control group holds jobs here")
def test_a_job_that_takes_more_than_its_lease_is_sealed_once_and_an_honest_one_is_not(
    tmp_path: Path,
) -> None:
    # Trusted: its job waits for a file of the test.
    options = ("--data-dir", str(tmp_path / "data"), "--trust-jobs")
    server = Server(tmp_path, "one", *options, is_node=True)
    with running(server), server.client() as caller:
        server.wait_for_its_node()
        # So little that it takes too much however slow the machine is.
        greedy = submit(caller, BURN, cpu_milli=10, mem_bytes=256 * MIB)
        honest = submit(caller, BURN, cpu_milli=1000, mem_bytes=257 * MIB)
        go = tmp_path / "go"
        hoard = HOARD.format(go=str(go))
        hoarder = submit(caller, hoard, cpu_milli=300, mem_bytes=64 * MIB)

        def evasions() -> set[str]:
            page = caller.ask("GET", "/v1/findings?finding=quota_evasion")
            return {row["subject"] for row in page["items"]}

        until(lambda: any(each.endswith("/memory") for each in evasions()), "the hoard is seen")
        go.touch()
        leases = {each: ended(caller, each) for each in (greedy, honest, hoarder)}
        wanted = {
            f"lease:{leases[greedy]}/{{}}/cpu_time",
            f"lease:{leases[hoarder]}/{{}}/memory",
        }
        node = caller.ask("GET", "/v1/nodes")["items"][0]["node"]
        subjects = {each.format(node) for each in wanted}
        until(lambda: evasions() >= subjects, "the findings are sealed")
        until(lambda: is_settled(tmp_path, leases[honest]), "all is compared")
        assert evasions() == subjects
        sealed = records(caller, "finding_reported")
        told = [row["body"] for row in sealed if row["body"]["finding"] == "quota_evasion"]
        assert {row["subject"] for row in told} == subjects
        assert all("granted" in row["note"] for row in told)
        server.kill9()
        server.start()  # tells of all jobs again, and compares again
        assert evasions() == subjects
    assert len(sealed_in(tmp_path)) == len(subjects)


def is_settled(folder: Path, lease_id: int) -> bool:
    """Whether what was counted for a lease is complete, and was compared."""
    with open_store(str(folder / "data"), read_only=True) as store, store.reading() as connection:
        query = select(counters.c.is_settled).where(counters.c.lease_id == lease_id)
        return bool(connection.scalar(query))


def sealed_in(folder: Path) -> list[bytes]:
    """Every line of the journal that tells of evasion, from the store itself."""
    with open_store(str(folder / "data"), read_only=True) as store:
        return [line for line in store.read(0, 10_000) if b'"quota_evasion"' in line]

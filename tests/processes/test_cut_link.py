"""A node's link is cut while its job runs: nothing runs twice, and every second is counted once.

What judges is not the product: jobs write down themselves when they ran, and take a lock that only
one process at a time can have, for each GPU that they have.
"""

from __future__ import annotations

import base64
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.journal.record import parse_record
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.records import MeterFindingWord
from bailiwick.store import open_store
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.links import Link, link_to
from tests.processes.node_agents import enrol
from tests.support.waiting import until

TENANT = {"tenant": "main", "project": "default"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    found = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with running(found):
        yield found


def alone(*locks: Path) -> str:
    """Go on only if nobody else has any of these."""
    numbered = enumerate(locks, 8)
    return "; ".join(f"exec {n}<{lock}; flock -n {n} || exit 9" for n, lock in numbered)


def submit(caller: HttpCaller, text: str, *, key: str, ttl_ms: int = 600_000, gpus: int = 1) -> int:
    body: dict[str, Any] = TENANT | {
        "command": ["/bin/sh", "-c", text],
        "resources": {"cpu_milli": 100, "mem_bytes": 2**28},
        "gpu_count": gpus,
        "labels": ["executor=node"],
        "ttl_ms": ttl_ms,
    }
    return int(caller.ask("POST", "/v1/jobs", body, key=key)["job_id"])


def phase(caller: HttpCaller, job_id: int, *wanted: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/jobs/{job_id}")
        return found if found["phase"] in wanted else None

    return until(look, f"job {job_id} is {' or '.join(wanted)}")


def output(caller: HttpCaller, job_id: int) -> str:
    found = caller.ask("GET", f"/v1/jobs/{job_id}/output")
    return base64.b64decode(found["data"]).decode()


def nodes(caller: HttpCaller) -> list[str]:
    return [row["node"] for row in caller.ask("GET", "/v1/nodes")["items"]]


def is_taken(lock: Path) -> bool:
    """Whether a process holds it."""
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def test_over_a_cut_link_nothing_is_lost_run_twice_or_counted_twice(
    tmp_path: Path, server: Server
) -> None:
    locks = [tmp_path / "gpu0", tmp_path / "gpu1"]
    for lock in locks:
        lock.touch()
    with link_to(server.address) as link, server.client() as caller:
        agent = enrol(caller, tmp_path, "n1", server)
        agent.start(*link.inside, address=link.address, options=("--trust-jobs",), has_gpu=True)
        try:
            until(lambda: nodes(caller) == ["n1"], "the node is reported")
            a_short_cut_loses_nothing(caller, link, tmp_path)
            a_long_cut_runs_nothing_twice(caller, link, locks)
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
        finally:
            agent.close()
    check_meter(tmp_path / "data", server)


def a_short_cut_loses_nothing(caller: HttpCaller, link: Link, folder: Path) -> None:
    """What was printed meanwhile comes later, whole; the job is the same one."""
    go = folder / "go"
    count = f"n=0; until [ -e {go} ]; do n=$((n+1)); echo $n; sleep 0.1; done; echo last"
    job_id = submit(caller, count, key="short")
    begun = phase(caller, job_id, "running")
    until(lambda: output(caller, job_id), "its output comes")
    link.cut()
    seen = len(output(caller, job_id).splitlines())
    until(lambda: _lines(folder, begun) > seen + 20, "it prints on, and nobody hears it")
    link.mend()
    go.touch()
    done = phase(caller, job_id, "succeeded", "lost", "failed")
    assert (done["phase"], done["lease_id"]) == ("succeeded", begun["lease_id"])
    *counted, last = output(caller, job_id).split()
    assert (counted, last) == ([str(n + 1) for n in range(len(counted))], "last")
    assert "departed" not in str(caller.ask("GET", "/v1/nodes/n1")["liveness"])


def _lines(folder: Path, job: dict[str, Any]) -> int:
    printed = folder / "n1" / "jobs" / str(job["lease_id"]) / "output"
    return len(printed.read_text().splitlines())


def a_long_cut_runs_nothing_twice(caller: HttpCaller, link: Link, locks: list[Path]) -> None:
    """The node departs. One job ends there by its own term; the other when the link is back."""
    short, long = (alone(lock) + "; trap '' TERM; echo up; sleep 1000" for lock in locks)
    first = submit(caller, short, key="first", ttl_ms=20_000)
    second = submit(caller, long, key="second")
    for job_id, lock in zip((first, second), locks, strict=True):
        phase(caller, job_id, "running")
        until(lambda lock=lock: is_taken(lock), "it has its GPU")  # type: ignore[misc]
    link.cut()
    until(lambda: nodes(caller) == [], "the node has departed")
    until(lambda: not is_taken(locks[0]), "its term is over: its own agent has ended it")
    assert is_taken(locks[1]), "of the other it is not"
    link.mend()
    until(lambda: nodes(caller) == ["n1"], "the node is back, with all its GPUs")
    third = submit(caller, f"{alone(*locks)}; echo third", key="third", gpus=2)
    assert phase(caller, third, "succeeded", "failed")["phase"] == "succeeded", "two on one GPU"
    for job_id in (first, second):
        assert phase(caller, job_id, "lost", "expired")["reason"] in (None, "lease_gone")
    assert [output(caller, i) for i in (first, second, third)] == ["up\n", "up\n", "third\n"]


def check_meter(data: Path, server: Server) -> None:
    """Of every share, the owners' time is the time that it was there: no gap, no overlap."""
    assert "Traceback" not in server.errors
    server.stop()
    meter, findings = JournalMeter(), []
    store = open_store(str(data))
    try:
        for line in store.read(0, 10**6):
            findings += meter.add(parse_record(line.rstrip(b"\n")))
    finally:
        store.close()
    meter.check()
    # What was granted after the node's last beat was not its holder's before it was granted.
    assert {each.word for each in findings} <= {MeterFindingWord.LATE}
    balances = meter.meter.balances(meter.clock_ms)
    assert balances
    assert all(each.owned == each.capacity for each in balances), balances

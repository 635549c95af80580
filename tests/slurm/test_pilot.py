"""The pilot: Slurm as the first app of a team that is not ours, with its acceptance criteria.

One real cluster lives through all phases of the pilot: catalog, entitlement, instance, queue
operations, upgrade, rollback, deletion. Each of the five criteria is asserted by a function that
has its name, on what the cluster left behind. ``bailiwick app check`` judges the app on others.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bailiwick.operators.slurm.wanted import PORTS
from tests.architecture.test_imports import test_schedulers_are_named_only_where_they_are_spoken_to
from tests.processes.caller import CallFailed, HttpCaller
from tests.support.ports import free_ports
from tests.support.slurm_app import ALL, APP, FIRST, LATER, Operator, house, members, runs
from tests.support.waiting import WAIT_S, until

LABELS = ("region=east", "sku=small")
OTHER = "/v1/tenants/main/projects/other"
CHECK_S = 900
"""How long a check may take: it begins some clusters, on a machine that has other things to do."""


@dataclass
class Pilot:
    """What is done, and what is kept of it for the criteria."""

    caller: HttpCaller
    operator: Operator
    folder: Path
    path: str = ""
    done: dict[str, str] = field(default_factory=dict)
    """The correlation id of each privileged action, by what was done."""

    def do(self, name: str, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Do something that needs a right, and keep its correlation id."""
        answer = self.caller.ask(method, path, body, key=name.replace(" ", "-"))
        self.done.setdefault(name, self.caller.headers["x-correlation-id"])
        return answer

    def call(self, verb: str, *argv: str, stdin: str = "") -> str:
        """What one of Slurm's programs says, asked through the permissioned endpoint."""
        body = {"argv": argv, "stdin": stdin, "within_s": 120, "wait_s": 20}
        name = f"{verb} {len(self.done)}"

        def answered() -> bool:
            found.update(self.do(name, "POST", f"{self.path}/calls/{verb}", body)["call"])
            return found["reply"] is not None

        found: dict[str, Any] = {}
        until(answered, f"{argv[0]} is answered")
        assert found["reply"]["exit_code"] == 0, found
        return str(found["reply"]["stdout"])

    def runs(self) -> bool:
        return runs(self.caller, self.path, workers=1)

    def records(self) -> list[dict[str, Any]]:
        """All records of the tenant."""
        rows: list[dict[str, Any]] = []
        cursor: object = 0
        while cursor is not None:  # bounded by the journal
            page = self.caller.ask("GET", f"/v1/tenants/main/records?cursor={cursor}&limit=500")
            rows, cursor = rows + page["items"], page["next"]
        return rows

    @contextmanager
    def as_operator(self) -> Iterator[HttpCaller]:
        """Its service account."""
        address = [self.operator.server.address]
        with HttpCaller(address, self.operator.token.read_text()) as account:
            yield account


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_pilot_of_the_text() -> None:
    with house(nodes=2, labels=LABELS) as (caller, _, operator, folder):
        pilot = Pilot(caller, operator, folder)
        it_is_in_the_catalog_and_the_project_may_have_it(pilot)
        an_instance_is_made(pilot)
        its_queue_is_used_through_permissioned_endpoints(pilot)
        it_is_upgraded_and_rolled_back(pilot)
        criterion_1_no_scheduler_has_a_branch_in_core(pilot)
        criterion_3_the_operator_manages_its_own_project_alone(pilot)
        criterion_4_overlays_restrict_regions_skus_and_sources(pilot)
        criterion_5_an_incident_is_traced_through_logs_traces_and_events(pilot)
        it_is_deleted(pilot)
        criterion_2_privileged_actions_are_sealed_with_their_correlation_id(pilot)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_app_is_ready_by_its_check() -> None:
    with house(nodes=2) as (caller, _, operator, folder):
        operator.end(signal.SIGKILL)  # the check begins another, as an account of its own
        all_seven_conditions_are_met(Pilot(caller, operator, folder))


# -- the phases ------------------------------------------------------------------------------


def it_is_in_the_catalog_and_the_project_may_have_it(pilot: Pilot) -> None:
    listed = pilot.caller.ask("GET", "/v1/apps/slurm/versions")["items"]
    assert {each["version"] for each in listed} == {FIRST, LATER}
    line = {"app": "slurm", "tenant": "main", "project": "default", "is_enabled": True}
    overlay = {"regions": ["east"], "skus": ["small"], "sources": ["slurm"]}
    pilot.do("entitlement", "PUT", "/v1/entitlements", line | {"overlay": overlay})


def an_instance_is_made(pilot: Pilot) -> None:
    parameters = {"port": free_ports(PORTS)[0], "kill_wait_s": 2}
    wish = {"name": "pilot", "app": "slurm", "version": FIRST, "parameters": parameters}
    made = pilot.do("create", "POST", ALL, wish | {"counts": {"worker": 1}})
    pilot.path = f"{ALL}/{made['instance_id']}"
    until(pilot.runs, "a job came back from its worker")


def its_queue_is_used_through_permissioned_endpoints(pilot: Pilot) -> None:
    script = "#!/bin/sh\nsleep 600\n"
    words = ("--parsable", "--mem=1", "--output=/dev/null")
    job = pilot.call("submit", "sbatch", *words, stdin=script).strip()
    shown = pilot.call("read", "squeue", "-h", "-o", "%i %a")
    assert shown.split() == [job, "default"], "the account is the project's"
    pilot.call("cancel", "scancel", job)
    rows = ("sacct", "-X", "-n", "-P", "-j", job, "-o", "state")
    until(lambda: "CANCELLED" in pilot.call("read", *rows), "it is cancelled")


def it_is_upgraded_and_rolled_back(pilot: Pilot) -> None:
    for name, change, version in (
        ("upgrade", {"version": LATER}, LATER),
        ("rollback", {"rollback": True}, FIRST),
    ):
        pilot.do(name, "PATCH", pilot.path, change)
        until(pilot.runs, f"it runs as {version}", wait_s=2 * WAIT_S)
        there = members(pilot.caller, pilot.path)
        assert {each["version"] for each in there.values()} == {version}, name


def it_is_deleted(pilot: Pilot) -> None:
    pilot.do("delete", "DELETE", pilot.path)
    until(lambda: not pilot.caller.ask("GET", ALL)["items"], "it is gone")
    until(lambda: not pilot.caller.ask("GET", "/v1/leases")["items"], "all leases are back")


# -- the criteria ----------------------------------------------------------------------------


def criterion_1_no_scheduler_has_a_branch_in_core(pilot: Pilot) -> None:
    """No Slurm-specific branches in core allocation handlers."""
    test_schedulers_are_named_only_where_they_are_spoken_to()
    plain = {"tenant": "main", "project": "default", "resources": {"cpu_milli": 1}}
    (lease_id,) = pilot.do("plain lease", "POST", "/v1/leases", plain)["lease_ids"]
    pilot.do("plain release", "DELETE", f"/v1/leases/{lease_id}")
    wanted = {each["lease_id"] for each in members(pilot.caller, pilot.path).values()} | {lease_id}
    granted = {
        number: row["kind"]
        for row in pilot.records()
        for number in row["body"].get("lease_ids", ())
        if number in wanted
    }
    assert granted.keys() == wanted
    assert set(granted.values()) == {"admission_approved"}, "as any other lease is"


def criterion_2_privileged_actions_are_sealed_with_their_correlation_id(pilot: Pilot) -> None:
    """All privileged actions produce audit logs with correlation_id."""
    sealed = {row["correlation_id"]: row for row in pilot.records()}
    assert len(pilot.done) >= 10
    for name, correlation_id in pilot.done.items():
        assert correlation_id in sealed, f"{name} is in no record"
        assert sealed[correlation_id]["actor"], name


def criterion_3_the_operator_manages_its_own_project_alone(pilot: Pilot) -> None:
    """Service account operator can manage only same-project scheduler instance."""
    caller = pilot.caller
    pilot.do("project", "POST", "/v1/tenants/main/projects", {"project": "other"})
    own = {"member": "admin", "role": "project_admin"}
    pilot.do("other member", "PUT", f"{OTHER}/members", own)
    line = {"app": "slurm", "tenant": "main", "project": "other", "is_enabled": True}
    # Nothing of it is to run: there is no such region.
    overlay = {"regions": ["west"]}
    pilot.do("other entitlement", "PUT", "/v1/entitlements", line | {"overlay": overlay})
    wish = {"name": "theirs", "app": "slurm", "version": FIRST, "counts": {"worker": 1}}
    made = pilot.do("other create", "POST", f"{OTHER}/instances", wish)
    theirs = f"{OTHER}/instances/{made['instance_id']}"
    before = caller.ask("GET", theirs)
    with pilot.as_operator() as account:
        assert account.ask("GET", pilot.path)["name"] == "pilot"
        for method, path, body in (
            ("GET", theirs, None),
            ("PATCH", theirs, {"counts": {"worker": 2}}),
            ("DELETE", theirs, None),
            ("POST", f"{theirs}/members", {"action": "replace", "component_key": "worker-0"}),
            ("POST", f"{theirs}/calls/take", {"wait_s": 0}),
            ("POST", f"{theirs}/operations", {"title": "theirs"}),
        ):
            with pytest.raises(CallFailed) as refused:
                account.ask_once(method, path, body, key=f"{method}-{len(path)}")
            assert refused.value.code in ("forbidden", "not_found"), (method, path)
    after = caller.ask("GET", theirs)
    for each in ("generation", "counts", "observed_generation", "reason"):
        assert after[each] == before[each], each
    assert after["phase"] not in ("deleting", "deleted")


def _newest(caller: HttpCaller, path: str) -> int:
    """The number of the newest member; for a moment there may be none."""
    rows = caller.ask("GET", f"{path}/members")["items"]
    return max((int(each["member_id"]) for each in rows), default=0)


def criterion_4_overlays_restrict_regions_skus_and_sources(pilot: Pilot) -> None:
    """Policy overlays correctly restrict regions/SKUs/artifact sources."""
    caller = pilot.caller
    assert {each["phase"] for each in members(caller, pilot.path).values()} == {"ready"}
    (theirs,) = caller.ask("GET", f"{OTHER}/instances")["items"]
    path = f"{OTHER}/instances/{theirs['instance_id']}"
    line = {"app": "slurm", "tenant": "main", "project": "other", "is_enabled": True}
    # The nodes are in the east and small: each list alone keeps all of them out, both let them in.
    for name, overlay in (
        ("regions", {"regions": ["west"], "skus": ["small"]}),
        ("skus", {"regions": ["east"], "skus": ["large"]}),
    ):
        newest = until(lambda: _newest(caller, path), "one is tried")
        pilot.do(f"{name} line", "PUT", "/v1/entitlements", line | {"overlay": overlay})
        until(lambda: _refused(caller, path, after=newest), f"{name} keep it out")  # noqa: B023
        assert not _held(caller, path), name
    overlay = {"regions": ["east"], "skus": ["small"]}
    pilot.do("both lines", "PUT", "/v1/entitlements", line | {"overlay": overlay})
    until(lambda: _held(caller, path), "where both allow it, it gets leases")
    denied = {"overlay": {"deny_sources": ["slurm"]}}
    pilot.do("sources line", "PUT", "/v1/entitlements", line | denied)
    wish = {"name": "denied", "app": "slurm", "version": FIRST}
    with pytest.raises(CallFailed) as refused:
        caller.ask_once("POST", f"{OTHER}/instances", wish, key="denied")
    assert refused.value.code == "instance_refused"
    assert "artifact" in str(refused.value)
    pilot.do("other delete", "DELETE", path)
    until(lambda: not caller.ask("GET", f"{OTHER}/instances")["items"], "theirs is gone")


def _refused(caller: HttpCaller, path: str, *, after: int) -> bool:
    """Whether a member that was begun since was refused by a policy."""
    rows = caller.ask("GET", f"{path}/members")["items"]
    return any(row["member_id"] > after and row["reason"] == "forbidden" for row in rows)


def _held(caller: HttpCaller, path: str) -> bool:
    """Whether a member of it has a lease."""
    rows = caller.ask("GET", f"{path}/members")["items"]
    return any(row["lease_id"] is not None for row in rows)


def criterion_5_an_incident_is_traced_through_logs_traces_and_events(pilot: Pilot) -> None:
    """Full incident path is traceable across logs, traces, and events."""
    caller = pilot.caller
    # The incident: somebody removed a worker, and another wonders why.
    lost = members(caller, pilot.path)["worker-0"]
    change = {"action": "replace", "component_key": "worker-0"}
    pilot.do("replace", "POST", f"{pilot.path}/members", change)
    until(
        lambda: members(caller, pilot.path).get("worker-0", lost)["member_id"] != lost["member_id"],
        "another is in its place",
    )
    until(pilot.runs, "a job came back from it")
    wrong = {"action": "replace", "component_key": "worker-7"}
    with pytest.raises(CallFailed):
        caller.ask_once("POST", f"{pilot.path}/members", wrong, key="wrong")
    number = caller.headers["x-correlation-id"]
    until(lambda: number in pilot.operator.server.errors, "the server's log has the error's id")
    entries = caller.ask("GET", f"/v1/traces/{number}")["entries"]
    assert {"request", "log"} <= {each["source"] for each in entries}
    for name in ("create", "replace", "upgrade"):
        asked = f"/v1/events?correlation={pilot.done[name]}&limit=500"
        events = caller.ask("GET", asked)["items"]
        assert events, f"{name} is told by events"
        for event in events:
            data = event["data"]
            assert (data["correlation_id"], data["org_id"]) == (pilot.done[name], "main")
        told = [event["data"] for event in events if event["type"].startswith("apps.")]
        names = ("project_id", "app_slug", "app_instance_id")
        instance = pilot.path.rsplit("/", 1)[1]
        rows = {tuple(each[key] for key in names) for each in told}
        assert rows == {("default", "slurm", instance)}, name
        sources = {
            e["source"] for e in caller.ask("GET", f"/v1/traces/{pilot.done[name]}")["entries"]
        }
        assert "span" in sources, name


# -- the check -------------------------------------------------------------------------------


def all_seven_conditions_are_met(pilot: Pilot) -> None:
    """All seven conditions, tried on real clusters, while the operator is killed."""
    server, keys = pilot.operator.server, pilot.folder / "check-keys"
    packed = str(pilot.folder / f"packed-{LATER}")
    operator = shlex.join([*APP, "run", "--alone", "--keys", str(keys), "--packed", packed])
    environ = {
        **os.environ,
        "BAILIWICK_SERVER": server.address,
        "BAILIWICK_TOKEN": server.token,
        "BAILIWICK_TENANT": "main",
        "BAILIWICK_PROJECT": "default",
    }
    words = [sys.executable, "-m", "bailiwick.cli.main", "app", "check", "slurm"]
    words += ["--version", LATER, "--operator", operator, "--count", "worker=1", "-o", "json"]
    words += ["--set", f"port={free_ports(PORTS)[0]}", "--set", "kill_wait_s=2"]
    words += ["--timeout", "10m"]
    ran = subprocess.run(
        words, env=environ, capture_output=True, text=True, timeout=CHECK_S, check=False
    )
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    broken = [row for row in found["conditions"] if row["state"] != "met"]
    assert not broken, (json.dumps(broken), ran.stderr)
    assert (ran.returncode, found["verdict"]) == (0, "ready")
    assert pilot.caller.ask("GET", ALL)["items"] == []
    shown = pilot.caller.ask("GET", f"/v1/apps/slurm/versions/{LATER}")["check"]
    assert shown["verdict"] == "ready", "and that is sealed"

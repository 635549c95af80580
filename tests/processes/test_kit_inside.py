"""What an operator runs inside a member, on a real server and its node."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bailiwick.client import Client, Refusal
from bailiwick.operators.kit.inside import OUTPUT_BYTES_MAX, run_inside
from bailiwick.vocab.execs import ExecEnd
from tests.processes.harness import Server, running
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.waiting import until

MUCH = bytes(range(256)) * 3_000
"""More than the server holds of what was typed and not read."""


def test_a_program_inside_a_member_is_given_all_and_tells_all_within_bounds(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    options = ("--data-dir", str(tmp_path / "data"), "--trust-jobs")
    server = Server(tmp_path, "one", *options, is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as caller, Client(server.address, server.token) as client:
            wish = {"command": ["/bin/sleep", "900"], "resources": {"cpu_milli": 100}}
            more = {"tenant": "main", "project": "default", "ttl_ms": 900_000}
            job = int(caller.ask("POST", "/v1/jobs", wish | more, key="job")["job_id"])
            phase = f"/v1/jobs/{job}"
            until(lambda: caller.ask("GET", phase)["phase"] == "running", "it runs")

            with subtests.test("all that is given arrives, then its end"):
                ran = run_inside(client, job, command=["/usr/bin/env", "sha256sum"], given=MUCH)
                assert ran.is_well
                assert ran.stdout.split()[0].decode() == hashlib.sha256(MUCH).hexdigest()

            with subtests.test("how it ended is told, with its last words"):
                ran = run_inside(
                    client, job, command=["/bin/sh", "-c", "echo out; echo no >&2; exit 3"]
                )
                assert (ran.stdout, ran.stderr, ran.why) == (b"out\n", b"no\n", "exited 3: no")
                assert not ran.is_well

            with subtests.test("one that is not there is told as that"):
                ran = run_inside(client, job, command=["/no/such/program"])
                assert not ran.is_well
                assert ran.why

            with subtests.test("one that never ends is ended"):
                slow = ["/bin/sh", "-c", "echo $$; exec sleep 900"]
                ran = run_inside(client, job, command=slow, within_s=2)
                assert ran.outcome.end is ExecEnd.ENDED
                assert ran.why == "ended: it took too long"
                place = Path(f"/proc/{int(ran.stdout)}")
                until(lambda: not place.exists(), "it is gone")

            with subtests.test("one that writes without end is ended"):
                ran = run_inside(client, job, command=["/bin/cat", "/dev/zero"])
                assert ran.outcome.end is ExecEnd.ENDED
                assert len(ran.stdout) < 4 * OUTPUT_BYTES_MAX

            with subtests.test("a job that is over is refused"):
                caller.ask("DELETE", phase, key="end")
                until(lambda: caller.ask("GET", phase)["phase"] == "cancelled", "it is over")
                with pytest.raises(Refusal):
                    run_inside(client, job, command=["/bin/true"])

"""Jobs over HTTP, run for real: submitted, followed, cancelled, and told to nobody else."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission
from bailiwick.kernel import ChangeSettings, Settings
from bailiwick.ports import JobChange
from bailiwick.reconcile.held.loop import HeldLoop
from bailiwick.reconcile.job_actions import JobTools
from bailiwick.reconcile.jobs import JobLoop
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.authority import Terms
from bailiwick.services.jobs import Jobs
from bailiwick.vocab.jobs import JobPhase
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.waiting import WAIT_S, until

MEMBER, RIVAL = f"project_member@{OWN}", f"project_member@{FOREIGN}"
OVER = {phase.value for phase in JobPhase if phase.is_over}
NODE = "here"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    """The API with a node of its own machine, on which a loop runs jobs."""
    folder: Path = tmp_path_factory.mktemp("jobs")
    with http_house(folder) as made:
        rooms = made.app.state.house
        book, executor = rooms.parts.jobs.book, rooms.parts.executor
        for job in book.live():  # nobody has to go on with these here
            book.change(job.job_id, JobChange(phase=JobPhase.CANCELLED))
        for entry_id in (1, 2):  # whoever comes after them would have to wait
            made.plain("cancel", entry_id=entry_id)
        jobs = Jobs(book, made.runner, clock=SystemClock(), node=NODE)
        made.app.state.house = replace(rooms, parts=replace(rooms.parts, jobs=jobs))
        made.plain(
            "register_node",
            node=NODE,
            inventory={
                "resources": {"cpu_milli": 4_000, "mem_bytes": 2**36},
                "labels": ["executor=local"],
            },
        )
        tools = JobTools(
            jobs=jobs,
            runner=made.runner,
            executor=executor,
            authority=made.authority,
            clock=SystemClock(),
            server="http://testserver",
        )
        stop = threading.Event()
        held = HeldLoop(jobs, made.runner, clock=SystemClock())
        loops = (JobLoop(tools).run, held.run)
        threads = [threading.Thread(target=run, args=(stop,)) for run in loops]
        for thread in threads:
            thread.start()
        try:
            yield made
        finally:
            stop.set()
            for thread in threads:
                thread.join(WAIT_S)
            for found in executor.adopt():
                executor.tear_down(found.lease_id)


def body(*command: str, **more: Any) -> dict[str, Any]:
    return {
        "tenant": OWN,
        "project": "p",
        "resources": {"cpu_milli": 1000},
        "command": list(command),
        **more,
    }


def submit(house: HttpHouse, *command: str, who: str = MEMBER, **more: Any) -> dict[str, Any]:
    """A job that is taken."""
    response = house.ask(who, "POST", "/v1/jobs", json=body(*command, **more))
    assert response.status_code in (201, 202), response.text
    found: dict[str, Any] = response.json()
    return found


def once(house: HttpHouse, job: dict[str, Any], is_so: Callable[[Any], bool]) -> dict[str, Any]:
    """The job, once something is so of it."""

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = house.ask(MEMBER, "GET", f"/v1/jobs/{job['job_id']}").json()
        return found if is_so(found) else None

    return until(look, f"{is_so.__name__} of job {job['job_id']}")


def is_over(job: dict[str, Any]) -> bool:
    return job["phase"] in OVER


def runs(job: dict[str, Any]) -> bool:
    return bool(job["phase"] == "running")


def waits_for_room(job: dict[str, Any]) -> bool:
    return bool(job["reason"] == "waiting_for_capacity")


def follow(house: HttpHouse, job: dict[str, Any], *, limit: int = 65_536) -> bytes:
    """All that a job prints, as a client follows it."""
    path, offset, text = f"/v1/jobs/{job['job_id']}/output", 0, b""
    while True:
        params = {"offset": offset, "limit": limit, "wait_s": 20}
        part = house.ask(MEMBER, "GET", path, params=params).json()
        assert part["offset"] == offset
        text += base64.b64decode(part["data"])
        offset = part["next_offset"]
        assert offset == len(text)
        if part["is_over"]:
            return text


def test_a_job_runs_and_its_output_is_followed_to_its_end(house: HttpHouse) -> None:
    job = submit(house, "/bin/sh", "-c", "echo one; sleep 0.3; echo two; exit 4", name="greet")
    assert job["phase"] in ("starting", "running")
    assert (job["node"], job["name"], job["submitter"]) == (NODE, "greet", MEMBER)
    assert follow(house, job) == b"one\ntwo\n"
    found = once(house, job, is_over)
    assert (found["phase"], found["exit_code"], found["reason"]) == ("failed", 4, None)
    assert found["command"][0] == "/bin/sh"


def test_output_is_any_bytes_in_pieces_of_any_size(house: HttpHouse) -> None:
    job = submit(house, "/bin/sh", "-c", r"printf '\377\000abc%0500d' 7")
    once(house, job, is_over)
    assert follow(house, job, limit=7) == b"\xff\x00abc" + b"7".rjust(500, b"0")
    path = f"/v1/jobs/{job['job_id']}/output"
    end = house.ask(MEMBER, "GET", path, params={"offset": 10**6}).json()
    assert (end["data"], end["is_over"], end["is_truncated"]) == ("", True, False)
    assert house.ask(MEMBER, "GET", path, params={"wait_s": 21}).status_code == 422


def test_output_is_told_of_any_attempt_and_since_any_time(house: HttpHouse) -> None:
    text = 'echo "try $BAILIWICK_ATTEMPT"; exit 7'
    job = submit(house, "/bin/sh", "-c", text, retries=1, retry_on=["exit_code"])
    found = once(house, job, is_over)
    path, late_ms = f"/v1/jobs/{job['job_id']}/output", found["ended_ms"] + 3_600_000

    def told(**params: Any) -> tuple[bytes, int, bool]:
        part = house.ask(MEMBER, "GET", path, params=params).json()
        return base64.b64decode(part["data"]), part["offset"], part["is_over"]

    assert told() == told(attempt=2) == (b"try 2\n", 0, True)
    assert told(attempt=1) == (b"try 1\n", 0, True)
    assert told(attempt=1, since_ms=job["submitted_ms"]) == (b"try 1\n", 0, True)
    assert told(attempt=1, since_ms=late_ms) == (b"", 6, True)
    assert house.ask(MEMBER, "GET", path, params={"attempt": 3}).status_code == 404
    assert house.ask(RIVAL, "GET", path, params={"attempt": 1}).status_code == 404


def test_a_job_tells_its_price_and_at_last_costs_what_its_usage_does(house: HttpHouse) -> None:
    text = '[ "$BAILIWICK_ATTEMPT" = 2 ] && until [ -e go ]; do sleep 0.05; done; exit 7'
    how: dict[str, Any] = {"retries": 1, "retry_on": ["exit_code"], "tag": "costs"}
    job = submit(house, "/bin/sh", "-c", text, **how)

    def runs_again(found: dict[str, Any]) -> bool:
        return runs(found) and found["attempt"] == 2

    found = once(house, job, runs_again)
    cost, mem_bytes = found["cost"], found["mem_bytes"]
    per_hour = 20_000 + round(2_000 * mem_bytes / 2**30)
    assert (cost["currency"], cost["micros_per_hour"]) == ("credit", per_hour)
    assert cost["is_upper_bound"] is False
    path = f"/v1/jobs/{job['job_id']}"
    later = house.ask(MEMBER, "GET", path).json()["cost"]["cost_micros"]
    assert later >= cost["cost_micros"] > 0
    house.ask(MEMBER, "DELETE", path)
    once(house, job, is_over)
    until(lambda: not is_held(house, found["lease_id"]), "its lease is given back")
    over = house.ask(MEMBER, "GET", path).json()["cost"]
    rows = house.ask(f"tenant_admin@{OWN}", "GET", f"/v1/tenants/{OWN}/usage").json()["rows"]
    (row,) = [each for each in rows if each["tag"] == "costs"]
    assert (over["cost_micros"], over["micros_per_hour"]) == (row["cost_micros"], None)
    assert row["leases"] == 2
    assert house.ask(RIVAL, "GET", path).status_code == 404
    listed = house.ask(MEMBER, "GET", "/v1/jobs").json()["items"]
    assert {each["cost"] for each in listed} == {None}


def is_held(house: HttpHouse, lease_id: int) -> bool:
    return house.ask(MEMBER, "GET", f"/v1/leases/{lease_id}").status_code == 200


def test_a_job_that_waits_says_why_and_is_cancelled(house: HttpHouse) -> None:
    first = submit(house, "sleep", "1000", resources={"cpu_milli": 4000})
    response = house.ask(
        MEMBER, "POST", "/v1/jobs", json=body("true", resources={"cpu_milli": 4000})
    )
    assert response.status_code == 202
    job = response.json()
    assert (job["phase"], job["lease_id"], job["node"]) == ("waiting", None, None)
    assert job["entry_id"] is not None
    cost = once(house, job, waits_for_room)["cost"]
    assert (cost["cost_micros"], cost["micros_per_hour"] > 0) == (0, True)
    waiting = house.ask(MEMBER, "GET", f"/v1/jobs/{job['job_id']}/output").json()
    assert (waiting["data"], waiting["is_over"]) == ("", False)
    path = f"/v1/jobs/{job['job_id']}"
    dry = house.ask(MEMBER, "DELETE", path, params={"dry_run": "true"})
    assert dry.status_code == 200
    assert house.ask(MEMBER, "GET", path).json()["phase"] == "waiting"
    assert house.ask(MEMBER, "DELETE", path).json() == {"answer": "done", "seq": None}
    assert house.ask(MEMBER, "GET", path).json()["phase"] == "cancelled"
    assert house.ask(MEMBER, "DELETE", path).status_code == 200
    once(house, first, runs)
    assert house.ask(MEMBER, "DELETE", f"/v1/jobs/{first['job_id']}").status_code == 200
    found = once(house, first, is_over)
    assert (found["phase"], found["signal"]) == ("cancelled", 15)
    again = house.ask(MEMBER, "DELETE", f"/v1/jobs/{first['job_id']}")
    assert again.status_code == 200


def test_a_job_that_is_over_is_not_cancelled(house: HttpHouse) -> None:
    job = submit(house, "true")
    once(house, job, is_over)
    response = house.ask(MEMBER, "DELETE", f"/v1/jobs/{job['job_id']}")
    assert (response.status_code, response.json()["code"]) == (409, "conflict")


def test_to_delete_a_jobs_lease_ends_the_job_first(house: HttpHouse) -> None:
    job = submit(house, "sleep", "1000")
    once(house, job, runs)
    assert house.ask(MEMBER, "DELETE", f"/v1/leases/{job['lease_id']}").status_code == 200
    assert once(house, job, is_over)["phase"] == "cancelled"


def test_a_job_that_can_never_run_is_refused_with_the_decision(house: HttpHouse) -> None:
    response = house.ask(
        MEMBER, "POST", "/v1/jobs", json=body("true", resources={"cpu_milli": 10**6})
    )
    told = response.json()
    assert (response.status_code, told["code"]) == (409, "refused")
    assert told["decision"]["denied"]["detail"] == "larger_than_any_node"
    newest = house.ask(MEMBER, "GET", "/v1/jobs").json()["items"][0]
    assert (newest["phase"], newest["reason"]) == ("refused", "exceeds_maximum")


def test_a_job_lands_only_where_jobs_are_run(house: HttpHouse) -> None:
    response = house.ask(
        MEMBER, "POST", "/v1/jobs", json=body("true", resources={"cpu_milli": 60_000})
    )
    assert response.status_code == 409  # n1 is large enough, and runs none


def test_a_dry_run_tells_the_plan_and_writes_nothing_down(house: HttpHouse) -> None:
    before = house.ask(MEMBER, "GET", "/v1/jobs").json()["items"][0]["job_id"]
    response = house.ask(MEMBER, "POST", "/v1/jobs", json=body("true"), params={"dry_run": "true"})
    assert (response.status_code, response.json()["plan"]) == (200, "grant")
    assert house.ask(MEMBER, "GET", "/v1/jobs").json()["items"][0]["job_id"] == before


def test_the_same_key_gives_the_same_job(house: HttpHouse) -> None:
    headers = {"Idempotency-Key": "once"}
    first, again = (
        house.ask(MEMBER, "POST", "/v1/jobs", json=body("true"), headers=headers) for _ in "ab"
    )
    assert again.json()["job_id"] == first.json()["job_id"]
    other = house.ask(MEMBER, "POST", "/v1/jobs", json=body("false"), headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"command": []}, "command"),
        ({"command": [""]}, "argv"),
        ({"command": ["a\0b"]}, "argv"),
        ({"gang_size": 257}, "gang_size"),
        ({"env": {"BAILIWICK_LEASE_ID": "1"}}, "BAILIWICK_LEASE_ID"),
        ({"env": {"CUDA_VISIBLE_DEVICES": "0"}}, "CUDA_VISIBLE_DEVICES"),
        ({"env": {"A": "x\0y"}}, "env"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": "/a\0b"}, "cwd"),
        ({"labels": ["executor=other"]}, "labels"),
        ({"name": "not a name"}, "name"),
    ],
)
def test_what_cannot_be_a_job_is_refused_with_its_field(
    house: HttpHouse, more: dict[str, Any], field: str
) -> None:
    response = house.ask(MEMBER, "POST", "/v1/jobs", json=body("true") | more)
    assert response.status_code in (400, 422), response.text
    assert field in response.text


def test_a_secret_in_the_environment_is_told_to_nobody(house: HttpHouse) -> None:
    job = submit(house, "sleep", "1000", env={"PASSWORD": "hunter2"})
    once(house, job, runs)
    path = f"/v1/jobs/{job['job_id']}"
    assert "hunter2" not in house.ask("fleet_admin", "GET", path).text
    lines = house.runner.read(lambda view: house.runner.replica.store.read(0, view.state.size))
    assert not any(b"hunter2" in line for line in lines)
    house.ask(MEMBER, "DELETE", path)
    once(house, job, is_over)


def _first_output(house: HttpHouse, path: str) -> str:
    def look() -> str:
        part = house.ask(MEMBER, "GET", path, params={"wait_s": 20}).json()
        text = base64.b64decode(part["data"]).decode()
        return text if text.endswith("\n") else ""

    return until(look, "the job says its token")


def test_a_jobs_own_token_holds_leases_and_does_nothing_else(house: HttpHouse) -> None:
    text = "echo $BAILIWICK_SERVER $BAILIWICK_LEASE_TOKEN; exec sleep 1000"
    job = submit(house, "/bin/sh", "-c", text)
    path = f"/v1/jobs/{job['job_id']}/output"
    server, token = _first_output(house, path).split()
    assert server == "http://testserver"
    headers = {"Authorization": f"Bearer {token}"}
    lease = f"/v1/leases/{job['lease_id']}"
    assert house.client.get(lease, headers=headers).status_code == 200
    assert house.client.post(lease + "/checkpoint", headers=headers).status_code == 200
    assert house.client.get("/v1/jobs", headers=headers).status_code == 404
    more = house.client.post("/v1/jobs", headers=headers, json=body("true"))
    assert more.status_code in (403, 404)
    assert house.client.delete(lease, headers=headers).status_code == 200
    once(house, job, is_over)
    assert house.client.get(lease, headers=headers).status_code == 401


def test_a_narrowed_token_makes_a_job_whose_token_carries_no_more(house: HttpHouse) -> None:
    narrow = house.token(MEMBER, terms=Terms(keys=(Permission.QUEUE_SUBMIT,)))
    response = house.client.post(
        "/v1/jobs",
        headers={"Authorization": f"Bearer {narrow}"},
        json=body("/bin/sh", "-c", "echo $BAILIWICK_LEASE_TOKEN; exec sleep 1000"),
    )
    job = once(house, response.json(), runs)
    path = f"/v1/jobs/{job['job_id']}/output"
    token = _first_output(house, path).strip()
    response = house.client.get(
        f"/v1/leases/{job['lease_id']}", headers={"Authorization": f"Bearer {token}"}
    )
    assert response.status_code in (403, 404)
    house.ask(MEMBER, "DELETE", f"/v1/jobs/{job['job_id']}")
    once(house, job, is_over)


def test_pages_are_newest_first_and_of_the_callers_own(house: HttpHouse) -> None:
    ids = [submit(house, "true")["job_id"] for _ in range(3)]
    page = house.ask(MEMBER, "GET", "/v1/jobs", params={"limit": 2}).json()
    assert [job["job_id"] for job in page["items"]] == ids[:0:-1]
    rest = house.ask(MEMBER, "GET", "/v1/jobs", params={"cursor": page["next"]}).json()
    assert rest["items"][0]["job_id"] == ids[0]
    assert {job["tenant"] for job in rest["items"]} == {OWN}
    theirs = house.ask(RIVAL, "GET", "/v1/jobs").json()["items"]
    assert {job["tenant"] for job in theirs} <= {FOREIGN}
    for path in (f"/v1/jobs/{ids[0]}", f"/v1/jobs/{ids[0]}/output"):
        there, nowhere = house.ask(RIVAL, "GET", path), house.ask(RIVAL, "GET", "/v1/jobs/99999")
        assert there.status_code == nowhere.status_code == 404
        assert there.json()["message"] == nowhere.json()["message"]


def test_output_that_lies_on_another_machine_is_told_where(house: HttpHouse) -> None:
    book = house.app.state.house.parts.jobs.book
    job = submit(house, "sleep", "1000")
    once(house, job, runs)
    assert book.change(job["job_id"], JobChange(node="elsewhere"))
    path = f"/v1/jobs/{job['job_id']}/output"
    response = house.ask(MEMBER, "GET", path)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert "elsewhere" in response.json()["message"]
    assert book.change(job["job_id"], JobChange(node=NODE))
    house.ask(MEMBER, "DELETE", f"/v1/jobs/{job['job_id']}")
    once(house, job, is_over)


def test_output_that_was_removed_is_gone(house: HttpHouse) -> None:
    parts = house.app.state.house.parts
    job = once(house, submit(house, "echo", "x"), is_over)
    until(lambda: parts.executor.status(job["lease_id"]).is_emptied, "nothing of it is left")
    parts.jobs.book.forget(job["lease_id"])
    response = house.ask(MEMBER, "GET", f"/v1/jobs/{job['job_id']}/output")
    assert response.status_code == 404
    assert "removed" in response.json()["message"]


def test_a_job_that_names_no_memory_gets_some_for_each_core_and_is_told(house: HttpHouse) -> None:
    """Seen: such a job had no limit, and could take all of its machine."""
    job = submit(house, "cat", "/proc/self/limits", resources={"cpu_milli": 1_500})
    assert job["mem_bytes"] == 2 * 2**30
    found = house.ask(MEMBER, "GET", f"/v1/leases/{job['lease_id']}").json()
    assert found["resources"]["mem_bytes"] == 2 * 2**30
    assert once(house, job, is_over)["mem_bytes"] == 2 * 2**30
    named = submit(house, "true", resources={"cpu_milli": 1_000, "mem_bytes": 2**20})
    assert named["mem_bytes"] == 2**20
    once(house, named, is_over)


def test_a_job_asked_for_again_is_the_same_job_whatever_its_memory_was_by_then(
    house: HttpHouse,
) -> None:
    key, path = {"Idempotency-Key": "memory-1"}, "/v1/jobs"
    first = house.ask(MEMBER, "POST", path, json=body("true"), headers=key).json()
    house.do(ChangeSettings(Settings(job_mem_bytes_per_core=2**31)))
    try:
        again = house.ask(MEMBER, "POST", path, json=body("true"), headers=key).json()
        assert (again["job_id"], again["mem_bytes"]) == (first["job_id"], 2**30)
    finally:
        house.do(ChangeSettings(Settings()))
    once(house, first, is_over)


# -- later, many times, again ------------------------------------------------------------------


def listed(house: HttpHouse, who: str = MEMBER, **query: Any) -> list[dict[str, Any]]:
    response = house.ask(who, "GET", "/v1/jobs", params=query)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["items"]
    return found


def test_an_array_is_one_answer_and_a_row_for_each_task(house: HttpHouse) -> None:
    asked = body("/bin/sh", "-c", "echo $BAILIWICK_ARRAY_INDEX", array="3,5-6%1", name="many")
    response = house.ask(MEMBER, "POST", "/v1/jobs", json=asked)
    assert response.status_code == 202, response.text
    head = response.json()
    assert (head["array_id"], head["array_index"], head["is_held"]) == (head["job_id"], 3, True)
    assert head["array"] == "3,5-6%1"

    def are_done(_: Any) -> bool:
        return {job["phase"] for job in listed(house, array_id=head["job_id"])} == {"succeeded"}

    once(house, head, are_done)
    tasks = listed(house, array_id=head["job_id"])
    assert [(job["array_index"], job["name"]) for job in tasks] == [
        (6, "many"),
        (5, "many"),
        (3, "many"),
    ]
    (one,) = listed(house, array_id=head["job_id"], array_index=5)
    assert follow(house, one) == b"5\n"


def test_a_job_comes_after_another_and_after_a_task_of_an_array(house: HttpHouse) -> None:
    first = submit(house, "/bin/sh", "-c", "exit 3")
    tasks = submit(house, "true", array="0-1")
    after = [f"job-{first['job_id']}:failed", f"job-{tasks['job_id']}[1]", f"{tasks['job_id']}:any"]
    job = submit(house, "true", after=after)
    (last,) = listed(house, array_id=tasks["job_id"], array_index=1)
    told = [f"job-{first['job_id']}:failed", f"job-{last['job_id']}:ok"]
    assert job["after"] == [*told, f"job-{tasks['job_id']}:any"]
    assert once(house, job, is_over)["phase"] == "succeeded"
    never = submit(house, "true", after=[f"job-{first['job_id']}:ok"])
    found = once(house, never, is_over)
    assert (found["phase"], found["reason"]) == ("refused", "dependency_never_met")


def test_nobody_comes_after_a_job_of_another(house: HttpHouse) -> None:
    own = submit(house, "true")
    theirs = body("true", tenant=FOREIGN, after=[f"job-{own['job_id']}"])
    seen = house.ask(RIVAL, "POST", "/v1/jobs", json=theirs)
    nothing = house.ask(RIVAL, "POST", "/v1/jobs", json={**theirs, "after": ["job-999999"]})
    assert (seen.status_code, nothing.status_code) == (422, 422)
    told = seen.json()["message"].replace(str(own["job_id"]), "999999")
    assert told == nothing.json()["message"]


def test_filters_narrow_what_the_caller_may_see_and_never_widen_it(house: HttpHouse) -> None:
    own = submit(house, "true", name="filtered")
    other = house.ask(RIVAL, "POST", "/v1/jobs", json=body("true", tenant=FOREIGN, name="filtered"))
    assert other.status_code in (201, 202), other.text
    once(house, own, is_over)
    numbers = [job["job_id"] for job in listed(house, name="filtered")]
    assert numbers == [own["job_id"]]
    assert listed(house, tenant=FOREIGN) == []
    assert listed(house, RIVAL, array_id=own["job_id"]) == []
    rivals = listed(house, RIVAL, name="filtered", mine=True)
    assert [job["job_id"] for job in rivals] == [other.json()["job_id"]]
    assert listed(house, name="filtered", phase="waiting,running") == []
    done = listed(house, name="filtered", phase="succeeded", project="p", mine=True)
    assert [job["job_id"] for job in done] == [own["job_id"]]
    assert listed(house, name="filtered", project="q") == []
    assert house.ask(MEMBER, "GET", "/v1/jobs", params={"phase": "gone"}).status_code == 422


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("array", "5-1"),
        ("array", "0-9999"),
        ("array", "1%0"),
        ("after", ["train"]),
        ("retries", 101),
        ("retry_on", ["denied"]),
        ("checkpoint", "relative"),
    ],
)
def test_what_cannot_be_held_is_refused_with_its_field(
    house: HttpHouse, field: str, value: Any
) -> None:
    more = {field: value} | ({"retries": 1} if field == "retry_on" else {})
    response = house.ask(MEMBER, "POST", "/v1/jobs", json=body("true", **more))
    assert response.status_code == 422, response.text
    assert field in response.text


# -- where they may land ---------------------------------------------------------------------


def test_a_job_without_a_word_lands_on_any_machine_that_runs_jobs_itself(house: HttpHouse) -> None:
    def nodes(cpu_milli: int, **more: Any) -> list[str] | str:
        asked = body("true", resources={"cpu_milli": cpu_milli, "mem_bytes": 1}, **more)
        told = house.ask(MEMBER, "POST", "/v1/jobs?dry_run=true", json=asked).json()
        return told.get("nodes") or str(told.get("code") or told["denied"]["detail"])

    # Machines as they joined before there were any labels but these.
    made = {"agents-own": ("node", 600_000), "clusters": ("ray", 700_000), "bare": (None, 800_000)}
    for name, (executor, cpu_milli) in made.items():
        labels = [] if executor is None else [f"executor={executor}"]
        resources = {"cpu_milli": cpu_milli, "mem_bytes": 2**36}
        house.plain(
            "register_node", node=name, inventory={"resources": resources, "labels": labels}
        )
    try:
        assert nodes(500_000) == ["agents-own"]
        assert nodes(650_000) == "larger_than_any_node"
        assert nodes(650_000, on="ray") == ["clusters"]
        assert nodes(500_000, on="clusters") == ["clusters"]
        assert nodes(500_000, on="bare") == "invalid_value"
        assert nodes(100_500, on="ray") == ["clusters"]
        assert nodes(1_000, on="ray", image="tool") == "not_honoured"
    finally:
        for name in made:
            house.plain("depart_node", node=name)

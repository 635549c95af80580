"""``bailiwick shared`` as people type it, over a real server: four people, one runtime.

No loop runs here: workers stay as they were asked for. What becomes of them is in
``tests/jobs/test_shared_workers.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bailiwick.iam import Role
from bailiwick.kernel.people.commands import CreateProject, SetMember
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import add_instances, http_house
from tests.support.http_server import Served
from tests.support.shared_runtimes import add_runtimes

__all__ = ["cli"]

LAB, P = ("--tenant", "lab"), ("--tenant", "lab", "--project", "p")
AT_Q = (*LAB, "--project", "q")
TINA, PIA, QUE = "tenant_admin@lab", "project_admin@lab", "quentin"
WISH = ("two", "--app", "lab.shr", "--version", "1.0.0", "--environment", "test", *P)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        add_runtimes(house)
        house.do(CreateProject("lab", "q"))
        house.do(SetMember(QUE, Role.PROJECT_ADMIN, "lab", "q"))
        found = Served(house.app, house.token)
        found.open()
        try:
            yield found
        finally:
            found.close()


def test_a_runtime_is_planned_accepted_joined_and_left(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, TINA, monkeypatch)
    chosen = ("--controller", "zone=a", "--reserve", "worker=2")
    plan = done(cli("shared", "plan", *WISH, *chosen))
    assert "p pays, as the owner record:" in plan
    assert "2 x worker (workload), each cpus=0.1 mem=64MiB: 0.00" in plan
    assert "an hour" in plan
    assert "a project that contributes worker pays for just that" in plan
    assert "back within 5m" in plan
    digest = done(cli("shared", "plan", *WISH, *chosen, "-o", "name")).strip()
    make = ("shared", "create", *WISH, *chosen, "--accept")
    one_line(cli(*make, "0" * 64), 3, "billing_rule_not_accepted")
    one_line(cli(*make, "0" * 64), 3, "(read who pays with bailiwick shared plan")
    one_line(cli("shared", "plan", *WISH, "--controller", "zone"), 2, "zone=a, or any")
    assert "nothing was changed" in done(cli(*make, digest, "--dry-run"))
    assert "no project is attached to it yet" in done(cli(*make, digest))
    assert "two" in done(cli("shared", "list", *LAB))
    assert "may have a part" in done(cli("shared", "attach", "two", "q", *LAB))
    one_line(cli("shared", "accept", "two", *AT_Q), 3, "at lab/q itself")

    be(served, QUE, monkeypatch)
    assert "q accepts two" in done(cli("shared", "accept", "two", *AT_Q))
    done(cli("shared", "contribute", "two", "q-0", "--role", "worker", *AT_Q))
    grant = ("shared", "policy", "two", "open", "--queue", "day", *AT_Q)
    one_line(cli(*grant), 2, "--until")
    terms = ("--for-project", "p", "--until", "2090-01-01", "--limit", "gpus=4")
    assert "p may use day" in done(cli(*grant, *terms))

    be(served, TINA, monkeypatch)
    shown = done(cli("shared", "show", "two", *LAB))
    for line in (
        "two: lab.shr 1.0.0 in test",
        "a withdrawn worker is back within 5m",
        "q: attached, allowed by tenant_admin@lab, accepted by quentin (record ",
        "q-0 of q: contributed, no lease yet (record ",
        "q to its own queues (record ",
    ):
        assert line in shown
    # The one it is for has no part, so it counts for nobody yet.
    assert "by open" not in shown
    told = json.loads(done(cli("shared", "show", "two", *LAB, "-o", "json")))
    assert told["runtime"]["controller"] == {"zone": "a"}

    be(served, QUE, monkeypatch)
    assert "drained" in done(cli("shared", "drain", "two", "q-0", *AT_Q))
    done(cli("shared", "withdraw", "two", "q-0", "--within", "1s", *AT_Q))
    assert "open has ended" in done(cli("shared", "policy", "two", "open", "--end", *AT_Q))
    one_line(cli("shared", "delete", "two", *LAB, "-y"), 3, "shared_runtime.manage")
    left = done(cli("shared", "detach", "two", *AT_Q, "-y"))
    assert "q is being detached from two" in left

    be(served, TINA, monkeypatch)
    assert "q: detaching" in done(cli("shared", "show", "two", *LAB))
    done(cli("shared", "delete", "two", *LAB, "-y"))
    assert "being deleted" in done(cli("shared", "show", "two", *LAB))


def test_what_use_is_worth_is_planned_and_accepted_and_what_was_used_is_shown(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, TINA, monkeypatch)
    priced = (*WISH, "--controller", "any", "--settle", "job_hour=1.5")
    plan = done(cli("shared", "plan", *priced))
    assert "a project owes another 1.50 credit for each job_hour on its workers" in plan
    assert "is shown, and not settled" in done(cli("shared", "plan", *priced[:-2]))
    one_line(cli("shared", "plan", *priced[:-1], "job_hour"), 2, "cpu_second=0.00002")
    settle = ("shared", "settle", "main", *LAB, "--rate", "job_hour=0.25")
    assert "a project owes another 0.25 credit" in done(cli(*settle))
    digest = done(cli(*settle, "-o", "name")).strip()
    one_line(cli(*settle, "--accept", "0" * 64), 3, "billing_rule_not_accepted")
    assert "settles so from now" in done(cli(*settle, "--accept", digest))
    told = done(cli("shared", "usage", "main", *LAB))
    assert "main, " in told
    assert "nothing was told yet" in told
    assert "which tenant_admin@lab accepted:" in told
    off = ("shared", "settle", "main", *LAB)
    done(cli(*off, "--accept", done(cli(*off, "-o", "name")).strip()))
    assert "nothing of it is settled" in done(cli("shared", "usage", "main", *LAB))
    rows = done(cli("shared", "workers", "main", *LAB))
    assert "p-0" in rows
    be(served, QUE, monkeypatch)
    assert "p-0" not in done(cli("shared", "workers", "main", *LAB))
    one_line(cli(*settle), 3, "shared_runtime.manage")


def test_an_operator_is_let_in_with_a_token_of_its_own(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, PIA, monkeypatch)
    one_line(cli("shared", "operator-token", "main", *LAB), 3, "shared_runtime.manage")
    be(served, TINA, monkeypatch)
    dry = done(cli("shared", "operator-token", "main", *LAB, "--dry-run"))
    assert "no token was made" in dry
    token = done(cli("shared", "operator-token", "main", "--ttl", "10m", *LAB)).strip()
    monkeypatch.setenv("BAILIWICK_TOKEN", token)
    assert "p-0 of p: contributed" in done(cli("shared", "show", "main", *LAB))
    assert cli("shared", "list", *LAB).code != 0

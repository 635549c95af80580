"""The health of machines at the command line: shown, tested, opened, and in a ticket."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx2
import pytest

from tests.e2e.test_node_cli import Cli, admin, done, one_line
from tests.support.http_server import Served, served_house

__all__ = ["admin"]

_NUMBERS = count(1)
ECC = {"check": "ecc", "level": "fail", "gpu": 0, "value": 2}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_house(tmp_path_factory.mktemp("house")) as served:
        yield served


@pytest.fixture
def node(admin: Cli) -> Iterator[str]:
    """A machine of which nobody has heard before."""
    name = f"h{next(_NUMBERS)}"
    done(admin("node", "register", name, "--cpus", "4", "--gpu", "1xnvidia_hopper:80GiB"))
    yield name
    done(admin("node", "depart", name, "-y"))


def tell(house: Served, path: str, **body: Any) -> Any:
    """Say something to the server as whoever may report for every node."""
    head = {"Authorization": f"Bearer {house.token('fleet_operator')}"}
    with httpx2.Client(base_url=house.url, headers=head) as client:
        said = client.post(path, json=body) if body else client.get(path)
    assert said.status_code == 200, said.text
    return said.json()


def ill(house: Served, node: str) -> None:
    tell(house, f"/v1/nodes/{node}/health", findings=[ECC], can_test=True)


def answer(house: Served, node: str, *findings: dict[str, Any]) -> None:
    test = tell(house, f"/v1/nodes/{node}")["health"]["test"]
    said = {"test_id": test["test_id"], "findings": list(findings), "took_ms": 4_000}
    tell(house, f"/v1/nodes/{node}/test", **said)


def test_a_drained_node_is_shown_opened_tested_and_takes_work_again(
    admin: Cli, house: Served, node: str
) -> None:
    one_line(admin("node", "test", node), 3, "cannot be tested")
    ill(house, node)
    told = done(admin("node", "show", node))
    assert "1 finding that fails it" in told
    assert "drained for its health" in told
    assert "GPU 0: memory errors that could not be corrected" in told
    assert "none yet" in told
    tried = done(admin("node", "uncordon", node, "--dry-run"))
    assert "is returning, and takes work when it has passed its test (dry run" in tried
    assert "accepting" not in tried
    assert "free" not in tried or "0 now, 0 then" in tried
    assert "returning" in done(admin("node", "uncordon", node))
    assert "goes on (returning)" in done(admin("node", "show", node))
    one_line(admin("node", "uncordon", node), 3, "is being tested")
    answer(house, node, ECC)
    assert "last test" in done(admin("node", "show", node))
    assert "is being tested" in done(admin("node", "test", node))
    answer(house, node)
    told = done(admin("node", "show", node))
    assert "accepting" in told
    assert "passed at" in told


def test_whose_lease_had_to_go_reads_which_check_the_machine_failed(
    admin: Cli, house: Served, node: str
) -> None:
    there = ("--label", f"node-name={node}")
    hold = ("lease", "request", "--gpus", "1", *there, "--project", "p", "--no-wait")
    granted = done(admin(*hold, who="project_member@lab"))
    number = granted.partition("lease-")[2].split()[0].strip(":,.")
    ill(house, node)
    told = done(admin("explain", f"lease-{number}"))
    why = "the machine failed a check: ecc (memory errors that could not be corrected)"
    assert why in " ".join(told.split()), told
    assert "operator_drain" not in told


def test_a_node_is_taken_untested_only_if_somebody_says_so_twice(
    admin: Cli, house: Served, node: str
) -> None:
    ill(house, node)
    one_line(admin("node", "uncordon", node, "--untested"), 2, "-y")
    tried = done(admin("node", "uncordon", node, "--untested", "--dry-run"))
    assert "nothing was changed" in tried
    assert "is accepting" in done(admin("node", "uncordon", node, "--untested", "-y"))


def test_a_ticket_is_a_text_for_who_repairs_the_machine(
    admin: Cli, house: Served, node: str
) -> None:
    ill(house, node)
    text = done(admin("node", "ticket", node))
    assert text.startswith(f"Node {node}: memory errors that could not be corrected\n")
    assert "What to do next:" in text
    assert '"title"' in done(admin("node", "ticket", node, "-o", "json"))


def test_a_node_that_nobody_has_is_not_found(admin: Cli) -> None:
    one_line(admin("node", "ticket", "nobody"), 2, "nobody")

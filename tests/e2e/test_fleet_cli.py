"""``bailiwick fleet`` as somebody of a tenant sees it, beside what others hold; ceilings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bailiwick.cli.main import main
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_house

Cli = Callable[..., str]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served_house(tmp_path) as served:
        yield served


@pytest.fixture
def as_one(
    house: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Run a command as somebody of a tenant."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)

    def run(who: str, tenant: str, *words: str) -> str:
        monkeypatch.setenv("BAILIWICK_TOKEN", house.token(who))
        monkeypatch.setenv("BAILIWICK_TENANT", tenant)
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told = capsys.readouterr()
        assert ended.value.code in (0, None), told.err
        return told.out

    return run


def row(table: str) -> list[str]:
    return next(each.split() for each in table.splitlines() if each.startswith("nvidia_hopper"))


def test_a_member_is_told_what_he_could_be_given_and_what_his_quota_leaves(as_one: Cli) -> None:
    gpus = ("--gpu", "4xnvidia_hopper:80GiB")
    as_one("fleet_admin", "lab", "node", "register", "g2", "--cpus", "8", "--mem", "8GiB", *gpus)
    hold = ("lease", "request", "--gpus", "3", "--no-wait", "--project", "p")
    as_one("project_member@rival", "rival", *hold)
    for who in ("project_member@lab", "fleet_operator"):
        assert row(as_one(who, "lab", "fleet"))[1:6] == ["1", "4", "3", "1", "0"]
    as_one("fleet_admin", "lab", "quota", "set", "nvidia_hopper=0", "--project", "p")
    in_project = as_one("project_member@lab", "lab", "fleet", "--project", "p")
    assert "for you" in in_project
    assert row(in_project)[1:7] == ["1", "4", "3", "1", "0", "0"]
    listed = as_one("project_member@lab", "lab", "node", "list")
    assert next(each.split() for each in listed.splitlines() if "hopper" in each)[7] == "1"
    assert "1 GPUs" in as_one("project_member@lab", "lab", "node", "show", "g2")


def test_the_map_shows_an_operator_every_holder_and_a_member_his_own_alone(as_one: Cli) -> None:
    gpus = ("--gpu", "4xnvidia_hopper:80GiB")
    as_one("fleet_admin", "lab", "node", "register", "g2", "--cpus", "8", "--mem", "8GiB", *gpus)
    for tenant, many in (("rival", "2"), ("lab", "1")):
        hold = ("lease", "request", "--gpus", many, "--no-wait", "--project", "p")
        as_one(f"project_member@{tenant}", tenant, *hold)
    lines = as_one("fleet_operator", "lab", "fleet", "--map").splitlines()
    assert lines[0].split() == ["g2", "bba."]
    assert {"a  lab: 1", "b  rival: 2", ".  free: 1"} <= set(lines)
    told = as_one("project_member@lab", "lab", "fleet", "--map")
    assert "rival" not in told
    assert told.splitlines()[0].split() == ["g2", "xxa."]
    assert '"whole": false' in as_one("project_member@lab", "lab", "fleet", "--map", "-o", "json")


def test_a_ceiling_that_is_lifted_gives_way_to_the_inherited_one(as_one: Cli) -> None:
    def asked(*of: str) -> str:
        shown = as_one("fleet_admin", "lab", "quota", "show", *of)
        return next(each for each in shown.splitlines() if each.startswith("may ask for"))

    def change(*words: str) -> None:
        as_one("fleet_admin", "lab", "quota", "set", *words)

    project, settings = ("--project", "p"), asked()
    change("priority_max=critical", "waiting_max=7", "gpus=5")
    tenants = asked()
    assert "priority up to critical" in tenants
    assert asked(*project) == tenants
    change("waiting_max=3", *project)
    assert "; 3 requests that wait" in asked(*project)
    change("ceiling=none", *project)
    assert asked(*project) == tenants
    change("ceiling=none", "cpus=64")
    assert asked() == asked(*project) == settings
    assert '"gpu_count": 5' in as_one("fleet_admin", "lab", "quota", "show", "-o", "json")

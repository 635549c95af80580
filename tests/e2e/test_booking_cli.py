"""``bailiwick booking``: nodes that are booked by hand and in series, and what others see of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from bailiwick.cli.main import main
from tests.support.command_line import log_out, run
from tests.support.http_server import Served, served_house

BOSS, MEMBER, STRANGER = "tenant_admin@lab", "project_member@lab", "project_member@rival"
RULE = "weekly on tue at 09:00 for 2h in Europe/Berlin"
PLACE = ("--tenant", "lab", "--project", "p")


class Said(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_house(tmp_path_factory.mktemp("house")) as served:
        yield served


@pytest.fixture
def cli(
    house: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """The tenant's admin, or whoever is named, at a command line in this process."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")
    monkeypatch.setenv("BAILIWICK_PROJECT", "p")
    monkeypatch.setenv("COLUMNS", "200")  # no row is folded

    def call(*words: str, who: str = BOSS) -> Said:
        monkeypatch.setenv("BAILIWICK_TOKEN", house.token(who))
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told, code = capsys.readouterr(), ended.value.code
        return Said(code if isinstance(code, int) else 0, told.out, told.err)

    return call


def done(ended: Said) -> str:
    assert ended.code == 0, ended
    return ended.out


def one_line(ended: Said, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert (ended.out, ended.err.count("\n")) == ("", 1), ended
    assert all(word in ended.err for word in words), ended.err


@pytest.fixture
def rack(cli: Cli) -> Iterator[None]:
    """Two machines with eight GPUs each, of a pool of their own."""
    for name in ("big1", "big2"):
        words = ("--cpus", "8", "--mem", "8GiB", "--gpu", "8xnvidia_hopper:80GiB")
        label = ("--label", "pool=big")
        done(cli("node", "register", name, *words, *label, who="fleet_admin"))
    yield
    for name in ("big1", "big2"):
        done(cli("node", "depart", name, "-y", who="fleet_admin"))


def create(cli: Cli, *words: str, name: str = "due", who: str = BOSS) -> Said:
    times = ("--from", "+1h", "--for", "2h")
    return cli("booking", "create", name, *times, *words, who=who)


def test_nodes_are_booked_shown_and_called_off(cli: Cli, rack: None) -> None:
    tried = done(create(cli, "--gpus", "9", "-l", "pool=big", "--dry-run"))
    assert "due is booked from" in tried
    assert "nothing was changed" in tried
    assert "would keep 2 nodes with 16 GPUs: big1, big2" in tried
    assert "unused nodes would be given back after 15m without use" in tried
    assert "due" not in done(cli("booking", "list", "-o", "name")).split()
    told = done(create(cli, "--gpus", "9", "-l", "pool=big", "--wait", "1h", "--text", "paper"))
    assert "due is booked from" in told
    assert "dry run" not in told
    rows = done(cli("booking", "list", who=MEMBER))
    assert "lab/p" in rows
    assert "paper" in rows
    shown = done(cli("booking", "show", "due", who=MEMBER))
    for word in ("big1, big2", "9 GPUs pool=big", "given back after 1h without use", "planned"):
        assert word in shown, shown
    machine = done(cli("node", "show", "big1", who=STRANGER))
    assert "booked" in machine
    assert "paper" not in machine
    assert "yes, booked from " in done(cli("node", "list", "-l", "pool=big", who=STRANGER))
    model = json.loads(done(cli("booking", "show", "due", "-o", "json")))
    assert (model["nodes"], model["asked"]["gpus"]) == (["big1", "big2"], 9)
    assert cli("booking", "cancel", "due").code == 2, "nobody can be asked here"
    assert done(cli("booking", "cancel", "due", "-y")) == "due is cancelled\n"
    assert cli("booking", "show", "due").code != 0


def test_what_cannot_be_booked_is_said_in_one_line(cli: Cli, rack: None) -> None:
    one_line(create(cli), 2, "--nodes N, --gpus N and --node NAME")
    one_line(create(cli, "--nodes", "1", "--gpus", "2"), 2, "exactly one")
    one_line(cli("booking", "create", "x", "--from", "soon", "--for", "2h", "--nodes", "1"), 2)
    one_line(cli("booking", "create", "x", "--from", "+1h", "--for", "0h", "--nodes", "1"), 2)
    one_line(create(cli, "--nodes", "1", "--wait", "0s"), 2, "wait_ms", "an admin of the fleet")
    refused = create(cli, "--nodes", "3", "-l", "pool=big")
    one_line(refused, 3, "3 nodes", "2 are free")
    one_line(create(cli, "--nodes", "600"), 2, "count", "512")
    assert create(cli, "--nodes", "1", who=MEMBER).code == 3, "members do not book"
    assert cli("booking", "show", "due", *PLACE, who=STRANGER).code != 0


def test_a_refusal_tells_times_in_the_zone_of_who_reads_it(
    cli: Cli, rack: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(create(cli, "--nodes", "2", "-l", "pool=big"))
    refused = create(cli, "--nodes", "1", "-l", "pool=big", "-o", "json", name="more")
    earliest_ms = json.loads(refused.err)["details"]["earliest_ms"]
    for zone in ("Asia/Tokyo", "America/New_York"):
        with monkeypatch.context() as there:
            there.setenv("TZ", zone)
            time.tzset()
            refused = create(cli, "--nodes", "1", "-l", "pool=big", name="more")
        time.tzset()
        starts = datetime.fromtimestamp(earliest_ms / 1000, ZoneInfo(zone))
        one_line(refused, 3, starts.isoformat(" ", "seconds"))
    done(cli("booking", "cancel", "due", "-y"))


def test_plan_tells_others_when_they_could_start(cli: Cli, rack: None) -> None:
    for entry in ("entry-1", "entry-2"):  # nobody else waits
        done(cli("queue", "cancel", entry, "-y", who="fleet_admin"))
    done(create(cli, "--nodes", "2", "-l", "pool=big"))
    wish = ("--cpus", "1", "--label", "pool=big", "--tenant", "rival", "--project", "p")
    asked = ("lease", "request", *wish, "--ttl", "4h", "--dry-run")
    found = cli(*asked, who=STRANGER)
    assert found.code == 4, found
    assert "bookings close 2 nodes to it" in found.out
    assert "may start: about" in found.out
    assert "due" not in found.out.split()
    done(cli("booking", "cancel", "due", "-y"))


def test_a_series_is_set_listed_shown_and_withdrawn(cli: Cli, rack: None) -> None:
    words = ("--rule", RULE, "--nodes", "2", "-l", "pool=big", "--ahead", "15", "--text", "class")
    tried = done(cli("booking", "series", "set", "tue", *words, "--dry-run"))
    assert "nothing was changed" in tried
    assert "Its next times, as they could be booked now" in tried
    assert tried.count("big1, big2") == 5
    more = ("--rule", RULE, "--nodes", "3", "-l", "pool=big", "--dry-run")
    tried = done(cli("booking", "series", "set", "tue", *more))
    assert tried.count("nothing: booking") == 5
    assert "2 are free" in tried
    done(cli("booking", "series", "set", "tue", *words))
    rows = done(cli("booking", "series", "list", who=MEMBER))
    assert RULE in rows
    assert "2 nodes pool=big" in rows
    shown = done(cli("booking", "series", "show", "tue", who=MEMBER))
    assert "at the leader's next look" in shown, "nobody plans in this house"
    done(cli("booking", "series", "set", "tue", "--rule", RULE, "--nodes", "3", "-l", "pool=big"))
    shown = done(cli("booking", "series", "show", "tue", who=MEMBER))
    assert "of 3 nodes that are wanted, 2 are free" in shown
    one_line(cli("booking", "series", "set", "tue", "--rule", "often", "--nodes", "1"), 2, "rule")
    told = done(cli("booking", "series", "withdraw", "tue", "-y"))
    assert told == "nothing is booked by tue any more\n"
    assert "tue" not in done(cli("booking", "series", "list", "-o", "name")).split()


def test_the_command_as_it_is_installed_has_its_help() -> None:
    told = run("booking", "--help")
    assert told.returncode == 0
    assert all(word in told.stdout for word in ("create", "list", "show", "cancel", "series"))

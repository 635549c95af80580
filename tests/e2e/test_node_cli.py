"""``bailiwick node`` for many machines at once, its notes, and who holds what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Node
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_house


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
def admin(
    house: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Who runs the fleet, or whoever is named, at a command line in this process."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")
    monkeypatch.setenv("COLUMNS", "160")  # no row is folded

    def run(*words: str, who: str = "fleet_admin") -> Said:
        monkeypatch.setenv("BAILIWICK_TOKEN", house.token(who))
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told, code = capsys.readouterr(), ended.value.code
        return Said(code if isinstance(code, int) else 0, told.out, told.err)

    return run


def done(ended: Said) -> str:
    assert ended.code == 0, ended
    return ended.out


def one_line(ended: Said, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert (ended.out, ended.err.count("\n")) == ("", 1)
    assert all(word in ended.err for word in words), ended.err


@pytest.fixture
def rack(admin: Cli) -> Iterator[tuple[str, ...]]:
    """Three machines of one rack, and one of another."""
    places = {"k1": "r7", "k2": "r7", "k3": "r7", "k4": "r8"}
    for name, place in places.items():
        words = ("--cpus", "4", "--mem", "8GiB", "--label", f"rack={place}")
        done(admin("node", "register", name, *words))
    yield ("k1", "k2", "k3")
    for name in places:
        done(admin("node", "depart", name, "-y"))


def modes(admin: Cli, *words: str) -> dict[str, str]:
    text = done(admin("node", "list", "-o", "json", *words))
    rows = Page[Node].model_validate_json(text).items
    return {row.node: row.mode.value for row in rows if row.node.startswith("k")}


def test_a_verb_for_a_whole_rack_is_done_to_each_of_it_and_to_no_other(
    admin: Cli, rack: tuple[str, ...]
) -> None:
    tried = admin("node", "cordon", "-l", "rack=r7", "--dry-run")
    assert "[1/3] node k1 is cordoned" in done(tried)
    assert "3 of 3 nodes done (dry run: nothing was changed)" in tried.err
    assert set(modes(admin).values()) == {"accepting"}
    assert "3 of 3 nodes done" in admin("node", "cordon", "-l", "rack=r7").err
    assert modes(admin) == dict.fromkeys(rack, "cordoned") | {"k4": "accepting"}
    assert set(modes(admin, "-l", "rack=r7")) == set(rack)
    again = admin("node", "cordon", "-l", "rack=r7")
    assert "k2 is cordoned already" in done(again)
    assert "0 of 3 nodes done, 3 left alone" in again.err
    opened = done(admin("node", "uncordon", *rack, "-o", "json"))
    assert json.loads(opened) == {"done": list(rack), "left_alone": [], "failed": {}}
    assert done(admin("node", "label", "-l", "rack=r7", "pool=fast", "-o", "name")).split() == [
        *rack
    ]
    assert set(modes(admin, "-l", "rack=r7", "-l", "pool=fast")) == set(rack)


def test_what_is_so_already_is_said_and_labels_tell_what_they_were(
    admin: Cli, rack: tuple[str, ...]
) -> None:
    assert done(admin("node", "cordon", "k1")) == "node k1 is cordoned\n"
    assert "cordoned already; nothing changed" in done(admin("node", "cordon", "k1"))
    for label, told in (
        ("shelf=a", "shelf is a"),
        ("shelf=b", "shelf was a, is b"),
        ("shelf=b", "shelf is b already; nothing changed"),
        ("shelf-", "shelf was b, is gone"),
        ("shelf-", "shelf is not there; nothing changed"),
    ):
        assert done(admin("node", "label", "k1", label)) == f"k1: {told}\n"
    one_line(admin("node", "label", "k1", "rack-"), 2, "rack", "what a machine says itself")


def test_a_note_is_told_with_its_number_and_how_to_take_it_away(
    admin: Cli, rack: tuple[str, ...]
) -> None:
    told = done(admin("node", "note", "k1", "fan 2 is loud"))
    command = told.strip().partition("bailiwick ")[2].split()
    assert command[:3] == ["node", "note-end", "k1"]
    assert "fan 2" in done(admin("node", "show", "k1"))
    done(admin(*command))
    assert "fan 2" not in done(admin("node", "show", "k1"))


def test_what_fails_for_one_node_is_told_and_the_others_are_done(
    admin: Cli, rack: tuple[str, ...]
) -> None:
    done(admin("node", "quarantine", "k2", "odd", "-y"))
    done(admin("node", "drain", *rack, "-y"))
    ended = admin("node", "uncordon", "-l", "rack=r7")
    assert ended.code == 3
    assert "[2/3] k2: node 'k2': is quarantined" in ended.err
    assert "2 of 3 nodes done, 1 failed" in ended.err
    assert [modes(admin)[name] for name in rack] == ["accepting", "drained", "accepting"]


@pytest.mark.parametrize(
    "words", [(), ("k1", "-l", "rack=r7"), ("k1", "--all"), ("--all", "-l", "rack=r7")]
)
def test_nodes_are_named_or_chosen_and_never_both(admin: Cli, words: tuple[str, ...]) -> None:
    one_line(admin("node", "cordon", *words), 2, "NODE", "-l KEY=VALUE", "--all")


def test_labels_that_no_node_has_choose_nothing(admin: Cli) -> None:
    ended = admin("node", "cordon", "-l", "rack=none", "-l", "zone=a")
    one_line(ended, 2, "--selector", "some node has", "got 'rack=none,zone=a'")


def test_who_may_not_is_told_once_and_not_for_every_node(admin: Cli) -> None:
    ended = admin("node", "cordon", "n1", "n2", "n3", who="tenant_admin@lab")
    assert ended.code == 3
    assert ended.err.count("scheduler.node.operate") == 1
    assert "2 not tried" in ended.err


def test_a_drain_of_many_asks_once(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    done(admin("node", "register", "k9", "--cpus", "1"))
    one_line(admin("node", "drain", "n1", "k9"), 2, "Drain 2 nodes?", "-y")
    done(admin("node", "depart", "k9", "-y"))


def test_a_note_is_written_shown_and_ended(admin: Cli, rack: tuple[str, ...]) -> None:
    done(admin("node", "note", "k1", "fan 2 is loud", "--for", "3d"))
    done(admin("node", "note", "-l", "rack=r7", "moves on friday"))
    shown = done(admin("node", "show", "k1"))
    assert "fan 2 is loud" in shown
    assert "moves on friday" in shown
    row = next(r for r in done(admin("node", "list")).splitlines() if r.startswith("k1"))
    assert "fan 2 is loud (+1)" in row
    found = Node.model_validate_json(done(admin("node", "show", "k1", "-o", "json")))
    assert found.notes[0].until_ms - found.notes[0].since_ms == 3 * 86_400_000
    for each in found.notes:
        done(admin("node", "note-end", "k1", str(each.note_id)))
    one_line(admin("node", "note-end", "k1", str(found.notes[0].note_id)), 2, "no note")
    one_line(admin("node", "note", "k1", "two\nlines"), 2, "text")


def test_who_holds_a_node_is_told_to_who_may_read_the_lease(admin: Cli) -> None:
    shown = done(admin("node", "show", "n1"))
    assert "Leases" in shown
    assert "lab/p" in shown
    assert "rival" in shown
    assert "rival" not in done(admin("node", "show", "n1", who="tenant_admin@lab"))
    wide = done(admin("node", "list", "-o", "wide"))
    assert "held by" in wide
    assert "lab/p" in wide


def test_of_each_gpu_it_is_told_who_holds_it(admin: Cli) -> None:
    gpus = ("--gpu", "2xnvidia_hopper:80GiB")
    done(admin("node", "register", "g1", "--cpus", "8", "--mem", "8GiB", *gpus))
    there = ("--label", "node-name=g1")  # another of the house may have some free
    hold = ("lease", "request", "--gpus", "1", *there, "--project", "p", "--no-wait")
    done(admin(*hold, who="project_member@lab"))
    shown = done(admin("node", "show", "g1"))
    held = [each for each in shown.splitlines() if "lab/p (lease-" in each]
    assert len(held) == 1, shown
    row = next(r for r in done(admin("node", "list")).splitlines() if r.startswith("g1"))
    assert "nvidia_hopper 1 1 8" in " ".join(row.split())  # free, held, cores
    done(admin("node", "depart", "g1", "-y"))

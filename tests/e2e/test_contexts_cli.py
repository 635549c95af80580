"""Several logins at once, each under a name: made, chosen, listed, forgotten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main
from bailiwick.cli.shared import session as kept
from bailiwick.cli.shared.completions import complete_contexts
from bailiwick.vocab.errors import Damaged, InvalidValue
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_house


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Two servers that know nothing of each other."""
    with (
        served_house(tmp_path_factory.mktemp("one")) as one,
        served_house(tmp_path_factory.mktemp("two")) as two,
    ):
        yield one, two


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


@pytest.fixture
def code_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Callable[[Served, str], str]:
    """A login code for somebody at a server."""

    def make(house: Served, who: str) -> str:
        with monkeypatch.context() as patch:
            patch.setenv("BAILIWICK_SERVER", house.url)
            patch.setenv("BAILIWICK_TOKEN", house.token("fleet_admin"))
            ended = cli("token", "issue", who, "--login-code")
        assert ended.code == 0, ended
        return ended.out.strip()

    return make


CodeFor = Callable[[Served, str], str]


def done(ended: Ended) -> str:
    assert ended.code == 0, ended
    return ended.out


def test_two_servers_are_used_side_by_side_each_with_its_own_token(
    cli: Cli, code_for: CodeFor, houses: tuple[Served, Served]
) -> None:
    one, two = houses
    done(cli("login", code_for(one, "project_member@lab"), "--server", one.url))
    told = done(
        cli("login", code_for(two, "tenant_admin@rival"), "--server", two.url, "--context", "two")
    )
    assert "context two is used from now on" in told
    assert "tenant_admin@rival" in done(cli("whoami"))
    assert "project_member@lab" in done(cli("--context", "default", "whoami"))
    assert "tenant_admin@rival" in done(cli("whoami")), "--context is of one command"
    assert done(cli("context", "use", "default")).startswith("commands mean default now")
    assert "project_member@lab" in done(cli("whoami"))
    rows = json.loads(done(cli("context", "list", "--json")))["items"]
    assert [(row["context"], row["is_used"]) for row in rows] == [("default", True), ("two", False)]
    tokens = {kept.stored_contexts().known[name].token for name in ("default", "two")}
    assert len(tokens) == 2
    shown = done(cli("context", "list")) + done(cli("context", "show", "--json"))
    assert not any(str(token) in shown for token in tokens)


def test_a_login_to_another_server_takes_no_place_of_one_that_is_there(
    cli: Cli, code_for: CodeFor, houses: tuple[Served, Served]
) -> None:
    one, two = houses
    done(cli("login", code_for(one, "project_member@lab"), "--server", one.url))
    done(cli("login", code_for(two, "project_member@lab"), "--server", two.url))
    known = kept.stored_contexts()
    assert known.current == f"127.0.0.1-{two.port}"
    assert {each.server for each in known.known.values()} == {one.url, two.url}
    again = code_for(one, "tenant_admin@lab")
    done(cli("login", again, "--server", one.url))
    known = kept.stored_contexts()
    assert (known.current, len(known.known)) == ("default", 2), "that server has a context already"


def test_whoever_has_one_project_needs_to_name_none(
    cli: Cli, code_for: CodeFor, houses: tuple[Served, Served]
) -> None:
    told = done(cli("login", code_for(houses[0], "project_member@lab"), "--server", houses[0].url))
    assert "default tenant and project: lab/p" in told
    done(cli("lease", "request", "--cpus", "1", "--no-wait", "--dry-run"))
    done(cli("job", "list"))


def test_the_tenant_and_project_that_one_chose_outlive_the_next_login(
    cli: Cli, code_for: CodeFor, houses: tuple[Served, Served]
) -> None:
    server = houses[0].url
    done(cli("login", code_for(houses[0], "fleet_admin"), "--server", server))
    done(cli("context", "--tenant", "rival", "--project", "p"))
    done(cli("login", code_for(houses[0], "fleet_admin"), "--server", server))
    found = kept.stored_session()
    assert (found.tenant, found.project) == ("rival", "p")


def test_the_session_of_an_earlier_version_is_the_first_context(
    cli: Cli, houses: tuple[Served, Served]
) -> None:
    old = kept.session_path()
    old.parent.mkdir(parents=True)
    token = houses[0].token("project_member@lab")
    told = {"server": houses[0].url, "token": token, "tenant": "lab", "project": "p"}
    old.write_text(json.dumps(told))
    assert "project_member@lab" in done(cli("whoami"))
    assert old.exists(), "reading changes nothing"
    done(cli("context", "--project", "q"))
    assert not old.exists(), "its token is kept once"
    assert "project_member@lab" in done(cli("whoami"))
    assert kept.stored_contexts().known["default"] == kept.Session(**{**told, "project": "q"})


def test_the_environment_names_a_context_and_an_option_beats_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        kept.save_session(kept.Session(tenant=f"of-{name}", token=f"t-{name}"), name=name)
    assert kept.load_session().tenant == "of-a"
    monkeypatch.setenv("BAILIWICK_CONTEXT", "b")
    assert kept.load_session().tenant == "of-b"
    monkeypatch.setenv("BAILIWICK_TOKEN", "of the environment")
    assert kept.load_session().token == "of the environment"
    assert "of-c" in done(cli("--context", "c", "context", "show"))
    kept.choose_context("c")
    assert kept.load_session().token == "t-c", "a server that is named sees its own token alone"
    kept.choose_context(None)


def test_a_context_that_nobody_made_is_told_with_what_to_do(cli: Cli) -> None:
    kept.save_session(kept.Session(), name="a")
    for words in (("--context", "nope", "whoami"), ("context", "use", "nope")):
        ended = cli(*words)
        assert ended.code != 0
        assert "no context 'nope'" in ended.err
        assert "bailiwick context list" in ended.err
    assert cli("context", "use", "../up").code == 2
    with pytest.raises(InvalidValue):
        kept.check_context("a" * 64)


def test_the_used_context_is_not_forgotten_before_another_is_used(
    cli: Cli, code_for: CodeFor, houses: tuple[Served, Served]
) -> None:
    one = houses[0]
    done(cli("login", code_for(one, "project_member@lab"), "--server", one.url, "--context", "a"))
    token = kept.stored_session().token
    done(cli("login", code_for(one, "tenant_admin@lab"), "--server", one.url, "--context", "b"))
    ended = cli("context", "delete", "b")
    assert ended.code != 0
    assert "bailiwick context use" in ended.err
    assert "logged out" in done(cli("context", "delete", "a"))
    assert [*kept.stored_contexts().known] == ["b"]
    kept.save_session(kept.Session(server=one.url, token=token), name="a", use=True)
    assert cli("whoami").code == 3, "the token of a forgotten context counts no more"
    done(cli("context", "delete", "b"))
    done(cli("context", "delete", "a"))
    assert not kept.contexts_path().exists()
    assert "no context yet" in done(cli("context", "list"))


def test_the_file_is_its_owners_alone_and_only_what_it_may_hold_is_read(cli: Cli) -> None:
    kept.save_session(kept.Session(token="secret"), name="a")
    path = kept.contexts_path()
    assert path.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in path.parent.iterdir()} == {"contexts.json", "contexts.lock"}
    good = json.loads(path.read_text())
    for bad in (
        [],
        {**good, "version": 2},
        {**good, "current": "b"},
        {**good, "more": 1},
        {**good, "contexts": {"a": {"token": 7}}},
        {**good, "contexts": {"a": {}, "../b": {}}},
        {**good, "contexts": {f"c{n}": {} for n in range(70)} | {"a": {}}},
    ):
        path.write_text(json.dumps(bad))
        with pytest.raises(Damaged):
            kept.stored_contexts()
        assert cli("context", "list").code == 2
        assert json.loads(path.read_text()) == bad, "what is damaged is left for a person"


def test_contexts_are_completed(cli: Cli) -> None:
    for name in ("campus", "cloud", "home"):
        kept.save_session(kept.Session(), name=name)
    assert complete_contexts("c") == ["campus", "cloud"]
    kept.contexts_path().write_text("{")
    assert complete_contexts("c") == []


def test_two_who_log_in_at_once_are_both_kept(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom bailiwick.cli.shared import session as s\n"
        "for n in range(8): s.save_session(s.Session(), name=f'{sys.argv[1]}-{n}')\n"
    )
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", program, name], env=env) for name in ("a", "b", "c")
    ]
    assert [each.wait(timeout=120) for each in running] == [0, 0, 0]
    found = json.loads((tmp_path / "bailiwick" / "contexts.json").read_text())
    assert len(found["contexts"]) == 24

"""The real command line logs in through a real provider, against a server with its own process."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import COMMAND, run, server_with_providers
from tests.support.oidc_provider import SECRET, OidcProvider, Visitor, oidc_provider
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S, until

ROLES = '\n[[campus.roles]]\ngroup = "gpu"\nrole = "project_member"\ntenant = "main"\n'
ROLES += 'project = "default"\n'


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def campus(port: int) -> Iterator[OidcProvider]:
    back = f"http://127.0.0.1:{port}/v1/login/campus/callback"
    with oidc_provider(back, people={"ann": ["gpu"]}) as made:
        yield made


@pytest.fixture(scope="module")
def server(
    campus: OidcProvider, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("server")
    secret = folder / "secret"
    secret.write_text(f"{SECRET}\n")
    secret.chmod(0o600)
    with server_with_providers(folder, campus.settings(more=ROLES), port=port):
        yield f"http://127.0.0.1:{port}"


def test_a_terminal_logs_in_while_its_person_says_yes_in_a_browser(
    server: str, tmp_path: Path
) -> None:
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    told = tmp_path / "told"
    with told.open("w") as file:
        login = subprocess.Popen(
            [str(COMMAND), "login", "--server", server],
            stdout=subprocess.PIPE,
            stderr=file,
            encoding="utf-8",
            env=env,
        )
    try:
        found = until(
            lambda: re.search(r"Open (\S+)\n.*code (\S+)", told.read_text()), "it says where"
        )
        last = Visitor("ann").visit(found[1])
        assert last.status_code == 200, last.text
        out, _ = login.communicate(timeout=WAIT_S)
    finally:
        login.kill()
    assert login.returncode == 0, told.read_text()
    assert "you are campus:ann" in out
    kept = tmp_path / "bailiwick" / "contexts.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert server in kept.read_text()
    who = run("whoami", "-o", "json", XDG_CONFIG_HOME=str(tmp_path))
    assert who.returncode == 0, who.stderr
    assert "campus:ann" in who.stdout
    listed = run("session", "list", XDG_CONFIG_HOME=str(tmp_path))
    assert "this one" in listed.stdout


def test_a_provider_that_the_server_does_not_know_is_refused(server: str, tmp_path: Path) -> None:
    ended = run("login", "--server", server, "--provider", "other", XDG_CONFIG_HOME=str(tmp_path))
    assert ended.returncode == 2
    assert "campus" in ended.stderr

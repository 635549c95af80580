"""A job's command line becomes a service account, against a server with its own process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import run, server_with_providers
from tests.support.ports import free_port
from tests.support.small_issuer import SmallIssuer, small_issuer


@pytest.fixture(scope="module")
def ci() -> Iterator[SmallIssuer]:
    with small_issuer() as made:
        yield made


@pytest.fixture(scope="module")
def server(ci: SmallIssuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The server's address, and the code of its administrator."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    settings = f'[federation.ci]\nissuer = "{ci.issuer}"\n'
    with server_with_providers(folder, settings, port=port) as code:
        yield f"http://127.0.0.1:{port}", code


def test_a_job_logs_in_with_what_its_ci_system_signed_and_later_with_a_key(
    server: tuple[str, str], ci: SmallIssuer, tmp_path: Path
) -> None:
    address, code = server
    boss, job = str(tmp_path / "boss"), str(tmp_path / "job")

    def do(*words: str, home: str = boss) -> str:
        ended = run(*words, XDG_CONFIG_HOME=home)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    do("login", code, "--server", address)
    do("account", "create", "ci", "--tenant", "main", "--project", "default")
    rule = ("--issuer", ci.issuer, "--audience", "gpu.example", "--claim", "sub=repo:acme/*")
    assert "ci trusts" in do("account", "trust", "set", "ci", "main", *rule)
    assert "repo:acme/*" in do("account", "trust", "list", "ci")
    shown, now_s = tmp_path / "token.jwt", int(time.time())
    claims = {"iss": ci.issuer, "aud": "gpu.example", "iat": now_s, "exp": now_s + 600}
    shown.write_text(ci.sign(**claims, sub="repo:acme/train") + "\n")
    login = ("login", "--server", address, "--federated")
    assert "you are ci" in do(*login, f"ci={shown}", home=job)
    assert '"service_account"' in do("whoami", "-o", "json", home=job)

    shown.write_text(ci.sign(**claims, sub="repo:evil/train"))
    ended = run(*login, f"ci={shown}", XDG_CONFIG_HOME=str(tmp_path / "evil"))
    assert ended.returncode != 0
    assert "gets no token" in ended.stderr

    key = tmp_path / "key.txt"
    key.write_text(do("account", "key", "add", "ci", "-o", "name"))
    assert "you are ci" in do(*login, f"ci={key}", home=job)
    do("account", "key", "rotate", "ci", "--overlap", "2h")
    rows = do("account", "key", "list", "ci", "-o", "name").split()
    assert len(rows) == 2
    do("account", "key", "delete", "ci", rows[0], "-y")
    do("account", "trust", "delete", "ci", "main", "-y")
    assert do("account", "trust", "list", "ci", "-o", "name").split() == []

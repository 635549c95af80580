"""A role elsewhere, on the command line: offered, seen, accepted, given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bailiwick.cli.main import main
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_house

AsOne = Callable[..., tuple[int, str]]


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
) -> AsOne:
    """Run a command as somebody: how it ended, and all that it printed."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)

    def run(who: str, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("BAILIWICK_TOKEN", house.token(who))
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told = capsys.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0, told.out + told.err

    return run


def test_a_role_elsewhere_is_offered_accepted_and_given_up(as_one: AsOne) -> None:
    at = ("--tenant", "rival", "--project", "p")
    code, told = as_one(
        "tenant_admin@lab",
        "member",
        "set",
        "alice",
        "project_member",
        "--tenant",
        "lab",
        "--project",
        "p",
    )
    assert (code, told) == (0, "alice is project_member at lab/p\n")
    code, told = as_one("tenant_admin@rival", "member", "set", "alice", "project_viewer", *at)
    assert code == 0
    assert "is offered to alice, who is at home elsewhere" in told
    assert "offered until" in as_one("tenant_admin@rival", "member", "list", *at)[1]
    code, told = as_one("alice", "invitation", "list")
    assert "rival/p" in told
    assert "project_viewer" in told
    assert "alice (human of lab)" in as_one("alice", "whoami")[1]
    assert as_one("alice", "invitation", "accept", "rival/") == (
        2,
        "bailiwick: TENANT[/PROJECT]: expected a tenant, or a tenant, a slash and a project, got "
        "'rival/'\n",
    )
    assert as_one("alice", "invitation", "accept", "rival/p")[0] == 0
    assert "rival" in as_one("alice", "whoami")[1]
    code, told = as_one("alice", "invitation", "accept", "rival/p")
    assert code != 0
    assert "is not open" in told
    assert as_one("alice", "invitation", "leave", "rival/p", "-y")[0] == 0
    assert "rival" not in as_one("alice", "whoami")[1]
    assert "no invitation" in as_one("alice", "invitation", "list")[1]
    as_one("tenant_admin@rival", "member", "set", "alice", "project_viewer", *at)
    assert as_one("alice", "invitation", "decline", "rival/p")[0] == 0
    moved = as_one("fleet_admin", "member", "home", "alice", "--tenant", "rival")
    assert moved == (0, "alice is at home in rival\n")
    assert "alice (human of rival)" in as_one("alice", "whoami")[1]

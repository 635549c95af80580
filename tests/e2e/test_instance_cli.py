"""``bailiwick app instance`` and ``app member`` as people type them, over a real server.

No loop runs here: members stay as they were asked for. What becomes of them is in
``tests/processes/test_apps_survive.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import add_instances, http_house
from tests.support.http_server import Served

__all__ = ["cli"]

ONE, AT = ("app", "instance"), ("--tenant", "lab", "--project", "p")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        found = Served(house.app, house.token)
        found.open()
        try:
            yield found
        finally:
            found.close()


def test_an_instance_is_made_looked_at_changed_and_deleted(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be(served, "project_admin@lab", monkeypatch)
    make = (*ONE, "create", "web", "lab.svc", "--version", "1.0.0", *AT)
    assert "nothing was changed" in done(cli(*make, "--dry-run"))
    assert "web is requested: lab.svc 1.0.0" in done(cli(*make, "--count", "worker=2"))
    one_line(cli(*make), 3, "exists already")
    one_line(cli(*make, "--count", "worker"), 2, "worker=3")
    listed = done(cli(*ONE, "list", *AT, "--app", "lab.svc"))
    assert "worker 0/2" in listed
    shown = cli(*ONE, "show", "web", *AT)
    assert "requested" in done(shown)
    assert "bailiwick app instance wait web" in shown.err
    waited = cli(*ONE, "wait", "web", *AT, "--timeout", "1ms")
    assert waited.code == 4
    done(cli(*ONE, "scale", "web", "worker=3", *AT))
    told = json.loads(done(cli(*ONE, "show", "web", *AT, "-o", "json")))
    assert (told["counts"]["worker"], told["generation"]) == (3, 2)
    one_line(cli(*ONE, "scale", "web", "worker=1", *AT, "--if-revision", "1"), 6, "web")
    done(cli(*ONE, "pause", "web", *AT))
    assert "(paused" in done(cli(*ONE, "show", f"instance-{told['instance_id']}", *AT))
    done(cli(*ONE, "resume", "web", *AT))
    one_line(cli(*ONE, "rollback", "web", *AT, "-y"), 3, "nothing_to_roll_back")
    one_line(cli(*ONE, "upgrade", "web", "9.0.0", *AT), 2, "9.0.0")
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    one_line(cli(*ONE, "configure", "web", "--parameters", str(bad), *AT), 2, "a JSON object")
    assert "create" in done(cli(*ONE, "operations", "web", *AT))
    done(cli(*ONE, "delete", "web", *AT, "-y"))
    assert "deleting" in done(cli(*ONE, "list", *AT, "--phase", "deleting"))
    one_line(cli(*ONE, "force-delete", "web", "it hangs for ever", *AT, "-y"), 3, "break_glass")
    one_line(cli(*ONE, "show", "nobody", *AT), 2, "app instance list")


def test_members_are_named_by_what_they_are_called(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, "project_admin@lab", monkeypatch)
    assert "worker-0" in done(cli(*ONE, "members", "demo", *AT))
    done(cli("app", "member", "add", "demo", "extra", "--role", "worker", *AT))
    assert "extra of demo is drained" in done(cli("app", "member", "drain", "demo", "extra", *AT))
    done(cli("app", "member", "replace", "demo", "worker-0", *AT))
    one_line(cli("app", "member", "remove", "demo", "none", *AT, "-y"), 2, "none")
    rows = json.loads(done(cli(*ONE, "members", "demo", *AT, "-o", "json")))["items"]
    newest = max(row["member_id"] for row in rows if row["component_key"] == "worker-0")
    number = ("--member-id", str(newest))
    both = cli("app", "member", "drain", "demo", "worker-0", *number, *AT)
    one_line(both, 2, "one of the two")
    waits = ("--wait", "--timeout", "1ms")
    waited = cli("app", "member", "replace", "demo", *number, *AT, *waits)
    assert waited.code == 4, "no loop runs here: it does not end"
    gone = cli("app", "member", "drain", "demo", *number, *AT)
    one_line(gone, 3, "is not worker-0 any more")
    one_line(cli("app", "member", "drain", "demo", "--member-id", "999", *AT), 2, "999")
    be(served, "project_viewer@lab", monkeypatch)
    one_line(cli("app", "member", "drain", "demo", "worker-0", *AT), 3, "instance.update")

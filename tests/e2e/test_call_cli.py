"""``bailiwick app call`` as people type it, over a real server and with a real operator."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.instance_commands import MoveMember, ReportInstance
from bailiwick.kernel.people.commands import CreateAccount, SetMember
from bailiwick.operators.kit import Kit, OperatorSettings, Settled
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.running import Operator
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.vocab.apps import MemberPhase
from bailiwick.wire.instances import CallReply, TakenCall
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import add_instances, http_house
from tests.support.http_server import Served
from tests.support.waiting import WAIT_S

__all__ = ["cli"]

CALL, AT = ("app", "call"), ("--tenant", "lab", "--project", "p")
OF: dict[str, Any] = {"tenant": "lab", "project": "p", "instance_id": 1}


def say(call: TakenCall, kit: Kit) -> CallReply:
    """Tells what it was asked; ends with 3 if that was nothing."""
    told = f"{call.principal} {call.verb.value} {'|'.join(call.argv)} {call.stdin}"
    code, is_cut = (0, False) if call.stdin else (3, True)
    return CallReply(exit_code=code, stdout=told + "\n", stderr="said\n", is_truncated=is_cut)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        house.do(MoveMember(**OF, member_id=1, phase=MemberPhase.READY))
        revision = house.runner.read(
            lambda view: view.state.apps.instances.held[1].instance.revision
        )
        house.do(ReportInstance(**OF, revision=revision, observed_generation=1))
        house.do(CreateAccount("op-p", "lab", "p"))
        house.do(SetMember("op-p", Role.PROJECT_ADMIN, "lab", "p"))
        found = Served(house.app, house.token)
        found.open()
        secret = SecretFile(tmp_path_factory.mktemp("operator") / "token")
        secret.replace(house.token("op-p", kind=PrincipalKind.SERVICE_ACCOUNT))
        where = {"server": found.url, "tenant": "lab", "project": "p", "app": "lab.svc"}
        settings = OperatorSettings(**where, token_file=secret.path, workers=1, term_s=0)
        log = KitLog(write=lambda line: None)
        operator = Operator(lambda instance, kit: Settled(), settings, on_call=say, log=log)
        stop = threading.Event()
        thread = threading.Thread(target=operator.run, args=(stop,), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            stop.set()
            thread.join(WAIT_S)
            found.close()


def test_a_person_asks_an_instance_and_gets_what_its_operator_says(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be(served, "project_member@lab", monkeypatch)
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh")
    asked = cli(*CALL, *AT, "--input", str(script), "demo", "submit", "--", "run", "-n", "2")
    assert done(asked) == "project_member@lab submit run|-n|2 #!/bin/sh\n"
    assert "said" in asked.err
    other = cli(*CALL, *AT, "instance-1", "read", "--", "list")
    assert (other.code, other.out) == (3, "project_member@lab read list \n")
    assert "there was more" in other.err
    assert "nothing was changed" in done(cli(*CALL, *AT, "--dry-run", "demo", "cancel", "--", "x"))


def test_what_cannot_be_asked_is_said_in_one_line(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be(served, "project_viewer@lab", monkeypatch)
    one_line(cli(*CALL, *AT, "demo", "submit", "--", "run"), 3, "scheduler.queue.submit")
    one_line(cli(*CALL, *AT, "demo", "read"), 2, "after --")
    one_line(cli(*CALL, *AT, "nobody", "read", "--", "list"), 2, "nobody")
    script = tmp_path / "job.sh"
    script.write_bytes(b"\xff")
    one_line(cli(*CALL, *AT, "--input", str(script), "demo", "read", "--", "x"), 2, "text")

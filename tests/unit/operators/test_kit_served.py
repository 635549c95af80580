"""The operator kit over a real server: what it hears, what it says, and what it cannot do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.client import Client, Refusal
from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.commands import PublishApp
from bailiwick.kernel.people.commands import CreateAccount, CreateProject, SetMember
from bailiwick.operators.kit import Again, Answer, Kit, OperatorSettings, Outdated, Settled
from bailiwick.operators.kit.connections import Connections, ServerPlace
from bailiwick.operators.kit.instance_kit import KitTools
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.running import Operator
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.vocab.apps import InstancePhase
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.actions.instances import (
    INSTANCE_CHANGE,
    INSTANCE_CREATE,
    INSTANCE_DELETE,
    INSTANCE_MEMBER_LIST,
    INSTANCE_OPERATION_LIST,
    INSTANCE_READ,
)
from bailiwick.wire.instances import Instance, InstanceChange, NewInstance
from tests.support.app_manifests import service
from tests.support.http_house import HttpHouse, add_instances, http_house
from tests.support.http_server import Served
from tests.support.waiting import WAIT_S, until

HOME = {"tenant": "lab", "project": "p"}
APP = "lab.svc"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        house.do(CreateProject("lab", "q"))
        for project in ("p", "q"):
            house.do(CreateAccount(f"op-{project}", "lab", project))
            house.do(SetMember(f"op-{project}", Role.PROJECT_ADMIN, "lab", project))
        yield house


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    yield found
    found.close()


def token_of(house: HttpHouse, account: str) -> str:
    return house.token(account, kind=PrincipalKind.SERVICE_ACCOUNT)


@pytest.fixture
def settings(house: HttpHouse, served: Served, tmp_path: Path) -> OperatorSettings:
    secret = SecretFile(tmp_path / "token")
    secret.replace(token_of(house, "op-p"))
    return OperatorSettings(
        server=served.url, **HOME, app=APP, token_file=secret.path, workers=2, name="one"
    )


@pytest.fixture
def client(house: HttpHouse, served: Served) -> Iterator[Client]:
    with Client(served.url, house.token("project_admin@lab")) as found:
        yield found


def make(client: Client, name: str) -> dict[str, Any]:
    body = NewInstance(name=name, app=APP, version="1.0.0")
    number = client.send(INSTANCE_CREATE, body=body, path=HOME).instance_id
    assert number is not None
    return {**HOME, "instance_id": number}


def kit_of(client: Client, path: dict[str, Any], *, leads: bool = True) -> Kit:
    instance, etag = client.send_tagged(INSTANCE_READ, path=path)
    assert etag is not None
    log = KitLog(write=lambda line: None)
    return Kit(instance, etag, tools=KitTools(client=client, log=log, may_act=lambda: leads))


@dataclass
class Running:
    """An operator at work, and what it said."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def said(self, message: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["message"] == message]


@contextmanager
def running(
    settings: OperatorSettings, reconcile: Callable[[Instance, Kit], Answer]
) -> Iterator[Running]:
    found = Running()
    log = KitLog(write=lambda line: found.lines.append(json.loads(line)))
    operator = Operator(reconcile, settings, log=log)
    thread = threading.Thread(target=operator.run, args=(found.stop,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.stop.set()
        thread.join(WAIT_S)
    assert not thread.is_alive()


def see_to(instance: Instance, kit: Kit) -> Answer:
    kit.report(reason=f"saw {instance.generation}")
    return Settled()


def observed(client: Client, path: dict[str, Any]) -> int:
    return client.send(INSTANCE_READ, path=path).observed_generation


# -- one pass --------------------------------------------------------------------------------


def test_what_changed_meanwhile_is_read_again_and_what_is_wanted_anew_begins_anew(
    client: Client,
) -> None:
    path = make(client, "stale")
    kit = kit_of(client, path)
    client.send(INSTANCE_CHANGE, body=InstanceChange(metadata='{"a":1}'), path=path)
    kit.report(phase=InstancePhase.DEGRADED, reason="so")
    assert client.send(INSTANCE_READ, path=path).reason == "so"
    client.send(INSTANCE_CHANGE, body=InstanceChange(counts={"worker": 2}), path=path)
    with pytest.raises(Outdated):
        kit.report(reason="of what was wanted before")
    assert client.send(INSTANCE_READ, path=path).reason is None


def test_what_is_done_twice_from_the_same_state_is_done_once(client: Client) -> None:
    path = make(client, "twice")
    kits = [kit_of(client, path) for _ in range(2)]
    assert [kit.members for kit in kits] == [[], []]
    first, second = (kit.add("worker", "worker-9") for kit in kits)
    assert first == second
    assert [each.component_key for each in kits[1].members] == ["worker-9"]
    tasks = [kit_of(client, path).task("restore") for _ in range(2)]
    tasks[0].advance(40, "halfway")
    tasks[1].advance(30)
    tasks[0].succeed("restored")
    tasks[0].fail("too late")
    again = kit_of(client, path).task("restore")
    assert (again.is_over, again.progress) == (True, 100)
    query = {"phase": "succeeded"}
    (told,) = client.send(INSTANCE_OPERATION_LIST, path=path, query=query).items
    assert (told.title, told.result) == ("restore", "restored")


def test_tasks_for_what_was_wanted_before_come_to_nothing(client: Client) -> None:
    path = make(client, "older")
    kit_of(client, path).task("roll out")
    for workers in range(2, 22):  # more than may run at a time
        body = InstanceChange(counts={"worker": workers})
        client.send(INSTANCE_CHANGE, body=body, path=path)
        assert not kit_of(client, path).task("roll out").is_over
    query = {"phase": "running"}
    found = client.send(INSTANCE_OPERATION_LIST, path=path, query=query).items
    assert [each.generation for each in found if each.title] == [21]


def test_notes_stay_beside_the_claim(client: Client) -> None:
    path = make(client, "notes")
    claim = '{"leader":{"count":1,"holder":"x"}}'
    client.send(INSTANCE_CHANGE, body=InstanceChange(metadata=claim), path=path)
    kit_of(client, path).write_notes({"step": 2})
    kit = kit_of(client, path)
    assert kit.notes == {"step": 2}
    assert '"holder":"x"' in kit.instance.metadata


def test_what_an_app_counts_is_numbered_by_the_kit_and_goes_on_after_a_crash(
    house: HttpHouse, served: Served
) -> None:
    units = service(version="1.5.0", billing_units=("request",))
    house.do(PublishApp(units.canonical, "lab"))
    with Client(served.url, token_of(house, "op-p")) as client:
        body = NewInstance(name="counted", app=APP, version="1.5.0")
        number = client.send(INSTANCE_CREATE, body=body, path=HOME).instance_id
        assert number is not None
        path = {**HOME, "instance_id": number}
        kit = kit_of(client, path)
        begun = kit.instance.created_ms
        until(lambda: time.time_ns() // 10**6 > begun + 3, "some milliseconds are over")
        kit.report_usage("request", 5, window=(begun, begun + 1))
        kit.report_usage("request", 7, window=(begun + 1, begun + 2))
        again = kit_of(client, path)  # as after a crash
        (told,) = again.usage().units
        assert (told.quantity, told.reports, told.told_until_ms) == (12, 2, begun + 2)
        with pytest.raises(Refusal, match="window_overlaps"):
            again.report_usage("request", 7, window=(begun + 1, begun + 2))
        again.report_usage("request", 0, window=(told.told_until_ms, begun + 3))
        assert again.usage().next_sequence == 4


def test_who_does_not_lead_sends_nothing(client: Client) -> None:
    path = make(client, "second")
    kit = kit_of(client, path, leads=False)
    for act in (
        kit.report,
        lambda: kit.add("worker", "w"),
        lambda: kit.task("t"),
        lambda: kit.write_notes({"a": 1}),
        lambda: kit.report_usage("request", 1, window=(1, 2)),
    ):
        with pytest.raises(Outdated):
            act()
    found = client.send(INSTANCE_READ, path=path)
    assert (found.revision, found.observed_generation) == (1, 0)
    assert not client.send(INSTANCE_MEMBER_LIST, path=path).items


def test_a_secret_is_one_of_the_folder_and_nothing_else(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    SecretFile(folder / "key").replace("hush")
    kit = kit_of(client, {**HOME, "instance_id": 1})
    kit._tools = replace(kit._tools, secrets=folder)
    assert kit.secret("key") == "hush"
    for name in ("../token", "/etc/passwd", "", ".", "a/b"):
        with pytest.raises(InvalidValue):
            kit.secret(name)


# -- all of it -------------------------------------------------------------------------------


def test_it_lists_hears_survives_a_lost_server_and_leads_alone(
    client: Client, settings: OperatorSettings, served: Served
) -> None:
    before = make(client, "before")
    with running(settings, see_to) as one:
        until(lambda: observed(client, before) == 1, "what was there is seen to")
        later = make(client, "later")
        until(lambda: observed(client, later) == 1, "what came is seen to")
        other = replace(settings, name="two")
        with running(other, see_to) as two:
            until(lambda: two.said("listed"), "the second lists too")
            client.send(INSTANCE_CHANGE, body=InstanceChange(counts={"worker": 3}), path=later)
            until(lambda: observed(client, later) == 2, "a change is seen to")
            assert not two.said("reported"), "one leads"
            served.close()
            served.open()
            client.send(INSTANCE_CHANGE, body=InstanceChange(counts={"worker": 4}), path=later)
            until(lambda: observed(client, later) == 3, "after the server was away too")
            one.stop.set()
            client.send(INSTANCE_CHANGE, body=InstanceChange(counts={"worker": 5}), path=later)
            until(lambda: observed(client, later) == 4, "the second takes over")
            assert two.said("leads")
            client.send(INSTANCE_DELETE, path=later)
            until(lambda: observed(client, later) == 5, "a deletion is seen to")
    assert all("correlation_id" in line for line in one.said("reported"))


def test_what_fails_is_tried_again_and_delays_nobody(
    client: Client, settings: OperatorSettings
) -> None:
    bad, good = make(client, "bad"), make(client, "good")
    calls = list[int]()

    def reconcile(instance: Instance, kit: Kit) -> Answer:
        if instance.instance_id == bad["instance_id"]:
            calls.append(instance.revision)
            if len(calls) < 3:
                raise ValueError("not yet")
        kit.report()
        return Again(after_s=60) if instance.name == "good" else Settled()

    with running(replace(settings, term_s=0), reconcile) as found:
        until(lambda: observed(client, good) == 1, "the good one is seen to")
        until(lambda: observed(client, bad) == 1, "the bad one too, in the end")
    told = found.said("failed")
    assert told[0]["error"] == "ValueError: not yet"
    assert len(told) == 2


def test_an_operator_of_another_project_hears_nothing_and_can_do_nothing(
    house: HttpHouse, client: Client, settings: OperatorSettings, served: Served
) -> None:
    SecretFile(settings.token_file).replace(token_of(house, "op-q"))
    seen = list[int]()

    def reconcile(instance: Instance, kit: Kit) -> Answer:
        seen.append(instance.instance_id)
        return Settled()

    with running(replace(settings, term_s=0), reconcile) as found:
        until(lambda: found.said("could not watch"), "it is refused")
    assert not seen
    path = make(client, "mine")
    kit = kit_of(client, path)
    with Client(served.url, token_of(house, "op-q")) as foreign:
        kit._tools = replace(kit._tools, client=foreign)
        for act in (kit.report, lambda: kit.task("t"), lambda: kit.write_notes({"a": 1})):
            with pytest.raises(Refusal) as refused:
                act()
            assert refused.value.status in (403, 404)
    assert observed(client, path) == 0


def test_a_token_is_renewed_in_time_and_used_from_then_on(settings: OperatorSettings) -> None:
    secret = SecretFile(settings.token_file)
    before = secret.read()
    connections = Connections(ServerPlace(settings.server), secret)
    first = connections.client()
    assert not connections.renew_token(60), "it is good for longer"
    assert connections.client() is first
    assert connections.renew_token(12 * 3_600)
    assert secret.read() != before
    assert connections.client() is not first
    connections.close()


def test_the_environment_says_where_to_ask() -> None:
    told = {
        "BAILIWICK_SERVER": "http://127.0.0.1:1",
        "BAILIWICK_TENANT": "lab",
        "BAILIWICK_PROJECT": "p",
    }
    with pytest.raises(InvalidValue, match="BAILIWICK_TOKEN_FILE"):
        OperatorSettings.from_environ(APP, told)
    found = OperatorSettings.from_environ(APP, told | {"BAILIWICK_TOKEN_FILE": "/t"})
    assert (found.tenant, found.token_file) == ("lab", Path("/t"))

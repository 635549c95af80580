"""Webhooks to a real receiver: signed, in order, tried again, given up, replayed, kept apart."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from bailiwick.events.retrying import RetryPace
from bailiwick.iam import Scope
from bailiwick.kernel.answers import Done
from bailiwick.kernel.apps.commands import SetEntitlement
from bailiwick.reconcile.webhooks.loop import WebhookLoop, WebhookTerms
from bailiwick.store.webhooks.rows import HookKey, WebhookBook
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.waiting import WAIT_S, until
from tests.support.webhook_receiver import Message, Receiver, is_genuine, receiving

_NAMES = (f"hook-{n}" for n in count(1))
PACE = RetryPace(tries_max=3, first_ms=5, factor=2, most_ms=50)
SET = "apps.entitlement.set"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("webhooks")) as made:
        for tenant in (OWN, FOREIGN):
            delete(made, "hook", tenant=tenant)  # it leads nowhere
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(autouse=True)
def alone(house: HttpHouse) -> Iterator[None]:
    """No webhook outlives its test: its port may be another receiver's next."""
    yield
    for row in house.ask("fleet_admin", "GET", "/v1/webhooks").json()["items"]:
        place = {name: row[name] for name in ("webhook", "tenant", "project")}
        ask(house, "delete", place, who="fleet_admin")


def book_of(house: HttpHouse) -> WebhookBook:
    watched: Any = house.runner.replica.store
    return WebhookBook(watched)


@contextmanager
def sending(house: HttpHouse, **terms: Any) -> Iterator[None]:
    """The loop that a leader runs."""
    stop = threading.Event()
    given = WebhookTerms(**{"key": bytes(32), "allow_private": True, "pace": PACE, **terms})
    loop = WebhookLoop(house.runner, book_of(house), terms=given)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            loop.run(stop)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WAIT_S)
        assert not thread.is_alive()
        assert failed == []


def ask(house: HttpHouse, verb: str, body: dict[str, Any], *, who: str = "") -> Any:
    method, path = ("PUT", "") if verb == "set" else ("POST", f"/{verb}")
    who = who or f"tenant_admin@{body['tenant']}"
    found = house.ask(who, method, f"/v1/webhooks{path}", json=body)
    assert found.status_code == 200, found.text
    return found.json()


def hook(house: HttpHouse, url: str, **more: Any) -> tuple[dict[str, Any], str]:
    """A new webhook: its place, and its secret."""
    place = {"webhook": next(_NAMES), "tenant": more.pop("tenant", OWN)}
    if "project" in more:
        place["project"] = more.pop("project")
    secret = ask(house, "set", {**place, "url": url, "types": [SET], **more})["secret"]
    return place, str(secret)


def delete(house: HttpHouse, webhook: str, *, tenant: str = OWN) -> None:
    ask(house, "delete", {"webhook": webhook, "tenant": tenant})


def happen(house: HttpHouse, *, tenant: str = OWN, project: str | None = None) -> str:
    """One more event; its id."""
    answer = house.do(SetEntitlement(f"{tenant}.hello", True, tenant=tenant, project=project))
    assert isinstance(answer, Done)
    return str(answer.seq)


def ids(messages: list[Message]) -> list[str]:
    return [message.event["id"] for message in messages]


def deliveries(house: HttpHouse, place: dict[str, Any], state: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(house, "deliveries", {**place, "state": state})["items"]
    return found


def test_events_arrive_signed_and_in_order_and_only_those_of_the_scope(
    house: HttpHouse, receiver: Receiver
) -> None:
    place, secret = hook(house, receiver.url)
    with receiving() as narrow, sending(house):
        hook(house, narrow.url, project="p")
        wanted = [happen(house), happen(house, project="p")]
        happen(house, tenant=FOREIGN)
        happen(house, tenant=FOREIGN, project="p")
        wanted += [happen(house), happen(house, project="p")]
        found = receiver.wait_for(4)
        assert ids(narrow.wait_for(2)) == wanted[1::2]
    assert ids(found) == wanted
    assert all(is_genuine(message, secret) for message in found)
    assert not any(is_genuine(message, "whsec_" + "A" * 43 + "=") for message in found)
    first = found[0]
    assert first.headers["content-type"] == "application/cloudevents+json"
    assert first.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert len({message.message_id for message in found}) == 4
    told = house.ask("fleet_admin", "GET", f"/v1/events?tenant={OWN}&types={SET}&limit=500").json()
    assert first.event in told["items"]
    until(lambda: len(deliveries(house, place, "delivered")) == 4, "all are written down")


def test_what_fails_is_tried_again_under_the_same_id_before_what_follows(
    house: HttpHouse, receiver: Receiver
) -> None:
    answers = iter([500, (302, {"location": receiver.url}), 204])
    receiver.answer = lambda message: next(answers, 204)
    hook(house, receiver.url)
    with sending(house):
        wanted = [happen(house), happen(house)]
        found = receiver.wait_for(4)
    assert ids(found) == [wanted[0]] * 3 + [wanted[1]]
    assert len({message.message_id for message in found[:3]}) == 1
    assert len({message.body for message in found[:3]}) == 1


def test_what_is_refused_too_often_or_for_good_is_a_dead_letter_and_can_be_replayed(
    house: HttpHouse, receiver: Receiver
) -> None:
    receiver.answer = lambda message: 503
    place, _ = hook(house, receiver.url)
    counted: list[str] = []
    with sending(house, dead=counted.append):
        first = happen(house)
        receiver.wait_for(PACE.tries_max)
        until(lambda: deliveries(house, place, "dead"), "the first is dead")
        receiver.answer = lambda message: 410
        second = happen(house)
        until(lambda: len(deliveries(house, place, "dead")) == 2, "the second is dead at once")
        dead = deliveries(house, place, "dead")
        assert [(str(d["id"]), d["tries"], d["fault"], d["status"]) for d in dead] == [
            (second, 1, "gone", 410),
            (first, PACE.tries_max, "status", 503),
        ]
        assert counted == ["status", "gone"]
        receiver.answer = lambda message: 200
        seen = len(receiver.messages)
        assert ask(house, "replay", place) == {"events": 2}
        again = receiver.wait_for(seen + 2)[seen:]
        assert ids(again) == [first, second]
        until(lambda: not deliveries(house, place, "dead"), "none is dead")
        ask(house, "replay", {**place, "id": int(first)})
        until(lambda: len(receiver.messages) == seen + 3, "a delivered one is replayed too")
    known = {message.message_id for message in receiver.messages}
    assert len(known) == 2


def test_a_receiver_that_hangs_delays_only_its_own_webhook(
    house: HttpHouse, receiver: Receiver
) -> None:
    receiver.answer = lambda message: 0
    hook(house, receiver.url)
    with receiving() as other, sending(house, timeout_s=WAIT_S):
        hook(house, other.url)
        wanted = [happen(house) for _ in range(3)]
        assert ids(other.wait_for(3)) == wanted
        assert len(receiver.messages) == 1
        receiver.answer = lambda message: 204
        receiver.hangs.set()
        until(lambda: {*ids(receiver.messages)} == {*wanted}, "the other goes on where it was")


def test_a_secret_that_was_replaced_counts_beside_the_new_one(
    house: HttpHouse, receiver: Receiver
) -> None:
    place, old = hook(house, receiver.url)
    new = ask(house, "rotate", place)["secret"]
    with sending(house):
        happen(house)
        (message,) = receiver.wait_for(1)
    assert new != old
    assert is_genuine(message, old)
    assert is_genuine(message, new)
    assert len(message.headers["webhook-signature"].split(" ")) == 2


def test_a_webhook_that_was_off_or_whose_server_was_down_goes_on_where_it_was(
    house: HttpHouse, receiver: Receiver
) -> None:
    place, _ = hook(house, receiver.url)
    with sending(house):
        wanted = [happen(house)]
        receiver.wait_for(1)
        assert ask(house, "set", {**place, "url": receiver.url, "is_enabled": False}) == {
            "webhook": place["webhook"],
            "secret": None,
        }
        wanted.append(happen(house))
    wanted.append(happen(house))
    ask(house, "set", {**place, "url": receiver.url, "types": [SET]})
    with sending(house):
        receiver.wait_for(3)
    assert ids(receiver.messages) == wanted


def test_one_who_mends_the_address_need_not_wait(house: HttpHouse, receiver: Receiver) -> None:
    slow = RetryPace(tries_max=3, first_ms=10**8, most_ms=10**8)
    place, _ = hook(house, "http://127.0.0.1:9/closed")
    with sending(house, pace=slow):
        wanted = happen(house)
        until(lambda: deliveries(house, place, "retrying"), "it fails once")
        assert deliveries(house, place, "retrying")[0]["fault"] == "no_connection"
        ask(house, "set", {**place, "url": receiver.url, "types": [SET]})
        assert ids(receiver.wait_for(1)) == [wanted]


def test_an_answer_without_an_end_is_not_read(house: HttpHouse, receiver: Receiver) -> None:
    receiver.answer = lambda message: (200, {"content-length": str(10**12)})
    receiver.pours = True
    hook(house, receiver.url)
    with sending(house, timeout_s=WAIT_S):
        first = happen(house)
        until(receiver.hung_up.is_set, "the sender hangs up on it, long before its time is over")
        second = happen(house)
        assert ids(receiver.wait_for(2)) == [first, second], "it counts as told, and once"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_nothing_reaches_this_machine_unless_the_operator_lets_it(
    house: HttpHouse, receiver: Receiver, name: str
) -> None:
    place, _ = hook(house, f"https://{name}:{receiver.port}/in")
    with sending(house, allow_private=False):
        happen(house)
        until(lambda: deliveries(house, place, "dead"), "it is given up")
    assert deliveries(house, place, "dead")[0]["fault"] == "no_address"
    assert receiver.messages == []


@pytest.mark.parametrize(
    "host", [f"{'a' * 64}.example", "a..example", "xn--.example", "x" * 250, "1.2.3.4.5"]
)
def test_an_address_that_nobody_can_make_sense_of_ends_nothing_but_its_own_tries(
    house: HttpHouse, receiver: Receiver, host: str
) -> None:
    place, _ = hook(house, f"https://{host}/in")
    hook(house, receiver.url)
    with sending(house):
        wanted = happen(house)
        until(lambda: deliveries(house, place, "dead"), "it is given up")
        assert ids(receiver.wait_for(1)) == [wanted]


def test_a_receiver_without_a_good_certificate_is_told_nothing(
    house: HttpHouse, receiver: Receiver
) -> None:
    place, _ = hook(house, f"https://127.0.0.1:{receiver.port}/in")
    with sending(house):
        happen(house)
        until(lambda: deliveries(house, place, "dead"), "it is given up")
    assert receiver.messages == []


def test_a_webhook_that_is_deleted_is_sent_nothing_and_leaves_no_rows(
    house: HttpHouse, receiver: Receiver
) -> None:
    place, _ = hook(house, receiver.url)
    with sending(house):
        happen(house)
        receiver.wait_for(1)
        delete(house, place["webhook"])
        hook(house, receiver.url + "/witness")
        happen(house)
        until(lambda: len(receiver.messages) == 2, "the witness hears of it")
    assert receiver.messages[-1].path == "/in/witness"
    key = HookKey(Scope(OWN), place["webhook"])
    assert book_of(house).page(key, state=None, before=None, limit=9) == []

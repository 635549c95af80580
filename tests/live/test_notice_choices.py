"""What a person chose changes as a whole, and nothing that worked is silenced by what may not."""

from __future__ import annotations

from bailiwick.events.retrying import NotReached
from bailiwick.iam import Role
from bailiwick.store.notices.people import CODES_PER_HOUR
from bailiwick.vocab.apps import DeliveryFault
from tests.live.test_notices import (
    alone,
    certificate,
    choose,
    end_job,
    house,
    mailing,
    on,
    server,
    telling,
    with_mail,
)
from tests.support.http_house import HttpHouse, person
from tests.support.mail_server import MailServer
from tests.support.waiting import until
from tests.support.webhook_receiver import is_genuine, receiving

__all__ = ["alone", "certificate", "house", "server"]

MEMBER = person(Role.PROJECT_MEMBER)
WHOLE = {
    "email": "new@lab.example",
    "webhook_url": "https://hooks.example/new",
    "choices": [{"kind": "job_ended", "channels": ["email", "webhook"]}],
}


def test_a_wish_is_done_as_a_whole_or_not_at_all(house: HttpHouse, server: MailServer) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, webhook_url="https://hooks.example/old", choices=on("job_ended", "inbox"))
    before = house.ask(MEMBER, "GET", "/v1/notices").json()
    with mailing(house, lambda message: NotReached(DeliveryFault.TIMEOUT)):
        for given, status in (
            (WHOLE, 503),  # its code is not taken
            (WHOLE | {"email": "a, b"}, 422),
            (WHOLE | {"webhook_url": "http://hooks.example/"}, 422),
            (WHOLE | {"choices": on("test", "email")}, 422),
        ):
            found = house.ask(MEMBER, "PUT", "/v1/notices", json=given)
            assert found.status_code == status, found.text
            assert house.ask(MEMBER, "GET", "/v1/notices").json() == before
    for number in range(CODES_PER_HOUR):
        found = house.ask(MEMBER, "PUT", "/v1/notices", json={"email": f"x{number}@lab.example"})
    before = house.ask(MEMBER, "GET", "/v1/notices").json()
    assert house.ask(MEMBER, "PUT", "/v1/notices", json=WHOLE).status_code == 409, "too many codes"
    assert house.ask(MEMBER, "GET", "/v1/notices").json() == before


def test_a_new_address_that_is_never_shown_does_not_silence_the_one_before(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    told = choose(house, MEMBER, email="typo@lab.example", choices=on("job_ended", "email"))
    assert (told["email"], told["pending_email"]) == ("ann@lab.example", "typo@lab.example")
    with telling(house):
        job = end_job(house)
        until(lambda: server.to("ann@lab.example")[1:], "it is mailed as before")
    assert len(server.to("typo@lab.example")) == 1, "the code alone"
    assert f"Job {job} " in server.to("ann@lab.example")[1]["subject"]
    assert choose(house, MEMBER, email="ann@lab.example")["pending_email"] is None


def test_a_server_that_sends_no_mail_says_so_to_who_chooses_it(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, choices=on("job_ended", "email"))
    with mailing(house, None):
        for body in (
            {"email": "new@lab.example"},
            {"choices": on("node_lost", "inbox", "email")},
        ):
            for query in ("", "?dry_run=true"):
                found = house.ask(MEMBER, "PUT", f"/v1/notices{query}", json=body)
                assert found.status_code == 409, found.text
                assert "bailiwick up --smtp" in found.text
        # What was chosen while there was one may stay, and may be ended.
        choose(house, MEMBER, choices=on("job_ended", "inbox", "email"))
        assert choose(house, MEMBER, email="")["email"] is None


def test_a_secret_is_replaced_and_for_a_while_both_count(house: HttpHouse) -> None:
    none = house.ask(MEMBER, "POST", "/v1/notices/rotate")
    assert none.status_code == 409, none.text
    with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/in"
        first = choose(house, MEMBER, webhook_url=url, choices=on("job_ended", "webhook"))["secret"]
        dry = house.ask(MEMBER, "POST", "/v1/notices/rotate?dry_run=true").json()
        assert dry["secret"] is None
        second = house.ask(MEMBER, "POST", "/v1/notices/rotate").json()["secret"]
        assert second not in (None, first)
        assert house.ask(MEMBER, "GET", "/v1/notices").json()["secret"] is None
        with telling(house):
            end_job(house)
            until(lambda: receiver.messages, "it is sent")
    for secret in (first, second):
        assert is_genuine(receiver.messages[0], secret)

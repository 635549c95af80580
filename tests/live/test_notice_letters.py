"""What is told at one look is one letter: mailed, sent to a webhook, and only what one may know."""

from __future__ import annotations

from bailiwick.iam import FLEET, Role, Scope
from bailiwick.kernel.people.commands import SetMember
from bailiwick.store.notices.post import TESTS_PER_HOUR, Post
from bailiwick.store.notices.told import Tiding
from bailiwick.vocab.notices import NoticeKind
from tests.live.test_notices import (
    alone,
    certificate,
    choose,
    desk_of,
    end_job,
    house,
    on,
    reader_of,
    server,
    telling,
    titles,
    with_mail,
)
from tests.support.http_house import OWN, HttpHouse, person
from tests.support.mail_server import MailServer
from tests.support.waiting import until
from tests.support.webhook_receiver import receiving

__all__ = ["alone", "certificate", "house", "server"]

MEMBER = person(Role.PROJECT_MEMBER)


def test_jobs_that_end_together_are_one_letter_by_each_way(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/in"
        choose(house, MEMBER, webhook_url=url, choices=on("job_ended", "inbox", "email", "webhook"))
        first = reader_of(house)
        first.read_on()
        jobs = [end_job(house) for _ in range(3)]
        first.read_ended()
        with telling(house):
            mail = until(lambda: server.to("ann@lab.example")[1:], "it is mailed")
            until(lambda: receiver.messages, "it is sent")
            end_job(house)
            until(lambda: len(receiver.messages) > 1, "the next one is a letter of its own")
    text = mail[0].get_content()
    assert mail[0]["subject"].endswith("failed, and 2 more notices")
    assert [f"bailiwick logs job-{job}" in text for job in jobs] == [True] * 3
    event = receiver.messages[0].event
    assert event["type"] == "notices.several"
    assert [each["job_id"] for each in event["data"]["notices"]] == jobs
    assert {each["kind"] for each in event["data"]["notices"]} == {"job_ended"}
    assert "withheld" not in event["data"]
    assert receiver.messages[1].event["type"] == "notices.job_ended"
    assert len(titles(house, MEMBER)) == 4


def test_of_a_letter_only_that_is_sent_which_its_reader_may_still_know(
    house: HttpHouse, server: MailServer
) -> None:
    house.do(SetMember("eve", Role.PROJECT_MEMBER, OWN, "p"))
    house.do(SetMember("eve", Role.FLEET_OPERATOR))
    with_mail(house, server, "eve", "eve@lab.example")
    choose(house, "eve", choices=on("job_ended", "email") + on("node_drained", "email"))
    gone = {"kind": NoticeKind.NODE_DRAINED, "scope": FLEET, "facts": {"node": "n-secret"}}
    kept = {"kind": NoticeKind.JOB_ENDED, "scope": Scope(OWN, "p"), "facts": {"job_id": 7}}
    posts = [
        Post(Tiding(message=f"m-{n}", at_ms=1, **each), ("eve",))  # type: ignore[arg-type]
        for n, each in enumerate((gone, kept))
    ]
    desk_of(house).post.hand_over(posts, now_ms=1)
    house.do(SetMember("eve", None))
    with telling(house):
        (mail,) = until(lambda: server.to("eve@lab.example")[1:], "it is mailed")
    house.do(SetMember("eve", None, OWN, "p"))
    assert "Job 7 is over" in mail["subject"]
    assert "n-secret" not in mail.as_string()
    assert mail["message-id"].startswith("<m-0."), "it is the same letter"


def test_who_sends_himself_too_many_tests_is_refused(house: HttpHouse) -> None:
    for _ in range(TESTS_PER_HOUR):
        assert house.ask(MEMBER, "POST", "/v1/notices/test").status_code == 200
    refused = house.ask(MEMBER, "POST", "/v1/notices/test")
    assert (refused.status_code, "limit of 10" in refused.text) == (409, True)
